//! Cassettes: exchanges with a provider that were recorded into a file, and are played without it.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use crate::reply::{Reply, Script};
use crate::request::ReceivedRequest;
use crate::wire;

/// The most bytes of a cassette.
const MAX_BYTES: u64 = 64 << 20;

/// A recorded request and its response.
pub(crate) struct Exchange {
    pub(crate) path: String,
    pub(crate) request: Value,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Script {
    /// Replies as a provider did, byte for byte, from a file that [`Stage::record`](crate::Stage::record) wrote. A request gets
    /// the response of the first recorded request that equals it and was not replied to yet. Any other request is refused with
    /// status 400 and the first difference: see [`Stage::refusals`](crate::Stage::refusals).
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a cassette.
    pub fn replay(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let wrong = |what: String| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()))
        };
        let failed =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let is_file = fs::metadata(path).map_err(failed)?.is_file();
        let mut text = String::new();
        if is_file {
            // The file may grow, or become another one, in the meantime.
            let file = fs::File::open(path).map_err(failed)?;
            file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
        }
        if !is_file || text.len() as u64 > MAX_BYTES {
            return Err(wrong(format!("it is no file of at most {MAX_BYTES} bytes")));
        }
        let file: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let listed = file["exchanges"].as_array().ok_or_else(|| {
            wrong(
                "found no list `exchanges`, expected a file that `Stage::record` wrote".to_owned(),
            )
        })?;
        let exchange = |(index, value)| {
            Exchange::from_value(value).ok_or_else(|| {
                wrong(format!("exchange {index} is not as `Stage::record` writes it"))
            })
        };
        let left: VecDeque<Exchange> =
            listed.iter().enumerate().map(exchange).collect::<io::Result<_>>()?;
        let count = left.len();
        let left = Arc::new(Mutex::new(left));
        // The last one is never used up: it refuses all requests after those that were recorded.
        let script = (0..=count).fold(Self::new(), |script, _| {
            let left = Arc::clone(&left);
            script.then(move |received| {
                reply(&mut left.lock().unwrap_or_else(PoisonError::into_inner), received)
            })
        });
        Ok(script)
    }
}

/// Takes the response to a request out of those that are left.
fn reply(left: &mut VecDeque<Exchange>, received: &ReceivedRequest) -> Reply {
    let (path, request) = received.without_secrets();
    let equal = |exchange: &Exchange| exchange.path == path && exchange.request == request;
    if let Some(index) = left.iter().position(equal)
        && let Some(exchange) = left.remove(index)
    {
        let reply = Reply::body(exchange.status, exchange.body);
        return exchange
            .headers
            .into_iter()
            .fold(reply, |reply, (name, value)| reply.with_header(name, value));
    }
    let difference = match left.front() {
        None => "no recorded request is left".to_owned(),
        Some(next) if next.path != path => {
            format!("found the path `{path}`, recorded is `{}`", next.path)
        }
        Some(next) => difference(&next.request, &request, &mut String::new())
            .unwrap_or_else(|| "it is not JSON".to_owned()),
    };
    let words = format!("the request was not recorded: {difference}; record the cassette again");
    Reply::body(400, wire::error(received.api, 400, &words)).refusing(words)
}

/// Describes the first difference of two JSON values. `at` is a JSON Pointer (RFC 6901).
fn difference(recorded: &Value, found: &Value, at: &mut String) -> Option<String> {
    let length = at.len();
    let pairs: Vec<(String, &Value, &Value)> = match (recorded, found) {
        (Value::Object(recorded), Value::Object(found)) => {
            let keys =
                recorded.keys().chain(found.keys().filter(|key| !recorded.contains_key(*key)));
            let of = |key: &String| {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                (
                    escaped,
                    recorded.get(key).unwrap_or(&Value::Null),
                    found.get(key).unwrap_or(&Value::Null),
                )
            };
            keys.map(of).collect()
        }
        (Value::Array(recorded), Value::Array(found)) if recorded.len() == found.len() => {
            let both = recorded.iter().zip(found).enumerate();
            both.map(|(index, (one, other))| (index.to_string(), one, other)).collect()
        }
        _ if recorded == found => return None,
        _ => {
            return Some(format!(
                "at `{at}` found {}, recorded is {}",
                excerpt(found),
                excerpt(recorded)
            ));
        }
    };
    pairs.into_iter().find_map(|(key, recorded, found)| {
        at.truncate(length);
        at.push('/');
        at.push_str(&key);
        difference(recorded, found, at)
    })
}

/// The beginning of a value's text.
fn excerpt(value: &Value) -> String {
    const MOST: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl Exchange {
    fn from_value(value: &Value) -> Option<Self> {
        let (request, response) = (&value["request"], &value["response"]);
        let header =
            |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
        let body = match &response["body"] {
            Value::Array(lines) => {
                let lines: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
                lines?.join("\n").into_bytes()
            }
            body => BASE64.decode(body.get("base64")?.as_str()?).ok()?,
        };
        Some(Self {
            path: request["path"].as_str()?.to_owned(),
            request: request.get("body")?.clone(),
            status: u16::try_from(response["status"].as_u64()?).ok()?,
            headers: response["headers"].as_object()?.iter().map(header).collect::<Option<_>>()?,
            body,
        })
    }
}
