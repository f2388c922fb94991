//! One path for every call, whatever runs its tool: a service's method, an agent, an MCP server, or an executor of the
//! host (G29). Each of the four is a generated toolset.

use std::error::Error;
use std::sync::Arc;

use todos_service::errors::{GetTodosError, UpdateTodosError};
use todos_service::service::TodosService;
use todos_service::types::{GetTodosPayload, TodosSnapshot, UpdateTodosPayload};
use toolwright::spec::Implementation;
use toolwright::{
    BoxError, BoxFuture, Executor, FailureKind, MethodError, Payload, Recovery, ToolCall,
    ToolFailure, ToolResult,
};
use toolwright_runtime::{
    Agent, Collector, EventKind, Planner, Policy, Registry, RunRequest, Runtime, Script, Step, Turn,
};

use super::Tested;
use super::examples::Sums;
use super::injection::Echo;
use crate::real_servers::git_tools;
use crate::remote::Peer;
use crate::requirement_cases::rates_tools;

/// Answers as told, whatever kind of thing it is.
#[derive(Clone, Copy)]
struct Backing {
    fails: bool,
}

impl Backing {
    fn answer(self, payload: &str) -> Result<Payload, ToolFailure> {
        if self.fails {
            return Err(ToolFailure::declared("closed", "It is closed.", Recovery::Replan));
        }
        Ok(Payload::new(payload))
    }

    /// A registry with a tool of each kind, all of which answer alike.
    fn registry(self) -> Result<Registry, Box<dyn Error>> {
        let peer = if self.fails { Err(FailureKind::DomainRejection) } else { Ok("{}") };
        let mut registry = Registry::new();
        todos_tools::register(&mut registry, self)?;
        calculator_tools::register(&mut registry, Sums)?;
        planner_session_planner_agent::register(&mut registry, Arc::new(self))?;
        git_tools::register(&mut registry, Peer::answering(peer))?;
        rates_tools::register(&mut registry, Echo, Arc::new(self))?;
        Ok(registry)
    }
}

impl TodosService for Backing {
    async fn update_todos(
        &self,
        _: UpdateTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<UpdateTodosError>> {
        Err(UpdateTodosError::RunNotFound.into())
    }

    async fn get_todos(
        &self,
        _: GetTodosPayload,
    ) -> Result<TodosSnapshot, MethodError<GetTodosError>> {
        if self.fails {
            Err(GetTodosError::RunNotFound.into())
        } else {
            Ok(TodosSnapshot { items: Vec::new() })
        }
    }
}

impl Planner for Backing {
    fn plan<'a>(&'a self, _: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        let plan = self.answer(r#"{"goal":"Ship","steps":[]}"#);
        Box::pin(std::future::ready(plan.map(Step::Finish).map_err(Into::into)))
    }
}

impl Executor for Backing {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        let result = ToolResult::new(call, self.answer("2.5"));
        Box::pin(std::future::ready(result))
    }
}

/// A tool of each kind, with arguments that are right and some that are not.
const TOOLS: [(&str, &str, &str); 4] = [
    ("get_todos", "{}", r#"{"status":"lost"}"#),
    ("plan_session", r#"{"goal":"Ship"}"#, "{}"),
    ("git_status", r#"{"repo_path":"/srv"}"#, "{}"),
    ("guess_rate", "{}", "[]"),
];

/// What the host's sink is told of a run that makes one call a step.
async fn told(
    tool: &str,
    args: &[&str],
    fails: bool,
    policy: Policy,
) -> Result<Vec<String>, Box<dyn Error>> {
    let mut script = Script::new();
    for args in args {
        script = script.call([ToolCall::new(tool, Payload::new(*args))]);
    }
    let registry = Backing { fails }.registry()?;
    let agent = Agent::new("host", "lab").with_tools([tool]).with_policy(policy);
    registry.register_agent(agent, Arc::new(script.finish(Payload::new("0"))))?;
    let own = Collector::new();
    let request = RunRequest::new("host", Payload::new("0")).with_events(own.clone());
    Runtime::new(registry).run(request).await?;
    Ok(own.events().iter().map(|event| line(&event.kind)).collect())
}

fn line(kind: &EventKind) -> String {
    let end = match kind {
        EventKind::ToolResultReceived { outcome: Err(failure), .. }
        | EventKind::RunFinished { result: Err(failure), .. } => failure.kind.as_str(),
        EventKind::ToolResultReceived { .. } | EventKind::RunFinished { .. } => "payload",
        _ => return kind.as_str().to_owned(),
    };
    format!("{}: {end}", kind.as_str())
}

/// The events of a run whose calls end like this, and which itself ends so.
fn expected(calls: &[&str], run: &str) -> Vec<String> {
    let of_call =
        |end: &&str| ["tool_call_scheduled".to_owned(), format!("tool_result_received: {end}")];
    let first = std::iter::once("run_started".to_owned());
    first.chain(calls.iter().flat_map(of_call)).chain([format!("run_finished: {run}")]).collect()
}

/// The tools compared are backed in the four ways.
#[test]
fn g29_the_tools_that_are_compared_are_backed_in_four_ways() -> Tested {
    let registry = Backing { fails: false }.registry()?;
    let kinds = TOOLS.map(|(tool, ..)| {
        match registry.spec(tool).map(|spec| spec.implementation().clone()) {
            Some(Implementation::Method { .. }) => "method",
            Some(Implementation::Agent { .. }) => "agent",
            Some(Implementation::Mcp { .. }) => "mcp",
            Some(Implementation::External) => "host",
            None => "nothing",
        }
    });
    assert_eq!(kinds, ["method", "agent", "mcp", "host"]);
    Ok(())
}

/// G29: a call that succeeds, one that is refused and one that fails are told alike, whatever runs the tool.
#[tokio::test]
async fn g29_the_events_of_a_call_do_not_depend_on_what_runs_it() -> Tested {
    for (tool, right, wrong) in TOOLS {
        let events = told(tool, &[right, wrong], false, Policy::UNLIMITED).await?;
        assert_eq!(events, expected(&["payload", "invalid_call"], "payload"), "{tool}");
        let events = told(tool, &[right], true, Policy::UNLIMITED).await?;
        assert_eq!(events, expected(&["domain_rejection"], "payload"), "{tool}");
    }
    Ok(())
}

/// G29: each limit of a policy counts and strikes alike, whatever runs the tool.
#[tokio::test]
async fn g29_the_policy_over_calls_does_not_depend_on_what_runs_them() -> Tested {
    let two_calls = Policy { max_tool_calls: Some(2), ..Policy::UNLIMITED };
    let two_failures = Policy { max_consecutive_failures: Some(2), ..Policy::UNLIMITED };
    for (tool, right, wrong) in TOOLS {
        let cases: [(&[&str], bool, Policy, &[&str], &str); 5] = [
            (&[right; 3], false, two_calls, &["payload", "payload", "denied"], "payload"),
            // Who asks again after that is ended.
            (&[right; 4], false, two_calls, &["payload", "payload", "denied"], "denied"),
            (&[right; 4], true, two_failures, &["domain_rejection"; 2], "denied"),
            (&[wrong; 4], false, two_failures, &["invalid_call"; 2], "denied"),
            // A success between two failures starts the count anew.
            (
                &[wrong, right, wrong, right],
                false,
                two_failures,
                &["invalid_call", "payload", "invalid_call", "payload"],
                "payload",
            ),
        ];
        for (args, fails, policy, calls, run) in cases {
            let events = told(tool, args, fails, policy).await?;
            assert_eq!(events, expected(calls, run), "{tool} {args:?}");
        }
    }
    Ok(())
}
