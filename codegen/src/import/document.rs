//! Puts the parts of an imported file together, in the order people write them. Never looks into a
//! schema.

use super::Owner;
use super::keywords::Entries;
use super::listing::Listed;
use crate::schema::Json;

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

/// The entries of the file.
pub(super) fn document(owner: Owner<'_>, types: Entries, tools: Vec<Tool>) -> Entries {
    let toolset = object([
        entry("description", Json::String(format!("Tools of the MCP server {}.", owner.toolset))),
        entry("mcp", object([entry("server", Json::string(owner.toolset))])),
        entry("tools", Json::Object(tools.into_iter().map(Tool::into_entry).collect())),
    ]);
    let mut document = vec![
        entry("toolwright", Json::Number("1".to_owned())),
        entry("service", Json::string(owner.service)),
    ];
    if !types.is_empty() {
        document.push(entry("types", Json::Object(types)));
    }
    document.push(entry("toolsets", object([entry(owner.toolset, toolset)])));
    document
}

impl Tool {
    fn into_entry(self) -> (String, Json) {
        let Listed { name: remote, title, description, annotations, .. } = self.listed;
        let mut entries = Vec::new();
        if remote != self.name {
            entries.push(entry("remote", Json::String(remote)));
        }
        entries.extend(title.map(|title| entry("title", Json::String(title))));
        entries.push(entry("description", Json::String(description)));
        entries.extend(self.args.map(|schema| entry("args", named_or_inline(schema))));
        entries.extend(self.result.map(|schema| entry("result", named_or_inline(schema))));
        if !annotations.is_empty() {
            entries.push(entry("annotations", Json::Object(annotations)));
        }
        (self.name, Json::Object(entries))
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
