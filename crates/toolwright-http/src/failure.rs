//! What an exchange that gave no result means to a tool's caller: kinds by status (RFC 9110, 15). Never tells the model
//! a word of the service, unless the schema declares the error.

use reqwest::StatusCode;
use toolwright::outcome::describe;
use toolwright::{FailureKind, InvalidPayload, Payload, Recovery, ToolFailure};

use crate::answer::Answer;
use crate::credentials::Credentials;
use crate::operation::Operation;

/// An answer whose status is no success.
pub(crate) fn of_status(
    operation: &Operation,
    answer: &Answer,
    credentials: &Credentials,
) -> ToolFailure {
    let status = answer.status;
    let said = answer.said(credentials);
    if let Some(declared) = operation.error(status.as_u16()) {
        let failure = ToolFailure::declared(declared.code, declared.description, Recovery::Replan);
        // A body that was cut is no JSON, and may end within a secret.
        let has_data = declared.has_payload && !answer.is_cut;
        let data = has_data
            .then(|| Payload::new(credentials.redacted(&String::from_utf8_lossy(&answer.body))));
        return ToolFailure { detail: said, data, ..failure };
    }
    let said = said.map_or_else(String::new, |said| format!(": {said}"));
    plain(operation.name, status, answer.wait()).with_detail(format!("status {status}{said}"))
}

fn plain(name: &str, status: StatusCode, wait: Option<u32>) -> ToolFailure {
    let (kind, words, recovery) = match status.as_u16() {
        400 | 422 => {
            (FailureKind::InvalidCall, "does not accept these arguments", Recovery::Replan)
        }
        401 => (FailureKind::Denied, "does not accept who asks", Recovery::Finish),
        403 => (FailureKind::Denied, "does not allow this", Recovery::Replan),
        404 | 410 => (FailureKind::DomainRejection, "knows nothing of that", Recovery::Replan),
        408 | 504 => (FailureKind::Timeout, "took too long", Recovery::Retry),
        429 => (FailureKind::RateLimited, "is asked too often", Recovery::Retry),
        300..400 => (FailureKind::Unavailable, "is somewhere else now", Recovery::Finish),
        400..500 => (FailureKind::DomainRejection, "refused this", Recovery::Replan),
        _ => (FailureKind::Unavailable, "cannot answer now", Recovery::Retry),
    };
    let later = match (kind, wait) {
        (FailureKind::RateLimited | FailureKind::Unavailable, Some(seconds)) => {
            format!("; it asks to wait {seconds} s")
        }
        _ => String::new(),
    };
    let message =
        format!("the service behind `{name}` {words} (status {}){later}", status.as_u16());
    ToolFailure::new(kind, message, recovery)
}

/// No answer, or only a part of one.
pub(crate) fn of_transport(
    operation: &Operation,
    error: reqwest::Error,
    credentials: &Credentials,
) -> ToolFailure {
    let (kind, words) = if error.is_timeout() {
        (FailureKind::Timeout, "took too long")
    } else {
        (FailureKind::Unavailable, "cannot be reached")
    };
    let message = format!("the service behind `{}` {words}", operation.name);
    // The address may hold a key.
    let cause = describe(&error.without_url());
    ToolFailure::new(kind, message, Recovery::Retry).with_detail(credentials.redacted(&cause))
}

/// A good status with a body that is no result.
pub(crate) fn malformed(operation: &Operation, detail: String) -> ToolFailure {
    let message = format!(
        "the service behind `{}` answered with something its schema does not accept",
        operation.name
    );
    ToolFailure::new(FailureKind::MalformedResult, message, Recovery::Replan).with_detail(detail)
}

/// A result with issues, which may quote it.
pub(crate) fn of_issues(
    operation: &Operation,
    issues: &InvalidPayload,
    credentials: &Credentials,
) -> ToolFailure {
    malformed(operation, credentials.redacted(&issues.to_string()))
}
