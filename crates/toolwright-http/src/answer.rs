//! Answers as they come off the wire, up to a size. Never what they mean.

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use toolwright::untrusted::visible;

use crate::credentials::Credentials;

/// How much of an answer that is no result is read.
const MAX_SAID: usize = 16 << 10;

/// How many characters of it are told.
const SHOWN: usize = 1000;

/// A whole answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// Whether the body went on.
    pub(crate) is_cut: bool,
}

impl Answer {
    /// Reads an answer; a result up to a size, anything else as far as somebody will read it.
    pub(crate) async fn read(mut response: Response, max: usize) -> Result<Self, reqwest::Error> {
        let (status, headers) = (response.status(), response.headers().clone());
        let max = if status.is_success() { max } else { max.min(MAX_SAID) };
        let mut body = Vec::new();
        let mut is_cut = false;
        while let Some(chunk) = response.chunk().await? {
            let room = max - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                is_cut = true;
                break;
            }
        }
        Ok(Self { status, headers, body, is_cut })
    }

    /// What the service said, for people: its beginning, on one line, with nothing hidden in it and without secrets; nothing
    /// where it said nothing.
    pub(crate) fn said(&self, credentials: &Credentials) -> Option<String> {
        let text = credentials.redacted(&String::from_utf8_lossy(&self.body));
        let mut words: Vec<&str> = text.split_whitespace().collect();
        if self.is_cut {
            // It may be the beginning of a secret.
            words.pop();
        }
        let text = words.join(" ");
        let mut shown: String = visible(&text).chars().take(SHOWN).collect();
        if text.chars().count() > SHOWN {
            shown.push('…');
        }
        (!shown.is_empty()).then_some(shown)
    }

    /// How many seconds the service asks to be left alone (RFC 9110, 10.2.3).
    pub(crate) fn wait(&self) -> Option<u32> {
        self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
    }
}
