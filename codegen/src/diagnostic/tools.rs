//! Mistakes in toolsets, their owners, and how tools stand on methods. Never about who uses a tool.

use super::{at, mistakes};
use crate::source::{Span, Spanned};

mistakes! {
    /// A file declares what belongs to a service, and names no service.
    ///
    /// Types, methods, agents and MCP servers belong to the service of their file. Toolsets alone may find their owner by
    /// what they bind to, or by the agent that exports them.
    Error "missing-service" missing_service(span: Span, what: &str) {
        at(span, format!("this file declares {what}, but no service that they belong to"))
            .help("add `service: name` at the top of the file")
    }

    /// A toolset without an owner.
    ///
    /// The owner is the service of its file; failing that, the service whose methods its tools bind to; failing that, the
    /// service of the agent that exports it. Who uses a toolset never makes them its owner.
    Error "no-owner" no_owner(name: &Spanned<String>) {
        at(name.span, format!("the toolset `{}` has no owner: nothing names its service", name.value)).help(
            "add `service: name` to this file, bind its tools to methods of one service, or let an agent export it",
        )
    }

    /// A toolset that several services may own.
    ///
    /// Its tools bind to methods of several services, or agents of several services export it, and its file names none.
    Error "ambiguous-owner" ambiguous_owner(name: &Spanned<String>, candidates: &[(String, Span)]) {
        let words: Vec<&str> = candidates.iter().map(|(word, _)| word.as_str()).collect();
        let finding = at(name.span, format!("the toolset `{}` may belong to {}", name.value, words.join(" or ")));
        candidates
            .iter()
            .fold(finding, |finding, (word, span)| finding.also(*span, format!("{word} because of this")))
            .help("add `service: name` to this file; all its tools then bind to that service")
    }

    /// A tool that binds to a method of a service which does not own its toolset.
    ///
    /// One service answers all method-backed tools of a toolset: its trait is what the toolset's executor wraps.
    Error "foreign-binding" foreign_binding(bind: &Spanned<String>, owner: &Spanned<String>) {
        at(bind.span, format!("`{}` is not a method of `{}`, which owns this toolset", bind.value, owner.value))
            .also(owner.span, "the owner is named here")
            .help("the tools of one toolset bind to methods of its owner")
    }

    /// `remote` in a toolset that stands for no MCP server.
    ///
    /// It is the name of a tool on a remote server, where that is no name here.
    Error "remote-without-mcp" remote_without_mcp(span: Span) {
        at(span, "`remote` in a toolset that stands for no MCP server")
            .help("add `mcp: { server: name }` to the toolset, or remove `remote`")
    }

    /// `bind` in a toolset that stands for a remote MCP server.
    ///
    /// Its tools are run by that server, so no method of a service is called.
    Error "bind-in-mcp" bind_in_mcp(span: Span) {
        at(span, "`bind` in a toolset that stands for an MCP server")
            .help("tools of a remote server are not methods; put this one into another toolset")
    }

    /// `inject` on a tool that is bound to no method.
    ///
    /// What is injected is a field of a method's payload that the model does not see.
    Error "inject-without-bind" inject_without_bind(span: Span) {
        at(span, "`inject` without `bind`").help("only the payload of a bound method has fields to fill in")
    }

    /// An injected field that is not a string.
    ///
    /// Ids and labels of a call are strings.
    Error "inject-not-a-string" inject_not_a_string(name: &Spanned<String>, method: &str, declared: Span) {
        at(name.span, format!("`{}` of the payload of `{method}` is not a string", name.value))
            .also(declared, "declared here")
    }

    /// An injected field that the payload does not require.
    ///
    /// A call without the id or label would be run without the field, and nobody would notice. Require what is
    /// injected, if the method cannot do without it.
    Warning "inject-optional" inject_optional(name: &Spanned<String>, method: &str, declared: Span) {
        at(name.span, format!("the payload of `{method}` does not require `{}`, so a call may lack it", name.value))
            .also(declared, "declared here")
            .help("add it to `required` of the payload")
    }

    /// A field that is injected and stands in `args` too.
    ///
    /// The model would fill in a value that is then replaced.
    Error "injected-and-declared" injected_and_declared(name: &Spanned<String>, declared: Span) {
        at(name.span, format!("`{}` is injected, so it cannot be in `args` too", name.value))
            .also(declared, "in `args` here")
            .help("remove it from one of the two; left out, `args` follow from the payload")
    }

    /// `args` that are left out, beside a payload that they cannot be derived from.
    ///
    /// They are the payload less what is injected. Keywords such as `if` or `minProperties` may be about what is
    /// injected, and nobody can say what they mean without it.
    Error "args-not-derivable" args_not_derivable(tool: Span, keyword: &str, payload: Span) {
        at(tool, format!(
            "`args` cannot be left out: the payload has `{keyword}`, which may be about injected properties"
        ))
        .also(payload, "the payload")
        .help("write `args`")
    }

    /// A property that the method's payload requires, and that neither `args` nor `inject` fills in.
    ///
    /// No call could ever reach the method.
    Error "payload-not-filled" payload_not_filled(span: Span, field: &str, declared: Span) {
        at(span, format!("the payload requires `{field}`, but nothing fills it in"))
            .also(declared, "declared here")
            .help(format!("make `{field}` a required property of `args`, or inject it"))
    }

    /// A property of `args` that the method's payload does not allow.
    ///
    /// The payload is closed (`additionalProperties: false`), so a call that uses the property could never reach the
    /// method.
    Error "not-in-payload" not_in_payload(span: Span, field: &str) {
        at(span, format!("the method's payload has no `{field}`"))
            .help("remove it from `args`, or add it to the payload")
    }

    /// A property of `args` of another kind than the method's payload takes.
    ///
    /// Declared `args` are handed to the method as they are. Kinds of values, and values of enumerations, are compared
    /// field by field; limits such as `maxLength` are not, since `args` may well be stricter or looser there.
    Error "args-do-not-fit" args_do_not_fit(span: Span, field: &str, words: &str, declared: Span) {
        at(span, format!("the method cannot take {field}: {words}")).also(declared, "the payload says this")
    }

    /// A declared result that what the method gives does not fit.
    ///
    /// What a method gives is handed to the model under the tool's result schema. A field of another kind, a required one
    /// that is missing, or one that is not allowed would make every call fail after it has done its work.
    Error "result-does-not-fit" result_does_not_fit(span: Span, field: &str, words: &str, declared: Span) {
        at(span, format!("what the method gives does not fit {field}: {words}")).also(declared, "the method gives this")
    }
}

/// How much of the way to a field is shown: its end.
const SHOWN: usize = 80;

/// The whole of a value, or a field of it, as part of a sentence.
pub(crate) fn field_words(pointer: &str, whole: &str) -> String {
    if pointer.is_empty() {
        return whole.to_owned();
    }
    let start = pointer.ceil_char_boundary(pointer.len().saturating_sub(SHOWN));
    let dots = if start > 0 { "…" } else { "" };
    format!("`{dots}{}`", &pointer[start..])
}
