//! Toolsets with one tool, which log their lifecycle, for the tests.

use std::time::Duration;

use toolwright::spec::Text;
use toolwright::{BoxError, BoxFuture, Scope, ToolCall, ToolFailure, ToolResult, ToolSpec};
use toolwright_runtime::{FunctionTool, ToolEntry, Toolset};

use crate::tools::{Log, N};

/// Creates a spec of the toolset `toys`.
pub(crate) fn spec(name: impl Into<Text>) -> ToolSpec {
    ToolSpec::new(name).with_toolset("toys").with_service("lab")
}

/// Creates a tool that applies a function to `n`.
pub(crate) fn tool(
    name: &'static str,
    function: impl Fn(i64) -> i64 + Send + Sync + 'static,
) -> FunctionTool {
    FunctionTool::new(spec(name), move |args: N| {
        let n = function(args.n);
        async move { Ok::<_, ToolFailure>(N { n }) }
    })
}

/// A toolset with one tool of the same name, which logs its lifecycle.
#[derive(Clone)]
pub(crate) struct Toy {
    pub(crate) name: &'static str,
    pub(crate) log: Log,
    /// Fails to enter.
    pub(crate) stuck: bool,
    /// Fails to exit.
    pub(crate) exit_fails: bool,
    /// The milliseconds that each method waits.
    pub(crate) waits: u32,
    pub(crate) inner: FunctionTool,
}

impl Toy {
    pub(crate) fn new(name: &'static str, log: &Log) -> Self {
        let inner = tool(name, |n| n + 1);
        Self { name, log: log.clone(), stuck: false, exit_fails: false, waits: 0, inner }
    }

    fn note(&self, what: &str, scope: &Scope) {
        let depth = if scope.parent_call_id.is_some() { " in child" } else { "" };
        self.log.push(format!("{what} {}{depth}", self.name));
    }

    async fn wait(&self) {
        for _ in 0..self.waits {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

impl Toolset for Toy {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            self.wait().await;
            self.inner.tools(scope).await
        })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            self.wait().await;
            self.inner.call(call).await
        })
    }

    fn enter<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            self.wait().await;
            if self.stuck {
                return Err("the door is locked".into());
            }
            self.note("enter", scope);
            Ok(())
        })
    }

    fn exit<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            self.wait().await;
            self.note("exit", scope);
            if self.exit_fails { Err("the door is stuck".into()) } else { Ok(()) }
        })
    }

    fn instructions<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(Some(format!("Use {} well.", self.name))))
    }
}
