//! The HTTP sessions of a server: their owners, their limits and their end.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use axum::http::request::Parts;
use rmcp::model::{Extensions, RequestId};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::{Counters, Limits};

/// The sender of a request, as far as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Caller {
    /// A principal that the host has authenticated.
    Principal(String),
    /// An address, which many clients may share.
    Address(IpAddr),
    /// Neither is known.
    Unknown,
}

/// The open sessions of a server.
pub(crate) struct Sessions {
    manager: Arc<LocalSessionManager>,
    idle: Option<Duration>,
    limits: Limits,
    counters: Counters,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// The number of open sessions of each caller.
    callers: HashMap<Caller, usize>,
    /// The number of open sessions.
    open: usize,
    /// The sessions that have been assigned an id.
    by_id: HashMap<String, Arc<Session>>,
}

/// The owner and the activity of a session.
pub(crate) struct Session {
    caller: Caller,
    activity: Mutex<Activity>,
}

struct Activity {
    /// The requests in flight.
    requests: HashMap<RequestId, InFlight>,
    streams: usize,
    last_used: Instant,
    /// True if the session is being closed so that its caller can open another one.
    evicted: bool,
}

struct InFlight {
    is_call: bool,
    cancelled: CancellationToken,
}

/// Counts a session as open until it is dropped.
pub(crate) struct OpenSession {
    sessions: Arc<Sessions>,
    session: Arc<Session>,
    /// The id of the session, and the task that closes it when it is idle.
    id: OnceLock<(String, AbortOnDropHandle<()>)>,
}

/// Reserves the id of a request in its session until the request ends or this is dropped.
pub(crate) struct OpenRequest {
    session: Arc<Session>,
    /// `None` once the request has ended.
    id: Mutex<Option<RequestId>>,
    cancelled: CancellationToken,
}

/// Counts an HTTP stream of a session as open until it is dropped.
pub(crate) struct OpenStream(Arc<Session>);

/// The limit that a new session would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionLimit {
    Server,
    Caller,
}

/// The reason why a session does not begin a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestError {
    TooManyCalls,
    IdInUse,
}

/// The guards that an HTTP request holds while it is handled. They travel in the request's extensions and are set later,
/// when its body has been read.
#[derive(Clone, Default)]
pub(crate) struct RequestGuards(Arc<Guards>);

#[derive(Default)]
struct Guards {
    session: OnceLock<Arc<OpenSession>>,
    request: OnceLock<Arc<OpenRequest>>,
    memory: OnceLock<MemoryGuard>,
}

/// Counts bytes of a request among those of all requests until it is dropped.
#[derive(Default)]
pub(crate) struct MemoryGuard(Option<OwnedSemaphorePermit>);

impl Caller {
    pub(crate) fn of_address(address: IpAddr) -> Self {
        /// Providers assign a whole /64 network to one customer.
        const NETWORK: u128 = u128::MAX << 64;
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & NETWORK).into(),
            address @ IpAddr::V4(_) => address,
        })
    }

    fn principal(&self) -> Option<&str> {
        match self {
            Self::Principal(name) => Some(name),
            Self::Address(_) | Self::Unknown => None,
        }
    }
}

impl Sessions {
    pub(crate) fn new(
        manager: Arc<LocalSessionManager>,
        idle: Option<Duration>,
        limits: Limits,
        counters: Counters,
    ) -> Self {
        Self { manager, idle, limits, counters, table: Mutex::default() }
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<Session>> {
        self.table().by_id.get(id).cloned()
    }

    /// Opens a session. If there are too many, an idle session of the same caller is closed for it.
    ///
    /// # Errors
    ///
    /// Returns the exceeded limit if no session can be closed.
    pub(crate) fn open(self: &Arc<Self>, caller: &Caller) -> Result<OpenSession, SessionLimit> {
        let mut table = self.table();
        let of_caller = table.callers.get(caller).copied().unwrap_or_default();
        let exceeded = if *caller != Caller::Unknown && of_caller >= self.limits.client_sessions {
            Some(SessionLimit::Caller)
        } else {
            (table.open >= self.limits.sessions).then_some(SessionLimit::Server)
        };
        if let Some(limit) = exceeded {
            let Some((id, idle)) = self.longest_idle(&table, caller) else {
                self.counters.count(|counts| counts.sessions_refused += 1);
                return Err(limit);
            };
            idle.activity().evicted = true;
            self.counters.count(|counts| counts.sessions_evicted += 1);
            tokio::spawn(close(Arc::clone(&self.manager), id));
            table.remove(caller);
        }
        *table.callers.entry(caller.clone()).or_default() += 1;
        table.open += 1;
        self.counters.count(|counts| {
            counts.sessions += 1;
            counts.open_sessions = table.open as u64;
        });
        let activity = Activity {
            requests: HashMap::new(),
            streams: 0,
            last_used: Instant::now(),
            evicted: false,
        };
        let session = Session { caller: caller.clone(), activity: Mutex::new(activity) };
        let (sessions, session) = (Arc::clone(self), Arc::new(session));
        Ok(OpenSession { sessions, session, id: OnceLock::new() })
    }

    /// Returns the least recently used session of a caller, if it may be closed.
    fn longest_idle(&self, table: &Table, caller: &Caller) -> Option<(String, Arc<Session>)> {
        let deadline = Instant::now().checked_sub(self.limits.evictable_after)?;
        let own = table.by_id.iter().filter(|(_, session)| session.caller == *caller);
        let idle = own.filter_map(|(id, session)| Some((session.idle_since()?, id, session)));
        let (_, id, session) =
            idle.filter(|(since, ..)| *since <= deadline).min_by_key(|(since, ..)| *since)?;
        Some((id.clone(), Arc::clone(session)))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Counts one session less.
    fn remove(&mut self, caller: &Caller) {
        self.open -= 1;
        if let Some(open) = self.callers.get_mut(caller) {
            *open -= 1;
            if *open == 0 {
                self.callers.remove(caller);
            }
        }
    }
}

impl Session {
    /// Returns the open session that a message names.
    pub(crate) fn of(extensions: &Extensions) -> Option<&Arc<Self>> {
        extensions.get::<Parts>()?.extensions.get()
    }

    /// Returns whether a caller may use the session: its principal must be that of the opener, or neither has one.
    pub(crate) fn is_open_to(&self, caller: &Caller) -> bool {
        self.caller.principal() == caller.principal()
    }

    /// Marks the session as used now.
    pub(crate) fn touch(&self) {
        self.activity().last_used = Instant::now();
    }

    /// Reserves the id of a request. `max_calls` limits the calls in flight if the request is one.
    ///
    /// # Errors
    ///
    /// Fails if a request with this id is in flight, or `max_calls` calls are.
    pub(crate) fn begin_request(
        self: &Arc<Self>,
        id: &RequestId,
        max_calls: Option<usize>,
    ) -> Result<OpenRequest, RequestError> {
        let requests = &mut self.activity().requests;
        if requests.contains_key(id) {
            return Err(RequestError::IdInUse);
        }
        let calls = || requests.values().filter(|request| request.is_call).count();
        if max_calls.is_some_and(|max| calls() >= max) {
            return Err(RequestError::TooManyCalls);
        }
        let (session, cancelled) = (Arc::clone(self), CancellationToken::new());
        let in_flight = InFlight { is_call: max_calls.is_some(), cancelled: cancelled.clone() };
        requests.insert(id.clone(), in_flight);
        Ok(OpenRequest { session, id: Mutex::new(Some(id.clone())), cancelled })
    }

    /// Cancels the request with this id, if it is in flight.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let cancelled = self.activity().requests.get(id).map(|request| request.cancelled.clone());
        if let Some(cancelled) = cancelled {
            cancelled.cancel();
        }
    }

    /// Counts another stream as open, unless there are `max` already.
    pub(crate) fn begin_stream(self: &Arc<Self>, max: usize) -> Option<OpenStream> {
        let mut activity = self.activity();
        (activity.streams < max).then(|| {
            activity.streams += 1;
            OpenStream(Arc::clone(self))
        })
    }

    /// Returns since when the session is idle, or `None` if a request is in flight.
    fn idle_since(&self) -> Option<Instant> {
        let activity = self.activity();
        (activity.requests.is_empty() && !activity.evicted).then_some(activity.last_used)
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenRequest {
    /// Makes the id free for another request.
    pub(crate) fn end(&self) {
        let Some(id) = self.id.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        let mut activity = self.session.activity();
        activity.requests.remove(&id);
        activity.last_used = Instant::now();
    }

    /// Cancelled when no client waits for the answer.
    pub(crate) fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.end();
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.activity().streams -= 1;
    }
}

impl OpenSession {
    /// Assigns the session its id, and starts the task that closes it when it has been idle for too long.
    pub(crate) fn set_id(&self, id: &str) {
        let (sessions, session) = (&self.sessions, &self.session);
        sessions.table().by_id.insert(id.to_owned(), Arc::clone(session));
        let expiring = expire(
            Arc::clone(&sessions.manager),
            sessions.counters.clone(),
            (id.to_owned(), Arc::clone(session)),
            sessions.idle,
        );
        let _ = self.id.set((id.to_owned(), AbortOnDropHandle::new(tokio::spawn(expiring))));
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        let mut table = self.sessions.table();
        if let Some((id, _)) = self.id.get() {
            table.by_id.remove(id);
        }
        if !self.session.activity().evicted {
            table.remove(&self.session.caller);
        }
        self.sessions.counters.count(|counts| counts.open_sessions = table.open as u64);
    }
}

/// The shortest time between two looks at a session with a request in flight.
const MIN_CHECK: Duration = Duration::from_millis(100);

/// Closes a session when it has been idle for `idle`.
async fn expire(
    manager: Arc<LocalSessionManager>,
    counters: Counters,
    (id, session): (String, Arc<Session>),
    idle: Option<Duration>,
) {
    let Some(idle) = idle else { return };
    loop {
        let Some(since) = session.idle_since() else {
            // A request is in flight.
            tokio::time::sleep(idle.max(MIN_CHECK)).await;
            continue;
        };
        let Some(end) = since.checked_add(idle) else { return };
        if end <= Instant::now() {
            counters.count(|counts| counts.sessions_expired += 1);
            tokio::spawn(close(manager, id));
            return;
        }
        tokio::time::sleep_until(end).await;
    }
}

/// Makes rmcp close a session, which drops its [`OpenSession`].
async fn close(manager: Arc<LocalSessionManager>, id: String) {
    if let Err(error) = manager.close_session(&id.into()).await {
        tracing::debug!(%error, "a session could not be closed");
    }
}

impl MemoryGuard {
    /// Raises the number of counted bytes to `bytes`. Returns false if too few are left.
    pub(crate) fn grow(&mut self, all: &Arc<Semaphore>, bytes: usize) -> bool {
        let held = self.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let Ok(more) = u32::try_from(bytes.saturating_sub(held)) else { return false };
        let Ok(more) = Arc::clone(all).try_acquire_many_owned(more) else { return false };
        match &mut self.0 {
            Some(held) => held.merge(more),
            None => self.0 = Some(more),
        }
        true
    }
}

impl RequestGuards {
    pub(crate) fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get::<Parts>()?.extensions.get()
    }

    pub(crate) fn session(&self) -> Option<Arc<OpenSession>> {
        self.0.session.get().cloned()
    }

    /// Keeps a session open until the request and everyone who shares the session are done.
    pub(crate) fn hold_session(&self, session: OpenSession) {
        let _ = self.0.session.set(Arc::new(session));
    }

    pub(crate) fn request(&self) -> Option<Arc<OpenRequest>> {
        self.0.request.get().cloned()
    }

    pub(crate) fn hold_request(&self, request: OpenRequest) {
        let _ = self.0.request.set(Arc::new(request));
    }

    pub(crate) fn hold_memory(&self, memory: MemoryGuard) {
        let _ = self.0.memory.set(memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn no_idle_time_ends_a_session_with_a_call_in_flight() {
        let counters = Counters::default();
        let manager = Arc::new(LocalSessionManager::default());
        let idle = Some(Duration::ZERO);
        let sessions = Sessions::new(manager, idle, Limits::default(), counters.clone());
        let opened = Arc::new(sessions).open(&Caller::Unknown).expect("there is room");
        let id = RequestId::Number(1);
        let call = opened.session.begin_request(&id, Some(1)).expect("there is room");
        opened.set_id("a");
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(counters.read().sessions_expired, 0);
        drop(call);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(counters.read().sessions_expired, 1);
    }

    #[test]
    fn callers_differ_by_ipv4_address_or_ipv6_network() {
        let caller = |address: &str| Caller::of_address(address.parse().unwrap());
        assert_eq!(caller("2001:db8::1"), caller("2001:db8::ffff:0:0:2"));
        assert_ne!(caller("2001:db8::1"), caller("2001:db8:0:1::1"));
        assert_ne!(caller("192.0.2.1"), caller("192.0.2.2"));
        assert_eq!(caller("192.0.2.1"), caller("::ffff:192.0.2.1"));
    }
}
