//! Finds the id of a message that is too large to keep, while the message is discarded.

use rmcp::model::RequestId;

/// The number of bytes kept of a key or an id.
const MAX_TOKEN: usize = 80;

/// Reads a JSON object byte by byte for its `id`.
#[derive(Debug, Default)]
pub(crate) struct IdScanner {
    depth: usize,
    in_string: bool,
    escaped: bool,
    is_id: bool,
    /// The bytes read so far of a key or value of the outermost object.
    token: Vec<u8>,
    id: Option<RequestId>,
}

impl IdScanner {
    /// Scans the next bytes of the message.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string {
                self.string(byte);
            } else {
                self.structure(byte);
            }
        }
    }

    /// Returns the id of the message, if it has one.
    pub(crate) fn id(self) -> Option<RequestId> {
        self.id
    }

    fn string(&mut self, byte: u8) {
        self.keep(byte);
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => self.in_string = false,
            _ => {}
        }
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.is_id = self.token == b"\"id\"";
                self.token.clear();
            }
            b',' if self.depth == 1 => self.end_value(),
            byte if !byte.is_ascii_whitespace() => self.keep(byte),
            _ => {}
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < MAX_TOKEN {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        if std::mem::take(&mut self.is_id) {
            self.id = serde_json::from_slice(&self.token).ok();
        }
        self.token.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::IdScanner;

    #[test]
    fn the_id_of_a_message_is_found_at_any_position() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"id":1}}"#, Some("7")),
            (r#"{ "result" : { "id" : 1, "a":[{"id":2}] } , "id" : "a\"b" }"#, Some("a\"b")),
            (r#"{"result":"\"id\":9,{[","id":3}"#, Some("3")),
            (r#"{"id":{"x":1},"result":1}"#, None),
            (r#"{"jsonrpc":"2.0","method":"id"}"#, None),
            (r"[1,2", None),
        ];
        for (text, expected) in cases {
            for size in [1, 3, text.len()] {
                let mut scanner = IdScanner::default();
                text.as_bytes().chunks(size).for_each(|chunk| scanner.feed(chunk));
                assert_eq!(scanner.id().map(|id| id.to_string()).as_deref(), expected, "{text}");
            }
        }
    }
}
