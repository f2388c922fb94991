//! The server.

use std::fmt;
use std::io;
#[cfg(feature = "record")]
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use axum::serve::ListenerExt as _;
use futures_util::stream::{self, StreamExt as _};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

#[cfg(feature = "record")]
use crate::record::Recorder;
use crate::reply::{Ending, Pieces, Reply, Script};
use crate::request::{Api, ReceivedRequest};
use crate::twin;
use crate::wire;

/// The most bytes of a request.
const MOST_BYTES: usize = 64 << 20;

/// A server that plays a model. It stops when it is dropped.
pub struct Stage {
    base: String,
    shared: Arc<Shared>,
    server: AbortHandle,
}

impl fmt::Debug for Stage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Stage").field("base", &self.base).finish_non_exhaustive()
    }
}

struct Shared {
    script: Script,
    #[cfg(feature = "record")]
    recorder: Option<Recorder>,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    requests: Vec<ReceivedRequest>,
    refusals: Vec<String>,
    replies: usize,
    /// Signatures of reasoning that the client has to send back.
    signatures: Vec<String>,
}

impl Stage {
    /// Starts the server on a free port of loopback.
    ///
    /// # Errors
    ///
    /// If no port can be opened.
    pub async fn start(script: Script) -> io::Result<Self> {
        Self::serve(Shared {
            script,
            #[cfg(feature = "record")]
            recorder: None,
            log: Mutex::default(),
        })
        .await
    }

    /// Starts a server on a free port of loopback that forwards requests to a provider, and writes them and the responses into a
    /// file. [`Script::replay`] plays it. The base address of the client under test must be that of the stage, and `upstream`
    /// the base address of the provider, such as `https://api.openai.com/v1`; `https` needs the feature `tls`.
    ///
    /// The file holds the path and the body of each request, and the status, five headers and the body of each response. Headers
    /// of requests are not written, and the key is replaced in all texts, but not in the pieces of a stream. A file that exists is replaced. The client gets each
    /// response once it is complete. Requests that are signed for their host (`SigV4`) cannot be forwarded.
    ///
    /// # Errors
    ///
    /// If no port can be opened, or `upstream` is not an address.
    #[cfg(feature = "record")]
    pub async fn record(path: impl Into<PathBuf>, upstream: &str) -> io::Result<Self> {
        let recorder = Some(Recorder::new(path.into(), upstream)?);
        Self::serve(Shared { script: Script::new(), recorder, log: Mutex::default() }).await
    }

    async fn serve(shared: Shared) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let base = format!("http://{}", listener.local_addr()?);
        let shared = Arc::new(shared);
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        // Small pieces go out at once.
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let server = tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { base, shared, server: server.abort_handle() })
    }

    /// The address to use as the base address of a client.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the requests so far, those that were refused included.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.log().requests.clone()
    }

    /// Returns why requests were refused, with the number of the request.
    pub fn refusals(&self) -> Vec<String> {
        self.shared.log().refusals.clone()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    fn log(&self) -> std::sync::MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response<Body> {
    let Ok(body) = axum::body::to_bytes(body, MOST_BYTES).await else {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large");
    };
    let path = uri.to_string();
    let Some((api, is_stream)) = Api::of(&path) else {
        return plain(StatusCode::NOT_FOUND, "no API has this path");
    };
    let headers = headers.iter().map(|(name, value)| {
        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let text = String::from_utf8_lossy(&body).into_owned();
    let json = serde_json::from_str(&text).unwrap_or_default();
    let mut received =
        ReceivedRequest { number: 0, api, path, headers: headers.collect(), text, body: json };
    #[cfg(feature = "record")]
    if let Some(recorder) = &shared.recorder {
        {
            let mut log = shared.log();
            received.number = log.requests.len();
            log.requests.push(received.clone());
        }
        return match recorder.forward(&received).await {
            Ok(response) => response,
            Err(reason) => {
                shared.log().refusals.push(format!("request {}: {reason}", received.number));
                plain(StatusCode::BAD_GATEWAY, &reason)
            }
        };
    }
    let is_stream = is_stream.unwrap_or_else(|| received.body["stream"] == true);
    let (reply, number) = {
        let mut log = shared.log();
        received.number = log.requests.len();
        log.requests.push(received.clone());
        let faults = match shared.script.twin {
            Some(dialect) => twin::faults(&received, dialect, &log.signatures),
            None => Vec::new(),
        };
        let number = received.number;
        log.refusals.extend(faults.iter().map(|fault| format!("request {number}: {fault}")));
        if let Some(fault) = faults.first() {
            let body = wire::error(api, 400, fault);
            (Reply::body(400, body), number)
        } else {
            let reply = shared.script.replies.get(log.replies);
            let over = || Reply::body(500, wire::error(api, 500, "the script has no reply left"));
            let reply = reply.map_or_else(over, |reply| reply(&received));
            log.replies += usize::from(reply.refusal.is_none());
            log.refusals
                .extend(reply.refusal.iter().map(|reason| format!("request {number}: {reason}")));
            (reply, number)
        }
    };
    tokio::time::sleep(reply.delay).await;
    let written = wire::write(api, &received, &reply, number, shared.script.twin, is_stream);
    shared.log().signatures.extend(written.signatures);
    let mut response = Response::builder().status(reply.status);
    if !reply.headers.iter().any(|(name, _)| name == header::CONTENT_TYPE.as_str()) {
        response = response.header(header::CONTENT_TYPE, written.content_type);
    }
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    let body = pieces(written.body, shared.script.pieces, reply.ending);
    response.body(body).unwrap_or_else(|error| {
        plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("the script is wrong: {error}"))
    })
}

fn plain(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(text.to_owned()));
    *response.status_mut() = status;
    response
}

/// Divides a body, and ends it as a reply says.
fn pieces(mut body: Vec<u8>, pieces: Pieces, ending: Ending) -> Body {
    if let Ending::Cut(bytes) | Ending::Silence(bytes) = ending {
        body.truncate(bytes);
    }
    let size = match pieces {
        Pieces::Whole => body.len().max(1),
        Pieces::Bytes(bytes) => bytes.max(1),
    };
    let chunks: Vec<_> = body.chunks(size).map(Bytes::copy_from_slice).collect();
    // Without a pause, neighbors would be sent together.
    let paced = stream::iter(chunks).then(|chunk| async {
        tokio::task::yield_now().await;
        Ok::<_, io::Error>(chunk)
    });
    match ending {
        Ending::Whole => Body::from_stream(paced),
        Ending::Cut(_) => {
            let broken = stream::once(async { Err(io::Error::other("the script cuts here")) });
            Body::from_stream(paced.chain(broken))
        }
        Ending::Silence(_) => Body::from_stream(paced.chain(stream::pending())),
    }
}
