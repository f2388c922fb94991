//! Small tools for the tests, and what runs them. Every one takes and returns `{"n": integer}`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolwright::codec::{Decode, Encode, Range, Reader, Writer};
use toolwright::spec::{CallLimits, Declaration, Implementation};
use toolwright::{
    BoxFuture, Executor, Payload, Recovery, Registrar, Tool, ToolCall, ToolFailure, ToolResult,
    ToolSpec,
};
use toolwright_runtime::Registry;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct N {
    pub(crate) n: i64,
}

impl Decode for N {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        let mut n = None;
        let mut object = input.object()?;
        while let Some(key) = object.next_key() {
            match key.as_ref() {
                "n" => n = object.value().integer(Range::<i64>::ANY),
                _ => object.unknown_key(&["n"]),
            }
        }
        Some(Self { n: object.required("n", n)? })
    }
}

impl Encode for N {
    fn encode(&self, out: &mut Writer) {
        let Some(mut object) = out.object() else { return };
        object.key("n").integer(self.n, Range::<i64>::ANY);
        object.end();
    }
}

/// A tool over `N`: its type, and its declaration.
macro_rules! tools {
    ($($tool:ident = $declaration:expr;)*) => {$(
        #[derive(Clone, Copy)]
        pub(crate) struct $tool;

        impl Tool for $tool {
            type Args = N;
            type Result = N;
            const SPEC: &'static ToolSpec = {
                static SPEC: ToolSpec = ToolSpec::typed($tool, $declaration);
                &SPEC
            };
        }
    )*};
}

const fn stand(name: &'static str) -> Declaration {
    Declaration::new(name, "stand", "lab")
}

tools! {
    Echo = Declaration { aliases: &["repeat"], ..stand("echo") };
    Slow = stand("slow");
    Alone = Declaration {
        limits: CallLimits { sequential: true, ..CallLimits::UNLIMITED },
        ..stand("alone")
    };
    Hang = Declaration {
        limits: CallLimits { timeout: Some(Duration::from_millis(50)), ..CallLimits::UNLIMITED },
        ..stand("hang")
    };
    Panic = stand("panic");
    Lie = stand("lie");
    Refuse = stand("refuse");
    Old = Declaration {
        deprecated: Some(toolwright::spec::Deprecation { since: None, replacement: Some("echo") }),
        ..stand("old")
    };
    Think = agent_backed("think", "thinker");
    Recurse = agent_backed("recurse", "recursive");
    Stray = Declaration::new("stray", "elsewhere", "lab");
}

const fn agent_backed(name: &'static str, agent: &'static str) -> Declaration {
    Declaration {
        implementation: Implementation::Agent { service: "lab", agent },
        ..Declaration::new(name, "thinking", "lab")
    }
}

/// The tools [`Stand`] runs.
pub(crate) static STAND: &[&ToolSpec] = &[
    Echo::SPEC,
    Slow::SPEC,
    Alone::SPEC,
    Hang::SPEC,
    Panic::SPEC,
    Lie::SPEC,
    Refuse::SPEC,
    Old::SPEC,
];

/// What the tools did, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn push(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }
}

/// Runs the tools of [`STAND`].
#[derive(Default)]
pub(crate) struct Stand {
    pub(crate) log: Log,
}

/// Says so when its future is dropped.
struct Dropped(Log);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.push("dropped");
    }
}

impl Stand {
    /// Takes `n` milliseconds.
    async fn take_time(&self, args: N) -> Result<N, ToolFailure> {
        self.log.push(format!("start {}", args.n));
        tokio::time::sleep(Duration::from_millis(args.n.unsigned_abs())).await;
        self.log.push(format!("end {}", args.n));
        Ok(args)
    }
}

impl Executor for Stand {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        match call.tool() {
            "echo" => call.run(Echo, |args| async move { Ok(args) }),
            "slow" => call.run(Slow, |args| self.take_time(args)),
            "alone" => call.run(Alone, |args| self.take_time(args)),
            "hang" => call.run(Hang, |_| async {
                let _dropped = Dropped(self.log.clone());
                std::future::pending().await
            }),
            "panic" => panic!("out of paper"),
            "lie" => {
                let lie = ToolResult::payload(call, Payload::new(r#"{"n": "many"}"#));
                Box::pin(std::future::ready(lie))
            }
            "refuse" => call.run(Refuse, |_| async {
                Err(ToolFailure::declared("closed", "The lab is closed.", Recovery::Replan))
            }),
            _ => call.not_found(STAND),
        }
    }
}

/// A registry with the tools of [`STAND`], and what they log.
pub(crate) fn stand_registry() -> (Registry, Log) {
    let log = Log::default();
    let mut registry = Registry::new();
    registry.register(STAND, Arc::new(Stand { log: log.clone() })).unwrap();
    (registry, log)
}

/// A call of a tool of [`STAND`], with its id and its `n`.
pub(crate) fn call(tool: &str, id: &str, n: i64) -> ToolCall {
    ToolCall::new(tool, payload(n)).with_id(id)
}

/// `{"n": n}`.
pub(crate) fn payload(n: i64) -> Payload {
    Payload::new(format!(r#"{{"n":{n}}}"#))
}
