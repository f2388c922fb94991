//! Requests to the servers over HTTP/1.1, whose answers are short.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(30);

/// Makes a request with a body of JSON, and returns the status of the answer and its text.
pub(crate) fn request(
    port: u16,
    method: &str,
    path: &str,
    body: &str,
) -> io::Result<(u16, String)> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.ok_or(io::ErrorKind::InvalidData)?, answer))
}
