//! Limits the questions of all clients that share a key, by what the provider reports in its headers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};
use toolwright::format::DateTime;

/// The time after which a limit is full again, if the provider does not say it: limits are per minute.
const WINDOW: Duration = Duration::from_mins(1);

/// The longest time that a provider can stop all questions.
const LONGEST: Duration = Duration::from_mins(5);

/// The bytes of a request for each of its tokens, roughly.
const BYTES_PER_TOKEN: u64 = 4;

/// The headers with the size of a limit, what is left of it, and when it is full again. OpenAI and many others; Anthropic.
const REQUESTS: [[&str; 3]; 2] = [
    ["x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"],
    [
        "anthropic-ratelimit-requests-limit",
        "anthropic-ratelimit-requests-remaining",
        "anthropic-ratelimit-requests-reset",
    ],
];
const TOKENS: [[&str; 3]; 2] = [
    ["x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"],
    [
        "anthropic-ratelimit-tokens-limit",
        "anthropic-ratelimit-tokens-remaining",
        "anthropic-ratelimit-tokens-reset",
    ],
];

/// A limit for all clients that share it, such as those with the same key: see
/// [`ClientBuilder::with_rate_limit`](crate::ClientBuilder::with_rate_limit). Clones are the same limit.
///
/// A question waits until the provider has room for it, by the headers of its last response (`x-ratelimit-…`,
/// `anthropic-ratelimit-…`): for one more request, and for its tokens, estimated from its bytes. If the provider answers one client
/// with a wait (status 429, 503 or 529), all clients wait. The time counts for the time limit of the question.
#[derive(Clone, Debug)]
pub struct RateLimit(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    questions: Semaphore,
    room: Mutex<Room>,
}

/// The room that the provider has left.
#[derive(Debug, Default)]
struct Room {
    requests: Option<Budget>,
    tokens: Option<Budget>,
    /// The end of the wait that the provider asked for.
    blocked_until: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
struct Budget {
    limit: Option<u64>,
    left: u64,
    reset: Instant,
}

impl RateLimit {
    /// Creates a limit of questions at the same time, at least one. Others wait in the order in which they came.
    pub fn new(questions: usize) -> Self {
        let questions = Semaphore::new(questions.clamp(1, Semaphore::MAX_PERMITS));
        Self(Arc::new(Shared { questions, room: Mutex::default() }))
    }

    /// Waits until a request of this many bytes may be sent. The permit is for the time until the answer has ended.
    pub(super) async fn admit(&self, bytes: usize) -> Option<SemaphorePermit<'_>> {
        let permit = self.0.questions.acquire().await.ok();
        let tokens = u64::try_from(bytes).unwrap_or(u64::MAX) / BYTES_PER_TOKEN;
        loop {
            let Some(until) = self.room().take(tokens, Instant::now()) else { return permit };
            sleep_until(until).await;
        }
    }

    /// Takes over what the headers of a response say.
    pub(super) fn observe<'a>(&self, header: impl Fn(&str) -> Option<&'a str>) {
        let now = Instant::now();
        let budget = |names: &[[&str; 3]]| {
            names.iter().find_map(|[limit, left, reset]| {
                let number = |name: &str| header(name)?.trim().parse::<u64>().ok();
                let reset = header(reset).and_then(duration).unwrap_or(WINDOW).min(LONGEST);
                Some(Budget { limit: number(limit), left: number(left)?, reset: now + reset })
            })
        };
        let (requests, tokens) = (budget(&REQUESTS), budget(&TOKENS));
        let mut room = self.room();
        room.requests = requests.or(room.requests);
        room.tokens = tokens.or(room.tokens);
    }

    /// Stops all questions for some time.
    pub(super) fn block(&self, time: Duration) {
        let until = Instant::now() + time.min(LONGEST);
        let mut room = self.room();
        room.blocked_until = room.blocked_until.max(Some(until));
    }

    fn room(&self) -> MutexGuard<'_, Room> {
        self.0.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Room {
    /// Takes the room for a request with this many tokens, or returns when to try again.
    fn take(&mut self, tokens: u64, now: Instant) -> Option<Instant> {
        if let Some(until) = self.blocked_until.filter(|until| *until > now) {
            return Some(until);
        }
        let mut needs = [(&mut self.requests, 1), (&mut self.tokens, tokens)];
        for (budget, needed) in &mut needs {
            let Some(budget) = budget else { continue };
            if budget.reset <= now {
                budget.left = budget.limit.unwrap_or(u64::MAX);
                budget.reset = now + WINDOW;
            }
            // A request that is larger than the limit goes alone, and the provider decides.
            let needed = budget.limit.map_or(*needed, |limit| limit.min(*needed));
            if budget.left < needed {
                return Some(budget.reset);
            }
        }
        for (budget, needed) in &mut needs {
            if let Some(budget) = budget {
                budget.left = budget.left.saturating_sub(*needed);
            }
        }
        None
    }
}

/// Parses the time until a limit is full again: a duration such as `6m0s`, `120ms` or `1.5`, which are seconds, or a date-time
/// (RFC 3339).
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(at) = text.parse::<DateTime>() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
        let at = Duration::from_secs(u64::try_from(at.unix_seconds()).ok()?);
        return Some(at.saturating_sub(now));
    }
    let (mut total, mut rest) = (0.0_f64, text);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let seconds = match unit {
            "d" => 86_400.0,
            "h" => 3_600.0,
            "m" => 60.0,
            "s" | "" => 1.0,
            "ms" => 0.001,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * seconds;
        rest = after;
    }
    Duration::try_from_secs_f64(total).ok().filter(|_| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_the_forms_of_providers() {
        for (text, milliseconds) in [
            ("1s", Some(1_000)),
            ("6m0s", Some(360_000)),
            ("2m59.56s", Some(179_560)),
            ("120ms", Some(120)),
            ("1h0m1s", Some(3_601_000)),
            ("7", Some(7_000)),
            ("0.25", Some(250)),
            ("2020-01-01T00:00:00Z", Some(0)),
            ("", None),
            ("soon", None),
            ("-1s", None),
            ("1.2.3s", None),
            ("9999999999999999999999d", None),
        ] {
            let found = duration(text);
            assert_eq!(found, milliseconds.map(Duration::from_millis), "{text}");
        }
    }

    /// Seconds after the start: a response with what is left of requests and tokens, or a question with its tokens and when it
    /// may be sent.
    #[tokio::test(start_paused = true)]
    async fn questions_wait_for_the_room_that_the_provider_reports() {
        let limit = RateLimit::new(10);
        let start = Instant::now();
        let report = |requests: &'static str, tokens: &'static str, reset: &'static str| {
            limit.observe(|name| match name {
                "x-ratelimit-limit-requests" => Some("3"),
                "x-ratelimit-remaining-requests" => Some(requests),
                "x-ratelimit-limit-tokens" => Some("1000"),
                "x-ratelimit-remaining-tokens" => Some(tokens),
                "x-ratelimit-reset-requests" | "x-ratelimit-reset-tokens" => Some(reset),
                _ => None,
            });
        };
        let mut sent = Vec::new();
        let mut admit = async |bytes: usize| {
            drop(limit.admit(bytes).await);
            sent.push(start.elapsed().as_secs());
        };
        admit(1_000_000).await; // Nothing is known yet.
        report("2", "1000", "10s");
        admit(40).await;
        admit(40).await;
        admit(40).await; // The fourth waits for the reset, and two more may follow it.
        admit(40).await;
        admit(40).await;
        admit(40).await; // A minute later.
        report("3", "100", "20s");
        admit(400).await;
        admit(4).await; // No tokens are left.
        admit(1_000_000).await; // It is larger than the limit, so it waits until the limit is full.
        limit.block(Duration::from_secs(7));
        report("3", "1000", "1s");
        admit(4).await;
        assert_eq!(sent, [0, 0, 0, 10, 10, 10, 70, 70, 90, 150, 157]);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_questions_are_sent_at_once_than_allowed() {
        let limit = RateLimit::new(2);
        let first = limit.admit(1).await;
        let _second = limit.admit(1).await;
        let third = limit.clone();
        let third = tokio::spawn(async move { drop(third.admit(1).await) });
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert!(!third.is_finished());
        drop(first);
        third.await.unwrap();
    }
}
