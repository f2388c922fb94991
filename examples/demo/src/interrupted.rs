//! The demo's run is interrupted during each of its effects, and repeated from its journal. The tools are in a runtime that goes
//! on, as in the worker of an engine.

use std::collections::BTreeMap;
use std::future::{pending, ready};
use std::sync::{Arc, Mutex};

use planner_session_planner_agent::specs::AGENT;
use tokio::sync::{Mutex as AsyncMutex, Notify};
use toolwright::{BoxError, BoxFuture, Executor, Payload, Registrar, Scope, ToolCall, ToolResult};
use toolwright_runtime::tools::IntoSource;
use toolwright_runtime::{
    Agent, ApprovalRequest, CallRequest, Journal, Registry, Runtime, Source, ToolEntry, Toolset,
    Verdict,
};

use crate::pages::Pages;
use crate::planner::RulePlanner;

/// A journal in memory. After so many new effects it stops: the next one happens, and is not recorded.
struct Tape {
    entries: Mutex<BTreeMap<String, String>>,
    left: Mutex<usize>,
    stopped: Notify,
}

impl Tape {
    fn stopping_after(left: usize) -> Self {
        let (entries, stopped) = (Mutex::default(), Notify::new());
        Self { entries, left: Mutex::new(left), stopped }
    }

    /// Returns the same journal after a restart. It does not stop again.
    fn restarted(&self) -> Self {
        let entries = Mutex::new(self.entries.lock().unwrap().clone());
        Self { entries, ..Self::stopping_after(usize::MAX) }
    }

    fn entry(&self, key: &str) -> Option<String> {
        self.entries.lock().unwrap().get(key).cloned()
    }
}

impl Journal for Tape {
    fn record<'a>(
        &'a self,
        run_id: &'a str,
        key: &'a str,
        effect: BoxFuture<'a, String>,
    ) -> BoxFuture<'a, Result<String, BoxError>> {
        Box::pin(async move {
            let key = format!("{run_id}/{key}");
            if let Some(entry) = self.entry(&key) {
                return Ok(entry);
            }
            let entry = effect.await;
            let left = self.left.lock().unwrap().checked_sub(1);
            let Some(left) = left else {
                self.stopped.notify_one();
                return pending().await;
            };
            *self.left.lock().unwrap() = left;
            self.entries.lock().unwrap().insert(key, entry.clone());
            Ok(entry)
        })
    }

    fn find<'a>(
        &'a self,
        run_id: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, BoxError>> {
        Box::pin(ready(Ok(self.entry(&format!("{run_id}/{key}")))))
    }
}

/// The demo's tools in a runtime of their own, which makes each call once and keeps the pages between calls.
struct Tools {
    runtime: Runtime,
    pages: Source,
    listed: Vec<ToolEntry>,
    done: AsyncMutex<Done>,
}

#[derive(Default)]
struct Done {
    results: BTreeMap<String, ToolResult>,
    pages: Option<Payload>,
    /// The tools of the calls that were made.
    calls: Vec<String>,
}

impl Tools {
    async fn new() -> Result<Self, BoxError> {
        let runtime = Runtime::builder(crate::registry(Arc::new(RulePlanner))?)
            .with_approver(Arc::new(|_: &ApprovalRequest| Verdict::Approve))
            .with_execution_service(crate::execute())
            .build();
        let pages = (|_: Scope| Pages::default()).into_source();
        let listed = Pages::default().tools(&Scope::default()).await?;
        let listed = listed.into_iter().map(ToolEntry::with_resumable_calls).collect();
        Ok(Self { runtime, pages, listed, done: AsyncMutex::default() })
    }

    async fn run(&self, call: &ToolCall) -> ToolResult {
        let mut done = self.done.lock().await;
        if let Some(result) = done.results.get(call.id()) {
            return result.clone();
        }
        done.calls.push(call.tool().to_owned());
        let request = CallRequest::from(call.clone().with_clearance(None));
        let is_page = self.listed.iter().any(|tool| tool.is_called(call.tool()));
        let result = if is_page {
            let pages = ("pages", &self.pages);
            let called = self.runtime.call_in(pages, None, done.pages.as_ref(), request).await;
            let (result, saved) = called.expect("pages can be saved and restored");
            done.pages = saved;
            result
        } else {
            self.runtime.call(request).await
        };
        done.results.insert(call.id().to_owned(), result.clone());
        result
    }
}

impl Executor for Tools {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.run(call))
    }

    fn has_resumable_calls(&self) -> bool {
        true
    }
}

/// The pages, whose calls go to the runtime of the tools.
struct RemotePages(Arc<Tools>);

impl Toolset for RemotePages {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(ready(Ok(self.0.listed.clone())))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.0.execute(call)
    }
}

/// Makes the call of the agent's tool in a new runtime, until it ends or its journal stops.
async fn plan(tools: &Arc<Tools>, tape: &Arc<Tape>) -> Result<Option<ToolResult>, BoxError> {
    let mut registry = Registry::new();
    registry.register(todos_tools::specs::ALL, tools.clone())?;
    registry.register(calculator_tools::specs::ALL, tools.clone())?;
    registry.register_toolset("pages", RemotePages(Arc::clone(tools)))?;
    let agent = Agent::from(&AGENT).with_toolsets(["pages"]);
    registry.register_agent(agent, Arc::new(RulePlanner))?;
    let runtime = Runtime::builder(registry)
        .with_approver(Arc::new(|_: &ApprovalRequest| Verdict::Approve))
        .with_journal(tape.clone())
        .build();
    let scope = Scope { run_id: Some("demo".to_owned()), ..Scope::default() };
    let call = crate::plan_session(crate::DEFAULT_GOAL.to_owned())?;
    let calling = runtime.call(call.with_id("plan").with_scope(scope));
    Ok(tokio::select! {
        biased;
        result = calling => Some(result),
        () = tape.stopped.notified() => None,
    })
}

/// A call that happened, and whose outcome was not recorded, is not made again: its toolset knows it by its id.
#[tokio::test(start_paused = true)]
async fn the_demos_run_ends_the_same_from_every_effect_and_makes_no_call_twice() {
    let (tools, tape) = (Arc::new(Tools::new().await.unwrap()), Tape::stopping_after(usize::MAX));
    let tape = Arc::new(tape);
    let expected = plan(&tools, &tape).await.unwrap().unwrap();
    assert!(expected.outcome.is_ok(), "{expected:?}");
    let mut calls = std::mem::take(&mut tools.done.lock().await.calls);
    calls.sort();
    let effects = tape.entries.lock().unwrap().len();
    assert!(effects > 30, "{effects}");
    for stop in 0..effects {
        let tools = Arc::new(Tools::new().await.unwrap());
        let tape = Arc::new(Tape::stopping_after(stop));
        assert_eq!(plan(&tools, &tape).await.unwrap(), None, "after {stop} effects");
        let result = plan(&tools, &Arc::new(tape.restarted())).await.unwrap().unwrap();
        assert_eq!(result, expected, "after {stop} effects");
        let mut again = std::mem::take(&mut tools.done.lock().await.calls);
        again.sort();
        assert_eq!(again, calls, "after {stop} effects");
    }
}
