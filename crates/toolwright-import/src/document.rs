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

/// An imported tool.
pub(super) struct Tool {
    /// Its name in the file.
    pub(super) name: String,
    /// The server's texts about it. Its schemas have been moved to the next two fields.
    pub(super) listed: Listed,
    /// The schema of its arguments.
    pub(super) args: Option<Json>,
    /// The schema of its result, if the server declares one.
    pub(super) result: Option<Json>,
}

/// The parts of an imported file.
#[derive(Default)]
pub(super) struct Import {
    /// The name, version and protocol of the server, and the date of its list.
    pub(super) from: Provenance<String>,
    /// The digests of all tools that the server lists, by their names there.
    pub(super) listed: Entries,
    /// The imported tools in the server's order.
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
            Json::Object(import.server_entries(Json::string(owner.toolset), import.from.clone())),
        ),
        entry("tools", Json::Object(tools.collect())),
    ]);
    let mut document = vec![
        entry("toolwright", Json::Number("1".to_owned())),
        entry("service", Json::string(owner.service)),
        // It is not known how large the server's integers get.
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

/// Adds the records of all schemas to a document, by which the next import finds edits. `imported` is the document without
/// edits.
pub(super) fn with_records(
    mut document: Json,
    imported: &Json,
    import: &Import,
    owner: Owner<'_>,
) -> Json {
    let tools = entries(toolset(imported, owner).and_then(|set| set.get("tools")));
    let types = entries(imported.get("types"));
    let needed = reached(&types, &tools);
    let types: Entries = types
        .iter()
        .filter(|(name, _)| needed.contains(name))
        .map(|(name, body)| (name.clone(), edits::record(body)))
        .collect();
    let Some(Json::Object(server)) = toolset_mut(&mut document, owner, "mcp") else {
        return document;
    };
    if let Some((_, Json::Object(written))) = server.iter_mut().find(|(key, _)| key == "written") {
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
                record.extend(schema.map(|schema| entry(side, edits::record(&schema))));
            }
        }
    }
    server.retain(|(key, _)| key != "types");
    if !types.is_empty() {
        server.push(entry("types", Json::Object(types)));
    }
    document
}

/// The tools of a toolset by their names on the server.
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
    /// The import with the names and schemas of a document, without the tools that are not in it.
    pub(super) fn updated_from(mut self, document: &Json, owner: Owner<'_>) -> Self {
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

    /// The entries of `mcp` in the toolset.
    pub(super) fn server_entries(&self, server: Json, from: Provenance<String>) -> Entries {
        let written = self.tools.iter().map(|tool| (tool.listed.name.clone(), tool.digests()));
        let mut entries = vec![entry("server", server)];
        entries.extend(provenance::json(from).map(|from| entry("from", from)));
        entries.push(entry("listed", Json::Object(self.listed.clone())));
        entries.push(entry("written", Json::Object(written.collect())));
        entries
    }
}

impl Tool {
    /// The entries of the tool in the file.
    pub(super) fn entries(&self) -> Entries {
        let mut entries = Vec::new();
        if self.listed.name != self.name {
            entries.push(entry("remote", Json::string(&self.listed.name)));
        }
        entries.extend(self.texts_and_hints());
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

    /// The entries for what the server says about the tool, except its schemas.
    fn texts_and_hints(&self) -> Entries {
        let Listed { title, description, annotations, .. } = &self.listed;
        let mut entries = Vec::new();
        entries.extend(title.as_ref().map(|title| entry("title", Json::string(title))));
        entries.push(entry("description", Json::string(description)));
        if !annotations.is_empty() {
            entries.push(entry("annotations", Json::Object(annotations.clone())));
        }
        entries
    }

    /// The digests of these entries, by which the next import finds edits.
    fn digests(&self) -> Json {
        let parts = self.texts_and_hints().into_iter();
        let digests = parts.map(|(key, value)| (key, Json::String(digest::value(&value))));
        Json::Object(digests.collect())
    }
}

/// Replaces a schema that only refers to a type by the type's name.
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
