//! The interface of a schema file: the names that it declares and uses, without other texts and the details of schemas. If
//! a file changes but its interface does not, no other file has to be checked again.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::Xxh3Default;

use crate::source::Spanned;
use crate::syntax::{Document, Entries, Method, SchemaText, ToolDetails, Toolset};
use crate::yaml::{Node, Value};

/// The kind of a name that one file declares and another uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A service to whose crate the file contributes.
    Service,
    /// A toolset, including the one for methods that are tools.
    Toolset,
    /// The name or an alias of a tool.
    Tool,
    /// An agent or an MCP server, as `service/name`.
    Consumer,
    /// A toolset that an agent in the file implements.
    Export,
}

/// A name and its kind.
pub(super) type Name = (Kind, String);

/// The names that a file declares and uses.
#[derive(Default)]
pub(crate) struct Interface {
    /// Set if the file names its service. Otherwise all other files decide which service owns its declarations.
    pub(super) has_service: bool,
    /// The names that the file declares.
    pub(super) declares: BTreeSet<Name>,
    /// The names that the file uses: the files that declare them are needed to compile it.
    pub(super) needs: BTreeSet<Name>,
    /// The hash of all names with their roles, in the order of the file.
    hasher: Xxh3Default,
}

impl Interface {
    pub(crate) fn of(document: &Document) -> Self {
        let mut interface = Self::default();
        let service = document.service.as_ref().map(|service| service.name.value.as_str());
        if let Some(declared) = &document.service {
            interface.service(document, &declared.name.value, declared.description.is_some());
        }
        for (name, schema) in each(document.types.as_ref()) {
            interface.hash("type", &name.value);
            interface.schema(&schema.0, false);
        }
        for (name, method) in each(document.methods.as_ref()) {
            interface.method(&name.value, method, service);
        }
        for (name, toolset) in each(document.toolsets.as_ref()) {
            interface.toolset(&name.value, toolset);
        }
        interface.consumers(document, service.unwrap_or_default());
        interface
    }

    /// Returns the hash of all names with their roles.
    pub(super) fn digest(&self) -> u128 {
        self.hasher.digest128()
    }

    /// Adds a name with its role to the hash, each with its length, so that different lists never hash the same bytes.
    fn hash(&mut self, role: &str, word: &str) {
        for part in [role, word] {
            self.hasher.update(&(part.len() as u64).to_le_bytes());
            self.hasher.update(part.as_bytes());
        }
    }

    fn declare(&mut self, kind: Kind, name: &str) {
        self.declares.insert((kind, name.to_owned()));
    }

    fn need(&mut self, kind: Kind, name: &str) {
        self.needs.insert((kind, name.to_owned()));
    }

    fn service(&mut self, document: &Document, name: &str, is_described: bool) {
        self.has_service = true;
        self.hash("service", name);
        self.hash("described", if is_described { "yes" } else { "no" });
        self.need(Kind::Service, name);
        let adds_to_crate = is_described
            || document.types.as_ref().is_some_and(|types| !types.is_empty())
            || document.methods.as_ref().is_some_and(|methods| !methods.is_empty());
        if adds_to_crate {
            self.declare(Kind::Service, name);
        }
    }

    fn method(&mut self, name: &str, method: &Method, service: Option<&str>) {
        self.hash("method", name);
        for schema in method.payload.iter().chain(&method.result) {
            self.schema(&schema.0, true);
        }
        for (name, error) in each(method.errors.as_ref()) {
            self.hash("error", &name.value);
            if let Some(schema) = &error.payload {
                self.schema(&schema.0, true);
            }
        }
        if let Some(tool) = &method.tool {
            if let Some(service) = service {
                self.declare_toolset(service);
            }
            self.tool(name, &tool.details);
        }
    }

    fn toolset(&mut self, name: &str, toolset: &Toolset) {
        self.hash("toolset", name);
        self.declare_toolset(name);
        self.hash("mcp", toolset.mcp.as_ref().map_or("", |mcp| &mcp.server.value));
        for (name, tool) in toolset.tools.0.iter() {
            self.tool(&name.value, &tool.details);
            for SchemaText(schema) in tool.args.iter().chain(&tool.result) {
                self.schema(schema, true);
            }
            if let Some(bind) = &tool.bind {
                self.hash("bind", &bind.value);
                self.qualified(&bind.value);
            }
        }
    }

    /// Declares a toolset. Its crate names the agents that implement it, so it needs the files that declare them.
    fn declare_toolset(&mut self, name: &str) {
        self.declare(Kind::Toolset, name);
        self.need(Kind::Export, name);
    }

    fn tool(&mut self, name: &str, details: &ToolDetails) {
        let aliases = details.aliases.iter().flatten().map(|alias| alias.value.as_str());
        for name in std::iter::once(name).chain(aliases) {
            self.hash("tool", name);
            self.declare(Kind::Tool, name);
        }
        if let Some(replacement) =
            details.deprecated.as_ref().and_then(|deprecated| deprecated.r#use.as_ref())
        {
            self.hash("replacement", &replacement.value);
            self.need(Kind::Tool, &replacement.value);
        }
    }

    fn consumers(&mut self, document: &Document, service: &str) {
        for (name, agent) in each(document.agents.as_ref()) {
            self.hash("agent", &name.value);
            self.declare(Kind::Consumer, &format!("{service}/{}", name.value));
            for toolset in agent.toolsets.iter().flatten() {
                self.hash("uses toolset", &toolset.value);
                self.need(Kind::Toolset, &toolset.value);
            }
            for tool in agent.tools.iter().flatten() {
                self.hash("uses tool", &tool.value);
                self.need(Kind::Tool, &tool.value);
            }
            for toolset in agent.exports.iter().flatten() {
                self.hash("exports", &toolset.value);
                self.declare(Kind::Export, &toolset.value);
                self.need(Kind::Toolset, &toolset.value);
            }
        }
        for (name, server) in each(document.mcp_servers.as_ref()) {
            self.hash("server", &name.value);
            self.declare(Kind::Consumer, &format!("{service}/{}", name.value));
            for toolset in &server.toolsets.0 {
                self.hash("exposes", &toolset.value);
                self.need(Kind::Toolset, &toolset.value);
            }
        }
    }

    /// Adds the references of a schema. `may_be_name` is set where a string is the name of a type and not a value.
    fn schema(&mut self, node: &Node, may_be_name: bool) {
        match &node.value {
            Value::String(name) if may_be_name => {
                self.hash("refers to", name);
                if !name.starts_with('#') {
                    self.qualified(name);
                }
            }
            Value::Sequence(items) => items.iter().for_each(|item| self.schema(item, false)),
            Value::Mapping(entries) => {
                for entry in entries.iter() {
                    self.schema(&entry.value, entry.key.value == "$ref");
                }
            }
            _ => {}
        }
    }

    /// Adds the service of a qualified name, `service.name`.
    fn qualified(&mut self, name: &str) {
        if let Some((service, _)) = name.split_once('.') {
            self.need(Kind::Service, service);
        }
    }
}

fn each<T>(entries: Option<&Entries<T>>) -> impl Iterator<Item = (&Spanned<String>, &T)> {
    entries.into_iter().flat_map(Entries::iter)
}
