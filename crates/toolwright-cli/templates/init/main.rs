//! Runs{% if parts.mcp %} an MCP server{% endif %}{% if parts.mcp && parts.agent %} or{% endif %}{% if parts.agent %} an agent{% endif %} with the tools.

{% if parts.agent -%}
use std::io::{self, Write as _};
{% endif -%}
use std::process::ExitCode;

{% if parts.agent && !parts.build_rs -%}
use issues_tools::calls;
use issues_tools::types::{CloseIssue, FindIssues, Issues};
{% endif -%}
{% if parts.mcp -%}
use tokio::net::TcpListener;
{% endif -%}
{% if parts.agent -%}
use toolwright::{BoxError, Payload};
use toolwright_agents::AgentsFrom as _;
{% else -%}
use toolwright::BoxError;
{% endif -%}
{% if parts.mcp -%}
use toolwright_mcp::HttpOptions;
{% endif -%}
{% if parts.agent -%}
use toolwright_runtime::{
    Answer, ApprovalRequest, Registry, ResumeRequest, RunRequest, Runtime, Script, Step,
};
{% endif -%}
use tracker::Tracker;
{%- if parts.build_rs && parts.agent %}
use tracker::issues_tools::types::{CloseIssue, FindIssues, Issues};
use tracker::issues_tools::{self, calls};
{%- endif %}
{%- if parts.build_rs && parts.mcp %}
use tracker::issues_tracker_mcp;
{%- endif %}

const USAGE: &str = "expected {% if parts.mcp %}`mcp` or `mcp --http ADDRESS`{% endif %}{% if parts.mcp && parts.agent %} or {% endif %}{% if parts.agent %}`ask QUESTION`{% endif %}";

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
        ["ask", question] => ask(question).await,
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
{%- if parts.agent %}

/// Runs the agent of `agents/triager.yaml`. Calls that need an approval wait for an answer at the terminal.
async fn ask(question: &str) -> Result<(), BoxError> {
    let mut registry = Registry::new();
    issues_tools::register(&mut registry, tracker())?;
    registry.agents_from("agents", |_| planner().into())?;
    let runtime = Runtime::new(registry);
    let request = RunRequest::new("triager", Payload::of(question)?);
    let mut outcome = runtime.run(request).await?;
    while let Some(waiting) = outcome.suspended() {
        let mut answers = Vec::new();
        for request in waiting.pending() {
            answers.push(answer(request)?);
        }
        outcome = runtime.resume(ResumeRequest::new(waiting, answers)).await?;
    }
    println!("{}", outcome.decode::<String>()?);
    Ok(())
}

/// Asks for an approval at the terminal.
fn answer(request: &ApprovalRequest) -> io::Result<Answer> {
    let question = request.prompt.as_deref().unwrap_or(&request.tool);
    print!("{question} [y/N] ");
    io::stdout().flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(match line.trim() {
        "y" | "yes" => request.approve(),
        _ => request.deny(),
    })
}

/// Takes the place of a model: closes the open issues whose titles are in the question.
fn planner() -> Script {
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
