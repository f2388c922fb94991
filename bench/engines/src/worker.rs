//! The worker: tools that record their effects in files, and agents that use them.

use std::fs::OpenOptions;
use std::future::ready;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use restate_sdk::prelude::*;
use tokio::net::TcpListener;
use toolwright::spec::{Approval, CallLimits, ToolAnnotations};
use toolwright::{BoxError, BoxFuture, Payload, ToolCall, ToolSpec, described};
use toolwright_nats::{NatsOptions, async_nats};
use toolwright_restate::Worker;
use toolwright_runtime::{
    Agent, FunctionTool, Planner, Registry, Runtime, RuntimeBuilder, Step, Turn,
};

/// How long the tool with an effect takes.
const TIME: Duration = Duration::from_millis(20);

/// The time limit of calls over NATS.
pub(crate) const BRIEF: Duration = Duration::from_secs(3);

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
    #[expect(clippy::unused_async, reason = "handlers are async")]
    async fn echo(&self, _context: Context<'_>, text: String) -> HandlerResult<String> {
        Ok(text)
    }
}

fn idempotent(name: &'static str) -> ToolSpec {
    let hints = ToolAnnotations { idempotent: Some(true), ..ToolAnnotations::default() };
    let limits = CallLimits { timeout: Some(Duration::from_mins(1)), ..CallLimits::UNLIMITED };
    let mut spec = ToolSpec::new(name).with_toolset("bench").with_annotations(hints);
    spec.set_description("A tool of the bench.");
    spec.with_limits(limits)
}

/// Records that a call began, in `attempts`.
fn begin(effects: &Path, key: &str) {
    let attempts = OpenOptions::new().create(true).append(true).open(effects.join("attempts"));
    let written = attempts.and_then(|mut file| writeln!(file, "{key}"));
    written.expect("the folder is writable");
}

/// Has the effect, once for each key.
fn have_effect(effects: &Path, key: &str) {
    // It exists if an earlier attempt was interrupted after its effect.
    let _ = OpenOptions::new().create_new(true).write(true).open(effects.join(key));
}

/// A tool that takes some time and then has its effect.
pub(crate) fn effect(effects: &Path) -> FunctionTool {
    recorded(idempotent("effect"), effects)
}

/// The same with a short time limit.
pub(crate) fn brief(effects: &Path) -> FunctionTool {
    let limits = CallLimits { timeout: Some(BRIEF), ..CallLimits::UNLIMITED };
    recorded(idempotent("effect").with_limits(limits), effects)
}

fn recorded(spec: ToolSpec, effects: &Path) -> FunctionTool {
    let effects = effects.to_owned();
    FunctionTool::new(spec, move |Keyed { key }: Keyed| {
        let effects = effects.clone();
        async move {
            begin(&effects, &key);
            tokio::time::sleep(TIME).await;
            have_effect(&effects, &key);
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
        begin(&effects, &key);
        have_effect(&effects, &key);
        ready(Keyed { key })
    })
}

/// A tool that takes a minute.
fn rest() -> FunctionTool {
    FunctionTool::new(idempotent("rest"), async |keyed: Keyed| {
        tokio::time::sleep(Duration::from_secs(50)).await;
        keyed
    })
}

/// Makes the same calls in each step.
struct Steps {
    tool: &'static str,
    steps: usize,
    calls: usize,
}

impl Planner for Steps {
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        if turn.step() == self.steps {
            return Box::pin(ready(Ok(Step::Finish(Payload::new("true")))));
        }
        let calls = (0..self.calls).map(|n| {
            let id = format!("{}.{n}", turn.step());
            let args = format!(r#"{{"key":"{}.{id}"}}"#, turn.run_id());
            ToolCall::new(self.tool, Payload::new(args)).with_id(id)
        });
        Box::pin(ready(Ok(Step::call(calls))))
    }
}

fn runtime(effects: &Path) -> RuntimeBuilder {
    let registry = Registry::new();
    let registered = registry.register_tools([effect(effects), echo(), guarded(effects), rest()]);
    registered.expect("their names differ");
    for (name, tool, steps, calls) in [
        ("approved", "guarded", 1, 1),
        ("steps", "effect", 3, 2),
        ("quick", "echo", 3, 2),
        ("resting", "rest", 1, 1),
    ] {
        let agent = Agent::new(name, "bench").with_toolsets(["bench"]);
        let registered = registry.register_agent(agent, Arc::new(Steps { tool, steps, calls }));
        registered.expect("their names differ");
    }
    Runtime::builder(registry)
}

/// Serves until the process is killed. Without a folder for effects, serves the handler by the SDK alone.
pub(crate) async fn serve(port: u16, effects: Option<PathBuf>) {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = loop {
        match TcpListener::bind(address).await {
            Ok(listener) => break listener,
            // The connections of a killed worker may still be closing.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    println!("listening");
    let Some(effects) = effects else {
        return HttpServer::new(Endpoint::builder().bind(Bare).build()).serve(listener).await;
    };
    let worker = Worker::new(runtime(&effects)).await.expect("all tools are shared");
    worker.serve(listener).await.expect("there are no identity keys");
}

/// Serves the tool with an effect over NATS, until the process is interrupted and its calls have ended.
pub(crate) async fn serve_nats(server: &str, effects: &Path) {
    let nats = async_nats::connect(server).await.expect("the server is there");
    let serving = toolwright_nats::serve(&nats, "bench", brief(effects), NatsOptions::new()).await;
    let worker = serving.expect("the toolset is shared");
    println!("serving");
    // Without handlers of signals, the process ends at once.
    let _ = tokio::signal::ctrl_c().await;
    worker.shutdown().await;
}
