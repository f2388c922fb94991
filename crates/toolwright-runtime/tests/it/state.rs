//! The state of suspended runs: steps, and the saved state of toolsets.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use toolwright::{BoxError, BoxFuture, Payload, Scope, ToolCall, ToolResult, ToolSpec};
use toolwright_runtime::tools::{Combined, IntoSource};
use toolwright_runtime::{
    Agent, FunctionTool, Handles, Registry, ResumeRequest, RunOutcome, RunRequest, Runtime, Script,
    Source, SuspendedRun, ToolEntry, Toolset,
};

use crate::planners::briefs;
use crate::sealed::key;
use crate::tools::{Log, call, payload};
use crate::toys::tool;

/// A toolset that counts its calls and saves the count. A handle is open from the first call on.
pub(crate) struct Counter {
    count: Arc<Mutex<i64>>,
    pub(crate) handles: Handles<()>,
    inner: FunctionTool,
    breaks: Option<&'static str>,
}

pub(crate) fn counter(breaks: Option<&'static str>) -> Counter {
    let count = Arc::<Mutex<i64>>::default();
    let counted = Arc::clone(&count);
    let inner = tool("count", move |_| {
        let mut count = counted.lock().unwrap();
        *count += 1;
        *count
    });
    Counter { count, handles: Handles::new("lock", "lock"), inner, breaks }
}

impl Toolset for Counter {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        self.inner.tools(scope)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        if self.handles.is_empty() {
            self.handles.open(());
        }
        self.inner.call(call)
    }

    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        Box::pin(std::future::ready(match self.breaks {
            Some("save") => Err("the disk is full".into()),
            _ => Ok(Some(payload(*self.count.lock().unwrap()))),
        }))
    }

    fn restore<'a>(
        &'a self,
        _: &'a Scope,
        saved: &'a Payload,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let digits = saved.as_str().trim_matches(|c: char| !c.is_ascii_digit());
        *self.count.lock().unwrap() = digits.parse().unwrap();
        Box::pin(std::future::ready(match self.breaks {
            Some("restore") => Err("it is another version's".into()),
            _ => Ok(()),
        }))
    }

    fn open_handles(&self) -> Vec<String> {
        self.handles.names()
    }
}

fn runtime(breaks: Option<&'static str>) -> Runtime {
    runtime_of(move |_: Scope| counter(breaks))
}

/// A runtime with an agent that counts twice, makes a call that needs an approval, and counts again.
pub(crate) fn runtime_of<K>(counter: impl IntoSource<K>) -> Runtime {
    let registry = Registry::new();
    registry.register_toolset("counter", counter).unwrap();
    let guarded = ToolSpec::new("wipe").with_approval(toolwright::spec::Approval::default());
    registry.register_tool(FunctionTool::new(guarded, async || true)).unwrap();
    let script = Script::new()
        .call([call("count", "a", 0)])
        .call([call("count", "b", 0)])
        .call([ToolCall::new("wipe", Payload::new("{}")).with_id("c")])
        .call([call("count", "d", 0)])
        .finish(payload(0));
    let agent = Agent::new("worker", "lab").with_tools(["wipe"]).with_toolsets(["counter"]);
    registry.register_agent(agent, script.into()).unwrap();
    Runtime::builder(registry).with_seal_keys([key()]).build()
}

pub(crate) fn request() -> RunRequest {
    RunRequest::new("worker", payload(0)).with_run_id("r1")
}

/// Exports and restores the run, as another process would.
async fn elsewhere(run: &SuspendedRun) -> SuspendedRun {
    let text = runtime(None).export(run).await.unwrap();
    runtime(None).restore(&text).await.unwrap()
}

async fn approve(run: &SuspendedRun, breaks: Option<&'static str>) -> RunOutcome {
    approve_in(runtime(breaks), run).await
}

/// Approves all questions of a run and resumes it in another runtime.
pub(crate) async fn approve_in(runtime: Runtime, run: &SuspendedRun) -> RunOutcome {
    let run = elsewhere(run).await;
    let answers: Vec<_> = run.pending().iter().map(|question| question.approve()).collect();
    runtime.resume(ResumeRequest::new(&run, answers)).await.unwrap()
}

#[tokio::test]
async fn h8_the_saved_state_of_toolsets_survives_a_suspension() {
    let outcome = runtime(None).run(request()).await.unwrap();
    let outcome = approve(outcome.suspended().unwrap(), None).await;
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, r#"{"n":2}"#, "true", r#"{"n":3}"#]);
}

#[tokio::test]
async fn h8_toolsets_with_the_same_name_have_separate_states() {
    let scope = Scope::default();
    let counters = |counts: [i64; 3], names: [&'static str; 3]| {
        let counters = counts.map(|count| {
            let counter = counter(None);
            *counter.count.lock().unwrap() = count;
            counter
        });
        let states = counters.each_ref().map(|counter| Arc::clone(&counter.count));
        let named = names.into_iter().zip(counters);
        let all = named.fold(Combined::new(), |all, (name, one)| all.with(name, one));
        (all, states)
    };
    for (names, expected) in [
        (["one"; 3], r#"{"one":{"n":1},"one#2":{"n":2},"one#3":{"n":3}}"#),
        (["one", "one", "one#2"], r#"{"one":{"n":1},"one#3":{"n":2},"one#2":{"n":3}}"#),
    ] {
        let saved = counters([1, 2, 3], names).0.save(&scope).await.unwrap().unwrap();
        assert_eq!(saved.as_str(), expected);
        let (others, states) = counters([0, 0, 0], names);
        others.restore(&scope, &saved).await.unwrap();
        assert_eq!(states.map(|count| *count.lock().unwrap()), [1, 2, 3]);
    }
}

#[tokio::test]
async fn h8_an_error_on_save_or_restore_ends_the_run() {
    let failure = runtime(Some("save")).run(request()).await.unwrap().result().unwrap_err();
    assert_eq!(failure.detail.as_deref(), Some("the disk is full"));
    let outcome = runtime(None).run(request()).await.unwrap();
    let outcome = approve(outcome.suspended().unwrap(), Some("restore")).await;
    assert_eq!(
        outcome.result().unwrap_err().detail.as_deref(),
        Some("toolset `counter` was not restored: it is another version's")
    );
}

#[tokio::test]
async fn h8_a_run_whose_state_cannot_be_saved_keeps_the_results_of_its_calls() {
    let registry = Registry::new();
    registry.register_toolset("counter", move |_: Scope| counter(Some("save"))).unwrap();
    let guarded = ToolSpec::new("wipe").with_approval(toolwright::spec::Approval::default());
    registry.register_tool(FunctionTool::new(guarded, async || true)).unwrap();
    let wipe = ToolCall::new("wipe", Payload::new("{}")).with_id("b");
    let script = Script::new().call([call("count", "a", 0), wipe]).finish(payload(0));
    let agent = Agent::new("worker", "lab").with_tools(["wipe"]).with_toolsets(["counter"]);
    registry.register_agent(agent, script.into()).unwrap();
    let outcome = Runtime::new(registry).run(request()).await.unwrap();
    assert_eq!(outcome.result().unwrap_err().detail.as_deref(), Some("the disk is full"));
    let ended = outcome.calls().map(|record| record.result.outcome.is_ok());
    assert_eq!(ended.collect::<Vec<_>>(), [true, false]);
}

/// H6: they become invalid if the run is suspended.
#[tokio::test]
async fn h6_a_question_lists_the_open_handles() {
    let outcome = runtime(None).run(request()).await.unwrap();
    let question = outcome.suspended().unwrap().pending()[0].clone();
    let [handle] = question.open_handles.as_slice() else { panic!("{:?}", question.open_handles) };
    assert!(handle.starts_with("lock_"), "{handle}");
}

/// H6: also those that other calls open after the question was asked.
#[tokio::test]
async fn h6_a_question_lists_the_handles_that_its_step_opens() {
    let wipe = ToolCall::new("wipe", Payload::new("{}")).with_id("b");
    for calls in [[call("count", "a", 0), wipe.clone()], [wipe, call("count", "a", 0)]] {
        let registry = Registry::new();
        registry.register_toolset("counter", Source::per_step(|_| counter(None))).unwrap();
        let guarded = ToolSpec::new("wipe").with_approval(toolwright::spec::Approval::default());
        registry.register_tool(FunctionTool::new(guarded, async || true)).unwrap();
        let script = Script::new().call(calls).finish(payload(0));
        let agent = Agent::new("worker", "lab").with_tools(["wipe"]).with_toolsets(["counter"]);
        registry.register_agent(agent, script.into()).unwrap();
        let outcome = Runtime::new(registry).run(request()).await.unwrap();
        let question = outcome.suspended().unwrap().pending()[0].clone();
        let [handle] = question.open_handles.as_slice() else {
            panic!("{:?}", question.open_handles)
        };
        assert!(handle.starts_with("lock_"), "{handle}");
    }
}

/// H8: also in another process.
#[tokio::test]
async fn h8_a_run_can_be_resumed_from_its_checkpoint_after_any_step() {
    let kept = Arc::<Mutex<Vec<SuspendedRun>>>::default();
    let keep = Arc::clone(&kept);
    let request = request().with_checkpoints(move |state| keep.lock().unwrap().push(state));
    let outcome = runtime(None).run(request).await.unwrap();
    assert!(outcome.suspended().is_some());
    let kept = kept.lock().unwrap().clone();
    assert_eq!(kept.len(), 2, "two steps were done");
    for (done, state) in kept.iter().enumerate() {
        let state = elsewhere(state).await;
        assert!(state.pending().is_empty());
        let later = Arc::<Mutex<Vec<SuspendedRun>>>::default();
        let keep = Arc::clone(&later);
        let resume = ResumeRequest::new(&state, [])
            .with_checkpoints(move |state| keep.lock().unwrap().push(state));
        let outcome = runtime(None).resume(resume).await.unwrap();
        assert_eq!(outcome.run_id, "r1");
        assert_eq!(later.lock().unwrap().len(), 1 - done);
        let outcome = approve(outcome.suspended().unwrap(), None).await;
        assert_eq!(briefs(&outcome), [r#"{"n":1}"#, r#"{"n":2}"#, "true", r#"{"n":3}"#]);
    }
}

/// It has no question, and the process that resumes it may die, too.
#[tokio::test]
async fn a_checkpoint_can_be_resumed_again() {
    let kept = Arc::<Mutex<Vec<SuspendedRun>>>::default();
    let keep = Arc::clone(&kept);
    let runtime = runtime(None);
    let request = request().with_checkpoints(move |state| keep.lock().unwrap().push(state));
    runtime.run(request).await.unwrap();
    let first = kept.lock().unwrap()[0].clone();
    let exported = runtime.export(&first).await.unwrap();
    for _ in 0..2 {
        let state = runtime.restore(&exported).await.unwrap();
        let outcome = runtime.resume(ResumeRequest::new(&state, [])).await.unwrap();
        assert_eq!(outcome.suspended().unwrap().pending().len(), 1);
    }
}

#[tokio::test]
async fn i4_open_handles_of_a_toolset_that_is_built_per_step_are_logged() {
    let warned = Log::default();
    let _guard = tracing::subscriber::set_default(Warnings(warned.clone()));
    for per_step in [false, true] {
        let registry = Registry::new();
        let source = |_| counter(None);
        if per_step {
            registry.register_toolset("counter", Source::per_step(source)).unwrap();
        } else {
            registry.register_toolset("counter", source).unwrap();
        }
        let script = Script::new()
            .call([call("count", "a", 0)])
            .call([call("count", "b", 0)])
            .finish(payload(0));
        let agent = Agent::new("worker", "lab").with_toolsets(["counter"]);
        registry.register_agent(agent, script.into()).unwrap();
        Runtime::new(registry).run(request()).await.unwrap();
        assert_eq!(warned.lines().len(), if per_step { 2 } else { 0 });
    }
    assert!(warned.lines()[0].contains("open handles become invalid"), "{:?}", warned.lines());
}

/// Logs the messages of warnings.
pub(crate) struct Warnings(pub(crate) Log);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut words = Words(String::new());
        event.record(&mut words);
        self.0.push(words.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

struct Words(String);

impl tracing::field::Visit for Words {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, "{}={value:?} ", field.name());
    }
}

/// Two toolsets have the same name, and the factory of the first returns none when the run is resumed.
#[tokio::test]
async fn a_toolset_does_not_get_the_state_of_another_that_does_not_exist_now() {
    let registry = Registry::new();
    let guarded = ToolSpec::new("wipe").with_approval(toolwright::spec::Approval::default());
    registry.register_tool(FunctionTool::new(guarded, async || true)).unwrap();
    let script = Script::new()
        .call([call("a.count", "a", 0), call("b.count", "b", 0)])
        .call([call("b.count", "c", 0)])
        .call([ToolCall::new("wipe", Payload::new("{}")).with_id("d")])
        .call([call("b.count", "e", 0)])
        .finish(payload(0));
    registry
        .register_agent(Agent::new("worker", "lab").with_tools(["wipe"]), script.into())
        .unwrap();
    let runtime = Runtime::new(registry);
    let counter_of = |prefix: &'static str, exists: bool| {
        move |_: Scope| exists.then(|| counter(None).prefixed(prefix))
    };
    let request = request().with_toolset("counter", counter_of("a", true));
    let request = request.with_toolset("counter", counter_of("b", true));
    let outcome = runtime.run(request).await.unwrap();
    let run = outcome.suspended().unwrap();
    let resume = ResumeRequest::new(run, [run.pending()[0].approve()]);
    let resume = resume.with_toolset("counter", counter_of("a", false));
    let resume = resume.with_toolset("counter", counter_of("b", true));
    let outcome = runtime.resume(resume).await.unwrap();
    assert_eq!(briefs(&outcome)[4..], [r#"{"n":3}"#]);
}
