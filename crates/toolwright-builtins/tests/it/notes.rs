//! Tests of `scratchpad` and `todo_list`.

use serde_json::json;
use toolwright::{Payload, ToolCall};
use toolwright_builtins::{scratchpad, todo_list};
use toolwright_runtime::{Registry, Runtime, Session, Source};

async fn session(source: Source) -> Session {
    let registry = Registry::new();
    registry.register_toolset("one", source).unwrap();
    let catalog = registry.catalog();
    catalog.publish("one", "x").unwrap();
    catalog.allow("host", "one").unwrap();
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    runtime.open_session("host").await.unwrap()
}

async fn say(session: &Session, tool: &str, args: serde_json::Value) -> String {
    let call = ToolCall::new(format!("x.{tool}"), Payload::new(args.to_string()));
    match session.call(call).await.outcome {
        Ok(payload) => payload.to_string(),
        Err(failure) => failure.to_string(),
    }
}

#[tokio::test]
async fn notes_are_written_read_listed_and_deleted() {
    let session = session(scratchpad()).await;
    for key in ["b", "a", "b"] {
        assert_eq!(say(&session, "write_note", json!({ "key": key, "text": key })).await, "{}");
    }
    assert_eq!(say(&session, "list_notes", json!({})).await, r#"{"keys":["a","b"]}"#);
    assert_eq!(say(&session, "delete_note", json!({ "key": "a" })).await, "{}");
    assert_eq!(say(&session, "read_note", json!({ "key": "b" })).await, r#"{"text":"b"}"#);
    let missing = "domain_rejection: there is no note `a`; `list_notes` returns the keys";
    for tool in ["read_note", "delete_note"] {
        assert_eq!(say(&session, tool, json!({ "key": "a" })).await, missing);
    }
}

#[tokio::test]
async fn notes_are_limited_in_size() {
    let session = session(scratchpad()).await;
    let text = "x".repeat(100_000);
    for n in 0..9 {
        assert_eq!(
            say(&session, "write_note", json!({ "key": n.to_string(), "text": text })).await,
            "{}"
        );
    }
    let refused = say(&session, "write_note", json!({ "key": "9", "text": text })).await;
    assert_eq!(
        refused,
        "domain_rejection: with `9` the notes would take 1000010 bytes, expected at most 1000000; shorten the text or delete a note"
    );
    assert_eq!(say(&session, "write_note", json!({ "key": "8", "text": text })).await, "{}");
    let long =
        say(&session, "write_note", json!({ "key": "9", "text": "x".repeat(100_001) })).await;
    assert!(long.starts_with("invalid_call: "), "{long}");
}

#[tokio::test]
async fn todos_have_a_title_and_a_known_status() {
    let session = session(todo_list()).await;
    for todo in [
        json!({ "title": "", "status": "done" }),
        json!({ "title": "x", "status": "lost" }),
        json!({ "title": "x" }),
    ] {
        let refused = say(&session, "write_todos", json!({ "todos": [todo] })).await;
        assert!(refused.starts_with("invalid_call: "), "{refused}");
    }
    let todos = json!({ "todos": [{ "title": "x", "status": "in_progress" }] });
    assert_eq!(say(&session, "write_todos", todos.clone()).await, r#"{"done":0,"all":1}"#);
    let read: serde_json::Value = say(&session, "read_todos", json!({})).await.parse().unwrap();
    assert_eq!(read, todos);
}
