//! Builds the methods, tools and toolsets of an imported API, in the order people write them.

use std::collections::BTreeMap;

use super::super::document::named_or_inline;
use super::super::keywords::Entries;
use super::super::types::{Origin, Types};
use super::super::warnings::{Subject, Warnings};
use super::api::{Api, Operation};
use super::parameters::Payload;
use super::schemas::{Direction, Reader};
use super::{ApiImport, body, is_set, responses, service, text};
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::naming;

/// The schemas that a method has. The names of types inside it contain these words.
const SIDES: [&str; 2] = ["Payload", "Result"];

/// The method and the tool of one operation.
pub(super) struct Method {
    name: String,
    tags: Vec<String>,
    method: Entries,
    tool: Entries,
}

impl Method {
    /// The bytes of the texts in its definition.
    pub(super) fn text_bytes(&self) -> usize {
        let entries = self.method.iter().chain(&self.tool);
        entries.map(|(key, value)| key.len() + text_bytes(value)).sum()
    }
}

fn text_bytes(value: &Json) -> usize {
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(text_bytes).sum(),
        Json::Object(entries) => {
            entries.iter().map(|(key, value)| key.len() + text_bytes(value)).sum()
        }
        _ => 0,
    }
}

/// Builds methods and gathers their types.
pub(super) struct Builder<'a> {
    api: &'a Api,
    requests: Reader<'a>,
    responses: Reader<'a>,
    types: Types,
    warnings: &'a mut Warnings,
}

impl<'a> Builder<'a> {
    pub(super) fn new(api: &'a Api, names: &[String], warnings: &'a mut Warnings) -> Self {
        let [requests, responses] =
            [Direction::Request, Direction::Response].map(|direction| Reader::new(api, direction));
        Self { api, requests, responses, types: Types::with_sides(names, SIDES), warnings }
    }

    pub(super) fn into_types(self) -> Entries {
        self.types.into_entries()
    }

    /// Builds the method of an operation; `None` with a warning if the language cannot express it.
    pub(super) fn method(&mut self, name: &str, operation: &Operation<'_>) -> Option<Method> {
        let label = operation.label();
        match self.try_method(name, operation, &label) {
            Ok(method) => Some(method),
            Err(why) => {
                self.warnings.at(label, format!("an operation was left out: {why}"));
                None
            }
        }
    }

    fn try_method(
        &mut self,
        name: &str,
        operation: &Operation<'_>,
        label: &str,
    ) -> Result<Method, String> {
        let api = self.api;
        let mut subject = Subject { tool: label, side: "payload", warnings: &mut *self.warnings };
        let mut payload = Payload::of(api, operation, &mut subject)?;
        let mut http = payload.http(operation.verb);
        body::add(api, operation, &mut payload, &mut http, &mut subject)?;
        let mut subject = Subject { tool: label, side: "result", warnings: &mut *self.warnings };
        let responses = responses::responses(api, operation, &mut subject)?;
        if responses.is_text {
            http.push(("answer".to_owned(), Json::string("text")));
        }
        let payload = payload.into_schema();
        let payload = payload.map(|schema| self.schema(name, label, Direction::Request, schema));
        let result =
            responses.schema.map(|schema| self.schema(name, label, Direction::Response, schema));
        let (title, description) = self.title_and_description(operation, label);
        let mut method =
            vec![entry("description", Json::string(title.as_ref().unwrap_or(&description)))];
        method.extend(payload.map(|schema| entry("payload", schema)));
        method.extend(result.map(|schema| entry("result", schema)));
        if !responses.errors.is_empty() {
            method.push(entry("errors", Json::Object(responses.errors)));
        }
        method.push(entry("http", Json::Object(http)));
        let tool = tool(name, operation, title, description);
        let tags = operation.tags().into_iter().map(str::to_owned).collect();
        Ok(Method { name: name.to_owned(), tags, method, tool })
    }

    fn schema(&mut self, name: &str, label: &str, direction: Direction, schema: Json) -> Json {
        let (reader, side) = match direction {
            Direction::Request => (&mut self.requests, "payload"),
            Direction::Response => (&mut self.responses, "result"),
        };
        let mut subject = Subject { tool: label, side, warnings: &mut *self.warnings };
        let schema = reader.read(schema, &mut subject);
        let origin = Origin { tool: name, side };
        named_or_inline(self.types.lift(schema, &mut reader.definitions, origin, self.warnings))
    }

    /// The title of an operation, if it has two texts, and its description.
    fn title_and_description(
        &mut self,
        operation: &Operation<'_>,
        label: &str,
    ) -> (Option<String>, String) {
        let of = |key: &str| {
            text(operation.definition, key).or_else(|| text(operation.item, key)).map(str::to_owned)
        };
        match (of("summary"), of("description")) {
            (summary, Some(description)) => {
                (summary.filter(|text| *text != description), description)
            }
            (Some(summary), None) => (None, summary),
            (None, None) => {
                let message = "an operation without a description was given its method and path as one; say what it does";
                self.warnings.at(label, message);
                (None, label.to_owned())
            }
        }
    }
}

fn tool(
    name: &str,
    operation: &Operation<'_>,
    title: Option<String>,
    description: String,
) -> Entries {
    let mut tool = Entries::new();
    tool.extend(title.map(|title| entry("title", Json::String(title))));
    tool.push(entry("description", Json::String(description)));
    tool.push(entry("bind", Json::string(name)));
    let hints: &[&str] = match operation.verb {
        "GET" | "HEAD" | "OPTIONS" => &["read_only"],
        "PUT" => &["idempotent"],
        "DELETE" => &["destructive", "idempotent"],
        _ => &[],
    };
    if !hints.is_empty() {
        let hints = hints.iter().map(|hint| entry(hint, Json::Boolean(true)));
        tool.push(entry("annotations", Json::Object(hints.collect())));
    }
    let mut tags: Vec<&str> = Vec::new();
    for tag in operation.tags() {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if !tags.is_empty() {
        tool.push(entry("tags", Json::Array(tags.into_iter().map(Json::string).collect())));
    }
    if is_set(operation.definition, "deprecated") {
        tool.push(entry("deprecated", Json::Object(Vec::new())));
    }
    tool
}

/// The entries of the schema file.
pub(super) fn document(
    api: &Api,
    import: &ApiImport<'_>,
    types: Entries,
    methods: Vec<Method>,
) -> Entries {
    let name = Json::string(import.owner.service);
    let service = match service::description(api) {
        Some(words) => {
            Json::Object(vec![entry("name", name), entry("description", Json::String(words))])
        }
        None => name,
    };
    let mut document = vec![
        entry("toolwright", Json::Number("1".to_owned())),
        entry("service", service),
        entry("integers", Json::string("exact")),
    ];
    if !types.is_empty() {
        document.push(entry("types", Json::Object(types)));
    }
    let bodies = methods.iter().map(|one| (one.name.clone(), Json::Object(one.method.clone())));
    document.push(entry("methods", Json::Object(bodies.collect())));
    document.push(entry("toolsets", Json::Object(toolsets(api, import, methods))));
    document
}

fn toolsets(api: &Api, import: &ApiImport<'_>, methods: Vec<Method>) -> Entries {
    let toolset = import.owner.toolset;
    let mut tags: BTreeMap<&str, &Json> = BTreeMap::new();
    if let Some(Json::Array(all)) = api.root.get("tags").filter(|_| import.by_tag) {
        for tag in all {
            if let Some(name) = text(tag, "name") {
                tags.entry(name).or_insert(tag);
            }
        }
    }
    // The toolsets in their order, and their places by name.
    let mut sets: Vec<(String, String, Entries)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for method in methods {
        let tag = method.tags.first().filter(|_| import.by_tag);
        let name = tag.map_or_else(|| toolset.to_owned(), |tag| name_of_tag(toolset, tag));
        let place = *places.entry(name).or_insert_with_key(|name| {
            let words = if let Some(tag) = tag {
                let words = tags.get(tag.as_str()).and_then(|tag| text(tag, "description"));
                words.map_or_else(|| format!("Operations about {tag}."), str::to_owned)
            } else {
                let title = api.root.get("info").and_then(|info| text(info, "title"));
                format!("Operations of {}.", title.unwrap_or(toolset))
            };
            sets.push((name.clone(), words, Entries::new()));
            sets.len() - 1
        });
        sets[place].2.push((method.name, Json::Object(method.tool)));
    }
    let entries = sets.into_iter().map(|(name, words, tools)| {
        let body =
            vec![entry("description", Json::String(words)), entry("tools", Json::Object(tools))];
        (name, Json::Object(body))
    });
    entries.collect()
}

/// The name of the toolset for the tools with a tag.
fn name_of_tag(toolset: &str, tag: &str) -> String {
    let mut name = format!("{toolset}_{}", naming::snake(tag));
    name.truncate(naming::MAX_NAME);
    name.trim_end_matches('_').to_owned()
}

fn entry(key: &str, value: Json) -> (String, Json) {
    (key.to_owned(), value)
}
