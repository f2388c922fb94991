//! The event stream of AWS (`application/vnd.amazon.eventstream`), from pieces of any size. A message is its length, the length
//! of its headers, a checksum of both, the headers, a payload and a checksum of all before; numbers are big-endian.

use super::json::utf8;
use crate::draft::MOST_EVENT_BYTES;
use crate::error::ModelError;

/// The bytes before the headers.
const PRELUDE: usize = 12;

/// The bytes of a message without headers and payload.
const LEAST: usize = PRELUDE + 4;

/// Splits bytes into messages.
#[derive(Debug, Default)]
pub(super) struct EventStream {
    buffer: Vec<u8>,
}

impl EventStream {
    /// Reads bytes, and calls `each` with the name and the payload of every message that is complete. The name of an exception
    /// has `exception:` before it.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        each: &mut impl FnMut(&str, &str) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        self.buffer.extend_from_slice(bytes);
        let mut rest = self.buffer.as_slice();
        while let Some(length) = length(rest)?
            && let Some((message, after)) = rest.split_at_checked(length)
        {
            let (name, payload) = parts(message)?;
            each(&name, payload)?;
            rest = after;
        }
        let read = self.buffer.len() - rest.len();
        self.buffer.drain(..read);
        Ok(())
    }
}

/// Returns the length of the message that begins here, once its prelude is there.
fn length(bytes: &[u8]) -> Result<Option<usize>, ModelError> {
    let Some(prelude) = bytes.first_chunk::<PRELUDE>() else { return Ok(None) };
    if crc32fast::hash(&prelude[..8]) != number(&prelude[8..]) {
        return Err(malformed("the checksum of a message's lengths is wrong"));
    }
    let length = number(prelude) as usize;
    if !(LEAST..=MOST_EVENT_BYTES).contains(&length) {
        return Err(malformed(&format!(
            "a message has {length} bytes, expected {LEAST} to {MOST_EVENT_BYTES}"
        )));
    }
    Ok(Some(length))
}

/// Returns the name and the payload of a message.
fn parts(message: &[u8]) -> Result<(String, &str), ModelError> {
    let (message, checksum) = message.split_at(message.len() - 4);
    if crc32fast::hash(message) != number(checksum) {
        return Err(malformed("the checksum of a message is wrong"));
    }
    let end = PRELUDE.saturating_add(number(&message[4..]) as usize);
    let headers = message.get(PRELUDE..end);
    let mut headers = headers.ok_or_else(|| malformed("headers are longer than their message"))?;
    let (mut event, mut exception) = (None, None);
    while !headers.is_empty() {
        let (name, value, rest) =
            header(headers).ok_or_else(|| malformed("a header is not complete"))?;
        match name {
            b":event-type" => event = value,
            b":exception-type" | b":error-code" => exception = value,
            _ => {}
        }
        headers = rest;
    }
    let name = match exception {
        Some(exception) => format!("exception:{}", String::from_utf8_lossy(exception)),
        None => String::from_utf8_lossy(event.unwrap_or_default()).into_owned(),
    };
    Ok((name, utf8(&message[end..])?))
}

/// Splits off a header: its name, its value if that is a string, and the rest.
fn header(bytes: &[u8]) -> Option<(&[u8], Option<&[u8]>, &[u8])> {
    let (length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*length))?;
    let (kind, rest) = rest.split_first()?;
    let length = match kind {
        // True, false.
        0 | 1 => 0,
        2 => 1,
        3 => 2,
        4 => 4,
        // A long integer, a timestamp.
        5 | 8 => 8,
        9 => 16,
        // Bytes, a string.
        6 | 7 => {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            let (value, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
            return Some((name, (*kind == 7).then_some(value), rest));
        }
        _ => return None,
    };
    Some((name, None, rest.get(length..)?))
}

/// Reads the number at the beginning; zero if there are too few bytes.
fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

fn malformed(reason: &str) -> ModelError {
    ModelError::Malformed(format!("expected a stream of AWS events, but {reason}"))
}
