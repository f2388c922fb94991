//! A tool as a toolset lists it: its spec, and what combinators changed about it. Never runs a tool.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use toolwright::spec::Approval;
use toolwright::{Outcome, ToolFailure, ToolSpec};

/// The character between a prefix and a name.
pub(crate) const SEPARATOR: char = '.';

/// A spec that was generated, or one that was made at run time.
#[derive(Clone)]
pub enum ToolSpecRef {
    /// Generated: it lives as long as the program.
    Static(&'static ToolSpec),
    /// Made at run time: it lives as long as somebody lists it.
    Shared(Arc<ToolSpec>),
}

/// One tool that a toolset lists. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ToolEntry {
    spec: ToolSpecRef,
    /// The name it is published under, where that is not the spec's.
    published: Option<Arc<str>>,
    /// Names that approval lists may have for it, beside these two: those it was published under before, and under each
    /// prefix, also one that it does not bear here, all that it had.
    other_names: Vec<Arc<str>>,
    approval: Option<Approval>,
    run_by: RunBy,
    /// Whether what runs it goes through its codecs anyway, so that nobody else needs to check payloads.
    checks_itself: bool,
}

/// What runs the calls of a tool.
#[derive(Clone, Debug)]
enum RunBy {
    /// The toolset that lists it.
    Toolset,
    /// The agent of this name, in runs of its own.
    Agent(Arc<str>),
    /// The agent that the toolset names for each call.
    Delegate,
    /// Nothing here: the run waits until its host brings the result.
    Deferred,
}

impl ToolEntry {
    /// A tool under its own name, with what its spec says.
    pub fn new(spec: impl Into<ToolSpecRef>) -> Self {
        let spec = spec.into();
        Self {
            approval: spec.approval().cloned(),
            spec,
            published: None,
            other_names: Vec::new(),
            run_by: RunBy::Toolset,
            checks_itself: false,
        }
    }

    /// The name it is called by.
    pub fn name(&self) -> &str {
        self.published.as_deref().unwrap_or_else(|| self.spec.name())
    }

    /// Everything else that is known about it.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// The spec, to be kept.
    pub fn spec_ref(&self) -> &ToolSpecRef {
        &self.spec
    }

    /// The words of its approval request, if it needs an approval before it may run.
    pub fn approval(&self) -> Option<&Approval> {
        self.approval.as_ref()
    }

    /// Whether nothing here runs it: a run waits until its host brings the result.
    pub fn is_deferred(&self) -> bool {
        matches!(self.run_by, RunBy::Deferred)
    }

    /// The agent that runs it.
    pub(crate) fn agent(&self) -> Option<&Arc<str>> {
        match &self.run_by {
            RunBy::Agent(name) => Some(name),
            RunBy::Toolset | RunBy::Delegate | RunBy::Deferred => None,
        }
    }

    /// The same tool, run by an agent.
    pub(crate) fn run_by(mut self, agent: &str) -> Self {
        self.run_by = RunBy::Agent(agent.into());
        self
    }

    /// Whether its toolset names an agent for each call, which runs it.
    pub(crate) fn delegates(&self) -> bool {
        matches!(self.run_by, RunBy::Delegate)
    }

    /// The same tool, for whose calls its toolset returns a [`Delegation`](super::Delegation) as the result.
    pub(super) fn delegating(mut self) -> Self {
        self.run_by = RunBy::Delegate;
        self
    }

    /// Whether what runs it refuses wrong arguments and returns no wrong result by itself.
    pub(crate) fn checks_itself(&self) -> bool {
        self.checks_itself
    }

    /// The same tool, run by a function between its own codecs.
    pub(super) fn checking_itself(mut self) -> Self {
        self.checks_itself = true;
        self
    }

    /// Whether a name is its own: the one it is published under, or an earlier one of the spec while it goes by its
    /// own.
    pub fn is_called(&self, name: &str) -> bool {
        self.name() == name || (self.published.is_none() && self.spec.is_called(name))
    }

    /// Whether an approval list that has this name is about the tool: the name it goes by here or, since the list may have
    /// been written elsewhere, one of its own, or one that it had on its way here. A name too many asks; one too few would
    /// run the call.
    pub(crate) fn is_meant_by(&self, name: &str) -> bool {
        self.all_names().any(|known| known == name)
    }

    fn all_names(&self) -> impl Iterator<Item = &str> {
        let of_spec = [self.name(), self.spec.name()].into_iter().chain(self.spec.aliases());
        of_spec.chain(self.other_names.iter().map(|name| &**name))
    }

    /// The same tool under another name.
    #[must_use]
    pub fn published_as(mut self, name: impl Into<Arc<str>>) -> Self {
        let name = name.into();
        self.other_names.extend(self.published.take());
        self.published = (*name != *self.spec.name()).then_some(name);
        self
    }

    /// The same tool under `<prefix>.<name>`.
    pub(super) fn published_under(self, prefix: &str) -> Self {
        let name = format!("{prefix}{SEPARATOR}{}", self.name());
        self.known_under(prefix).published_as(name)
    }

    /// The same tool by the name it has. An approval list may have a prefix, under which others know it, with any of its
    /// names.
    pub(super) fn known_under(mut self, prefix: &str) -> Self {
        let under = |name: &str| format!("{prefix}{SEPARATOR}{name}").into();
        let names: Vec<_> = self.all_names().map(under).collect();
        self.other_names.extend(names);
        self
    }

    /// The same tool, needing an approval. A tool that needs one already keeps its own words.
    #[must_use]
    pub fn requiring_approval(mut self, words: Approval) -> Self {
        self.approval = self.approval.or(Some(words));
        self
    }

    /// The same tool, deferred: a run waits until its host brings the result.
    #[must_use]
    pub fn deferred(mut self) -> Self {
        self.run_by = RunBy::Deferred;
        self
    }
}

impl ToolSpecRef {
    /// The outcome of a call, if it keeps the result schema.
    ///
    /// # Errors
    ///
    /// The failure it was, or that of a result that breaks the schema.
    pub(crate) fn checked(&self, outcome: Outcome) -> Outcome {
        let payload = outcome?;
        match self.check_result(payload.as_bytes()) {
            Ok(()) => Ok(payload),
            Err(issues) => Err(ToolFailure::malformed_result(self, &issues)),
        }
    }
}

impl Deref for ToolSpecRef {
    type Target = ToolSpec;

    fn deref(&self) -> &ToolSpec {
        match self {
            Self::Static(spec) => spec,
            Self::Shared(spec) => spec,
        }
    }
}

impl fmt::Debug for ToolSpecRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolSpecRef").field(&self.name()).finish()
    }
}

impl From<&'static ToolSpec> for ToolSpecRef {
    fn from(spec: &'static ToolSpec) -> Self {
        Self::Static(spec)
    }
}

impl From<Arc<ToolSpec>> for ToolSpecRef {
    fn from(spec: Arc<ToolSpec>) -> Self {
        Self::Shared(spec)
    }
}

impl From<ToolSpec> for ToolSpecRef {
    fn from(spec: ToolSpec) -> Self {
        Self::Shared(Arc::new(spec))
    }
}
