//! The toolset that the server's tests serve, written by hand. Never asks a server anything.

use std::sync::Arc;

use tokio::sync::Notify;
use toolwright::spec::{Declaration, Deprecation, ToolAnnotations};
use toolwright::{
    BoxFuture, Executor, FailureKind, Map, Payload, Recovery, Registrar, Tool, ToolCall,
    ToolFailure, ToolResult, ToolSpec, Value, progress,
};
use toolwright_mcp::{Content, McpServer, ServerSpec};

pub(crate) const ANY_OBJECT: &str = r#"{"type":"object","properties":{"z":{},"a":{}}}"#;

/// A tool that takes anything.
const fn tool(name: &'static str) -> Declaration {
    Declaration { args_schema: ANY_OBJECT, ..Declaration::new(name, "lab", "lab") }
}

macro_rules! tools {
    ($($(#[$doc:meta])* $tool:ident: $result:ty = $declaration:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $tool;

        impl Tool for $tool {
            type Args = Map<Value>;
            type Result = $result;
            const SPEC: &'static ToolSpec = {
                static SPEC: ToolSpec = ToolSpec::typed($tool, $declaration);
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
        args_sample: Some(r#"{"a":1}"#),
        ..tool("echo")
    };
    Count: i64 = Declaration {
        description: "Counts the arguments.",
        result_schema: r#"{"type":"integer"}"#,
        ..tool("count")
    };
    Tree: Value = Declaration {
        description: "Grows a tree.",
        tags: &["plants"],
        result_schema: r##"{"$ref":"#/$defs/Tree","$defs":{"Tree":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/$defs/Tree"}}}}}}"##,
        ..tool("tree")
    };
    Picture: String = Declaration {
        description: "Draws a dot.",
        result_schema: r#"{"type":"string"}"#,
        ..tool("picture")
    };
    /// Its region is repeated in a header, for what stands between a client and the server.
    Regional: Map<Value> = Declaration {
        args_schema: r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#,
        ..tool("regional")
    };
    Anything: Value = tool("anything");
    Steps: i64 = tool("steps");
    Panic: i64 = tool("panic");
    Wait: i64 = tool("wait");
    Fail: i64 = tool("fail");
    Old: i64 = Declaration {
        deprecated: Some(Deprecation { since: None, replacement: Some("count") }),
        ..tool("old")
    };
    Inner: i64 = Declaration { toolset: "hidden", ..tool("inner") };
}

static LAB: &[&ToolSpec] = &[
    Echo::SPEC,
    Count::SPEC,
    Tree::SPEC,
    Picture::SPEC,
    Regional::SPEC,
    Anything::SPEC,
    Steps::SPEC,
    Panic::SPEC,
    Wait::SPEC,
    Fail::SPEC,
    Old::SPEC,
];
static HIDDEN: &[&ToolSpec] = &[Inner::SPEC];
pub(crate) static SERVER: ServerSpec =
    ServerSpec { name: "lab", version: "2.1.0", toolsets: &[LAB] };

#[derive(Clone, Default)]
pub(crate) struct Lab {
    /// Told of every call of `wait` that is given up.
    pub(crate) given_up: Arc<Notify>,
    /// Told of every call of `wait` that has begun.
    pub(crate) waiting: Arc<Notify>,
    /// Lets a call of `wait` end.
    pub(crate) release: Arc<Notify>,
}

struct GivenUp(Arc<Notify>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Executor for Lab {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        match call.tool() {
            "echo" => call.run(Echo, |args| async move { Ok(args) }),
            "count" => call.run(Count, |args| async move {
                i64::try_from(args.len()).map_err(|error| ToolFailure::internal(&error))
            }),
            "tree" => call.run(Tree, |_| async {
                Ok(toolwright::codec::from_json(br#"{"children":[{}]}"#).unwrap())
            }),
            "picture" => call.run(Picture, |_| async { Ok("AAEC".to_owned()) }),
            "regional" => call.run(Regional, |args| async move { Ok(args) }),
            "anything" => call.run(Anything, |_| async { Ok(Value::Null) }),
            "steps" => call.run(Steps, |_| async {
                progress::report(1.0, Some(2.0), "one");
                progress::report(0.5, Some(2.0), "backwards, and so not told");
                tokio::task::yield_now().await;
                progress::report(2.0, Some(2.0), None);
                Ok(2)
            }),
            "panic" => panic!("the secret of the lab"),
            "wait" => call.run(Wait, |_| async {
                let _given_up = GivenUp(Arc::clone(&self.given_up));
                self.waiting.notify_one();
                self.release.notified().await;
                Ok(1)
            }),
            "fail" => call.run(Fail, |_| async {
                let failure =
                    ToolFailure::new(FailureKind::Unavailable, "not today", Recovery::Retry);
                Err(failure.with_detail("disk of host db7 is full"))
            }),
            // Keeps what the call knows of its session, to be compared with the next one's.
            "old" => Box::pin(std::future::ready(ToolResult::new(
                call,
                Ok(Payload::new(call.session_id().map_or(0, str::len).to_string())),
            ))),
            _ => call.not_found(LAB),
        }
    }
}

pub(crate) fn lab() -> McpServer {
    lab_with(Lab::default())
}

pub(crate) fn lab_with(lab: Lab) -> McpServer {
    let mut server = McpServer::new(&SERVER);
    server.register(LAB, Arc::new(lab.clone())).unwrap();
    server.register(HIDDEN, Arc::new(lab)).unwrap();
    let show = |payload: &Payload| {
        let data = payload.as_str().trim_matches('"').to_owned();
        let link = Content::ResourceLink {
            uri: "lab:dot".to_owned(),
            name: "dot".to_owned(),
            description: None,
            mime_type: Some("image/png".to_owned()),
        };
        vec![Content::Image { data, mime_type: "image/png".to_owned() }, link]
    };
    server.present("picture", show).unwrap();
    server.complete().unwrap()
}
