//! A last word on the tools of a step: fewer of them, or with approval. Never more tools, and never other names.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;

use toolwright::{BoxError, BoxFuture, Scope};

use super::{ToolEntry, Toolset, forward};

/// A toolset whose list goes through a function before each step.
pub struct Prepared<T, F> {
    inner: T,
    prepare: F,
}

/// A preparation that added or renamed a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedTool {
    /// The name that the toolset does not have, or has only once.
    pub tool: String,
}

impl<T, F> Prepared<T, F>
where
    T: Toolset,
    F: Fn(&Scope, Vec<ToolEntry>) -> Vec<ToolEntry> + Send + Sync,
{
    /// Lets a function choose among the tools; it may leave some out, change their order, or ask for approval.
    pub fn new(inner: T, prepare: F) -> Self {
        Self { inner, prepare }
    }
}

impl<T, F> Toolset for Prepared<T, F>
where
    T: Toolset,
    F: Fn(&Scope, Vec<ToolEntry>) -> Vec<ToolEntry> + Send + Sync,
{
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            let tools = self.inner.tools(scope).await?;
            let mut known: BTreeSet<_> = tools.iter().map(|tool| tool.name().to_owned()).collect();
            let prepared = (self.prepare)(scope, tools);
            match prepared.iter().find(|tool| !known.remove(tool.name())) {
                None => Ok(prepared),
                Some(tool) => Err(UnlistedTool { tool: tool.name().to_owned() }.into()),
            }
        })
    }

    forward!(inner: call, lifecycle, instructions, is_available);
}

impl fmt::Display for UnlistedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the preparation listed `{}`, which the toolset does not; it may neither add nor rename tools",
            self.tool
        )
    }
}

impl Error for UnlistedTool {}
