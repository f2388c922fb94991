//! toolwright's runtime with a hook for all tools, a hook for this one, and its default layers.

use std::pin::Pin;

use toolwright::{Described, Payload, ToolCall, ToolFailure, ToolSpec, Value};
use toolwright_runtime::{FunctionTool, Hook, Hooks, Registry, Runtime};

use super::{ARGS, Candidate, NAME};
use crate::generated::tracker_service::types::SearchIncidents;
use crate::generated::tracker_tools::specs::SEARCH_INCIDENTS;

impl Described for SearchIncidents {
    fn schema() -> Value {
        let schema = SEARCH_INCIDENTS.args_schema();
        schema.parse().expect("a generated schema is JSON")
    }
}

/// A hook that changes nothing.
struct Watching;

impl Hook for Watching {
    fn name(&self) -> &'static str {
        "watching"
    }
}

/// A runtime with the tool.
pub(super) struct Ours(Runtime);

impl Ours {
    pub(super) fn new() -> Self {
        let spec = ToolSpec::new(NAME).with_toolset("tracker").with_service("tracker");
        let tool =
            FunctionTool::new(spec, async |args: SearchIncidents| Ok::<_, ToolFailure>(args));
        let registry = Registry::new();
        registry.register_tool(tool).expect("the name is free");
        let hooks = Hooks::new().with(Watching).with_for(NAME, Watching);
        Self(Runtime::builder(registry).with_hooks(hooks).build())
    }
}

impl Candidate for Ours {
    fn call<'a>(&'a self) -> Pin<Box<dyn Future<Output = String> + 'a>> {
        Box::pin(async {
            let result = self.0.call(ToolCall::new(NAME, Payload::new(ARGS))).await;
            result.outcome.as_ref().map(ToString::to_string).unwrap_or_default()
        })
    }
}
