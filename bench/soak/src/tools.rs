//! The tools under load. A call's number says what becomes of it, so that whoever made it knows what to expect.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolwright::spec::CallLimits;
use toolwright::{FailureKind, Recovery, RegistrationError, ToolFailure, ToolSpec, described};
use toolwright_runtime::{FunctionTool, Registry};

/// How many tools there are.
pub(crate) const TOOLS: u64 = 100;

/// What is to become of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Succeed,
    Fail,
    Panic,
    Hang,
}

impl Fate {
    /// Of a hundred calls five fail, one panics, one hangs.
    pub(crate) fn of(number: u64) -> Self {
        // Calls of one tool have numbers a hundred apart; the division gives each tool every fate.
        match (number / TOOLS) % 100 {
            0..5 => Self::Fail,
            5 => Self::Panic,
            6 => Self::Hang,
            _ => Self::Succeed,
        }
    }
}

/// The name of the tool of a number.
pub(crate) fn name(number: u64) -> String {
    format!("tool_{}", number % TOOLS)
}

/// All tools, and the count of calls that reached one.
pub(crate) fn registry() -> Result<(Registry, Arc<AtomicU64>), RegistrationError> {
    let reached = Arc::new(AtomicU64::new(0));
    let registry = Registry::new();
    for number in 0..TOOLS {
        registry.register_tool(tool(number, &reached))?;
    }
    Ok((registry, reached))
}

fn tool(number: u64, reached: &Arc<AtomicU64>) -> FunctionTool {
    let limits = CallLimits { timeout: Some(Duration::from_millis(20)), ..CallLimits::UNLIMITED };
    let spec =
        ToolSpec::new(name(number)).with_toolset("soak").with_service("soak").with_limits(limits);
    let reached = Arc::clone(reached);
    // What a tool takes is the number of the call, what it returns the one after it.
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
    match Fate::of(number.unsigned_abs()) {
        Fate::Succeed => Ok(number + 1),
        Fate::Fail => {
            Err(ToolFailure::new(FailureKind::DomainRejection, "not this one", Recovery::Replan))
        }
        Fate::Panic => panic!("as planned"),
        Fate::Hang => std::future::pending().await,
    }
}
