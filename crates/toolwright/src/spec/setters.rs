//! The setters of [`ToolSpec`]: those that work in statics, and those for texts that are made at run time.

use std::mem;
use std::time::Duration;

use super::parts::{
    Approval, CallLimits, Deprecation, Hints, Implementation, Text, ToolAnnotations, ToolsetInfo,
    text,
};
use super::{Examples, Texts, ToolSpec};

/// Replaces a field and forgets its old value, because a const fn cannot drop one: an old value made at run time leaks.
const fn put<T>(field: &mut T, value: T) {
    mem::forget(mem::replace(field, value));
}

/// Setters that work in statics.
impl ToolSpec {
    /// Sets the short name for people.
    #[must_use]
    pub const fn with_title(mut self, title: &'static str) -> Self {
        put(&mut self.title, Some(text(title)));
        self
    }

    /// Sets what the tool does, for the model.
    #[must_use]
    pub const fn with_description(mut self, description: &'static str) -> Self {
        put(&mut self.description, text(description));
        self
    }

    /// Sets the toolset it belongs to.
    #[must_use]
    pub const fn with_toolset(mut self, toolset: &'static str) -> Self {
        put(&mut self.toolset, text(toolset));
        self
    }

    /// Sets the toolset it belongs to, what that is for, and the service that owns both.
    #[must_use]
    pub const fn in_toolset(mut self, toolset: &'static ToolsetInfo) -> Self {
        put(&mut self.toolset, text(toolset.name));
        put(&mut self.toolset_description, text(toolset.description));
        put(&mut self.service, text(toolset.service));
        self
    }

    /// Sets the service that owns it.
    #[must_use]
    pub const fn with_service(mut self, service: &'static str) -> Self {
        put(&mut self.service, text(service));
        self
    }

    /// Sets what runs it.
    #[must_use]
    pub const fn with_implementation(mut self, implementation: Implementation) -> Self {
        put(&mut self.implementation, implementation);
        self
    }

    /// Sets the method of a service that runs it.
    #[must_use]
    pub const fn with_method(self, service: &'static str, method: &'static str) -> Self {
        self.with_implementation(Implementation::Method {
            service: text(service),
            method: text(method),
        })
    }

    /// Sets the agent of a service that runs it.
    #[must_use]
    pub const fn with_agent(self, service: &'static str, agent: &'static str) -> Self {
        self.with_implementation(Implementation::Agent {
            service: text(service),
            agent: text(agent),
        })
    }

    /// Sets the MCP server that runs it, by the name the host knows it by.
    #[must_use]
    pub const fn with_mcp_server(self, server: &'static str) -> Self {
        self.with_implementation(Implementation::Mcp { server: text(server) })
    }

    /// Sets its name on the remote MCP server it lives on.
    #[must_use]
    pub const fn with_remote_name(mut self, name: &'static str) -> Self {
        put(&mut self.remote_name, Some(text(name)));
        self
    }

    /// Sets the words to choose tools by.
    #[must_use]
    pub const fn with_tags(mut self, tags: &'static [&'static str]) -> Self {
        put(&mut self.tags, Texts::Static(tags));
        self
    }

    /// Sets its earlier names.
    #[must_use]
    pub const fn with_aliases(mut self, aliases: &'static [&'static str]) -> Self {
        put(&mut self.aliases, Texts::Static(aliases));
        self
    }

    /// Sets what it does to the world.
    #[must_use]
    pub const fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// Sets whether it changes nothing.
    #[must_use]
    pub const fn with_read_only(mut self, read_only: bool) -> Self {
        self.annotations.read_only = Some(read_only);
        self
    }

    /// Sets whether it may destroy something.
    #[must_use]
    pub const fn with_destructive(mut self, destructive: bool) -> Self {
        self.annotations.destructive = Some(destructive);
        self
    }

    /// Sets whether a second equal call changes nothing more.
    #[must_use]
    pub const fn with_idempotent(mut self, idempotent: bool) -> Self {
        self.annotations.idempotent = Some(idempotent);
        self
    }

    /// Sets whether it reaches beyond the system it belongs to.
    #[must_use]
    pub const fn with_open_world(mut self, open_world: bool) -> Self {
        self.annotations.open_world = Some(open_world);
        self
    }

    /// Sets the templates for showing its progress.
    #[must_use]
    pub const fn with_hints(mut self, hints: Hints) -> Self {
        put(&mut self.hints, hints);
        self
    }

    /// Sets the template that is shown when a call starts.
    #[must_use]
    pub const fn with_call_hint(mut self, template: &'static str) -> Self {
        put(&mut self.hints.call, Some(text(template)));
        self
    }

    /// Sets the template that is shown when a result is there.
    #[must_use]
    pub const fn with_result_hint(mut self, template: &'static str) -> Self {
        put(&mut self.hints.result, Some(text(template)));
        self
    }

    /// Makes its calls need an approval, which is asked for in these words.
    #[must_use]
    pub const fn with_approval(mut self, words: Approval) -> Self {
        put(&mut self.approval, Some(words));
        self
    }

    /// Makes its calls need an approval, which the host asks for in its own words.
    #[must_use]
    pub const fn requiring_approval(mut self) -> Self {
        self.needed_approval();
        self
    }

    /// Makes its calls need an approval, and sets what the approver is asked.
    #[must_use]
    pub const fn with_approval_prompt(mut self, template: &'static str) -> Self {
        put(&mut self.needed_approval().prompt, Some(text(template)));
        self
    }

    /// Makes its calls need an approval, and sets what the model is told on a no.
    #[must_use]
    pub const fn with_approval_denied(mut self, template: &'static str) -> Self {
        put(&mut self.needed_approval().denied, Some(text(template)));
        self
    }

    /// Makes its calls need an approval, and sets what else the approver's side needs: a JSON object, as text.
    #[must_use]
    pub const fn with_approval_metadata(mut self, metadata: &'static str) -> Self {
        put(&mut self.needed_approval().metadata, Some(text(metadata)));
        self
    }

    const fn needed_approval(&mut self) -> &mut Approval {
        if self.approval.is_none() {
            let approval = Approval { prompt: None, denied: None, metadata: None };
            put(&mut self.approval, Some(approval));
        }
        self.approval.as_mut().expect("it was set just now")
    }

    /// Sets how its calls are run.
    #[must_use]
    pub const fn with_limits(mut self, limits: CallLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how long one attempt may take.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = Some(timeout);
        self
    }

    /// Sets how many attempts a transient failure gets in all.
    #[must_use]
    pub const fn with_attempts(mut self, attempts: u32) -> Self {
        self.limits.attempts = Some(attempts);
        self
    }

    /// Sets whether the tool is a barrier among concurrent calls.
    #[must_use]
    pub const fn with_sequential(mut self, sequential: bool) -> Self {
        self.limits.sequential = sequential;
        self
    }

    /// Sets example calls, valid under the schemas: the arguments, and the result where it is shown, as JSON texts.
    #[must_use]
    pub const fn with_examples(
        mut self,
        examples: &'static [(&'static str, Option<&'static str>)],
    ) -> Self {
        put(&mut self.examples, Examples::Static(examples));
        self
    }

    /// Sets arguments that are right, as JSON text, for a tool without examples.
    #[must_use]
    pub const fn with_args_sample(mut self, args: &'static str) -> Self {
        put(&mut self.args_sample, Some(text(args)));
        self
    }

    /// Deprecates it, and says why.
    #[must_use]
    pub const fn with_deprecation(mut self, deprecation: Deprecation) -> Self {
        put(&mut self.deprecation, Some(deprecation));
        self
    }

    /// Deprecates it: it still runs, but is not offered to models.
    #[must_use]
    pub const fn deprecated(mut self) -> Self {
        self.needed_deprecation();
        self
    }

    /// Deprecates it, and sets the version since when it is deprecated.
    #[must_use]
    pub const fn deprecated_since(mut self, version: &'static str) -> Self {
        put(&mut self.needed_deprecation().since, Some(text(version)));
        self
    }

    /// Deprecates it, and sets the tool to use instead.
    #[must_use]
    pub const fn replaced_by(mut self, tool: &'static str) -> Self {
        put(&mut self.needed_deprecation().replacement, Some(text(tool)));
        self
    }

    const fn needed_deprecation(&mut self) -> &mut Deprecation {
        if self.deprecation.is_none() {
            put(&mut self.deprecation, Some(Deprecation { since: None, replacement: None }));
        }
        self.deprecation.as_mut().expect("it was set just now")
    }

    /// Sets the arguments' JSON Schema (2020-12), as text.
    #[must_use]
    pub const fn with_args_schema(mut self, schema: &'static str) -> Self {
        put(&mut self.args_schema, text(schema));
        self
    }

    /// Sets the result's JSON Schema (2020-12), as text.
    #[must_use]
    pub const fn with_result_schema(mut self, schema: &'static str) -> Self {
        put(&mut self.result_schema, text(schema));
        self
    }
}

/// Setters for texts that are made at run time.
impl ToolSpec {
    /// Sets the short name for people.
    pub fn set_title(&mut self, title: impl Into<Text>) {
        self.title = Some(title.into());
    }

    /// Sets what the tool does, for the model.
    pub fn set_description(&mut self, description: impl Into<Text>) {
        self.description = description.into();
    }

    /// Sets the toolset it belongs to.
    pub fn set_toolset(&mut self, toolset: impl Into<Text>) {
        self.toolset = toolset.into();
    }

    /// Sets what the toolset it belongs to is for.
    pub fn set_toolset_description(&mut self, description: impl Into<Text>) {
        self.toolset_description = description.into();
    }

    /// Sets the service that owns it.
    pub fn set_service(&mut self, service: impl Into<Text>) {
        self.service = service.into();
    }

    /// Sets its name on the remote MCP server it lives on.
    pub fn set_remote_name(&mut self, name: impl Into<Text>) {
        self.remote_name = Some(name.into());
    }

    /// Sets the words to choose tools by.
    pub fn set_tags<S: Into<Text>>(&mut self, tags: impl IntoIterator<Item = S>) {
        self.tags = Texts::Owned(tags.into_iter().map(Into::into).collect());
    }

    /// Sets its earlier names.
    pub fn set_aliases<S: Into<Text>>(&mut self, aliases: impl IntoIterator<Item = S>) {
        self.aliases = Texts::Owned(aliases.into_iter().map(Into::into).collect());
    }

    /// Sets example calls, valid under the schemas: the arguments, and the result where it is shown, as JSON texts.
    pub fn set_examples<S: Into<Text>>(
        &mut self,
        examples: impl IntoIterator<Item = (S, Option<S>)>,
    ) {
        let owned = |(args, result): (S, Option<S>)| (args.into(), result.map(Into::into));
        self.examples = Examples::Owned(examples.into_iter().map(owned).collect());
    }

    /// Sets the arguments' JSON Schema (2020-12), as text. It does not change what checks them.
    pub fn set_args_schema(&mut self, schema: impl Into<Text>) {
        self.args_schema = schema.into();
    }

    /// Sets the result's JSON Schema (2020-12), as text. It does not change what checks it.
    pub fn set_result_schema(&mut self, schema: impl Into<Text>) {
        self.result_schema = schema.into();
    }
}
