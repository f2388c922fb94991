//! Combinators forward all methods that they do not change. The tests wrap a toolset whose methods all differ from the
//! defaults.

use std::sync::Arc;

use toolwright::spec::Approval;
use toolwright::{BoxError, BoxFuture, Payload, Scope, ToolCall, ToolResult};
use toolwright_runtime::tools::Combined;
use toolwright_runtime::{ToolEntry, Toolset};

use crate::planners::brief;
use crate::tools::{Log, payload};
use crate::toys::tool;

/// A toolset with the tools `a` and `b`, of which only `a` is available.
struct Whole {
    log: Log,
    inner: Combined,
}

impl Whole {
    fn new(log: &Log) -> Self {
        let inner =
            Combined::new().with("left", tool("a", |n| n + 1)).with("right", tool("b", |n| n * 10));
        Self { log: log.clone(), inner }
    }

    fn note<T: Send + 'static>(
        &self,
        line: String,
        value: T,
    ) -> BoxFuture<'static, Result<T, BoxError>> {
        self.log.push(line);
        Box::pin(std::future::ready(Ok(value)))
    }
}

impl Toolset for Whole {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        self.inner.tools(scope)
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        self.inner.known_tools()
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.inner.call(call)
    }

    fn enter<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        self.note("enter".into(), ())
    }

    fn exit<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        self.note("exit".into(), ())
    }

    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        self.note("save".into(), Some(payload(7)))
    }

    fn restore<'a>(
        &'a self,
        _: &'a Scope,
        saved: &'a Payload,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        self.note(format!("restore {saved}"), ())
    }

    fn open_handles(&self) -> Vec<String> {
        vec!["txn_1".into()]
    }

    fn instructions<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(Some("Use it well.".into())))
    }

    fn is_available(&self, tool: &str) -> bool {
        tool == "a"
    }
}

type Wrap = fn(Whole) -> Arc<dyn Toolset>;

/// The wrappers, with the names of `a` and `b` in each.
const WRAPPERS: [(&str, Wrap, [&str; 2]); 8] = [
    ("shared", |whole| Arc::new(Arc::new(whole)), ["a", "b"]),
    ("filtered", |whole| Arc::new(whole.filtered(|_| true)), ["a", "b"]),
    ("prefixed", |whole| Arc::new(whole.prefixed("x")), ["x.a", "x.b"]),
    ("renamed", |whole| Arc::new(whole.renamed([("a", "z")]).unwrap()), ["z", "b"]),
    ("prepared", |whole| Arc::new(whole.prepared(|_, tools| tools)), ["a", "b"]),
    ("available", |whole| Arc::new(whole.available_while(|_| true)), ["a", "b"]),
    ("instructed", |whole| Arc::new(whole.instructed(|_| None)), ["a", "b"]),
    (
        "guarded",
        |whole| Arc::new(whole.requiring_approval(Approval::default(), |_| false)),
        ["a", "b"],
    ),
];

fn names(tools: &[ToolEntry]) -> Vec<&str> {
    tools.iter().map(ToolEntry::name).collect()
}

#[tokio::test]
async fn each_combinator_lists_and_calls_every_tool_of_what_it_wraps() {
    for (case, wrap, expected) in WRAPPERS {
        let wrapped = wrap(Whole::new(&Log::default()));
        assert_eq!(names(&wrapped.tools(&Scope::default()).await.unwrap()), expected, "{case}");
        let known = wrapped.known_tools();
        // The tools of a prepared toolset are not known before a step.
        let known_ones = (case != "prepared").then_some(&expected[..]);
        assert_eq!(known.as_deref().map(names).as_deref(), known_ones, "{case}");
        for (name, result) in expected.into_iter().zip([r#"{"n":5}"#, r#"{"n":40}"#]) {
            let called = wrapped.call(&ToolCall::new(name, payload(4))).await;
            assert_eq!(brief(&called), result, "{case}: {name}");
        }
    }
}

#[tokio::test]
async fn each_combinator_forwards_instructions_and_availability() {
    for (case, wrap, [available, unavailable]) in WRAPPERS {
        let wrapped = wrap(Whole::new(&Log::default()));
        let text = wrapped.instructions(&Scope::default()).await;
        assert_eq!(text.as_deref(), Some("Use it well."), "{case}");
        assert!(wrapped.is_available(available), "{case}");
        assert!(!wrapped.is_available(unavailable), "{case}");
    }
}

#[tokio::test]
async fn r11_h6_h8_each_combinator_forwards_the_lifecycle() {
    for (case, wrap, _) in WRAPPERS {
        let (log, scope) = (Log::default(), Scope::default());
        let wrapped = wrap(Whole::new(&log));
        wrapped.enter(&scope).await.unwrap();
        wrapped.restore(&scope, &payload(3)).await.unwrap();
        assert_eq!(wrapped.open_handles(), ["txn_1"], "{case}");
        assert_eq!(wrapped.save(&scope).await.unwrap(), Some(payload(7)), "{case}");
        wrapped.exit(&scope).await.unwrap();
        assert_eq!(log.lines(), ["enter", r#"restore {"n":3}"#, "save", "exit"], "{case}");
    }
}
