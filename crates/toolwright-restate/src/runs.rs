//! The workflow of an agent's runs, keyed by the id of the run.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use restate_sdk::context::RunFuture;
use restate_sdk::context::macro_support::SealedDurableFuture;
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::{HandlerError, TerminalError};
use restate_sdk::serde::Json;
use restate_sdk::service::ServiceDefinition;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;
use toolwright::{BoxFuture, FailureKind, Outcome, Payload, Recovery, ToolCall, ToolFailure};
use toolwright_runtime::watch::serving_span;
use toolwright_runtime::wire::Portable;
use toolwright_runtime::{
    Answer, ApprovalRequest, ResumeError, ResumeRequest, RunEnd, RunError, RunOutcome, RunRequest,
    Runtime, SuspendedRun, Verdict,
};
use tracing::Instrument;

use crate::call::terminal;
use crate::ingress::TRACEPARENT;
use crate::journal::{Driven, Line, Record, is_recordable, now};
use crate::names::encode;
use crate::service::{Handle, Handled, define};

/// The handlers.
pub(crate) const START: &str = "start";
pub(crate) const ANSWER: &str = "answer";
pub(crate) const CANCEL: &str = "cancel";
pub(crate) const STATE: &str = "state";
pub(crate) const LOG: &str = "log";

/// The keys of the state, and the promises.
const STATUS: &str = "status";
const QUESTIONS: &str = "questions";
const LINES: &str = "log/";
const CANCELLED: &str = "cancelled";

/// How long a run may be silent, so that it is taken to hang. A run that waits shows that it is alive more often.
const SILENCE: Duration = Duration::from_mins(10);
/// How long the state of a run that has ended is kept.
const RETENTION: Duration = Duration::from_hours(24);

/// A request for a run of an agent.
#[derive(Debug, Serialize, Deserialize)]
pub struct Start {
    /// The input: any JSON.
    pub(crate) input: Box<RawValue>,
    /// The tool whose call the run implements, and that call's scope without the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) implements: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) labels: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) approval_of: Vec<String>,
    #[serde(default)]
    pub(crate) one_at_a_time: bool,
}

/// What a run does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// It runs.
    Running,
    /// It waits for answers.
    Waiting,
    /// It has finished.
    Finished,
    /// It has failed or was cancelled.
    Failed,
}

/// The state of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunState {
    /// What it does now.
    pub status: RunStatus,
    /// The questions that it waits for, those of child runs included.
    #[serde(default)]
    pub questions: Vec<ApprovalRequest>,
}

/// The answer to a question, with the invocation that it came by; none if the question expired.
#[derive(Serialize, Deserialize)]
struct Answered {
    answer: Answer,
    by: Option<String>,
}

pub(crate) struct AgentRuns {
    runtime: Runtime,
    agent: String,
}

/// The end of a driven run, as it is recorded.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ended {
    /// An outcome, as JSON.
    Outcome(String),
    Suspended(Vec<ApprovalRequest>),
}

/// The suspended run, or the outcome of the run.
type Attempt = Result<SuspendedRun, Outcome>;

impl AgentRuns {
    pub(crate) fn new(runtime: Runtime, agent: &str) -> Self {
        Self { runtime, agent: agent.to_owned() }
    }

    pub(crate) fn definition(self, name: String) -> ServiceDefinition {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let json_input = json!({ "required": true, "contentType": "application/json" });
        let no_input = json!({ "required": false });
        let json_output =
            json!({ "contentType": "application/json", "setContentTypeIfEmpty": false });
        let shared = |name: &str, input: &serde_json::Value| json!({ "name": name, "ty": "SHARED", "input": input, "output": json_output });
        let agents = self.runtime.agents();
        let agent = agents.iter().find(|agent| agent.name == self.agent);
        let manifest = json!({
            "name": name,
            "ty": "WORKFLOW",
            "documentation": agent.map(|agent| agent.instructions.as_str()).unwrap_or_default(),
            "metadata": { "toolwright.agent": self.agent },
            "inactivityTimeout": millis(SILENCE),
            "abortTimeout": 1000,
            "handlers": [
                {
                    "name": START,
                    "ty": "WORKFLOW",
                    "input": json_input,
                    "output": json_output,
                    "workflowCompletionRetention": millis(RETENTION),
                    "retryPolicyInitialInterval": 50,
                    "retryPolicyMaxInterval": 1000,
                    "retryPolicyExponentiationFactor": 2.0,
                    "retryPolicyMaxAttempts": RETENTION.as_secs(),
                    "retryPolicyOnMaxAttempts": "KILL",
                },
                shared(ANSWER, &json_input),
                shared(CANCEL, &no_input),
                shared(STATE, &no_input),
                shared(LOG, &no_input),
            ],
        });
        define(self, manifest)
    }

    async fn start(&self, context: &ContextInternal) -> Handled {
        let (Json(start), metadata) = context.input::<Json<Start>>().await;
        let record = Record::new();
        if context.peek_promise::<bool>(CANCELLED).await?.is_some() {
            context.set(STATUS, Json(RunStatus::Failed));
            return Err(terminal(&cancelled_run()).into());
        }
        context.set(STATUS, Json(RunStatus::Running));
        let failed = |error: TerminalError| {
            context.set(STATUS, Json(RunStatus::Failed));
            error
        };
        let cancelled = context.promise::<bool>(CANCELLED);
        let mut lines = 0_usize;
        let mut log = |new: &[Line]| {
            if !new.is_empty() {
                context.set(&format!("{LINES}{lines:06}"), Json(new.to_vec()));
                lines += 1;
            }
        };
        let token = CancellationToken::new();
        let cancelling = || (|| context.select(vec![cancelled.handle()]), || token.cancel());
        let parent = metadata.headers.get(TRACEPARENT).map(String::as_str);
        let span = || serving_span(&format!("run {}", self.agent), "restate", parent);
        let request = match self.request(start, metadata.key, &record, &token) {
            Ok(request) => request,
            Err(failure) => return Err(failed(terminal(&failure)).into()),
        };
        let running = async { attempt(self.runtime.run(request).await.map_err(refused)) };
        let running = running.instrument(span());
        let driving = record.drive(context, running, ended, &mut log, cancelling());
        let mut driven = driving.await.map_err(failed)?;
        let outcome = loop {
            let Driven { value, ended: end, at } = driven;
            let questions = match serde_json::from_str(&end)? {
                Ended::Outcome(outcome) => break Outcome::from_text(&outcome)?,
                Ended::Suspended(questions) => questions,
            };
            let Some(Ok(run)) = value else {
                // It was suspended in an earlier attempt, so that another one may be, too.
                return Err("the run was suspended, and is not when it is repeated".into());
            };
            context.set(QUESTIONS, Json(questions.clone()));
            context.set(STATUS, Json(RunStatus::Waiting));
            let answers = wait(context, &questions, at, &cancelled).await;
            context.clear(QUESTIONS);
            let Some(answers) = answers.map_err(failed)? else { break Err(cancelled_run()) };
            context.set(STATUS, Json(RunStatus::Running));
            record.set_now(at);
            let resuming = ResumeRequest::new(&run, answers)
                .with_events(record.events())
                .with_cancellation(token.clone());
            let running =
                async { attempt(self.runtime.resume(resuming).await.map_err(not_resumed)) };
            let running = running.instrument(span());
            let driving = record.drive(context, running, ended, &mut log, cancelling());
            driven = driving.await.map_err(failed)?;
        };
        let status = if outcome.is_ok() { RunStatus::Finished } else { RunStatus::Failed };
        context.set(STATUS, Json(status));
        match outcome {
            Ok(payload) => Ok(payload.as_bytes().to_vec()),
            Err(failure) => Err(terminal(&failure).into()),
        }
    }

    fn request(
        &self,
        start: Start,
        id: String,
        record: &Arc<Record>,
        token: &CancellationToken,
    ) -> Result<RunRequest, ToolFailure> {
        let Start { input, implements, call, labels, session_id, approval_of, one_at_a_time } =
            start;
        let input = Payload::new(input.get());
        let mut request = match &implements {
            None => RunRequest::new(&*self.agent, input),
            Some(tool) => match self.runtime.registry().spec(tool) {
                Some(spec) => RunRequest::of_tool(spec, input),
                None => return Err(ToolFailure::not_found(tool, std::iter::empty())),
            },
        };
        if let Some(call) = call {
            let call =
                ToolCall::from_text(&call).map_err(|error| ToolFailure::internal(&*error))?;
            request = request.on_behalf_of(&call);
        }
        request = request
            // Unique among the runs of all agents, as calls, states and child runs are found by it.
            .with_run_id(format!("{}.{id}", encode(&self.agent)))
            .with_labels(labels)
            .with_approval_of(approval_of)
            .with_events(record.events())
            .with_cancellation(token.clone());
        if let Some(session) = session_id {
            request = request.with_session_id(session);
        }
        if one_at_a_time {
            request = request.one_at_a_time();
        }
        Ok(request)
    }

    /// Takes the answer to a question.
    async fn answer(&self, context: &ContextInternal) -> Handled {
        let (Json(answer), metadata) = context.input::<Json<Answer>>().await;
        let questions = get::<Vec<ApprovalRequest>>(context, QUESTIONS).await?.unwrap_or_default();
        let question = questions.iter().find(|question| question.id == answer.id);
        let refuse =
            |code, message: String| Err(TerminalError::new_with_code(code, message).into());
        let Some(question) = question else {
            let message = format!("the run does not wait for an answer to `{}`", answer.id);
            return refuse(404, message);
        };
        if question.deny().digest != answer.digest {
            let error = ResumeError::OtherQuestion { id: answer.id };
            return refuse(409, error.to_string());
        }
        let is_result = matches!(answer.verdict, Verdict::Result(_));
        if !matches!(answer.verdict, Verdict::Deny(_)) && is_result != question.expects_result {
            let error = ResumeError::WrongVerdict {
                id: answer.id,
                expects_result: question.expects_result,
            };
            return refuse(422, error.to_string());
        }
        if let (Verdict::ApproveWith(args), Some(tool)) =
            (&answer.verdict, self.runtime.registry().spec(&question.tool))
            && let Err(issues) = tool.check_args(args.as_bytes())
        {
            let error = ResumeError::InvalidArguments { id: answer.id, issues };
            return refuse(422, error.to_string());
        }
        let at = context.run(|| ready(Ok::<_, HandlerError>(now()))).name("answered").await?;
        if at >= question.expires_at {
            return refuse(409, ResumeError::Expired { id: answer.id }.to_string());
        }
        let (promise, id) = (promise_of(&answer.id), answer.id.clone());
        let by = Some(metadata.invocation_id);
        context.resolve_promise(&promise, Json(Answered { answer, by: by.clone() }));
        // Of several answers at the same time the first counts.
        let Json(answered) = context.promise::<Json<Answered>>(&promise).await?;
        if answered.by != by {
            return refuse(409, ResumeError::AnsweredBefore { id }.to_string());
        }
        Ok(Vec::new())
    }
}

/// Waits for the answers to all questions; `None` if the run was cancelled. A question that expires is denied.
async fn wait(
    context: &ContextInternal,
    questions: &[ApprovalRequest],
    asked_at: u64,
    cancelled: &(impl SealedDurableFuture + Sync),
) -> Result<Option<Vec<Answer>>, TerminalError> {
    // All begin now, so that each question has its own time.
    let promises: Vec<_> = questions.iter().map(|question| promise_of(&question.id)).collect();
    let waits = questions.iter().zip(&promises).map(|(question, promise)| {
        let time_left = Duration::from_millis(question.expires_at.saturating_sub(asked_at));
        let answered = context.promise::<Json<Answered>>(promise);
        (question, promise, answered, context.sleep(time_left))
    });
    let waits: Vec<_> = waits.collect();
    let mut answers = Vec::with_capacity(questions.len());
    for (question, promise, answered, expired) in waits {
        let handles = vec![cancelled.handle(), answered.handle(), expired.handle()];
        match context.select(handles).await {
            // The invocation itself was cancelled.
            Err(_) | Ok(0) => return Ok(None),
            Ok(1) => {}
            Ok(_) => {
                let message =
                    format!("the approval of `{}` was not answered in time", question.tool);
                let answer = question.deny_because(message);
                // An answer that was accepted at the same moment counts.
                context.resolve_promise(promise, Json(Answered { answer, by: None }));
            }
        }
        answers.push(answered.await?.0.answer);
    }
    Ok(Some(answers))
}

/// Returns the promise of the answer to a question.
fn promise_of(question: &str) -> String {
    format!("answer/{question}")
}

async fn get<T: DeserializeOwned>(
    context: &ContextInternal,
    key: &str,
) -> Result<Option<T>, TerminalError>
where
    Json<T>: restate_sdk::serde::Deserialize,
{
    Ok(context.get::<Json<T>>(key).await?.map(|Json(value)| value))
}

fn attempt(outcome: Result<RunOutcome, ToolFailure>) -> Attempt {
    match outcome {
        Ok(outcome) => match outcome.end {
            RunEnd::Finished(payload) => Err(Ok(payload)),
            RunEnd::Failed(failure) => Err(Err(failure)),
            RunEnd::Suspended(run) => Ok(run),
        },
        Err(failure) => Err(Err(failure)),
    }
}

fn too_large() -> ToolFailure {
    let message = "the run ended, but its end is too large to be recorded";
    ToolFailure::new(FailureKind::MalformedResult, message, Recovery::Replan)
}

fn ended(attempt: &Attempt) -> String {
    let ended = match attempt {
        Ok(run) => Ended::Suspended(run.pending().into_iter().cloned().collect()),
        Err(outcome) => Ended::Outcome(outcome.to_text()),
    };
    let json = |ended| {
        serde_json::to_string(&ended)
            .unwrap_or_else(|error| unreachable!("it holds no maps: {error}"))
    };
    let ended = json(ended);
    if is_recordable(&ended) {
        return ended;
    }
    json(Ended::Outcome(Outcome::Err(too_large()).to_text()))
}

fn refused(error: RunError) -> ToolFailure {
    ToolFailure::new(FailureKind::InvalidCall, error.to_string(), Recovery::Finish)
}

fn not_resumed(error: ResumeError) -> ToolFailure {
    ToolFailure::new(FailureKind::Denied, error.to_string(), Recovery::Finish)
}

fn cancelled_run() -> ToolFailure {
    let message = "the run was cancelled before it ended";
    ToolFailure::new(FailureKind::Cancelled, message, Recovery::Replan)
}

impl Handle for AgentRuns {
    fn handle(self: Arc<Self>, context: ContextInternal) -> Option<BoxFuture<'static, Handled>> {
        let handler = context.handler_name().to_owned();
        Some(match handler.as_str() {
            START => Box::pin(async move { self.start(&context).await }),
            ANSWER => Box::pin(async move { self.answer(&context).await }),
            CANCEL => Box::pin(async move {
                let ((), _) = context.input::<()>().await;
                context.resolve_promise(CANCELLED, true);
                Ok(Vec::new())
            }),
            STATE => Box::pin(async move {
                let ((), _) = context.input::<()>().await;
                let Some(status) = get::<RunStatus>(&context, STATUS).await? else {
                    let message = "no run with this id has begun, or it ended too long ago";
                    return Err(TerminalError::new_with_code(404, message).into());
                };
                let questions = get(&context, QUESTIONS).await?.unwrap_or_default();
                Ok(serde_json::to_vec(&RunState { status, questions })?)
            }),
            LOG => Box::pin(async move {
                let ((), _) = context.input::<()>().await;
                let mut log = String::new();
                let mut keys = context.get_keys().await?;
                keys.retain(|key| key.starts_with(LINES));
                keys.sort_unstable();
                for key in keys {
                    for line in get::<Vec<Line>>(&context, &key).await?.unwrap_or_default() {
                        let _ = writeln!(log, "{}", serde_json::to_string(&line)?);
                    }
                }
                Ok(log.into_bytes())
            }),
            _ => return None,
        })
    }
}
