//! Mistakes with names: outside their grammar, given twice, or known to nobody. Never about names in Rust.

use super::{Diagnostic, among, at, given, mistakes, nowhere, number};
use crate::prose::advice;
use crate::source::{Span, Spanned};

mistakes! {
    /// A name outside the grammar of names.
    ///
    /// Services, methods, errors, toolsets, tools, agents and MCP servers are named by lower-case words of letters
    /// and digits with single underscores between them, at most 64 bytes: what MCP, every model provider and Rust
    /// accept alike. Types are named like `TodoItem`. A remote tool keeps its own name with `remote: some-name`.
    Error "bad-name" bad_name(name: &Spanned<String>, what: &str) {
        at(name.span, format!("`{}` is not a name for {what}", name.value))
            .help("lower-case letters, digits and single underscores, at most 64: `get_todos`")
    }

    /// Several types of one service have one name.
    ///
    /// All files of a service share its types; types of two services may have one name.
    Error "duplicate-type" duplicate_type(name: &str, places: Vec<Span>) {
        equal_names("types of one service", name, given(places))
    }

    /// Several methods of one service have one name.
    ///
    /// They would be one function of the service's trait.
    Error "duplicate-method" duplicate_method(name: &str, places: Vec<Span>) {
        equal_names("methods of one service", name, given(places))
    }

    /// Several toolsets have one name.
    ///
    /// Names of toolsets are unique in the whole project, whoever owns them: a consumer names a toolset and nothing
    /// else. A method with `tool` puts it into a toolset that is named after the service.
    Error "duplicate-toolset" duplicate_toolset(name: &str, places: Vec<Span>) {
        equal_names("toolsets", name, given(places))
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
        equal_names("agents of one service", name, given(places))
    }

    /// Several MCP servers of one service have one name.
    ///
    /// They would be one crate.
    Error "duplicate-mcp-server" duplicate_mcp_server(name: &str, places: Vec<Span>) {
        equal_names("MCP servers of one service", name, given(places))
    }

    /// One service is described in different words.
    ///
    /// Several files may belong to a service, and only one description goes into its docs.
    Error "two-descriptions" two_descriptions(service: &str, places: Vec<Span>) {
        let count = number(places.len());
        among(given(places), format!("{count} descriptions of the service `{service}`"))
            .help("describe it in one file; `service: name` is enough in the others")
    }

    /// A type or service that a schema or `toolwright.toml` names does not exist.
    ///
    /// `TodoItem` is a type of the service of this file, `todos.TodoItem` one of another service; `#/$defs/X` stands in
    /// the same schema. `toolwright.toml` names types with their service.
    Error "unknown-type" unknown_type(span: Option<Span>, words: String, advice: String) {
        Diagnostic { span, ..nowhere(words) }.help(advice)
    }

    /// `toolwright.toml` lets a type derive something that is another name of a type.
    ///
    /// A named type that is nothing but a `$ref` becomes an alias in Rust, which derives nothing: the type that it refers to
    /// does.
    Error "derive-on-alias" derive_on_alias(span: Option<Span>, name: &str) {
        let words = format!("`{name}` is another name of a type, so it derives nothing");
        Diagnostic { span, ..nowhere(words) }.help("name the type that it refers to")
    }

    /// A type of the user replaces a named type that has to be generated.
    ///
    /// `type` under `[rust.types."service.Type"]` in `toolwright.toml` names a Rust type that is made of what a value is in JSON:
    /// a string, a date, a number, a boolean, any value, or a list or map of these. Objects, enums and choices become types of
    /// generated crates, which the crate of that type cannot know; nor can `null` and constants be of use to it. Generated
    /// crates read and write what a method or a tool takes, returns or fails with as a whole, so there such a type is a property.
    Error "unfit-domain-type" unfit_domain_type(span: Option<Span>, words: String, advice: &str) {
        Diagnostic { span, ..nowhere(words) }.help(advice)
    }

    /// A method that a tool binds to does not exist.
    ///
    /// `bind` names a method of the toolset's owner, or a method of a service as `service.method`.
    Error "unknown-method" unknown_method(name: &Spanned<String>, known: &[&str]) {
        unknown("method", name, known)
    }

    /// A toolset that an agent or an MCP server names does not exist.
    ///
    /// Consumers name toolsets by their global name. A service whose methods have `tool` has a toolset of its own name.
    Error "unknown-toolset" unknown_toolset(name: &Spanned<String>, known: &[&str]) {
        unknown("toolset", name, known)
    }

    /// A tool that an agent, or a deprecation, names does not exist.
    ///
    /// Tools have global names, without the name of their toolset.
    Error "unknown-tool" unknown_tool(name: &Spanned<String>, known: &[&str]) {
        unknown("tool", name, known)
    }

    /// A field to be injected is no property of the method's payload.
    ///
    /// `inject` fills in properties of the payload of the bound method.
    Error "unknown-property" unknown_property(name: &Spanned<String>, known: &[&str]) {
        unknown("property of the payload", name, known)
    }

    /// A word for where an injected value comes from that does not exist.
    ///
    /// A call knows its `run_id`, `session_id`, `turn_id`, `call_id`, `parent_call_id`, and labels by `label:KEY`.
    Error "unknown-source" unknown_source(name: &Spanned<String>, known: &[&str]) {
        unknown("source", name, known)
    }
}

/// A type's name outside its grammar.
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
