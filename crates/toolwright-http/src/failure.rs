//! Converts error responses and transport errors into failures. The kind follows from the status (RFC 9110, section 15).
//! The body of a response is a detail for operators. Models see it as the data of a declared error, and its text where other arguments
//! may help.

use reqwest::StatusCode;
use toolwright::http::is_refusal;
use toolwright::outcome::describe;
use toolwright::spec::ToolAnnotations;
use toolwright::{FailureKind, InvalidPayload, Payload, Recovery, ToolFailure, Value};

use crate::credentials::Credentials;
use crate::operation::{DeclaredError, Operation, Verb};
use crate::response::Response;

/// The failure for a response with an error status.
pub(crate) fn of_status(
    operation: &Operation,
    response: &Response,
    credentials: &Credentials,
) -> ToolFailure {
    let status = response.status;
    let excerpt = response.excerpt(credentials);
    let failure = undeclared(operation.name, status, response.retry_after());
    // A redirect is transient, too, although it is answered after an effect by many services.
    let is_transient = failure.kind.is_transient();
    let is_lost = (response.is_redirected || is_transient && !is_refusal(status.as_u16()))
        && !may_run_again(operation.verb);
    let is_told = |declared: &DeclaredError| {
        // The target of a redirect does not tell whether the first request had an effect.
        !(is_lost && (declared.is_retried || response.is_redirected))
    };
    let declared = operation.error(status.as_u16());
    if let Some(declared) = declared.filter(|declared| is_told(declared)) {
        let failure = ToolFailure::declared(declared.code, declared.description, Recovery::Replan);
        // A body that was cut may end within a secret. One that has a secret as a number is not JSON without it.
        let has_data = declared.has_payload && !response.is_cut;
        let data = has_data
            .then(|| credentials.redacted(&String::from_utf8_lossy(&response.body)))
            .filter(|data| data.parse::<Value>().is_ok())
            .map(Payload::new);
        return ToolFailure { detail: excerpt, data, ..failure };
    }
    let excerpt = excerpt.map_or_else(String::new, |excerpt| format!(": {excerpt}"));
    let failure = match (is_lost, is_transient) {
        (false, _) => failure,
        // The status advises to call again.
        (true, true) => lost(operation, failure.kind),
        (true, false) => failure.with_possible_effect(ToolAnnotations::UNKNOWN),
    };
    failure.with_detail(format!("status {status}{excerpt}"))
}

/// Returns true if a request that may have had an effect can be sent again (RFC 9110, section 9.2.2).
fn may_run_again(verb: Verb) -> bool {
    !matches!(verb, Verb::Post | Verb::Patch)
}

/// The failure of a request that must not be sent again, because it may have had an effect.
fn lost(operation: &Operation, kind: FailureKind) -> ToolFailure {
    let problem = match kind {
        FailureKind::Timeout => "took too long",
        _ => "failed during the call",
    };
    let message = format!("the service behind `{}` {problem}", operation.name);
    ToolFailure::new(kind, message, Recovery::Replan).with_possible_effect(ToolAnnotations::UNKNOWN)
}

/// The seconds of a day.
const DAY: u32 = 86_400;

/// The failure for a status without a declared error.
fn undeclared(name: &str, status: StatusCode, retry_after: Option<u32>) -> ToolFailure {
    let (kind, problem, recovery) = match status.as_u16() {
        400 | 422 => {
            (FailureKind::InvalidCall, "does not accept these arguments", Recovery::Replan)
        }
        401 => (FailureKind::Denied, "rejects the credentials of this program", Recovery::Finish),
        403 => (FailureKind::Denied, "does not allow this", Recovery::Replan),
        404 | 410 => (FailureKind::DomainRejection, "did not find this", Recovery::Replan),
        408 | 504 => (FailureKind::Timeout, "took too long", Recovery::Retry),
        425 => (FailureKind::Unavailable, "cannot answer yet", Recovery::Retry),
        429 => (FailureKind::RateLimited, "gets too many requests", Recovery::Retry),
        300..400 => (FailureKind::Unavailable, "has moved to another address", Recovery::Finish),
        400..500 => (FailureKind::DomainRejection, "rejected this", Recovery::Replan),
        _ => (FailureKind::Unavailable, "cannot answer now", Recovery::Retry),
    };
    let wait = match (kind, retry_after) {
        (FailureKind::RateLimited | FailureKind::Unavailable, Some(seconds)) => {
            // A longer number may have the digits of a credential.
            let time = if seconds <= DAY { format!("{seconds} s") } else { "a day".to_owned() };
            format!("; wait {time} before calling again")
        }
        _ => String::new(),
    };
    let message =
        format!("the service behind `{name}` {problem} (status {}){wait}", status.as_u16());
    ToolFailure::new(kind, message, recovery)
}

/// The failure if there was no request, no response, or only a part of one. `is_redirected` is true if the service had answered the
/// first request of the call.
pub(crate) fn of_transport(
    operation: &Operation,
    error: reqwest::Error,
    is_redirected: bool,
    credentials: &Credentials,
) -> ToolFailure {
    if error.is_builder() && !is_redirected {
        let message = format!(
            "the arguments of `{}` are not valid: they are too long for an address",
            operation.name
        );
        return ToolFailure::new(FailureKind::InvalidCall, message, Recovery::Replan);
    }
    let is_unsent = error.is_connect() && !is_redirected;
    let (kind, problem) = if error.is_timeout() {
        (FailureKind::Timeout, "took too long")
    } else if error.is_connect() {
        (FailureKind::Unavailable, "cannot be reached")
    } else {
        (FailureKind::Unavailable, "broke off its answer")
    };
    let failure = if is_unsent || may_run_again(operation.verb) {
        let message = format!("the service behind `{}` {problem}", operation.name);
        ToolFailure::new(kind, message, Recovery::Retry)
    } else {
        lost(operation, kind)
    };
    // The URL may hold a key.
    let cause = describe(&error.without_url());
    failure.with_detail(credentials.redacted(&cause))
}

/// The failure for a successful response whose body is not a valid result.
pub(crate) fn malformed(operation: &Operation, detail: String) -> ToolFailure {
    let message = format!(
        "the service behind `{}` returned a result that its schema does not accept",
        operation.name
    );
    ToolFailure::new(FailureKind::MalformedResult, message, Recovery::Replan).with_detail(detail)
}

/// The failure for a result that cannot be decoded. The issues may quote it.
pub(crate) fn of_issues(
    operation: &Operation,
    issues: &InvalidPayload,
    credentials: &Credentials,
) -> ToolFailure {
    malformed(operation, credentials.redacted(&issues.to_string()))
}
