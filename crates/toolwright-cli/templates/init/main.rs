//! Runs{% if parts.mcp %} an MCP server{% endif %}{% if parts.mcp && (parts.agent || parts.restate) %} or{% endif %}{% if parts.agent %} an agent{% endif %}{% if parts.agent && parts.restate %} or{% endif %}{% if parts.restate %} a worker{% endif %} with the tools.

use std::process::ExitCode;
{%- if parts.agent %}
use std::sync::Arc;
{%- endif %}

{% if parts.agent -%}
use issues_tools::calls;
use issues_tools::types::{CloseIssue, FindIssues, Issues};
{% endif -%}
{% if parts.mcp || parts.restate -%}
use tokio::net::TcpListener;
{% endif -%}
{% if parts.agent -%}
use toolwright::{BoxError, Payload};
use toolwright_agents::AgentsFrom as _;
use toolwright_chat::Chat;
{% else -%}
use toolwright::BoxError;
{% endif -%}
{% if parts.mcp -%}
use toolwright_mcp::HttpOptions;
{% endif -%}
{% if parts.agent -%}
use toolwright_model::{ClientBuilder, ModelPlanner};
{% endif -%}
{% if parts.restate -%}
use toolwright_restate::Worker;
{% endif -%}
{% if parts.agent -%}
use toolwright_runtime::{Planner, Registry, Runtime, Script, Step};
{% else if parts.restate -%}
use toolwright_runtime::{Registry, Runtime};
{% endif %}
use {{ package }}::Tracker;
{%- if parts.build_rs && (parts.agent || parts.restate) %}
use {{ package }}::issues_tools;
{%- endif %}
{%- if parts.build_rs && parts.mcp %}
use {{ package }}::issues_tracker_mcp;
{%- endif %}

const USAGE: &str = "expected {% if parts.mcp %}`mcp` or `mcp --http ADDRESS`{% endif %}{% if parts.mcp && (parts.agent || parts.restate) %} or {% endif %}{% if parts.agent %}`chat AGENT`{% endif %}{% if parts.agent && parts.restate %} or {% endif %}{% if parts.restate %}`worker ADDRESS`{% endif %}";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
{%- if parts.mcp %}
        ["mcp"] => serve(None).await,
        ["mcp", "--http", address] => serve(Some(address)).await,
{%- endif %}
{%- if parts.agent %}
        ["chat", agent] => chat(agent).await,
{%- endif %}
{%- if parts.restate %}
        ["worker", address] => work(address).await,
{%- endif %}
        _ => Err(USAGE.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tracker() -> Tracker {
    Tracker::with_issues(&["Oil the door", "Buy paper for the printer"])
}
{%- if parts.mcp %}

/// Serves the tools to MCP clients, on standard input and output or over HTTP.
async fn serve(address: Option<&str>) -> Result<(), BoxError> {
    let server = issues_tracker_mcp::server(tracker())?;
    let Some(address) = address else {
        return Ok(server.serve_stdio().await?);
    };
    let listener = TcpListener::bind(address).await?;
    eprintln!("serving at http://{}/mcp", listener.local_addr()?);
    Ok(server.serve_listener(listener, HttpOptions::new()).await?)
}
{%- endif %}
{%- if parts.restate %}

/// Serves the tools{% if parts.agent %} and the agents of the folder `agents`{% endif %} to a Restate server.
async fn work(address: &str) -> Result<(), BoxError> {
    let mut registry = Registry::new();
    issues_tools::register(&mut registry, tracker())?;
{%- if parts.agent %}
    let planner = planner()?;
    registry.agents_from("agents", |_| Arc::clone(&planner))?;
{%- endif %}
    let worker = Worker::new(Runtime::builder(registry)).await?;
    let listener = TcpListener::bind(address).await?;
    eprintln!("serving at http://{}", listener.local_addr()?);
    Ok(worker.serve(listener).await?)
}
{%- endif %}
{%- if parts.agent %}

/// Chats with an agent of the folder `agents` in the terminal.
async fn chat(agent: &str) -> Result<(), BoxError> {
    let mut registry = Registry::new();
    issues_tools::register(&mut registry, tracker())?;
    let planner = planner()?;
    registry.agents_from("agents", |_| Arc::clone(&planner))?;
    Chat::new(Runtime::new(registry), agent).run().await
}

/// Asks the model in the variable `MODEL`, such as `ollama/qwen3` or `anthropic/claude-sonnet-4-5`, whose key is in another
/// variable, such as `ANTHROPIC_API_KEY`.
fn planner() -> Result<Arc<dyn Planner>, BoxError> {
    match std::env::var("MODEL") {
        Ok(model) => Ok(ModelPlanner::new(ClientBuilder::from_env(&model)?.build()?).into()),
        Err(_) => Ok(rules().into()),
    }
}

/// Takes the place of a model: closes the open issues whose titles are in the question.
fn rules() -> Script {
    Script::new()
        .then(|_| {
            let find = calls::find_issues(&FindIssues::default())?;
            Ok(Step::call([find]))
        })
        .then(|turn| {
            let question: String = turn.input().decode()?;
            let found = turn.last_results().next().ok_or("nothing was found")?;
            let Issues { issues } = found.outcome.clone()?.decode()?;
            let mut closing = Vec::new();
            for issue in issues {
                if question.contains(&issue.title) {
                    closing.push(calls::close_issue(&CloseIssue { id: issue.id })?);
                }
            }
            Ok(match closing[..] {
                [] => Step::Finish(Payload::of("no open issue has such a title")?),
                _ => Step::call(closing),
            })
        })
        .then(|turn| {
            let closed = turn.last_results().filter(|call| call.outcome.is_ok());
            let answer = format!("issues closed: {}", closed.count());
            Ok(Step::Finish(Payload::of(&answer)?))
        })
}
{%- endif %}
