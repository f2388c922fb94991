//! The client: a toolset that sends its calls to workers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use async_nats::client::RequestError;
use async_nats::{Client, Message};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};
use toolwright::{BoxError, BoxFuture, Outcome, Scope, ToolCall, ToolFailure, ToolResult};
use toolwright_runtime::remote::{MessageClient, RemoteError};
use toolwright_runtime::{ToolEntry, Toolset};

use crate::error::NatsError;
use crate::failure::{args_too_large, interrupted, refused, timed_out, unavailable};
use crate::message::{self, HEADER_BYTES, MAX_LIMIT, has_no_responders};
use crate::options::NatsOptions;
use crate::subjects::Subjects;

/// The time after which a client asks a second worker. It doubles each time.
const PATIENCE: Duration = Duration::from_secs(1);

/// The pause between two questions whether a worker responds again.
const PROBE: Duration = Duration::from_secs(1);

/// The interval in which a client checks that the worker of a call is still there. If it is not there twice, the call ends.
const CHECK: Duration = Duration::from_secs(1);

/// The pause after a worker refused a connection that it had opened.
const PAUSE: Duration = Duration::from_millis(10);

/// A toolset that sends its calls to workers. Every call ends in a result or a failure by the time limit of its tool.
///
/// While no worker responds, its tools are not available.
pub struct NatsToolset {
    shared: Arc<Shared>,
    /// The last list of tools.
    listed: Mutex<Vec<ToolEntry>>,
}

struct Shared {
    client: Client,
    toolset: String,
    subjects: Subjects,
    options: NatsOptions,
    messages: MessageClient,
    /// True if a worker responded to the last message.
    responds: AtomicBool,
}

impl std::fmt::Debug for NatsToolset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NatsToolset").field("toolset", &self.shared.toolset).finish_non_exhaustive()
    }
}

impl NatsToolset {
    /// Finds the workers of a toolset.
    ///
    /// # Errors
    ///
    /// No worker responds, or a worker refuses this client or cannot list its tools.
    pub async fn connect(
        client: &Client,
        toolset: &str,
        options: NatsOptions,
    ) -> Result<Self, NatsError> {
        let messages = MessageClient::new(options.remote.clone());
        let shared = Shared {
            client: client.clone(),
            toolset: toolset.to_owned(),
            subjects: Subjects::new(toolset),
            options,
            messages,
            responds: AtomicBool::new(true),
        };
        let reply = shared.ask(MessageClient::list()).await?;
        let tools = shared.messages.listed(&reply.payload);
        let tools = tools.map_err(|error| NatsError::toolset(toolset, error))?;
        Ok(Self { shared: Arc::new(shared), listed: Mutex::new(tools) })
    }

    /// Asks a question about the toolset. If no worker responds, waits in the background until one does.
    async fn ask(&self, question: Vec<u8>) -> Result<Message, NatsError> {
        let answered = self.shared.ask(question).await;
        self.shared.saw(!matches!(answered, Err(NatsError::NoWorker { .. })));
        answered
    }
}

impl Shared {
    /// Asks any worker, and others if the first does not answer.
    async fn ask(&self, question: Vec<u8>) -> Result<Message, NatsError> {
        let no_worker = || NatsError::NoWorker { toolset: self.toolset.clone() };
        let deadline = Instant::now() + self.options.remote.answer_timeout().min(MAX_LIMIT);
        let mut patience = PATIENCE;
        loop {
            let time = patience.min(deadline.saturating_duration_since(Instant::now()));
            if time.is_zero() {
                return Err(no_worker());
            }
            let subject = self.subjects.group();
            match message::request(&self.client, subject, question.clone(), time).await {
                Ok(reply) => return Ok(reply),
                Err(error) if has_no_responders(&error) => return Err(no_worker()),
                Err(error) if message::is_late(&error) => patience *= 2,
                Err(error) => return Err(NatsError::Nats(error.into())),
            }
        }
    }

    /// Records whether a worker responded. If not, asks at intervals until one does.
    fn saw(self: &Arc<Self>, responds: bool) {
        let responded = self.responds.swap(responds, Ordering::Relaxed);
        if responded && !responds {
            tokio::spawn(probe(Arc::downgrade(self)));
        }
    }

    /// Opens a connection to a worker for a call. If a worker does not answer, asks others too; the connections that are not used
    /// are closed.
    async fn open(self: &Arc<Self>, deadline: Instant) -> Result<OpenConnection, Unopened> {
        let (answers, mut opened) = mpsc::channel(1);
        let mut patience = PATIENCE;
        loop {
            tokio::spawn(Arc::clone(self).ask_to_open(deadline, answers.clone()));
            let next = Instant::now() + patience;
            if let Ok(Some(answer)) = timeout_at(next, opened.recv()).await {
                return answer;
            }
            patience *= 2;
        }
    }

    /// Asks a worker to open a connection.
    async fn ask_to_open(
        self: Arc<Self>,
        deadline: Instant,
        answers: mpsc::Sender<Result<OpenConnection, Unopened>>,
    ) {
        let time = deadline.saturating_duration_since(Instant::now());
        let subject = self.subjects.group();
        let asked = message::request(&self.client, subject, MessageClient::open(), time).await;
        let opened = match asked {
            Ok(reply) => MessageClient::opened(&reply.payload).map_err(Unopened::Refused),
            Err(error) if has_no_responders(&error) => Err(Unopened::NoWorker),
            // Another request may have more luck until the deadline.
            Err(error) if message::is_late(&error) => return,
            Err(error) => Err(Unopened::Nats(error)),
        };
        self.saw(!matches!(opened, Err(Unopened::NoWorker)));
        let opened = opened.map(|nonce| OpenConnection { shared: self, nonce: Some(nonce) });
        // There is no room if another worker has answered, or if the call is cancelled. Dropping the connection closes it.
        let _ = answers.try_send(opened);
    }

    /// Closes a connection, and cancels its call.
    async fn cancel(&self, nonce: &str) {
        let subject = self.subjects.connection(nonce);
        if let Err(error) = self.client.publish(subject, MessageClient::cancel().into()).await {
            tracing::warn!(%error, "the cancellation of a call was not sent");
        }
    }

    /// Makes a call. `sent` is whether a worker may have the call.
    async fn call(
        self: &Arc<Self>,
        call: &ToolCall,
        deadline: Instant,
        sent: &AtomicBool,
    ) -> Outcome {
        let tool = call.tool();
        loop {
            let connection = match self.open(deadline).await {
                Ok(connection) => connection,
                Err(Unopened::NoWorker) => {
                    let detail = format!("no worker of the toolset `{}` responds", self.toolset);
                    return Err(unavailable(tool, detail));
                }
                Err(Unopened::Refused(error)) => return Err(refused(tool, error.to_string())),
                Err(Unopened::Nats(error)) => return Err(unavailable(tool, error.to_string())),
            };
            match connection.call(call, deadline, sent).await {
                Some(outcome) => return outcome,
                // Nothing ran.
                None => sleep(PAUSE).await,
            }
        }
    }

    /// Waits until the worker of a connection has ended.
    async fn worker_is_gone(&self, connection: &str) {
        let mut missed = 0;
        // After the first time it may only have lost its connection to NATS for a moment.
        while missed < 2 {
            sleep(CHECK).await;
            // A worker refuses a question on a connection.
            let question = MessageClient::list();
            let asked = message::request(&self.client, connection.to_owned(), question, CHECK);
            let is_missing = asked.await.is_err_and(|error| has_no_responders(&error));
            missed = if is_missing { missed + 1 } else { 0 };
        }
    }

    /// Returns the failure of a call that was sent, and may have run.
    fn interrupted(&self, tool: &str, detail: impl Into<String>) -> ToolFailure {
        let listed = self.messages.tool(tool);
        interrupted(tool, listed.as_ref().map(ToolEntry::spec), detail)
    }
}

/// Asks at intervals whether a worker responds again.
async fn probe(shared: Weak<Shared>) {
    loop {
        sleep(PROBE).await;
        let Some(shared) = shared.upgrade() else { return };
        if shared.ask(MessageClient::ask_instructions()).await.is_ok() {
            shared.responds.store(true, Ordering::Relaxed);
            return;
        }
    }
}

/// The reason why no connection is open.
enum Unopened {
    NoWorker,
    Refused(RemoteError),
    Nats(RequestError),
}

/// An open connection to a worker. Dropping it closes it, and cancels its call.
struct OpenConnection {
    shared: Arc<Shared>,
    /// `None` once its call has ended.
    nonce: Option<String>,
}

impl OpenConnection {
    /// Makes the call; `None` if the worker did not run it and another may.
    async fn call(
        mut self,
        call: &ToolCall,
        deadline: Instant,
        sent: &AtomicBool,
    ) -> Option<Outcome> {
        let (shared, tool) = (Arc::clone(&self.shared), call.tool());
        let nonce = self.nonce.as_deref().unwrap_or_default();
        let (subject, message) =
            (shared.subjects.connection(nonce), shared.messages.call(call, nonce));
        let (bytes, limit) = (message.len() + HEADER_BYTES, shared.client.max_payload());
        if bytes > limit {
            return Some(Err(args_too_large(call, bytes, limit)));
        }
        let time = deadline.saturating_duration_since(Instant::now());
        sent.store(true, Ordering::Relaxed);
        let replied = tokio::select! {
            biased;
            replied = message::request(&shared.client, subject.clone(), message, time) => replied,
            () = shared.worker_is_gone(&subject) => {
                return Some(Err(shared.interrupted(tool, "the worker of the call has ended")));
            }
        };
        let outcome = match replied {
            Ok(reply) => match MessageClient::outcome(&reply.payload) {
                Ok(outcome) => Some(outcome),
                Err(RemoteError::Refused { .. }) => None,
                // It may still run, so it is cancelled.
                Err(error) => return Some(Err(shared.interrupted(tool, error.to_string()))),
            },
            Err(error) if has_no_responders(&error) => None,
            // The caller knows the deadline, and the call is cancelled.
            Err(error) if message::is_late(&error) => std::future::pending().await,
            Err(error) => return Some(Err(shared.interrupted(tool, error.to_string()))),
        };
        self.nonce = None;
        if outcome.is_none() {
            sent.store(false, Ordering::Relaxed);
        }
        outcome
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        if let Some(nonce) = self.nonce.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let shared = Arc::clone(&self.shared);
            runtime.spawn(async move { shared.cancel(&nonce).await });
        }
    }
}

impl Toolset for NatsToolset {
    /// If no worker responds, returns the last list, whose tools are not available then.
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            let last = || self.listed.lock().unwrap_or_else(PoisonError::into_inner);
            match self.ask(MessageClient::list()).await {
                Ok(reply) => {
                    let tools = self.shared.messages.listed(&reply.payload)?;
                    last().clone_from(&tools);
                    Ok(tools)
                }
                Err(NatsError::NoWorker { .. }) => Ok(last().clone()),
                Err(error) => Err(error.into()),
            }
        })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let (shared, tool) = (&self.shared, call.tool());
            let listed = shared.messages.tool(tool);
            let spec = listed.as_ref().map(ToolEntry::spec);
            let limit = spec.and_then(|spec| spec.limits().timeout);
            let limit = limit.unwrap_or(shared.options.call_timeout).min(MAX_LIMIT);
            let (deadline, sent) = (Instant::now() + limit, AtomicBool::new(false));
            let ended = timeout_at(deadline, shared.call(call, deadline, &sent)).await;
            let outcome = ended.unwrap_or_else(|_| {
                if sent.load(Ordering::Relaxed) {
                    return Err(timed_out(tool, spec, limit));
                }
                Err(unavailable(tool, "no worker accepted the call before its deadline"))
            });
            ToolResult::new(call, outcome)
        })
    }

    fn instructions<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let reply = self.ask(MessageClient::ask_instructions()).await.ok()?;
            MessageClient::instructions(&reply.payload).ok()?
        })
    }

    fn is_available(&self, tool: &str) -> bool {
        self.shared.responds.load(Ordering::Relaxed) && self.shared.messages.is_available(tool)
    }
}
