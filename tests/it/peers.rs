//! The client of MCP against real servers, in Python and on node, installed from their registries: typed where
//! `tests/real/` restates the tools, met at run time where nothing does.

use std::error::Error;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use toolwright::codec::{Decode, from_json};
use toolwright::{Executor, FailureKind, Payload, Scope, ToolCall, ToolResult, Value};
use toolwright_mcp::client::{Client, ServerCommand, ServerUrl, register_mcp_toolset};
use toolwright_runtime::{Catalog, Registry, Runtime, Session};

use crate::real_servers::{git_tools, memory_tools};

type Tested = Result<(), Box<dyn Error>>;

/// A folder of this test alone, kept between runs.
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

/// Installs what a file of `tests/peers` names, once for all tests and until the file changes.
fn installed(
    kind: &str,
    pinned: &str,
    install: impl Fn(&Path, &Path) -> Tested,
) -> Result<PathBuf, Box<dyn Error>> {
    let folder = folder(kind);
    fs::create_dir_all(&folder)?;
    let lock = File::create(folder.join("lock"))?;
    lock.lock()?;
    let wanted = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers").join(pinned);
    let (text, done) = (fs::read_to_string(&wanted)?, folder.join("installed"));
    if fs::read_to_string(&done).unwrap_or_default() != text {
        install(&folder, &wanted)?;
        fs::write(done, text)?;
    }
    Ok(folder)
}

/// The programs of the Python servers.
fn python(program: &str) -> Result<ServerCommand, Box<dyn Error>> {
    let folder = installed("python", "requirements.txt", |folder, wanted| {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder.join("venv")))?;
        let mut pip = Command::new(folder.join("venv/bin/pip"));
        run(pip.args(["install", "--quiet", "--requirement"]).arg(wanted))
    })?;
    Ok(ServerCommand::new(folder.join("venv/bin").join(program)))
}

/// The programs of the servers on node.
fn node(program: &str) -> Result<ServerCommand, Box<dyn Error>> {
    let folder = installed("node", "package.json", |folder, wanted| {
        fs::copy(wanted, folder.join("package.json"))?;
        let mut npm = Command::new("npm");
        run(npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(folder))
    })?;
    Ok(ServerCommand::new(folder.join("node_modules/.bin").join(program)))
}

/// The typed result of a typed call.
async fn typed<R: Decode>(executor: &dyn Executor, call: &ToolCall) -> Result<R, Box<dyn Error>> {
    let result = executor.execute(call).await;
    let payload = result.as_result().map_err(Clone::clone)?;
    Ok(from_json(payload.as_bytes())?)
}

/// G23: the Python git server, by its generated toolset. It gives texts.
#[tokio::test]
async fn g23_the_git_server_is_called_typed() -> Tested {
    let repository = fresh("repository")?;
    let git = |args: &[&str]| run(Command::new("git").arg("-C").arg(&repository).args(args));
    git(&["init", "--quiet", "--initial-branch", "trunk"])?;
    fs::write(repository.join("note.txt"), "hello")?;
    let client = Client::new(python("mcp-server-git")?);
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
    let refused = refused.as_result().expect_err("there is no repository");
    assert_eq!(refused.kind, FailureKind::DomainRejection, "{refused:?}");
    let drift = client.drift(&git_tools::specs::REMOTE).await?;
    assert!(drift.missing.is_empty() && drift.changed.is_empty(), "{drift}");
    client.close().await;
    Ok(())
}

/// G23: the memory server on node, by its generated toolset. It gives structured content.
#[tokio::test]
async fn g23_the_memory_server_is_called_typed() -> Tested {
    use memory_tools::types::{CreateEntitiesArgs, CreateEntitiesResult, NewEntity, ReadGraphArgs};
    let file = fresh("memory")?.join("graph.json");
    let client = Client::new(node("mcp-server-memory")?.env("MEMORY_FILE_PATH", file));
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

/// A session of an agent that may use one server's tools under `x.`.
async fn session(client: &Client) -> Result<Session, Box<dyn Error>> {
    let (catalog, runtime) = (Catalog::new(), Runtime::new(Registry::new()));
    register_mcp_toolset(&catalog, "x", "x", client, Some("helper")).await?;
    Ok(runtime.open_session(&catalog, "helper", Scope::default(), None).await?)
}

async fn call(session: &Session, tool: &str, args: &str) -> ToolResult {
    session.call(ToolCall::new(tool, Payload::new(args))).await
}

/// P6: servers without a schema file of ours: the text of one is JSON, of others it is not.
#[tokio::test]
async fn p6_the_time_and_filesystem_servers_are_called_as_they_are_met() -> Tested {
    let client = Client::new(python("mcp-server-time")?);
    let time = session(&client).await?;
    let now = call(&time, "x.get_current_time", r#"{"timezone":"Asia/Tokyo"}"#).await;
    let now: Value = now.as_result().map_err(Clone::clone)?.as_str().parse()?;
    assert_eq!(now.get("timezone").and_then(Value::as_str), Some("Asia/Tokyo"), "{now}");
    let nowhere = call(&time, "x.get_current_time", r#"{"timezone":"Nowhere/Land"}"#).await;
    assert!(nowhere.as_result().is_err(), "{nowhere:?}");
    client.close().await;

    let folder = fresh("files")?.canonicalize()?;
    let client = Client::new(node("mcp-server-filesystem")?.arg(&folder));
    let files = session(&client).await?;
    let path = |name: &str| Value::from(folder.join(name).display().to_string());
    let args = format!(r#"{{"path":{},"content":"a\nb"}}"#, path("a.txt"));
    call(&files, "x.write_file", &args).await.as_result().map_err(Clone::clone)?;
    assert_eq!(fs::read_to_string(folder.join("a.txt"))?, "a\nb");
    let outside = call(&files, "x.read_text_file", r#"{"path":"/etc/passwd"}"#).await;
    let outside = outside.as_result().expect_err("it is outside");
    assert_eq!(outside.kind, FailureKind::DomainRejection, "{outside:?}");
    let wrong = call(&files, "x.read_text_file", r#"{"file":1}"#).await;
    assert_eq!(wrong.as_result().expect_err("no path").kind, FailureKind::InvalidCall);
    client.close().await;
    Ok(())
}

/// P6: one server that has everything, on standard streams and on streamable HTTP.
#[tokio::test]
async fn p6_the_server_that_has_everything_answers_alike_on_both_transports() -> Tested {
    let command = node("mcp-server-everything")?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let program = folder("node/node_modules/.bin/mcp-server-everything");
    let mut http = Command::new(program);
    let mut http = http.arg("streamableHttp").env("PORT", port.to_string()).spawn()?;
    let url = ServerUrl::new(format!("http://127.0.0.1:{port}/mcp"));
    for client in [Client::new(command), Client::new(url)] {
        reached(&client).await?;
        let session = session(&client).await?;
        let echoed = call(&session, "x.echo", r#"{"message":"hello"}"#).await;
        assert_eq!(echoed.as_result().map(Payload::as_str), Ok(r#""Echo: hello""#), "{client:?}");
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
