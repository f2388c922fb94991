//! Values of the language that are not strings: durations, named entries, schemas. [`crate::schema`] reads the schemas.

use std::time::Duration;

use toolwright::format::Format;
use toolwright::http::{Content, Status, Style, Verb};
use toolwright::outcome::Recovery;
use toolwright::spec::{AmountError, Effort, PeriodError, Strictness, parse_amount, parse_period};

use super::read::Read;
use crate::diagnostic::{Report, form};
use crate::options::Integers;
use crate::source::{Span, Spanned};
use crate::yaml::{Node, Value};

/// Named values, in written order.
#[derive(Clone, Debug)]
pub struct Entries<T> {
    entries: Vec<(Spanned<String>, T)>,
}

/// A list or named values, with at least one entry.
#[derive(Clone, Debug)]
pub struct NonEmpty<T>(pub T);

/// The language version; there is one so far.
#[derive(Clone, Copy, Debug)]
pub struct Version;

/// A length of time, such as `500ms`, `5s`, `2m` or `1h`.
#[derive(Clone, Copy, Debug)]
pub struct Period(pub Duration);

/// An amount of money in millionths, written as a decimal number.
#[derive(Clone, Copy, Debug)]
pub struct Amount(pub u64);

/// A day, such as `2027-01-31`.
#[derive(Clone, Debug)]
pub struct Day(pub String);

/// A version of three numbers (semver.org), such as `1.3.0`.
#[derive(Clone, Copy, Debug)]
pub struct Release(pub [u64; 3]);

/// A JSON Schema or, where allowed, the name of a type. Null is the substitute for any other value, which has been
/// reported.
#[derive(Clone, Debug)]
pub struct SchemaText(pub Node);

/// The digest of the two schemas of a remote tool: 64 hexadecimal digits.
#[derive(Clone, Debug)]
pub struct Digest(pub String);

/// Any JSON value.
#[derive(Clone, Debug)]
pub struct Literal(pub Node);

/// The advice to a caller after an error.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryWord(pub Recovery<()>);

/// A value that is written as one of a few words.
#[derive(Clone, Copy, Debug)]
pub struct Word<T>(pub T);

/// An HTTP status, such as 404, or a class of them, such as `4XX`.
#[derive(Clone, Copy, Debug)]
pub struct StatusText(pub Status);

/// How clients of an MCP server learn of its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disclosure {
    /// From a list of all.
    List,
    /// From a search.
    Search,
}

/// The format of a successful HTTP response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpAnswer {
    /// JSON.
    Json,
    /// Text, which is read as a string.
    Text,
}

/// The values of a [`Word`].
pub(super) trait Words: Copy + 'static {
    /// The noun for the words, for messages.
    const NOUN: &'static str;
    /// The plural of the noun.
    const PLURAL: &'static str;
    /// Every word. The first one is the substitute for a wrong one.
    const ALL: &'static [(&'static str, Self)];
}

impl Words for Verb {
    const NOUN: &'static str = "HTTP method";
    const PLURAL: &'static str = "HTTP methods";
    const ALL: &'static [(&'static str, Self)] = &[
        ("GET", Self::Get),
        ("HEAD", Self::Head),
        ("POST", Self::Post),
        ("PUT", Self::Put),
        ("PATCH", Self::Patch),
        ("DELETE", Self::Delete),
        ("OPTIONS", Self::Options),
        ("TRACE", Self::Trace),
    ];
}

impl Words for Style {
    const NOUN: &'static str = "query style";
    const PLURAL: &'static str = "query styles";
    const ALL: &'static [(&'static str, Self)] = &[
        ("form", Self::Form),
        ("space_delimited", Self::SpaceDelimited),
        ("pipe_delimited", Self::PipeDelimited),
        ("deep_object", Self::DeepObject),
    ];
}

impl Words for Content {
    const NOUN: &'static str = "kind of content";
    const PLURAL: &'static str = "kinds of content";
    const ALL: &'static [(&'static str, Self)] = &[
        ("json", Self::Json),
        ("form", Self::Form),
        ("deep_form", Self::DeepForm),
        ("text", Self::Text),
    ];
}

impl Words for Strictness {
    const NOUN: &'static str = "strictness";
    const PLURAL: &'static str = "strictnesses";
    const ALL: &'static [(&'static str, Self)] =
        &[("prefer", Self::Prefer), ("always", Self::Always), ("never", Self::Never)];
}

impl Words for Integers {
    const NOUN: &'static str = "kind of integers";
    const PLURAL: &'static str = "kinds of integers";
    const ALL: &'static [(&'static str, Self)] = &[("int64", Self::Int64), ("exact", Self::Exact)];
}

impl Words for Effort {
    const NOUN: &'static str = "effort";
    const PLURAL: &'static str = "efforts";
    const ALL: &'static [(&'static str, Self)] = &[
        (Self::Low.as_str(), Self::Low),
        (Self::Medium.as_str(), Self::Medium),
        (Self::High.as_str(), Self::High),
    ];
}

impl Words for Disclosure {
    const NOUN: &'static str = "disclosure";
    const PLURAL: &'static str = "disclosures";
    const ALL: &'static [(&'static str, Self)] = &[("list", Self::List), ("search", Self::Search)];
}

impl Words for HttpAnswer {
    const NOUN: &'static str = "kind of answer";
    const PLURAL: &'static str = "kinds of answers";
    const ALL: &'static [(&'static str, Self)] = &[("json", Self::Json), ("text", Self::Text)];
}

/// Every word for a [`Recovery`].
pub(super) const RECOVERIES: [(&str, Recovery<()>); 4] = [
    ("correct_call", Recovery::CorrectCall(())),
    ("retry", Recovery::Retry),
    ("replan", Recovery::Replan),
    ("finish", Recovery::Finish),
];

impl<T> Entries<T> {
    /// Returns the entries in written order.
    pub fn iter(&self) -> impl Iterator<Item = (&Spanned<String>, &T)> {
        self.entries.iter().map(|(name, value)| (name, value))
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<T: Read> Read for Entries<T> {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let Some(entries) = node.entries() else {
            report.add(node.unexpected("a mapping with names as keys"));
            report.note_unread_definitions();
            return None;
        };
        let read = |entry: &crate::yaml::Entry| {
            let value = T::read(&entry.value, report);
            let value = value.unwrap_or_else(|| T::placeholder(entry.value.span));
            (entry.key.clone(), value)
        };
        Some(Self { entries: entries.iter().map(read).collect() })
    }

    fn placeholder(_: Span) -> Self {
        Self { entries: Vec::new() }
    }
}

/// The content of a [`NonEmpty`].
pub(super) trait Several: Read {
    /// The noun for one entry, for messages.
    const ONE: &'static str;

    /// Returns whether a node has no entries.
    fn is_empty(node: &Node) -> bool;
}

impl Several for Vec<Spanned<String>> {
    const ONE: &'static str = "toolset";

    fn is_empty(node: &Node) -> bool {
        matches!(&node.value, Value::Sequence(items) if items.is_empty())
    }
}

impl<T: Several> Read for NonEmpty<T> {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        if T::is_empty(node) {
            report.add(form::empty_list(node.span, T::ONE));
        }
        T::read(node, report).map(Self)
    }

    fn placeholder(span: Span) -> Self {
        Self(T::placeholder(span))
    }
}

impl Read for Version {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        if matches!(&node.value, Value::Number(text) if text == "1") {
            return Some(Self);
        }
        report.add(form::unknown_version(node.span, &node.kind()));
        None
    }

    fn placeholder(_: Span) -> Self {
        Self
    }
}

impl Read for Period {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let period = node.as_str().and_then(|text| parse_period(text).ok()).map(Self);
        if period.is_none() {
            report.add(node.unexpected(PeriodError::EXPECTED));
        }
        period
    }

    fn placeholder(_: Span) -> Self {
        Self(Duration::from_secs(1))
    }
}

impl Read for Amount {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let amount = match &node.value {
            Value::Number(text) => parse_amount(text).ok().map(Self),
            _ => None,
        };
        if amount.is_none() {
            report.add(node.unexpected(AmountError::EXPECTED));
        }
        amount
    }

    fn placeholder(_: Span) -> Self {
        Self(1)
    }
}

impl Read for Day {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let day = node.as_str().filter(|text| Format::Date.is_valid(text));
        if day.is_none() {
            report.add(node.unexpected("a day, such as `2027-01-31`"));
        }
        day.map(|text| Self(text.to_owned()))
    }

    fn placeholder(_: Span) -> Self {
        Self(String::new())
    }
}

impl Read for Release {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let number = |text: &str| {
            let is_plain = text == "0" || !text.starts_with(['0', '+']);
            text.parse().ok().filter(|_| is_plain)
        };
        let numbers: Option<Vec<u64>> =
            node.as_str().and_then(|text| text.split('.').map(number).collect());
        let version = numbers.and_then(|numbers| <[u64; 3]>::try_from(numbers).ok());
        if version.is_none() {
            report.add(node.unexpected("a version of three numbers, such as `1.3.0`"));
        }
        version.map(Self)
    }

    fn placeholder(_: Span) -> Self {
        Self([0; 3])
    }
}

impl Read for SchemaText {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match &node.value {
            Value::String(text) if text.trim().is_empty() => {
                report.add(form::empty_value(node.span, "an empty string".to_owned()));
                None
            }
            Value::Mapping(_) | Value::Boolean(_) | Value::String(_) => Some(Self(node.clone())),
            _ => {
                report.add(node.unexpected("a JSON Schema or the name of a type"));
                None
            }
        }
    }

    fn placeholder(span: Span) -> Self {
        Self(Node { span, value: Value::Null })
    }

    fn recovered(span: Span) -> Option<Self> {
        Some(Self::placeholder(span))
    }
}

impl Read for Digest {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let digest = node.as_str().filter(|text| text.len() == 64 && text.bytes().all(is_digit));
        if digest.is_none() {
            report.add(node.unexpected("the 64 hexadecimal digits that an import writes"));
        }
        digest.map(|text| Self(text.to_owned()))
    }

    fn placeholder(_: Span) -> Self {
        Self(String::new())
    }
}

impl Read for Literal {
    fn read(node: &Node, _: &mut Report) -> Option<Self> {
        Some(Self(node.clone()))
    }

    fn placeholder(span: Span) -> Self {
        Self(Node { span, value: Value::Null })
    }
}

impl Read for RecoveryWord {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let Some(word) = node.as_str() else {
            report.add(node.unexpected("a string"));
            return None;
        };
        let known = RECOVERIES.iter().find(|(known, _)| *known == word);
        if known.is_none() {
            report.add(form::unknown_recovery(node.span, word, &RECOVERIES.map(|(word, _)| word)));
        }
        known.map(|&(_, recovery)| Self(recovery))
    }

    fn placeholder(_: Span) -> Self {
        Self(Recovery::Replan)
    }
}

impl<T: Words> Read for Word<T> {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let Some(word) = node.as_str() else {
            report.add(node.unexpected("a string"));
            return None;
        };
        let known = T::ALL.iter().find(|(known, _)| *known == word);
        if known.is_none() {
            let words: Vec<&str> = T::ALL.iter().map(|(known, _)| *known).collect();
            report.add(form::unknown_word(node.span, T::NOUN, T::PLURAL, word, &words));
        }
        known.map(|&(_, value)| Self(value))
    }

    fn placeholder(_: Span) -> Self {
        Self(T::ALL[0].1)
    }
}

impl Read for StatusText {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let status = match &node.value {
            Value::Number(text) | Value::String(text) => status(text),
            _ => None,
        };
        if status.is_none() {
            report.add(node.unexpected("an error status, such as 404 or 4XX"));
        }
        status.map(Self)
    }

    fn placeholder(_: Span) -> Self {
        Self(Status::Exactly(500))
    }
}

fn status(text: &str) -> Option<Status> {
    let is_plain = text.len() == 3 && text.starts_with(['4', '5']);
    match text.strip_suffix("XX").filter(|_| is_plain) {
        Some(digit) => Some(Status::Class(digit.parse().ok()?)),
        None if is_plain && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(Status::Exactly(text.parse().ok()?))
        }
        None => None,
    }
}
