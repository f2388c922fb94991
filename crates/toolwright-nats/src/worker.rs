//! A worker, which serves a toolset.
//!
//! Each call has a connection of its own. A client opens it by a message to all workers, which one of them accepts; the call
//! then goes to that worker. So no call is lost when a worker ends, and a call waits where there is room for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::{Client, Message as Received, Subscriber};
use futures_util::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, JoinHandle, JoinSet};
use tokio::time::{Instant, interval, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use toolwright::call::fresh_id;
use toolwright_runtime::remote::{
    CallMessage, Message, MessageServer, OpenMessage, Opened, Question,
};
use toolwright_runtime::tools::IntoSource;
use toolwright_runtime::{Source, ToolEntry};

use crate::discovery::{QUEUE_GROUP, Questions, Service};
use crate::error::NatsError;
use crate::failure::{interrupted, result_too_large, timed_out, too_late};
use crate::message;
use crate::options::NatsOptions;
use crate::subjects::Subjects;

/// The time in which the call of an open connection has to arrive. Longer than a round trip, also of a slow network.
const CONNECTION: Duration = Duration::from_secs(5);

/// The interval in which connections without a call are closed.
const SWEEP: Duration = Duration::from_millis(500);

/// The time that a client waits at one worker before it is passed on to another, which may have a free place.
const WAIT: Duration = Duration::from_millis(500);

/// The most clients that wait for a connection. A worker does not answer further ones, and they ask again.
const MAX_WAITING: usize = 1 << 14;

/// Serves a shared toolset as a worker. All workers that serve a toolset of this name share its calls, so they must have the
/// same tools; a call of a tool with another definition than the client knows is refused if it needs an approval.
///
/// The worker is also a service of NATS, so that `nats micro ls` and `nats micro info` show it.
///
/// # Errors
///
/// The toolset has an instance for each run, or cannot be entered or listed; the version in the options is wrong; NATS does not
/// accept the subscriptions.
pub async fn serve<K>(
    client: &Client,
    toolset: &str,
    source: impl IntoSource<K>,
    options: NatsOptions,
) -> Result<Worker, NatsError> {
    Service::check_version(&options.version)?;
    let source: Source = source.into_source();
    let entering = MessageServer::enter(&source, options.remote.clone()).await;
    let server = entering.map_err(|error| NatsError::refused(toolset, error))?;
    let (id, subjects) = (fresh_id("worker"), Subjects::new(toolset));
    let digest = server.digest().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let metadata = [("toolset", toolset.to_owned()), ("tools.sha256", digest)];
    let service = Service::new(&subjects, &id, &options, metadata.into());
    let own = client.subscribe(subjects.connections(&id)).await?;
    let questions = service.subscribe(client).await?;
    let group = client.queue_subscribe(subjects.group(), QUEUE_GROUP.to_owned()).await?;
    message::round_trip(client).await?;
    let drain = CancellationToken::new();
    let shared = Arc::new(Shared {
        client: client.clone(),
        worker: id.clone(),
        server,
        service,
        free: Arc::new(Semaphore::new(options.remote.max_calls())),
        waiting: Arc::new(Semaphore::new(MAX_WAITING)),
        connections: Mutex::default(),
        drain: drain.clone(),
        stopped: CancellationToken::new(),
    });
    let subscriptions = Subscriptions { own, group, questions };
    let serving = tokio::spawn(subscriptions.serve(shared, options.drain_timeout));
    Ok(Worker { id, drain, serving: Some(serving) })
}

/// A worker that serves a toolset. Dropping it cancels its calls; [`Worker::shutdown`] lets them end.
#[derive(Debug)]
pub struct Worker {
    id: String,
    drain: CancellationToken,
    serving: Option<JoinHandle<()>>,
}

impl Worker {
    /// Returns its id in discovery.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Accepts no more calls, waits until the accepted ones have ended, and exits the toolset. Calls that still run after the
    /// [time limit](NatsOptions::with_drain_timeout) end with a failure that says that they may have taken effect.
    pub async fn shutdown(mut self) {
        self.drain.cancel();
        if let Some(serving) = self.serving.take()
            && let Err(error) = serving.await
        {
            tracing::error!(%error, "a worker failed while it shut down");
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

/// The data that the tasks of a worker share.
struct Shared {
    client: Client,
    worker: String,
    server: MessageServer,
    service: Service,
    /// A permit for each call at once.
    free: Arc<Semaphore>,
    /// A permit for each client that waits for a connection.
    waiting: Arc<Semaphore>,
    /// The open connections, by the last token of their subject.
    connections: Mutex<BTreeMap<String, Connection>>,
    /// Cancelled when no more calls are accepted.
    drain: CancellationToken,
    /// Cancelled when running calls must end.
    stopped: CancellationToken,
}

/// A connection for a call.
enum Connection {
    /// It waits for its call.
    Open { opened: Opened, since: Instant, permit: OwnedSemaphorePermit },
    /// Its call runs.
    Running(AbortHandle),
}

/// The subscriptions of a worker.
struct Subscriptions {
    /// Calls, and their cancellations.
    own: Subscriber,
    /// Messages to any worker.
    group: Subscriber,
    questions: Questions,
}

impl Subscriptions {
    /// Serves until the worker has been drained.
    async fn serve(self, shared: Arc<Shared>, drain_timeout: Duration) {
        let Self { mut own, mut group, mut questions } = self;
        let (mut tasks, mut sweep) = (JoinSet::new(), interval(SWEEP));
        let (mut is_draining, mut has_group) = (false, true);
        let mut limit = std::pin::pin!(sleep(Duration::MAX));
        while !is_draining || has_group || !tasks.is_empty() || !shared.connections().is_empty() {
            tokio::select! {
                biased;
                () = &mut limit, if is_draining => break,
                () = shared.drain.cancelled(), if !is_draining => {
                    is_draining = true;
                    limit.set(sleep(drain_timeout));
                    // Only the others are found from now on.
                    questions.clear();
                    // It fails if the connection to NATS is closed.
                    let _ = group.drain().await;
                }
                _ = sweep.tick() => shared.close_unused(),
                Some(ended) = tasks.join_next() => report(ended),
                Some(message) = own.next() => shared.connection(message, &mut tasks),
                message = group.next(), if has_group => {
                    if let Some(message) = message {
                        tasks.spawn(Arc::clone(&shared).answer(message));
                    } else {
                        has_group = false;
                        shared.drain.cancel();
                    }
                }
                Some(question) = questions.next() => drop(tasks.spawn(Arc::clone(&shared).discover(question))),
            }
        }
        shared.stopped.cancel();
        // Calls end at once now, except for those that block a thread.
        let _ = timeout(CONNECTION, async {
            while let Some(ended) = tasks.join_next().await {
                report(ended);
            }
        })
        .await;
        tasks.abort_all();
        tasks.detach_all();
        let client = shared.client.clone();
        if let Some(Shared { server, .. }) = Arc::into_inner(shared) {
            server.exit().await;
        }
        let _ = timeout(CONNECTION, client.flush()).await;
    }
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a task of a worker panicked");
    }
}

impl Shared {
    fn connections(&self) -> MutexGuard<'_, BTreeMap<String, Connection>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the connections whose calls did not arrive in time.
    fn close_unused(&self) {
        self.connections().retain(|_, connection| match connection {
            Connection::Open { since, .. } => since.elapsed() < CONNECTION,
            Connection::Running(_) => true,
        });
    }

    /// Sends a reply, unless the sender of the message waits for none.
    async fn reply(&self, to: &Received, reply: Vec<u8>) {
        let Some(subject) = &to.reply else { return };
        if let Err(error) = self.client.publish(subject.clone(), reply.into()).await {
            tracing::warn!(%error, "a reply was not sent");
        }
    }

    async fn discover(self: Arc<Self>, question: Received) {
        if let Some(answer) = self.service.answer(&question) {
            self.reply(&question, answer.to_string().into_bytes()).await;
        }
    }

    /// Answers a message to any worker.
    async fn answer(self: Arc<Self>, mut received: Received) {
        let reply = match Message::read(&received.payload) {
            Ok(Message::Question(question)) => self.answer_question(question).await,
            Ok(Message::Open(open)) => {
                let Ok(_waiting) = self.waiting.try_acquire() else { return };
                let time = message::time_limit(&received).unwrap_or(CONNECTION);
                // Many may wait, so nothing else of a message is kept.
                received.headers = None;
                received.payload = received.payload.to_vec().into();
                tokio::select! {
                    biased;
                    reply = self.open(open) => reply,
                    () = sleep(WAIT.min(time)) => {
                        return self.pass_on(received, time.saturating_sub(WAIT)).await;
                    }
                    () = self.drain.cancelled() => return self.pass_on(received, time).await,
                }
            }
            Ok(Message::Call(_) | Message::Cancel) => {
                Message::refused("a call needs a connection; open one")
            }
            Err(error) => Message::refused(&error.to_string()),
        };
        self.reply(&received, reply).await;
    }

    /// Passes a message that waits for a free place on to any worker, if there is time left.
    async fn pass_on(&self, Received { subject, reply, payload, .. }: Received, time: Duration) {
        let Some(reply) = reply.filter(|_| !time.is_zero()) else { return };
        let (client, headers) = (&self.client, message::headers(time));
        let passed = client.publish_with_reply_and_headers(subject, reply, headers, payload);
        if let Err(error) = passed.await {
            tracing::warn!(%error, "a message was not passed on to other workers");
        }
    }

    async fn answer_question(&self, question: Question) -> Vec<u8> {
        let (reply, limit) = (self.server.answer(question).await, self.client.max_payload());
        if reply.len() > limit {
            let size = reply.len();
            return Message::refused(&format!(
                "the reply has {size} bytes, and NATS carries {limit}"
            ));
        }
        reply
    }

    /// Opens a connection once a call can run, and returns the reply.
    async fn open(&self, message: OpenMessage) -> Vec<u8> {
        let free = Arc::clone(&self.free).acquire_owned();
        let Ok(permit) = free.await else { return Message::refused("the worker has ended") };
        let name = fresh_id("call");
        match self.server.open(message, &format!("{}.{name}", self.worker)) {
            Ok((opened, reply)) => {
                let connection = Connection::Open { opened, since: Instant::now(), permit };
                self.connections().insert(name, connection);
                reply
            }
            Err(refusal) => refusal,
        }
    }

    /// Handles a message to a connection of this worker. Does not wait, so that a cancellation comes after its call.
    fn connection(self: &Arc<Self>, received: Received, tasks: &mut JoinSet<()>) {
        let name = received.subject.rsplit('.').next().unwrap_or_default().to_owned();
        let refusal = match Message::read(&received.payload) {
            Ok(Message::Call(call)) => {
                let mut connections = self.connections();
                match connections.remove(&name) {
                    Some(Connection::Open { opened, since, permit }) => {
                        let (shared, ended) = (Arc::clone(self), name.clone());
                        let task = tasks.spawn(async move {
                            let ended = EndedCall { shared: &shared, name: &ended };
                            shared.call(opened, since, call, &received).await;
                            drop((permit, ended));
                        });
                        connections.insert(name, Connection::Running(task));
                        return;
                    }
                    Some(running) => drop(connections.insert(name, running)),
                    None => {}
                }
                Message::refused("the connection is closed, or has had its call")
            }
            Ok(Message::Cancel) => {
                if let Some(Connection::Running(task)) = self.connections().remove(&name) {
                    task.abort();
                }
                return;
            }
            Ok(Message::Open(_) | Message::Question(_)) => {
                Message::refused("a connection carries a call only")
            }
            Err(error) => Message::refused(&error.to_string()),
        };
        let shared = Arc::clone(self);
        tasks.spawn(async move { shared.reply(&received, refusal).await });
    }

    /// Runs a call and replies to it.
    async fn call(&self, opened: Opened, since: Instant, call: CallMessage, received: &Received) {
        let (started, tool, failed) = (Instant::now(), call.tool().to_owned(), call.failures());
        // The client measured the time after the connection was opened, so this is no later than its deadline.
        let limit = message::time_limit(received).unwrap_or_default();
        let deadline = since.checked_add(limit);
        let past_deadline = async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let spec = || self.server.tool(&tool);
        let ended = if deadline.is_some_and(|deadline| deadline <= started) {
            Err(too_late(&tool))
        } else {
            tokio::select! {
                biased;
                () = self.stopped.cancelled() => {
                    let detail = "the worker shut down before the call had ended";
                    Err(interrupted(&tool, spec().as_ref().map(ToolEntry::spec), detail))
                }
                () = past_deadline => {
                    Err(timed_out(&tool, spec().as_ref().map(ToolEntry::spec), limit))
                }
                reply = self.server.call(opened, call) => {
                    let (size, most) = (reply.len(), self.client.max_payload());
                    if size > most { Err(result_too_large(&tool, size, most)) } else { Ok(reply) }
                }
            }
        };
        self.service.count(ended.is_err(), started.elapsed());
        self.reply(received, ended.unwrap_or_else(|failure| failed(&failure))).await;
    }
}

/// Closes the connection of a call when the call ends for any reason.
struct EndedCall<'a> {
    shared: &'a Shared,
    name: &'a str,
}

impl Drop for EndedCall<'_> {
    fn drop(&mut self) {
        self.shared.connections().remove(self.name);
    }
}
