//! The values of the language that are more than a string: durations, lists by name, schemas. Never
//! the meaning of a schema: [`crate::schema`] reads it.

use std::time::Duration;

use super::read::{Read, wrong_kind};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::Recovery;
use crate::nearest;
use crate::source::{Span, Spanned};
use crate::yaml::{Node, Value};

/// Things by name, in written order.
#[derive(Clone, Debug)]
pub struct Entries<T> {
    entries: Vec<(Spanned<String>, T)>,
}

/// The language version; there is one so far.
#[derive(Clone, Copy, Debug)]
pub struct Version;

/// A length of time, such as `500ms`, `5s`, `2m` or `1h`.
#[derive(Clone, Copy, Debug)]
pub struct Period(pub Duration);

/// A JSON Schema or, where the place allows one, the name of a type.
#[derive(Clone, Debug)]
pub struct SchemaText(pub Node);

/// Any JSON value.
#[derive(Clone, Debug)]
pub struct Literal(pub Node);

/// What a caller can do about a failure.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryWord(pub Recovery);

/// Every word for a [`Recovery`].
pub(super) const RECOVERIES: [(&str, Recovery); 4] = [
    ("correct_call", Recovery::CorrectCall),
    ("retry", Recovery::Retry),
    ("replan", Recovery::Replan),
    ("finish", Recovery::Finish),
];

/// Every unit of a [`Period`], in milliseconds; `ms` before the units it ends with.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

impl<T> Entries<T> {
    /// The entries in written order.
    pub fn iter(&self) -> impl Iterator<Item = (&Spanned<String>, &T)> {
        self.entries.iter().map(|(name, value)| (name, value))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<T: Read> Read for Entries<T> {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let Some(entries) = node.entries() else {
            wrong_kind(node, "a mapping from names", report);
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

impl Read for Version {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        if matches!(&node.value, Value::Number(text) if text == "1") {
            return Some(Self);
        }
        let message = format!("expected the language version 1, found {}", node.kind());
        let finding = Diagnostic::error("unknown-version", node.span, message)
            .help("write `toolwright: 1`; a newer language needs a newer toolwright");
        report.add(finding);
        None
    }

    fn placeholder(_: Span) -> Self {
        Self
    }
}

impl Read for Period {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let period = node.as_str().and_then(period);
        if period.is_none() {
            wrong_kind(node, "a length of time above zero, such as 500ms, 5s, 2m or 1h", report);
        }
        period
    }

    fn placeholder(_: Span) -> Self {
        Self(Duration::from_secs(1))
    }
}

fn period(text: &str) -> Option<Period> {
    let (unit, milliseconds) = UNITS.iter().find(|(unit, _)| text.ends_with(unit))?;
    let digits = text.strip_suffix(unit)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok().filter(|&count| count > 0)?;
    Some(Period(Duration::from_millis(count.checked_mul(*milliseconds)?)))
}

impl Read for SchemaText {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match node.value {
            Value::Mapping(_) | Value::Boolean(_) | Value::String(_) => Some(Self(node.clone())),
            _ => {
                wrong_kind(node, "a JSON Schema or the name of a type", report);
                None
            }
        }
    }

    fn placeholder(span: Span) -> Self {
        Self(Node { span, value: Value::Mapping(Vec::new()) })
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
            wrong_kind(node, "a string", report);
            return None;
        };
        let known = RECOVERIES.iter().find(|(known, _)| *known == word);
        if known.is_none() {
            let message = format!("unknown recovery `{word}`");
            let words = RECOVERIES.iter().map(|&(word, _)| word);
            let finding = Diagnostic::error("unknown-recovery", node.span, message)
                .help(nearest::advice(word, words, "recoveries"));
            report.add(finding);
        }
        known.map(|&(_, recovery)| Self(recovery))
    }

    fn placeholder(_: Span) -> Self {
        Self(Recovery::Replan)
    }
}
