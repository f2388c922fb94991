//! Mistakes in agents, MCP servers and deprecations.

use super::{among, at, mistakes, number, repeated};
use crate::source::{Span, Spanned};

mistakes! {
    /// An agent, an MCP server or a deprecation names a tool by an alias.
    ///
    /// Aliases are earlier names, for models that still call the tool by them. Schemas use the current name.
    Error "alias-used" alias_used(name: &Spanned<String>, declared: Span) {
        at(name.span, format!("`{}` is an earlier name of a tool", name.value))
            .also(declared, "of the tool declared here")
            .help("use the tool's name")
    }

    /// Several agents export one toolset.
    ///
    /// The agent that exports a toolset implements it. Other agents can use it.
    Error "exported-twice" exported_twice(toolset: &str, places: Vec<Span>) {
        let count = number(places.len());
        among(repeated(places), format!("{count} agents export the toolset `{toolset}`"))
            .help("one agent implements a toolset; others can use it")
    }

    /// An agent exports the toolset of a remote MCP server.
    ///
    /// The server runs its tools, so no agent implements them.
    Error "remote-export" remote_export(span: Span, toolset: &Spanned<String>) {
        let name = &toolset.value;
        at(span, format!("`{name}` is the toolset of a remote MCP server, so no agent implements it"))
            .also(toolset.span, "declared here")
            .help("let the agent use it: name it under `toolsets`")
    }

    /// A tool has a name that its MCP server uses itself.
    ///
    /// A server with `disclosure: search` lists `search_tools` and `call_tool` in place of its tools, so no tool has these names.
    Error "search-name" search_name(name: &Spanned<String>, server: &Spanned<String>) {
        let (tool, by) = (&name.value, &server.value);
        at(name.span, format!("the MCP server `{by}` lists a tool `{tool}` of its own"))
            .also(server.span, "`disclosure: search` here")
            .help("rename the tool, or list all tools")
    }

    /// A deprecated tool names itself as its successor.
    ///
    /// `deprecated.use` names the tool to call instead.
    Error "replaces-itself" replaces_itself(name: &Spanned<String>) {
        at(name.span, format!("`{}` cannot replace itself", name.value))
            .help("name another tool, or leave `use` out")
    }

    /// The successor of a deprecated tool is deprecated, too.
    ///
    /// Models and people follow one step. Name the tool at the end of the chain.
    Error "successor-deprecated" successor_deprecated(name: &Spanned<String>, declared: Span) {
        at(name.span, format!("`{}` is deprecated itself, so it cannot be the successor", name.value))
            .also(declared, "deprecated here")
            .help("name a tool that is not deprecated")
    }

    /// A deprecated tool has no successor.
    ///
    /// Callers learn that the tool will be removed, but not what to use instead.
    Warning "no-successor" no_successor(span: Span, tool: &str) {
        at(span, format!("`{tool}` is deprecated, and nothing says what to use instead"))
            .help("add `use: other_tool`")
    }
}
