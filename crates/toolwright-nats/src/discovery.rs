//! Discovery of workers as services of NATS (ADR-32): answers on `$SRV.PING`, `$SRV.INFO` and `$SRV.STATS`.
//!
//! The services of `async-nats` are not used for this: their endpoints unsubscribe at once when a service stops, and lose the
//! messages that are on their way.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_nats::{Client, Message, Subscriber};
use futures_util::stream::{self, SelectAll};
use serde_json::{Value, json};
use toolwright::format::DateTime;

use crate::error::NatsError;
use crate::options::NatsOptions;
use crate::subjects::Subjects;

/// The name of the queue group in which the workers of a toolset share requests.
pub(crate) const QUEUE_GROUP: &str = "workers";

/// The subscriptions of a worker for discovery.
pub(crate) type Questions = SelectAll<Subscriber>;

/// What a worker says of itself, and counts.
pub(crate) struct Service {
    name: String,
    worker: String,
    version: String,
    description: String,
    metadata: BTreeMap<&'static str, String>,
    /// The subject of the only endpoint.
    subject: String,
    started: String,
    calls: Mutex<Calls>,
}

#[derive(Clone, Copy, Default)]
struct Calls {
    ended: u64,
    failed: u64,
    time: Duration,
}

impl Service {
    /// Checks a version, which has to be one of Semantic Versioning.
    pub(crate) fn check_version(version: &str) -> Result<(), NatsError> {
        match semver::Version::parse(version) {
            Ok(_) => Ok(()),
            Err(error) => {
                Err(NatsError::Version { version: version.to_owned(), reason: error.to_string() })
            }
        }
    }

    pub(crate) fn new(
        subjects: &Subjects,
        worker: &str,
        options: &NatsOptions,
        metadata: BTreeMap<&'static str, String>,
    ) -> Self {
        Self {
            name: subjects.service(),
            worker: worker.to_owned(),
            version: options.version.clone(),
            description: options.description.clone(),
            metadata,
            subject: subjects.group(),
            started: DateTime::now().to_string(),
            calls: Mutex::default(),
        }
    }

    /// Subscribes to the questions to all services, to those of this name, and to this worker.
    pub(crate) async fn subscribe(&self, client: &Client) -> Result<Questions, NatsError> {
        let Self { name, worker, .. } = self;
        let mut subscribed = Vec::new();
        for verb in ["PING", "INFO", "STATS"] {
            for whom in [String::new(), format!(".{name}"), format!(".{name}.{worker}")] {
                subscribed.push(client.subscribe(format!("$SRV.{verb}{whom}")).await?);
            }
        }
        Ok(stream::select_all(subscribed))
    }

    /// Counts a call that ended.
    pub(crate) fn count(&self, has_failed: bool, time: Duration) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.ended += 1;
        calls.failed += u64::from(has_failed);
        calls.time += time;
    }

    /// Answers a question.
    pub(crate) fn answer(&self, question: &Message) -> Option<Value> {
        let Self { name, worker, version, description, metadata, subject, .. } = self;
        let (verb, more) = match question.subject.split('.').nth(1)? {
            "PING" => ("ping", json!({})),
            "INFO" => {
                let endpoint = json!({ "name": "requests", "subject": subject, "queue_group": QUEUE_GROUP, "metadata": {} });
                ("info", json!({ "description": description, "endpoints": [endpoint] }))
            }
            "STATS" => ("stats", json!({ "started": self.started, "endpoints": [self.counted()] })),
            _ => return None,
        };
        let mut answer = json!({
            "type": format!("io.nats.micro.v1.{verb}_response"),
            "name": name,
            "id": worker,
            "version": version,
            "metadata": metadata,
        });
        if let (Value::Object(answer), Value::Object(more)) = (&mut answer, more) {
            answer.extend(more);
        }
        Some(answer)
    }

    fn counted(&self) -> Value {
        let Calls { ended, failed, time } =
            *self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        json!({
            "name": "requests",
            "subject": self.subject,
            "queue_group": QUEUE_GROUP,
            "num_requests": ended,
            "num_errors": failed,
            "processing_time": nanoseconds,
            "average_processing_time": nanoseconds.checked_div(ended).unwrap_or_default(),
            "last_error": "",
        })
    }
}
