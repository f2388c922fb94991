//! Reads responses up to a maximum size.

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use toolwright::untrusted::visible;

use crate::credentials::Credentials;

/// The maximum number of bytes read of an error response's body.
const MAX_ERROR_BODY: usize = 16 << 10;

/// The maximum number of characters of an excerpt.
const MAX_EXCERPT: usize = 1000;

/// A response with its body.
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// True if the body was longer than the maximum.
    pub(crate) is_cut: bool,
    /// True if the response came after a redirect.
    pub(crate) is_redirected: bool,
}

impl Response {
    /// Reads at most `max` bytes of a successful response, and less of an error.
    pub(crate) async fn read(
        mut response: reqwest::Response,
        max: usize,
        is_redirected: bool,
    ) -> Result<Self, reqwest::Error> {
        let (status, headers) = (response.status(), response.headers().clone());
        let max = if status.is_success() { max } else { max.min(MAX_ERROR_BODY) };
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
        Ok(Self { status, headers, body, is_cut, is_redirected })
    }

    /// Returns the beginning of the body as one line, without credentials and hidden characters, or `None` if the body is
    /// blank.
    pub(crate) fn excerpt(&self, credentials: &Credentials) -> Option<String> {
        let body = String::from_utf8_lossy(&self.body);
        let text = if self.is_cut {
            credentials.redacted_beginning(&body)
        } else {
            credentials.redacted(&body)
        };
        // A secret may have other blanks in the body.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = credentials.redacted(&text);
        let mut shown: String = visible(&text).chars().take(MAX_EXCERPT).collect();
        if text.chars().count() > MAX_EXCERPT {
            shown.push('…');
        }
        (!shown.is_empty()).then_some(shown)
    }

    /// Returns the seconds of `Retry-After` (RFC 9110, section 10.2.3).
    pub(crate) fn retry_after(&self) -> Option<u32> {
        self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
    }
}
