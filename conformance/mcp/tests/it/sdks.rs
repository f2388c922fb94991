//! The clients of the official SDKs meet the fixture server, over both transports and in both eras.

use std::process::Command;

use serde_json::{Value, json};

use crate::{PROGRAM, npm, printed, pypi, served};

/// What the model is told of an empty text.
const ADVICE: &str = "the arguments of `measure_text` are not valid: `/text`: has 0 characters, at least 1 required\n\
                      for example: {\"text\":\"two words\"}";

/// What every client is to see. A result that is no object reaches clients of the older era in an object.
fn sight(era: &str) -> Value {
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

/// Runs a client against the server on stdio and over HTTP.
fn meets(client: impl Fn() -> Command, era: &str) {
    let process = served("fixtures");
    for target in [&[PROGRAM, "serve"][..], &[process.url()]] {
        let output = client().arg(era).args(target).output().unwrap();
        let (out, err) = printed(&output);
        let seen: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        assert_eq!(seen, sight(era), "{target:?}");
    }
}

#[test]
fn the_python_sdk_lists_and_calls_in_both_eras() {
    let Some(pypi) = pypi() else { return };
    for era in ["legacy", "modern"] {
        meets(|| pypi.script("python_client.py"), era);
    }
}

#[test]
fn the_typescript_sdk_lists_and_calls_in_both_eras() {
    let Some(npm) = npm() else { return };
    npm.script("sight.mjs").unwrap();
    for era in ["legacy", "modern"] {
        meets(|| npm.script("typescript_client.mjs").unwrap(), era);
    }
}

/// Clients of this version drop the whole list for one output schema whose root is no object.
#[test]
fn the_typescript_sdk_of_version_1_lists_and_calls() {
    let Some(npm) = npm() else { return };
    npm.script("sight.mjs").unwrap();
    meets(|| npm.script("typescript_v1_client.mjs").unwrap(), "legacy");
}
