//! The toolset `scratchpad`: notes that an agent keeps during a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright::spec::{ToolAnnotations, ToolsetInfo};
use toolwright::{Scope, ToolFailure, ToolSpec};
use toolwright_runtime::tools::{Combined, IntoSource, Json};
use toolwright_runtime::{FunctionTool, Source};

use crate::stateful::{Saved, State, Stateful};
use crate::{CHANGES, READS, rejected, shown};

/// The most bytes of keys and texts that a run may keep.
const MAX_BYTES: usize = 1_000_000;

/// How many characters a key and a text may have.
const LONGEST_KEY: usize = 200;
const LONGEST_TEXT: usize = 100_000;

static SCRATCHPAD: ToolsetInfo = ToolsetInfo {
    name: "scratchpad",
    description: "Notes under keys, kept for the rest of this run.",
    service: "toolwright",
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Note {
    /// The key of the text. An earlier text under this key is replaced.
    #[schemars(length(min = 1, max = LONGEST_KEY))]
    key: String,
    /// The text to keep.
    #[schemars(length(max = LONGEST_TEXT))]
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Key {
    /// The key of the text.
    #[schemars(length(min = 1, max = LONGEST_KEY))]
    key: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Serialize, JsonSchema)]
struct Text {
    /// The text.
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Keys {
    /// The keys of all notes, in alphabetical order.
    keys: Vec<String>,
}

type Notes = BTreeMap<String, String>;

impl Saved for Notes {
    fn is_within_limits(&self) -> bool {
        let is_note = |(key, text): (&String, &String)| {
            (1..=LONGEST_KEY).contains(&key.chars().count()) && text.chars().count() <= LONGEST_TEXT
        };
        bytes_of(self) <= MAX_BYTES && self.iter().all(is_note)
    }
}

fn bytes_of<'a>(notes: impl IntoIterator<Item = (&'a String, &'a String)>) -> usize {
    notes.into_iter().map(|(key, text)| key.len() + text.len()).sum()
}

/// Notes that an agent keeps during a run, with the tools `write_note`, `read_note`, `list_notes` and `delete_note`. Every run
/// starts without notes, and keeps its notes over a suspension.
pub fn scratchpad() -> Source {
    (|_: Scope| Stateful::<Notes>::new(tools)).into_source()
}

fn tools(notes: &State<Notes>) -> Combined {
    Combined::new()
        .with("scratchpad", write_note(notes.clone()))
        .with("scratchpad", read_note(notes.clone()))
        .with("scratchpad", list_notes(notes.clone()))
        .with("scratchpad", delete_note(notes.clone()))
}

fn write_note(notes: State<Notes>) -> FunctionTool {
    let spec = spec("write_note", "Keep a text under a key for the rest of this run.", CHANGES);
    FunctionTool::new(spec, move |Note { key, text }: Note| {
        let mut notes = notes.lock();
        let others = notes.iter().filter(|(other, _)| **other != key);
        let needed = bytes_of(others) + key.len() + text.len();
        let kept = if needed > MAX_BYTES {
            Err(rejected(format!(
                "with `{}` the notes would take {needed} bytes, expected at most {MAX_BYTES}; shorten the text or delete a note",
                shown(&key)
            )))
        } else {
            notes.insert(key, text);
            Ok(Json(Nothing {}))
        };
        std::future::ready(kept)
    })
}

fn read_note(notes: State<Notes>) -> FunctionTool {
    let spec = spec("read_note", "Read the text that was kept under a key.", READS);
    FunctionTool::new(spec, move |Key { key }: Key| {
        let text = notes.lock().get(&key).cloned();
        std::future::ready(text.map(|text| Json(Text { text })).ok_or_else(|| missing(&key)))
    })
}

fn list_notes(notes: State<Notes>) -> FunctionTool {
    let spec = spec("list_notes", "List the keys of all notes of this run.", READS);
    FunctionTool::new(spec, move |_: Nothing| {
        let keys = notes.lock().keys().cloned().collect();
        std::future::ready(Json(Keys { keys }))
    })
}

fn delete_note(notes: State<Notes>) -> FunctionTool {
    let spec = spec("delete_note", "Delete the text under a key.", CHANGES);
    FunctionTool::new(spec, move |Key { key }: Key| {
        let deleted = notes.lock().remove(&key);
        std::future::ready(deleted.map(|_| Json(Nothing {})).ok_or_else(|| missing(&key)))
    })
}

fn spec(name: &'static str, description: &'static str, annotations: ToolAnnotations) -> ToolSpec {
    ToolSpec::new(name)
        .with_description(description)
        .in_toolset(&SCRATCHPAD)
        .with_annotations(annotations)
}

fn missing(key: &str) -> ToolFailure {
    rejected(format!("there is no note `{}`; `list_notes` returns the keys", shown(key)))
}
