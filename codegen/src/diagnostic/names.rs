//! Mistakes in names: malformed, duplicate or unknown ones.

use super::{Diagnostic, among, at, mistakes, nowhere, number, repeated};
use crate::prose::advice;
use crate::source::{Span, Spanned};

mistakes! {
    /// A name has the wrong form.
    ///
    /// Names of services, methods, errors, toolsets, tools, agents and MCP servers consist of lower-case letters and digits
    /// with single underscores between them, at most 64 bytes: MCP, every model provider and Rust accept such names. Types
    /// are named like `TodoItem`. A remote tool keeps its own name with `remote: some-name`.
    Error "bad-name" bad_name(name: &Spanned<String>, what: &str) {
        at(name.span, format!("`{}` is not a name for {what}", name.value))
            .help("lower-case letters, digits and single underscores, at most 64: `get_todos`")
    }

    /// Several types of one service have one name.
    ///
    /// All files of a service share its types; types of different services may have the same name.
    Error "duplicate-type" duplicate_type(name: &str, places: Vec<Span>) {
        equal_names("types of one service", name, repeated(places))
    }

    /// Several methods of one service have one name.
    ///
    /// They would be one function of the service's trait.
    Error "duplicate-method" duplicate_method(name: &str, places: Vec<Span>) {
        equal_names("methods of one service", name, repeated(places))
    }

    /// Several toolsets have one name.
    ///
    /// Names of toolsets are unique in the whole project: agents and MCP servers name a toolset without its service. A
    /// method with `tool` is in a toolset that has the name of the service.
    Error "duplicate-toolset" duplicate_toolset(name: &str, places: Vec<Span>) {
        equal_names("toolsets", name, repeated(places))
    }

    /// Several tools have one name.
    ///
    /// Names of tools, and the earlier names under `aliases`, are unique in the whole project: a model sees the tools of
    /// several toolsets side by side, and a call is routed by its name alone.
    Error "duplicate-tool" duplicate_tool(name: &str, places: Vec<(Span, bool)>) {
        let label = |(span, is_alias)| (span, if is_alias { "an alias" } else { "a tool" }.to_owned());
        equal_names("tools", name, places.into_iter().map(label).collect())
    }

    /// Several agents of one service have one name.
    ///
    /// They would be one crate.
    Error "duplicate-agent" duplicate_agent(name: &str, places: Vec<Span>) {
        equal_names("agents of one service", name, repeated(places))
    }

    /// Several MCP servers of one service have one name.
    ///
    /// They would be one crate.
    Error "duplicate-mcp-server" duplicate_mcp_server(name: &str, places: Vec<Span>) {
        equal_names("MCP servers of one service", name, repeated(places))
    }

    /// A service has different descriptions.
    ///
    /// Several files may belong to a service, but its docs have one description.
    Error "two-descriptions" two_descriptions(service: &str, places: Vec<Span>) {
        let count = number(places.len());
        among(repeated(places), format!("{count} descriptions of the service `{service}`"))
            .help("describe it in one file; `service: name` is enough in the others")
    }

    /// A type or service that a schema or `toolwright.toml` names does not exist.
    ///
    /// `TodoItem` is a type of the service of this file, `todos.TodoItem` one of another service; `#/$defs/X` is
    /// in the same schema. `toolwright.toml` names types with their service.
    Error "unknown-type" unknown_type(span: Option<Span>, message: String, advice: String) {
        Diagnostic { span, ..nowhere(message) }.help(advice)
    }

    /// `toolwright.toml` has derives for a type that is an alias of another type.
    ///
    /// A named type that only consists of a `$ref` becomes an alias in Rust, and an alias derives nothing. The type that it
    /// refers to can have derives.
    Error "derive-on-alias" derive_on_alias(span: Option<Span>, name: &str) {
        let message = format!("`{name}` is an alias of another type, so it derives nothing");
        Diagnostic { span, ..nowhere(message) }.help("name the type that it refers to")
    }

    /// A user's type replaces a named type that has to be generated.
    ///
    /// `type` under `[rust.types."service.Type"]` in `toolwright.toml` names a Rust type that is converted from a string, a date,
    /// a number, a boolean, any value, or a list or map of these. Objects, enums and choices become types of generated crates, on
    /// which the crate of that type cannot depend; `null` and constants hold nothing to convert. A method or a tool cannot take,
    /// return or fail with such a type as a whole, only with an object that has it as a property.
    Error "unfit-domain-type" unfit_domain_type(span: Option<Span>, message: String, advice: &str) {
        Diagnostic { span, ..nowhere(message) }.help(advice)
    }

    /// A method that a tool binds to does not exist.
    ///
    /// `bind` names a method of the toolset's owner, or a method of a service as `service.method`.
    Error "unknown-method" unknown_method(name: &Spanned<String>, known: &[&str]) {
        unknown("method", name, known)
    }

    /// A toolset that an agent or an MCP server names does not exist.
    ///
    /// Toolsets are named without their service. A service whose methods have `tool` has a toolset of its own name.
    Error "unknown-toolset" unknown_toolset(name: &Spanned<String>, known: &[&str]) {
        unknown("toolset", name, known)
    }

    /// A tool that an agent or a deprecation names does not exist.
    ///
    /// Tools are named without their toolset.
    Error "unknown-tool" unknown_tool(name: &Spanned<String>, known: &[&str]) {
        unknown("tool", name, known)
    }

    /// An injected field is not a property of the method's payload.
    ///
    /// `inject` fills in properties of the payload of the bound method.
    Error "unknown-property" unknown_property(name: &Spanned<String>, known: &[&str]) {
        unknown("property of the payload", name, known)
    }

    /// The source of an injected value is unknown.
    ///
    /// A call has a `run_id`, `session_id`, `turn_id`, `call_id` and `parent_call_id`, and labels, as in `label:KEY`.
    Error "unknown-source" unknown_source(name: &Spanned<String>, known: &[&str]) {
        unknown("source", name, known)
    }
}

/// Reports a malformed name of a type.
pub(crate) fn bad_type_name(name: &Spanned<String>) -> Diagnostic {
    bad_name(name, "a type").help("a capital letter, then letters and digits: `TodoItem`")
}

fn equal_names(what: &str, name: &str, places: Vec<(Span, String)>) -> Diagnostic {
    let count = number(places.len());
    let rest = if places.len() == 2 { "one" } else { "all but one" };
    among(places, format!("{count} {what} are named `{name}`"))
        .help(format!("rename {rest} of them"))
}

fn unknown(what: &str, name: &Spanned<String>, known: &[&str]) -> Diagnostic {
    at(name.span, format!("no {what} is named `{}`", name.value)).help(advice(
        &name.value,
        known.iter().copied(),
        "known here",
    ))
}
