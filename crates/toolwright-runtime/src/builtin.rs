//! Toolsets that come with the runtime. Each is a factory: a run gets an instance of its own, never one made elsewhere.

use std::sync::{Arc, Mutex, PoisonError};

use toolwright::spec::{Discovery, ToolAnnotations};
use toolwright::{FailureKind, Map, Recovery, ToolFailure, Value};

use crate::toolset::{Combined, FunctionTool, Source, per_run};

type Object = Map<Value>;
type Notes = Arc<Mutex<Object>>;

/// The toolset of notes that an agent keeps for the length of a run: `write_note` and `read_note`.
pub fn scratchpad() -> Source {
    per_run(|_| {
        let notes = Notes::default();
        Combined::new().with("scratchpad", write_note(&notes)).with("scratchpad", read_note(&notes))
    })
}

fn write_note(notes: &Notes) -> FunctionTool {
    let schema = r#"{"type":"object","properties":{"key":{"type":"string"},"text":{"type":"string"}},"required":["key","text"]}"#;
    let notes = Arc::clone(notes);
    tool("write_note", "Keep a text under a key for the rest of this run.", schema, move |args| {
        let text = Value::from(text(args, "text")?);
        lock(&notes).insert(self::text(args, "key")?, text);
        Ok(Object::new())
    })
}

fn read_note(notes: &Notes) -> FunctionTool {
    let schema = r#"{"type":"object","properties":{"key":{"type":"string"}},"required":["key"]}"#;
    let notes = Arc::clone(notes);
    tool("read_note", "Read the text under a key.", schema, move |args| {
        let key = text(args, "key")?;
        match lock(&notes).get(&key) {
            Some(found) => Ok(Object::from_iter([("text", found.clone())])),
            None => Err(refused(format!("there is no note `{key}`"))),
        }
    })
}

fn tool(
    name: &str,
    about: &str,
    args_schema: &str,
    body: impl Fn(&Object) -> Result<Object, ToolFailure> + Send + Sync + 'static,
) -> FunctionTool {
    let discovery = Discovery {
        description: about.to_owned(),
        args_schema: args_schema.to_owned(),
        annotations: ToolAnnotations { open_world: Some(false), ..ToolAnnotations::UNKNOWN },
        ..Discovery::new(name, "scratchpad", "toolwright")
    };
    FunctionTool::new(discovery, move |args: Object| std::future::ready(body(&args)))
}

fn text(args: &Object, key: &str) -> Result<String, ToolFailure> {
    let text = args.get(key).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| refused(format!("`{key}` must be a text")))
}

fn refused(message: String) -> ToolFailure {
    ToolFailure::new(FailureKind::DomainRejection, message, Recovery::Replan)
}

fn lock(notes: &Notes) -> std::sync::MutexGuard<'_, Object> {
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}
