//! Journals: a run that is made again takes the same way, and nothing that was kept happens twice.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use toolwright::{BoxError, BoxFuture, FailureKind, Outcome, Payload, ToolCall};
use toolwright_runtime::{
    Agent, ApprovalRequest, Approver, Collector, Hook, Hooks, Journal, Registry, RunOutcome,
    RunRequest, Runtime, Step, Verdict,
};

use crate::approvals::guarded;
use crate::planners::{briefs, rule, steps};
use crate::tools::{Log, Think, call, payload};
use crate::toys::tool;
use toolwright::Tool;

/// Keeps entries in memory, in the order in which they came.
#[derive(Default)]
struct Tape(Mutex<Vec<(String, String)>>);

impl Tape {
    /// The first so many entries of another.
    fn cut(from: &Self, length: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(from.0.lock().unwrap()[..length].to_vec())))
    }

    fn keys(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(key, _)| key.clone()).collect()
    }
}

impl Journal for Tape {
    fn record<'a>(
        &'a self,
        run_id: &'a str,
        key: &'a str,
        effect: BoxFuture<'a, String>,
    ) -> BoxFuture<'a, Result<String, BoxError>> {
        // Runs that answer calls get their ids from the journal, so their keys are told apart by it.
        let key = if run_id == "r1" { key.to_owned() } else { format!("child {key}") };
        Box::pin(async move {
            let kept: BTreeMap<_, _> = self.0.lock().unwrap().iter().cloned().collect();
            if let Some(kept) = kept.get(&key) {
                return Ok(kept.clone());
            }
            let entry = effect.await;
            self.0.lock().unwrap().push((key, entry.clone()));
            Ok(entry)
        })
    }
}

/// Says yes, and that it was asked.
struct Asked(Log);

impl Approver for Asked {
    fn decide<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        self.0.push("asked");
        Box::pin(std::future::ready(Verdict::ApproveWith(payload(9))))
    }
}

/// Adds one to the arguments of `free`.
struct More(Log);

impl Hook for More {
    fn name(&self) -> &'static str {
        "more"
    }

    fn before<'a>(&'a self, _: &'a ToolCall) -> BoxFuture<'a, Result<Payload, BoxError>> {
        self.0.push("hooked before");
        Box::pin(std::future::ready(Ok(payload(2))))
    }

    fn after<'a>(
        &'a self,
        _: &'a ToolCall,
        outcome: Outcome,
    ) -> BoxFuture<'a, Result<Outcome, BoxError>> {
        self.0.push("hooked after");
        Box::pin(std::future::ready(Ok(outcome)))
    }
}

/// A parent calls `free`, `wipe` (guarded) and `think`, which runs of a child answer that calls `free` too. Everything
/// says what it does.
fn runtime(log: &Log, journal: Arc<dyn Journal>) -> (Runtime, Arc<Collector>) {
    let registry = Registry::new();
    registry.register_tool(guarded(log)).unwrap();
    let free = log.clone();
    let free = tool("free", move |n| {
        free.push(format!("free {n}"));
        n + 1
    });
    registry.register_tool(free).unwrap();
    let said = log.clone();
    let child = rule(move |turn| {
        said.push(format!("child plans {}", turn.step()));
        Ok(match turn.last_results().next() {
            None => Step::Call(vec![call("free", "c", 5)]),
            Some(result) => Step::Finish(result.outcome.clone()?),
        })
    });
    let agent = Agent::new("child", "lab").with_tools(["free"]).implementing(Think::SPEC);
    registry.register_agent(agent, child).unwrap();
    let agent = Agent::new("parent", "lab").with_tools(["free", "wipe", "think"]);
    let first = vec![call("free", "a", 1), call("wipe", "b", 3)];
    registry.register_agent(agent, steps(vec![first, vec![call("think", "d", 7)]])).unwrap();
    let all = Collector::new();
    let runtime = Runtime::builder(registry)
        .with_approver(Arc::new(Asked(log.clone())))
        .with_hooks(Hooks::new().with_for("free", More(log.clone())))
        .with_journal(journal)
        .with_events(all.clone())
        .build();
    (runtime, all)
}

async fn run(log: &Log, journal: Arc<dyn Journal>) -> (RunOutcome, Vec<String>) {
    let (runtime, all) = runtime(log, journal);
    let request = RunRequest::new("parent", payload(0)).with_run_id("r1");
    let outcome = runtime.run(request).await.unwrap();
    let told = all.events().iter().map(|event| event.kind.as_str().to_owned()).collect();
    (outcome, told)
}

const KEYS: [&str; 15] = [
    "step/0",
    "call/b/question",
    "call/a/before",
    "call/a",
    "call/a/after",
    "call/b/answer",
    "call/b",
    "step/1",
    "call/d/run/1",
    "child step/0",
    "child call/c/before",
    "child call/c",
    "child call/c/after",
    "child step/1",
    "step/2",
];

#[tokio::test]
async fn a_run_gets_from_outside_what_its_journal_keeps_under_stable_keys() {
    let tape = Arc::new(Tape::default());
    let (outcome, _) = run(&Log::default(), tape.clone()).await;
    assert_eq!(briefs(&outcome), [r#"{"n":3}"#, r#"{"n":9}"#, r#"{"n":3}"#]);
    assert_eq!(tape.keys(), KEYS);
}

/// As after a crash at any moment: whatever was kept does not happen again, and the run ends as it would have.
#[tokio::test]
async fn a_run_that_is_made_again_from_any_point_ends_the_same_and_does_nothing_twice() {
    let (whole, log) = (Arc::new(Tape::default()), Log::default());
    let (expected, told) = run(&log, whole.clone()).await;
    let all = log.lines();
    let mut done = Vec::new();
    for length in 0..=whole.keys().len() {
        let (log, tape) = (Log::default(), Tape::cut(&whole, length));
        let (outcome, told_again) = run(&log, tape.clone()).await;
        assert_eq!(outcome, expected, "after {length} entries");
        assert_eq!(told_again, told, "after {length} entries");
        let kept = all.len() - log.lines().len();
        assert!(done.last().is_none_or(|last| *last <= kept), "after {length} entries");
        assert_eq!(log.lines(), all[kept..], "what had not happened, and nothing else");
        done.push(kept);
    }
    assert_eq!((done[0], done.last()), (0, Some(&all.len())), "{all:?}");
}

/// Keeps nothing that it was given.
struct Broken(&'static str);

impl Journal for Broken {
    fn record<'a>(
        &'a self,
        _: &'a str,
        key: &'a str,
        effect: BoxFuture<'a, String>,
    ) -> BoxFuture<'a, Result<String, BoxError>> {
        Box::pin(async move {
            match self.0 {
                "unreadable" if key == "call/a" => Ok("{".to_owned()),
                "gone" if key == "call/a" => Err("the disk is full".into()),
                "gone at first" => Err("the disk is full".into()),
                _ => Ok(effect.await),
            }
        })
    }
}

#[tokio::test]
async fn what_a_journal_cannot_keep_fails_the_call_or_the_run_it_is_about() {
    let log = Log::default();
    for how in ["unreadable", "gone"] {
        let (outcome, _) = run(&log, Arc::new(Broken(how))).await;
        let failure = outcome.exchanges().next().unwrap().result.outcome.clone().unwrap_err();
        assert_eq!(failure.kind, FailureKind::Internal);
        let detail = failure.detail.unwrap();
        assert!(detail.contains("call/a"), "{detail}");
    }
    let (outcome, _) = run(&log, Arc::new(Broken("gone at first"))).await;
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Internal);
}
