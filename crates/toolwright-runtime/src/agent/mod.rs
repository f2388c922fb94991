//! What is known about an agent before it runs, and what decides for it. Never runs one.

mod planner;
mod script;

use std::time::Duration;

use toolwright::spec::Implementation;
use toolwright::{Map, ToolSpec, Value};

use crate::tools::ToolSpecRef;

pub use planner::{Exchange, Planner, Step, Turn};
pub use script::Script;

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

/// An agent, from a schema file or made at run time. It lists tools and toolsets by name, each in a namespace of its
/// own.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The globally unique name.
    pub name: String,
    /// The service it belongs to.
    pub service: String,
    /// What it does.
    pub description: String,
    /// What its planner is told beside the goal; empty says nothing.
    pub instructions: String,
    /// The tools it may call.
    pub tools: Vec<String>,
    /// The toolsets all of whose tools it may call.
    pub toolsets: Vec<String>,
    /// The tools whose calls its runs implement.
    pub implements: Vec<ToolSpecRef>,
    /// The tools whose calls in runs of it need an approval, whatever the tools say themselves. Runs of other agents that
    /// answer its calls have lists of their own.
    pub approval_list: Vec<String>,
    /// What its planner should know about the model to use, such as `family` and `effort`. The runtime does not read it.
    /// It is no place for keys and other secrets: planners and their logs see it.
    pub model: Map<Value>,
    /// What one run of it may take.
    pub policy: Policy,
    /// What its final payload must be, where it implements no call: a tool whose result schema says so.
    pub result: Option<ToolSpecRef>,
    /// Tools that must be there under their names and of these toolsets; what a schema file was checked against.
    needs: Vec<&'static ToolSpec>,
}

/// What one run of an agent may take; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// How many calls a run may make. A step whose calls do not all fit is denied as a whole before any of them runs, so
    /// that the planner can finish with what it has; asking for more after such a denial ends the run.
    pub max_tool_calls: Option<u32>,
    /// How many calls may fail in a row, in call order, before the run is ended.
    pub max_consecutive_failures: Option<u32>,
    /// How long a run may take, planning and waiting for an approver included. Time in which it is suspended does not
    /// count.
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

    fn runs(&self, spec: &ToolSpec) -> bool {
        matches!(spec.implementation(), Implementation::Agent { agent, .. } if *agent == self.name)
    }
}

impl Agent {
    /// An agent that may call nothing, offers nothing and has no limits.
    pub fn new(name: impl Into<String>, service: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            service: service.into(),
            description: String::new(),
            instructions: String::new(),
            tools: Vec::new(),
            toolsets: Vec::new(),
            implements: Vec::new(),
            approval_list: Vec::new(),
            model: Map::new(),
            policy: Policy::UNLIMITED,
            result: None,
            needs: Vec::new(),
        }
    }

    /// Lets it call single tools.
    #[must_use]
    pub fn with_tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.tools.extend(names.into_iter().map(Into::into));
        self
    }

    /// Lets it call every tool of some toolsets.
    #[must_use]
    pub fn with_toolsets<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.toolsets.extend(names.into_iter().map(Into::into));
        self
    }

    /// Tells its planner something beside the goal.
    #[must_use]
    pub fn with_instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = text.into();
        self
    }

    /// Requires an approval of these tools' calls in runs of it, by the names that its planner calls them by.
    #[must_use]
    pub fn with_approval_of<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        self.approval_list.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Sets what its planner should know about the model to use.
    #[must_use]
    pub fn with_model(mut self, hints: Map<Value>) -> Self {
        self.model = hints;
        self
    }

    /// Sets what one run of it may take.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Makes its runs implement a tool's calls.
    #[must_use]
    pub fn with_implements(mut self, spec: impl Into<ToolSpecRef>) -> Self {
        self.implements.push(spec.into());
        self
    }

    /// Holds its final payload to a tool's result schema.
    #[must_use]
    pub fn with_result(mut self, spec: impl Into<ToolSpecRef>) -> Self {
        self.result = Some(spec.into());
        self
    }

    pub(crate) fn needs(&self) -> &[&'static ToolSpec] {
        &self.needs
    }
}

impl From<&'static AgentSpec> for Agent {
    fn from(spec: &'static AgentSpec) -> Self {
        let (own, others): (Vec<_>, Vec<_>) =
            spec.exports.iter().copied().partition(|export| spec.runs(export));
        Self {
            description: spec.description.to_owned(),
            instructions: spec.instructions.to_owned(),
            tools: spec.tools.iter().map(|tool| tool.name().to_owned()).collect(),
            needs: spec.tools.iter().copied().chain(others).collect(),
            implements: own.into_iter().map(Into::into).collect(),
            policy: spec.policy,
            ..Self::new(spec.name, spec.service)
        }
    }
}

impl Policy {
    /// No limits.
    pub const UNLIMITED: Self =
        Self { max_tool_calls: None, max_consecutive_failures: None, time_budget: None };
}
