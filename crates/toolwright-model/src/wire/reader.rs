//! Reads streamed answers, in pieces of any size.

use std::fmt;

#[cfg(feature = "bedrock")]
use super::event_stream::EventStream;
use super::json;
use super::sse::Sse;
use crate::draft::Draft;
use crate::error::{ModelError, first_line};
use crate::model::{Answer, Delta, Usage};

/// The most bytes of a stream.
const MOST_BYTES: usize = 64 << 20;

/// The bytes at the beginning of an answer that are kept for messages.
const BEGINNING: usize = 400;

/// The events of one API.
pub(super) trait Events: Send {
    /// Reads an event.
    fn event(&mut self, name: &str, payload: &str) -> Result<(), ModelError>;

    /// The answer so far.
    fn draft(&mut self) -> &mut Draft;

    /// Ends the answer.
    fn end(self: Box<Self>) -> Result<Answer, ModelError>;
}

/// Splits a stream into events.
enum Frames {
    Sse(Sse),
    #[cfg(feature = "bedrock")]
    EventStream(EventStream),
}

/// Reads a streamed answer. However its bytes are divided, the result is the same.
pub struct Reader {
    frames: Frames,
    events: Box<dyn Events>,
    beginning: Vec<u8>,
    read: usize,
    has_event: bool,
    error: Option<ModelError>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Reader").field("read", &self.read).finish_non_exhaustive()
    }
}

impl Reader {
    pub(super) fn of_sse(events: impl Events + 'static) -> Self {
        Self::new(Frames::Sse(Sse::default()), Box::new(events))
    }

    #[cfg(feature = "bedrock")]
    pub(super) fn of_event_stream(events: impl Events + 'static) -> Self {
        Self::new(Frames::EventStream(EventStream::default()), Box::new(events))
    }

    fn new(frames: Frames, events: Box<dyn Events>) -> Self {
        let (beginning, read, has_event, error) = (Vec::new(), 0, false, None);
        Self { frames, events, beginning, read, has_event, error }
    }

    /// Reads the next bytes and returns the pieces of the answer in them. Ignores bytes after an error or the end.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Delta> {
        if self.is_over() {
            return Vec::new();
        }
        self.read += bytes.len();
        let room = BEGINNING - self.beginning.len();
        self.beginning.extend_from_slice(&bytes[..bytes.len().min(room)]);
        let (events, has_event) = (&mut self.events, &mut self.has_event);
        let mut is_complete = false;
        let mut each = |name: &str, payload: &str| {
            *has_event = true;
            if events.draft().is_over {
                return Ok(());
            }
            events.event(name, &json::without_halves(payload))?;
            is_complete = events.draft().is_over;
            Ok(())
        };
        let mut result = match &mut self.frames {
            Frames::Sse(frames) => frames.feed(bytes, &mut each),
            #[cfg(feature = "bedrock")]
            Frames::EventStream(frames) => frames.feed(bytes, &mut each),
        };
        if is_complete {
            result = Ok(());
        }
        if self.read > MOST_BYTES && result.is_ok() && !self.events.draft().is_over {
            let most = MOST_BYTES >> 20;
            let message = format!("found more than {most} MiB, expected a shorter answer");
            result = Err(ModelError::Malformed(message));
        }
        self.error = result.err();
        self.events.draft().deltas()
    }

    /// Returns true if further bytes have no effect: the answer is complete, or broken.
    pub fn is_over(&mut self) -> bool {
        self.error.is_some() || self.events.draft().is_over
    }

    /// Returns a number that is another one after each event that adds to the answer or ends it. An event that only keeps the
    /// connection open does not change it.
    #[cfg(feature = "client")]
    pub(crate) fn progress(&mut self) -> usize {
        let draft = self.events.draft();
        draft.changes + usize::from(draft.stop.is_some())
    }

    /// Returns the tokens that were reported so far.
    pub fn usage(&mut self) -> Option<Usage> {
        self.events.draft().usage
    }

    /// Ends the answer.
    ///
    /// # Errors
    ///
    /// If the stream broke off, was too large or is not what the API describes, or if the provider sent an error.
    pub fn end(self) -> Result<Answer, ModelError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if !self.has_event {
            let beginning = first_line(&String::from_utf8_lossy(&self.beginning));
            let message = format!("expected a stream of events; it begins with `{beginning}`");
            return Err(ModelError::Malformed(message));
        }
        self.events.end()
    }
}
