//! Calls, outcomes and scopes as JSON text, for suspended runs, journals, remote toolsets and other transports. Calls are
//! written without their clearance: the reader decides whether to trust that a call was approved.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolwright::issue::{Issue, IssueKind};
use toolwright::outcome::Correction;
use toolwright::{
    BoxError, FailureKind, InvalidPayload, Outcome, Payload, Recovery, Scope, ToolCall,
    ToolFailure, ToolResult,
};

use crate::agent::{CallRecord, PastRun, PlannedCall, Step, StepRecord};

/// A [`ToolCall`]. The arguments are kept as text, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WireCall {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) args: String,
    pub(crate) scope: WireScope,
    /// True if it was approved. The clearance itself is not serialized, so that the reader must decide whether to trust this.
    #[serde(default)]
    pub(crate) approved: bool,
}

/// A [`Scope`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WireScope {
    pub(crate) run_id: Option<String>,
    session_id: Option<String>,
    turn_id: Option<String>,
    parent_call_id: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    depth: u32,
}

/// An [`Outcome`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WireOutcome {
    Payload(String),
    Failure(Box<WireFailure>),
}

/// A [`ToolFailure`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WireFailure {
    kind: String,
    code: Option<String>,
    message: String,
    recovery: String,
    correction: Option<WireCorrection>,
    #[serde(default)]
    data: Option<String>,
    detail: Option<String>,
}

/// A [`Correction`]. Issues keep their pointers and messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct WireCorrection {
    issues: Option<Vec<WireIssue>>,
    prior_input: String,
    example: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct WireIssue {
    pointer: String,
    message: String,
}

/// The result of a planner: a [`Step`] or a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WireStep {
    Call { calls: Vec<WirePlannedCall>, note: Option<String> },
    Finish(String),
    Failure(Box<WireFailure>),
}

/// A [`PlannedCall`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WirePlannedCall {
    call: WireCall,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refusal: Option<Box<WireFailure>>,
}

/// A [`StepRecord`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WireRecord {
    pub(crate) calls: Vec<WireCallRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// A [`PastRun`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WireRun {
    run_id: String,
    input: String,
    steps: Vec<WireRecord>,
    result: WireOutcome,
}

/// A [`CallRecord`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WireCallRecord {
    pub(crate) call: WireCall,
    outcome: WireOutcome,
}

/// A value that travels as JSON text.
pub trait Portable: Sized {
    /// Returns it as JSON text.
    fn to_text(&self) -> String;

    /// Reads it from text that [`to_text`](Self::to_text) returned.
    ///
    /// # Errors
    ///
    /// The text is not such a value.
    fn from_text(json: &str) -> Result<Self, BoxError>;
}

/// A call without its clearance.
impl Portable for ToolCall {
    fn to_text(&self) -> String {
        to_json(&WireCall::from(self))
    }

    fn from_text(json: &str) -> Result<Self, BoxError> {
        Ok(serde_json::from_str::<WireCall>(json)?.into())
    }
}

impl Portable for Outcome {
    fn to_text(&self) -> String {
        to_json(&WireOutcome::from(self))
    }

    fn from_text(json: &str) -> Result<Self, BoxError> {
        Ok(serde_json::from_str::<WireOutcome>(json)?.into())
    }
}

fn to_json(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value);
    json.unwrap_or_else(|error| unreachable!("it holds only strings and numbers: {error}"))
}

impl From<&ToolCall> for WireCall {
    fn from(call: &ToolCall) -> Self {
        Self {
            id: call.id().to_owned(),
            tool: call.tool().to_owned(),
            args: call.args().to_string(),
            scope: call.scope().into(),
            approved: call.is_approved(),
        }
    }
}

impl From<WireCall> for ToolCall {
    fn from(wire: WireCall) -> Self {
        Self::new(wire.tool, Payload::new(wire.args)).with_id(wire.id).with_scope(wire.scope.into())
    }
}

impl From<&Scope> for WireScope {
    fn from(scope: &Scope) -> Self {
        let Scope { run_id, session_id, turn_id, parent_call_id, labels, depth } = scope.clone();
        Self { run_id, session_id, turn_id, parent_call_id, labels, depth }
    }
}

impl From<WireScope> for Scope {
    fn from(wire: WireScope) -> Self {
        let WireScope { run_id, session_id, turn_id, parent_call_id, labels, depth } = wire;
        Self { run_id, session_id, turn_id, parent_call_id, labels, depth }
    }
}

impl From<&Outcome> for WireOutcome {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Ok(payload) => Self::Payload(payload.to_string()),
            Err(failure) => Self::Failure(Box::new(failure.into())),
        }
    }
}

impl From<WireOutcome> for Outcome {
    fn from(wire: WireOutcome) -> Self {
        match wire {
            WireOutcome::Payload(payload) => Ok(Payload::new(payload)),
            WireOutcome::Failure(failure) => Err((*failure).into()),
        }
    }
}

impl From<&Result<Step, ToolFailure>> for WireStep {
    fn from(step: &Result<Step, ToolFailure>) -> Self {
        match step {
            Ok(Step::Call { calls, note }) => Self::Call {
                calls: calls.iter().map(Into::into).collect(),
                note: note.as_ref().map(ToString::to_string),
            },
            Ok(Step::Finish(payload)) => Self::Finish(payload.to_string()),
            Err(failure) => Self::Failure(Box::new(failure.into())),
        }
    }
}

impl From<WireStep> for Result<Step, ToolFailure> {
    fn from(wire: WireStep) -> Self {
        match wire {
            WireStep::Call { calls, note } => Ok(Step::Call {
                calls: calls.into_iter().map(Into::into).collect(),
                note: note.map(Payload::new),
            }),
            WireStep::Finish(payload) => Ok(Step::Finish(Payload::new(payload))),
            WireStep::Failure(failure) => Err((*failure).into()),
        }
    }
}

impl From<&PlannedCall> for WirePlannedCall {
    fn from(PlannedCall { call, refusal }: &PlannedCall) -> Self {
        Self {
            call: call.into(),
            refusal: refusal.as_ref().map(|failure| Box::new(failure.into())),
        }
    }
}

impl From<WirePlannedCall> for PlannedCall {
    fn from(WirePlannedCall { call, refusal }: WirePlannedCall) -> Self {
        Self { call: call.into(), refusal: refusal.map(|failure| (*failure).into()) }
    }
}

impl From<&StepRecord> for WireRecord {
    fn from(StepRecord { calls, note }: &StepRecord) -> Self {
        Self {
            calls: calls.iter().map(Into::into).collect(),
            note: note.as_ref().map(ToString::to_string),
        }
    }
}

impl From<WireRecord> for StepRecord {
    fn from(WireRecord { calls, note }: WireRecord) -> Self {
        Self { calls: calls.into_iter().map(Into::into).collect(), note: note.map(Payload::new) }
    }
}

impl PastRun {
    /// Returns the run as JSON text, which [`from_json`](Self::from_json) reads. Store it where only the host can write,
    /// since it is not sealed and planners trust it.
    pub fn to_json(&self) -> String {
        to_json(&WireRun::from(self))
    }

    /// Reads a run that was written by [`to_json`](Self::to_json).
    ///
    /// # Errors
    ///
    /// The text is not such a run.
    pub fn from_json(json: &str) -> Result<Self, BoxError> {
        let run: Result<WireRun, _> = serde_json::from_str(json);
        let expected = "the text is not a past run, expected one that `to_json` returned";
        run.map(Into::into).map_err(|error| format!("{expected}: {error}").into())
    }
}

impl From<&PastRun> for WireRun {
    fn from(PastRun { run_id, input, steps, result }: &PastRun) -> Self {
        Self {
            run_id: run_id.clone(),
            input: input.to_string(),
            steps: steps.iter().map(Into::into).collect(),
            result: result.into(),
        }
    }
}

impl From<WireRun> for PastRun {
    fn from(WireRun { run_id, input, steps, result }: WireRun) -> Self {
        let steps = steps.into_iter().map(Into::into).collect();
        Self { run_id, input: Payload::new(input), steps, result: result.into() }
    }
}

impl From<&ToolFailure> for WireFailure {
    fn from(failure: &ToolFailure) -> Self {
        let correction = match &failure.recovery {
            Recovery::CorrectCall(correction) => Some((&**correction).into()),
            _ => None,
        };
        Self {
            kind: failure.kind.as_str().to_owned(),
            code: failure.code.as_deref().map(str::to_owned),
            message: failure.message.clone(),
            recovery: failure.recovery.as_str().to_owned(),
            correction,
            data: failure.data.as_ref().map(ToString::to_string),
            detail: failure.detail.clone(),
        }
    }
}

impl From<WireFailure> for ToolFailure {
    /// An unknown kind of a later version becomes `Internal`, and an unknown recovery becomes `Replan`.
    fn from(wire: WireFailure) -> Self {
        let kind = FailureKind::from_name(&wire.kind).unwrap_or(FailureKind::Internal);
        let recovery = match (wire.recovery.as_str(), wire.correction) {
            (_, Some(correction)) => Recovery::CorrectCall(Box::new(correction.into())),
            ("retry", None) => Recovery::Retry,
            ("finish", None) => Recovery::Finish,
            _ => Recovery::Replan,
        };
        Self {
            code: wire.code.map(Into::into),
            data: wire.data.map(Payload::new),
            detail: wire.detail,
            ..Self::new(kind, wire.message, recovery)
        }
    }
}

impl From<&Correction> for WireCorrection {
    fn from(correction: &Correction) -> Self {
        let issue = |issue: &Issue| WireIssue {
            pointer: issue.pointer().to_owned(),
            message: issue.message(),
        };
        let issues = correction.issues.as_ref();
        Self {
            issues: issues.map(|issues| issues.shown().map(issue).collect()),
            prior_input: correction.prior_input.to_string(),
            example: correction.example.as_ref().map(ToString::to_string),
        }
    }
}

impl From<WireCorrection> for Correction {
    fn from(wire: WireCorrection) -> Self {
        let issue = |issue: WireIssue| {
            Issue::new(issue.pointer, IssueKind::Schema { message: issue.message })
        };
        let issues =
            |issues: Vec<WireIssue>| InvalidPayload::new(issues.into_iter().map(issue).collect());
        Self {
            issues: wire.issues.map(issues),
            prior_input: Payload::new(wire.prior_input),
            example: wire.example.map(Payload::new),
        }
    }
}

impl From<&CallRecord> for WireCallRecord {
    fn from(record: &CallRecord) -> Self {
        Self { call: (&record.call).into(), outcome: (&record.result.outcome).into() }
    }
}

impl From<WireCallRecord> for CallRecord {
    fn from(wire: WireCallRecord) -> Self {
        let call: ToolCall = wire.call.into();
        let result = ToolResult { call_id: call.id().to_owned(), outcome: wire.outcome.into() };
        Self { call, result }
    }
}

/// Serializes a [`Payload`] as a string.
pub(crate) mod payload {
    use serde::{Deserialize, Deserializer, Serializer};
    use toolwright::Payload;

    pub(crate) fn serialize<S: Serializer>(payload: &Payload, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(payload.as_str())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Payload, D::Error> {
        String::deserialize(from).map(Payload::new)
    }
}
