//! What is said about a tool that nobody knew at generation: one written by hand or found on a remote. Never judges a
//! payload: who discovers a tool brings what does.

use crate::spec::{Approval, CallLimits, ToolAnnotations};

/// The words of a tool that is met at run time. Read it through [`ToolSpec`](crate::ToolSpec).
#[derive(Clone, Debug)]
pub struct Discovery {
    /// The name.
    pub name: String,
    /// A short name for people.
    pub title: Option<String>,
    /// What the tool does, for the model.
    pub description: String,
    /// The toolset it belongs to.
    pub toolset: String,
    /// The service that owns it.
    pub service: String,
    /// Its name where it lives, if that is another.
    pub remote_name: Option<String>,
    /// Words to choose tools by.
    pub tags: Vec<String>,
    /// What it does to the world.
    pub annotations: ToolAnnotations,
    /// What it needs before it may run.
    pub approval: Option<Approval>,
    /// How its calls are run.
    pub limits: CallLimits,
    /// The arguments' JSON Schema (2020-12), as text.
    pub args_schema: String,
    /// The result's JSON Schema (2020-12), as text.
    pub result_schema: String,
}

impl Discovery {
    /// A discovery that says no more than it must: named, placed, arguments any object, any result.
    pub fn new(
        name: impl Into<String>,
        toolset: impl Into<String>,
        service: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: String::new(),
            toolset: toolset.into(),
            service: service.into(),
            remote_name: None,
            tags: Vec::new(),
            annotations: ToolAnnotations::UNKNOWN,
            approval: None,
            limits: CallLimits::UNLIMITED,
            args_schema: r#"{"type":"object"}"#.to_owned(),
            result_schema: "{}".to_owned(),
        }
    }
}
