//! The tools under load. The number of a call decides how it behaves, so that the caller knows which result to expect.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolwright::spec::CallLimits;
use toolwright::{FailureKind, Recovery, RegistrationError, ToolFailure, ToolSpec, described};
use toolwright_runtime::{FunctionTool, Registry};

/// The number of tools.
pub(crate) const TOOLS: u64 = 100;

/// The time limit of each call. On a busy machine a thread may wait for a processor for some ten milliseconds.
const TIME_LIMIT: Duration = Duration::from_millis(250);

/// The behavior of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behavior {
    Succeed,
    Fail,
    Panic,
    Hang,
}

impl Behavior {
    /// Returns the behavior of a call by its number. Of a thousand calls fifty fail, ten panic and one hangs.
    pub(crate) fn of(number: u64) -> Self {
        // The numbers of calls of one tool differ by multiples of a hundred; the division gives each tool every behavior.
        match (number / TOOLS) % 1000 {
            0..50 => Self::Fail,
            50..60 => Self::Panic,
            60 => Self::Hang,
            _ => Self::Succeed,
        }
    }
}

/// Returns the name of the tool for a number.
pub(crate) fn name(number: u64) -> String {
    format!("tool_{}", number % TOOLS)
}

/// Registers all tools; returns the registry and the count of calls that reach a tool.
pub(crate) fn registry() -> Result<(Registry, Arc<AtomicU64>), RegistrationError> {
    let reached = Arc::new(AtomicU64::new(0));
    let registry = Registry::new();
    for number in 0..TOOLS {
        registry.register_tool(tool(number, &reached))?;
    }
    Ok((registry, reached))
}

fn tool(number: u64, reached: &Arc<AtomicU64>) -> FunctionTool {
    let limits = CallLimits { timeout: Some(TIME_LIMIT), ..CallLimits::UNLIMITED };
    let spec =
        ToolSpec::new(name(number)).with_toolset("soak").with_service("soak").with_limits(limits);
    let reached = Arc::clone(reached);
    // A tool takes the number of the call and returns that number plus one.
    FunctionTool::new(spec, move |Numbered { number }| {
        reached.fetch_add(1, Ordering::Relaxed);
        act(number)
    })
}

described! {
    struct Numbered {
        /// The number of the call.
        number: i64,
    }
}

async fn act(number: i64) -> Result<i64, ToolFailure> {
    match Behavior::of(number.unsigned_abs()) {
        Behavior::Succeed => Ok(number + 1),
        Behavior::Fail => {
            Err(ToolFailure::new(FailureKind::DomainRejection, "not this one", Recovery::Replan))
        }
        Behavior::Panic => panic!("as planned"),
        Behavior::Hang => std::future::pending().await,
    }
}
