//! The setters of [`ToolSpec`]: `const` ones for statics, and those for texts that are created at run time.

use std::mem;
use std::time::Duration;

use super::parts::{
    Approval, CallLimits, Deprecation, Hints, Implementation, Strictness, Text, ToolAnnotations,
    ToolsetInfo, text,
};
use super::{Examples, Texts, ToolSpec};

/// Replaces a field and forgets its old value, because a `const fn` cannot drop it. An old value with an allocation
/// leaks.
const fn replace<T>(field: &mut T, value: T) {
    mem::forget(mem::replace(field, value));
}

/// Setters that can be used in statics.
impl ToolSpec {
    /// Sets the short name for people.
    #[must_use]
    pub const fn with_title(mut self, title: &'static str) -> Self {
        replace(&mut self.title, Some(text(title)));
        self
    }

    /// Sets the description for the model.
    #[must_use]
    pub const fn with_description(mut self, description: &'static str) -> Self {
        replace(&mut self.description, text(description));
        self
    }

    /// Sets the name of its toolset.
    #[must_use]
    pub const fn with_toolset(mut self, toolset: &'static str) -> Self {
        replace(&mut self.toolset, text(toolset));
        self
    }

    /// Sets the toolset, its description and its service.
    #[must_use]
    pub const fn in_toolset(mut self, toolset: &'static ToolsetInfo) -> Self {
        replace(&mut self.toolset, text(toolset.name));
        replace(&mut self.toolset_description, text(toolset.description));
        replace(&mut self.service, text(toolset.service));
        self
    }

    /// Sets the name of its service.
    #[must_use]
    pub const fn with_service(mut self, service: &'static str) -> Self {
        replace(&mut self.service, text(service));
        self
    }

    /// Sets the implementation.
    #[must_use]
    pub const fn with_implementation(mut self, implementation: Implementation) -> Self {
        replace(&mut self.implementation, implementation);
        self
    }

    /// Sets the implementation to a method of a service.
    #[must_use]
    pub const fn with_method(self, service: &'static str, method: &'static str) -> Self {
        self.with_implementation(Implementation::Method {
            service: text(service),
            method: text(method),
        })
    }

    /// Sets the implementation to an agent of a service.
    #[must_use]
    pub const fn with_agent(self, service: &'static str, agent: &'static str) -> Self {
        self.with_implementation(Implementation::Agent {
            service: text(service),
            agent: text(agent),
        })
    }

    /// Sets the implementation to an MCP server, by the name by which the host finds its connection.
    #[must_use]
    pub const fn with_mcp_server(self, server: &'static str) -> Self {
        self.with_implementation(Implementation::Mcp { server: text(server) })
    }

    /// Sets the tool's name on its remote MCP server.
    #[must_use]
    pub const fn with_remote_name(mut self, name: &'static str) -> Self {
        replace(&mut self.remote_name, Some(text(name)));
        self
    }

    /// Sets the tags for selecting tools.
    #[must_use]
    pub const fn with_tags(mut self, tags: &'static [&'static str]) -> Self {
        replace(&mut self.tags, Texts::Static(tags));
        self
    }

    /// Sets the earlier names.
    #[must_use]
    pub const fn with_aliases(mut self, aliases: &'static [&'static str]) -> Self {
        replace(&mut self.aliases, Texts::Static(aliases));
        self
    }

    /// Sets the hints on its effects.
    #[must_use]
    pub const fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// Sets the hint that the tool changes nothing.
    #[must_use]
    pub const fn with_read_only(mut self, read_only: bool) -> Self {
        self.annotations.read_only = Some(read_only);
        self
    }

    /// Sets the hint that the tool may destroy something.
    #[must_use]
    pub const fn with_destructive(mut self, destructive: bool) -> Self {
        self.annotations.destructive = Some(destructive);
        self
    }

    /// Sets the hint that a second equal call has no further effect.
    #[must_use]
    pub const fn with_idempotent(mut self, idempotent: bool) -> Self {
        self.annotations.idempotent = Some(idempotent);
        self
    }

    /// Sets the hint that the tool interacts with systems other than its own.
    #[must_use]
    pub const fn with_open_world(mut self, open_world: bool) -> Self {
        self.annotations.open_world = Some(open_world);
        self
    }

    /// Sets the templates that show the progress of a call.
    #[must_use]
    pub const fn with_hints(mut self, hints: Hints) -> Self {
        replace(&mut self.hints, hints);
        self
    }

    /// Sets the template that is shown when a call starts.
    #[must_use]
    pub const fn with_call_hint(mut self, template: &'static str) -> Self {
        replace(&mut self.hints.call, Some(text(template)));
        self
    }

    /// Sets the template that is shown when a call returns its result.
    #[must_use]
    pub const fn with_result_hint(mut self, template: &'static str) -> Self {
        replace(&mut self.hints.result, Some(text(template)));
        self
    }

    /// Requires an approval for each call, with these texts.
    #[must_use]
    pub const fn with_approval(mut self, approval: Approval) -> Self {
        replace(&mut self.approval, Some(approval));
        self
    }

    /// Requires an approval for each call, with the host's texts.
    #[must_use]
    pub const fn requiring_approval(mut self) -> Self {
        self.approval_mut();
        self
    }

    /// Requires an approval for each call, and sets the question for the approver.
    #[must_use]
    pub const fn with_approval_prompt(mut self, template: &'static str) -> Self {
        replace(&mut self.approval_mut().prompt, Some(text(template)));
        self
    }

    /// Requires an approval for each call, and sets the message for the model when it is denied.
    #[must_use]
    pub const fn with_approval_denied(mut self, template: &'static str) -> Self {
        replace(&mut self.approval_mut().denied, Some(text(template)));
        self
    }

    /// Requires an approval for each call, and sets further data for the approver: a JSON object, as text.
    #[must_use]
    pub const fn with_approval_metadata(mut self, metadata: &'static str) -> Self {
        replace(&mut self.approval_mut().metadata, Some(text(metadata)));
        self
    }

    const fn approval_mut(&mut self) -> &mut Approval {
        if self.approval.is_none() {
            let approval = Approval { prompt: None, denied: None, metadata: None };
            replace(&mut self.approval, Some(approval));
        }
        self.approval.as_mut().expect("it was set just now")
    }

    /// Sets how much it needs model providers to enforce the schema of its arguments.
    #[must_use]
    pub const fn with_strictness(mut self, strictness: Strictness) -> Self {
        self.strictness = strictness;
        self
    }

    /// Hides the tool from models until they search for it.
    #[must_use]
    pub const fn deferred(mut self) -> Self {
        self.is_deferred = true;
        self
    }

    /// Sets the limits of its calls.
    #[must_use]
    pub const fn with_limits(mut self, limits: CallLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the time limit of one attempt.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = Some(timeout);
        self
    }

    /// Sets the total number of attempts when failures are transient.
    #[must_use]
    pub const fn with_attempts(mut self, attempts: u32) -> Self {
        self.limits.attempts = Some(attempts);
        self
    }

    /// Sets whether a call of the tool never runs at the same time as another call of the same answer of the model.
    #[must_use]
    pub const fn with_sequential(mut self, sequential: bool) -> Self {
        self.limits.sequential = sequential;
        self
    }

    /// Sets example calls, which must be valid under the schemas: arguments and optional result as JSON texts.
    #[must_use]
    pub const fn with_examples(
        mut self,
        examples: &'static [(&'static str, Option<&'static str>)],
    ) -> Self {
        replace(&mut self.examples, Examples::Static(examples));
        self
    }

    /// Sets valid arguments, as JSON text, for a tool without examples.
    #[must_use]
    pub const fn with_args_sample(mut self, args: &'static str) -> Self {
        replace(&mut self.args_sample, Some(text(args)));
        self
    }

    /// Deprecates the tool, with these details.
    #[must_use]
    pub const fn with_deprecation(mut self, deprecation: Deprecation) -> Self {
        replace(&mut self.deprecation, Some(deprecation));
        self
    }

    /// Deprecates the tool: it still runs, but is not offered to models.
    #[must_use]
    pub const fn deprecated(mut self) -> Self {
        self.deprecation_mut();
        self
    }

    /// Deprecates the tool since a version.
    #[must_use]
    pub const fn deprecated_since(mut self, version: &'static str) -> Self {
        replace(&mut self.deprecation_mut().since, Some(text(version)));
        self
    }

    /// Deprecates the tool in favor of another.
    #[must_use]
    pub const fn replaced_by(mut self, tool: &'static str) -> Self {
        replace(&mut self.deprecation_mut().replacement, Some(text(tool)));
        self
    }

    /// Deprecates the tool, which is there until a day, as `YYYY-MM-DD`.
    #[must_use]
    pub const fn deprecated_until(mut self, day: &'static str) -> Self {
        replace(&mut self.deprecation_mut().until, Some(text(day)));
        self
    }

    const fn deprecation_mut(&mut self) -> &mut Deprecation {
        if self.deprecation.is_none() {
            replace(
                &mut self.deprecation,
                Some(Deprecation { since: None, replacement: None, until: None }),
            );
        }
        self.deprecation.as_mut().expect("it was set just now")
    }

    /// Sets the arguments' JSON Schema (2020-12), as text.
    #[must_use]
    pub const fn with_args_schema(mut self, schema: &'static str) -> Self {
        replace(&mut self.args_schema, text(schema));
        self.check_args.with_other_schema();
        self
    }

    /// Sets the result's JSON Schema (2020-12), as text.
    #[must_use]
    pub const fn with_result_schema(mut self, schema: &'static str) -> Self {
        replace(&mut self.result_schema, text(schema));
        self.check_result.with_other_schema();
        self
    }
}

/// Setters for texts that are created at run time.
impl ToolSpec {
    /// Sets the short name for people.
    pub fn set_title(&mut self, title: impl Into<Text>) {
        self.title = Some(title.into());
    }

    /// Sets the description for the model.
    pub fn set_description(&mut self, description: impl Into<Text>) {
        self.description = description.into();
    }

    /// Sets the name of its toolset.
    pub fn set_toolset(&mut self, toolset: impl Into<Text>) {
        self.toolset = toolset.into();
    }

    /// Sets the description of its toolset.
    pub fn set_toolset_description(&mut self, description: impl Into<Text>) {
        self.toolset_description = description.into();
    }

    /// Sets the name of its service.
    pub fn set_service(&mut self, service: impl Into<Text>) {
        self.service = service.into();
    }

    /// Sets the tool's name on its remote MCP server.
    pub fn set_remote_name(&mut self, name: impl Into<Text>) {
        self.remote_name = Some(name.into());
    }

    /// Sets the tags for selecting tools.
    pub fn set_tags<S: Into<Text>>(&mut self, tags: impl IntoIterator<Item = S>) {
        self.tags = Texts::Owned(tags.into_iter().map(Into::into).collect());
    }

    /// Sets the earlier names.
    pub fn set_aliases<S: Into<Text>>(&mut self, aliases: impl IntoIterator<Item = S>) {
        self.aliases = Texts::Owned(aliases.into_iter().map(Into::into).collect());
    }

    /// Sets example calls, which must be valid under the schemas: arguments and optional result as JSON texts.
    pub fn set_examples<S: Into<Text>>(
        &mut self,
        examples: impl IntoIterator<Item = (S, Option<S>)>,
    ) {
        let owned = |(args, result): (S, Option<S>)| (args.into(), result.map(Into::into));
        self.examples = Examples::Owned(examples.into_iter().map(owned).collect());
    }

    /// Sets the arguments' JSON Schema (2020-12), as text. It does not change the check by a codec or a function.
    pub fn set_args_schema(&mut self, schema: impl Into<Text>) {
        self.args_schema = schema.into();
        self.check_args.with_other_schema();
    }

    /// Sets the result's JSON Schema (2020-12), as text. It does not change the check by a codec or a function.
    pub fn set_result_schema(&mut self, schema: impl Into<Text>) {
        self.result_schema = schema.into();
        self.check_result.with_other_schema();
    }
}
