//! Results of calls: a payload, or a failure with advice for the model.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use crate::call::{Payload, ToolCall};
use crate::codec::{self, Decode, Encode};
use crate::issue::{InvalidPayload, Issue, IssueKind, MAX_ISSUES, suggestion};
use crate::spec::{ToolAnnotations, ToolSpec};
use crate::untrusted::{MAX_TOOL_NAME_BYTES, line, visible};

/// Any error, as a cause for operators.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The result of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: String,
    /// The payload or the failure.
    pub outcome: Outcome,
}

/// The payload that the tool returned, valid under its result schema, or the failure.
pub type Outcome = Result<Payload, ToolFailure>;

/// The failure of a call, with a message for the model and a separate detail for operators. Its `Display` has no detail, which may
/// be confidential: print [`detail`](Self::detail) for operators.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The declared error's name, for a domain failure that has one.
    pub code: Option<Cow<'static, str>>,
    /// The message for the model. It holds only texts that were written for models.
    pub message: String,
    /// Advice on how to continue.
    pub recovery: Recovery,
    /// The data of a declared error, valid under the error's schema.
    pub data: Option<Payload>,
    /// Details for operators, hidden from the model.
    pub detail: Option<String>,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The arguments break the tool's schema.
    InvalidCall,
    /// There is no such tool.
    NotFound,
    /// An approver or a policy denied the call.
    Denied,
    /// The tool understood the call and refused it.
    DomainRejection,
    /// The tool cannot be reached or cannot work now.
    Unavailable,
    /// The caller makes too many calls.
    RateLimited,
    /// The tool took too long.
    Timeout,
    /// The call was cancelled.
    Cancelled,
    /// The tool returned something its schema does not accept.
    MalformedResult,
    /// Something else went wrong inside.
    Internal,
}

/// Advice on how to continue after a failure. `Recovery<()>` is the same advice without a call, as schemas declare it
/// for their errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery<C = Box<Correction>> {
    /// Call again with other arguments.
    CorrectCall(C),
    /// Call again later, unchanged.
    Retry,
    /// Try another way.
    Replan,
    /// Stop and report.
    Finish,
}

/// The data a model needs to correct a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Correction {
    /// The issues of the arguments, if they are known in detail.
    pub issues: Option<InvalidPayload>,
    /// The arguments that were sent.
    pub prior_input: Payload,
    /// Arguments that are valid.
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

    /// Returns true if the same call may succeed later: the tool could not be reached, was too busy or too slow.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Unavailable | Self::RateLimited | Self::Timeout)
    }

    /// Returns the kind that has this name on the wire.
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
    /// Advice to call again with other arguments than those of `call`, without known issues or an example.
    pub fn correct(call: &ToolCall) -> Self {
        Self::CorrectCall(Box::new(Correction {
            issues: None,
            prior_input: call.args().clone(),
            example: None,
        }))
    }
}

impl Correction {
    fn visible(self) -> Self {
        let issue = |issue: &Issue| {
            let message = issue.message();
            match [visible(issue.pointer()), visible(&message)] {
                [Cow::Borrowed(_), Cow::Borrowed(_)] => issue.clone(),
                [pointer, message] => {
                    Issue::new(pointer, IssueKind::Schema { message: message.into_owned() })
                }
            }
        };
        let issues = |invalid: InvalidPayload| {
            InvalidPayload::new(invalid.shown().take(MAX_ISSUES).map(issue).collect())
        };
        Self {
            issues: self.issues.map(issues),
            prior_input: self.prior_input.visible(),
            example: self.example.map(Payload::visible),
        }
    }
}

impl ToolResult {
    /// Creates the result of a call.
    pub fn new(call: &ToolCall, outcome: Outcome) -> Self {
        Self { call_id: call.id().to_owned(), outcome }
    }
}

impl ToolFailure {
    /// Creates a failure with a message for the model and no details for operators.
    pub fn new(kind: FailureKind, message: impl Into<String>, recovery: Recovery) -> Self {
        Self { kind, code: None, message: message.into(), recovery, data: None, detail: None }
    }

    /// Returns the failure without [hidden](crate::untrusted) characters, and with at most 1,000 issues of a mebibyte together. The
    /// characters are replaced in texts and issues, and escaped in payloads. Use it for failures that come from another process or
    /// server.
    #[must_use]
    pub fn visible(self) -> Self {
        let shown = |text: &str| visible(text).into_owned();
        let recovery = match self.recovery {
            Recovery::CorrectCall(correction) => {
                Recovery::CorrectCall(Box::new(correction.visible()))
            }
            other => other,
        };
        Self {
            message: shown(&self.message),
            code: self.code.as_deref().map(shown).map(Into::into),
            recovery,
            data: self.data.map(Payload::visible),
            detail: self.detail.as_deref().map(shown),
            ..self
        }
    }

    /// Creates the failure of a declared error from its name, its message and its recovery.
    pub fn declared(code: &'static str, message: impl Into<String>, recovery: Recovery) -> Self {
        let kind = match recovery {
            Recovery::Retry => FailureKind::Unavailable,
            _ => FailureKind::DomainRejection,
        };
        Self { code: Some(Cow::Borrowed(code)), ..Self::new(kind, message, recovery) }
    }

    /// Creates an internal failure. The cause is shown to operators only.
    pub fn internal(cause: &dyn Error) -> Self {
        Self {
            detail: Some(describe(cause)),
            ..Self::new(FailureKind::Internal, "the tool failed internally", Recovery::Replan)
        }
    }

    /// Returns the cause if it is a `ToolFailure`, otherwise an internal failure. If the cause is an invalid call with
    /// the recovery `Replan`, the recovery becomes `CorrectCall`.
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

    /// Adds the message of a service elsewhere as the detail. If the recovery is `CorrectCall`, the message goes to the
    /// model too, since it helps to correct the call.
    #[must_use]
    pub fn reported(mut self, message: Option<String>) -> Self {
        if let (Recovery::CorrectCall(_), Some(message)) = (&self.recovery, &message) {
            self.message =
                format!("{}; the service says: {message}", self.message.trim_end_matches('.'));
        }
        self.detail = message;
        self
    }

    /// Creates the failure for arguments that break their tool's schema.
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

    /// Creates the failure for a result that breaks its tool's schema.
    pub fn malformed_result(spec: &ToolSpec, issues: &InvalidPayload) -> Self {
        let message = format!("`{}` returned something its schema does not accept", spec.name());
        Self {
            detail: Some(issues.to_string()),
            ..Self::new(FailureKind::MalformedResult, message, Recovery::Replan)
        }
    }

    /// Creates the failure for a result of `bytes` bytes that exceeds a limit.
    pub fn result_too_large(tool: &str, bytes: usize, limit: usize) -> Self {
        let message = format!(
            "`{tool}` ran, but its result has {bytes} bytes, and at most {limit} are allowed; ask for less"
        );
        Self::new(FailureKind::MalformedResult, message, Recovery::Replan)
    }

    /// Creates the failure for a call of an unknown tool. The message suggests the known tool with the closest name or
    /// lists the first known tools.
    pub fn not_found<'a>(tool: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let mut known = known.peekable();
        let message = if known.peek().is_none() {
            format!("there is no tool `{}`", line(tool, MAX_TOOL_NAME_BYTES))
        } else {
            let advice = suggestion(tool, known, "there is");
            format!("there is no tool `{}`, {advice}", line(tool, MAX_TOOL_NAME_BYTES))
        };
        Self::new(FailureKind::NotFound, message, Recovery::Replan)
    }

    /// Makes it the failure of a call that may have run. Unless the tool is read-only or idempotent, the message says so, a retry is
    /// not advised, and every kind but a timeout becomes an internal failure, so that nothing repeats the call.
    #[must_use]
    pub fn with_possible_effect(self, annotations: ToolAnnotations) -> Self {
        if annotations.may_run_again() {
            return self;
        }
        let message = format!(
            "{}; the call may have taken effect, so find out before calling again",
            self.message
        );
        let is_timeout = self.kind == FailureKind::Timeout;
        let kind = if is_timeout { self.kind } else { FailureKind::Internal };
        Self { kind, message, recovery: Recovery::Replan, ..self }
    }

    /// Adds the data of a declared error. If their schema does not accept them, the failure becomes an internal one.
    #[must_use]
    pub fn with_data<T: Encode>(self, data: &T) -> Self {
        match Payload::of(data) {
            Ok(data) => Self { data: Some(data), ..self },
            Err(issues) => Self::internal(&issues),
        }
    }

    /// Returns the failure as one text for models: the name of a declared error, the message, and the data of the error.
    ///
    /// ```
    /// use toolwright::{Recovery, ToolFailure};
    ///
    /// let failure = ToolFailure::declared("sold_out", "no tea is left", Recovery::Replan);
    /// assert_eq!(failure.for_model(), "sold_out: no tea is left");
    /// ```
    pub fn for_model(&self) -> String {
        let message =
            if self.message.trim().is_empty() { self.kind.as_str() } else { &self.message };
        let mut text = match &self.code {
            Some(code) => format!("{code}: {message}"),
            None => message.to_owned(),
        };
        if let Some(data) = &self.data {
            text.push('\n');
            text.push_str(data.as_str());
        }
        text
    }

    /// Decodes the data of a declared error; `None` if there are none or the codec of `T` refuses them.
    pub fn decoded_data<T: Decode>(&self) -> Option<T> {
        codec::from_json(self.data.as_ref()?.as_bytes()).ok()
    }

    /// Sets the details for operators.
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

/// Returns an error and its causes on one line, for operators.
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
