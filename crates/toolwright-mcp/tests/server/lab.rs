//! The hand-written toolset that the tests serve.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use toolwright::spec::ToolAnnotations;
use toolwright::{
    BoxFuture, Executor, FailureKind, Map, Payload, Recovery, Registrar, Tool, ToolCall,
    ToolFailure, ToolResult, ToolSpec, Value, progress,
};
use toolwright_mcp::{Content, McpServer, ServerSpec};

pub(crate) const ANY_OBJECT: &str = r#"{"type":"object","properties":{"z":{},"a":{}}}"#;

/// Declares tools that accept any arguments.
macro_rules! tools {
    ($(
        $(#[$doc:meta])*
        $tool:ident: $result:ty = $name:literal $(.$set:ident($value:expr))*;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $tool;

        impl Tool for $tool {
            type Args = Map<Value>;
            type Result = $result;
            const SPEC: &'static ToolSpec = {
                static SPEC: ToolSpec = ToolSpec::of::<$tool>($name)
                    .with_toolset("lab")
                    .with_service("lab")
                    .with_args_schema(ANY_OBJECT)
                    $(.$set($value))*;
                &SPEC
            };
        }
    )*};
}

tools! {
    Echo: Map<Value> = "echo"
        .with_title("Echo")
        .with_description("Returns its arguments.")
        .with_aliases(&["repeat"])
        .with_annotations(ToolAnnotations { read_only: Some(true), ..ToolAnnotations::UNKNOWN })
        .with_args_sample(r#"{"a":1}"#)
        .with_result_schema(ANY_OBJECT);
    Count: i64 = "count"
        .with_description("Counts the arguments.")
        .with_result_schema(r#"{"type":"integer"}"#);
    Tree: Value = "tree"
        .with_description("Grows a tree.")
        .with_tags(&["plants"])
        .with_result_schema(r##"{"$ref":"#/$defs/Tree","$defs":{"Tree":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/$defs/Tree"}}}}}}"##);
    Picture: String = "picture"
        .with_description("Draws a dot.")
        .with_result_schema(r#"{"type":"string"}"#);
    /// A client repeats the region in an HTTP header, for proxies.
    Regional: Map<Value> = "regional"
        .with_args_schema(r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#);
    Anything: Value = "anything";
    Steps: i64 = "steps";
    Panic: i64 = "panic";
    Wait: i64 = "wait";
    Fail: i64 = "fail";
    Old: i64 = "old"
        .replaced_by("count");
    Inner: i64 = "inner"
        .with_toolset("hidden");
    Talk: i64 = "talk"
        .with_toolset("hidden");
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
static HIDDEN: &[&ToolSpec] = &[Inner::SPEC, Talk::SPEC];
pub(crate) static SERVER: ServerSpec =
    ServerSpec { name: "lab", version: "2.1.0", toolsets: &[LAB] };
static TALKING: ServerSpec = ServerSpec { name: "talking", version: "1", toolsets: &[HIDDEN] };

#[derive(Clone, Default)]
pub(crate) struct Lab {
    /// Notified when a call of `wait` or `talk` ends or is dropped.
    pub(crate) given_up: Arc<Notify>,
    /// Notified when a call of `wait` starts.
    pub(crate) waiting: Arc<Notify>,
    /// Makes a call of `wait` return.
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
                progress::report(0.5, Some(2.0), "less than before, so dropped");
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
            // Reports its progress for longer than a call may last.
            "talk" => call.run(Talk, |_| async {
                let _given_up = GivenUp(Arc::clone(&self.given_up));
                for step in 0..1_000 {
                    progress::report(f64::from(step), None, None);
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                Ok(1)
            }),
            "fail" => call.run(Fail, |_| async {
                let failure =
                    ToolFailure::new(FailureKind::Unavailable, "not today", Recovery::Retry);
                Err(failure.with_detail("disk of host db7 is full"))
            }),
            // Returns the length of the session id.
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

/// Serves the tools that the lab hides.
pub(crate) fn talking(lab: Lab) -> McpServer {
    let mut server = McpServer::new(&TALKING);
    server.register(HIDDEN, Arc::new(lab)).unwrap();
    server
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
