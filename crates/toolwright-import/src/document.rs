//! Builds the document of an imported file from its parts, in the order people write them.

use std::collections::BTreeMap;

use super::Owner;
use super::digest;
use super::edits;
use super::equality::as_schema;
use super::existing::{entries, reached};
use super::keywords::Entries;
use super::listing::Listed;
use super::provenance;
use super::yaml_text;
use toolwright::remote::Provenance;
use toolwright_codegen::internal::Json;

/// One tool as it is written.
pub(super) struct Tool {
    /// Its name in the language.
    pub(super) name: String,
    /// What the server says about it; its schemas have been taken out.
    pub(super) listed: Listed,
    /// What it takes.
    pub(super) args: Option<Json>,
    /// What it gives, where that is known.
    pub(super) result: Option<Json>,
}

/// All that an import knows, before there is a file.
pub(super) struct Import {
    /// What is known of the server.
    pub(super) from: Provenance<String>,
    /// The digest of every tool of the server, by its name there.
    pub(super) listed: Entries,
    /// The tools that are taken, in the server's order.
    pub(super) tools: Vec<Tool>,
    /// The types that their schemas refer to.
    pub(super) types: Entries,
}

/// The entries of a new file.
pub(super) fn document(owner: Owner<'_>, import: &Import) -> Entries {
    let tools = import.tools.iter().map(|tool| (tool.name.clone(), Json::Object(tool.entries())));
    let toolset = object([
        entry("description", Json::String(format!("Tools of the MCP server {}.", owner.toolset))),
        entry(
            "mcp",
            Json::Object(import.backing(Json::string(owner.toolset), import.from.clone())),
        ),
        entry("tools", Json::Object(tools.collect())),
    ]);
    let mut document = vec![
        entry("toolwright", Json::Number("1".to_owned())),
        entry("service", Json::string(owner.service)),
        // Nobody here knows how large the server's integers get.
        entry("integers", Json::string("exact")),
    ];
    if !import.types.is_empty() {
        document.push(entry("types", Json::Object(import.types.clone())));
    }
    document.push(entry("toolsets", object([entry(owner.toolset, toolset)])));
    document
}

/// A document as a text.
pub(super) fn text(document: &Json) -> String {
    match document {
        Json::Object(entries) => yaml_text::document(entries),
        _ => String::new(),
    }
}

/// A document that remembers the words of the schemas that an import would have written, `said`.
pub(super) fn remembering(
    mut document: Json,
    said: &Json,
    import: &Import,
    owner: Owner<'_>,
) -> Json {
    let tools = entries(toolset(said, owner).and_then(|set| set.get("tools")));
    let types = entries(said.get("types"));
    let needed = reached(&types, &tools);
    let types: Entries = types
        .iter()
        .filter(|(name, _)| needed.contains(name))
        .map(|(name, body)| (name.clone(), edits::remembered(body)))
        .collect();
    let Some(Json::Object(backing)) = toolset_mut(&mut document, owner, "mcp") else {
        return document;
    };
    if let Some((_, Json::Object(written))) = backing.iter_mut().find(|(key, _)| key == "written") {
        let tools = by_remote_name(&tools);
        let imported: BTreeMap<&str, &Tool> =
            import.tools.iter().map(|tool| (tool.listed.name.as_str(), tool)).collect();
        for (remote, record) in written {
            let (Some((_, tool)), Json::Object(record)) = (tools.get(remote.as_str()), record)
            else {
                continue;
            };
            let has_result =
                imported.get(remote.as_str()).is_some_and(|tool| tool.result.is_some());
            for side in ["args", "result"] {
                // A result that the server does not declare was added by hand.
                let schema = tool.get(side).filter(|_| side == "args" || has_result).map(as_schema);
                record.extend(schema.map(|schema| entry(side, edits::remembered(&schema))));
            }
        }
    }
    backing.retain(|(key, _)| key != "types");
    if !types.is_empty() {
        backing.push(entry("types", Json::Object(types)));
    }
    document
}

/// The tools of a toolset by their names at the server.
fn by_remote_name(tools: &Entries) -> BTreeMap<&str, &(String, Json)> {
    let named = tools.iter().map(|entry| match entry.1.get("remote") {
        Some(Json::String(remote)) => (remote.as_str(), entry),
        _ => (entry.0.as_str(), entry),
    });
    named.collect()
}

fn toolset<'a>(document: &'a Json, owner: Owner<'_>) -> Option<&'a Json> {
    document.get("toolsets")?.get(owner.toolset)
}

fn toolset_mut<'a>(document: &'a mut Json, owner: Owner<'_>, key: &str) -> Option<&'a mut Json> {
    ["toolsets", owner.toolset, key].into_iter().try_fold(document, |value, key| match value {
        Json::Object(entries) => {
            entries.iter_mut().find(|(known, _)| known == key).map(|(_, value)| value)
        }
        _ => None,
    })
}

impl Import {
    /// The same as a document says it: names and schemas may have changed, and tools may be gone.
    pub(super) fn restated(mut self, document: &Json, owner: Owner<'_>) -> Self {
        let tools = entries(toolset(document, owner).and_then(|set| set.get("tools")));
        let tools = by_remote_name(&tools);
        self.tools.retain_mut(|tool| {
            let found = tools.get(tool.listed.name.as_str());
            let Some((name, written)) = found else { return false };
            tool.name.clone_from(name);
            tool.args = written.get("args").map(as_schema);
            tool.result = written.get("result").map(as_schema);
            true
        });
        self.types = entries(document.get("types"));
        self
    }

    /// What a toolset says about the server it stands for.
    pub(super) fn backing(&self, server: Json, from: Provenance<String>) -> Entries {
        let written = self.tools.iter().map(|tool| (tool.listed.name.clone(), tool.written()));
        let mut entries = vec![entry("server", server)];
        entries.extend(provenance::json(from).map(|from| entry("from", from)));
        entries.push(entry("listed", Json::Object(self.listed.clone())));
        entries.push(entry("written", Json::Object(written.collect())));
        entries
    }
}

impl Tool {
    /// What is written of it.
    pub(super) fn entries(&self) -> Entries {
        let mut entries = Vec::new();
        if self.listed.name != self.name {
            entries.push(entry("remote", Json::string(&self.listed.name)));
        }
        entries.extend(self.words());
        let schema = |schema: &Json| named_or_inline(schema.clone());
        let at = entries.iter().position(|(key, _)| key == "annotations");
        let at = at.unwrap_or(entries.len());
        let sides = [("args", &self.args), ("result", &self.result)];
        let sides =
            sides.into_iter().filter_map(|(key, side)| Some(entry(key, schema(side.as_ref()?))));
        let sides: Entries = sides.collect();
        entries.splice(at..at, sides);
        entries
    }

    /// What the server says about it, its schemas aside.
    pub(super) fn words(&self) -> Entries {
        let Listed { title, description, annotations, .. } = &self.listed;
        let mut entries = Vec::new();
        entries.extend(title.as_ref().map(|title| entry("title", Json::string(title))));
        entries.push(entry("description", Json::string(description)));
        if !annotations.is_empty() {
            entries.push(entry("annotations", Json::Object(annotations.clone())));
        }
        entries
    }

    /// Digests of what an import writes, by which the next one tells what was edited since.
    fn written(&self) -> Json {
        let parts = self.words().into_iter();
        let digests = parts.map(|(key, value)| (key, Json::String(digest::value(&value))));
        Json::Object(digests.collect())
    }
}

/// A schema that is nothing but a type is written as the type's name.
pub(super) fn named_or_inline(schema: Json) -> Json {
    match &schema {
        Json::Object(entries) => match entries.as_slice() {
            [(key, Json::String(name))] if key == "$ref" && !name.starts_with('#') => {
                Json::string(name)
            }
            _ => schema,
        },
        _ => schema,
    }
}

fn object<const N: usize>(entries: [(String, Json); N]) -> Json {
    Json::Object(entries.into())
}

fn entry(key: &str, value: Json) -> (String, Json) {
    (key.to_owned(), value)
}
