//! Durable runs of agents.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use toolwright::spec::{Approval, Implementation};
use toolwright::{FailureKind, Payload, ToolCall, ToolFailure, ToolSpec};
use toolwright_restate::{Line, RestateToolset, RunStatus, Runs, RunsError, Start};
use toolwright_runtime::tools::{Delegation, IntoSource};
use toolwright_runtime::{
    Agent, ApprovalRequest, FunctionTool, Registry, Runtime, RuntimeBuilder, Script, Toolset,
    Verdict,
};

use crate::lab::{Effects, Lab, N, Running, call, double, key, slow, spec, until};

const WAIT: Duration = Duration::from_millis(500);

/// A tool that needs an approval.
pub(crate) fn wipe(effects: &Effects) -> FunctionTool {
    let effects = effects.clone();
    FunctionTool::new(spec("wipe").with_approval(Approval::default()), move |N { n }: N| {
        effects.push(format!("wipe {n}"));
        std::future::ready(n)
    })
}

fn start() -> Start {
    Start::new(&Payload::new(r#"{"goal":"x"}"#)).unwrap()
}

async fn until_asked(runs: &Runs, run: &str) {
    let is_waiting =
        || async { runs.state(run).await.is_ok_and(|state| state.status == RunStatus::Waiting) };
    until(is_waiting, "a question").await;
}

pub(crate) fn event(line: &Line) -> String {
    let call = line.call_id.as_deref().unwrap_or_default();
    format!("{} {call}", line.event).trim().to_owned()
}

fn step(calls: &[(&str, &str, i64)]) -> Vec<ToolCall> {
    calls.iter().map(|(tool, id, n)| call(tool, id, *n)).collect()
}

/// An agent that doubles twice at once, then waits, and wipes after an approval.
#[derive(Clone, Default)]
struct Janitor {
    effects: Effects,
    began: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

impl Janitor {
    fn runtime(&self) -> RuntimeBuilder {
        let registry = Registry::new();
        let tools =
            [double(&self.effects), wipe(&self.effects), slow(&self.began, &self.ended, WAIT)];
        registry.register_tools(tools).unwrap();
        let planner = Script::new()
            .call(step(&[("double", "a", 1), ("double", "b", 2)]))
            .call(step(&[("slow", "c", 3)]))
            .call(step(&[("wipe", "d", 4), ("double", "e", 5)]))
            .finish(Payload::new(r#""clean""#));
        let agent = Agent::new("janitor", "lab").with_toolsets(["lab"]);
        registry.register_agent(agent, planner.into()).unwrap();
        Runtime::builder(registry)
    }

    async fn lab(&self) -> Option<Lab> {
        let this = self.clone();
        Lab::start(move || this.runtime()).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_in_another_worker_and_repeats_no_recorded_effect() {
    let janitor = Janitor::default();
    let Some(mut lab) = janitor.lab().await else { return };
    let runs = Runs::new(&lab.ingress(), "janitor");
    runs.start("r1", &start()).await.unwrap();
    until(|| async { janitor.began.load(Ordering::SeqCst) == 1 }, "the slow call").await;
    lab.replace_worker();
    until_asked(&runs, "r1").await;
    assert_eq!(janitor.began.load(Ordering::SeqCst), 2, "the interrupted call is made again");

    // The question outlasts everything.
    lab.server.process.kill();
    lab.replace_worker();
    lab.server.process.restart();
    let state = runs.state("r1").await.unwrap();
    let [question] = &state.questions[..] else { panic!("{state:?}") };
    assert_eq!((question.tool.as_str(), question.args.as_str()), ("wipe", r#"{"n":4}"#));
    assert_eq!(janitor.effects.sorted(), ["double 1", "double 2", "double 5"]);
    let forged = toolwright_runtime::Answer { digest: "0".repeat(64), ..question.approve() };
    assert!(matches!(
        runs.answer("r1", &forged).await,
        Err(RunsError::Refused { status: 409, .. })
    ));
    runs.answer("r1", &question.approve()).await.unwrap();
    let again = runs.answer("r1", &question.deny()).await;
    assert!(matches!(again, Err(RunsError::Refused { status: 404 | 409, .. })), "{again:?}");
    assert_eq!(runs.result("r1").await.unwrap().unwrap().as_str(), r#""clean""#);
    assert_eq!(janitor.effects.sorted(), ["double 1", "double 2", "double 5", "wipe 4"]);

    let state = runs.state("r1").await.unwrap();
    assert_eq!((state.status, state.questions.len()), (RunStatus::Finished, 0));
    let mut log: Vec<_> = runs.log("r1").await.unwrap().iter().map(event).collect();
    // Calls of one step may end in any order.
    log[3..5].sort_unstable();
    let expected = [
        "run_started",
        "tool_call_scheduled a",
        "tool_call_scheduled b",
        "tool_result_received a",
        "tool_result_received b",
        "tool_call_scheduled c",
        "tool_result_received c",
        "tool_call_scheduled e",
        "approval_requested d",
        "tool_result_received e",
        "run_suspended",
        "run_resumed",
        "approval_answered d",
        "tool_call_scheduled d",
        "tool_result_received d",
        "run_finished",
    ];
    assert_eq!(log, expected);
    let again = runs.start("r1", &start()).await;
    assert!(matches!(again, Err(RunsError::Refused { status: 409, .. })), "{again:?}");
    let absent = runs.state("r2").await;
    assert!(matches!(absent, Err(RunsError::Refused { status: 404, .. })), "{absent:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_makes_no_more_calls() {
    let janitor = Janitor::default();
    let Some(lab) = janitor.lab().await else { return };
    let runs = Runs::new(&lab.ingress(), "janitor");
    runs.start("busy", &start()).await.unwrap();
    until(|| async { janitor.began.load(Ordering::SeqCst) == 1 }, "the slow call").await;
    runs.cancel("busy").await.unwrap();
    let failure = runs.result("busy").await.unwrap().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Cancelled);

    runs.start("waiting", &start()).await.unwrap();
    until_asked(&runs, "waiting").await;
    runs.cancel("waiting").await.unwrap();
    let failure = runs.result("waiting").await.unwrap().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Cancelled);
    assert!(!janitor.effects.all().contains(&"wipe 4".to_owned()));
    assert_eq!(janitor.ended.load(Ordering::SeqCst), 1, "only the second run's slow call ended");

    let before = janitor.effects.all();
    runs.cancel("early").await.unwrap();
    runs.start("early", &start()).await.unwrap();
    let failure = runs.result("early").await.unwrap().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Cancelled);
    assert_eq!(janitor.effects.all(), before, "a run that was cancelled before it began");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_cannot_begin_has_failed() {
    let Some(lab) = Janitor::default().lab().await else { return };
    let runs = Runs::new(&lab.ingress(), "janitor");
    let start = serde_json::from_str::<Start>(r#"{"input":{},"implements":"absent"}"#).unwrap();
    runs.start("r1", &start).await.unwrap();
    let failure = runs.result("r1").await.unwrap().unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotFound);
    assert_eq!(runs.state("r1").await.unwrap().status, RunStatus::Failed);
}

/// Also a tool in the process of its run: one approval is for one effect.
#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_of_a_run_that_was_interrupted_is_not_made_again() {
    let effects = Effects::default();
    let made = effects.clone();
    let lab = Lab::start(move || {
        let effects = made.clone();
        let spec = spec("wipe").with_approval(Approval::default());
        let wipe = FunctionTool::new(spec, move |N { n }: N| {
            effects.push("wipe");
            async move {
                tokio::time::sleep(2 * WAIT).await;
                n
            }
        });
        let registry = Registry::new();
        registry.register_tool(wipe).unwrap();
        let planner = Script::new().call(step(&[("wipe", "a", 1)])).finish(Payload::new("0"));
        let agent = Agent::new("janitor", "lab").with_tools(["wipe"]);
        registry.register_agent(agent, planner.into()).unwrap();
        Runtime::builder(registry)
    });
    let Some(mut lab) = lab.await else { return };
    let runs = Runs::new(&lab.ingress(), "janitor");
    runs.start("r1", &start()).await.unwrap();
    until_asked(&runs, "r1").await;
    let question = runs.state("r1").await.unwrap().questions.remove(0);
    runs.answer("r1", &question.approve()).await.unwrap();
    until(|| async { !effects.all().is_empty() }, "the call begins").await;
    lab.replace_worker();
    runs.result("r1").await.unwrap().unwrap();
    let ends = runs.log("r1").await.unwrap();
    let failures: Vec<_> = ends.iter().filter_map(|line| line.failure.as_deref()).collect();
    assert_eq!(failures, ["internal"]);
    assert_eq!(effects.all(), ["wipe"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_answers_at_once_one_is_accepted() {
    let janitor = Janitor::default();
    let Some(lab) = janitor.lab().await else { return };
    let runs = Runs::new(&lab.ingress(), "janitor");
    runs.start("r1", &start()).await.unwrap();
    until_asked(&runs, "r1").await;
    let question = runs.state("r1").await.unwrap().questions.remove(0);
    let answers = [question.approve(), question.deny(), question.approve(), question.deny()];
    let answered = answers.iter().map(|answer| runs.answer("r1", answer));
    let answered = futures_util::future::join_all(answered).await;
    let accepted: Vec<_> = (0..4).filter(|n| answered[*n].is_ok()).collect();
    let [first] = accepted[..] else { panic!("{answered:?}") };
    assert_eq!(runs.result("r1").await.unwrap().unwrap().as_str(), r#""clean""#);
    let is_wiped = janitor.effects.all().contains(&"wipe 4".to_owned());
    assert_eq!(is_wiped, first % 2 == 0, "the accepted answer counts");
}

/// A result that the server does not carry is a failure of its call. The call is not made again.
#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_is_too_large_is_a_failure_of_its_call() {
    let effects = Effects::default();
    let large = |effects: &Effects| {
        let effects = effects.clone();
        FunctionTool::new(spec("large"), move |N { n }: N| {
            effects.push("large");
            std::future::ready("x".repeat(usize::try_from(n).unwrap() << 20))
        })
    };
    let made = effects.clone();
    let lab = Lab::start(move || {
        let registry = Registry::new();
        registry.register_tool(large(&made)).unwrap();
        let planner =
            Script::new().call(step(&[("large", "a", 40)])).finish(Payload::new(r#""end""#));
        let agent = Agent::new("reader", "lab").with_tools(["large"]);
        registry.register_agent(agent, planner.into()).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let runs = Runs::new(&lab.ingress(), "reader");
    runs.start("r1", &start()).await.unwrap();
    assert_eq!(runs.result("r1").await.unwrap().unwrap().as_str(), r#""end""#);
    assert_eq!(effects.all(), ["large"]);

    let specs = [large(&effects)].map(|tool| tool.entry().spec_ref().clone());
    let toolset = RestateToolset::new(&lab.ingress(), specs);
    let failure = toolset.call(&call("large", "b", 40)).await.outcome.unwrap_err();
    assert!(failure.message.contains("has 41943042 bytes, and at most"), "{failure:?}");
    assert_eq!(effects.all(), ["large", "large"]);
}

/// Ids of runs are those of one agent, so that two agents may have a run of one id.
#[tokio::test(flavor = "multi_thread")]
async fn runs_of_two_agents_with_one_id_share_no_calls() {
    let effects = Effects::default();
    let made = effects.clone();
    let lab = Lab::start(move || {
        let registry = Registry::new();
        registry.register_tool(double(&made)).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let specs = [double(&effects)].map(|tool| tool.entry().spec_ref().clone());
    let remote = RestateToolset::new(&lab.ingress(), specs);
    let second = Running::start(
        move || {
            let registry = Registry::new();
            registry.register_toolset("far", remote.clone()).unwrap();
            for (agent, n) in [("one", 1), ("two", 2)] {
                let planner =
                    Script::new().call(step(&[("double", "a", n)])).finish(Payload::new("0"));
                let agent = Agent::new(agent, "lab").with_toolsets(["far"]);
                registry.register_agent(agent, planner.into()).unwrap();
            }
            Runtime::builder(registry)
        },
        None,
    );
    lab.server.register(&format!("http://{}", second.address)).await.unwrap();
    for agent in ["one", "two"] {
        let runs = Runs::new(&lab.ingress(), agent);
        runs.start("r1", &start()).await.unwrap();
        runs.result("r1").await.unwrap().unwrap();
    }
    assert_eq!(effects.all(), ["double 1", "double 2"]);
}

/// Starts a run that makes the calls of a script, of which each `wipe` asks a question for four times [`WAIT`].
async fn asking(script: fn() -> Script) -> Option<(Lab, Runs, Effects)> {
    let effects = Effects::default();
    let made = effects.clone();
    let lab = Lab::start(move || {
        let registry = Registry::new();
        registry.register_tool(wipe(&made)).unwrap();
        let agent = Agent::new("slow", "lab").with_tools(["wipe"]);
        registry.register_agent(agent, script().finish(Payload::new("0")).into()).unwrap();
        Runtime::builder(registry).with_approvals_lasting(4 * WAIT)
    });
    let lab = lab.await?;
    let runs = Runs::new(&lab.ingress(), "slow");
    runs.start("r1", &start()).await.unwrap();
    Some((lab, runs, effects))
}

/// Each question can be answered for its own time, counted from when it is asked.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_after_a_long_wait_has_its_whole_time_and_a_late_one_is_denied() {
    let script = || {
        let one = |id, n| step(&[("wipe", id, n)]);
        Script::new().call(one("a", 1)).call(one("b", 2)).call(one("c", 3))
    };
    let Some((_lab, runs, effects)) = asking(script).await else { return };
    for _ in 0..2 {
        until_asked(&runs, "r1").await;
        tokio::time::sleep(3 * WAIT).await;
        let question = runs.state("r1").await.unwrap().questions.remove(0);
        runs.answer("r1", &question.approve()).await.unwrap();
        until(
            || async { !runs.state("r1").await.unwrap().questions.contains(&question) },
            "it goes on",
        )
        .await;
    }
    // The third has no answer, and the denial is the last the planner gets.
    let result = runs.result("r1").await.unwrap();
    assert_eq!(result.unwrap().as_str(), "0");
    assert_eq!(effects.all(), ["wipe 1", "wipe 2"]);
}

/// The questions of one step have their time at once.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_after_the_expiry_of_its_question_is_refused() {
    let script = || Script::new().call(step(&[("wipe", "a", 1), ("wipe", "b", 2)]));
    let Some((_lab, runs, effects)) = asking(script).await else { return };
    until_asked(&runs, "r1").await;
    tokio::time::sleep(3 * WAIT).await;
    let questions = runs.state("r1").await.unwrap().questions;
    let find = |id: &str| questions.iter().find(|question| question.call_id == id).unwrap();
    runs.answer("r1", &find("a").approve()).await.unwrap();
    tokio::time::sleep(2 * WAIT).await;
    let late = runs.answer("r1", &find("b").approve()).await;
    assert!(matches!(late, Err(RunsError::Refused { status: 404 | 409, .. })), "{late:?}");
    runs.result("r1").await.unwrap().unwrap();
    assert_eq!(effects.all(), ["wipe 1"]);
}

/// Longer than a task runs before tokio lets others run.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_run_is_repeated_up_to_its_question() {
    let effects = Effects::default();
    let made = effects.clone();
    let lab = Lab::start(move || {
        let registry = Registry::new();
        registry.register_tools([double(&made), wipe(&made)]).unwrap();
        let ids: Vec<_> = (0..150).map(|n| format!("c{n}")).collect();
        let planner = ids
            .iter()
            .fold(Script::new(), |script, id| script.call(step(&[("double", id, 1)])))
            .call(step(&[("wipe", "d", 4)]))
            .finish(Payload::new("0"));
        let agent = Agent::new("long", "lab").with_tools(["double", "wipe"]);
        registry.register_agent(agent, planner.into()).unwrap();
        Runtime::builder(registry)
    });
    let Some(mut lab) = lab.await else { return };
    let runs = Runs::new(&lab.ingress(), "long");
    runs.start("r1", &start()).await.unwrap();
    until_asked(&runs, "r1").await;
    lab.replace_worker();
    let question = runs.state("r1").await.unwrap().questions.remove(0);
    runs.answer("r1", &question.approve()).await.unwrap();
    let result = tokio::time::timeout(Duration::from_secs(20), runs.result("r1")).await;
    assert_eq!(result.unwrap().unwrap().unwrap().as_str(), "0");
    assert_eq!(effects.all().last().unwrap(), "wipe 4");
    assert_eq!(effects.all().len(), 151);
}

/// A tool that the agent `thinker` implements.
pub(crate) fn think() -> ToolSpec {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    let implementation = Implementation::Agent { service: "lab".into(), agent: "thinker".into() };
    let mut spec = ToolSpec::new("think").with_toolset("thinking");
    spec.set_args_schema(schema);
    spec.set_result_schema(schema);
    spec.with_implementation(implementation)
}

/// An agent of one worker calls a tool that an agent of another implements. The approval of the child's call is asked for in the
/// child's run.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_run_is_a_run_of_its_own_in_another_worker() {
    let effects = Effects::default();
    let made = effects.clone();
    let lab = Lab::start(move || {
        let registry = Registry::new();
        registry.register_tool(wipe(&made)).unwrap();
        let planner =
            Script::new().call(step(&[("wipe", "w", 8)])).finish(Payload::new(r#"{"n":8}"#));
        let agent = Agent::new("thinker", "lab").with_tools(["wipe"]).with_implements(think());
        registry.register_agent(agent, planner.into()).unwrap();
        Runtime::builder(registry)
    });
    let Some(mut lab) = lab.await else { return };
    let ingress = lab.ingress();
    let remote = RestateToolset::new(&ingress, [think()]);
    let parent = move || {
        let registry = Registry::new();
        registry.register_toolset("far", remote.clone()).unwrap();
        let planner =
            Script::new().call(step(&[("think", "t", 1)])).finish(Payload::new(r#""done""#));
        let agent = Agent::new("parent", "lab").with_toolsets(["far"]);
        registry.register_agent(agent, planner.into()).unwrap();
        Runtime::builder(registry)
    };
    let second = Running::start(parent, None);
    lab.server.register(&format!("http://{}", second.address)).await.unwrap();
    let runs = Runs::new(&ingress, "parent");
    runs.start("r1", &start()).await.unwrap();

    let children = Runs::new(&ingress, "thinker");
    let child = "parent.r1.t";
    until_asked(&children, child).await;
    assert_eq!(runs.state("r1").await.unwrap().status, RunStatus::Running);
    lab.replace_worker();
    let question = children.state(child).await.unwrap().questions.remove(0);
    children.answer(child, &question.approve()).await.unwrap();
    assert_eq!(runs.result("r1").await.unwrap().unwrap().as_str(), r#""done""#);
    assert_eq!(effects.all(), ["wipe 8"]);
    let log = children.log(child).await.unwrap();
    assert_eq!(log.last().map(|line| line.event.as_str()), Some("run_finished"));
}

/// Restate cancels the run of an agent together with the call that it implements.
#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_call_cancels_the_run_of_its_agent() {
    let (began, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let made = (Arc::clone(&began), Arc::clone(&ended));
    let lab = Lab::start(move || {
        let registry = Registry::new();
        registry.register_tool(slow(&made.0, &made.1, 4 * WAIT)).unwrap();
        let planner = Script::new()
            .call(step(&[("slow", "s", 1)]))
            .call(step(&[("slow", "t", 1)]))
            .finish(Payload::new(r#"{"n":8}"#));
        let agent = Agent::new("thinker", "lab").with_tools(["slow"]).with_implements(think());
        registry.register_agent(agent, planner.into()).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let toolset = RestateToolset::new(&lab.ingress(), [think()]);
    let calling = tokio::spawn(async move { toolset.call(&call("think", "t", 1)).await });
    until(|| async { began.load(Ordering::SeqCst) == 1 }, "the slow call").await;
    calling.abort();
    let runs = Runs::new(&lab.ingress(), "thinker");
    let result = runs.result("r1.t").await.unwrap();
    assert_eq!(result.unwrap_err().kind, FailureKind::Cancelled);
    assert_eq!(runs.state("r1.t").await.unwrap().status, RunStatus::Failed);
    tokio::time::sleep(5 * WAIT).await;
    assert_eq!((began.load(Ordering::SeqCst), ended.load(Ordering::SeqCst)), (1, 0));
}

/// An agent of one worker uses tools of another, one of which needs an approval. The approval is asked for in the run, and the
/// other worker checks its code.
#[tokio::test(flavor = "multi_thread")]
async fn an_approval_in_a_run_holds_in_the_worker_of_the_tool() {
    let effects = Effects::default();
    let made = effects.clone();
    let lab = Lab::start(move || {
        let registry = Registry::new();
        registry.register_tools([wipe(&made), double(&made)]).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let specs = [wipe(&effects), double(&effects)].map(|tool| tool.entry().spec_ref().clone());
    let ingress = lab.ingress();
    let remote = RestateToolset::new(&ingress, specs).with_approval_key(&key());
    let unapproved = remote.call(&call("wipe", "x", 1)).await;
    assert_eq!(unapproved.outcome.unwrap_err().kind, FailureKind::Denied);

    let second = Running::start(
        move || {
            let registry = Registry::new();
            registry.register_toolset("far", remote.clone()).unwrap();
            let planner = Script::new()
                .call(step(&[("wipe", "a", 1), ("double", "b", 2)]))
                .finish(Payload::new(r#""done""#));
            let agent = Agent::new("caller", "lab").with_toolsets(["far"]);
            registry.register_agent(agent, planner.into()).unwrap();
            Runtime::builder(registry)
        },
        None,
    );
    lab.server.register(&format!("http://{}", second.address)).await.unwrap();
    let runs = Runs::new(&ingress, "caller");
    runs.start("r1", &start()).await.unwrap();
    until_asked(&runs, "r1").await;
    assert_eq!(effects.all(), ["double 2"]);
    let state = runs.state("r1").await.unwrap();
    runs.answer("r1", &state.questions[0].approve()).await.unwrap();
    assert_eq!(runs.result("r1").await.unwrap().unwrap().as_str(), r#""done""#);
    assert_eq!(effects.all(), ["double 2", "wipe 1"], "{:?}", runs.log("r1").await);
}

/// The run of the agent starts only after the worker of the tool has checked the code.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_implements_a_tool_that_needs_an_approval_only_with_one() {
    let effects = Effects::default();
    let made = effects.clone();
    let guarded = || think().with_approval(Approval::default());
    let lab = Lab::start(move || {
        let registry = Registry::new();
        registry.register_tool(double(&made)).unwrap();
        let planner =
            Script::new().call(step(&[("double", "d", 4)])).finish(Payload::new(r#"{"n":8}"#));
        let agent = Agent::new("thinker", "lab").with_tools(["double"]).with_implements(guarded());
        registry.register_agent(agent, planner.into()).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let remote = RestateToolset::new(&lab.ingress(), [guarded()]).with_approval_key(&key());
    let failure = remote.call(&call("think", "x", 1)).await.outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Denied);
    assert_eq!(
        failure.message,
        "`think` needs an approval, and the call has no valid approval code"
    );
    assert!(effects.all().is_empty());

    let yes = Arc::new(|_: &ApprovalRequest| Verdict::Approve);
    let runtime = Runtime::builder(Registry::new()).with_approver(yes).build();
    let remote = remote.into_source();
    let calling = runtime.call_in(("far", &remote), None, None, call("think", "y", 1));
    let (result, _) = calling.await.unwrap();
    assert_eq!(result.outcome.unwrap().as_str(), r#"{"n":8}"#);
    assert_eq!(effects.all(), ["double 4"]);
}

/// A person approved the call of the tool, and not what its agent calls, although that call has the same id.
#[tokio::test(flavor = "multi_thread")]
async fn an_approval_code_approves_no_call_of_the_agent_that_a_tool_delegates_to() {
    let effects = Effects::default();
    let made = effects.clone();
    let research = || spec("research").with_approval(Approval::default()).with_types::<N, N>();
    let lab = Lab::start(move || {
        let registry = Registry::new();
        let delegating = FunctionTool::delegating(research(), |call: ToolCall| {
            std::future::ready(Ok::<_, ToolFailure>(Delegation::to("thinker", call.args().clone())))
        });
        registry.register_tools([wipe(&made), delegating]).unwrap();
        let planner =
            Script::new().call(step(&[("wipe", "r", 4)])).finish(Payload::new(r#"{"n":8}"#));
        let agent = Agent::new("thinker", "lab").with_tools(["wipe"]);
        registry.register_agent(agent, planner.into()).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let remote = RestateToolset::new(&lab.ingress(), [research()]).with_approval_key(&key());
    let yes = Arc::new(|_: &ApprovalRequest| Verdict::Approve);
    let runtime = Runtime::builder(Registry::new()).with_approver(yes).build();
    let remote = remote.into_source();
    let calling = runtime.call_in(("far", &remote), None, None, call("research", "r", 1));
    let (result, _) = calling.await.unwrap();
    assert_eq!(result.outcome.unwrap().as_str(), r#"{"n":8}"#);
    assert!(effects.all().is_empty());
}
