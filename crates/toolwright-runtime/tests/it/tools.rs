//! Small tools for the tests, and their executor. Each takes and returns `{"n": integer}`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolwright::spec::{CallLimits, Implementation, text};
use toolwright::{
    BoxFuture, Described, Executor, Payload, Recovery, Registrar, Tool, ToolCall, ToolFailure,
    ToolResult, ToolSpec, described,
};
use toolwright_runtime::Registry;

described! {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct N {
        pub(crate) n: i64,
    }
}

/// The schema of [`N`]. A test checks that it is the same.
const N_SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}},"required":["n"],"additionalProperties":false}"#;

/// Declares the types and specs of tools with [`N`] as arguments and result.
macro_rules! tools {
    ($($tool:ident = ($name:literal in $toolset:literal) $(.$set:ident($value:expr))*;)*) => {$(
        #[derive(Clone, Copy)]
        pub(crate) struct $tool;

        impl Tool for $tool {
            type Args = N;
            type Result = N;
            const SPEC: &'static ToolSpec = {
                static SPEC: ToolSpec = ToolSpec::of::<$tool>($name)
                    .with_toolset($toolset)
                    .with_service("lab")
                    .with_args_schema(N_SCHEMA)
                    .with_result_schema(N_SCHEMA)
                    $(.$set($value))*;
                &SPEC
            };
        }
    )*};
}

tools! {
    Echo = ("echo" in "stand").with_aliases(&["repeat"]);
    Slow = ("slow" in "stand");
    Alone = ("alone" in "stand").with_limits(SEQUENTIAL);
    Hang = ("hang" in "stand").with_limits(BRIEF);
    Panic = ("panic" in "stand");
    Lie = ("lie" in "stand");
    Refuse = ("refuse" in "stand");
    Old = ("old" in "stand").replaced_by("echo");
    Think = ("think" in "thinking").with_implementation(agent("thinker"));
    Recurse = ("recurse" in "thinking").with_implementation(agent("recursive"));
    Stray = ("stray" in "elsewhere");
}

const SEQUENTIAL: CallLimits = CallLimits { sequential: true, ..CallLimits::UNLIMITED };
const BRIEF: CallLimits =
    CallLimits { timeout: Some(Duration::from_millis(50)), ..CallLimits::UNLIMITED };

const fn agent(agent: &'static str) -> Implementation {
    Implementation::Agent { service: text("lab"), agent: text(agent) }
}

/// The tools that [`TestExecutor`] runs.
pub(crate) static TEST_TOOLS: &[&ToolSpec] = &[
    Echo::SPEC,
    Slow::SPEC,
    Alone::SPEC,
    Hang::SPEC,
    Panic::SPEC,
    Lie::SPEC,
    Refuse::SPEC,
    Old::SPEC,
];

/// A log of what the tools did, in order.
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

/// Runs the tools of [`TEST_TOOLS`].
#[derive(Default)]
pub(crate) struct TestExecutor {
    pub(crate) log: Log,
}

/// Logs when it is dropped.
struct Dropped(Log);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.push("dropped");
    }
}

impl TestExecutor {
    /// Waits for `n` milliseconds.
    async fn take_time(&self, args: N) -> Result<N, ToolFailure> {
        self.log.push(format!("start {}", args.n));
        tokio::time::sleep(Duration::from_millis(args.n.unsigned_abs())).await;
        self.log.push(format!("end {}", args.n));
        Ok(args)
    }
}

impl Executor for TestExecutor {
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
                let lie = ToolResult::new(call, Ok(Payload::new(r#"{"n": "many"}"#)));
                Box::pin(std::future::ready(lie))
            }
            "refuse" => call.run(Refuse, |_| async {
                Err(ToolFailure::declared("closed", "The lab is closed.", Recovery::Replan))
            }),
            _ => call.not_found(TEST_TOOLS),
        }
    }
}

/// A registry with the tools of [`TEST_TOOLS`], and their log.
pub(crate) fn test_registry() -> (Registry, Log) {
    let log = Log::default();
    let mut registry = Registry::new();
    registry.register(TEST_TOOLS, Arc::new(TestExecutor { log: log.clone() })).unwrap();
    (registry, log)
}

/// A call of a tool of [`TEST_TOOLS`] with an id and `n`.
pub(crate) fn call(tool: &str, id: &str, n: i64) -> ToolCall {
    ToolCall::new(tool, payload(n)).with_id(id)
}

/// `{"n": n}`.
pub(crate) fn payload(n: i64) -> Payload {
    Payload::new(format!(r#"{{"n":{n}}}"#))
}

#[test]
fn the_declared_schema_is_that_of_the_type() {
    assert_eq!(N_SCHEMA, N::schema().to_string());
}
