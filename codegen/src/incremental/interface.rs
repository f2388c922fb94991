//! What one schema file is to the others: the names it declares and those it uses. Never what its schemas and texts say:
//! as long as its interface stays as it is, a file can change without any other being read again.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::Xxh3Default;

use crate::source::Spanned;
use crate::syntax::{Document, Entries, Method, SchemaText, ToolDetails, Toolset};
use crate::yaml::{Node, Value};

/// The names a file declares and uses.
#[derive(Debug, Default)]
pub(crate) struct Interface {
    /// Whose file it is; nobody's means that owners depend on files it does not name.
    pub(super) service: Option<String>,
    /// Whether it adds to the crate of its service.
    pub(super) is_provider: bool,
    /// The toolsets it declares, the one that methods join included.
    pub(super) toolsets: BTreeSet<String>,
    /// The tools it declares, earlier names included.
    pub(super) tools: BTreeSet<String>,
    /// The agents and MCP servers it declares.
    pub(super) consumers: BTreeSet<String>,
    /// The toolsets that agents of it implement.
    pub(super) exports: BTreeSet<String>,
    /// The services it names a type or a method of.
    pub(super) uses_services: BTreeSet<String>,
    /// The toolsets it names.
    pub(super) uses_toolsets: BTreeSet<String>,
    /// The tools it names.
    pub(super) uses_tools: BTreeSet<String>,
    /// The names in the order and the places they stand in.
    said: Said,
}

/// Takes in words so that two files with other words, or the same ones elsewhere, differ.
#[derive(Default)]
struct Said(Xxh3Default);

impl Said {
    fn say(&mut self, what: &str, word: &str) {
        for part in [what, word] {
            self.0.update(&(part.len() as u64).to_le_bytes());
            self.0.update(part.as_bytes());
        }
    }
}

impl std::fmt::Debug for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0.digest128())
    }
}

impl Interface {
    pub(super) fn of(document: &Document) -> Self {
        let mut interface = Self::default();
        interface.service(document);
        for (name, schema) in each(document.types.as_ref()) {
            interface.said.say("type", &name.value);
            interface.schema(&schema.0, false);
        }
        for (name, method) in each(document.methods.as_ref()) {
            interface.method(&name.value, method);
        }
        for (name, toolset) in each(document.toolsets.as_ref()) {
            interface.toolset(&name.value, toolset);
        }
        interface.consumers(document);
        interface
    }

    /// A number that changes with it.
    pub(super) fn digest(&self) -> String {
        format!("{:032x}", self.said.0.digest128())
    }

    fn service(&mut self, document: &Document) {
        let Some(service) = &document.service else { return };
        self.service = Some(service.name.value.clone());
        self.is_provider = service.description.is_some()
            || document.types.as_ref().is_some_and(|types| !types.is_empty())
            || document.methods.as_ref().is_some_and(|methods| !methods.is_empty());
        self.said.say("service", &service.name.value);
        self.said.say("described", if service.description.is_some() { "yes" } else { "no" });
    }

    fn method(&mut self, name: &str, method: &Method) {
        self.said.say("method", name);
        for schema in method.payload.iter().chain(&method.result) {
            self.named_or_inline(schema);
        }
        for (error, _) in each(method.errors.as_ref()) {
            self.said.say("error", &error.value);
        }
        if let Some(tool) = &method.tool {
            self.toolsets.extend(self.service.clone());
            self.tool(name, &tool.details);
        }
    }

    fn toolset(&mut self, name: &str, toolset: &Toolset) {
        self.said.say("toolset", name);
        self.toolsets.insert(name.to_owned());
        self.said.say("mcp", toolset.mcp.as_ref().map_or("", |mcp| &mcp.server.value));
        for (name, tool) in toolset.tools.0.iter() {
            self.tool(&name.value, &tool.details);
            for schema in tool.args.iter().chain(&tool.result) {
                self.named_or_inline(schema);
            }
            if let Some(bind) = &tool.bind {
                self.said.say("bind", &bind.value);
                self.qualified(&bind.value);
            }
        }
    }

    fn tool(&mut self, name: &str, details: &ToolDetails) {
        let aliases = details.aliases.iter().flatten().map(|alias| alias.value.as_str());
        for name in std::iter::once(name).chain(aliases) {
            self.said.say("tool", name);
            self.tools.insert(name.to_owned());
        }
        if let Some(replacement) =
            details.deprecated.as_ref().and_then(|deprecated| deprecated.r#use.as_ref())
        {
            self.said.say("replacement", &replacement.value);
            self.uses_tools.insert(replacement.value.clone());
        }
    }

    fn consumers(&mut self, document: &Document) {
        for (name, agent) in each(document.agents.as_ref()) {
            self.said.say("agent", &name.value);
            self.consumers.insert(name.value.clone());
            for toolset in agent.toolsets.iter().flatten() {
                self.said.say("uses toolset", &toolset.value);
                self.uses_toolsets.insert(toolset.value.clone());
            }
            for tool in agent.tools.iter().flatten() {
                self.said.say("uses tool", &tool.value);
                self.uses_tools.insert(tool.value.clone());
            }
            for toolset in agent.exports.iter().flatten() {
                self.said.say("exports", &toolset.value);
                self.exports.insert(toolset.value.clone());
            }
        }
        for (name, server) in each(document.mcp_servers.as_ref()) {
            self.said.say("server", &name.value);
            self.consumers.insert(name.value.clone());
            for toolset in &server.toolsets.0 {
                self.said.say("exposes", &toolset.value);
                self.uses_toolsets.insert(toolset.value.clone());
            }
        }
    }

    /// A schema that may be the name of a type.
    fn named_or_inline(&mut self, schema: &SchemaText) {
        self.schema(&schema.0, true);
    }

    fn schema(&mut self, node: &Node, may_be_name: bool) {
        match &node.value {
            Value::String(name) if may_be_name => self.type_name(name),
            Value::Sequence(items) => items.iter().for_each(|item| self.schema(item, false)),
            Value::Mapping(entries) => {
                for entry in entries.iter() {
                    self.schema(&entry.value, entry.key.value == "$ref");
                }
            }
            _ => {}
        }
    }

    fn type_name(&mut self, name: &str) {
        self.said.say("refers to", name);
        if !name.starts_with('#') {
            self.qualified(name);
        }
    }

    /// A name that may be one of another service's: `service.name`.
    fn qualified(&mut self, name: &str) {
        if let Some((service, _)) = name.split_once('.') {
            self.uses_services.insert(service.to_owned());
        }
    }
}

fn each<T>(entries: Option<&Entries<T>>) -> impl Iterator<Item = (&Spanned<String>, &T)> {
    entries.into_iter().flat_map(Entries::iter)
}
