//! Lists in pages, and lists that change while clients are connected.

use std::num::NonZeroUsize;

use serde_json::{Value, json};
use toolwright::ToolSpec;
use toolwright::spec::ToolsetInfo;
use toolwright_mcp::{McpServer, ServerSpec};

use crate::lab::{ANY_OBJECT, Echo, lab};
use crate::lines::Connection;
use crate::wire::META;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

async fn initialized(connection: &mut Connection) -> Value {
    connection.send(INITIALIZE).await;
    let answer = connection.next_message().await;
    connection.send(INITIALIZED).await;
    answer
}

async fn page(connection: &mut Connection, cursor: Option<&str>) -> Value {
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": cursor.map_or(json!({}), |cursor| json!({"cursor": cursor})),
    });
    connection.send(&request.to_string()).await;
    connection.next_message().await
}

fn names(page: &Value) -> Vec<&str> {
    let tools = page["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn pages_hold_every_tool_once_and_in_order() {
    let server = lab().with_page_size(NonZeroUsize::new(4).unwrap());
    let mut connection = Connection::open(server);
    initialized(&mut connection).await;
    let (mut cursor, mut all) = (None, Vec::new());
    loop {
        let page = page(&mut connection, cursor.as_deref()).await;
        all.push(names(&page).join(" "));
        cursor = page["result"]["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(all, ["echo count tree picture", "regional anything steps panic", "wait fail"]);
    for wrong in ["", "from-", "from-11", "from-+1", "from-01", "4", "из"] {
        let refused = page(&mut connection, Some(wrong)).await;
        assert_eq!(refused["error"]["code"], -32602, "{wrong}");
    }
}

#[tokio::test]
async fn hiding_a_tool_does_not_shift_later_pages() {
    let mut server = lab().with_page_size(NonZeroUsize::new(4).unwrap());
    let list = server.tool_list();
    let mut connection = Connection::open(server);
    connection.send(INITIALIZE).await;
    connection.next_message().await;
    let first = page(&mut connection, None).await;
    list.hide("echo").unwrap();
    list.hide("steps").unwrap();
    let second = page(&mut connection, first["result"]["nextCursor"].as_str()).await;
    assert_eq!(names(&second), ["regional", "anything", "panic", "wait"]);
}

#[tokio::test]
async fn list_changed_is_announced_only_if_the_host_asked_for_the_list() {
    let received = initialized(&mut Connection::open(lab())).await;
    assert_eq!(received["result"]["capabilities"], json!({"tools": {}}));
    let mut server = lab();
    let _list = server.tool_list();
    let received = initialized(&mut Connection::open(server)).await;
    assert_eq!(received["result"]["capabilities"], json!({"tools": {"listChanged": true}}));
}

#[tokio::test]
async fn hiding_and_offering_a_tool_notifies_clients() {
    let mut server = lab();
    let list = server.tool_list();
    let mut connection = Connection::open(server);
    initialized(&mut connection).await;
    assert!(names(&page(&mut connection, None).await).contains(&"count"));

    list.hide("count").unwrap();
    let received = connection.next_message().await;
    assert_eq!(received["method"], "notifications/tools/list_changed");
    assert!(!names(&page(&mut connection, None).await).contains(&"count"));
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count"}}"#;
    connection.send(call).await;
    assert_eq!(connection.next_message().await["error"]["code"], -32602);

    list.hide("count").unwrap();
    list.offer("count").unwrap();
    let received = connection.next_message().await;
    assert_eq!(
        received["method"], "notifications/tools/list_changed",
        "once for two calls of `hide`"
    );
    connection.send(call).await;
    assert_eq!(connection.next_message().await["result"]["isError"], false);
    let unknown = list.hide("inner").unwrap_err().to_string();
    assert!(
        unknown.starts_with("MCP server `lab` lists tool `inner`, which is unknown"),
        "{unknown}"
    );
}

static FLOWERS: ToolsetInfo =
    ToolsetInfo { name: "flowers", description: "They bloom.", service: "garden" };
static TREES: ToolsetInfo =
    ToolsetInfo { name: "trees", description: "They grow tall.", service: "garden" };
static WATER: ToolSpec =
    ToolSpec::of::<Echo>("water").in_toolset(&FLOWERS).with_args_schema(ANY_OBJECT);
static FELL: ToolSpec =
    ToolSpec::of::<Echo>("fell").in_toolset(&TREES).with_args_schema(ANY_OBJECT);
static PRUNE: ToolSpec =
    ToolSpec::of::<Echo>("prune").in_toolset(&TREES).with_args_schema(ANY_OBJECT);
static GARDEN: ServerSpec =
    ServerSpec { name: "garden", version: "1", toolsets: &[&[&WATER], &[&FELL, &PRUNE]] };

#[tokio::test]
async fn instructions_leave_out_toolsets_whose_tools_are_all_hidden() {
    let (flowers, trees) = ("`flowers`: They bloom.", "`trees`: They grow tall.");
    for (hidden, instructions) in [
        (&[] as &[&str], json!([flowers, trees].join("\n"))),
        (&["fell"], json!([flowers, trees].join("\n"))),
        (&["fell", "prune"], json!(flowers)),
        (&["water", "fell", "prune"], Value::Null),
    ] {
        let mut server = McpServer::new(&GARDEN);
        let list = server.tool_list();
        for tool in hidden {
            list.hide(tool).unwrap();
        }
        let received = initialized(&mut Connection::open(server)).await;
        assert_eq!(received["result"]["instructions"], instructions, "{hidden:?}");
    }
}

fn listen() -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"listen","method":"subscriptions/listen","params":{{"notifications":{{"toolsListChanged":true}},{META}}}}}"#
    )
}

#[tokio::test]
async fn a_client_of_2026_07_28_is_notified_while_it_listens() {
    let mut server = lab();
    let list = server.tool_list();
    let mut connection = Connection::open(server);
    connection.send(&listen()).await;
    let acknowledged = connection.next_message().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({"toolsListChanged": true}));
    list.hide("count").unwrap();
    let received = connection.next_message().await;
    assert_eq!(received["method"], "notifications/tools/list_changed", "{received}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_change_after_the_acknowledgement_is_lost() {
    for _ in 0..500 {
        let mut server = lab();
        let list = server.tool_list();
        let mut connection = Connection::open(server);
        connection.send(&listen()).await;
        connection.next_message().await;
        list.hide("count").unwrap();
        let received = connection.next_message().await;
        assert_eq!(received["method"], "notifications/tools/list_changed", "{received}");
    }
}
