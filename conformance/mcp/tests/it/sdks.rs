//! Tests the fixture server with the clients of the official SDKs, over both transports and in both eras of the protocol.

use std::process::Command;

use serde_json::{Value, json};

use crate::{PROGRAM, npm, printed, pypi, served};

/// The message to the model about an empty text.
const ADVICE: &str = "the arguments of `measure_text` are not valid: `/text`: has 0 characters, at least 1 required\n\
                      for example: {\"text\":\"two words\"}";

/// The results that every client must see. In the older era, a result that is not an object is wrapped in one.
fn expected(era: &str) -> Value {
    let (protocol, is_wrapped) = match era {
        "legacy" => ("2025-11-25", true),
        _ => ("2026-07-28", false),
    };
    let structured = |value: Value| if is_wrapped { json!({ "result": value }) } else { value };
    json!({
        "protocol": protocol,
        "tools": 15,
        "title": "Measure text",
        "structured": {
            "isError": false,
            "structured": { "characters": 9, "words": 2, "shouted": false },
            "text": r#"{"characters":9,"words":2,"shouted":false}"#,
        },
        "list": { "isError": false, "structured": structured(json!([3, 2, 1, 0])), "text": "[3,2,1,0]" },
        "plain": {
            "isError": false,
            "structured": structured(json!("This is a simple text response for testing.")),
            "text": "This is a simple text response for testing.",
        },
        "invalid": { "isError": true, "structured": null, "text": ADVICE },
        "failing": {
            "isError": true,
            "structured": null,
            "text": "This tool intentionally returns an error for testing",
        },
        "unknown": { "code": -32602 },
        "atOnce": { "done": 8, "overlap": true },
    })
}

/// Runs a client against the server on stdio and over HTTP, and checks its results.
fn check_client(client: impl Fn() -> Command, era: &str) {
    let process = served("fixtures");
    for target in [&[PROGRAM, "serve"][..], &[process.url()]] {
        let output = client().arg(era).args(target).output().unwrap();
        let (out, err) = printed(&output);
        let seen: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        assert_eq!(seen, expected(era), "{target:?}");
    }
}

#[test]
fn the_python_sdk_lists_and_calls_in_both_eras() {
    let Some(pypi) = pypi() else { return };
    for era in ["legacy", "modern"] {
        check_client(|| pypi.script("python_client.py"), era);
    }
}

#[test]
fn the_typescript_sdk_lists_and_calls_in_both_eras() {
    let Some(npm) = npm() else { return };
    npm.script("observe.mjs").unwrap();
    for era in ["legacy", "modern"] {
        check_client(|| npm.script("typescript_client.mjs").unwrap(), era);
    }
}

/// Clients of this version drop the whole list if the root of one output schema is not an object.
#[test]
fn the_typescript_sdk_of_version_1_lists_and_calls() {
    let Some(npm) = npm() else { return };
    npm.script("observe.mjs").unwrap();
    check_client(|| npm.script("typescript_v1_client.mjs").unwrap(), "legacy");
}
