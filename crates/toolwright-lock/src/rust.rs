//! Predicts what a change means for the API of generated crates. A rule has the class at worst; here is decided when it is the class
//! at best.

use std::collections::{BTreeMap, BTreeSet};

use toolwright::pointer::escaped;
use toolwright::{Map, Value};
use toolwright_codegen::internal::naming::variants;

use crate::classes::Change;
use crate::finding::{Finding, Places};
use crate::lock::{Lock, LockedTool};
use crate::rules;

/// Keywords whose presence decides which conversions a newtype has.
const LIMITS: [&str; 9] = [
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "minItems",
    "minLength",
    "minProperties",
    "pattern",
    "uniqueItems",
];

/// Both versions of the schema of arguments or of a result.
struct Sides {
    /// `/args` or `/result`, with which their places begin.
    root: &'static str,
    old: Value,
    new: Value,
    /// The parts of the new schema that refer to each part: the definitions, by reference, and the root, `#`.
    users: BTreeMap<String, Vec<String>>,
    /// For enums at these places: whether the variants keep their names.
    kept: BTreeMap<Places, bool>,
    /// The parts of the new schema that contain a part.
    containing: BTreeMap<String, BTreeSet<String>>,
}

/// Sets the class for Rust of the changes of a tool. `may_grow` is set if types are `#[non_exhaustive]` in both versions.
pub(crate) fn settle(findings: &mut [Finding], old: &LockedTool, new: &LockedTool, may_grow: bool) {
    let mut args = None;
    let mut result = None;
    for finding in findings {
        let Some(best) = finding.rule.rust_at_best else { continue };
        if !may_grow && best == Change::Minor {
            continue;
        }
        let pointer = finding.at.new.as_ref().or(finding.at.old.as_ref());
        let is_best = if finding.rule.id == rules::ERROR_ADDED.id {
            !old.errors.is_empty()
        } else if pointer.is_some_and(|pointer| pointer.starts_with("/args")) {
            args.get_or_insert_with(|| Sides::of("/args", old.args.get(), new.args.get()))
                .is_at_best(finding)
        } else {
            result
                .get_or_insert_with(|| Sides::of("/result", old.result.get(), new.result.get()))
                .is_at_best(finding)
        };
        if is_best {
            finding.classes.rust = best;
        }
    }
}

/// The methods of traits that the tools of a lock call, and the kinds of tools, each of which is a parameter of the function that
/// registers its toolset.
pub(crate) struct Needs<'a> {
    /// The toolsets, each with a kind of its tools.
    kinds: BTreeSet<(&'a str, &'a str)>,
    toolsets: BTreeSet<&'a str>,
    methods: BTreeSet<&'a str>,
    services: BTreeSet<&'a str>,
}

impl<'a> Needs<'a> {
    pub(crate) fn of(lock: &'a Lock) -> Self {
        let tools = || lock.tools.values();
        let methods: BTreeSet<&str> = tools().filter_map(method).collect();
        let owners = lock.toolsets.values().map(|toolset| toolset.service.as_str());
        Self {
            kinds: tools().map(|tool| (tool.toolset.as_str(), kind(tool))).collect(),
            toolsets: tools().map(|tool| tool.toolset.as_str()).collect(),
            services: methods.iter().map(|method| service(method)).chain(owners).collect(),
            methods,
        }
    }

    /// Returns whether a new tool needs nothing new of a trait that users implement, or of a function that they call.
    pub(crate) fn meet(&self, tool: &LockedTool) -> bool {
        let toolset = tool.toolset.as_str();
        let is_registered =
            !self.toolsets.contains(toolset) || self.kinds.contains(&(toolset, kind(tool)));
        let has_method = method(tool).is_none_or(|method| {
            self.methods.contains(method) || !self.services.contains(service(method))
        });
        is_registered && has_method
    }
}

fn kind(tool: &LockedTool) -> &str {
    tool.implementation.keys().next().map_or("", String::as_str)
}

/// Returns the method that a tool calls, as `service.method`.
fn method(tool: &LockedTool) -> Option<&str> {
    tool.implementation.get("method").map(String::as_str)
}

fn service(method: &str) -> &str {
    method.split('.').next().unwrap_or_default()
}

impl Sides {
    fn of(root: &'static str, old: &str, new: &str) -> Self {
        // The schemas have been compared, so they are JSON.
        let [old, new] = [old, new].map(|text| text.parse::<Value>().unwrap_or_default());
        let definitions = new.get("$defs").and_then(Value::as_object);
        let definitions = definitions.into_iter().flat_map(Map::iter);
        let mut parts: Vec<_> = definitions
            .map(|(name, schema)| (format!("#/$defs/{}", escaped(name)), references(schema, true)))
            .collect();
        parts.push(("#".to_owned(), references(&new, false)));
        let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (part, used) in parts {
            for used in used {
                users.entry(used).or_default().push(part.clone());
            }
        }
        Self { root, old, new, users, kept: BTreeMap::new(), containing: BTreeMap::new() }
    }

    /// Returns whether a change has its class at best, if types may grow.
    fn is_at_best<'a>(&mut self, finding: &'a Finding) -> bool {
        let id = finding.rule.id;
        if id.ends_with("_OPTIONAL_ADDED") || id == rules::ARG_KEY_CLAIMED.id {
            let pointer = finding.at.new.as_ref();
            let pointer = pointer.and_then(|pointer| pointer.strip_prefix(self.root));
            return pointer.is_some_and(|pointer| self.adds_a_field(pointer));
        }
        if let Some(kept) = self.kept.get(&finding.at) {
            return *kept;
        }
        let pointer = |at: &'a Option<String>| at.as_ref()?.strip_prefix(self.root);
        let pointers = pointer(&finding.at.old).zip(pointer(&finding.at.new));
        let Some((old, new)) = pointers else { return false };
        let (was, is) = (find(&self.old, old), find(&self.new, new));
        let (Some(was), Some(is)) = (was, is) else { return false };
        match id {
            _ if id.ends_with("_ENUM_VALUE_ADDED") => {
                let kept = keeps_variants(was, is);
                self.kept.insert(finding.at.clone(), kept);
                kept
            }
            // An object without alternatives is a struct, which becomes an enum.
            _ if id.ends_with("_VARIANT_ADDED") => was.get("oneOf").is_some(),
            _ if id == rules::ORDER_CHANGED.id => required(&self.old) == required(&self.new),
            _ if id == rules::DEFAULT_CHANGED.id || id == rules::DEFAULT_CHANGED_IN_RESULT.id => {
                [was, is].iter().all(|schema| schema.get("default").is_some_and(has_constant))
            }
            _ => {
                let present = |schema: &Value| LIMITS.map(|keyword| schema.get(keyword).is_some());
                let has_least = |schema: &Value| {
                    let least = |keyword| schema.get(keyword).and_then(Value::as_u64) > Some(0);
                    ["minItems", "minLength", "minProperties"].map(least)
                };
                present(was) == present(is) && has_least(was) == has_least(is)
            }
        }
    }

    /// Returns whether a new property adds a field to a struct and changes nothing else.
    fn adds_a_field(&mut self, pointer: &str) -> bool {
        let Some((parent, name)) = pointer.rsplit_once("/properties/") else { return false };
        let was = self.old.pointer(parent).and_then(|schema| schema.get("properties"));
        // An object without properties is a map.
        let was_struct =
            was.and_then(Value::as_object).is_some_and(|properties| !properties.is_empty());
        // The field for other keys gets a longer name if a property has that name.
        let takes_name = name.to_lowercase().starts_with("additional");
        was_struct && !takes_name && !self.closes_cycle(pointer)
    }

    /// Returns whether the type of a property contains the type that has the property. Fields of types that contain themselves are in
    /// a `Box`.
    fn closes_cycle(&mut self, pointer: &str) -> bool {
        let owner = match pointer.strip_prefix("/$defs/").and_then(|rest| rest.split('/').next()) {
            Some(name) => format!("#/$defs/{name}"),
            None => "#".to_owned(),
        };
        let users = &self.users;
        let containing = self.containing.entry(owner.clone()).or_insert_with(|| {
            let (mut found, mut open) = (BTreeSet::new(), vec![owner]);
            while let Some(part) = open.pop() {
                if found.insert(part.clone()) {
                    open.extend(users.get(&part).into_iter().flatten().cloned());
                }
            }
            found
        });
        let used = self.new.pointer(pointer).map(|schema| references(schema, true));
        used.is_none_or(|used| used.iter().any(|used| containing.contains(used)))
    }
}

/// Returns the references in a schema, with those in its definitions if asked.
fn references(schema: &Value, with_definitions: bool) -> BTreeSet<String> {
    let (mut open, mut found) = (vec![schema], BTreeSet::new());
    while let Some(value) = open.pop() {
        match value {
            Value::Object(entries) => {
                found.extend(value.get("$ref").and_then(Value::as_str).map(str::to_owned));
                let is_open = |key: &str| with_definitions || key != "$defs";
                open.extend(entries.iter().filter(|(key, _)| is_open(key)).map(|(_, value)| value));
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}

/// Returns the schema at a place, or that to which it refers.
fn find<'a>(root: &'a Value, pointer: &str) -> Option<&'a Value> {
    followed(root, root.pointer(pointer)?)
}

/// Follows the references of a schema.
fn followed<'a>(root: &'a Value, mut schema: &'a Value) -> Option<&'a Value> {
    let mut seen = BTreeSet::new();
    while let Some(target) =
        schema.get("$ref").and_then(Value::as_str).filter(|to| seen.insert(*to))
    {
        schema = root.pointer(target.strip_prefix('#')?)?;
    }
    Some(schema)
}

/// Returns whether the variants of an enum keep their names and the enum its kind.
fn keeps_variants(was: &Value, is: &Value) -> bool {
    let (Some(was), Some(is)) = (constants(was), constants(is)) else { return false };
    let is_text = |value: &Value| value.as_str().is_some();
    let is_integer = |value: &Value| value.as_i64().is_some();
    let kind = |values: &[Value]| (values.iter().all(is_text), values.iter().all(is_integer));
    let named = |values: &[Value]| -> BTreeSet<(String, String)> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let texts: Vec<String> = values.iter().map(text).collect();
        let names = variants(texts.iter().map(String::as_str));
        names.into_iter().map(String::from).zip(values.iter().map(Value::to_string)).collect()
    };
    let after = named(&is);
    kind(&was) == kind(&is) && named(&was).is_subset(&after)
}

/// Returns the constants of an enum other than null; none if a schema is not written as one.
fn constants(schema: &Value) -> Option<Vec<Value>> {
    let values: Vec<Value> = if let Some(values) = schema.get("enum") {
        values.as_array()?.to_vec()
    } else {
        let members = schema.get("oneOf").or(schema.get("anyOf"))?.as_array()?.iter();
        members.map(|member| member.get("const").cloned()).collect::<Option<_>>()?
    };
    Some(values.into_iter().filter(|value| *value != Value::Null).collect())
}

/// Returns the required properties of all objects, in the order of the constructors' parameters.
fn required(schema: &Value) -> Vec<&str> {
    let is_required = |list: &Value, name: &str| {
        list.as_array().is_some_and(|list| list.iter().any(|one| one.as_str() == Some(name)))
    };
    let mut found = Vec::new();
    match schema {
        Value::Object(entries) => {
            let properties = entries.get("properties").and_then(Value::as_object);
            if let (Some(properties), Some(list)) = (properties, entries.get("required")) {
                found.extend(properties.keys().filter(|name| is_required(list, name)));
            }
            // Named types may be in another order.
            let mut below: Vec<(&str, &Value)> = Map::iter(entries).collect();
            below.sort_by_key(|(key, _)| *key);
            found.extend(below.into_iter().flat_map(|(_, value)| required(value)));
        }
        Value::Array(items) => found.extend(items.iter().flat_map(required)),
        _ => {}
    }
    found
}

/// Returns whether a default has a constant whose type does not depend on it: a scalar other than that of `Default`.
fn has_constant(default: &Value) -> bool {
    match default {
        Value::Null | Value::Array(_) | Value::Object(_) => false,
        Value::Boolean(value) => *value,
        Value::Number(number) => number.as_f64() != 0.0,
        Value::String(text) => !text.is_empty(),
    }
}
