//! Tests of `scratchpad` and `todo_list`.

use serde_json::json;
use toolwright::{Payload, Scope, ToolCall};
use toolwright_builtins::{scratchpad, todo_list};
#[cfg(unix)]
use toolwright_runtime::Toolset;
#[cfg(unix)]
use toolwright_runtime::remote::{RemoteOptions, RemoteToolset};
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

/// Over a stream, where a client may send any state.
#[cfg(unix)]
#[tokio::test]
async fn a_state_that_no_tool_could_have_made_is_not_restored() {
    let scope = Scope::default();
    let todo = |title: &str| json!({ "title": title, "status": "done" });
    let notes = |count: usize| -> serde_json::Map<_, _> {
        (0..count).map(|n| (n.to_string(), json!("x".repeat(100_000)))).collect()
    };
    for (source, within, beyond) in [
        (
            todo_list(),
            json!({ "todos": vec![todo("x"); 100] }),
            vec![
                json!({ "todos": vec![todo("x"); 101] }),
                json!({ "todos": [todo("")] }),
                json!({ "todos": [todo(&"é".repeat(501))] }),
            ],
        ),
        (
            scratchpad(),
            json!(notes(9)),
            vec![
                json!(notes(10)),
                json!({ "": "x" }),
                json!({ "k".repeat(201): "x" }),
                json!({ "k": "x".repeat(100_001) }),
            ],
        ),
    ] {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        tokio::spawn(source.serve_stream(input, output, RemoteOptions::new()));
        let (input, output) = tokio::io::split(ours);
        let toolset = RemoteToolset::connect_stream(input, output, &scope, RemoteOptions::new());
        let toolset = toolset.await.unwrap();
        let restore = async |state: &serde_json::Value| {
            toolset.restore(&scope, &Payload::new(state.to_string())).await
        };
        restore(&within).await.unwrap();
        for state in beyond {
            let error = restore(&state).await.expect_err("it is beyond a limit");
            assert_eq!(error.to_string(), "the saved state is beyond the limits of the tools");
        }
        let saved = toolset.save(&scope).await.unwrap().unwrap();
        assert_eq!(saved.as_str().parse::<serde_json::Value>().unwrap(), within);
    }
}
