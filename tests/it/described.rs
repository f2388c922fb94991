//! Tests that the codecs of hand-written tools accept exactly what their published schemas accept.

use serde_json::{Value as Json, json};
use toolwright::{Map, ToolSpec, Value, described};
use toolwright_builtins::{scratchpad, todo_list};
use toolwright_runtime::{Registry, Runtime};

use crate::judge::{Published, Side};

described! {
    struct Flagged {
        /// With a description, "quoted".
        flag: bool,
    }

    struct Everything {
        flag: bool,
        text: String,
        whole: i64,
        any: Value,
        list: Vec<Flagged>,
        map: Map<i64>,
        inner: Flagged,
    }

    struct Nothing {}
}

/// Values of every type, each valid in some places and invalid in others.
fn values() -> Vec<Json> {
    let numbers = ["0", "1.0", "1.5", "1e3", "9223372036854775807", "9223372036854775808"];
    let negative = ["-1", "-9223372036854775808", "-1e30"];
    let numbers = numbers.iter().chain(&negative).map(|text| text.parse().expect("it is JSON"));
    let others = [
        json!(null),
        json!(true),
        json!(""),
        json!("text"),
        json!([]),
        json!([{ "flag": true }]),
        json!([{ "flag": 1 }]),
        json!([{}]),
        json!({}),
        json!({ "flag": false }),
        json!({ "flag": false, "more": 1 }),
        json!({ "a": 1 }),
        json!({ "a": "x" }),
    ];
    numbers.chain(others).collect()
}

/// The values themselves, and variants of a valid object: one property removed, replaced by each value, or added.
fn payloads(right: &Json) -> Vec<String> {
    let mut all = values();
    all.push(right.clone());
    if let Json::Object(object) = right {
        for key in object.keys().map(String::as_str).chain(["more"]) {
            let mut without = object.clone();
            without.remove(key);
            all.push(Json::Object(without));
            all.extend(values().into_iter().map(|value| {
                let mut with = object.clone();
                with.insert(key.to_owned(), value);
                Json::Object(with)
            }));
        }
    }
    all.iter().map(Json::to_string).collect()
}

fn compare(spec: &ToolSpec, right: &Json) {
    let published = Published::of([spec]);
    let (mut accepted, mut refused) = (0, 0);
    for payload in payloads(right) {
        let by_codec = spec.check_args(payload.as_bytes()).is_ok();
        let Some(by_schema) = published.accepts(spec, Side::Args, &payload) else { continue };
        assert_eq!(by_codec, by_schema, "{} {payload}: {}", spec.name(), spec.args_schema());
        if by_codec { accepted += 1 } else { refused += 1 }
    }
    assert!(accepted > 0 && refused > 0, "{}: {accepted} and {refused}", spec.name());
}

#[test]
fn described_types_accept_exactly_what_their_schemas_accept() {
    let everything = json!({
        "flag": true, "text": "a", "whole": 1, "any": {}, "list": [], "map": {}, "inner": { "flag": true },
    });
    compare(&ToolSpec::new("everything").with_types::<Everything, Value>(), &everything);
    compare(&ToolSpec::new("nothing").with_types::<Nothing, Value>(), &json!({}));
    compare(&ToolSpec::new("map").with_types::<Map<bool>, Value>(), &json!({ "a": true }));
    compare(&ToolSpec::new("whole").with_types::<i64, Value>(), &json!(1));
}

#[tokio::test]
async fn built_in_tools_accept_exactly_what_their_schemas_accept() {
    let registry = Registry::new();
    registry.register_toolset("pad", scratchpad()).expect("it is the first");
    registry.register_toolset("todos", todo_list()).expect("it is another");
    let catalog = registry.catalog();
    for name in ["pad", "todos"] {
        catalog.publish(name, name).expect("it is there");
        catalog.allow("host", name).expect("it is published");
    }
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    let session = runtime.open_session("host").await;
    let tools = session.expect("it enters").tools().await.expect("it lists");
    let key = json!({ "key": "a" });
    let todos = json!({ "todos": [{ "title": "a", "status": "done" }] });
    let right = [
        ("pad.write_note", json!({ "key": "a", "text": "b" })),
        ("pad.read_note", key.clone()),
        ("pad.list_notes", json!({})),
        ("pad.delete_note", key),
        ("todos.write_todos", todos),
        ("todos.read_todos", json!({})),
    ];
    assert_eq!(tools.len(), right.len());
    for (tool, (name, right)) in tools.iter().zip(&right) {
        assert_eq!(tool.name(), *name);
        compare(tool.spec(), right);
    }
}
