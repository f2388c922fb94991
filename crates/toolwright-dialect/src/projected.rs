//! The tools of a program in a dialect.

use std::ops::Deref;

use toolwright::ToolSpec;
use toolwright::spec::Strictness;

use crate::place::{Projections, Request, place};
use crate::policy::Policy;
use crate::project::{Projection, Subject};
use crate::row::Dialect;

/// Tools in both modes of a dialect, for requests to a model.
///
/// ```
/// use toolwright::{Payload, ToolCall, ToolSpec};
/// use toolwright_dialect::{Dialect, Policy, ProjectedTools};
///
/// let spec = ToolSpec::new("math.add").with_description("Add two numbers.");
/// let tools = ProjectedTools::of([&spec], Dialect::find("openai-chat-strict")?, &Policy::default());
/// let request = tools.request();
/// assert_eq!(request.tools[0].projection.wire_name, "math_add");
/// let call = ToolCall::new("math_add", Payload::new("{}"));
/// assert_eq!(request.decode_call(call).unwrap().tool(), "math.add");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ProjectedTools {
    dialect: &'static Dialect,
    tools: Vec<Tool>,
}

#[derive(Debug)]
struct Tool {
    name: String,
    strict: Projection,
    plain: Projection,
    strictness: Strictness,
}

impl ProjectedTools {
    /// Projects tools by their specs, such as those of a registry.
    pub fn of<S: Deref<Target = ToolSpec>>(
        specs: impl IntoIterator<Item = S>,
        dialect: &'static Dialect,
        policy: &Policy,
    ) -> Self {
        let tools = specs.into_iter().map(|spec| {
            let subject = Subject {
                name: spec.name(),
                description: spec.description(),
                args: spec.args_schema(),
            };
            let subject = subject.read();
            Tool {
                name: spec.name().to_owned(),
                strict: subject.project(dialect, policy),
                plain: subject.project(dialect.plain(), policy),
                strictness: spec.strictness(),
            }
        });
        Self { dialect, tools: tools.collect() }
    }

    /// Returns the dialect.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Puts the tools together for a request.
    pub fn request(&self) -> Request<'_> {
        let projections = self.tools.iter().map(|tool| Projections {
            name: &tool.name,
            strict: &tool.strict,
            plain: &tool.plain,
            strictness: tool.strictness,
            is_deferred: false,
        });
        place(&projections.collect::<Vec<_>>(), self.dialect)
    }
}
