//! Checks of arguments: executors and functions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use toolwright::{BoxFuture, Executor, Payload, ToolCall, ToolResult};
use toolwright_runtime::{FunctionTool, Registry, Runtime, Source};

use crate::planners::brief;
use crate::tools::{Log, N, payload};
use crate::toys::spec;

/// An executor that returns its arguments without checking them.
struct Blind(Log);

impl Executor for Blind {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.0.push(call.args().as_str());
        Box::pin(std::future::ready(ToolResult::new(call, Ok(call.args().clone()))))
    }
}

#[tokio::test]
async fn invalid_arguments_do_not_reach_an_executor() {
    let log = Log::default();
    let registry = Registry::new();
    let source =
        Source::executed([spec("echo").with_types::<N, N>()], Arc::new(Blind(log.clone())));
    registry.register_toolset("toys", source).unwrap();
    let catalog = registry.catalog();
    catalog.publish("toys", "x").unwrap();
    catalog.allow("agent", "toys").unwrap();
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    let session = runtime.open_session("agent").await.unwrap();
    for (args, expected) in [(r#"{"n":"one"}"#, "invalid_call"), (r#"{"n":1}"#, r#"{"n":1}"#)] {
        let result = session.call(ToolCall::new("x.echo", Payload::new(args))).await;
        assert_eq!(brief(&result), expected);
    }
    assert_eq!(log.lines(), [r#"{"n":1}"#]);
}

static READ: AtomicUsize = AtomicUsize::new(0);

#[derive(Deserialize, JsonSchema)]
struct Counted {
    #[schemars(with = "i64")]
    #[serde(deserialize_with = "counted")]
    n: i64,
}

fn counted<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    READ.fetch_add(1, Ordering::SeqCst);
    i64::deserialize(from)
}

/// Decoding is also the check.
#[tokio::test]
async fn the_arguments_of_a_function_are_read_once() {
    let registry = Registry::new();
    let double = FunctionTool::new(spec("double"), async |args: Counted| N { n: args.n * 2 });
    registry.register_tool(double).unwrap();
    let result = Runtime::new(registry).call(ToolCall::new("double", payload(4))).await;
    assert_eq!(brief(&result), r#"{"n":8}"#);
    assert_eq!(READ.load(Ordering::SeqCst), 1);
}
