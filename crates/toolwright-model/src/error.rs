//! Why a model gave no answer.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolwright::untrusted;
use toolwright_dialect::Dialect;

/// The longest quotation of an answer, in bytes.
const EXCERPT: usize = 300;

/// Why a model gave no answer. Texts of the provider are for operators: they are cut, on one line, and without hidden
/// characters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelError {
    /// The wire cannot express the question; nothing was sent.
    Unsendable(String),
    /// The provider could not be reached.
    Connect(String),
    /// The time for the answer is over, or the provider was silent for too long.
    Timeout(String),
    /// The provider answered with an error.
    Status {
        /// The HTTP status; for an error within a stream, the status for its kind.
        code: u16,
        /// The message of the provider.
        text: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
        /// True if the provider asks for another attempt, false if it forbids one.
        should_retry: Option<bool>,
    },
    /// The conversation is longer than the model can read.
    TooLong(String),
    /// The schemas of the strict tools are too large to be enforced together.
    TooLargeAGrammar(String),
    /// The model does not take strict tools.
    StrictRefused(String),
    /// The answer broke off.
    Interrupted(String),
    /// The answer is not what the API of the provider describes, or is too large.
    Malformed(String),
}

impl fmt::Display for ModelError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsendable(text) => write!(out, "the question cannot be asked: {text}"),
            Self::Connect(text) => write!(out, "the provider cannot be reached: {text}"),
            Self::Timeout(text) => write!(out, "the provider took too long: {text}"),
            Self::Status { code, text, .. } => {
                write!(out, "the provider answered with status {code}: {text}")
            }
            Self::TooLong(text) => write!(out, "the conversation is too long: {text}"),
            Self::TooLargeAGrammar(text) => {
                write!(out, "the strict tools are too large together: {text}")
            }
            Self::StrictRefused(text) => write!(out, "the model takes no strict tools: {text}"),
            Self::Interrupted(text) => write!(out, "the answer broke off: {text}"),
            Self::Malformed(text) => write!(out, "the answer is malformed: {text}"),
        }
    }
}

impl std::error::Error for ModelError {}

/// The body of an error, of any provider: an object with an `error`, or with the keys of one; Gemini puts it into a list when
/// a stream was asked for.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Body<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(alias = "Message")]
    message: Option<String>,
    #[serde(borrow)]
    code: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(borrow)]
    details: Option<Vec<&'a RawValue>>,
}

/// Gemini's `google.rpc.RetryInfo`.
#[derive(Deserialize)]
struct RetryInfo {
    #[serde(rename = "retryDelay")]
    delay: String,
}

impl ModelError {
    /// The error for a response that is not a success. `header` returns the value of a header by its name in lower case.
    pub fn of_status<'a>(
        code: u16,
        header: impl Fn(&str) -> Option<&'a str>,
        body: &[u8],
        dialect: &Dialect,
    ) -> Self {
        let body = String::from_utf8_lossy(body);
        let found = ErrorBody::of(&body);
        let text = found.text.unwrap_or_else(|| first_line(&body));
        let should_retry = match header("x-should-retry") {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        };
        let retry_after = retry_after(header).or(found.delay);
        Self::classified(code, text, &body, dialect).with_retry(retry_after, should_retry)
    }

    /// The error that a provider sends within a stream, by its JSON.
    pub fn of_event(json: &str, dialect: &Dialect) -> Self {
        let body = ErrorBody::of(json);
        let text = body.text.unwrap_or_else(|| first_line(json));
        let code = status_of(&body.kind);
        Self::classified(code, text, json, dialect).with_retry(body.delay, None)
    }

    /// The error that AWS sends within a stream, by its name and JSON.
    #[cfg(feature = "bedrock")]
    pub(crate) fn of_exception(name: &str, json: &str, dialect: &Dialect) -> Self {
        let body = ErrorBody::of(json);
        let text = body.text.unwrap_or_else(|| first_line(json));
        Self::classified(status_of(name), format!("{}: {text}", line(name)), json, dialect)
    }

    fn with_retry(mut self, after: Option<Duration>, should: Option<bool>) -> Self {
        if let Self::Status { retry_after, should_retry, .. } = &mut self {
            (*retry_after, *should_retry) = (after, should);
        }
        self
    }

    fn classified(code: u16, text: String, body: &str, dialect: &Dialect) -> Self {
        let lower = body.to_lowercase();
        let says = |kind: &str| {
            let words = dialect.errors().get(kind);
            words.into_iter().flatten().any(|words| lower.contains(&words.to_lowercase()))
        };
        match code {
            400 | 422 if says("strict_refused") => Self::StrictRefused(text),
            400 | 422 if says("grammar_too_large") => Self::TooLargeAGrammar(text),
            400 | 413 | 422 if TOO_LONG.iter().any(|words| lower.contains(words)) => {
                Self::TooLong(text)
            }
            _ => Self::Status { code, text, retry_after: None, should_retry: None },
        }
    }

    /// The kind of the error as a word, for logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unsendable(_) => "unsendable",
            Self::Connect(_) => "connect",
            Self::Timeout(_) => "timeout",
            Self::Status { .. } => "status",
            Self::TooLong(_) => "too_long",
            Self::TooLargeAGrammar(_) => "too_large_a_grammar",
            Self::StrictRefused(_) => "strict_refused",
            Self::Interrupted(_) => "interrupted",
            Self::Malformed(_) => "malformed",
        }
    }

    /// Changes the text of the provider.
    #[cfg(feature = "client")]
    pub(crate) fn map_text(mut self, change: impl Fn(&str) -> String) -> Self {
        match &mut self {
            Self::Unsendable(text)
            | Self::Connect(text)
            | Self::Timeout(text)
            | Self::Status { text, .. }
            | Self::TooLong(text)
            | Self::TooLargeAGrammar(text)
            | Self::StrictRefused(text)
            | Self::Interrupted(text)
            | Self::Malformed(text) => *text = change(text),
        }
        self
    }

    pub(crate) fn malformed(expected: &str, error: &serde_json::Error, found: &str) -> Self {
        let at = error.column().saturating_sub(1);
        let reason = match error.classify() {
            serde_json::error::Category::Data => line(&error.to_string()),
            _ => format!("it is not JSON at byte {at}"),
        };
        Self::Malformed(format!(
            "expected {expected}, but {reason}; it begins with `{}`",
            first_line(found)
        ))
    }
}

/// Words for a conversation that is too long: OpenAI and those who copy it, Anthropic, Gemini, Bedrock, llama.cpp.
const TOO_LONG: [&str; 8] = [
    "context_length_exceeded",
    "maximum context length",
    "prompt is too long",
    "input length and `max_tokens` exceed context limit",
    "exceeds the maximum number of tokens",
    "input is too long",
    "exceed_context_size_error",
    "exceeds the context window",
];

/// The most errors inside each other that are read for their text. Gateways put the error of a provider in one of their own.
const MOST_NESTED_ERRORS: usize = 4;

/// The body of an error, as far as it is JSON.
#[derive(Default)]
struct ErrorBody {
    text: Option<String>,
    kind: String,
    delay: Option<Duration>,
}

impl ErrorBody {
    fn of(json: &str) -> Self {
        Self::within(json, MOST_NESTED_ERRORS)
    }

    /// As [`Self::of`], for at most so many errors inside each other.
    fn within(json: &str, levels: usize) -> Self {
        let json = json.trim();
        let list: Option<Vec<&RawValue>> = serde_json::from_str(json).ok();
        let json = list.as_ref().and_then(|list| list.first()).map_or(json, |first| first.get());
        if let Ok(text) = serde_json::from_str::<String>(json) {
            return Self { text: Some(line(&text)), ..Self::default() };
        }
        let Ok(body) = serde_json::from_str::<Body<'_>>(json) else { return Self::default() };
        if let Some(error) = body.error {
            return match levels.checked_sub(1) {
                Some(levels) => Self::within(error.get(), levels),
                None => Self::default(),
            };
        }
        let words = [body.code, body.status].into_iter().flatten();
        let words = words.map(|word| word.get().trim_matches('"')).chain(body.kind.as_deref());
        let delays = body.details.iter().flatten().filter_map(|detail| {
            let info: RetryInfo = serde_json::from_str(detail.get()).ok()?;
            seconds(info.delay.strip_suffix('s')?)
        });
        Self {
            text: body.message.map(|message| line(&message)),
            kind: words.collect::<Vec<_>>().join(" "),
            delay: delays.into_iter().next(),
        }
    }
}

/// Returns the HTTP status for the kind of an error within a stream.
fn status_of(kind: &str) -> u16 {
    let kind = kind.to_lowercase();
    let words: &[(&str, u16)] = &[
        ("overloaded", 529),
        ("rate_limit", 429),
        ("throttling", 429),
        ("resource_exhausted", 429),
        ("insufficient_quota", 429),
        ("timeout", 504),
        ("deadline_exceeded", 504),
        ("authentication", 401),
        ("unauthenticated", 401),
        ("permission", 403),
        ("not_found", 404),
        ("unavailable", 503),
        ("invalid", 400),
        ("validation", 400),
        ("context_length", 400),
    ];
    let number = kind.split(' ').find_map(|word| word.parse().ok().filter(|code| *code >= 400));
    number
        .or_else(|| words.iter().find(|(word, _)| kind.contains(word)).map(|(_, code)| *code))
        .unwrap_or(500)
}

/// How long a provider asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110, section 10.2.3),
/// which is compared with the provider's own clock.
fn retry_after<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    if let Some(milliseconds) = header("retry-after-ms").and_then(seconds) {
        return Some(milliseconds / 1000);
    }
    let value = header("retry-after")?;
    seconds(value).or_else(|| {
        let until = httpdate::parse_http_date(value.trim()).ok()?;
        let now = header("date").and_then(|date| httpdate::parse_http_date(date.trim()).ok())?;
        Some(until.duration_since(now).unwrap_or_default())
    })
}

/// Parses seconds, perhaps with a fraction. Whole seconds beyond the range of a duration are the longest one.
fn seconds(text: &str) -> Option<Duration> {
    let text = text.trim();
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = Duration::try_from_secs_f64(text.parse().ok()?).ok();
    parsed.or_else(|| is_whole.then_some(Duration::MAX))
}

/// Returns the first line of a text that is not blank, as a quotation.
pub(crate) fn first_line(text: &str) -> String {
    let found = text.lines().map(str::trim).find(|line| !line.is_empty());
    found.map_or_else(|| "nothing".to_owned(), line)
}

/// Returns a text of a provider as a quotation.
pub(crate) fn line(text: &str) -> String {
    untrusted::line(text, EXCERPT)
}
