//! The client of agents' runs in workers.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use restate_sdk::ingress::RequestTarget;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep, timeout};
use toolwright::{Outcome, Payload, ToolCall};
use toolwright_runtime::Answer;
use toolwright_runtime::wire::Portable;

use crate::ingress::{Ingress, Reply};
use crate::journal::Line;
use crate::names::agent_workflow;
use crate::runs::{ANSWER, CANCEL, LOG, RunState, START, STATE, Start};
use crate::toolset::ANNOUNCED;

/// The time limit of a request, but for one that waits for the end of a run.
const LONGEST_REPLY: Duration = Duration::from_secs(30);

/// The runs of an agent in [`Worker`](crate::Worker)s. A run outlasts the death of its worker and of the server: effects that were
/// recorded are not repeated. A request without a reply for 30 seconds fails, but [`result`](Self::result) waits for the end of the run.
#[derive(Clone, Debug)]
pub struct Runs {
    ingress: Ingress,
    workflow: String,
}

/// A request about a run failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunsError {
    /// The ingress or the run refused it.
    Refused {
        /// The status of the response.
        status: u16,
        /// The reason.
        message: String,
    },
    /// The connection failed. The request may have arrived.
    Lost(String),
    /// The response was not understood.
    Malformed(String),
}

impl Start {
    /// Requests a run with an input that is JSON.
    ///
    /// # Errors
    ///
    /// The input is not JSON.
    pub fn new(input: &Payload) -> Result<Self, RunsError> {
        let input = RawValue::from_string(input.to_string());
        let input = input.map_err(|error| RunsError::Malformed(format!("the input: {error}")))?;
        Ok(Self {
            input,
            implements: None,
            call: None,
            labels: BTreeMap::new(),
            session_id: None,
            approval_of: Vec::new(),
            one_at_a_time: false,
        })
    }

    /// Makes it a child run of a call.
    pub(crate) fn implementing(mut self, call: &ToolCall) -> Self {
        self.implements = Some(call.tool().to_owned());
        self.call = Some(call.clone().with_args(Payload::new("null")).to_text());
        self
    }

    /// Adds labels, which child runs inherit.
    #[must_use]
    pub fn with_labels(mut self, labels: BTreeMap<String, String>) -> Self {
        self.labels.extend(labels);
        self
    }

    /// Sets the session id, which child runs inherit.
    #[must_use]
    pub fn with_session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// Requires an approval for calls of these tools, in addition to tools that require one themselves. The list is also that of
    /// child runs in the same worker, but not of agents that are called through a [`RestateToolset`](crate::RestateToolset).
    #[must_use]
    pub fn with_approval_of<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        self.approval_of.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Runs the calls of each step one after another instead of concurrently.
    #[must_use]
    pub fn one_at_a_time(mut self) -> Self {
        self.one_at_a_time = true;
        self
    }
}

impl Runs {
    /// Creates a client of the runs of an agent.
    pub fn new(ingress: &Ingress, agent: &str) -> Self {
        Self { ingress: ingress.clone(), workflow: agent_workflow(agent) }
    }

    /// Starts a run with an id, which no other run of the agent may have had. Calls have the run id `<agent>.<id>`, and the
    /// run of an agent that implements a tool has the id `<agent>.<id>.<id of the call>`.
    ///
    /// # Errors
    ///
    /// There is a run with this id, no worker has the agent, or the ingress cannot be reached. A request that was lost may be
    /// repeated: if it fails because there is a run with this id, the first request started that run.
    pub async fn start(&self, run_id: &str, start: &Start) -> Result<(), RunsError> {
        let body = serde_json::to_string(start);
        let body = body.map_err(|error| RunsError::Malformed(error.to_string()))?;
        let started = Instant::now();
        loop {
            let target = self.target(run_id, START);
            let reply = in_time(self.ingress.send(target, body.clone())).await;
            if !matches!(reply, Reply::Error(404, _)) || started.elapsed() > ANNOUNCED {
                return Self::body(reply).map(drop);
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits for the end of a run, and returns its final payload or its failure. Waits again after a lost connection.
    ///
    /// # Errors
    ///
    /// There is no run with this id, it ended too long ago, or the reply is not JSON.
    pub async fn result(&self, run_id: &str) -> Result<Outcome, RunsError> {
        loop {
            match self.ingress.attach(&self.workflow, run_id).await {
                Reply::Body(body) => {
                    let json = serde_json::from_slice::<&RawValue>(&body);
                    let json = json.map_err(|error| RunsError::Malformed(error.to_string()))?;
                    return Ok(Ok(Payload::new(json.get())));
                }
                Reply::Failed(failure) => return Ok(Err(failure)),
                Reply::Error(502 | 503, _) => {}
                Reply::Error(status, message) => {
                    return Err(RunsError::Refused { status, message });
                }
                Reply::Lost(why) => tracing::debug!(why, run_id, "a run is attached to again"),
            }
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// Answers a question of a run. Each question can be answered once.
    ///
    /// # Errors
    ///
    /// The run does not wait for this answer, it is to another question or not valid, or the question was answered before.
    pub async fn answer(&self, run_id: &str, answer: &Answer) -> Result<(), RunsError> {
        let body = serde_json::to_string(answer);
        let body = body.map_err(|error| RunsError::Malformed(error.to_string()))?;
        self.call(run_id, ANSWER, Some(body)).await.map(drop)
    }

    /// Cancels a run. Calls that have ended keep their results, and other calls are cancelled.
    ///
    /// # Errors
    ///
    /// The ingress cannot be reached.
    pub async fn cancel(&self, run_id: &str) -> Result<(), RunsError> {
        self.call(run_id, CANCEL, None).await.map(drop)
    }

    /// Returns what a run does now, and the questions that it waits for.
    ///
    /// # Errors
    ///
    /// There is no run with this id, or it ended too long ago.
    pub async fn state(&self, run_id: &str) -> Result<RunState, RunsError> {
        let body = self.call(run_id, STATE, None).await?;
        serde_json::from_slice(&body).map_err(|error| self.malformed(&error))
    }

    /// Returns the log of a run: what has been recorded so far.
    ///
    /// # Errors
    ///
    /// Those of [`state`](Self::state).
    pub async fn log(&self, run_id: &str) -> Result<Vec<Line>, RunsError> {
        let body = self.call(run_id, LOG, None).await?;
        let lines = serde_json::Deserializer::from_slice(&body).into_iter::<Line>();
        let lines: Result<_, _> = lines.collect();
        lines.map_err(|error| self.malformed(&error))
    }

    /// The error of a reply that is not understood, whose text may quote it.
    fn malformed(&self, error: &dyn Error) -> RunsError {
        RunsError::Malformed(self.ingress.quoted(&error.to_string()))
    }

    fn target(&self, run_id: &str, handler: &str) -> RequestTarget {
        RequestTarget::workflow(&*self.workflow, run_id, handler)
    }

    async fn call(
        &self,
        run_id: &str,
        handler: &str,
        body: Option<String>,
    ) -> Result<bytes::Bytes, RunsError> {
        let target = self.target(run_id, handler);
        Self::body(in_time(self.ingress.call(target, body, None, None)).await)
    }

    fn body(reply: Reply) -> Result<bytes::Bytes, RunsError> {
        match reply {
            Reply::Body(body) => Ok(body),
            Reply::Failed(failure) => {
                Err(RunsError::Refused { status: 500, message: failure.to_string() })
            }
            Reply::Error(status, message) => Err(RunsError::Refused { status, message }),
            Reply::Lost(why) => Err(RunsError::Lost(why)),
        }
    }
}

/// Returns the reply to a request, or that there was none in time.
async fn in_time(replying: impl Future<Output = Reply>) -> Reply {
    let lost = |_| Reply::Lost(format!("there was no reply within {LONGEST_REPLY:?}"));
    timeout(LONGEST_REPLY, replying).await.unwrap_or_else(lost)
}

impl fmt::Display for RunsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { status, message } => {
                write!(f, "the request was refused ({status}): {message}")
            }
            Self::Lost(why) => write!(f, "the connection to Restate failed: {why}"),
            Self::Malformed(why) => write!(f, "not understood: {why}"),
        }
    }
}

impl Error for RunsError {}
