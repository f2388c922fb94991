//! Scripts: what a model answers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolwright_dialect::{Dialect, DialectError};

use crate::request::ReceivedRequest;

type Decide = Arc<dyn Fn(&ReceivedRequest) -> Reply + Send + Sync>;

/// The replies of a stage, one after another. A request after the last reply gets status 500.
#[derive(Clone, Default)]
pub struct Script {
    pub(crate) replies: Vec<Decide>,
    pub(crate) pieces: Pieces,
    pub(crate) twin: Option<&'static Dialect>,
}

impl fmt::Debug for Script {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let twin = self.twin.map(Dialect::id);
        let mut shown = out.debug_struct("Script");
        shown.field("replies", &self.replies.len()).field("pieces", &self.pieces);
        shown.field("twin", &twin).finish()
    }
}

impl Script {
    /// Creates a script without replies.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a reply.
    #[must_use]
    pub fn reply(self, reply: Reply) -> Self {
        self.then(move |_| reply.clone())
    }

    /// Adds a reply that depends on the request.
    #[must_use]
    pub fn then(
        mut self,
        reply: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> Self {
        self.replies.push(Arc::new(reply));
        self
    }

    /// Sets the size of the pieces in which answers are sent.
    #[must_use]
    pub fn in_pieces(mut self, pieces: Pieces) -> Self {
        self.pieces = pieces;
        self
    }

    /// Refuses requests that break a rule of a dialect, as the provider would. Refused requests use up no reply.
    ///
    /// # Errors
    ///
    /// If there is no such dialect.
    pub fn as_twin_of(mut self, dialect: &str) -> Result<Self, DialectError> {
        self.twin = Some(Dialect::find(dialect)?);
        Ok(self)
    }
}

/// The size of the pieces in which an answer is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pieces {
    /// All at once.
    #[default]
    Whole,
    /// This many bytes at a time, at least one.
    Bytes(usize),
}

/// A reply: an answer of the model, or a fault.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(crate) parts: Vec<Part>,
    pub(crate) stop: Option<Stop>,
    /// Tokens of the question and of the answer.
    pub(crate) usage: Option<[u64; 2]>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) status: u16,
    pub(crate) body: Option<Vec<u8>>,
    /// The reason for which the request counts as refused.
    pub(crate) refusal: Option<String>,
    pub(crate) ending: Ending,
    pub(crate) delay: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    Reasoning(String),
    Call { id: Option<String>, name: String, args: String },
}

/// The reason for which the model stopped, if it had neither finished nor made a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Length,
    Filtered,
}

/// The end of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Whole,
    /// The connection breaks after this many bytes.
    Cut(usize),
    /// Nothing comes after this many bytes, and the connection stays open.
    Silence(usize),
}

impl Reply {
    fn new(status: u16, parts: Vec<Part>, body: Option<Vec<u8>>) -> Self {
        Self {
            parts,
            stop: None,
            usage: Some([100, 10]),
            headers: Vec::new(),
            status,
            body,
            refusal: None,
            ending: Ending::Whole,
            delay: Duration::ZERO,
        }
    }

    /// An answer with a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(200, vec![Part::Text(text.into())], None)
    }

    /// An answer with a call: the name of the tool, and the arguments as the model writes them. The name is that on the wire,
    /// or the canonical one if the stage is the twin of a dialect.
    pub fn call(name: impl Into<String>, args: impl Into<String>) -> Self {
        Self::new(200, Vec::new(), None).and_call(name, args)
    }

    /// An answer without text and calls.
    pub fn nothing() -> Self {
        Self::new(200, Vec::new(), None)
    }

    /// A response with a status, whose body is an error as the provider writes it.
    pub fn status(status: u16) -> Self {
        Self::new(status, Vec::new(), None)
    }

    /// A response with a body that is not an answer.
    pub fn body(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::new(status, Vec::new(), Some(body.into()))
    }

    pub(crate) fn refusing(mut self, reason: String) -> Self {
        self.refusal = Some(reason);
        self
    }

    /// Adds a text to the answer.
    #[must_use]
    pub fn and_text(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Text(text.into()));
        self
    }

    /// Adds a call to the answer.
    #[must_use]
    pub fn and_call(mut self, name: impl Into<String>, args: impl Into<String>) -> Self {
        self.parts.push(Part::Call { id: None, name: name.into(), args: args.into() });
        self
    }

    /// Sets the id of the last call. Without it, the stage makes a unique id, except in Gemini's API, where the call then has none.
    #[must_use]
    pub fn with_id(mut self, new: impl Into<String>) -> Self {
        if let Some(Part::Call { id, .. }) = self.parts.last_mut() {
            *id = Some(new.into());
        }
        self
    }

    /// Puts reasoning before the rest of the answer. It has a signature that the client has to send back.
    #[must_use]
    pub fn with_reasoning(mut self, text: impl Into<String>) -> Self {
        self.parts.insert(0, Part::Reasoning(text.into()));
        self
    }

    /// Ends the answer at the limit of tokens.
    #[must_use]
    pub fn cut_off_at_its_limit(mut self) -> Self {
        self.stop = Some(Stop::Length);
        self
    }

    /// Ends the answer at a filter of the provider.
    #[must_use]
    pub fn filtered(mut self) -> Self {
        self.stop = Some(Stop::Filtered);
        self
    }

    /// Sets the tokens of the question and of the answer; none if the provider reports none.
    #[must_use]
    pub fn with_usage(mut self, usage: Option<[u64; 2]>) -> Self {
        self.usage = usage;
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Breaks the connection after this many bytes of the body.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.ending = Ending::Cut(bytes);
        self
    }

    /// Sends nothing more after this many bytes of the body.
    #[must_use]
    pub fn silent_after(mut self, bytes: usize) -> Self {
        self.ending = Ending::Silence(bytes);
        self
    }

    /// Waits before the response.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}
