//! A tool as a toolset lists it: its spec, and the changes that combinators made to it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use toolwright::spec::Approval;
use toolwright::{Outcome, ToolFailure, ToolSpec};

/// The character between a prefix and a name.
pub(crate) const SEPARATOR: char = '.';

/// A generated spec, or a spec that was made at run time.
#[derive(Clone)]
pub enum ToolSpecRef {
    /// A spec in a static, as in generated code.
    Static(&'static ToolSpec),
    /// A spec that was made at run time.
    Shared(Arc<ToolSpec>),
}

/// A tool that a toolset lists. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ToolEntry {
    spec: ToolSpecRef,
    /// The name it is published under, if that is not the spec's.
    published: Option<Arc<str>>,
    /// Further names that approval lists may use for it: names it was published under before, and all its names with each
    /// prefix of a catalog, even if it is listed without the prefix.
    other_names: Vec<Arc<str>>,
    approval: Option<Approval>,
    run_by: RunBy,
    /// True if its executor checks arguments and results with the codecs, so that the run need not check them.
    checks_itself: bool,
    /// True if a call that is made again with its id gets the result of the first.
    has_resumable_calls: bool,
}

/// What runs the calls of a tool.
#[derive(Clone, Debug)]
enum RunBy {
    /// The toolset that lists it.
    Toolset,
    /// The agent with this name, in a child run.
    Agent(Arc<str>),
    /// The agent that the toolset returns for each call, in a child run.
    Delegate,
    /// The host, which provides the result while the run waits.
    Host,
}

impl ToolEntry {
    /// Creates an entry with the name and the approval of a spec.
    pub fn new(spec: impl Into<ToolSpecRef>) -> Self {
        let spec = spec.into();
        Self {
            approval: spec.approval().cloned(),
            spec,
            published: None,
            other_names: Vec::new(),
            run_by: RunBy::Toolset,
            checks_itself: false,
            has_resumable_calls: false,
        }
    }

    /// Returns the name that calls use.
    pub fn name(&self) -> &str {
        self.published.as_deref().unwrap_or_else(|| self.spec.name())
    }

    /// Returns a name that every model provider accepts: every character except ASCII letters, digits, `_` and `-` becomes `_`. Two
    /// tools of a run cannot have the same one.
    pub fn provider_name(name: &str) -> Cow<'_, str> {
        let is_accepted = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
        if name.chars().all(is_accepted) {
            return Cow::Borrowed(name);
        }
        name.chars().map(|char| if is_accepted(char) { char } else { '_' }).collect()
    }

    /// Returns the spec of the tool. Its name may differ from [`name`](Self::name).
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Returns the spec of the tool, as a reference that can be cloned and stored.
    pub fn spec_ref(&self) -> &ToolSpecRef {
        &self.spec
    }

    /// Returns the approval that its calls need, if any: the prompt, the denial message and the metadata.
    pub fn approval(&self) -> Option<&Approval> {
        self.approval.as_ref()
    }

    /// Returns about how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let of_spec = match &self.spec {
            ToolSpecRef::Static(_) => 0,
            ToolSpecRef::Shared(spec) => {
                size_of::<ToolSpec>()
                    + spec.description().len()
                    + spec.args_schema().len()
                    + spec.result_schema().len()
            }
        };
        size_of::<Self>() + self.name().len() + of_spec
    }

    /// Returns true if the host runs its calls: a run waits until the host provides the result.
    pub fn is_run_by_host(&self) -> bool {
        matches!(self.run_by, RunBy::Host)
    }

    /// Returns the agent that runs it, if it is always the same.
    pub fn agent(&self) -> Option<&str> {
        match &self.run_by {
            RunBy::Agent(name) => Some(name),
            RunBy::Toolset | RunBy::Delegate | RunBy::Host => None,
        }
    }

    /// Lets an agent run it.
    pub(crate) fn run_by(mut self, agent: &str) -> Self {
        self.run_by = RunBy::Agent(agent.into());
        self
    }

    /// Returns whether an agent runs each call, always the same or not.
    pub(crate) fn has_agent(&self) -> bool {
        matches!(self.run_by, RunBy::Agent(_) | RunBy::Delegate)
    }

    /// Returns whether its toolset returns the agent that runs each call.
    pub(crate) fn delegates(&self) -> bool {
        matches!(self.run_by, RunBy::Delegate)
    }

    /// Marks it as delegating: its toolset returns a [`Delegation`](super::Delegation) for each call.
    pub(super) fn delegating(mut self) -> Self {
        self.run_by = RunBy::Delegate;
        self
    }

    /// Returns whether its executor checks arguments and results with the codecs.
    pub(crate) fn checks_itself(&self) -> bool {
        self.checks_itself
    }

    /// Marks that its executor checks arguments and results with the codecs.
    pub(super) fn checking_itself(mut self) -> Self {
        self.checks_itself = true;
        self
    }

    /// Marks that its toolset makes each call once for its run and id, as
    /// [`Executor::has_resumable_calls`](toolwright::Executor::has_resumable_calls) does for an executor.
    #[must_use]
    pub fn with_resumable_calls(mut self) -> Self {
        self.has_resumable_calls = true;
        self
    }

    /// Returns whether its toolset makes each call once for its run and id.
    pub(crate) fn has_resumable_calls(&self) -> bool {
        self.has_resumable_calls
    }

    /// Returns whether a call that was interrupted may be made again: the tool is read-only or idempotent, or its toolset knows
    /// the call.
    pub(crate) fn may_run_again(&self) -> bool {
        self.has_resumable_calls || self.spec.annotations().may_run_again()
    }

    /// Returns whether calls may use a name: the published name or an alias of the spec with the prefix of the published name. A tool
    /// that was published under another name has no aliases.
    pub fn is_called(&self, name: &str) -> bool {
        let is_alias = |alias: &str| self.spec.aliases().any(|known| known == alias);
        let alias = || name.strip_prefix(self.alias_prefix()?);
        self.name() == name || alias().is_some_and(is_alias)
    }

    /// Returns what aliases of the spec begin with in calls; `None` if calls cannot use them.
    pub(crate) fn alias_prefix(&self) -> Option<&str> {
        let Some(published) = &self.published else { return Some("") };
        published.strip_suffix(self.spec.name()).filter(|prefix| prefix.ends_with(SEPARATOR))
    }

    /// Returns the tool that calls with a name mean. The name of a tool takes precedence over an alias of another, and an alias of
    /// two tools means neither.
    pub fn find<'a, T: AsRef<Self>>(tools: &'a [T], name: &str) -> Option<&'a T> {
        let exact = tools.iter().find(|tool| tool.as_ref().name() == name);
        exact.or_else(|| {
            let mut named = tools.iter().filter(|tool| tool.as_ref().is_called(name));
            named.next().filter(|_| named.next().is_none())
        })
    }

    /// Returns whether a name in an approval list means this tool: its current name, its name or an alias in the spec, or a name
    /// it was published under before. An extra match only asks once more; a missing one would run a call without approval.
    pub(crate) fn is_known_as(&self, name: &str) -> bool {
        self.all_names().any(|known| known == name)
    }

    fn all_names(&self) -> impl Iterator<Item = &str> {
        let of_spec = [self.name(), self.spec.name()].into_iter().chain(self.spec.aliases());
        of_spec.chain(self.other_names.iter().map(|name| &**name))
    }

    /// Publishes the tool under another name.
    #[must_use]
    pub fn published_as(mut self, name: impl Into<Arc<str>>) -> Self {
        let name = name.into();
        self.other_names.extend(self.published.take());
        self.published = (*name != *self.spec.name()).then_some(name);
        self
    }

    /// Publishes the tool as `<prefix>.<name>`.
    pub(super) fn published_under(self, prefix: &str) -> Self {
        let name = format!("{prefix}{SEPARATOR}{}", self.name());
        self.known_under(prefix).published_as(name)
    }

    /// Keeps the name, and lets approval lists also use all its names with a prefix.
    pub(super) fn known_under(mut self, prefix: &str) -> Self {
        let under = |name: &str| format!("{prefix}{SEPARATOR}{name}").into();
        let names: Vec<_> = self.all_names().map(under).collect();
        self.other_names.extend(names);
        self
    }

    /// Requires an approval. A tool that already requires one keeps its own prompt.
    #[must_use]
    pub fn requiring_approval(mut self, approval: Approval) -> Self {
        self.approval = self.approval.or(Some(approval));
        self
    }

    /// Lets the host run its calls: a run waits until the host provides the result.
    #[must_use]
    pub fn run_by_host(mut self) -> Self {
        self.run_by = RunBy::Host;
        self
    }
}

/// For [`ToolEntry::find`] in a list of entries, or of what holds them.
impl AsRef<Self> for ToolEntry {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl ToolSpecRef {
    /// Checks the result of a call against the result schema.
    ///
    /// # Errors
    ///
    /// The failure of the call, or the failure for an invalid result.
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
