//! The definition of an agent, and planners, which decide its steps.

mod model_event;
mod planner;
mod script;

use std::time::Duration;

use toolwright::schema::{Schema, SchemaError};
use toolwright::spec::Implementation;
use toolwright::{Map, ToolSpec, Value};

use crate::tools::ToolSpecRef;

pub use model_event::{ModelEvent, ModelUsage};
pub use planner::{CallRecord, PastRun, PlannedCall, Planner, Step, StepRecord, Turn};
pub use script::Script;

/// An agent of a schema file. Generated code declares it as a static.
#[derive(Clone, Copy, Debug)]
pub struct AgentSpec {
    /// Its name, which no other agent has.
    pub name: &'static str,
    /// The service it belongs to.
    pub service: &'static str,
    /// Its description.
    pub description: &'static str,
    /// Instructions for its planner, in addition to the goal; empty if there are none.
    pub instructions: &'static str,
    /// The tools it may call, of any toolset.
    pub tools: &'static [&'static ToolSpec],
    /// The tools it offers to others.
    pub exports: &'static [&'static ToolSpec],
    /// Hints about the model to use, such as `family` and `effort`: [`Agent::model`].
    pub model: &'static [(&'static str, &'static str)],
    /// The limits of each of its runs.
    pub policy: Policy,
}

/// An agent, from a schema file or made at run time. Tools and toolsets are listed by name, in separate namespaces.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its name, which no other agent has.
    pub name: String,
    /// The service it belongs to.
    pub service: String,
    /// Its description.
    pub description: String,
    /// Instructions for its planner, in addition to the goal; empty if there are none.
    pub instructions: String,
    /// The tools it may call.
    pub tools: Vec<String>,
    /// The toolsets it may use: it may call every tool of them.
    pub toolsets: Vec<String>,
    /// The tools it implements: each call of one of them starts a run of this agent.
    pub implements: Vec<ToolSpecRef>,
    /// The tools whose calls need an approval in runs of this agent, in addition to those that require one themselves. Child
    /// runs of other agents do not inherit this list.
    pub approval_list: Vec<String>,
    /// Hints for the planner about the model to use, such as `family` and `effort`. The runtime does not read them. Put no
    /// keys or other secrets here, as planners may log the hints.
    pub model: Map<Value>,
    /// The limits of each of its runs.
    pub policy: Policy,
    /// The tool whose result schema the final payload must match, in runs that implement no call.
    pub result_spec: Option<ToolSpecRef>,
    /// Tools of a schema file that must be registered with the same name and toolset.
    needs: Vec<&'static ToolSpec>,
}

/// The limits of one run of an agent; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The most calls of a run. If a step exceeds the limit, all its calls are denied and the planner may still finish. If it
    /// asks for more calls after that, the run fails.
    pub max_tool_calls: Option<u32>,
    /// The number of consecutive failed calls, in call order, that ends the run.
    pub max_consecutive_failures: Option<u32>,
    /// The time limit of a run, including planning and waiting for an approver. Time during which it is suspended does not
    /// count.
    pub time_budget: Option<Duration>,
    /// The number of questions to a model. Planners enforce this limit and the two below: once one is reached, the model gets one last
    /// question, for its final answer, and if it gives none, the run fails.
    pub max_model_calls: Option<u32>,
    /// The most tokens of a model's answers.
    pub max_output_tokens: Option<u64>,
    /// The most that the model may cost, in millionths of the currency of its prices. A `ModelPlanner` without prices fails.
    pub max_cost: Option<u64>,
}

impl AgentSpec {
    /// Creates an agent without tools and limits.
    pub const fn new(name: &'static str, service: &'static str) -> Self {
        Self {
            name,
            service,
            description: "",
            instructions: "",
            tools: &[],
            exports: &[],
            model: &[],
            policy: Policy::UNLIMITED,
        }
    }

    fn implements(&self, spec: &ToolSpec) -> bool {
        matches!(spec.implementation(), Implementation::Agent { agent, .. } if *agent == self.name)
    }
}

impl Agent {
    /// Creates an agent without tools and limits.
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
            result_spec: None,
            needs: Vec::new(),
        }
    }

    /// Adds tools that it may call.
    #[must_use]
    pub fn with_tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.tools.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds toolsets; it may call every tool of them.
    #[must_use]
    pub fn with_toolsets<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.toolsets.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets the instructions for its planner.
    #[must_use]
    pub fn with_instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = text.into();
        self
    }

    /// Requires an approval for calls of these tools in runs of this agent. The names are those that its planner uses.
    #[must_use]
    pub fn with_approval_of<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        self.approval_list.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Sets the hints about the model to use.
    #[must_use]
    pub fn with_model(mut self, hints: Map<Value>) -> Self {
        self.model = hints;
        self
    }

    /// Sets the limits of each of its runs.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Adds a tool that it implements.
    #[must_use]
    pub fn with_implements(mut self, spec: impl Into<ToolSpecRef>) -> Self {
        self.implements.push(spec.into());
        self
    }

    /// Requires that its final payload match a JSON Schema.
    ///
    /// # Errors
    ///
    /// The text is not a JSON Schema, or is one that cannot be enforced.
    pub fn with_result_schema(self, schema: &str) -> Result<Self, SchemaError> {
        let compiled = Schema::new(schema)?;
        let check = move |json: &[u8]| compiled.check(json);
        let mut spec = ToolSpec::new("result").with_checks(|_| Ok(()), check);
        spec.set_result_schema(schema.to_owned());
        Ok(self.with_result_spec(spec))
    }

    /// Requires that its final payload match the result schema of a tool, as the tool checks it: a spec of [`ToolSpec::new`]
    /// without types and checks takes any JSON.
    #[must_use]
    pub fn with_result_spec(mut self, spec: impl Into<ToolSpecRef>) -> Self {
        self.result_spec = Some(spec.into());
        self
    }

    pub(crate) fn needs(&self) -> &[&'static ToolSpec] {
        &self.needs
    }
}

impl From<&'static AgentSpec> for Agent {
    fn from(spec: &'static AgentSpec) -> Self {
        let (own, others): (Vec<_>, Vec<_>) =
            spec.exports.iter().copied().partition(|export| spec.implements(export));
        Self {
            description: spec.description.to_owned(),
            instructions: spec.instructions.to_owned(),
            tools: spec.tools.iter().map(|tool| tool.name().to_owned()).collect(),
            needs: spec.tools.iter().copied().chain(others).collect(),
            implements: own.into_iter().map(Into::into).collect(),
            model: spec
                .model
                .iter()
                .map(|(key, hint)| ((*key).to_owned(), Value::from(*hint)))
                .collect(),
            policy: spec.policy,
            ..Self::new(spec.name, spec.service)
        }
    }
}

impl Policy {
    /// No limits.
    pub const UNLIMITED: Self = Self {
        max_tool_calls: None,
        max_consecutive_failures: None,
        time_budget: None,
        max_model_calls: None,
        max_output_tokens: None,
        max_cost: None,
    };
}
