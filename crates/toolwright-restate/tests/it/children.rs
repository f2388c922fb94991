//! Child runs in the worker of their parent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use toolwright::spec::CallLimits;
use toolwright::{Payload, ToolCall};
use toolwright_restate::{RestateToolset, RunStatus, Runs, Start};
use toolwright_runtime::{Agent, FunctionTool, Registry, Runtime, Script, Step};

use crate::lab::{Effects, Lab, N, Running, call, idempotent, passing, slow, spec, until};
use crate::runs::{event, think, wipe};

const LIMIT: Duration = Duration::from_millis(500);

fn step(tool: &str, id: &str) -> Vec<ToolCall> {
    vec![call(tool, id, 1)]
}

/// The call of the child run has no entry in the journal, and the child was once repeated until it had one.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_run_that_ended_by_its_time_limit_is_not_repeated_and_its_parent_goes_on() {
    let (hung, began, ended) = <(Arc<AtomicUsize>, Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    let effects = Effects::default();
    let made = (Arc::clone(&hung), Arc::clone(&began), Arc::clone(&ended), effects.clone());
    let lab = Lab::start(move || {
        let (hung, began, ended, effects) = &made;
        let registry = Registry::new();
        let hung = Arc::clone(hung);
        let hanging = FunctionTool::new(idempotent(spec("hang")), move |N { n }: N| {
            hung.fetch_add(1, Ordering::SeqCst);
            async move {
                std::future::pending::<()>().await;
                n
            }
        });
        registry.register_tools([slow(began, ended, LIMIT), wipe(effects), hanging]).unwrap();
        let limits = CallLimits { timeout: Some(LIMIT), ..CallLimits::UNLIMITED };
        let helping = Script::new().call(step("hang", "h")).finish(Payload::new(r#"{"n":8}"#));
        let helper = Agent::new("thinker", "lab").with_tools(["hang"]);
        let helper = helper.with_implements(think().with_limits(limits));
        registry.register_agent(helper, helping.into()).unwrap();
        let leading = Script::new()
            .call(step("think", "t"))
            .call(step("slow", "s"))
            .call(step("wipe", "w"))
            .finish(Payload::new("0"));
        let boss = Agent::new("boss", "lab").with_tools(["think", "slow", "wipe"]);
        registry.register_agent(boss, leading.into()).unwrap();
        Runtime::builder(registry)
    });
    let Some(mut lab) = lab.await else { return };
    let runs = Runs::new(&lab.ingress(), "boss");
    runs.start("r1", &Start::new(&Payload::new("{}")).unwrap()).await.unwrap();
    until(|| async { began.load(Ordering::SeqCst) == 1 }, "the call after the child run").await;
    lab.replace_worker();
    let is_asked =
        || async { runs.state("r1").await.is_ok_and(|state| state.status == RunStatus::Waiting) };
    until(is_asked, "a question").await;
    lab.replace_worker();
    let question = runs.state("r1").await.unwrap().questions.remove(0);
    runs.answer("r1", &question.approve()).await.unwrap();
    let result = tokio::time::timeout(Duration::from_secs(20), runs.result("r1")).await;
    assert_eq!(result.expect("it goes on").unwrap().unwrap().as_str(), "0");
    assert_eq!((hung.load(Ordering::SeqCst), effects.all()), (1, vec!["wipe 1".to_owned()]));
    let log = runs.log("r1").await.unwrap();
    let log: Vec<_> = log.iter().map(event).collect();
    let expected = [
        "run_started",
        "tool_call_scheduled t",
        "tool_result_received t",
        "tool_call_scheduled s",
        "tool_result_received s",
        "approval_requested w",
        "run_suspended",
        "run_resumed",
        "approval_answered w",
        "tool_call_scheduled w",
        "tool_result_received w",
        "run_finished",
    ];
    assert_eq!(log, expected);
}

/// The tool `pay` of a host calls `relay` of a worker, which calls a tool that an agent of another worker implements.
#[tokio::test(flavor = "multi_thread")]
async fn nested_calls_with_one_id_have_child_runs_of_their_own_also_in_a_worker() {
    let lab = Lab::start(|| {
        let registry = Registry::new();
        let planner = Script::new().then(|turn| Ok(Step::Finish(turn.input().clone())));
        let agent = Agent::new("thinker", "lab").with_implements(think());
        registry.register_agent(agent, planner.into()).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let thinking = RestateToolset::new(&lab.ingress(), [think()]);
    let relay = move || passing("relay", "think", &thinking);
    let relaying = RestateToolset::new(&lab.ingress(), [relay().entry().spec_ref().clone()]);
    let second = Running::start(
        move || {
            let registry = Registry::new();
            registry.register_tool(relay()).unwrap();
            Runtime::builder(registry)
        },
        None,
    );
    lab.server.register(&format!("http://{}", second.address)).await.unwrap();
    let registry = Registry::new();
    registry.register_tool(passing("pay", "relay", &relaying)).unwrap();
    let runtime = Runtime::new(registry);
    for (id, n, expected) in [("c1", 1, r#"{"n":1}"#), ("c2", 2, r#"{"n":2}"#)] {
        let paid = runtime.call(call("pay", id, n)).await.outcome.unwrap();
        assert_eq!(paid.as_str(), expected);
        let children = Runs::new(&lab.ingress(), "thinker");
        let child = children.state(&format!("r1.{id}-relay-think")).await.unwrap();
        assert_eq!(child.status, RunStatus::Finished);
    }
}
