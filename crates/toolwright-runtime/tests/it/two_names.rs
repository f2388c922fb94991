//! Tools that a catalog publishes and an agent also lists: approval lists and hooks cannot be bypassed by another name.
//! Also the approval list and the stop of a session.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use toolwright::{BoxError, BoxFuture, Payload, ToolCall, ToolSpec};
use toolwright_runtime::tools::Delegation;
use toolwright_runtime::{
    Agent, Catalog, FunctionTool, Hook, Hooks, Registry, ResumeRequest, RunRequest, Runtime,
    SessionRequest,
};

use crate::planners::{briefs, steps};
use crate::tools::{Log, N, call, payload};
use crate::toys::{spec, tool};

/// A registry with `wipe` of the toolset `disks`, a janitor, who calls it by `name`, and a boss, whose calls of `desk.help`
/// the janitor runs. Both may use `x.wipe`.
fn office(ran: &Log, janitor: Agent, name: &str) -> (Registry, Catalog) {
    let registry = Registry::new();
    let log = ran.clone();
    let wipe = FunctionTool::new(spec("wipe").with_toolset("disks"), move |args: N| {
        log.push("wiped");
        async move { args }
    });
    registry.register_tools([wipe]).unwrap();
    let help = FunctionTool::delegating(ToolSpec::new("help"), async |call: ToolCall| {
        Ok::<_, BoxError>(Delegation::to("janitor", call.args().clone()))
    });
    registry.register_toolset("desk", help).unwrap();
    registry.register_agent(janitor, steps(vec![vec![call(name, "w", 1)]])).unwrap();
    let boss = steps(vec![vec![call("x.wipe", "a", 1)], vec![call("desk.help", "b", 1)]]);
    registry.register_agent(Agent::new("boss", "lab"), boss).unwrap();
    let catalog = registry.catalog();
    catalog.publish("disks", "x").unwrap();
    catalog.publish("desk", "desk").unwrap();
    catalog.allow("janitor", "disks").unwrap();
    catalog.update_allowed_toolsets("boss", ["disks", "desk"]).unwrap();
    (registry, catalog)
}

fn janitor() -> Agent {
    Agent::new("janitor", "lab")
}

fn runtime((registry, catalog): (Registry, Catalog)) -> Runtime {
    Runtime::builder(registry).with_catalog(catalog).build()
}

fn request(agent: &str) -> RunRequest {
    RunRequest::new(agent, payload(0))
}

/// H6: in runs, in child runs, and in child runs of a session.
#[tokio::test]
async fn h6_an_approval_list_may_use_the_prefixed_name_of_a_tool_that_an_agent_lists() {
    for list in ["x.wipe", "wipe"] {
        for janitor in [janitor().with_toolsets(["disks"]), janitor().with_tools(["wipe"])] {
            let ran = Log::default();
            let runtime = runtime(office(&ran, janitor, "wipe"));
            let outcome = runtime.run(request("janitor").with_approval_of([list])).await.unwrap();
            assert_eq!(outcome.suspended().map(|run| run.pending().len()), Some(1), "{list}");

            let outcome = runtime.run(request("boss").with_approval_of([list])).await.unwrap();
            let waiting = outcome.suspended().unwrap();
            let no = waiting.pending()[0].deny();
            let outcome = runtime.resume(ResumeRequest::new(waiting, [no])).await.unwrap();
            let waiting = outcome.suspended().expect("the janitor's call waits too");
            assert_eq!(waiting.pending()[0].tool, "wipe");

            let session = SessionRequest::new("boss").with_approval_of([list]);
            let session = runtime.open_session(session).await.unwrap();
            assert!(session.call(call("desk.help", "c", 1)).await.outcome.is_ok());
            assert!(ran.lines().is_empty(), "{list}");
        }
    }
}

/// H6: for the agent of the session and for others, whether or not they list the tool, and for child runs.
#[tokio::test]
async fn h6_a_run_in_a_session_requires_the_approvals_of_the_session() {
    for (janitor, name) in [
        (janitor(), "x.wipe"),
        (janitor().with_toolsets(["disks"]), "wipe"),
        (janitor().with_tools(["wipe"]), "wipe"),
    ] {
        for (opener, agent) in [("janitor", "janitor"), ("boss", "janitor"), ("boss", "boss")] {
            let ran = Log::default();
            let runtime = runtime(office(&ran, janitor.clone(), name));
            let session = SessionRequest::new(opener).with_approval_of(["x.wipe"]);
            let session = runtime.open_session(session).await.unwrap();
            let mut outcome = runtime.run(request(agent).in_session(&session)).await.unwrap();
            let mut questions = 0;
            while let Some(waiting) = outcome.suspended() {
                questions += 1;
                let no = waiting.pending()[0].deny();
                let request = ResumeRequest::new(waiting, [no]).in_session(&session);
                outcome = runtime.resume(request).await.unwrap();
            }
            assert_eq!(questions, if agent == "boss" { 2 } else { 1 }, "{opener} {agent} {name}");
            assert!(ran.lines().is_empty());
        }
    }
}

/// A hook that refuses every call.
struct Guard;

impl Hook for Guard {
    fn name(&self) -> &'static str {
        "guard"
    }

    fn before<'a>(&'a self, _: &'a ToolCall) -> BoxFuture<'a, Result<Payload, BoxError>> {
        Box::pin(std::future::ready(Err("no".into())))
    }
}

/// P2: so a hook for this name cannot be bypassed.
#[tokio::test]
async fn p2_a_tool_that_an_agent_lists_has_one_name_in_a_session() {
    for janitor in [janitor().with_toolsets(["disks"]), janitor().with_tools(["wipe"])] {
        for opener in ["janitor", "boss"] {
            let ran = Log::default();
            let (registry, catalog) = office(&ran, janitor.clone(), "x.wipe");
            let hooks = Hooks::new().with_for("wipe", Guard);
            let runtime =
                Runtime::builder(registry).with_catalog(catalog).with_hooks(hooks).build();
            let session = runtime.open_session(opener).await.unwrap();
            let outcome = runtime.run(request("janitor").in_session(&session)).await.unwrap();
            assert_eq!((briefs(&outcome), ran.lines()), (vec!["not_found".to_owned()], vec![]));
        }
    }
}

/// P5: for a call of the session, and for a call of a run in it.
#[tokio::test(start_paused = true)]
async fn p5_a_child_run_of_a_call_of_a_session_is_stopped_with_it() {
    for in_run in [false, true] {
        let ran = Log::default();
        let registry = Registry::new();
        registry.register_tools([tick(&ran)]).unwrap();
        let ticks = ["0", "1", "2", "3", "4"].map(|id| vec![call("tick", id, 1)]);
        let clerk = Agent::new("clerk", "lab").with_tools(["tick"]);
        registry.register_agent(clerk, steps(ticks.into())).unwrap();
        let help = FunctionTool::delegating(ToolSpec::new("help"), async |call: ToolCall| {
            Ok::<_, BoxError>(Delegation::to("clerk", call.args().clone()))
        });
        registry.register_toolset("desk", help).unwrap();
        let boss = steps(vec![vec![call("desk.help", "a", 1)]]);
        registry.register_agent(Agent::new("boss", "lab"), boss).unwrap();
        let catalog = registry.catalog();
        catalog.publish("desk", "desk").unwrap();
        catalog.publish("toys", "toys").unwrap();
        catalog.allow("boss", "desk").unwrap();
        catalog.allow("clerk", "toys").unwrap();
        let runtime = runtime((registry, catalog));
        let session = Arc::new(runtime.open_session("boss").await.unwrap());
        let calling = {
            let session = Arc::clone(&session);
            tokio::spawn(async move {
                if in_run {
                    let request = request("boss").in_session(&session);
                    return briefs(&runtime.run(request).await.unwrap()).remove(0);
                }
                crate::planners::brief(&session.call(call("desk.help", "a", 1)).await)
            })
        };
        tokio::time::sleep(Duration::from_millis(250)).await;
        session.stop().await;
        assert_eq!(calling.await.unwrap(), "cancelled");
        assert_eq!(ran.lines().len(), 2, "in a run: {in_run}");
    }
}

#[test]
fn p5_concurrent_additions_to_an_allowlist_are_all_kept() {
    let registry = Registry::new();
    let names: Vec<_> = (0..8).map(|number| format!("t{number}")).collect();
    let catalog = registry.catalog();
    for name in &names {
        registry.register_toolset(name.clone(), tool("free", |n| n)).unwrap();
        catalog.publish(name, name).unwrap();
    }
    for round in 0..200 {
        let agent = format!("agent {round}");
        std::thread::scope(|threads| {
            for name in &names {
                threads.spawn(|| catalog.allow(&agent, name).unwrap());
            }
        });
        let shown = format!("{catalog:?}");
        let of_agent = shown.split(&format!("\"{agent}\": ")).nth(1).unwrap();
        let allowed = of_agent.split('}').next().unwrap();
        assert_eq!(allowed.matches("\"t").count(), names.len(), "{allowed}");
    }
}

/// A tool that takes a tenth of a second.
pub(crate) fn tick(ran: &Log) -> FunctionTool {
    let log = ran.clone();
    FunctionTool::new(spec("tick"), move |args: N| {
        let log = log.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            log.push("tick");
            args
        }
    })
}

/// A runtime with a tool `start` that runs the clerk, who makes three calls of `tick`, on behalf of its call. The boss and its sessions
/// may use `start`, which may run the clerk in another session, and may approve what it waits for.
fn starting(ran: &Log, in_session: bool, approves: bool) -> Runtime {
    let registry = Registry::new();
    let link: Arc<OnceLock<Runtime>> = Arc::default();
    let started = Arc::clone(&link);
    let start = FunctionTool::new(spec("start"), move |args: N, call: ToolCall| {
        let runtime = started.get().unwrap().clone();
        async move {
            let session = runtime.open_session("clerk").await.unwrap();
            let request = RunRequest::new("clerk", payload(0)).on_behalf_of(&call);
            let request = if in_session { request.in_session(&session) } else { request };
            let mut outcome = runtime.run(request).await.unwrap();
            while let Some(waiting) = outcome.suspended().filter(|_| approves) {
                let yes = waiting.pending()[0].approve();
                let request = ResumeRequest::new(waiting, [yes]).on_behalf_of(&call);
                outcome = runtime.resume(request).await.unwrap();
            }
            args
        }
    });
    registry.register_tools([tick(ran)]).unwrap();
    registry.register_toolset("desk", start).unwrap();
    let ticks = ["0", "1", "2"].map(|id| vec![call("tick", id, 1)]);
    let clerk = Agent::new("clerk", "lab").with_tools(["tick"]);
    registry.register_agent(clerk, steps(ticks.into())).unwrap();
    let boss = steps(vec![vec![call("desk.start", "a", 1)]]);
    registry.register_agent(Agent::new("boss", "lab"), boss).unwrap();
    let catalog = registry.catalog();
    catalog.publish("desk", "desk").unwrap();
    catalog.publish("toys", "toys").unwrap();
    catalog.allow("boss", "desk").unwrap();
    catalog.allow("clerk", "toys").unwrap();
    let runtime = runtime((registry, catalog));
    assert!(link.set(runtime.clone()).is_ok());
    runtime
}

#[tokio::test(start_paused = true)]
async fn h6_a_run_on_behalf_of_a_call_has_the_approval_list_of_the_caller() {
    for (list, count) in [(&["tick"][..], 0), (&[], 3)] {
        let ran = Log::default();
        let runtime = starting(&ran, false, false);
        let session = runtime.open_session("boss").await.unwrap();
        let run = request("boss").in_session(&session).with_approval_of(list.iter().copied());
        runtime.run(run).await.unwrap();
        assert_eq!(ran.lines().len(), count, "in a run, {list:?}");
        let ran = Log::default();
        let session = SessionRequest::new("boss").with_approval_of(list.iter().copied());
        let session = starting(&ran, false, false).open_session(session).await.unwrap();
        session.call(call("desk.start", "a", 1)).await.outcome.unwrap();
        assert_eq!(ran.lines().len(), count, "in a session, {list:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn p5_a_run_on_behalf_of_a_call_is_stopped_with_the_session_of_the_call() {
    stopped_with_the_session_of_the_call(false, false).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_on_behalf_of_a_call_and_in_another_session_is_stopped_with_the_session_of_the_call()
{
    stopped_with_the_session_of_the_call(true, false).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_resumed_on_behalf_of_a_call_is_stopped_with_the_session_of_the_call() {
    stopped_with_the_session_of_the_call(false, true).await;
}

async fn stopped_with_the_session_of_the_call(in_session: bool, approves: bool) {
    let ran = Log::default();
    let runtime = starting(&ran, in_session, approves);
    let list = approves.then_some("tick");
    let session = runtime.open_session(SessionRequest::new("boss").with_approval_of(list));
    let session = Arc::new(session.await.unwrap());
    let calling = {
        let session = Arc::clone(&session);
        tokio::spawn(async move { session.call(call("desk.start", "a", 1)).await })
    };
    tokio::time::sleep(Duration::from_millis(150)).await;
    session.stop().await;
    calling.await.unwrap().outcome.unwrap();
    assert_eq!(ran.lines().len(), 1);
}
