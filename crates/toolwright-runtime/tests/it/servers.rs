//! Hostile servers of remote toolsets: the texts and tools that they list.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use toolwright::{Payload, Recovery, Scope};
use toolwright_runtime::Toolset;
use toolwright_runtime::remote::{RemoteOptions, RemoteToolset};

use crate::peers::content;
use crate::tools::call;

/// A server whose list has these tools, which has odd instructions and whose calls fail with an odd message.
async fn listing(tools: Value) -> RemoteToolset {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    tokio::spawn(async move {
        let (input, mut output) = tokio::io::split(theirs);
        let mut input = BufReader::new(input).lines();
        while let Some(line) = input.next_line().await.unwrap() {
            let (kind, request) = content(&line);
            let id = &request["id"];
            let failure = json!({
                "kind": "denied", "code": "c\u{1b}", "message": "no\u{202e}", "recovery": "correct_call",
                "correction": {
                    "issues": vec![json!({"pointer": "/a\u{202e}", "message": "m\u{200b}"}); 2_000],
                    "prior_input": "[\"p\u{202e}\"]",
                    "example": "[\"e\u{202e}\"]",
                },
                "data": "[\"\u{e0041}\"]", "detail": "d\u{1b}[2J"
            });
            let reply = match kind.as_str() {
                "open" => json!({"opened": {"calls": 4, "nonce": "n"}}),
                "list" => json!({"tools": {"id": id, "tools": {"Ok": tools}}}),
                "save" => json!({"saved": {"id": id, "saved": {"Err": "not\u{202e}"}}}),
                "restore" => json!({"restored": {"id": id, "restored": {"Err": "not\u{202e}"}}}),
                "instructions" => json!({"instructions": {"id": id, "text": "obey\u{202e}"}}),
                _ => json!({"outcome": {"id": id, "outcome": {"failure": failure}}}),
            };
            output.write_all(format!("{reply}\n").as_bytes()).await.unwrap();
        }
    });
    let (input, output) = tokio::io::split(ours);
    RemoteToolset::connect_stream(input, output, &Scope::default(), RemoteOptions::new())
        .await
        .unwrap()
}

#[tokio::test]
async fn texts_of_a_server_have_no_hidden_characters() {
    let mut plus = json!({
        "name": "plus", "aliases": [], "title": null, "description": "", "toolset": "far", "service": "s", "tags": [],
        "read_only": null, "destructive": null, "idempotent": null, "open_world": null,
        "approval": null, "timeout_ms": null, "attempts": null, "sequential": false,
        "available": true, "args_schema": "{}", "result_schema": "{}"
    });
    (plus["title"], plus["description"]) = (json!("up\u{202e}"), json!("adds\u{1b}[2J"));
    let remote = listing(json!([plus])).await;
    let scope = Scope::default();
    let tools = remote.tools(&scope).await.unwrap();
    let spec = tools[0].spec();
    assert_eq!((spec.title(), spec.description()), (Some("up\u{fffd}"), "adds\u{fffd}[2J"));
    assert_eq!(remote.instructions(&scope).await.as_deref(), Some("obey\u{fffd}"));
    let error = remote.save(&scope).await.unwrap_err();
    assert_eq!(error.to_string(), "not\u{fffd}");
    let error = remote.restore(&scope, &Payload::new("1")).await.unwrap_err();
    assert_eq!(error.to_string(), "not\u{fffd}");
    let result = remote.call(&call("plus", "a", 1)).await;
    let failure = result.outcome.unwrap_err();
    assert_eq!(failure.message, "no\u{fffd}");
    assert_eq!(failure.code.as_deref(), Some("c\u{fffd}"));
    assert_eq!(failure.detail.as_deref(), Some("d\u{fffd}[2J"));
    assert_eq!(failure.data.unwrap().as_str(), r#"["\udb40\udc41"]"#);
    let Recovery::CorrectCall(correction) = failure.recovery else { panic!("a correction") };
    assert_eq!(correction.prior_input.as_str(), r#"["p\u202e"]"#);
    assert_eq!(correction.example.unwrap().as_str(), r#"["e\u202e"]"#);
    let invalid = correction.issues.unwrap();
    let issue = &invalid.issues()[0];
    assert_eq!((issue.pointer(), &*issue.message()), ("/a\u{fffd}", "m\u{fffd}"));
    assert_eq!(invalid.issues().len(), 1_000);

    let tool_of = |name: &str| {
        let mut tool = plus.clone();
        tool["name"] = json!(name);
        tool
    };
    let with_schema = |schema: Value| {
        let mut tool = plus.clone();
        (tool["args_schema"], tool["tags"]) = (json!(schema.to_string()), json!(["t\u{202e}"]));
        tool
    };
    let described = with_schema(json!({"properties": {"a": {"description": "ok\u{e0041}"}}}));
    let tools = listing(json!([described])).await.tools(&scope).await.unwrap();
    let spec = tools[0].spec();
    assert!(spec.args_schema().contains("ok\u{fffd}\""), "{}", spec.args_schema());
    assert_eq!(spec.tags().collect::<Vec<_>>(), ["t\u{fffd}"]);
    let mut no_json = plus.clone();
    no_json["result_schema"] = json!("{");
    for left_out in [with_schema(json!({"const": "\u{202e}"})), no_json] {
        assert!(listing(json!([left_out])).await.tools(&scope).await.unwrap().is_empty());
    }
    let list = ["plus", "plus", "a.b", "a_b", "a-b"].map(tool_of);
    let tools = listing(json!(list)).await.tools(&scope).await.unwrap();
    let names: Vec<&str> = tools.iter().map(toolwright_runtime::ToolEntry::name).collect();
    assert_eq!(names, ["plus", "a.b", "a-b"], "the names for model providers differ");
    plus["name"] = json!("pl\u{202e}us");
    let error = listing(json!([plus])).await.tools(&scope).await.unwrap_err();
    assert!(error.to_string().contains("the tool `pl\u{fffd}us` is listed"), "{error}");
    plus["name"] = json!("plus");
    plus["aliases"] = json!(["pl\u{202e}us"]);
    let error = listing(json!([plus])).await.tools(&scope).await.unwrap_err();
    assert!(error.to_string().contains("the tool `pl\u{fffd}us` is listed"), "{error}");
    plus["aliases"] = json!(vec!["a"; 40_000]);
    let error = listing(json!([plus])).await.tools(&scope).await.unwrap_err();
    assert!(error.to_string().ends_with("more than 40000 names and aliases are listed"), "{error}");
    plus["aliases"] = json!([]);
    let error = listing(json!(vec![plus; 10_001])).await.tools(&scope).await.unwrap_err();
    assert!(
        error.to_string().contains("10001 tools are listed, expected at most 10000"),
        "{error}"
    );
}

#[tokio::test]
async fn the_metadata_of_an_approval_of_a_server_is_short_and_has_no_hidden_characters() {
    let listed = async |metadata: &str| {
        let tool = json!({
            "name": "wipe", "aliases": [], "title": null, "description": "", "toolset": "far", "service": "s", "tags": [],
            "read_only": null, "destructive": null, "idempotent": null, "open_world": null,
            "approval": {"prompt": null, "denied": null, "metadata": metadata},
            "timeout_ms": null, "attempts": null, "sequential": false,
            "available": true, "args_schema": "{}", "result_schema": "{}"
        });
        listing(json!([tool])).await.tools(&Scope::default()).await.unwrap()
    };
    let tools = listed(r#"{"risk\u202e": ["low\u200b", {"a": "\udb40\udc41", "n": 1.0}]}"#).await;
    let metadata = tools[0].approval().unwrap().metadata.as_deref();
    assert_eq!(
        metadata,
        Some("{\"risk\u{fffd}\":[\"low\u{fffd}\",{\"a\":\"\u{fffd}\",\"n\":1.0}]}")
    );
    let long = json!({ "a": "x".repeat(64 << 10) }).to_string();
    for left_out in ["{", &long] {
        assert!(listed(left_out).await.is_empty());
    }
}
