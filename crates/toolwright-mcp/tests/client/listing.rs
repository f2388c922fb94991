//! Connecting to a server and listing its tools.

use std::time::{Duration, Instant};

use serde_json::Value;
use toolwright_mcp::client::ClientError;

use crate::peer::{can_run, client, command, short_timeouts};

/// All reactions of a server to the probe of the newer era, and the revision that is used then.
#[tokio::test]
async fn the_era_is_detected_for_every_response_to_the_probe() {
    if !can_run() {
        return;
    }
    let cases: [(&[&str], &str); 7] = [
        (&[], "2025-11-25"),
        (&["modern"], "2026-07-28"),
        (&["deaf"], "2025-11-25"),
        (&["nonsense"], "2025-11-25"),
        (&["leaves"], "2025-11-25"),
        (&["chatty"], "2025-11-25"),
        (&["text_ids"], "2025-11-25"),
    ];
    for (faults, protocol) in cases {
        let client = client(faults);
        let server = client.connect().await.unwrap_or_else(|error| panic!("{faults:?}: {error}"));
        assert_eq!(server.protocol.as_deref(), Some(protocol), "{faults:?}");
        assert_eq!(server.name.as_deref(), Some("peer"), "{faults:?}");
        client.close().await;
    }
}

#[tokio::test]
async fn the_name_and_version_of_a_server_are_short_visible_lines() {
    if !can_run() {
        return;
    }
    for faults in [&["odd_name"][..], &["odd_name", "modern"]] {
        let client = client(faults);
        let server = client.connect().await.unwrap();
        assert_eq!(server.name.as_deref(), Some("peer \u{fffd}[2J"), "{faults:?}");
        assert_eq!(server.version, Some("1".repeat(256) + "…"), "{faults:?}");
        client.close().await;
    }
}

#[tokio::test]
async fn the_raw_list_has_every_page_as_the_server_wrote_it() {
    if !can_run() {
        return;
    }
    for faults in [&["bad_tool"][..], &["bad_tool", "paged"], &["bad_tool", "paged", "modern"]] {
        let listing = client(faults).list_tools_raw().await.expect("it lists");
        let list: Value = serde_json::from_str(&listing.json).expect("it is JSON");
        let tools = list["tools"].as_array().expect("there are tools");
        assert_eq!(tools.len(), 16, "{faults:?}: one bad tool loses no other");
        assert!(
            listing.json.contains(r#""maxProperties":1.0,"x-big":123456789012345678901234567890}"#)
        );
        assert!(listing.json.contains(r#""execution":{"taskSupport":"forbidden"}"#));
        assert!(listing.json.contains(r#"{"name":7,"inputSchema":"no"}"#));
    }
}

#[tokio::test]
async fn a_list_with_too_many_tools_is_refused() {
    if !can_run() {
        return;
    }
    let error = client(&["many"]).list_tools_raw().await.expect_err("there are too many");
    let expected = "the list of tools has more than 10000 tools";
    assert!(error.to_string().contains(expected), "{error}");
}

#[tokio::test]
async fn an_unreachable_server_is_an_error_in_time() {
    if !can_run() {
        return;
    }
    let silent = client(&["silent"]);
    let start = Instant::now();
    let error = silent.connect().await.expect_err("it is silent");
    assert!(matches!(error, ClientError::Connect { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(14), "{:?}", start.elapsed());
    let missing = toolwright_mcp::client::ServerCommand::new("no-such-program-anywhere");
    let missing = toolwright_mcp::client::Client::with_options(missing, short_timeouts());
    let error = missing.connect().await.expect_err("it is not there").to_string();
    assert!(
        error.starts_with("MCP server `no-such-program-anywhere` could not be reached: "),
        "{error}"
    );
    let error = missing.connect().await.expect_err("it is too early");
    assert!(matches!(error, ClientError::Backoff { .. }), "{error}");
    assert!(format!("{:?}", command(&[])).contains("peer.py"));
}
