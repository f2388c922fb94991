//! Tests the MCP client with real servers in Python and on node, which are installed from their registries. Servers whose
//! tools are declared in `tests/real/` are called by generated code; the tools of the others are only known at run time.

use std::error::Error;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use toolwright::codec::{Decode, from_json};
use toolwright::{Executor, FailureKind, Payload, ToolCall, ToolResult, Value};
use toolwright_mcp::client::{Client, McpToolset, ServerCommand, ServerUrl};
use toolwright_prerequisites::{Npm, Prerequisite, PyPi, has, or_skip};
use toolwright_runtime::{Registry, Runtime, Session};

use crate::real_servers::{git_tools, memory_tools};

type Tested = Result<(), Box<dyn Error>>;

/// A folder of these tests, which is kept between runs.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers").join(name)
}

/// An empty folder.
fn fresh(name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let folder = folder(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn run(command: &mut Command) -> Tested {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into())
}

/// The folder with the versions of the servers.
const PINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/peers");

/// Installs the servers in Python. If that is not possible, records the skip and returns `None`.
fn python() -> Option<PyPi> {
    or_skip(PyPi::install(Path::new(PINS), &folder("python")))
}

/// Installs the servers on node, in the same way.
fn node() -> Option<Npm> {
    or_skip(Npm::install(Path::new(PINS), &folder("node")))
}

/// The path of a program of the node packages.
fn program(npm: &Npm, name: &str) -> PathBuf {
    npm.file(".bin").join(name)
}

/// The typed result of a typed call.
async fn typed<R: Decode>(executor: &dyn Executor, call: &ToolCall) -> Result<R, Box<dyn Error>> {
    let result = executor.execute(call).await;
    let payload = result.outcome.as_ref().map_err(Clone::clone)?;
    Ok(from_json(payload.as_bytes())?)
}

/// G23: the generated toolset of the Python git server, which returns texts.
#[tokio::test]
async fn g23_the_git_server_is_called_typed() -> Tested {
    let Some(python) = python().filter(|_| has(&[Prerequisite::Git])) else { return Ok(()) };
    let repository = fresh("repository")?;
    let git = |args: &[&str]| run(Command::new("git").arg("-C").arg(&repository).args(args));
    git(&["init", "--quiet", "--initial-branch", "trunk"])?;
    fs::write(repository.join("note.txt"), "hello")?;
    let client = Client::new(ServerCommand::new(python.program("mcp-server-git")));
    let executor = git_tools::executor::GitExecutor::new(client.clone());
    let path = repository.display().to_string();
    let status = git_tools::calls::git_status(&git_tools::types::GitStatusArgs::new(path.clone()))?;
    let status: Value = typed(&executor, &status).await?;
    let status = status.as_str().ok_or("a text")?;
    assert!(status.contains("On branch trunk") && status.contains("note.txt"), "{status}");
    let files = vec!["note.txt".to_owned()];
    let add = git_tools::calls::git_add(&git_tools::types::GitAddArgs::new(path.clone(), files))?;
    let added: Value = typed(&executor, &add).await?;
    assert!(added.as_str().is_some_and(|text| text.contains("staged")), "{added}");
    let elsewhere = git_tools::types::GitStatusArgs::new("/nowhere/at/all".to_owned());
    let refused = executor.execute(&git_tools::calls::git_status(&elsewhere)?).await;
    let refused = refused.outcome.as_ref().expect_err("there is no repository");
    assert_eq!(refused.kind, FailureKind::DomainRejection, "{refused:?}");
    let drift = client.drift(&git_tools::specs::REMOTE).await?;
    assert!(drift.missing.is_empty() && drift.changed.is_empty(), "{drift}");
    client.close().await;
    Ok(())
}

/// G23: the generated toolset of the memory server on node, which returns structured content.
#[tokio::test]
async fn g23_the_memory_server_is_called_typed() -> Tested {
    use memory_tools::types::{CreateEntitiesArgs, CreateEntitiesResult, NewEntity, ReadGraphArgs};
    let Some(node) = node() else { return Ok(()) };
    let file = fresh("memory")?.join("graph.json");
    let server = ServerCommand::new(program(&node, "mcp-server-memory"));
    let client = Client::new(server.env("MEMORY_FILE_PATH", file));
    let executor = memory_tools::executor::MemoryExecutor::new(client.clone());
    let entity =
        NewEntity::new("Ada", "person", vec!["writes \u{201c}programs\u{201d}".to_owned()]);
    let create = memory_tools::calls::create_entities(&CreateEntitiesArgs::new(vec![entity]))?;
    let created: CreateEntitiesResult = typed(&executor, &create).await?;
    assert_eq!(created.entities.len(), 1);
    assert_eq!(created.entities[0].observations, ["writes \u{201c}programs\u{201d}"]);
    let read = memory_tools::calls::read_graph(&ReadGraphArgs::default())?;
    let graph: memory_tools::types::Graph = typed(&executor, &read).await?;
    assert_eq!(graph.entities, created.entities);
    let drift = client.drift(&memory_tools::specs::REMOTE).await?;
    assert!(drift.missing.is_empty() && drift.changed.is_empty(), "{drift}");
    client.close().await;
    Ok(())
}

/// A session that may use the tools of one server under the prefix `x.`.
async fn session(client: &Client) -> Result<Session, Box<dyn Error>> {
    let registry = Registry::new();
    let catalog = registry.catalog();
    catalog.connect("x", "x", McpToolset::connect("x", client)).await?;
    catalog.allow("helper", "x")?;
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    Ok(runtime.open_session("helper").await?)
}

async fn call(session: &Session, tool: &str, args: &str) -> ToolResult {
    session.call(ToolCall::new(tool, Payload::new(args))).await
}

/// P6: servers without a schema file. The text results of one are JSON, those of the other are not.
#[tokio::test]
async fn p6_the_time_and_filesystem_servers_are_called_without_a_schema_file() -> Tested {
    let (Some(python), Some(node)) = (python(), node()) else { return Ok(()) };
    let client = Client::new(ServerCommand::new(python.program("mcp-server-time")));
    let time = session(&client).await?;
    let now = call(&time, "x.get_current_time", r#"{"timezone":"Asia/Tokyo"}"#).await;
    let now: Value = now.outcome.as_ref().map_err(Clone::clone)?.as_str().parse()?;
    assert_eq!(now.get("timezone").and_then(Value::as_str), Some("Asia/Tokyo"), "{now}");
    let nowhere = call(&time, "x.get_current_time", r#"{"timezone":"Nowhere/Land"}"#).await;
    assert!(nowhere.outcome.as_ref().is_err(), "{nowhere:?}");
    client.close().await;

    let folder = fresh("files")?.canonicalize()?;
    let server = ServerCommand::new(program(&node, "mcp-server-filesystem"));
    let client = Client::new(server.arg(&folder));
    let files = session(&client).await?;
    let path = |name: &str| Value::from(folder.join(name).display().to_string());
    let args = format!(r#"{{"path":{},"content":"a\nb"}}"#, path("a.txt"));
    call(&files, "x.write_file", &args).await.outcome.as_ref().map_err(Clone::clone)?;
    assert_eq!(fs::read_to_string(folder.join("a.txt"))?, "a\nb");
    let outside = call(&files, "x.read_text_file", r#"{"path":"/etc/passwd"}"#).await;
    let outside = outside.outcome.as_ref().expect_err("it is outside");
    assert_eq!(outside.kind, FailureKind::DomainRejection, "{outside:?}");
    let wrong = call(&files, "x.read_text_file", r#"{"file":1}"#).await;
    assert_eq!(wrong.outcome.as_ref().expect_err("no path").kind, FailureKind::InvalidCall);
    client.close().await;
    Ok(())
}

/// P6: the server "everything", on standard streams and on streamable HTTP.
#[tokio::test]
async fn p6_the_everything_server_answers_the_same_on_both_transports() -> Tested {
    let Some(node) = node() else { return Ok(()) };
    let program = program(&node, "mcp-server-everything");
    let command = ServerCommand::new(&program);
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut http = Command::new(program);
    let mut http = http.arg("streamableHttp").env("PORT", port.to_string()).spawn()?;
    let url = ServerUrl::new(format!("http://127.0.0.1:{port}/mcp"));
    for client in [Client::new(command), Client::new(url)] {
        reached(&client).await?;
        let session = session(&client).await?;
        let echoed = call(&session, "x.echo", r#"{"message":"hello"}"#).await;
        assert_eq!(
            echoed.outcome.as_ref().map(Payload::as_str),
            Ok(r#""Echo: hello""#),
            "{client:?}"
        );
        let tools = session.tools().await.map_err(|error| error.to_string())?;
        assert!(tools.len() > 5, "{}", tools.len());
        client.close().await;
    }
    http.kill()?;
    http.wait()?;
    Ok(())
}

/// Waits until a server listens.
async fn reached(client: &Client) -> Tested {
    let start = Instant::now();
    while let Err(error) = client.connect().await {
        if start.elapsed() > Duration::from_mins(1) {
            return Err(error.into());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}
