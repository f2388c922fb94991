//! An answer while it is read. It keeps ids unique, names canonical and sizes bounded, for all wires.

use std::collections::BTreeSet;

use toolwright::{Payload, untrusted};

use crate::error::{ModelError, line};
use crate::model::{
    Answer, Content, Delta, Message, ModelCall, ModelFacts, Opaque, Question, Stop, Usage,
};

/// The most bytes of an answer: texts, arguments and opaque parts together.
const MOST_BYTES: usize = 16 << 20;

/// The most bytes of one event of a stream.
pub(crate) const MOST_EVENT_BYTES: usize = 8 << 20;

/// The most parts of an answer.
pub(crate) const MOST_PARTS: usize = 1000;

/// The most bytes of the id of a call. Some gateways put signatures into ids.
const MOST_ID_BYTES: usize = 4096;

/// The beginning of the ids of calls that came without one. Wires that need no ids do not send them.
const MADE_ID: &str = "unnamed_";

/// Returns the id of a call for a wire on which calls need none.
pub(crate) fn own_id(id: &str) -> Option<&str> {
    (!id.starts_with(MADE_ID)).then_some(id)
}

/// An answer while it is read, for implementations of [`Model`](crate::Model). It keeps the ids of calls unique and the names of
/// tools canonical, and refuses an answer that is too large.
#[derive(Debug)]
pub struct Draft {
    /// Why the model stopped, once it is known. An answer without it is broken off.
    pub stop: Option<Stop>,
    /// The tokens, once they are known. Later reports replace earlier ones.
    pub usage: Option<Usage>,
    /// The id of the model that answers.
    pub model: String,
    /// True once the answer is complete. Later events are ignored.
    pub(crate) is_over: bool,
    /// Counts what was added to the answer and what was shown of it.
    pub(crate) changes: usize,
    provider: String,
    /// Names on the wire that differ from the canonical ones.
    renamed: Vec<(String, String)>,
    ids: BTreeSet<String>,
    calls: usize,
    size: usize,
    parts: Vec<Part>,
    pub(crate) deltas: Vec<Delta>,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Call { id: String, name: String, args: String },
    Opaque(Opaque),
}

/// The place of a call in a [`Draft`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallPlace {
    part: usize,
    call: usize,
}

impl Draft {
    /// Creates the draft of an answer to a question.
    pub fn new(facts: &ModelFacts, question: &Question<'_>) -> Self {
        let tools = question.tools.tools.iter();
        let renamed = tools.filter(|tool| tool.name != tool.projection.wire_name);
        let parts = question.messages.iter().flat_map(|message| match message {
            Message::Assistant(parts) => parts.as_slice(),
            Message::System(_) | Message::User(_) | Message::Results(_) => &[],
        });
        let ids = parts.filter_map(|part| match part {
            Content::Call(call) => Some(call.id.clone()),
            Content::Text(_) | Content::Opaque(_) => None,
        });
        Self {
            stop: None,
            usage: None,
            model: String::new(),
            is_over: false,
            changes: 0,
            provider: facts.provider.clone(),
            renamed: renamed
                .map(|tool| (tool.projection.wire_name.clone(), tool.name.to_owned()))
                .collect(),
            ids: ids.collect(),
            calls: 0,
            size: 0,
            parts: Vec::new(),
            deltas: Vec::new(),
        }
    }

    /// Takes the pieces that came since this was last called. Successive pieces of one text are joined.
    pub fn deltas(&mut self) -> Vec<Delta> {
        std::mem::take(&mut self.deltas)
    }

    /// Adds a text; one that follows a text continues it.
    ///
    /// # Errors
    ///
    /// If the answer is too large.
    pub fn text(&mut self, text: &str) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        self.grow(text.len())?;
        self.show(text, Delta::Text);
        match self.parts.last_mut() {
            Some(Part::Text(before)) => before.push_str(text),
            _ => self.add(Part::Text(text.to_owned()))?,
        }
        Ok(())
    }

    /// Passes on a piece of reasoning for display; it is not part of the answer. For parts that must go back, see
    /// [`opaque`](Self::opaque).
    pub fn reasoning(&mut self, text: &str) {
        self.show(text, Delta::Reasoning);
    }

    /// Shows a piece of a text without adding it. It is joined with the last piece if both are of the same text.
    pub(crate) fn show(&mut self, text: &str, piece: impl Fn(String) -> Delta) {
        self.changes += usize::from(!text.is_empty());
        match (self.deltas.last_mut(), piece(String::new())) {
            _ if text.is_empty() => {}
            (Some(Delta::Text(before)), Delta::Text(_))
            | (Some(Delta::Reasoning(before)), Delta::Reasoning(_)) => before.push_str(text),
            (Some(Delta::Args { call: last, text: before }), Delta::Args { call, .. })
                if *last == call =>
            {
                before.push_str(text);
            }
            _ => self.deltas.push(piece(text.to_owned())),
        }
    }

    /// Returns the canonical name of a tool. One that the model made up is cut, on one line and visible, as it is in messages.
    pub(crate) fn canonical(&self, name: &str) -> String {
        let renamed = self.renamed.iter().find(|(wire, _)| wire == name);
        renamed.map_or_else(|| line(name), |(_, canonical)| canonical.clone())
    }

    /// Begins a call. An id that is missing, taken, longer than 4 KiB or not visible is replaced.
    ///
    /// # Errors
    ///
    /// If the answer is too large.
    pub fn call(&mut self, id: &str, name: &str) -> Result<CallPlace, ModelError> {
        let place = CallPlace { part: self.parts.len(), call: self.calls };
        let name = self.canonical(name);
        self.grow(id.len() + name.len())?;
        self.deltas.push(Delta::Call { call: place.call, name: name.clone() });
        let id = self.unique(id);
        self.add(Part::Call { id, name, args: String::new() })?;
        self.calls += 1;
        Ok(place)
    }

    fn unique(&mut self, id: &str) -> String {
        let made = (self.ids.len()..).map(|number| format!("{MADE_ID}{number}"));
        let is_usable = !id.is_empty() && untrusted::line(id, MOST_ID_BYTES) == id;
        let own = is_usable.then(|| id.to_owned());
        let mut free = own.into_iter().chain(made);
        let id = free.find(|id| !self.ids.contains(id)).unwrap_or_default();
        self.ids.insert(id.clone());
        id
    }

    /// Adds to the arguments of a call.
    ///
    /// # Errors
    ///
    /// If the answer is too large.
    pub fn args(&mut self, place: CallPlace, text: &str) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        self.grow(text.len())?;
        if let Some(Part::Call { args, .. }) = self.parts.get_mut(place.part) {
            args.push_str(text);
            self.show(text, |text| Delta::Args { call: place.call, text });
        }
        Ok(())
    }

    /// Adds a part that only the provider understands.
    ///
    /// # Errors
    ///
    /// If the answer is too large.
    pub fn opaque(&mut self, kind: &str, json: String) -> Result<(), ModelError> {
        self.grow(json.len())?;
        let part = Opaque { provider: self.provider.clone(), kind: kind.to_owned(), json };
        self.add(Part::Opaque(part))
    }

    /// Ends the answer. A model that made calls and stopped waits for their results, even if the provider reports a normal end.
    ///
    /// # Errors
    ///
    /// If the answer broke off: there is no reason for its end.
    pub fn finish(self) -> Result<Answer, ModelError> {
        let Some(mut stop) = self.stop else {
            let message = "found its end before the model said why it stopped; ask again";
            return Err(ModelError::Interrupted(message.to_owned()));
        };
        if self.calls > 0 && stop == Stop::End {
            stop = Stop::Calls;
        }
        let stop = match stop {
            Stop::Refused(words) => Stop::Refused(line(&words)),
            Stop::Other(word) => Stop::Other(line(&word)),
            known => known,
        };
        let content = self.parts.into_iter().map(|part| match part {
            Part::Text(text) => Content::Text(text),
            Part::Call { id, name, args } => {
                Content::Call(ModelCall { id, name, args: Payload::new(args) })
            }
            Part::Opaque(opaque) => Content::Opaque(opaque),
        });
        let (content, model) = (content.collect(), line(&self.model));
        Ok(Answer { content, stop, usage: self.usage, model })
    }

    fn add(&mut self, part: Part) -> Result<(), ModelError> {
        if self.parts.len() == MOST_PARTS {
            let message = format!("found more than {MOST_PARTS} parts, expected a shorter answer");
            return Err(ModelError::Malformed(message));
        }
        self.parts.push(part);
        Ok(())
    }

    /// Counts bytes of the answer.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.changes += 1;
        self.size += bytes;
        if self.size > MOST_BYTES {
            let most = MOST_BYTES >> 20;
            let message = format!("found more than {most} MiB, expected a shorter answer");
            return Err(ModelError::Malformed(message));
        }
        Ok(())
    }
}
