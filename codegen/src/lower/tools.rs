//! What each tool takes, gives and says about itself. Never how it stands on a method:
//! [`super::binding`] knows.

use super::toolsets::{DeclaredTool, Origin};
use super::{Lowering, owned};
use crate::diagnostic::{consumers, files, names, tools};
use crate::model::{
    Approval, Binding, Deprecation, Example, Hints, MethodId, ServiceId, Tool, ToolAnnotations,
    ToolId, ToolsetId,
};
use crate::schema::{NodeId, Shape};
use crate::source::Spanned;
use crate::syntax::{self, ToolDetails};

/// How many bytes the tags of one tool may have: a toolset's are every tool's.
const MAX_TAG_BYTES: usize = 4096;

/// What a tool takes and gives.
pub(super) struct Signature {
    pub(super) args: NodeId,
    pub(super) result: NodeId,
    pub(super) binding: Option<Binding>,
}

impl<'a> Lowering<'a> {
    /// Lowers every tool of every toolset.
    pub(super) fn tools(&mut self) {
        for position in 0..self.toolsets.len() {
            let toolset = &self.toolsets[position];
            let (Some(owner), text) = (toolset.owner, toolset.text) else { continue };
            let tools = toolset.tools.clone();
            let tags = self.toolset_tags(text.and_then(|text| text.tags.as_ref()));
            for tool in tools {
                let signature = self.signature(owner, &tool, text);
                self.push_tool(ToolsetId::at(position), &tool, signature, &tags);
            }
        }
    }

    fn toolset_tags(&mut self, tags: Option<&Vec<Spanned<String>>>) -> Vec<String> {
        if self.check_tags(tags, &[]) { words(tags) } else { Vec::new() }
    }

    /// Whether a tool's tags, with those of its toolset, are few enough.
    fn check_tags(&mut self, tags: Option<&Vec<Spanned<String>>>, of_toolset: &[String]) -> bool {
        let Some(last) = tags.and_then(|tags| tags.last()) else { return true };
        let own: usize = tags.into_iter().flatten().map(|tag| tag.value.len()).sum();
        let is_few = own + of_toolset.iter().map(String::len).sum::<usize>() <= MAX_TAG_BYTES;
        if !is_few {
            let message = format!("the tags of a tool have more than {MAX_TAG_BYTES} bytes in all");
            let advice = "a toolset's tags count as every tool's; keep a few";
            self.report.add(files::over_budget(last.span, message, advice));
        }
        is_few
    }

    fn signature(
        &mut self,
        owner: ServiceId,
        tool: &DeclaredTool<'a>,
        toolset: Option<&'a syntax::Toolset>,
    ) -> Signature {
        let text = match tool.origin {
            Origin::Method(method) => return self.bound(owner, tool, method, None, None),
            Origin::Toolset(text) => text,
        };
        self.check_remote(text, toolset.is_some_and(|toolset| toolset.mcp.is_some()));
        match text.bind.as_ref().map(|bind| self.bound_method(owner, bind)) {
            Some(Some(method)) => {
                self.bound(owner, tool, method, text.args.as_ref(), text.result.as_ref())
            }
            bind => self.unbound(owner, tool, text, bind.is_some()),
        }
    }

    fn unbound(
        &mut self,
        owner: ServiceId,
        tool: &DeclaredTool<'a>,
        text: &syntax::Tool,
        should_be_bound: bool,
    ) -> Signature {
        if let (Some((name, _)), false) = (first(tool.details), should_be_bound) {
            self.report.add(tools::inject_without_bind(name.span));
        }
        let span = tool.name.span;
        // What a method that nobody knows takes and gives, nobody knows either.
        let args = match &text.args {
            Some(args) => self.object_schema(owner, &args.0, "`args`"),
            None if should_be_bound => self.unsound(span),
            None => self.empty_object(span),
        };
        let result = match &text.result {
            Some(result) => self.schema(owner, &result.0),
            None if should_be_bound => self.unsound(span),
            None => self.plain(span, Shape::Any),
        };
        Signature { args, result, binding: None }
    }

    fn check_remote(&mut self, text: &syntax::Tool, is_remote: bool) {
        if let (Some(remote), false) = (&text.remote, is_remote) {
            self.report.add(tools::remote_without_mcp(remote.span));
        }
        if let (Some(bind), true) = (&text.bind, is_remote) {
            self.report.add(tools::bind_in_mcp(bind.span));
        }
    }

    fn push_tool(
        &mut self,
        toolset: ToolsetId,
        declared: &DeclaredTool<'a>,
        signature: Signature,
        toolset_tags: &[String],
    ) {
        let details = declared.details;
        let is_remote = self.project[toolset].mcp.is_some();
        let remote = match declared.origin {
            Origin::Toolset(text) if is_remote => {
                owned(text.remote.as_ref()).or_else(|| Some(declared.name.value.clone()))
            }
            Origin::Toolset(_) | Origin::Method(_) => None,
        };
        let mut tags = toolset_tags.to_vec();
        if self.check_tags(details.tags.as_ref(), toolset_tags) {
            tags.extend(
                words(details.tags.as_ref()).into_iter().filter(|tag| !toolset_tags.contains(tag)),
            );
        }
        let tool = Tool {
            name: declared.name.clone(),
            toolset,
            title: owned(details.title.as_ref()),
            description: details.description.value.clone(),
            args: signature.args,
            result: signature.result,
            binding: signature.binding,
            remote,
            annotations: annotations(details),
            approval: approval(details),
            hints: hints(details),
            examples: examples(details),
            timeout: details.timeout.map(|period| period.0),
            attempts: details.retry.as_ref().map(|retry| retry.attempts),
            sequential: details.sequential.unwrap_or(false),
            tags,
            aliases: details.aliases.clone().unwrap_or_default(),
            deprecated: self.deprecation(declared),
        };
        self.project.tools.push(tool);
    }

    fn deprecation(&mut self, tool: &DeclaredTool<'a>) -> Option<Deprecation> {
        let text = tool.details.deprecated.as_ref()?;
        if text.r#use.is_none() {
            self.report.add(consumers::no_successor(text.span, &tool.name.value));
        }
        let replacement = text.r#use.as_ref().and_then(|name| self.replacement(tool, name));
        Some(Deprecation { since: owned(text.since.as_ref()), replacement })
    }

    fn replacement(&mut self, tool: &DeclaredTool<'a>, name: &Spanned<String>) -> Option<ToolId> {
        if name.value == tool.name.value {
            self.report.add(consumers::replaces_itself(name));
            return None;
        }
        let id = self.tool_named(name)?;
        let mut declared = self.toolsets.iter().flat_map(|toolset| &toolset.tools);
        if let Some(text) =
            declared.nth(id.position()).and_then(|tool| tool.details.deprecated.as_ref())
        {
            self.report.add(consumers::successor_deprecated(name, text.span));
        }
        Some(id)
    }

    /// The tool of a name; an alias is no name to build on.
    pub(super) fn tool_named(&mut self, name: &Spanned<String>) -> Option<ToolId> {
        if let Some(&(first, id)) = self.tool_names.known.get(&name.value) {
            if id.is_none() && self.is_alias(&name.value) {
                self.report.add(consumers::alias_used(name, first));
            }
            return id;
        }
        self.unknown(names::unknown_tool, name, |all| all.tool_names.words());
        None
    }

    fn is_alias(&self, name: &str) -> bool {
        let tools = self.toolsets.iter().flat_map(|toolset| &toolset.tools);
        tools
            .flat_map(|tool| tool.details.aliases.iter().flatten())
            .any(|alias| alias.value == name)
    }

    /// The method texts stand in the order of the methods.
    pub(super) fn method_text(&self, method: MethodId) -> &'a syntax::Method {
        self.method_texts[method.position()]
    }
}

fn first(details: &ToolDetails) -> Option<(&Spanned<String>, &Spanned<String>)> {
    details.inject.as_ref()?.iter().next()
}

fn words(list: Option<&Vec<Spanned<String>>>) -> Vec<String> {
    list.into_iter().flatten().map(|word| word.value.clone()).collect()
}

fn annotations(details: &ToolDetails) -> ToolAnnotations {
    details.annotations.as_ref().map_or_else(ToolAnnotations::default, |text| ToolAnnotations {
        read_only: text.read_only,
        destructive: text.destructive,
        idempotent: text.idempotent,
        open_world: text.open_world,
    })
}

fn approval(details: &ToolDetails) -> Option<Approval> {
    details.approval.as_ref().map(|text| Approval {
        prompt: owned(text.prompt.as_ref()),
        denied: owned(text.denied.as_ref()),
    })
}

fn hints(details: &ToolDetails) -> Hints {
    details.hints.as_ref().map_or_else(Hints::default, |text| Hints {
        call: owned(text.call.as_ref()),
        result: owned(text.result.as_ref()),
    })
}

fn examples(details: &ToolDetails) -> Vec<Example> {
    let lower = |text: &syntax::Example| Example {
        args: text.args.0.to_json(),
        result: text.result.as_ref().map(|result| result.0.to_json()),
    };
    details.examples.iter().flatten().map(lower).collect()
}
