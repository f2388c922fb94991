//! Server-sent events (HTML Standard, section 9.2.6), from pieces of any size. Libraries for them read from sockets or async
//! streams, and have no limits.

use super::json::utf8;
use crate::draft::MOST_EVENT_BYTES;
use crate::error::ModelError;

/// Splits bytes into events.
#[derive(Debug, Default)]
pub(super) struct Sse {
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// True if the last byte was the first half of a line end.
    after_return: bool,
    has_line: bool,
}

impl Sse {
    /// Reads bytes, and calls `each` with the name and the data of every event that is complete.
    pub(super) fn feed(
        &mut self,
        mut bytes: &[u8],
        each: &mut impl FnMut(&str, &str) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', bytes);
            let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.line.len() + piece.len() + self.data.len() > MOST_EVENT_BYTES {
                let most = MOST_EVENT_BYTES >> 20;
                let message = format!("found an event of more than {most} MiB, expected a smaller");
                return Err(ModelError::Malformed(message));
            }
            let Some(end) = rest.first() else {
                self.line.extend_from_slice(piece);
                return Ok(());
            };
            self.after_return = *end == b'\r';
            bytes = &rest[1..];
            if self.line.is_empty() {
                self.end_line(piece, each)?;
                continue;
            }
            let mut line = std::mem::take(&mut self.line);
            line.extend_from_slice(piece);
            self.end_line(&line, each)?;
            // The buffer is used again.
            self.line = line;
            self.line.clear();
        }
        Ok(())
    }

    fn end_line(
        &mut self,
        line: &[u8],
        each: &mut impl FnMut(&str, &str) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        let is_first = !std::mem::replace(&mut self.has_line, true);
        let mark = if is_first { &b"\xef\xbb\xbf"[..] } else { &[] };
        let line = line.strip_prefix(mark).unwrap_or(line);
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                each(&String::from_utf8_lossy(&self.name), utf8(&self.data)?)?;
            }
            self.name.clear();
            self.data.clear();
            return Ok(());
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            // Comments, which keep connections alive, ids and delays.
            _ => {}
        }
        Ok(())
    }
}
