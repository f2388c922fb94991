//! Mistakes in agents and MCP servers, and in what is said of tools that go away. Never about how a tool is made.

use super::{among, at, given, mistakes, number};
use crate::source::{Span, Spanned};

mistakes! {
    /// A consumer, or a deprecation, names a tool by an earlier name.
    ///
    /// Aliases are for calls of models that still use the old name. What is written down uses the new one.
    Error "alias-used" alias_used(name: &Spanned<String>, declared: Span) {
        at(name.span, format!("`{}` is an earlier name of a tool", name.value))
            .also(declared, "of the tool declared here")
            .help("use the tool's name")
    }

    /// Several agents export one toolset.
    ///
    /// The agent that exports a toolset is the one that implements it. Others can use it.
    Error "exported-twice" exported_twice(toolset: &str, places: Vec<Span>) {
        let count = number(places.len());
        among(given(places), format!("{count} agents export the toolset `{toolset}`"))
            .help("one agent implements a toolset; others can use it")
    }

    /// An agent exports a toolset that stands for a remote MCP server.
    ///
    /// The server runs its tools, so no agent implements them.
    Error "remote-export" remote_export(span: Span, toolset: &Spanned<String>) {
        let name = &toolset.value;
        at(span, format!("`{name}` stands for a remote MCP server, so no agent implements it"))
            .also(toolset.span, "declared here")
            .help("let the agent use it: name it under `toolsets`")
    }

    /// A tool that is to be replaced by itself.
    ///
    /// `deprecated.use` names the tool to call instead.
    Error "replaces-itself" replaces_itself(name: &Spanned<String>) {
        at(name.span, format!("`{}` cannot replace itself", name.value))
            .help("name another tool, or leave `use` out")
    }

    /// A deprecated tool whose successor is deprecated too.
    ///
    /// Models and people follow one step. Name the tool at the end of the chain.
    Error "successor-deprecated" successor_deprecated(name: &Spanned<String>, declared: Span) {
        at(name.span, format!("`{}` is deprecated itself, so it cannot be the successor", name.value))
            .also(declared, "deprecated here")
            .help("name a tool that is there to stay")
    }

    /// A deprecated tool without a successor.
    ///
    /// Whoever calls it learns that it goes away, and not what to do instead.
    Warning "no-successor" no_successor(span: Span, tool: &str) {
        at(span, format!("`{tool}` is deprecated, and nothing says what to use instead"))
            .help("add `use: other_tool`")
    }
}
