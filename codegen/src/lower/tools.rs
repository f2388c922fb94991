//! Lowers tools: their arguments, results and details.

use super::binding::{self, Bindings, Signature};
use super::compatibility::Handover;
use super::consumers::tool_named;
use super::schemas::Reading;
use super::toolsets::{Origin, WrittenTool};
use super::{Declared, owned};
use crate::diagnostic::{Report, consumers, files, tools};
use crate::json::Json;
use crate::model::{
    Approval, CallLimits, Deprecation, Example, Hints, Tool, ToolAnnotations, Toolset, ToolsetId,
};
use crate::schema::{Node, Shape};
use crate::source::Spanned;
use crate::syntax::Literal;

/// The most bytes in the tags of one tool, including those of its toolset.
const MAX_TAG_BYTES: usize = 4096;

/// The tools of a project.
pub(super) struct Tools {
    /// In the order of their ids.
    pub(super) list: Vec<Tool>,
    /// The schemas that tools declare, to be compared with those of their methods once all are read.
    pub(super) handovers: Vec<Handover>,
    /// True if the payloads of bound tools have too many properties; types are then not named.
    pub(super) binds_too_much: bool,
}

/// Lowers every tool of every toolset.
pub(super) fn tools(
    declared: Declared<'_>,
    reading: &mut Reading<'_>,
    report: &mut Report,
) -> Tools {
    let mut bindings = Bindings::default();
    let mut list = Vec::new();
    for (position, toolset) in declared.toolsets.list.iter().enumerate() {
        let text = declared.toolsets.texts[position];
        let mut of_toolset = text.and_then(|text| text.tags.as_ref());
        if has_too_many_tags(of_toolset, &[], report) {
            of_toolset = None;
        }
        let of_toolset: Vec<String> =
            of_toolset.into_iter().flatten().map(|tag| tag.value.clone()).collect();
        for id in &toolset.tools {
            let written = &declared.toolsets.tools[id.position()];
            let signature = signature(declared, toolset, written, &mut bindings, reading, report);
            let toolset = ToolsetId::at(position);
            list.push(tool(declared, toolset, written, signature, &of_toolset, report));
        }
    }
    let binds_too_much = bindings.are_too_many();
    Tools { list, handovers: bindings.handovers, binds_too_much }
}

/// Lowers a tool; `of_toolset` are the tags of its toolset.
fn tool(
    declared: Declared<'_>,
    toolset: ToolsetId,
    written: &WrittenTool<'_>,
    signature: Signature,
    of_toolset: &[String],
    report: &mut Report,
) -> Tool {
    let &WrittenTool { name, details, origin } = written;
    let remote = match origin {
        Origin::Toolset(text) if declared.toolsets.list[toolset.position()].mcp.is_some() => {
            owned(text.remote.as_ref()).or_else(|| Some(name.value.clone()))
        }
        Origin::Toolset(_) | Origin::Method(_) => None,
    };
    let mut tags = of_toolset.to_vec();
    if !has_too_many_tags(details.tags.as_ref(), of_toolset, report) {
        let own = details.tags.iter().flatten().map(|tag| &tag.value);
        tags.extend(own.filter(|tag| !of_toolset.contains(tag)).cloned());
    }
    let json = |literal: &Literal| literal.0.to_json().to_string();
    Tool {
        name: name.clone(),
        toolset,
        title: owned(details.title.as_ref()),
        description: details.description.value.clone(),
        args: signature.args,
        result: signature.result,
        binding: signature.binding,
        remote,
        annotations: details.annotations.as_ref().map_or_else(ToolAnnotations::default, |text| {
            ToolAnnotations {
                read_only: text.read_only,
                destructive: text.destructive,
                idempotent: text.idempotent,
                open_world: text.open_world,
            }
        }),
        approval: details.approval.as_ref().map(|text| Approval {
            prompt: owned(text.prompt.as_ref()),
            denied: owned(text.denied.as_ref()),
            metadata: text.metadata.as_ref().map(|entries| {
                let json = |(name, value): (&Spanned<String>, &Literal)| {
                    (name.value.clone(), value.0.to_json())
                };
                Json::Object(entries.iter().map(json).collect()).to_string().into()
            }),
        }),
        hints: details.hints.as_ref().map_or_else(Hints::default, |text| Hints {
            call: owned(text.call.as_ref()),
            result: owned(text.result.as_ref()),
        }),
        examples: details
            .examples
            .iter()
            .flatten()
            .map(|example| Example {
                args: json(&example.args),
                result: example.result.as_ref().map(json),
            })
            .collect(),
        limits: CallLimits {
            timeout: details.timeout.map(|period| period.0),
            attempts: details.retry.as_ref().map(|retry| retry.attempts),
            sequential: details.sequential.unwrap_or(false),
        },
        strictness: details.strict.map_or_else(Default::default, |word| word.0),
        is_deferred: details.defer.unwrap_or(false),
        tags,
        aliases: details.aliases.clone().unwrap_or_default(),
        deprecated: deprecation(declared, written, report),
    }
}

/// Returns whether a tool has too many tags, with those of its toolset, and reports it.
fn has_too_many_tags(
    tags: Option<&Vec<Spanned<String>>>,
    of_toolset: &[String],
    report: &mut Report,
) -> bool {
    let Some(last) = tags.and_then(|tags| tags.last()) else { return false };
    let own: usize = tags.into_iter().flatten().map(|tag| tag.value.len()).sum();
    let is_over = own + of_toolset.iter().map(String::len).sum::<usize>() > MAX_TAG_BYTES;
    if is_over {
        let message = format!("the tags of a tool have more than {MAX_TAG_BYTES} bytes in total");
        let advice = "the tags of a toolset count for each of its tools; remove some";
        report.add(files::over_budget(last.span, message, advice));
    }
    is_over
}

/// Returns the signature of a tool: that of its method if it is bound to one, else the declared one.
fn signature(
    declared: Declared<'_>,
    toolset: &Toolset,
    written: &WrittenTool<'_>,
    bindings: &mut Bindings,
    reading: &mut Reading<'_>,
    report: &mut Report,
) -> Signature {
    let owner = toolset.service;
    let text = match written.origin {
        Origin::Method(method) => {
            return bindings.signature(declared, owner, written, method, reading, report);
        }
        Origin::Toolset(text) => text,
    };
    if let (Some(remote), None) = (&text.remote, &toolset.mcp) {
        report.add(tools::remote_without_mcp(remote.span));
    }
    if let Some(bind) = &text.bind {
        if toolset.mcp.is_some() {
            report.add(tools::bind_in_mcp(bind.span));
        }
        if let Some(method) = binding::bound_method(declared, owner, bind, report) {
            return bindings.signature(declared, owner, written, method, reading, report);
        }
    }
    // If the method is unknown, so are its payload and its result.
    let has_unknown_method = text.bind.is_some();
    let injected = written.details.inject.as_ref().and_then(|inject| inject.iter().next());
    if let (Some((name, _)), false) = (injected, has_unknown_method) {
        report.add(tools::inject_without_bind(name.span));
    }
    let span = written.name.span;
    let args = match &text.args {
        Some(args) => reading.object(owner, &args.0, "`args`", report),
        None if has_unknown_method => reading.invalid(span),
        None => reading.empty_object(span),
    };
    let result = match &text.result {
        Some(result) => reading.schema(owner, &result.0, report),
        None if has_unknown_method => reading.invalid(span),
        None => reading.schemas.add(Node::new(span, Shape::Any)),
    };
    Signature { args, result, binding: None }
}

fn deprecation(
    declared: Declared<'_>,
    tool: &WrittenTool<'_>,
    report: &mut Report,
) -> Option<Deprecation> {
    let text = tool.details.deprecated.as_ref()?;
    let mut replacement = None;
    match &text.r#use {
        None => report.add(consumers::no_successor(text.span, &tool.name.value)),
        Some(name) if name.value == tool.name.value => {
            report.add(consumers::replaces_itself(name));
        }
        Some(name) => {
            replacement = tool_named(declared, name, report);
            let details = replacement.map(|id| declared.toolsets.tools[id.position()].details);
            if let Some(text) = details.and_then(|details| details.deprecated.as_ref()) {
                report.add(consumers::successor_deprecated(name, text.span));
            }
        }
    }
    let until = text.until.as_ref().map(|day| day.0.clone());
    Some(Deprecation { since: owned(text.since.as_ref()), replacement, until })
}
