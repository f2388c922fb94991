//! The data beside the arguments of a call: its id and scope, the digest of the tool that the caller knows, and the approval
//! code. Arguments and results are bodies of their own, so that any client of Restate can make calls, too.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use restate_sdk::errors::TerminalError;
use serde::{Deserialize, Serialize};
use toolwright::untrusted::excerpt;
use toolwright::{FailureKind, Outcome, Payload, Recovery, ToolCall, ToolFailure};
use toolwright_runtime::CallRequest;
use toolwright_runtime::approval::ApprovalKey;
use toolwright_runtime::wire::Portable;

/// The most bytes of a result, of a failure and of a saved state. A Restate server carries messages of 32 MiB unless it is set
/// otherwise, and a result with its state is one message, in which quotes and backslashes of the result are escaped once.
pub(crate) const MAX_RESULT: usize = 8 << 20;

/// The most bytes of the message of a failure that is too large.
const LONGEST_MESSAGE: usize = 4 << 10;

/// The header with a [`Sent`].
pub(crate) const HEADER: &str = "x-toolwright-call";

/// The time in which an approval code is valid.
const APPROVAL_LIFETIME: Duration = Duration::from_hours(1);

/// The data beside the arguments of a call.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Sent {
    /// The call without its arguments.
    call: Option<String>,
    /// The ids of the calls in which it is nested, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) outer_calls: Vec<String>,
    /// The digest of the tool's definition, as the caller has it.
    pub(crate) digest: Option<String>,
    /// The approval code, and until when it is valid, in seconds since 1970.
    approval: Option<(String, u64)>,
    /// True if the caller only looks for the call, to cancel it. Then the call does not run.
    #[serde(default)]
    pub(crate) is_cancelled: bool,
}

/// Returns the parts of a call that its approval code authenticates, with the digest of its tool.
fn signed(call: &ToolCall, digest: &str, expires_at: u64) -> [Vec<u8>; 4] {
    let call = unapproved(call).to_text().into_bytes();
    [b"restate".to_vec(), call, digest.into(), expires_at.to_be_bytes().into()]
}

/// Returns a call without its clearance, which both sides can create.
fn unapproved(call: &ToolCall) -> ToolCall {
    call.clone().with_clearance(None)
}

/// Returns the time in seconds since 1970.
pub(crate) fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

impl Sent {
    pub(crate) fn new(call: &ToolCall, digest: &str, key: Option<&ApprovalKey>) -> Self {
        let approval = key.filter(|_| call.is_approved()).map(|key| {
            let expires_at = seconds().saturating_add(APPROVAL_LIFETIME.as_secs());
            let code = key.sign(signed(call, digest, expires_at));
            (BASE64_URL_SAFE_NO_PAD.encode(code), expires_at)
        });
        let without_args = unapproved(call).with_args(Payload::new("null"));
        Self {
            call: Some(without_args.to_text()),
            outer_calls: CallRequest::outer_calls(call).to_vec(),
            digest: Some(digest.to_owned()),
            approval,
            is_cancelled: false,
        }
    }

    /// Says that the call must not begin.
    pub(crate) fn cancelled() -> Self {
        Self { is_cancelled: true, ..Self::default() }
    }

    /// Reads the header of a request. A request without it comes from another client of Restate.
    pub(crate) fn read(header: Option<&str>) -> Result<Self, String> {
        let Some(header) = header else { return Ok(Self::default()) };
        let expected = format!("the header `{HEADER}` is not one of a toolwright caller");
        let json = BASE64_URL_SAFE_NO_PAD
            .decode(header)
            .map_err(|error| format!("{expected}: {error}"))?;
        serde_json::from_slice(&json).map_err(|error| format!("{expected}: {error}"))
    }

    pub(crate) fn header(&self) -> String {
        let json = serde_json::to_vec(self);
        let json = json.unwrap_or_else(|error| unreachable!("it holds only strings: {error}"));
        BASE64_URL_SAFE_NO_PAD.encode(json)
    }

    /// Returns the call, with a scope of its own if another client made it. `id` is unique to the invocation.
    pub(crate) fn call(&self, tool: &str, args: Payload, id: &str) -> Result<ToolCall, String> {
        match &self.call {
            Some(json) => {
                let call = ToolCall::from_text(json).map_err(|error| error.to_string())?;
                Ok(call.with_args(args))
            }
            None => Ok(ToolCall::new(tool, args).with_id(id)),
        }
    }

    pub(crate) fn has_approval(&self) -> bool {
        self.approval.is_some()
    }

    /// Returns the approval code and how long it stays valid, if it is valid for the call at a time, in seconds since 1970.
    pub(crate) fn code(
        &self,
        call: &ToolCall,
        digest: &str,
        key: &ApprovalKey,
        at: u64,
    ) -> Option<(&str, Duration)> {
        let (code, expires_at) = self.approval.as_ref()?;
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(code).ok()?;
        let time_left = expires_at.checked_sub(at).filter(|left| *left > 0)?;
        let is_valid = key.verify(signed(call, digest, *expires_at), &bytes);
        is_valid.then_some((code, Duration::from_secs(time_left)))
    }
}

/// Returns a failure as an error that Restate does not retry. Its message is the failure as JSON.
pub(crate) fn terminal(failure: &ToolFailure) -> TerminalError {
    let code = match failure.kind {
        FailureKind::InvalidCall => 422,
        FailureKind::NotFound => 404,
        FailureKind::Denied => 403,
        FailureKind::Timeout => 504,
        FailureKind::Cancelled => 409,
        FailureKind::RateLimited => 429,
        FailureKind::Unavailable => 503,
        _ => 500,
    };
    TerminalError::new_with_code(code, Outcome::Err(bounded(failure.clone())).to_text())
}

/// Returns a failure that Restate carries. Of one that is too large, the kind and the beginning of the message are left.
pub(crate) fn bounded(failure: ToolFailure) -> ToolFailure {
    let bytes = Outcome::Err(failure.clone()).to_text().len();
    if bytes <= MAX_RESULT {
        return failure;
    }
    let message = excerpt(&failure.message, LONGEST_MESSAGE);
    ToolFailure::new(failure.kind, message, Recovery::Replan).with_detail(format!(
        "the failure has {bytes} bytes of JSON, and at most {MAX_RESULT} can be sent"
    ))
}

/// Returns the failure in the message of an error, if one of ours is there.
pub(crate) fn failure_in(message: &str) -> Option<ToolFailure> {
    Outcome::from_text(message).ok()?.err()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use toolwright::{Payload, ToolCall};

    use super::{ApprovalKey, Sent};

    /// An approval code is bound to its call; the clearance itself can only come from a runtime, so this code is made by hand.
    #[test]
    fn an_approval_code_is_of_one_call_one_tool_and_one_time() {
        let key = ApprovalKey::new([7; 32]);
        let call = ToolCall::new("wipe", Payload::new(r#"{"disk":"a"}"#)).with_id("c1");
        let code = |expires_at: u64| {
            use base64::Engine;
            let code = key.sign(super::signed(&call, "digest", expires_at));
            super::BASE64_URL_SAFE_NO_PAD.encode(code)
        };
        let now = super::seconds();
        let later = now + 60;
        let sent =
            Sent { approval: Some((code(later), later)), ..Sent::new(&call, "digest", None) };
        let time_left = sent.code(&call, "digest", &key, now).map(|(_, time_left)| time_left);
        assert_eq!(time_left, Some(Duration::from_mins(1)));
        assert!(sent.code(&call, "digest", &key, later).is_none(), "too late");
        let other = call.clone().with_args(Payload::new(r#"{"disk":"b"}"#));
        assert!(sent.code(&other, "digest", &key, now).is_none(), "other arguments");
        assert!(sent.code(&call, "other", &key, now).is_none(), "another tool");
        assert!(
            sent.code(&call.clone().with_id("c2"), "digest", &key, now).is_none(),
            "another id"
        );
        assert!(
            sent.code(&call, "digest", &ApprovalKey::new([8; 32]), now).is_none(),
            "another key"
        );
        let late = Sent { approval: Some((code(later), later + 1)), ..Sent::default() };
        assert!(late.code(&call, "digest", &key, now).is_none(), "another time");
        let past = Sent { approval: Some((code(1), 1)), ..Sent::default() };
        assert!(past.code(&call, "digest", &key, now).is_none(), "it has expired");
        assert!(Sent::default().code(&call, "digest", &key, now).is_none(), "no code");
    }
}
