//! The sessions over HTTP of a server: whose they are, how many there may be, and when they end. Never looks into a
//! request: see `http`.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use axum::http::request::Parts;
use rmcp::model::Extensions;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::{Counters, Limits};

/// Whom a request is from, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Caller {
    /// By name: whom the host has authenticated.
    Principal(String),
    /// By address, which may be that of many.
    Address(IpAddr),
    /// By nothing.
    Unknown,
}

/// All sessions of a server.
pub(crate) struct Sessions {
    manager: Arc<LocalSessionManager>,
    idle: Option<Duration>,
    limits: Limits,
    counters: Counters,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// How many are open of each caller.
    callers: HashMap<Caller, usize>,
    /// How many are open of all.
    open: usize,
    /// The sessions that have an id, which their clients know.
    named: HashMap<String, Arc<Session>>,
}

/// What is known of a session.
pub(crate) struct Session {
    caller: Caller,
    activity: Mutex<Activity>,
}

struct Activity {
    calls: usize,
    streams: usize,
    /// When it was last used.
    since: Instant,
    /// Whether it ends for another one to be opened.
    evicted: bool,
}

/// One of the sessions that may be open, until this is dropped.
pub(crate) struct OpenSession {
    sessions: Arc<Sessions>,
    session: Arc<Session>,
    /// Its id, and what ends it when it is idle.
    named: OnceLock<(String, AbortOnDropHandle<()>)>,
}

/// A call of a session, in flight until this is dropped.
pub(crate) struct Running(Arc<Session>);

/// A stream on which a session listens, until this is dropped.
pub(crate) struct OpenStream(Arc<Session>);

/// Which limit a new session would break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    Server,
    Caller,
}

/// What a request over HTTP holds while it is acted on, in the extensions of its parts: found when its body is read, and
/// the parts are on their way already.
#[derive(Clone, Default)]
pub(crate) struct Admission(Arc<Held>);

#[derive(Default)]
struct Held {
    session: OnceLock<Arc<OpenSession>>,
    running: OnceLock<Running>,
    memory: OnceLock<Memory>,
}

/// The part of a request that counts among the bytes of all, until this is dropped.
#[derive(Default)]
pub(crate) struct Memory(Option<OwnedSemaphorePermit>);

impl Caller {
    pub(crate) fn of_address(address: IpAddr) -> Self {
        /// One customer of a provider has a network of this size, and all addresses in it.
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
        self.table().named.get(id).cloned()
    }

    /// Opens another session. One that its caller has left idle may have to end for it.
    ///
    /// # Errors
    ///
    /// There are too many.
    pub(crate) fn open(self: &Arc<Self>, caller: &Caller) -> Result<OpenSession, Full> {
        let mut table = self.table();
        let of_caller = table.callers.get(caller).copied().unwrap_or_default();
        let full = if *caller != Caller::Unknown && of_caller >= self.limits.client_sessions {
            Some(Full::Caller)
        } else {
            (table.open >= self.limits.sessions).then_some(Full::Server)
        };
        if let Some(full) = full {
            let Some((id, idle)) = self.longest_idle(&table, caller) else {
                self.counters.count(|counts| counts.sessions_refused += 1);
                return Err(full);
            };
            idle.activity().evicted = true;
            self.counters.count(|counts| counts.sessions_evicted += 1);
            tokio::spawn(close(Arc::clone(&self.manager), id));
            table.leave(caller);
        }
        *table.callers.entry(caller.clone()).or_default() += 1;
        table.open += 1;
        self.counters.count(|counts| {
            counts.sessions += 1;
            counts.open_sessions = table.open as u64;
        });
        let activity = Activity { calls: 0, streams: 0, since: Instant::now(), evicted: false };
        let session = Session { caller: caller.clone(), activity: Mutex::new(activity) };
        let (sessions, session) = (Arc::clone(self), Arc::new(session));
        Ok(OpenSession { sessions, session, named: OnceLock::new() })
    }

    /// The session of a caller that was used least lately, if it may end.
    fn longest_idle(&self, table: &Table, caller: &Caller) -> Option<(String, Arc<Session>)> {
        let latest = Instant::now().checked_sub(self.limits.evictable_after)?;
        let own = table.named.iter().filter(|(_, session)| session.caller == *caller);
        let idle = own.filter_map(|(id, session)| Some((session.idle_since()?, id, session)));
        let (_, id, session) =
            idle.filter(|(since, ..)| *since <= latest).min_by_key(|(since, ..)| *since)?;
        Some((id.clone(), Arc::clone(session)))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn leave(&mut self, caller: &Caller) {
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
    /// Whether a caller may use it: it belongs to the principal who opened it, if there was one.
    pub(crate) fn is_open_to(&self, caller: &Caller) -> bool {
        self.caller.principal() == caller.principal()
    }

    /// It has been used just now.
    pub(crate) fn touch(&self) {
        self.activity().since = Instant::now();
    }

    /// Another call in flight, unless there are so many.
    pub(crate) fn begin_call(self: &Arc<Self>, most: usize) -> Option<Running> {
        let mut activity = self.activity();
        (activity.calls < most).then(|| {
            activity.calls += 1;
            Running(Arc::clone(self))
        })
    }

    /// Opens another stream of the session, unless it has `most` of them.
    pub(crate) fn begin_stream(self: &Arc<Self>, most: usize) -> Option<OpenStream> {
        let mut activity = self.activity();
        (activity.streams < most).then(|| {
            activity.streams += 1;
            OpenStream(Arc::clone(self))
        })
    }

    /// Since when nothing has happened in it, if nothing happens.
    fn idle_since(&self) -> Option<Instant> {
        let activity = self.activity();
        (activity.calls == 0 && !activity.evicted).then_some(activity.since)
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut activity = self.0.activity();
        activity.calls -= 1;
        activity.since = Instant::now();
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.activity().streams -= 1;
    }
}

impl OpenSession {
    /// The session is known by an id from now on, and ends when it has been idle for too long.
    pub(crate) fn name(&self, id: &str) {
        let (sessions, session) = (&self.sessions, &self.session);
        sessions.table().named.insert(id.to_owned(), Arc::clone(session));
        let expiring = expire(
            Arc::clone(&sessions.manager),
            sessions.counters.clone(),
            (id.to_owned(), Arc::clone(session)),
            sessions.idle,
        );
        let _ = self.named.set((id.to_owned(), AbortOnDropHandle::new(tokio::spawn(expiring))));
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        let mut table = self.sessions.table();
        if let Some((id, _)) = self.named.get() {
            table.named.remove(id);
        }
        if !self.session.activity().evicted {
            table.leave(&self.session.caller);
        }
        self.sessions.counters.count(|counts| counts.open_sessions = table.open as u64);
    }
}

/// Ends a session when it has been idle for so long.
async fn expire(
    manager: Arc<LocalSessionManager>,
    counters: Counters,
    (id, session): (String, Arc<Session>),
    idle: Option<Duration>,
) {
    let Some(idle) = idle else { return };
    loop {
        let now = Instant::now();
        let since = session.idle_since().unwrap_or(now);
        let Some(end) = since.checked_add(idle) else { return };
        if end <= now {
            counters.count(|counts| counts.sessions_expired += 1);
            tokio::spawn(close(manager, id));
            return;
        }
        tokio::time::sleep_until(end).await;
    }
}

/// Has rmcp end a session, and drop what holds it open.
async fn close(manager: Arc<LocalSessionManager>, id: String) {
    if let Err(error) = manager.close_session(&id.into()).await {
        tracing::debug!(%error, "a session could not be closed");
    }
}

impl Memory {
    /// Takes so many bytes in all, if there are as many left.
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

impl Admission {
    pub(crate) fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get::<Parts>()?.extensions.get()
    }

    pub(crate) fn session(&self) -> Option<Arc<OpenSession>> {
        self.0.session.get().cloned()
    }

    /// Holds a session for as long as the request is acted on, and for as long as somebody shares it.
    pub(crate) fn hold_session(&self, session: OpenSession) {
        let _ = self.0.session.set(Arc::new(session));
    }

    pub(crate) fn hold_call(&self, running: Running) {
        let _ = self.0.running.set(running);
    }

    pub(crate) fn hold_memory(&self, memory: Memory) {
        let _ = self.0.memory.set(memory);
    }
}

#[cfg(test)]
mod tests {
    use super::Caller;

    #[test]
    fn callers_are_told_apart_by_networks_of_ipv6_and_addresses_of_ipv4() {
        let caller = |address: &str| Caller::of_address(address.parse().unwrap());
        assert_eq!(caller("2001:db8::1"), caller("2001:db8::ffff:0:0:2"));
        assert_ne!(caller("2001:db8::1"), caller("2001:db8:0:1::1"));
        assert_ne!(caller("192.0.2.1"), caller("192.0.2.2"));
        assert_eq!(caller("192.0.2.1"), caller("::ffff:192.0.2.1"));
    }
}
