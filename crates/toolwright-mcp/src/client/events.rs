//! Server-sent events (HTML Standard, section 9.2.6), up to a size. The parser of `sse-stream` has no limit, and fails at lines that
//! the standard ignores.

use std::io;

use sse_stream::Sse;

/// Splits the bytes of a stream into events.
pub(super) struct Events {
    /// The maximum number of bytes of an event.
    max: usize,
    /// The bytes of the event so far.
    length: usize,
    event: Option<Sse>,
    line: Vec<u8>,
    /// True if the last byte was the first half of a line end.
    after_return: bool,
    has_line: bool,
}

impl Events {
    pub(super) fn new(max: usize) -> Self {
        Self { max, length: 0, event: None, line: Vec::new(), after_return: false, has_line: false }
    }

    /// Reads bytes, and adds the events that are complete. Unlike those of the standard, they may have an id and no data.
    ///
    /// # Errors
    ///
    /// If an event is too large or is not UTF-8.
    pub(super) fn feed(&mut self, mut bytes: &[u8], events: &mut Vec<Sse>) -> io::Result<()> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.length + self.line.len() + piece.len() > self.max {
                return Err(io::Error::other("an event is too large"));
            }
            self.line.extend_from_slice(piece);
            let Some(end) = rest.first() else { break };
            self.after_return = *end == b'\r';
            bytes = &rest[1..];
            let line = std::mem::take(&mut self.line);
            self.end_line(&line)?;
            if line.is_empty() {
                self.length = 0;
                events.extend(self.event.take());
            }
            // The buffer is used again.
            self.line = line;
            self.line.clear();
        }
        Ok(())
    }

    fn end_line(&mut self, line: &[u8]) -> io::Result<()> {
        let is_first = !std::mem::replace(&mut self.has_line, true);
        let mark: &[u8] = if is_first { b"\xef\xbb\xbf" } else { b"" };
        let line = line.strip_prefix(mark).unwrap_or(line);
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let is_kept = match &line[..colon] {
            b"data" | b"event" => true,
            b"id" => !value.contains(&0),
            b"retry" => !value.is_empty() && value.iter().all(u8::is_ascii_digit),
            // Comments, which keep connections alive, and unknown fields.
            _ => false,
        };
        if !is_kept {
            return Ok(());
        }
        self.length += line.len();
        let value = str::from_utf8(value).map_err(io::Error::other)?;
        let event = self.event.get_or_insert_default();
        match &line[..colon] {
            b"data" => match &mut event.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => event.data = Some(value.to_owned()),
            },
            b"event" => event.event = Some(value.to_owned()),
            b"id" => event.id = Some(value.to_owned()),
            _ => event.retry = Some(value.parse().unwrap_or(u64::MAX)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns events as `event id retry data`, with `-` for what is missing, or the error.
    fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>, max: usize) -> Result<Vec<String>, String> {
        let (mut reader, mut events) = (Events::new(max), Vec::new());
        for piece in pieces {
            reader.feed(piece, &mut events).map_err(|error| error.to_string())?;
        }
        let text = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
        let shown = events.into_iter().map(|Sse { event, data, id, retry }| {
            let retry = text(retry.map(|wait| wait.to_string()));
            format!("{} {} {retry} {}", text(event), text(id), text(data))
        });
        Ok(shown.collect())
    }

    #[test]
    fn streams_are_split_as_the_standard_says_however_they_are_divided() {
        for (stream, expected) in [
            ("", &[][..]),
            ("data: a\n\n", &["- - - a"]),
            ("data:a\r\rdata:  b\r\n\r\n", &["- - - a", "- - -  b"]),
            ("\u{feff}data: a\ndata\ndata: b\n\n\u{feff}data: c\n\n", &["- - - a\n\nb"]),
            ("event: x\nevent: y\nid: 1\nid: 2\nretry: 3\nretry: 4\n\n", &["y 2 4 -"]),
            ("id\ndata\n\n", &["-  - "]),
            (": hello\n\nfoo: bar\nfoo\n data: a\nDATA: a\nid: \0\nretry: 5s\nretry\n\n", &[]),
            ("retry: 99999999999999999999\n\n", &["- - 18446744073709551615 -"]),
            ("data: a\n\n\n\ndata: incomplete\n", &["- - - a"]),
        ] {
            let expected = Ok(expected.iter().map(|event| (*event).to_owned()).collect());
            let bytes = stream.as_bytes();
            for size in 1..=bytes.len().max(1) {
                assert_eq!(read(bytes.chunks(size), 100), expected, "{stream:?} in {size}");
            }
        }
    }

    #[test]
    fn an_event_that_is_too_large_or_not_utf8_is_an_error() {
        let comments = ": hello\nfoo: bar\n".repeat(10);
        let events = "data: abc\n\n".repeat(10);
        for stream in [&comments, &events] {
            assert!(read(stream.as_bytes().chunks(7), 16).is_ok());
        }
        for stream in ["data: 0123456789a", ": 0123456789abcdef", "data: 01\ndata: 23\nd"] {
            let error = read(stream.as_bytes().chunks(1), 16).unwrap_err();
            assert_eq!(error, "an event is too large", "{stream:?}");
        }
        assert!(read([&b"data: \xff\n\n"[..]].into_iter(), 16).is_err());
    }
}
