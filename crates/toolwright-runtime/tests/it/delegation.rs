//! Tools that create agents during a run and delegate their calls to them.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolwright::{FailureKind, RegistrationError, ToolFailure};
use toolwright_runtime::tools::Delegation;
use toolwright_runtime::{
    Agent, ApprovalRequest, Collector, EventKind, FunctionTool, Planner, Registry, ResumeRequest,
    RunRequest, Runtime, Script, Verdict,
};

use crate::approvals::guarded;
use crate::planners::{brief, briefs, rule, steps};
use crate::tools::{Log, N, call, payload};
use crate::toys::{spec, tool};

/// A registry with an agent `boss`, which calls `research` once. That tool registers the agent `helper` and delegates to
/// it.
fn making(helper: Agent, planner: Arc<dyn Planner>, log: &Log) -> Registry {
    let registry = Registry::new();
    registry.register_tool(guarded(log)).unwrap();
    registry.register_tool(tool("free", |n| n + 1)).unwrap();
    let (agents, log) = (registry.clone(), log.clone());
    let research = spec("research").with_types::<N, N>();
    let research = FunctionTool::delegating(research, move |call| {
        log.push(format!("made {}", helper.name));
        let registered = agents.register_agent(helper.clone(), Arc::clone(&planner));
        let delegation = Delegation::to(helper.name.as_str(), payload(7));
        async move {
            registered.map_err(|error| ToolFailure::internal(&error))?;
            assert_eq!(call.args(), &payload(1));
            Ok::<_, ToolFailure>(delegation)
        }
    });
    registry.register_tool(research).unwrap();
    let boss = Agent::new("boss", "lab").with_tools(["research"]);
    registry.register_agent(boss, steps(vec![vec![call("research", "a", 1)]])).unwrap();
    registry
}

fn helper() -> Agent {
    Agent::new("helper", "lab").with_tools(["wipe", "free"])
}

/// Calls `wipe` with its input, and finishes with the result.
fn wiping() -> Arc<dyn Planner> {
    Script::new()
        .then(|turn| {
            assert_eq!(turn.input(), &payload(7));
            Ok(toolwright_runtime::Step::call([call("wipe", "w", 3)]))
        })
        .then(|turn| {
            assert_eq!(turn.input(), &payload(7), "after a suspension too");
            let result = turn.last_results().next().ok_or("there is one")?;
            let outcome = result.outcome.clone().unwrap_or_else(|_| payload(-1));
            Ok(toolwright_runtime::Step::Finish(outcome))
        })
        .into()
}

/// R6: an approval in the new agent's run suspends both runs, and both are resumed.
#[tokio::test]
async fn r6_a_tool_makes_an_agent_and_delegates_to_it_over_a_suspension() {
    let (log, all) = (Log::default(), Collector::new());
    let registry = making(helper(), wiping(), &log);
    let runtime = Runtime::builder(registry).with_events(all.clone()).build();
    let outcome = runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
    let text = runtime.export(outcome.suspended().expect("the helper waits")).await.unwrap();
    let run = runtime.restore(&text).await.unwrap();
    let [question] = run.pending()[..] else { panic!("one question: {run:?}") };
    assert_eq!((question.tool.as_str(), question.args.as_str()), ("wipe", r#"{"n":3}"#));
    assert_eq!(log.lines(), ["made helper"]);
    let answers = [question.approve()];
    let outcome = runtime.resume(ResumeRequest::new(&run, answers)).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":3}"#], "the helper's payload is the call's result");
    assert_eq!(log.lines(), ["made helper", r#"wiped {"n":3}"#], "the tool made it once");
    let of_boss = |kind: &str| {
        let events = all.events();
        let of_kind = events.iter().filter(|event| event.kind.as_str() == kind);
        of_kind.filter(|event| event.agent.as_deref() == Some("boss")).count()
    };
    assert_eq!((of_boss("tool_call_scheduled"), of_boss("tool_result_received")), (1, 1));
    let inputs = all.events().into_iter().filter_map(|event| match event.kind {
        EventKind::RunStarted { input, .. } => Some(input),
        _ => None,
    });
    assert_eq!(inputs.collect::<Vec<_>>(), [payload(0), payload(7)]);
}

#[tokio::test]
async fn r6_a_delegated_run_inherits_approver_and_approval_list() {
    let log = Log::default();
    let planner = Script::new().call([call("free", "f", 1)]).finish(payload(2)).into();
    let runtime = Runtime::new(making(helper(), planner, &log));
    let approver_log = log.clone();
    let request = RunRequest::new("boss", payload(0)).with_approval_of(["free"]).with_approver(
        Arc::new(move |request: &ApprovalRequest| {
            approver_log.push(format!("asked {}", request.tool));
            Verdict::Approve
        }),
    );
    let outcome = runtime.run(request).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":2}"#]);
    assert_eq!(log.lines(), ["made helper", "asked free"]);
}

#[tokio::test]
async fn r6_a_delegated_run_is_cancelled_with_the_run_of_its_caller() {
    let (token, all) = (CancellationToken::new(), Collector::new());
    let cancel = token.clone();
    let planner = rule(move |_| {
        cancel.cancel();
        Ok(toolwright_runtime::Step::call([call("free", "f", 1)]))
    });
    let registry = making(helper(), planner, &Log::default());
    let runtime = Runtime::builder(registry).with_events(all.clone()).build();
    let request = RunRequest::new("boss", payload(0)).with_cancellation(token);
    let outcome = runtime.run(request).await.unwrap();
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Cancelled);
    let ended = all.events().into_iter().filter_map(|event| match event.kind {
        EventKind::RunFinished { result, .. } => {
            Some((event.agent.as_deref()?.to_owned(), result.is_err()))
        }
        _ => None,
    });
    assert_eq!(ended.collect::<Vec<_>>(), [("helper".to_owned(), true), ("boss".to_owned(), true)]);
}

#[tokio::test]
async fn r6_the_payload_of_a_delegated_run_must_match_the_result_schema() {
    let planner = Script::new().finish(toolwright::Payload::new(r#""much""#)).into();
    let runtime = Runtime::new(making(helper(), planner, &Log::default()));
    let outcome = runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
    assert_eq!(briefs(&outcome), ["malformed_result"]);
}

/// R6: its tools are removed, too.
#[tokio::test]
async fn r6_an_agent_can_be_removed_and_replaced() {
    let registry = Registry::new();
    registry.register_tool(tool("free", |n| n)).unwrap();
    let ponderer = || {
        let ponder = toolwright::ToolSpec::new("ponder").with_toolset("pondering");
        Agent::new("ponderer", "lab").with_implements(ponder.with_types::<N, N>())
    };
    let register = |n| registry.register_agent(ponderer(), Script::new().finish(payload(n)).into());
    let runtime = Runtime::new(registry.clone());
    register(1).unwrap();
    assert_eq!(
        register(2),
        Err(RegistrationError::Several(vec![
            RegistrationError::DuplicateAgent { agent: "ponderer".into() },
            RegistrationError::DuplicateTool {
                tool: "ponder".into(),
                registered: "pondering".into(),
                offered: "pondering".into(),
            },
        ]))
    );
    assert_eq!(brief(&runtime.call(call("ponder", "a", 0)).await), r#"{"n":1}"#);
    assert_eq!(registry.remove_agent("ponderer").unwrap().name, "ponderer");
    assert!(registry.remove_agent("ponderer").is_none());
    assert_eq!(brief(&runtime.call(call("ponder", "a", 0)).await), "not_found");
    assert_eq!(registry.specs().len(), 1, "`free` stays");
    let user = Agent::new("user", "lab").with_toolsets(["pondering"]);
    let error = registry.register_agent(user, steps(vec![])).unwrap_err();
    assert!(matches!(error, RegistrationError::Unknown { .. }), "its toolset is gone: {error}");
    register(2).unwrap();
    assert_eq!(brief(&runtime.call(call("ponder", "a", 0)).await), r#"{"n":2}"#);
}

/// R6: later agents may use tools that earlier ones implement.
#[test]
fn r6_agents_are_registered_together_or_not_at_all() {
    let planner = || steps(vec![]);
    let ponder = toolwright::ToolSpec::new("ponder").with_toolset("pondering");
    let ponderer = Agent::new("ponderer", "lab").with_implements(ponder.with_types::<N, N>());
    let user = Agent::new("user", "lab").with_tools(["ponder"]);
    let registry = Registry::new();
    let wrong = Agent::new("wrong", "lab").with_tools(["nothing"]);
    let three = [ponderer.clone(), wrong, user.clone()].map(|agent| (agent, planner()));
    let error = registry.register_agents(three).unwrap_err();
    assert!(matches!(&error, RegistrationError::Unknown { entry, .. } if entry == "nothing"));
    assert_eq!((registry.agents().len(), registry.specs().len()), (0, 0));
    registry.register_agents([ponderer, user].map(|agent| (agent, planner()))).unwrap();
    assert_eq!(registry.agents().len(), 2);
}

/// The agent is removed while its run is suspended.
#[tokio::test]
async fn a_delegation_to_a_removed_agent_fails_and_the_caller_continues() {
    let log = Log::default();
    let registry = making(helper(), wiping(), &log);
    let runtime = Runtime::new(registry.clone());
    let outcome = runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap();
    registry.remove_agent("helper").unwrap();
    let answers = [run.pending()[0].approve()];
    let outcome = runtime.resume(ResumeRequest::new(run, answers)).await.unwrap();
    assert_eq!(outcome.result(), Ok(payload(0)));
    let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotFound);
    assert_eq!(failure.detail.as_deref(), Some("agent `helper` is not registered"));
}

#[tokio::test]
async fn h6_the_approval_list_of_an_agent_is_not_inherited_by_child_runs() {
    for (boss, helper_list, question) in
        [(&["research"][..], &[][..], "research"), (&[], &["free"], "free")]
    {
        let planner = Script::new().call([call("free", "f", 1)]).finish(payload(2)).into();
        let helper = helper().with_approval_of(helper_list.iter().copied());
        let registry = making(helper, planner, &Log::default());
        registry.remove_agent("boss").unwrap();
        let guarding = Agent::new("boss", "lab").with_tools(["research", "free"]);
        let guarding = guarding.with_approval_of(boss.iter().copied());
        let calls = vec![call("free", "b", 1), call("research", "a", 1)];
        registry.register_agent(guarding, steps(vec![calls])).unwrap();
        let runtime = Runtime::new(registry);
        let outcome = runtime.run(RunRequest::new("boss", payload(0))).await.unwrap();
        let run = outcome.suspended().expect("it waits");
        let questions: Vec<_> =
            run.pending().iter().map(|question| question.tool.clone()).collect();
        assert_eq!(questions, [question]);
        let answers = [run.pending()[0].approve()];
        let outcome = runtime.resume(ResumeRequest::new(run, answers)).await.unwrap();
        assert_eq!(briefs(&outcome), [r#"{"n":2}"#, r#"{"n":2}"#]);
    }
}

/// In a development build on a thread with the stack of tokio's, which tests have, too.
#[tokio::test]
async fn r6_an_agent_that_delegates_to_itself_ends_with_a_failure() {
    let registry = Registry::new();
    let again = spec("again").with_types::<N, N>();
    let again = FunctionTool::delegating(again, async |_| {
        Ok::<_, ToolFailure>(Delegation::to("boss", payload(1)))
    });
    registry.register_tool(again).unwrap();
    let planner = rule(|turn| match turn.last_results().next() {
        None => Ok(toolwright_runtime::Step::call([call("again", "a", 1)])),
        Some(result) => Err(Box::new(result.outcome.clone().unwrap_err())),
    });
    registry.register_agent(Agent::new("boss", "lab").with_tools(["again"]), planner).unwrap();
    let outcome = Runtime::new(registry).run(RunRequest::new("boss", payload(0))).await.unwrap();
    let message = outcome.result().unwrap_err().message;
    assert!(message.starts_with("agents have already called agents"), "{message}");
}
