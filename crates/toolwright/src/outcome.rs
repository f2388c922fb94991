//! What came of a call: a payload, or a failure with advice on what to do about it.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use crate::call::{Payload, ToolCall};
use crate::codec::{self, Decode, Encode};
use crate::issue::{InvalidPayload, suggestion};
use crate::spec::ToolSpec;

/// Any error, as a cause for operators to read.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What came of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// What the tool returned, valid under its result schema, or why it returned nothing.
pub type Outcome = Result<Payload, ToolFailure>;

/// A failed call, in words for the model and, apart from them, words for operators.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// The declared error's name, for a domain failure that has one.
    pub code: Option<Cow<'static, str>>,
    /// What the model is told. Never holds an error text nobody wrote for it.
    pub message: String,
    /// What the model can do about it.
    pub recovery: Recovery,
    /// What a declared error says in data, by its schema.
    pub data: Option<Payload>,
    /// What operators are told beside the message.
    pub detail: Option<String>,
}

/// The kinds of failure every executor shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The arguments break the tool's schema.
    InvalidCall,
    /// There is no such tool.
    NotFound,
    /// An approver or a policy said no.
    Denied,
    /// The tool understood the call and refused it.
    DomainRejection,
    /// The tool cannot be reached or cannot work now.
    Unavailable,
    /// The caller asks too often.
    RateLimited,
    /// The tool took longer than it may.
    Timeout,
    /// The call was given up.
    Cancelled,
    /// The tool returned something its schema does not accept.
    MalformedResult,
    /// Something else went wrong inside.
    Internal,
}

/// What can be done about a failure. `Recovery<()>` is the same advice before there is a call to correct, as schemas
/// give it with the errors they declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery<C = Box<Correction>> {
    /// Call again with other arguments.
    CorrectCall(C),
    /// Call again later, unchanged.
    Retry,
    /// Look for another way.
    Replan,
    /// Stop and report.
    Finish,
}

/// What it takes to correct a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Correction {
    /// What is wrong, where that is known in detail.
    pub issues: Option<InvalidPayload>,
    /// What was sent.
    pub prior_input: Payload,
    /// Arguments that would do.
    pub example: Option<Payload>,
}

impl FailureKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::InvalidCall,
        Self::NotFound,
        Self::Denied,
        Self::DomainRejection,
        Self::Unavailable,
        Self::RateLimited,
        Self::Timeout,
        Self::Cancelled,
        Self::MalformedResult,
        Self::Internal,
    ];

    /// Whether the same call may succeed a little later: the tool was out of reach, too busy or too slow.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Unavailable | Self::RateLimited | Self::Timeout)
    }

    /// The kind of a name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The kind's name on the wire and in logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidCall => "invalid_call",
            Self::NotFound => "not_found",
            Self::Denied => "denied",
            Self::DomainRejection => "domain_rejection",
            Self::Unavailable => "unavailable",
            Self::RateLimited => "rate_limited",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::MalformedResult => "malformed_result",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<C> Recovery<C> {
    /// The recovery's name in schemas, on the wire and in logs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::CorrectCall(_) => "correct_call",
            Self::Retry => "retry",
            Self::Replan => "replan",
            Self::Finish => "finish",
        }
    }
}

impl Recovery {
    /// Advice to send other arguments than a call's, where nothing more is known.
    pub fn correct(call: &ToolCall) -> Self {
        Self::CorrectCall(Box::new(Correction {
            issues: None,
            prior_input: call.args().clone(),
            example: None,
        }))
    }
}

impl ToolResult {
    /// What came of a call.
    pub fn new(call: &ToolCall, outcome: Outcome) -> Self {
        Self { call_id: call.id().to_owned(), outcome }
    }
}

impl ToolFailure {
    /// A failure with words for the model alone.
    pub fn new(kind: FailureKind, message: impl Into<String>, recovery: Recovery) -> Self {
        Self { kind, code: None, message: message.into(), recovery, data: None, detail: None }
    }

    /// A failure that a method declares: its name, its description, its recovery.
    pub fn declared(code: &'static str, message: impl Into<String>, recovery: Recovery) -> Self {
        let kind = match recovery {
            Recovery::Retry => FailureKind::Unavailable,
            _ => FailureKind::DomainRejection,
        };
        Self { code: Some(Cow::Borrowed(code)), ..Self::new(kind, message, recovery) }
    }

    /// A failure whose cause is for operators only.
    pub fn internal(cause: &dyn Error) -> Self {
        Self {
            detail: Some(describe(cause)),
            ..Self::new(FailureKind::Internal, "the tool failed internally", Recovery::Replan)
        }
    }

    /// The failure that a cause is, where it is one, or an internal failure. An invalid call that names no way out is to be
    /// corrected.
    pub fn caused_by(cause: BoxError, call: &ToolCall) -> Self {
        match cause.downcast::<Self>() {
            Ok(failure) => failure.advised(call),
            Err(cause) => Self::internal(cause.as_ref()),
        }
    }

    fn advised(mut self, call: &ToolCall) -> Self {
        if self.kind == FailureKind::InvalidCall && self.recovery == Recovery::Replan {
            self.recovery = Recovery::correct(call);
        }
        self
    }

    /// Adds what a foreign service said about it. Operators are told; the model only where its call can be corrected,
    /// since then these words say how.
    #[must_use]
    pub fn reported(mut self, said: Option<String>) -> Self {
        if let (Recovery::CorrectCall(_), Some(said)) = (&self.recovery, &said) {
            self.message =
                format!("{}; the service says: {said}", self.message.trim_end_matches('.'));
        }
        self.detail = said;
        self
    }

    /// Arguments that break their tool's schema.
    pub fn invalid_call(spec: &ToolSpec, call: &ToolCall, issues: InvalidPayload) -> Self {
        let message = format!("the arguments of `{}` are not valid: {issues}", spec.name());
        let correction = Correction {
            issues: Some(issues),
            prior_input: call.args().clone(),
            example: spec.args_sample().map(Payload::new),
        };
        let recovery = Recovery::CorrectCall(Box::new(correction));
        Self::new(FailureKind::InvalidCall, message, recovery)
    }

    /// A result that breaks its tool's schema.
    pub fn malformed_result(spec: &ToolSpec, issues: &InvalidPayload) -> Self {
        let message = format!("`{}` returned something its schema does not accept", spec.name());
        Self {
            detail: Some(issues.to_string()),
            ..Self::new(FailureKind::MalformedResult, message, Recovery::Replan)
        }
    }

    /// A call of a tool that is not there. The message names the known tool that was probably meant, or else the first of
    /// them.
    pub fn not_found<'a>(tool: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let mut known = known.peekable();
        let message = if known.peek().is_none() {
            format!("there is no tool `{tool}`")
        } else {
            format!("there is no tool `{tool}`, {}", suggestion(tool, known, "there is"))
        };
        Self::new(FailureKind::NotFound, message, Recovery::Replan)
    }

    /// Adds the data of a declared error. If its schema does not accept them, the failure is an internal one.
    #[must_use]
    pub fn with_data<T: Encode>(self, data: &T) -> Self {
        match Payload::of(data) {
            Ok(data) => Self { data: Some(data), ..self },
            Err(issues) => Self::internal(&issues),
        }
    }

    /// The data of a declared error, where there are any and the type's codec accepts them.
    pub fn decoded_data<T: Decode>(&self) -> Option<T> {
        codec::from_json(self.data.as_ref()?.as_bytes()).ok()
    }

    /// Adds words for operators.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }
}

impl fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl Error for ToolFailure {}

/// An error and its causes on one line, for operators.
pub fn describe(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
