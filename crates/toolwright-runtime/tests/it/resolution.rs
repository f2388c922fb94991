//! Resolution of names: tools and toolsets, factories, and agents made at run time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolwright::{RegistrationError, Scope, ToolFailure, ToolSpec};
use toolwright_runtime::tools::Combined;
use toolwright_runtime::{
    Agent, FunctionTool, Registry, RunRequest, Runtime, Script, Source, Step, Toolset,
};

use crate::planners::{briefs, rule, steps};
use crate::tools::{Echo, Log, N, call, payload};
use crate::toys::{Toy, spec, tool};

fn agent() -> Agent {
    Agent::new("worker", "lab")
}

async fn run(registry: Registry) -> toolwright_runtime::RunOutcome {
    Runtime::new(registry).run(RunRequest::new("worker", payload(0))).await.unwrap()
}

#[tokio::test]
async fn r1_a_tool_and_a_toolset_may_share_a_name() {
    let registry = Registry::new();
    registry.register_tool(tool("shared", |n| n + 1)).unwrap();
    registry.register_toolset("shared", tool("inside", |n| n + 2)).unwrap();
    let calls = vec![call("shared", "a", 1), call("inside", "b", 1)];
    let listing = agent().with_tools(["shared"]).with_toolsets(["shared"]);
    registry.register_agent(listing, steps(vec![calls])).unwrap();
    assert_eq!(briefs(&run(registry).await), [r#"{"n":2}"#, r#"{"n":3}"#]);
}

/// R3: factories are sync or async, and per step or per run.
#[tokio::test]
async fn r3_instances_trait_objects_and_factories_are_registered_as_they_are() {
    let registry = Registry::new();
    let object: Arc<dyn Toolset> = Arc::new(tool("of_object", |n| n + 2));
    let of_factory = |name: &'static str| move |_: Scope| tool(name, |n| n + 3);
    let of_async = |name: &'static str| {
        move |_: Scope| async move {
            tokio::task::yield_now().await;
            tool(name, |n| n + 4)
        }
    };
    registry.register_toolset("instance", tool("of_instance", |n| n + 1)).unwrap();
    registry.register_toolset("object", object).unwrap();
    registry.register_toolset("factory", of_factory("of_factory")).unwrap();
    registry
        .register_toolset("factory_per_step", Source::per_step(of_factory("of_factory_per_step")))
        .unwrap();
    registry.register_toolset("async", of_async("of_async")).unwrap();
    registry
        .register_toolset("async_per_step", Source::per_step(of_async("of_async_per_step")))
        .unwrap();
    let sets = ["instance", "object", "factory", "factory_per_step", "async", "async_per_step"];
    let calls = sets.map(|set| call(&format!("of_{set}"), set, 0)).to_vec();
    registry.register_agent(agent().with_toolsets(sets), steps(vec![calls])).unwrap();
    let expected = [1, 2, 3, 3, 4, 4].map(|n| format!("{{\"n\":{n}}}"));
    assert_eq!(briefs(&run(registry).await), expected);
}

/// R3: functions of the arguments, or of the arguments and the call.
#[tokio::test]
async fn r3_functions_and_typed_tools_are_tools() {
    let registry = Registry::new();
    let typed = FunctionTool::typed(Echo, async |args: N, _| Ok::<_, ToolFailure>(args));
    registry.register_tool(typed).unwrap();
    let scoped = FunctionTool::new(spec("whose"), async |_: N, call: toolwright::ToolCall| {
        Ok::<_, ToolFailure>(N { n: call.run_id().map_or(0, |id| id.len().cast_signed() as i64) })
    });
    registry.register_tool(scoped).unwrap();
    let calls = vec![call("echo", "a", 1), call("whose", "b", 1), call("repeat", "c", 2)];
    let listing = agent().with_tools(["echo", "whose"]);
    registry.register_agent(listing, steps(vec![calls])).unwrap();
    let request = RunRequest::new("worker", payload(0)).with_run_id("four");
    let outcome = Runtime::new(registry).run(request).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#, r#"{"n":4}"#, r#"{"n":2}"#]);
}

/// R7, R13: wrong kinds, unknown names and duplicates.
#[test]
fn r7_r13_all_errors_of_an_agent_are_reported_together() {
    let registry = Registry::new();
    registry.register_tool(tool("hammer", |n| n)).unwrap();
    registry.register_toolset("box", tool("saw", |n| n)).unwrap();
    registry.register_agent(agent(), steps(vec![])).unwrap();
    let listing = agent().with_tools(["box", "nail"]).with_toolsets(["hammer", "shed"]);
    let error = registry.register_agent(listing, steps(vec![])).unwrap_err();
    let expected = [
        "agent `worker` is registered already; register each agent once",
        "agent `worker` lists `box` as a tool, but it is a toolset; list it under toolsets",
        "agent `worker` lists tool `nail`, which is unknown; there is `hammer`",
        "agent `worker` lists `hammer` as a toolset, but it is a tool; list it under tools",
        "agent `worker` lists toolset `shed`, which is unknown; there is `box`",
    ];
    assert_eq!(error.to_string().lines().collect::<Vec<_>>(), expected);
    assert_eq!(error.each().len(), 5);
}

#[test]
fn a_toolset_registered_twice_is_refused() {
    let mut registry = Registry::new();
    registry.register_toolset("box", tool("saw", |n| n)).unwrap();
    let error = registry.register_toolset("box", tool("axe", |n| n)).unwrap_err();
    assert_eq!(error, RegistrationError::DuplicateToolset { toolset: "box".into() });
    registry.register_toolset("stand", tool("stool", |n| n)).unwrap();
    let stand = Arc::new(crate::tools::TestExecutor::default());
    let error = toolwright::Registrar::register(&mut registry, crate::tools::TEST_TOOLS, stand);
    assert_eq!(error, Err(RegistrationError::DuplicateToolset { toolset: "stand".into() }));
    assert_eq!(registry.specs().len(), 0, "nothing of it is registered");
}

/// R9: the tools are listed only during the run. It ends before its first step, and the failure has the sources as data, too.
#[tokio::test]
async fn r9_duplicate_names_across_sources_end_the_run_at_once() {
    let registry = Registry::new();
    registry.register_tool(tool("saw", |n| n)).unwrap();
    registry.register_toolset("box", |_| tool("saw", |n| n)).unwrap();
    registry.register_toolset("shed", |_| tool("saw", |n| n)).unwrap();
    let listing = agent().with_tools(["saw"]).with_toolsets(["box", "shed"]);
    registry.register_agent(listing, rule(|_| panic!("the planner is not asked"))).unwrap();
    let failure = run(registry).await.result().unwrap_err();
    assert_eq!(failure.code.as_deref(), Some("duplicate_tools"));
    assert_eq!(failure.data.unwrap().as_str(), r#"{"saw":["box","shed","toys"]}"#);
    let detail = failure.detail.unwrap();
    assert!(
        detail.contains("tool `saw` is listed by `box` and by `shed` and by `toys`"),
        "{detail}"
    );
}

fn counted(made: &Arc<AtomicUsize>) -> impl Fn(Scope) -> FunctionTool + Send + Sync + 'static {
    let made = Arc::clone(made);
    move |_| {
        let number = made.fetch_add(1, Ordering::Relaxed);
        tool("count", move |_| number.cast_signed() as i64)
    }
}

#[tokio::test]
async fn r4_i1_factories_build_per_run_or_per_step() {
    for (per_step, expected) in [(false, ["0", "0"]), (true, ["0", "1"])] {
        let made = Arc::default();
        let factory = counted(&made);
        let registry = Registry::new();
        if per_step {
            registry.register_toolset("counter", Source::per_step(factory)).unwrap();
        } else {
            registry.register_toolset("counter", factory).unwrap();
        }
        let two = vec![vec![call("count", "a", 0)], vec![call("count", "b", 0)]];
        registry.register_agent(agent().with_toolsets(["counter"]), steps(two)).unwrap();
        assert_eq!(made.load(Ordering::Relaxed), 0, "nothing is made before a run");
        let results = briefs(&run(registry).await);
        assert_eq!(results, expected.map(|n| format!("{{\"n\":{n}}}")));
    }
}

/// R4: without a toolset there are no tools.
#[tokio::test]
async fn r4_a_factory_may_be_async_and_may_return_none() {
    let registry = Registry::new();
    let waiting = async |_: Scope| {
        tokio::task::yield_now().await;
        Some(tool("late", |n| n))
    };
    registry.register_toolset("waiting", waiting).unwrap();
    registry.register_toolset("none", |_: Scope| None::<FunctionTool>).unwrap();
    let planner = rule(|turn| {
        assert_eq!(
            turn.tools().map(toolwright_runtime::ToolEntry::name).collect::<Vec<_>>(),
            ["late"]
        );
        Ok(Step::Finish(payload(0)))
    });
    registry.register_agent(agent().with_toolsets(["waiting", "none"]), planner).unwrap();
    run(registry).await.result().unwrap();
}

#[tokio::test]
async fn r8_a_failing_factory_is_named_with_its_error() {
    let registry = Registry::new();
    let failing = async |_: Scope| Err::<FunctionTool, _>("no more wood");
    registry.register_toolset("shed", failing).unwrap();
    registry.register_agent(agent().with_toolsets(["shed"]), steps(vec![])).unwrap();
    let detail = run(registry).await.result().unwrap_err().detail.unwrap();
    assert!(detail.starts_with("the factory of toolset `shed` failed: no more wood"), "{detail}");
}

/// R6: another agent uses the toolset of a tool that it implements.
#[tokio::test]
async fn r6_agents_made_at_run_time_are_toolsets_like_any_other() {
    let spec =
        ToolSpec::new("ponder").with_toolset("pondering").with_service("lab").with_types::<N, N>();
    let ponderer = Agent::new("ponderer", "lab").with_implements(spec);
    let registry = Registry::new();
    registry.register_agent(ponderer, Arc::new(Script::new().finish(payload(9)))).unwrap();
    let calls = vec![call("ponder", "a", 1)];
    let listing = agent().with_toolsets(["pondering"]);
    registry.register_agent(listing, steps(vec![calls])).unwrap();
    assert_eq!(briefs(&run(registry).await), [r#"{"n":9}"#]);
}

#[tokio::test]
async fn a_run_may_have_an_extra_toolset() {
    let registry = Registry::new();
    let planner = steps(vec![vec![call("guest", "a", 1)]]);
    registry.register_agent(agent(), planner).unwrap();
    let request =
        RunRequest::new("worker", payload(0)).with_toolset("guests", tool("guest", |n| n));
    let outcome = Runtime::new(registry).run(request).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":1}"#]);
}

#[tokio::test]
async fn h5_instructions_are_in_order_without_empty_ones() {
    let log = Log::default();
    let registry = Registry::new();
    let silent = Combined::new().with("quiet", tool("mute", |n| n));
    registry.register_toolset("one", Toy::new("one", &log)).unwrap();
    registry.register_toolset("silent", silent).unwrap();
    registry.register_toolset("two", Toy::new("two", &log)).unwrap();
    let planner = rule(|turn| {
        assert_eq!(turn.instructions(), "Be brief.\n\nUse one well.\n\nUse two well.");
        Ok(Step::Finish(payload(0)))
    });
    let listing = agent().with_instructions("Be brief.").with_toolsets(["one", "silent", "two"]);
    registry.register_agent(listing, planner).unwrap();
    run(registry).await.result().unwrap();
}

#[tokio::test]
async fn h5_empty_instructions_of_the_agent_are_dropped() {
    for (toolsets, expected) in [(&["one"][..], "Use one well."), (&[], "")] {
        for own in ["", " \n\t"] {
            let registry = Registry::new();
            registry.register_toolset("one", Toy::new("one", &Log::default())).unwrap();
            let planner = rule(move |turn| {
                assert_eq!(turn.instructions(), expected);
                Ok(Step::Finish(payload(0)))
            });
            let listing = agent().with_instructions(own).with_toolsets(toolsets.iter().copied());
            registry.register_agent(listing, planner).unwrap();
            run(registry).await.result().unwrap();
        }
    }
}

/// R2: tools that are registered by hand and by generated code. `toolwright-agents` tests agents from files.
#[tokio::test]
async fn r2_an_agent_in_code_selects_tools_and_toolsets_by_name() {
    let (registry, _) = crate::tools::test_registry();
    registry.register_tool(tool("hammer", |n| n + 1)).unwrap();
    registry.register_tool(tool("unlisted", |n| n)).unwrap();
    registry.register_toolset("box", tool("saw", |n| n + 2)).unwrap();
    registry.register_toolset("shed", tool("axe", |n| n)).unwrap();
    let planner = rule(|turn| {
        let names: Vec<_> = turn.tools().map(|tool| tool.name().to_owned()).collect();
        assert_eq!(names, ["saw", "hammer", "echo"]);
        Ok(match turn.step() {
            0 => Step::call(names.iter().map(|name| call(name, name, 1))),
            _ => Step::Finish(payload(0)),
        })
    });
    let listing = agent().with_tools(["hammer", "echo"]).with_toolsets(["box"]);
    registry.register_agent(listing, planner).unwrap();
    assert_eq!(briefs(&run(registry).await), [r#"{"n":3}"#, r#"{"n":2}"#, r#"{"n":1}"#]);
}

#[tokio::test]
async fn the_final_payload_must_match_the_result_schema_of_the_agent() {
    let planner = rule(|turn| Ok(Step::Finish(turn.input().clone())));
    let registry = Registry::new();
    let spec: &'static ToolSpec = <Echo as toolwright::Tool>::SPEC;
    registry.register_agent(agent().with_result_spec(spec), planner).unwrap();
    let runtime = Runtime::new(registry);
    let good = runtime.run(RunRequest::new("worker", payload(3))).await.unwrap();
    assert_eq!(good.decode::<N>().unwrap(), N { n: 3 });
    let wrong = toolwright::Payload::new(r#"{"n": "three"}"#);
    let bad = runtime.run(RunRequest::new("worker", wrong)).await.unwrap();
    assert_eq!(bad.result().unwrap_err().kind, toolwright::FailureKind::MalformedResult);
}

#[tokio::test]
async fn an_async_factory_that_panics_before_it_returns_its_future_ends_its_run() {
    let registry = Registry::new();
    let factory = |_: Scope| -> std::future::Ready<FunctionTool> { panic!("a bug") };
    registry.register_toolset("broken", factory).unwrap();
    let agent = Agent::new("worker", "lab").with_toolsets(["broken"]);
    registry.register_agent(agent, steps(vec![])).unwrap();
    let outcome = Runtime::new(registry).run(RunRequest::new("worker", payload(0))).await.unwrap();
    let detail = outcome.result().unwrap_err().detail.unwrap();
    assert!(detail.ends_with("it panicked"), "{detail}");
}
