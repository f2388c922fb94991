//! A toolset that comes with the runtime: notes that an agent keeps for the length of a run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright::spec::ToolAnnotations;
use toolwright::{FailureKind, Recovery, ToolFailure, ToolSpec, described};

use super::{Combined, FunctionTool};

described! {
    struct Note {
        /// What the text is kept under; a text that was kept there before is replaced.
        key: String,
        /// What to keep.
        text: String,
    }

    struct Kept {}

    struct Key {
        /// What the text was kept under.
        key: String,
    }

    struct Text {
        /// What was kept.
        text: String,
    }
}

type Notes = Arc<Mutex<BTreeMap<String, String>>>;

/// One run's notes.
pub(super) fn notes() -> Combined {
    let notes = Notes::default();
    Combined::new().with("scratchpad", write_note(&notes)).with("scratchpad", read_note(&notes))
}

fn write_note(notes: &Notes) -> FunctionTool {
    let notes = Arc::clone(notes);
    let about = about("write_note", "Keep a text under a key for the rest of this run.");
    FunctionTool::new(about, move |note: Note| {
        lock(&notes).insert(note.key, note.text);
        async { Ok::<_, ToolFailure>(Kept {}) }
    })
}

fn read_note(notes: &Notes) -> FunctionTool {
    let notes = Arc::clone(notes);
    FunctionTool::new(about("read_note", "Read the text under a key."), move |Key { key }: Key| {
        let found = lock(&notes).get(&key).cloned();
        async move {
            found.map(|text| Text { text }).ok_or_else(|| {
                let message = format!("there is no note `{key}`");
                ToolFailure::new(FailureKind::DomainRejection, message, Recovery::Replan)
            })
        }
    })
}

fn about(name: &'static str, description: &'static str) -> ToolSpec {
    ToolSpec::new(name)
        .with_description(description)
        .with_toolset("scratchpad")
        .with_service("toolwright")
        .with_annotations(ToolAnnotations { open_world: Some(false), ..ToolAnnotations::UNKNOWN })
}

fn lock(notes: &Notes) -> MutexGuard<'_, BTreeMap<String, String>> {
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}
