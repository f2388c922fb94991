//! Mistakes in toolsets, in their owners, and in tools that call methods.

use super::{at, mistakes};
use crate::source::{Span, Spanned};

mistakes! {
    /// A file declares something that belongs to a service, but names no service.
    ///
    /// Types, methods, agents and MCP servers belong to the service of their file. The owner of a toolset may also follow
    /// from the methods that its tools bind to, or from the agent that exports it.
    Error "missing-service" missing_service(span: Span, what: &str) {
        at(span, format!("this file declares {what}, but names no service that they belong to"))
            .help("add `service: name` at the top of the file")
    }

    /// A toolset has no owner.
    ///
    /// The owner is the service of its file; otherwise the service whose methods its tools bind to; otherwise the service of
    /// the agent that exports it. Using a toolset does not make a service its owner.
    Error "no-owner" no_owner(name: &Spanned<String>) {
        at(name.span, format!("the toolset `{}` has no owner: nothing names its service", name.value)).help(
            "add `service: name` to this file, bind its tools to methods of one service, or let an agent export it",
        )
    }

    /// Several services could own a toolset.
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

    /// A tool binds to a method of a service that does not own its toolset.
    ///
    /// All tools of a toolset that bind to methods call the same service: the toolset's executor wraps the trait of that
    /// service.
    Error "foreign-binding" foreign_binding(bind: &Spanned<String>, owner: &Spanned<String>) {
        at(bind.span, format!("`{}` is not a method of `{}`, which owns this toolset", bind.value, owner.value))
            .also(owner.span, "the owner is named here")
            .help("the tools of one toolset bind to methods of its owner")
    }

    /// A tool has `remote`, but its toolset has no `mcp`.
    ///
    /// `remote` is the name of a tool on a remote MCP server, if that name is not allowed here.
    Error "remote-without-mcp" remote_without_mcp(span: Span) {
        at(span, "this tool has `remote`, but its toolset has no `mcp`")
            .help("add `mcp: { server: name }` to the toolset, or remove `remote`")
    }

    /// A tool has `bind`, but its toolset has `mcp`.
    ///
    /// The remote MCP server runs the tools of such a toolset, so no method of a service is called.
    Error "bind-in-mcp" bind_in_mcp(span: Span) {
        at(span, "this tool has `bind`, but its toolset has `mcp`")
            .help("tools of a remote server are not methods; put this one into another toolset")
    }

    /// A tool has `inject`, but binds to no method.
    ///
    /// Injected fields are fields of a method's payload that the model does not see.
    Error "inject-without-bind" inject_without_bind(span: Span) {
        at(span, "this tool has `inject`, but no `bind`").help("only the payload of a bound method has fields to fill in")
    }

    /// An injected field is not a string.
    ///
    /// Ids and labels of a call are strings.
    Error "inject-not-a-string" inject_not_a_string(name: &Spanned<String>, method: &str, declared: Span) {
        at(name.span, format!("`{}` of the payload of `{method}` is not a string", name.value))
            .also(declared, "declared here")
    }

    /// An injected field is optional in the payload.
    ///
    /// A call without the id or label would silently be run without the field. If the method needs the field, make it
    /// required.
    Warning "inject-optional" inject_optional(name: &Spanned<String>, method: &str, declared: Span) {
        at(name.span, format!("the payload of `{method}` does not require `{}`, so a call may lack it", name.value))
            .also(declared, "declared here")
            .help("add it to `required` of the payload")
    }

    /// A field is injected and is also in `args`.
    ///
    /// The model would fill in a value that is then replaced.
    Error "injected-and-declared" injected_and_declared(name: &Spanned<String>, declared: Span) {
        at(name.span, format!("`{}` is injected, so it cannot be in `args`, too", name.value))
            .also(declared, "in `args` here")
            .help("remove it from one of the two, or leave out `args`, which then follow from the payload")
    }

    /// A tool has no `args`, and they cannot be derived from the payload.
    ///
    /// Derived `args` are the payload without the injected properties. Keywords such as `if` or `minProperties` may be about
    /// these properties, and have no clear meaning without them.
    Error "args-not-derivable" args_not_derivable(tool: Span, keyword: &str, payload: Span) {
        at(tool, format!(
            "`args` cannot be left out: the payload has `{keyword}`, which may be about injected properties"
        ))
        .also(payload, "the payload")
        .help("write `args`")
    }

    /// A property that the method's payload requires is neither in `args` nor injected.
    ///
    /// No call could reach the method.
    Error "payload-not-filled" payload_not_filled(span: Span, field: &str, declared: Span) {
        at(span, format!("the payload requires `{field}`, but nothing fills it in"))
            .also(declared, "declared here")
            .help(format!("make `{field}` a required property of `args`, or inject it"))
    }

    /// A property of `args` is not allowed in the method's payload.
    ///
    /// The payload is closed (`additionalProperties: false`), so a call with the property could not reach the method.
    Error "not-in-payload" not_in_payload(span: Span, field: &str) {
        at(span, format!("the method's payload has no `{field}`"))
            .help("remove it from `args`, or add it to the payload")
    }

    /// A property of `args` does not match the method's payload.
    ///
    /// Declared `args` are passed to the method unchanged. Kinds of values, and values of enumerations, are compared field by
    /// field. Limits such as `maxLength` are not compared: `args` may have stricter or looser ones.
    Error "args-do-not-fit" args_do_not_fit(span: Span, field: &str, words: &str, declared: Span) {
        at(span, format!("the method cannot take {field}: {words}")).also(declared, "the payload says this")
    }

    /// The method's result does not match the tool's declared result.
    ///
    /// The method's result is returned to the model under the tool's result schema. If a field had another kind, or a required
    /// field were missing, or one were not allowed, every call would fail after it has done its work.
    Error "result-does-not-fit" result_does_not_fit(span: Span, field: &str, words: &str, declared: Span) {
        at(span, format!("the result of the method does not fit {field}: {words}")).also(declared, "the method returns this")
    }
}

/// The most bytes of a field's pointer that are shown, from its end.
const MAX_POINTER: usize = 80;

/// Returns the name of a field for a message; `whole` if the pointer is that of the whole value.
pub(crate) fn field_words(pointer: &str, whole: &str) -> String {
    if pointer.is_empty() {
        return whole.to_owned();
    }
    let start = pointer.ceil_char_boundary(pointer.len().saturating_sub(MAX_POINTER));
    let dots = if start > 0 { "…" } else { "" };
    format!("`{dots}{}`", &pointer[start..])
}
