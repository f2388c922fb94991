//! Reads a server's answer to `tools/list` (MCP 2025-11-25, "Tools"). Schemas are not changed here.

use std::collections::BTreeSet;

use super::digest;
use super::json_text;
use super::keywords::{Entries, take};
use super::provenance;
use super::warnings::Warnings;
use toolwright::digests::ListedDigests;
use toolwright::pointer::escaped;
use toolwright::remote::Provenance;
use toolwright::untrusted::{MAX_TOOL_NAME_BYTES, hidden, visible, visible_schema};
use toolwright_codegen::internal::Json;

/// A server's answer.
pub(super) struct List {
    /// The tools, with distinct names.
    pub(super) tools: Vec<Listed>,
    /// The name and version of the server and the protocol, if they are saved beside the tools.
    pub(super) from: Provenance<String>,
}

/// One tool as its server lists it.
#[derive(Debug)]
pub(super) struct Listed {
    /// Its name on the server.
    pub(super) name: String,
    /// Its digests as it is listed.
    pub(super) digests: ListedDigests,
    /// Its title, a short name for people.
    pub(super) title: Option<String>,
    /// Its description; its title or name if the server has none.
    pub(super) description: String,
    /// The schema of its arguments.
    pub(super) args: Option<Json>,
    /// The schema of its structured result.
    pub(super) result: Option<Json>,
    /// Its hints, under the names that they have in the language.
    pub(super) annotations: Vec<(String, Json)>,
}

impl Listed {
    /// The digests as a file records them.
    pub(super) fn recorded(&self) -> Json {
        let ListedDigests { all, capabilities } = &self.digests;
        let entries = [("all", all), ("capabilities", capabilities)];
        Json::Object(entries.map(|(key, digest)| (key.to_owned(), Json::string(digest))).into())
    }
}

/// The maximum depth of the values of a tool, so that the written file stays within the YAML reader's limit.
const MAX_DEPTH: usize = 92;

/// The most bytes of the keys that lead to a value of a tool or of an OpenAPI document. The JSON Pointers of all values inside begin with them.
pub(super) const MAX_KEY_BYTES: usize = 4096;

/// MCP's hints and their names in the language.
const HINTS: [(&str, &str); 4] = [
    ("readOnlyHint", "read_only"),
    ("destructiveHint", "destructive"),
    ("idempotentHint", "idempotent"),
    ("openWorldHint", "open_world"),
];

/// Keys that every list has since MCP 2026-07-28. They are about the transport and caching, so a saved list does not need
/// them.
const OF_EVERY_RESULT: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// Reads a list of tools: bare, under `tools`, or in a JSON-RPC response.
pub(super) fn read(json: Json, warnings: &mut Warnings) -> Result<List, String> {
    let (items, from) = match json {
        Json::Array(items) => (items, Provenance::default()),
        Json::Object(entries) => unwrapped(entries, warnings)?,
        other => return Err(format!("expected a list of tools, found {}", shown(&other))),
    };
    let (mut tools, mut refused) = (Vec::new(), Vec::new());
    for (index, item) in items.into_iter().enumerate() {
        match tool(item, warnings) {
            Ok(tool) => tools.push(tool),
            Err(why) => refused.push(format!("tool {} was left out: {why}", index + 1)),
        }
    }
    match refused.first() {
        Some(why) if tools.is_empty() => return Err(format!("no tool can be imported: {why}")),
        _ => refused.into_iter().for_each(|why| warnings.add(why)),
    }
    Ok(List { tools: distinct(tools, warnings), from })
}

/// Leaves out tools with the name of an earlier one, as calls could not reach them.
fn distinct(mut tools: Vec<Listed>, warnings: &mut Warnings) -> Vec<Listed> {
    let mut known = BTreeSet::new();
    tools.retain(|tool| {
        let is_new = known.insert(tool.name.clone());
        if !is_new {
            warnings.at(&tool.name, "a second tool of the same name was left out");
        }
        is_new
    });
    tools
}

fn unwrapped(
    mut entries: Entries,
    warnings: &mut Warnings,
) -> Result<(Vec<Json>, Provenance<String>), String> {
    if let Some(error) = take(&mut entries, "error") {
        return Err(format!("the server answered with an error: {}", shown(&error)));
    }
    let from = provenance::saved(&mut entries);
    if let Some(result) = take(&mut entries, "result") {
        let Json::Object(result) = result else {
            return Err(format!("expected `tools` in `result`, found {}", shown(&result)));
        };
        let (items, inner) = unwrapped(result, warnings)?;
        return Ok((items, from.or(inner)));
    }
    let Some(Json::Array(items)) = take(&mut entries, "tools") else {
        return Err("expected a list under `tools`, as `tools/list` returns it".to_owned());
    };
    for (key, value) in entries {
        match key.as_str() {
            _ if value == Json::Null || OF_EVERY_RESULT.contains(&key.as_str()) => {}
            "nextCursor" => warnings.add("the list has a `nextCursor`: it is one page of several"),
            _ => warnings.add(no_place(&format!("`{key}` beside `tools`"))),
        }
    }
    Ok((items, from))
}

fn tool(item: Json, warnings: &mut Warnings) -> Result<Listed, String> {
    if !is_within(&item, MAX_DEPTH) {
        return Err(format!("its values nest more than {MAX_DEPTH} deep"));
    }
    if !has_short_keys(&item, MAX_KEY_BYTES) {
        return Err(format!("the keys that lead to a value have more than {MAX_KEY_BYTES} bytes"));
    }
    let digests = digest::listed(&item);
    let Json::Object(mut entries) = item else {
        return Err(format!("expected an object, found {}", shown(&item)));
    };
    entries.retain(|(_, value)| *value != Json::Null);
    let Some(Json::String(name)) = take(&mut entries, "name") else {
        return Err("it has no `name`, by which it is called".to_owned());
    };
    if name.len() > MAX_TOOL_NAME_BYTES {
        return Err(format!("its name has {} bytes, more than {MAX_TOOL_NAME_BYTES}", name.len()));
    }
    let mut reader = Reader { name: &name, warnings, hides: hidden(&name).next().is_some() };
    let mut title = reader.text(&mut entries, "title");
    let annotations = take(&mut entries, "annotations");
    let annotations = reader.annotations(annotations, &mut title);
    let description = reader.description(&mut entries, title.as_deref());
    let args = take(&mut entries, "inputSchema");
    let result = take(&mut entries, "outputSchema");
    let [args, result] = [args, result].map(|schema| {
        let visible = schema.as_ref().and_then(visible_texts);
        reader.hides |= visible.is_some();
        visible.or(schema)
    });
    if reader.hides {
        reader.warn(HIDES);
    }
    let schemas = [("inputSchema", &args), ("outputSchema", &result)];
    let schemas = schemas.into_iter().filter_map(|(key, schema)| Some((key, schema.as_ref()?)));
    if let Some(message) = hidden_payload(schemas) {
        reader.warn(message);
    }
    for (key, _) in entries {
        reader.warn(no_place(&format!("`{key}`")));
    }
    Ok(Listed { name, digests, title, description, args, result, annotations })
}

/// The warning about a key of MCP, as opposed to a keyword of a schema.
fn no_place(key: &str) -> String {
    format!("{key} of MCP was left out, as the language has no place for it; schemas do not change")
}

/// The warning about a tool with invisible characters in its name or texts.
const HIDES: &str = "its name or its texts had invisible characters, such as direction marks or tags; in texts they were \
                     replaced by U+FFFD, so read them before the tool is used";

struct Reader<'a> {
    name: &'a str,
    warnings: &'a mut Warnings,
    /// Set where a name or a text had hidden characters.
    hides: bool,
}

impl Reader<'_> {
    fn warn(&mut self, message: impl Into<String>) {
        self.warnings.at(self.name, message);
    }

    /// Takes a text that is not blank, with its hidden characters replaced.
    fn text(&mut self, entries: &mut Entries, key: &str) -> Option<String> {
        match take(entries, key)? {
            Json::String(text) if !text.trim().is_empty() => {
                self.hides |= hidden(&text).next().is_some();
                Some(visible(&text).into_owned())
            }
            Json::String(_) => {
                self.warn(format!("an empty `{key}` was left out"));
                None
            }
            _ => {
                self.warn(format!("a `{key}` that is not a text was left out"));
                None
            }
        }
    }

    fn description(&mut self, entries: &mut Entries, title: Option<&str>) -> String {
        self.text(entries, "description").unwrap_or_else(|| {
            self.warn("a tool without a description was given its name as one; say what it does");
            let name =
                if self.name.trim().is_empty() { "A tool without a name." } else { self.name };
            title.unwrap_or(name).to_owned()
        })
    }

    /// Reads the hints. A title among them becomes the tool's title if it has none.
    fn annotations(&mut self, found: Option<Json>, title: &mut Option<String>) -> Entries {
        let mut entries = match found {
            Some(Json::Object(entries)) => entries,
            None => Vec::new(),
            Some(_) => {
                self.warn("`annotations` that are not an object were left out");
                Vec::new()
            }
        };
        entries.retain(|(_, value)| *value != Json::Null);
        let second = self.text(&mut entries, "title");
        match (&title, second) {
            (None, second) => *title = second,
            (Some(first), Some(second)) if *first != second => {
                self.warn("`annotations.title` differs from `title` and was left out");
            }
            _ => {}
        }
        let hints = entries.into_iter().filter_map(|(key, value)| self.hint(&key, value));
        let mut hints: Entries = hints.collect();
        hints.sort_by_key(|(name, _)| HINTS.iter().position(|(_, known)| known == name));
        hints
    }

    fn hint(&mut self, key: &str, value: Json) -> Option<(String, Json)> {
        let known = HINTS.iter().find(|(hint, _)| *hint == key);
        match (known, &value) {
            (Some((_, name)), Json::Boolean(_)) => Some(((*name).to_owned(), value)),
            (Some(_), _) => {
                self.warn(format!(
                    "`annotations.{key}` is neither true nor false and was left out"
                ));
                None
            }
            (None, _) => {
                self.warn(no_place(&format!("`annotations.{key}`")));
                None
            }
        }
    }
}

/// Keywords whose values keep their hidden characters: codecs fill in a `default`, and `check` compares `examples` with schemas.
const KEPT: [&str; 2] = ["default", "examples"];

/// Replaces the hidden characters in the texts of a value. Returns `None` if there are none.
pub(super) fn visible_texts(value: &Json) -> Option<Json> {
    json_text::read(&visible_schema(&value.to_value(), &KEPT)?.to_string()).ok()
}

/// Returns a warning if keys or values have hidden characters. They are kept, as calls depend on them.
pub(super) fn hidden_payload<'a>(
    values: impl IntoIterator<Item = (&'a str, &'a Json)>,
) -> Option<String> {
    let mut found = Hidden { count: 0, first: Vec::new() };
    for (key, value) in values {
        found.search(&format!("/{key}"), value);
    }
    let count = found.count;
    let among = if count > SHOWN { "among others " } else { "" };
    let first = found.first.join(", ");
    (count > 0).then(|| {
        format!(
            "invisible characters were kept in {count} of its keys and values, which a model reads: {among}{first}"
        )
    })
}

/// The number of shown places of hidden characters.
const SHOWN: usize = 3;

/// The keys and texts with hidden characters.
struct Hidden {
    count: usize,
    /// The JSON Pointers of the first [`SHOWN`], as they are shown.
    first: Vec<String>,
}

impl Hidden {
    fn add(&mut self, pointer: &str) {
        self.count += 1;
        if self.count <= SHOWN {
            self.first.push(format!("`{}`", visible(pointer)));
        }
    }

    fn search(&mut self, pointer: &str, value: &Json) {
        match value {
            Json::String(text) if hidden(text).next().is_some() => self.add(pointer),
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.search(&format!("{pointer}/{index}"), item);
                }
            }
            Json::Object(entries) => {
                for (key, value) in entries {
                    let below = format!("{pointer}/{}", escaped(key));
                    if hidden(key).next().is_some() {
                        self.add(&below);
                    }
                    self.search(&below, value);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether lists and objects nest no deeper than this.
fn is_within(value: &Json, depth: usize) -> bool {
    let is_below = |value: &Json| is_within(value, depth.saturating_sub(1));
    match value {
        Json::Array(items) => depth > 0 && items.iter().all(is_below),
        Json::Object(entries) => depth > 0 && entries.iter().all(|(_, value)| is_below(value)),
        _ => true,
    }
}

/// Returns whether the keys that lead to each value have at most some bytes together.
pub(super) fn has_short_keys(value: &Json, bytes: usize) -> bool {
    match value {
        Json::Array(items) => items.iter().all(|item| has_short_keys(item, bytes)),
        Json::Object(entries) => entries.iter().all(|(key, value)| {
            bytes.checked_sub(key.len()).is_some_and(|left| has_short_keys(value, left))
        }),
        _ => true,
    }
}

/// The beginning of a value, for an error.
fn shown(value: &Json) -> String {
    let text = value.to_string();
    let start: String = text.chars().take(80).collect();
    if start.len() < text.len() { start + "…" } else { start }
}
