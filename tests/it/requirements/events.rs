//! Tests that calls take the same path whatever runs the tool (G29): a method of a service, an agent, an MCP server or an
//! executor of the host, each with a generated toolset; a function; and an MCP server without a schema file.

use std::error::Error;
use std::sync::Arc;

use todos_service::errors::{GetTodosError, UpdateTodosError};
use todos_service::service::TodosService;
use todos_service::types::{GetTodosPayload, TodosSnapshot, UpdateTodosPayload};
use tokio::net::TcpListener;
use toolwright::spec::Implementation;
use toolwright::{
    BoxError, BoxFuture, Executor, FailureKind, MethodError, Payload, Recovery, ToolCall,
    ToolFailure, ToolResult, ToolSpec, described,
};
use toolwright_mcp::client::{Client, McpToolset, ServerUrl};
use toolwright_mcp::{HttpOptions, McpServer, ServerSpec};
use toolwright_runtime::{
    Agent, Collector, Event, EventKind, FunctionTool, Planner, Policy, Registry, RunRequest,
    Runtime, Script, Step, Turn,
};

use super::Tested;
use super::examples::Sums;
use super::injection::Echo;
use crate::real_servers::{git_tools, memory_tools};
use crate::remote::Peer;
use crate::requirement_cases::rates_tools;

/// Answers all calls with success, or all with failure. It implements a service, a planner and an executor.
#[derive(Clone, Copy)]
pub(super) struct Backing {
    pub(super) fails: bool,
}

described! {
    struct Reading {
        value: i64,
    }
}

/// A server for which the client has no schema file.
static FAR: ServerSpec =
    ServerSpec { name: "far", version: "1.0.0", toolsets: &[memory_tools::specs::ALL] };

impl Backing {
    fn answer(self, payload: &str) -> Result<Payload, ToolFailure> {
        if self.fails {
            return Err(ToolFailure::declared("closed", "It is closed.", Recovery::Replan));
        }
        Ok(Payload::new(payload))
    }

    /// A registry with a tool of each kind, which all succeed or all fail.
    pub(super) async fn registry(self) -> Result<Registry, Box<dyn Error>> {
        let peer = if self.fails { Err(FailureKind::DomainRejection) } else { Ok("{}") };
        let mut registry = Registry::new();
        todos_tools::register(&mut registry, self)?;
        calculator_tools::register(&mut registry, Sums)?;
        planner_session_planner_agent::register(&mut registry, Arc::new(self))?;
        git_tools::register(&mut registry, Peer::answering(peer))?;
        rates_tools::register(&mut registry, Echo, Arc::new(self))?;
        let spec = ToolSpec::new("measure").with_toolset("gauges").with_service("lab");
        let measure = FunctionTool::new(spec, move |reading: Reading| {
            std::future::ready(self.answer("{}").map(|_| reading))
        });
        registry.register_tool(measure)?;
        let client = Client::new(self.far().await?);
        registry.register_toolset("far", McpToolset::new("far", client))?;
        Ok(registry)
    }

    /// Starts an MCP server in this process, which runs as long as the test.
    async fn far(self) -> Result<ServerUrl, Box<dyn Error>> {
        let graph = r#"{"entities":[],"relations":[]}"#;
        let peer = if self.fails { Err(FailureKind::DomainRejection) } else { Ok(graph) };
        let mut server = McpServer::new(&FAR);
        memory_tools::register(&mut server, Peer::answering(peer))?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        tokio::spawn(server.complete()?.serve_listener(listener, HttpOptions::new()));
        Ok(ServerUrl::new(url))
    }

    /// The events of a run of the agent `host` that makes these calls, one in each step.
    pub(super) async fn events(
        self,
        calls: impl IntoIterator<Item = ToolCall>,
        policy: Policy,
    ) -> Result<Vec<Event>, Box<dyn Error>> {
        let mut script = Script::new();
        for call in calls {
            script = script.call([call]);
        }
        let registry = self.registry().await?;
        let generated =
            TOOLS.map(|(tool, ..)| tool).into_iter().filter(|tool| *tool != "search_nodes");
        let agent = Agent::new("host", "lab").with_tools(generated).with_toolsets(["far"]);
        registry.register_agent(
            agent.with_policy(policy),
            Arc::new(script.finish(Payload::new("0"))),
        )?;
        let own = Collector::new();
        let request = RunRequest::new("host", Payload::new("0")).with_events(own.clone());
        Runtime::new(registry).run(request).await?;
        Ok(own.events())
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

/// A tool of each kind, with valid and with invalid arguments.
pub(super) const TOOLS: [(&str, &str, &str); 6] = [
    ("get_todos", "{}", r#"{"status":"lost"}"#),
    ("plan_session", r#"{"goal":"Ship"}"#, "{}"),
    ("git_status", r#"{"repo_path":"/srv"}"#, "{}"),
    ("guess_rate", "{}", "[]"),
    ("measure", r#"{"value":1}"#, "{}"),
    ("search_nodes", r#"{"query":"x"}"#, "{}"),
];

/// The events of a run whose calls, `call_0` and so on, have these arguments, one line each.
async fn event_lines(
    tool: &str,
    args: &[&str],
    fails: bool,
    policy: Policy,
) -> Result<Vec<String>, Box<dyn Error>> {
    let call = |(place, args): (usize, &&str)| {
        ToolCall::new(tool, Payload::new(*args)).with_id(format!("call_{place}"))
    };
    let events = Backing { fails }.events(args.iter().enumerate().map(call), policy).await?;
    Ok(events.iter().map(|event| line(&event.kind)).collect())
}

fn line(kind: &EventKind) -> String {
    let end = |outcome: &Result<Payload, ToolFailure>| match outcome {
        Ok(_) => "payload",
        Err(failure) => failure.kind.as_str(),
    };
    let name = kind.as_str();
    match kind {
        EventKind::ToolCallScheduled { call, .. } => format!("{name} {}", call.id()),
        EventKind::ToolResultReceived { call_id, outcome, .. } => {
            format!("{name} {call_id}: {}", end(outcome))
        }
        EventKind::RunFinished { result, .. } => format!("{name}: {}", end(result)),
        _ => name.to_owned(),
    }
}

/// The event lines of a run with these outcomes of its calls and of the run.
fn expected(calls: &[&str], run: &str) -> Vec<String> {
    let of_call = |(place, end): (usize, &&str)| {
        let scheduled = format!("tool_call_scheduled call_{place}");
        [scheduled, format!("tool_result_received call_{place}: {end}")]
    };
    let first = std::iter::once("run_started".to_owned());
    let calls = calls.iter().enumerate().flat_map(of_call);
    first.chain(calls).chain([format!("run_finished: {run}")]).collect()
}

/// G29: the compared tools have all kinds of implementations.
#[tokio::test]
async fn g29_the_compared_tools_are_implemented_in_six_ways() -> Tested {
    let calls = TOOLS.map(|(tool, right, _)| ToolCall::new(tool, Payload::new(right)));
    let events = Backing { fails: false }.events(calls, Policy::UNLIMITED).await?;
    let of_call = |event: &Event| match &event.kind {
        EventKind::ToolCallScheduled { tool, .. } => Some(match tool.implementation()? {
            Implementation::Method { .. } => format!("{}: method", tool.name()),
            Implementation::Agent { .. } => format!("{}: agent", tool.name()),
            Implementation::Mcp { server } => format!("{}: server {server}", tool.name()),
            Implementation::External => format!("{}: host", tool.name()),
        }),
        _ => None,
    };
    assert_eq!(
        events.iter().filter_map(of_call).collect::<Vec<_>>(),
        [
            "get_todos: method",
            "plan_session: agent",
            "git_status: server git",
            "guess_rate: host",
            "measure: host",
            "search_nodes: server far"
        ]
    );
    Ok(())
}

/// G29: a call that succeeds, is refused or fails has the same events, whatever runs the tool.
#[tokio::test]
async fn g29_the_events_of_a_call_do_not_depend_on_what_runs_it() -> Tested {
    for (tool, right, wrong) in TOOLS {
        let events = event_lines(tool, &[right, wrong], false, Policy::UNLIMITED).await?;
        assert_eq!(events, expected(&["payload", "invalid_call"], "payload"), "{tool}");
        let events = event_lines(tool, &[right], true, Policy::UNLIMITED).await?;
        assert_eq!(events, expected(&["domain_rejection"], "payload"), "{tool}");
    }
    Ok(())
}

/// G29: the limits of a policy count the same, whatever runs the tool.
#[tokio::test]
async fn g29_the_policy_over_calls_does_not_depend_on_what_runs_them() -> Tested {
    let two_calls = Policy { max_tool_calls: Some(2), ..Policy::UNLIMITED };
    let two_failures = Policy { max_consecutive_failures: Some(2), ..Policy::UNLIMITED };
    for (tool, right, wrong) in TOOLS {
        let cases: [(&[&str], bool, Policy, &[&str], &str); 5] = [
            (&[right; 3], false, two_calls, &["payload", "payload", "denied"], "payload"),
            // Another call after the denied one ends the run.
            (&[right; 4], false, two_calls, &["payload", "payload", "denied"], "denied"),
            (&[right; 4], true, two_failures, &["domain_rejection"; 2], "denied"),
            (&[wrong; 4], false, two_failures, &["invalid_call"; 2], "denied"),
            // A success between two failures resets the count.
            (
                &[wrong, right, wrong, right],
                false,
                two_failures,
                &["invalid_call", "payload", "invalid_call", "payload"],
                "payload",
            ),
        ];
        for (args, fails, policy, calls, run) in cases {
            let events = event_lines(tool, args, fails, policy).await?;
            assert_eq!(events, expected(calls, run), "{tool} {args:?}");
        }
    }
    Ok(())
}
