//! Turns the parameters of an operation into properties of its payload, with their places in the request.

use std::collections::{BTreeMap, BTreeSet};

use super::super::keywords::Entries;
use super::super::listing::MAX_KEY_BYTES;
use super::super::warnings::Subject;
use super::api::{Api, Operation};
use super::references::OBJECT;
use super::security_keys::parameter_key;
use super::{entries, is_set, text};
use toolwright::http::Part;
use toolwright::untrusted::hidden;
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::naming;
use toolwright_codegen::internal::{header_mistake, path_parts};

/// Collects the payload of a method and the entries of its `http`.
#[derive(Default)]
pub(super) struct Payload {
    /// The properties.
    pub(super) properties: Entries,
    /// The names of the required properties.
    pub(super) required: Vec<Json>,
    /// The path. [`Payload::fill_path`] replaces the parameters of the document by properties.
    path: String,
    query: Vec<Json>,
    headers: Entries,
    cookies: Entries,
    /// The properties of the parameters in the path.
    in_path: BTreeMap<String, String>,
    /// The Rust fields of the properties, and how often each was wanted.
    fields: BTreeMap<naming::Identifier, u32>,
    /// The place and the name of each parameter.
    seen: BTreeSet<(String, String)>,
}

/// One parameter.
struct Parameter<'a> {
    name: &'a str,
    place: &'a str,
    definition: &'a Json,
    schema: Json,
}

impl Payload {
    /// Reads the parameters of an operation.
    pub(super) fn of(
        api: &Api,
        operation: &Operation<'_>,
        subject: &mut Subject<'_>,
    ) -> Result<Self, String> {
        let mut payload = Self { path: plain_path(operation.path, subject)?, ..Self::default() };
        let own = parameters(api, operation.definition)?;
        let shared = parameters(api, operation.item)?;
        let ids: BTreeSet<_> = own.iter().map(|one| id(one)).collect();
        let is_overridden = |one: &&Json| ids.contains(&id(one));
        let shared: Vec<&Json> = shared.into_iter().filter(|one| !is_overridden(one)).collect();
        for definition in shared.into_iter().chain(own.iter().copied()) {
            if let Some(parameter) = parameter(definition, subject)? {
                payload.add(api, parameter, subject)?;
            }
        }
        payload.fill_path(subject)?;
        Ok(payload)
    }

    fn add(
        &mut self,
        api: &Api,
        parameter: Parameter<'_>,
        subject: &mut Subject<'_>,
    ) -> Result<(), String> {
        let Parameter { name, place, definition, schema } = parameter;
        if place == "header" && header_mistake(name).is_some() {
            subject.warn("", "a header that the HTTP client sets was left out");
            return Ok(());
        }
        if is_credential(api, name, place) {
            subject.warn("", "a key was left out: it comes from credentials, not from the model");
            return Ok(());
        }
        if !self.seen.insert((place.to_owned(), parameter_key(name, place))) {
            return Err(format!("it has two parameters `{name}` in its {place}"));
        }
        let style = text(definition, "style");
        let explode = match definition.get("explode") {
            Some(Json::Boolean(explode)) => Some(*explode),
            _ => None,
        };
        for (key, word) in [
            ("allowReserved", "is percent-encoded all the same"),
            ("allowEmptyValue", "is never sent without a value"),
        ] {
            if is_set(definition, key) {
                subject.warn("", format!("a parameter with `{key}` {word}"));
            }
        }
        let property = self.free_name(name, place);
        let entry = || (name.to_owned(), Json::string(&property));
        match place {
            "path" => {
                check_plain(api, "path", style, explode, &schema)?;
                if !self.path.contains(&format!("{{{name}}}")) {
                    return Err(format!("its path has no `{{{name}}}`"));
                }
                self.in_path.insert(name.to_owned(), property.clone());
            }
            "query" => self.query.push(query(name, &property, style, explode)?),
            "header" => {
                check_plain(api, "header", style, explode, &schema)?;
                self.headers.push(entry());
            }
            _ => {
                if explode != Some(false) && !api.root.kinds(&schema).is_empty() {
                    subject.warn("", "a list in a cookie is sent between commas");
                }
                self.cookies.push(entry());
            }
        }
        let is_required = place == "path" || is_set(definition, "required");
        self.property(property, schema, is_required);
        Ok(())
    }

    /// Adds a property.
    pub(super) fn property(&mut self, name: String, schema: Json, is_required: bool) {
        self.required.extend(is_required.then(|| Json::string(&name)));
        self.properties.push((name, schema));
    }

    /// Reserves a name whose Rust field is free: the wanted one, otherwise with its place as a prefix, otherwise with a number.
    pub(super) fn free_name(&mut self, wanted: &str, place: &str) -> String {
        let asked = self.fields.get(&naming::identifier(wanted)).copied().unwrap_or_default();
        let is_free = |name: &String| {
            let count = self.fields.entry(naming::identifier(name)).or_default();
            *count += 1;
            *count == 1
        };
        let placed = format!("{place}_{wanted}");
        let numbered = (asked.max(2)..).map(|number| format!("{place}_{wanted}_{number}"));
        let mut candidates = [wanted.to_owned(), placed].into_iter().chain(numbered);
        candidates.find(is_free).unwrap_or_default()
    }

    /// Replaces the parameters in the path by properties. Adds a property for a parameter that the document does not declare.
    fn fill_path(&mut self, subject: &mut Subject<'_>) -> Result<(), String> {
        let mut path = String::new();
        let mut seen = BTreeSet::new();
        for part in path_parts(&self.path).map_err(|why| format!("its path {why}"))? {
            let name = match part {
                Part::Property(name) => name,
                Part::Text(text) => {
                    path += &text;
                    continue;
                }
            };
            if !seen.insert(name.clone()) {
                return Err(format!("its path has `{{{name}}}` twice"));
            }
            let property = if let Some(property) = self.in_path.get(&name) {
                property.clone()
            } else {
                subject.warn("", "a part of the path that no parameter describes is a string");
                let property = self.free_name(&name, "path");
                let schema = Json::Object(vec![("type".to_owned(), Json::string("string"))]);
                self.property(property.clone(), schema, true);
                property
            };
            path.extend(["{", &property, "}"]);
        }
        self.path = path;
        Ok(())
    }

    /// Takes the entries of `http`.
    pub(super) fn http(&mut self, verb: &str) -> Entries {
        let mut http: Entries = vec![
            ("method".to_owned(), Json::string(verb)),
            ("path".to_owned(), Json::string(&self.path)),
        ];
        let query = std::mem::take(&mut self.query);
        if !query.is_empty() {
            http.push(("query".to_owned(), Json::Array(query)));
        }
        for (key, named) in [("headers", &mut self.headers), ("cookies", &mut self.cookies)] {
            if !named.is_empty() {
                http.push((key.to_owned(), Json::Object(std::mem::take(named))));
            }
        }
        http
    }

    /// The schema of the payload; `None` if it has no properties.
    pub(super) fn into_schema(self) -> Option<Json> {
        if self.properties.is_empty() {
            return None;
        }
        let mut schema = vec![("type".to_owned(), Json::string("object"))];
        if !self.required.is_empty() {
            schema.push(("required".to_owned(), Json::Array(self.required)));
        }
        schema.push(("properties".to_owned(), Json::Object(self.properties)));
        schema.push(("additionalProperties".to_owned(), Json::Boolean(false)));
        Some(Json::Object(schema))
    }
}

/// The place and name of a parameter, by which an operation overrides one of its path.
fn id(parameter: &Json) -> (Option<&str>, Option<String>) {
    let place = text(parameter, "in");
    let name = text(parameter, "name");
    (place, name.map(|name| parameter_key(name, place.unwrap_or_default())))
}

fn parameters<'a>(api: &'a Api, owner: &'a Json) -> Result<Vec<&'a Json>, String> {
    match owner.get("parameters") {
        None => Ok(Vec::new()),
        Some(Json::Array(items)) => items.iter().map(|item| api.copied(item)).collect(),
        Some(_) => Err("its `parameters` are not a list".to_owned()),
    }
}

/// Reads a parameter; `None` with a warning if it cannot be expressed and is optional.
fn parameter<'a>(
    definition: &'a Json,
    subject: &mut Subject<'_>,
) -> Result<Option<Parameter<'a>>, String> {
    let (Some(name), Some(place)) = (text(definition, "name"), text(definition, "in")) else {
        return Err("a parameter has no `name` or no `in`".to_owned());
    };
    if name.chars().any(char::is_control) || hidden(name).next().is_some() {
        return Err(format!("the name of the parameter `{name}` has hidden characters"));
    }
    if name.len() > MAX_KEY_BYTES {
        return Err(format!(
            "the name of a parameter has {} bytes, expected at most {MAX_KEY_BYTES}",
            name.len()
        ));
    }
    if !["path", "query", "header", "cookie"].contains(&place) {
        return Err(format!("the parameter `{name}` is in `{place}`, which OpenAPI does not have"));
    }
    if !entries(definition, "content").is_empty() {
        if is_set(definition, "required") || place == "path" {
            return Err(format!("the parameter `{name}` has a media type, which is not supported"));
        }
        subject.warn("", "a parameter with a media type was left out, as that is not supported");
        return Ok(None);
    }
    let schema = described(definition.get("schema").cloned(), definition);
    Ok(Some(Parameter { name, place, definition, schema }))
}

/// Adds the description, deprecation and examples of a parameter to its schema.
fn described(schema: Option<Json>, definition: &Json) -> Json {
    let mut schema = match schema {
        Some(Json::Object(entries)) => entries,
        Some(Json::Boolean(false)) => return Json::Boolean(false),
        _ => Vec::new(),
    };
    let has = |schema: &Entries, key: &str| schema.iter().any(|(known, _)| known == key);
    if let Some(words) = text(definition, "description")
        && !has(&schema, "description")
    {
        schema.push(("description".to_owned(), Json::string(words)));
    }
    if is_set(definition, "deprecated") && !has(&schema, "deprecated") {
        schema.push(("deprecated".to_owned(), Json::Boolean(true)));
    }
    if !has(&schema, "example") && !has(&schema, "examples") && !has(&schema, "$ref") {
        let one = definition.get("example").cloned().into_iter();
        let several = entries(definition, "examples")
            .iter()
            .filter_map(|(_, example)| example.get("value").cloned());
        let examples: Vec<Json> = one.chain(several).collect();
        if !examples.is_empty() {
            schema.push(("examples".to_owned(), Json::Array(examples)));
        }
    }
    Json::Object(schema)
}

fn query(
    name: &str,
    property: &str,
    style: Option<&str>,
    explode: Option<bool>,
) -> Result<Json, String> {
    let (word, usual) = match style.unwrap_or("form") {
        "form" => (None, true),
        "spaceDelimited" => (Some("space_delimited"), false),
        "pipeDelimited" => (Some("pipe_delimited"), false),
        "deepObject" => (Some("deep_object"), true),
        other => {
            return Err(format!(
                "the parameter `{name}` has the style `{other}`, which queries do not have"
            ));
        }
    };
    // The default of `explode` depends on the style, so only other values are written.
    let explode = explode.filter(|explode| *explode != usual);
    if word.is_none() && explode.is_none() && name == property {
        return Ok(Json::string(name));
    }
    let mut entries = vec![("property".to_owned(), Json::string(property))];
    if name != property {
        entries.push(("name".to_owned(), Json::string(name)));
    }
    entries.extend(word.map(|word| ("style".to_owned(), Json::string(word))));
    entries.extend(explode.map(|explode| ("explode".to_owned(), Json::Boolean(explode))));
    Ok(Json::Object(entries))
}

/// Checks that a parameter in a path or header has the style `simple`.
fn check_plain(
    api: &Api,
    what: &str,
    style: Option<&str>,
    explode: Option<bool>,
    schema: &Json,
) -> Result<(), String> {
    if let Some(style) = style.filter(|style| *style != "simple") {
        return Err(format!(
            "a parameter in its {what} has the style `{style}`; only `simple` is supported"
        ));
    }
    if explode == Some(true) && api.root.kinds(schema).contains(OBJECT) {
        return Err(format!(
            "an object in its {what} is exploded; only lists of keys and values are supported"
        ));
    }
    Ok(())
}

/// Returns whether a parameter is the key of a security scheme.
fn is_credential(api: &Api, name: &str, place: &str) -> bool {
    api.credentials.contains(&(place.to_owned(), parameter_key(name, place)))
}

/// A path without its fragment, which requests do not send.
fn plain_path(path: &str, subject: &mut Subject<'_>) -> Result<String, String> {
    let (path, fragment) =
        path.split_once('#').map_or((path, None), |(path, rest)| (path, Some(rest)));
    if fragment.is_some() {
        subject.warn(
            "",
            "the fragment of a path (after `#`) was left out, as requests do not send it",
        );
    }
    if path.contains('?') {
        return Err("its path has a query of its own".to_owned());
    }
    Ok(path.to_owned())
}
