//! The worker: tools that record their effects in files, and agents that use them.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use restate_sdk::prelude::*;
use tokio::net::TcpListener;
use toolwright::spec::{Approval, CallLimits, ToolAnnotations};
use toolwright::{Payload, ToolCall, ToolSpec, described};
use toolwright_restate::Worker;
use toolwright_runtime::{Agent, FunctionTool, Registry, Runtime, Script};

/// How long the tool with an effect takes.
const TIME: Duration = Duration::from_millis(20);

described! {
    /// The arguments: the key of the effect.
    pub(crate) struct Keyed {
        pub(crate) key: String,
    }
}

/// The same handler by the SDK alone.
pub(crate) struct Bare;

#[restate_sdk::service(name = "bare")]
impl Bare {
    #[handler]
    async fn echo(&self, _context: Context<'_>, text: String) -> HandlerResult<String> {
        Ok(text)
    }
}

fn idempotent(name: &'static str) -> ToolSpec {
    let hints = ToolAnnotations { idempotent: Some(true), ..ToolAnnotations::default() };
    let limits = CallLimits { timeout: Some(Duration::from_secs(60)), ..CallLimits::UNLIMITED };
    let mut spec = ToolSpec::new(name).with_toolset("bench").with_annotations(hints);
    spec.set_description("A tool of the bench.");
    spec.with_limits(limits)
}

/// Records an attempt in `attempts`, and the effect itself once for each key.
fn record(effects: &Path, key: &str) {
    let attempts = OpenOptions::new().create(true).append(true).open(effects.join("attempts"));
    let written = attempts.and_then(|mut file| writeln!(file, "{key}"));
    written.expect("the folder is writable");
    // It exists if an earlier attempt was interrupted after its effect.
    let _ = OpenOptions::new().create_new(true).write(true).open(effects.join(key));
}

/// A tool that takes some time and then has its effect.
pub(crate) fn effect(effects: &Path) -> FunctionTool {
    let effects = effects.to_owned();
    FunctionTool::new(idempotent("effect"), move |Keyed { key }: Keyed| {
        let effects = effects.clone();
        async move {
            tokio::time::sleep(TIME).await;
            record(&effects, &key);
            Keyed { key }
        }
    })
}

/// A tool that returns its arguments.
pub(crate) fn echo() -> FunctionTool {
    FunctionTool::new(idempotent("echo"), async |keyed: Keyed| keyed)
}

/// A tool with an effect that needs an approval.
fn guarded(effects: &Path) -> FunctionTool {
    let effects = effects.to_owned();
    let spec = idempotent("guarded").with_approval(Approval::default());
    FunctionTool::new(spec, move |Keyed { key }: Keyed| {
        record(&effects, &key);
        std::future::ready(Keyed { key })
    })
}

/// A tool that takes a minute.
fn rest() -> FunctionTool {
    FunctionTool::new(idempotent("rest"), async |keyed: Keyed| {
        tokio::time::sleep(Duration::from_secs(50)).await;
        keyed
    })
}

fn runtime(effects: &Path) -> toolwright_runtime::RuntimeBuilder {
    let registry = Registry::new();
    let registered =
        registry.register_tools([effect(effects), echo(), guarded(effects), rest()]);
    registered.expect("their names differ");
    let call = |tool: &str, key: String| ToolCall::new(tool, Payload::new(format!(r#"{{"key":"{key}"}}"#)));
    let agents: [(&str, fn(&str) -> Vec<Vec<(&'static str, String)>>); 4] = [
        ("approved", |run| vec![vec![("guarded", run.to_owned())]]),
        ("steps", |run| {
            (0..3).map(|step| (0..2).map(|n| ("effect", format!("{run}.{step}.{n}"))).collect()).collect()
        }),
        ("quick", |run| {
            (0..3).map(|step| (0..2).map(|n| ("echo", format!("{run}.{step}.{n}"))).collect()).collect()
        }),
        ("resting", |run| vec![vec![("rest", run.to_owned())]]),
    ];
    for (name, steps) in agents {
        let planner = Script::new().repeat(move |turn| {
            Ok(match steps(turn.run_id()).get(turn.step()) {
                Some(calls) => {
                    let calls = calls.iter().enumerate();
                    toolwright_runtime::Step::call(calls.map(|(at, (tool, key))| {
                        call(tool, key.clone()).with_id(format!("{}.{at}", turn.step()))
                    }))
                }
                None => toolwright_runtime::Step::Finish(Payload::new("true")),
            })
        });
        let agent = Agent::new(name, "bench").with_toolsets(["bench"]);
        registry.register_agent(agent, planner.into()).expect("their names differ");
    }
    Runtime::builder(registry)
}

/// Serves until the process is killed.
pub(crate) async fn serve(port: u16, effects: PathBuf) {
    let worker = Worker::new(runtime(&effects)).await.expect("all tools are shared");
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = loop {
        match TcpListener::bind(address).await {
            Ok(listener) => break listener,
            // The connections of a killed worker may still be closing.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    worker.serve(listener).await.expect("there are no identity keys");
}

/// Serves the SDK's handler in this process.
pub(crate) async fn serve_bare(listener: TcpListener) {
    let endpoint = Endpoint::builder().bind(Bare).build();
    HttpServer::new(endpoint).serve_with_cancel(listener, std::future::pending::<()>()).await;
}
