//! The toolset that the server's tests serve, written by hand. Never asks a server anything.

use std::sync::Arc;

use toolwright::spec::{Declaration, Deprecation, ToolAnnotations};
use toolwright::{
    BoxFuture, Executor, FailureKind, Map, Payload, Recovery, Registrar, Tool, ToolCall,
    ToolFailure, ToolResult, ToolSpec, Value,
};
use toolwright_mcp::{McpServer, ServerSpec};

pub(crate) const ANY_OBJECT: &str = r#"{"type":"object","properties":{"z":{},"a":{}}}"#;

macro_rules! tools {
    ($($tool:ident: $result:ty = $declaration:expr;)*) => {$(
        #[derive(Clone, Copy)]
        pub(crate) struct $tool;

        impl Tool for $tool {
            type Args = Map<Value>;
            type Result = $result;
            const SPEC: &'static ToolSpec = {
                static SPEC: ToolSpec = ToolSpec::typed($tool, Declaration {
                    args_schema: ANY_OBJECT,
                    ..$declaration
                });
                &SPEC
            };
        }
    )*};
}

tools! {
    Echo: Map<Value> = Declaration {
        title: Some("Echo"),
        description: "Says it again.",
        aliases: &["repeat"],
        annotations: ToolAnnotations { read_only: Some(true), ..ToolAnnotations::UNKNOWN },
        result_schema: ANY_OBJECT,
        ..Declaration::new("echo", "lab", "lab")
    };
    Count: i64 = Declaration {
        description: "Counts the arguments.",
        result_schema: r#"{"type":"integer"}"#,
        ..Declaration::new("count", "lab", "lab")
    };
    Fail: i64 = Declaration::new("fail", "lab", "lab");
    Old: i64 = Declaration {
        deprecated: Some(Deprecation { since: None, replacement: Some("count") }),
        ..Declaration::new("old", "lab", "lab")
    };
    Inner: i64 = Declaration::new("inner", "hidden", "lab");
}

static LAB: &[&ToolSpec] = &[Echo::SPEC, Count::SPEC, Fail::SPEC, Old::SPEC];
static HIDDEN: &[&ToolSpec] = &[Inner::SPEC];
pub(crate) static SERVER: ServerSpec =
    ServerSpec { name: "lab", version: "2.1.0", toolsets: &[LAB] };

struct Lab;

impl Executor for Lab {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        match call.tool() {
            "echo" => call.run(Echo, |args| async move { Ok(args) }),
            "count" => call.run(Count, |args| async move {
                i64::try_from(args.len()).map_err(|error| ToolFailure::internal(&error))
            }),
            "fail" => call.run(Fail, |_| async {
                let failure =
                    ToolFailure::new(FailureKind::Unavailable, "not today", Recovery::Retry);
                Err(failure.with_detail("disk of host db7 is full"))
            }),
            // Keeps what the call knows of its session, to be compared with the next one's.
            "old" => Box::pin(std::future::ready(ToolResult::payload(
                call,
                Payload::new(call.session_id().map_or(0, str::len).to_string()),
            ))),
            _ => call.not_found(LAB),
        }
    }
}

pub(crate) fn lab() -> McpServer {
    let mut server = McpServer::new(&SERVER);
    server.register(LAB, Arc::new(Lab)).unwrap();
    server.register(HIDDEN, Arc::new(Lab)).unwrap();
    server.complete().unwrap()
}
