//! A server on loopback that answers requests one after another, from a script.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The reaction of the server to a request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Writes these bytes and closes the connection.
    Bytes(Vec<u8>),
    /// Writes these bytes and then nothing, with the connection open.
    Silence(Vec<u8>),
    /// Writes these bytes after one another, with 50 ms between them, and closes the connection.
    Pieces(Vec<Vec<u8>>),
}

impl Reply {
    /// A response with a status, headers and a body.
    pub(crate) fn new(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Self {
        let head = format!("HTTP/1.1 {status} Reply\r\nconnection: close\r\n{headers}\r\n");
        Self::Bytes([head.as_bytes(), body.as_ref()].concat())
    }

    /// A stream of server-sent events.
    pub(crate) fn stream(body: impl AsRef<[u8]>) -> Self {
        Self::new(200, "content-type: text/event-stream\r\n", body)
    }

    /// The same bytes, but the connection stays open.
    pub(crate) fn then_silence(self) -> Self {
        match self {
            Self::Bytes(bytes) | Self::Silence(bytes) => Self::Silence(bytes),
            Self::Pieces(pieces) => Self::Silence(pieces.concat()),
        }
    }
}

/// A server with a script. The last reply is repeated.
pub(crate) struct Server {
    /// The base address.
    pub(crate) base: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server.
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut replies = replies.into_iter();
            let mut reply = replies.next().unwrap();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = request(&mut stream).await;
                seen.lock().unwrap().push(request);
                match &reply {
                    Reply::Bytes(bytes) => {
                        let _ = stream.write_all(bytes).await;
                        let _ = stream.shutdown().await;
                    }
                    Reply::Pieces(pieces) => {
                        for piece in pieces {
                            let _ = stream.write_all(piece).await;
                            tokio::time::sleep(Duration::from_millis(50)).await;
                        }
                    }
                    Reply::Silence(bytes) => {
                        let _ = stream.write_all(bytes).await;
                        tokio::spawn(async move {
                            tokio::time::sleep(Duration::from_mins(1)).await;
                            drop(stream);
                        });
                    }
                }
                reply = replies.next().unwrap_or(reply);
            }
        });
        Self { base, requests }
    }

    /// Returns the requests so far: head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Reads a request with the length in its head.
async fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok()
            });
            if body.len() >= length.unwrap_or_default() {
                return text;
            }
        }
        let mut buffer = [0; 4096];
        let read = stream.read(&mut buffer).await.unwrap_or_default();
        if read == 0 {
            return text;
        }
        bytes.extend_from_slice(&buffer[..read]);
    }
}
