//! Registration of tools, toolsets and agents.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use toolwright::{Registrar, RegistrationError, Tool, ToolSpec};
use toolwright_runtime::{Agent, AgentSpec, Registry, RunError, RunRequest, Runtime, Step};

use crate::planners::{WORKER, steps};
use crate::tools::{Echo, Slow, Stray, TEST_TOOLS, TestExecutor, Think, payload, test_registry};

static TWICE: &[&ToolSpec] = &[Slow::SPEC, Echo::SPEC];
static STRAY: &[&ToolSpec] = &[Stray::SPEC];
static THINK: &[&ToolSpec] = &[Think::SPEC];

static NEEDY: AgentSpec = AgentSpec { tools: STRAY, ..AgentSpec::new("needy", "lab") };
static THINKER: AgentSpec =
    AgentSpec { exports: THINK, tools: THINK, ..AgentSpec::new("thinker", "lab") };
static THIEF: AgentSpec = AgentSpec { exports: THINK, ..AgentSpec::new("thief", "lab") };

#[test]
fn g24_an_agent_whose_tool_has_no_executor_is_refused() {
    let (registry, _) = test_registry();
    let error = registry.register_agent(&NEEDY, steps(vec![])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "agent `needy` needs tool `stray`, but nothing runs it; register toolset `elsewhere` first"
    );
    assert_eq!(registry.agents().len(), 0);
}

#[test]
fn g24_an_export_that_another_agent_implements_needs_that_agent() {
    let registry = Registry::new();
    let error = registry.register_agent(&THIEF, steps(vec![])).unwrap_err();
    assert!(matches!(error, RegistrationError::MissingExecutor { tool, .. } if tool == "think"));
}

/// G24, R9: the error has the names of both toolsets.
#[test]
fn g24_r9_a_set_with_one_duplicate_name_registers_nothing() {
    let mut registry = Registry::new();
    registry.register(STRAY, Arc::new(TestExecutor::default())).unwrap();
    registry.register(&TWICE[1..], Arc::new(TestExecutor::default())).unwrap();
    let error = registry.register(TWICE, Arc::new(TestExecutor::default())).unwrap_err();
    let taken = |tool: &str| RegistrationError::DuplicateTool {
        tool: tool.into(),
        registered: "stand".into(),
        offered: "stand".into(),
    };
    assert_eq!(error.each(), [taken("echo"), taken("repeat")], "earlier names count");
    assert!(registry.spec("slow").is_none());
}

#[test]
fn r9_a_tool_given_twice_in_one_set_is_refused() {
    static SET: &[&ToolSpec] = &[Echo::SPEC, Echo::SPEC];
    let error = Registry::new().register(SET, Arc::new(TestExecutor::default())).unwrap_err();
    assert_eq!(error.each().len(), 2, "the name and the earlier name: {error}");
}

#[test]
fn an_alias_finds_its_tool_and_cannot_be_used_twice() {
    let (registry, _) = test_registry();
    assert_eq!(registry.spec("repeat").unwrap().name(), "echo");
    assert_eq!(registry.specs().len(), TEST_TOOLS.len());
}

#[test]
fn g24_an_agent_registered_twice_is_refused() {
    let (registry, _) = test_registry();
    registry.register_agent(&WORKER, steps(vec![])).unwrap();
    let error = registry.register_agent(&WORKER, steps(vec![])).unwrap_err();
    assert_eq!(error, RegistrationError::DuplicateAgent { agent: "worker".into() });
}

/// The toolset `thinking` is registered without a list of its tools, and so has no place for more.
#[test]
fn an_agent_that_is_refused_leaves_none_of_its_tools_behind() {
    let registry = Registry::new();
    registry.register_toolset("thinking", crate::toys::tool("other", |n| n)).unwrap();
    let agent = Agent::new("thinker", "lab")
        .with_implements(ToolSpec::new("count").with_toolset("counting"))
        .with_implements(Think::SPEC);
    let error = registry.register_agent(agent, steps(vec![])).unwrap_err();
    assert_eq!(error, RegistrationError::DuplicateToolset { toolset: "thinking".into() });
    assert!(registry.specs().is_empty() && registry.agents().is_empty());
    assert!(registry.spec("count").is_none());
}

#[tokio::test]
async fn a_toolset_that_an_agent_lists_twice_is_used_once() {
    let log = crate::tools::Log::default();
    let registry = Registry::new();
    registry.register_toolset("toy", crate::toys::Toy::new("toy", &log)).unwrap();
    let agent = Agent::new("worker", "lab").with_toolsets(["toy", "toy"]);
    let planner = steps(vec![vec![crate::tools::call("toy", "a", 1)]]);
    registry.register_agent(agent, planner).unwrap();
    let runtime = Runtime::new(registry);
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    assert_eq!(crate::planners::briefs(&outcome), [r#"{"n":2}"#]);
    assert_eq!(log.lines(), ["enter toy", "exit toy"]);
}

#[test]
fn an_agent_may_call_what_it_exports_itself() {
    let registry = Registry::new();
    registry.register_agent(&THINKER, steps(vec![])).unwrap();
    assert_eq!(registry.spec("think").unwrap().toolset(), "thinking");
}

#[tokio::test]
async fn an_unknown_agent_is_refused_with_the_names_of_all_agents() {
    let (registry, _) = test_registry();
    registry.register_agent(&WORKER, steps(vec![])).unwrap();
    let runtime = Runtime::new(registry);
    let error = runtime.run(RunRequest::new("walker", payload(0))).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no agent `walker`, did you mean `worker`?");
    let RunError::UnknownAgent { available, .. } = error else { panic!("another error") };
    assert_eq!(available, ["worker"]);
}

/// G26: id, owner, toolset, schemas, hints and tags.
#[test]
fn g26_registration_keeps_everything_in_the_spec_of_a_tool() {
    static FULL: ToolSpec = ToolSpec::of::<Echo>("full")
        .with_description("All there is.")
        .with_toolset("kit")
        .with_service("lab")
        .with_tags(&["set", "own"])
        .with_call_hint("Looking")
        .with_args_schema(r#"{"type":"object"}"#)
        .with_result_schema(r#"{"type":"integer"}"#);
    static SET: &[&ToolSpec] = &[&FULL];
    let mut registry = Registry::new();
    registry.register(SET, Arc::new(TestExecutor::default())).unwrap();
    let found = registry.spec("full").unwrap();
    assert_eq!((found.name(), found.toolset(), found.service()), ("full", "kit", "lab"));
    assert_eq!(found.tags().collect::<Vec<_>>(), ["set", "own"]);
    assert_eq!(found.hints().call.as_deref(), Some("Looking"));
    assert_eq!(
        (found.args_schema(), found.result_schema()),
        (r#"{"type":"object"}"#, r#"{"type":"integer"}"#)
    );
}

/// G27: to the executor of a service, a function, an agent, or another runtime.
#[tokio::test]
async fn g27_calls_are_routed_by_registration() {
    let (mut registry, _) = test_registry();
    registry.register_tool(crate::toys::tool("plain", |n| n + 1)).unwrap();
    let finish = crate::planners::rule(|_| Ok(toolwright_runtime::Step::Finish(payload(7))));
    registry.register_agent(&THINKER, finish).unwrap();
    let mut other = Registry::new();
    other.register(STRAY, Arc::new(Elsewhere)).unwrap();
    registry.register(STRAY, Arc::new(Runtime::new(other))).unwrap();
    let runtime = Runtime::new(registry);
    for (tool, expected) in [("echo", 1), ("plain", 2), ("think", 7), ("stray", 9)] {
        let result = runtime.call(crate::tools::call(tool, "a", 1)).await;
        assert_eq!(result.outcome.as_ref(), Ok(&payload(expected)), "{tool}");
    }
}

#[tokio::test]
async fn h4_h5_availability_and_instructions_are_set_for_a_registered_tool() {
    for is_shared in [true, false] {
        let mut registry = Registry::new();
        if is_shared {
            registry.register(TEST_TOOLS, Arc::new(TestExecutor::default())).unwrap();
        } else {
            let factory = toolwright::registration::per_run(TestExecutor::default);
            registry.register_factory(TEST_TOOLS, factory).unwrap();
        }
        let open = Arc::new(AtomicBool::new(false));
        let door = Arc::clone(&open);
        registry.set_availability("repeat", move || door.load(Ordering::SeqCst)).unwrap();
        registry.set_instructions("echo", |_| Some("Echo softly.".into())).unwrap();
        registry.set_instructions("slow", |_| Some(" ".into())).unwrap();
        let planner = crate::planners::rule(|turn| {
            assert_eq!(turn.instructions(), "Echo softly.");
            Ok(match turn.step() {
                0 => Step::call([crate::tools::call("echo", "a", 1)]),
                _ => Step::Finish(payload(0)),
            })
        });
        registry.register_agent(&WORKER, planner).unwrap();
        let runtime = Runtime::new(registry);
        for (is_open, expected) in [(false, "unavailable"), (true, r#"{"n":1}"#)] {
            open.store(is_open, Ordering::SeqCst);
            let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
            assert_eq!(crate::planners::briefs(&outcome), [expected], "{is_shared}");
            let result = runtime.call(crate::tools::call("repeat", "a", 1)).await;
            assert_eq!(crate::planners::brief(&result), expected, "by its earlier name too");
        }
    }
}

#[test]
fn a_setting_for_an_unregistered_tool_is_an_error() {
    let (registry, _) = test_registry();
    let error = registry.set_availability("eco", || true).unwrap_err();
    assert!(matches!(error, RegistrationError::Unknown { entry, .. } if entry == "eco"));
    assert!(registry.set_instructions("eco", |_| None).is_err());
}

/// An executor that always returns nine.
struct Elsewhere;

impl toolwright::Executor for Elsewhere {
    fn execute<'a>(
        &'a self,
        call: &'a toolwright::ToolCall,
    ) -> toolwright::BoxFuture<'a, toolwright::ToolResult> {
        Box::pin(std::future::ready(toolwright::ToolResult::new(call, Ok(payload(9)))))
    }
}
