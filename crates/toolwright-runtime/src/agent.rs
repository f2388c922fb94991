//! What is known about an agent before it runs. Never runs one: see `run`.

use std::time::Duration;

use toolwright::ToolSpec;

/// Everything a schema file says about one agent. Generated code writes it as a static.
#[derive(Clone, Copy, Debug)]
pub struct AgentSpec {
    /// The globally unique name.
    pub name: &'static str,
    /// The service it belongs to.
    pub service: &'static str,
    /// What it does.
    pub description: &'static str,
    /// What its planner is told beside the goal; empty says nothing.
    pub instructions: &'static str,
    /// The tools it may call, whoever provides them.
    pub tools: &'static [&'static ToolSpec],
    /// The tools it offers to others.
    pub exports: &'static [&'static ToolSpec],
    /// What one run of it may take.
    pub policy: Policy,
}

/// What one run of an agent may take; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// How many calls a run may make, refused ones included. Calls beyond it are denied, so that the
    /// planner can finish with what it has; asking for more after such a denial ends the run.
    pub max_tool_calls: Option<u32>,
    /// How many calls may fail in a row, in call order, before the run is ended.
    pub max_consecutive_failures: Option<u32>,
    /// How long a run may take, planning included.
    pub time_budget: Option<Duration>,
}

impl AgentSpec {
    /// An agent that may call nothing, offers nothing and has no limits.
    pub const fn new(name: &'static str, service: &'static str) -> Self {
        Self {
            name,
            service,
            description: "",
            instructions: "",
            tools: &[],
            exports: &[],
            policy: Policy::UNLIMITED,
        }
    }

    /// The tool an agent may call by a name, its own or an earlier one.
    pub fn tool(&self, name: &str) -> Option<&'static ToolSpec> {
        self.tools.iter().copied().find(|spec| spec.answers_to(name))
    }
}

impl Policy {
    /// No limits.
    pub const UNLIMITED: Self =
        Self { max_tool_calls: None, max_consecutive_failures: None, time_budget: None };
}
