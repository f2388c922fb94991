//! Well-behaved clients. Each makes calls on its own connection at a fixed rate, also if the server is too slow for it.

use std::io;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use crate::driver::Client;
use crate::servers::Server;

/// The time that a client waits for a response.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Connected clients.
pub(super) struct Callers(Vec<Client>);

/// The durations of calls, and their errors.
#[derive(Default)]
pub(super) struct Waits {
    milliseconds: Vec<f64>,
    pub(super) errors: Vec<String>,
}

impl Callers {
    /// Connects clients, one after the other.
    pub(super) async fn connect(server: &Server, count: u32) -> io::Result<Self> {
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(server.client().await?);
        }
        Ok(Self(clients))
    }

    /// Makes `rate` calls per second with all clients together for a time. If a call starts late because the one before it took
    /// too long, its wait counts from the time when it was due.
    pub(super) async fn call(&mut self, rate: u32, time: Duration) -> Waits {
        let count = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        let between = Duration::from_secs(1) / rate;
        let start = Instant::now();
        let mut callers = JoinSet::new();
        for (index, client) in (0..).zip(self.0.drain(..)) {
            callers.spawn(call_until(
                client,
                start + between * index,
                between * count,
                start + time,
            ));
        }
        let mut all = Waits::default();
        for (client, waits) in callers.join_all().await {
            self.0.push(client);
            all.add(waits);
        }
        all
    }
}

async fn call_until(
    mut client: Client,
    first: Instant,
    every: Duration,
    end: Instant,
) -> (Client, Waits) {
    let mut waits = Waits::default();
    let mut due = first;
    let mut number = 0;
    while due < end {
        sleep_until(due).await;
        match timeout(TIMEOUT, client.call(number)).await {
            Ok(Ok(())) => waits.milliseconds.push(due.elapsed().as_secs_f64() * 1e3),
            Ok(Err(error)) => waits.errors.push(error.to_string()),
            Err(_) => waits.errors.push(format!("no response in {} s", TIMEOUT.as_secs())),
        }
        number += 1;
        due += every;
    }
    (client, waits)
}

impl Waits {
    pub(super) fn add(&mut self, other: Self) {
        self.milliseconds.extend(other.milliseconds);
        self.errors.extend(other.errors);
    }

    pub(super) fn count(&self) -> usize {
        self.milliseconds.len() + self.errors.len()
    }

    /// Returns a quantile of the times of calls with a response, in milliseconds.
    pub(super) fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.milliseconds.clone();
        sorted.sort_by(f64::total_cmp);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index below the length"
        )]
        let index = (sorted.len() as f64 * part) as usize;
        sorted.get(index).or(sorted.last()).copied().unwrap_or(f64::NAN)
    }
}
