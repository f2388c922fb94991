//! Collects warnings about what an import changed or left out, and groups equal ones.

use std::collections::BTreeMap;
use std::fmt;

use toolwright::untrusted::line;

/// The longest printed message in bytes.
const LONGEST_MESSAGE: usize = 2000;

/// The longest printed place in bytes.
const LONGEST_PLACE: usize = 200;

/// The maximum number of places that one warning names when it is shown.
const SHOWN_PLACES: usize = 4;

/// One kind of change that an import made to the server's tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What was found and what was done, as one sentence without a full stop.
    pub message: String,
    /// All places of the change: a tool's name on the server and, for a schema, `args` or `result` and a JSON Pointer. Empty
    /// if the warning is about the whole list.
    pub places: Vec<String>,
}

/// Collects warnings in the order in which their messages first occur.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    found: Vec<Warning>,
    /// The index in `found` of each message.
    indexes: BTreeMap<String, usize>,
}

/// The schema that warnings are about, and their collector.
pub(super) struct Subject<'a> {
    /// The tool's name on the server.
    pub(super) tool: &'a str,
    /// `args` or `result`.
    pub(super) side: &'static str,
    /// The collector of the warnings.
    pub(super) warnings: &'a mut Warnings,
}

impl Warnings {
    /// Adds a warning about a place. Places of equal messages are grouped.
    pub(super) fn at(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.warning(message.into()).places.push(cut(place.into(), LONGEST_PLACE));
    }

    /// Adds a warning about the whole list.
    pub(super) fn add(&mut self, message: impl Into<String>) {
        self.warning(message.into());
    }

    /// The warnings.
    pub(super) fn into_vec(self) -> Vec<Warning> {
        self.found
    }

    fn warning(&mut self, message: String) -> &mut Warning {
        let message = cut(message, LONGEST_MESSAGE);
        let index = *self.indexes.entry(message).or_insert_with_key(|message| {
            self.found.push(Warning { message: message.clone(), places: Vec::new() });
            self.found.len() - 1
        });
        &mut self.found[index]
    }
}

/// Cuts a text that is longer than what is printed of it: a long name may be in thousands of them.
fn cut(mut text: String, longest: usize) -> String {
    // One byte more shows that something is missing.
    if text.len() > longest + 1 {
        text.truncate(text.ceil_char_boundary(longest + 1));
        text.shrink_to_fit();
    }
    text
}

impl Subject<'_> {
    /// Adds a warning at a JSON Pointer of the schema.
    pub(super) fn warn(&mut self, pointer: &str, message: impl Into<String>) {
        let place = format!("{} {} {pointer}", self.tool, self.side);
        self.warnings.at(place.trim_end(), message);
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&line(&self.message, LONGEST_MESSAGE))?;
        let places = self.places.iter().take(SHOWN_PLACES);
        let shown: Vec<String> = places.map(|place| line(place, LONGEST_PLACE)).collect();
        if shown.is_empty() {
            return Ok(());
        }
        let (count, shown) = (self.places.len(), shown.join(", "));
        if count > SHOWN_PLACES {
            write!(f, ", at {count} places, such as {shown}")
        } else {
            write!(f, ": {shown}")
        }
    }
}
