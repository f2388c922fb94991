//! Fixes one finding in one schema: by a change that keeps the meaning if there is one for its code, otherwise by leaving out
//! the smallest part.

use super::super::equality::as_schema;
use super::super::field_clashes;
use super::super::keywords::{Entries, rebuild, take};
use super::super::widen::{anything, leave_out, mark_wider};
use super::place::Place;
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::keyword::is_annotation;

/// A place that a finding is about.
pub(super) struct Fault<'a> {
    /// Its offset in the text.
    pub(super) start: u32,
    /// Its path in the document.
    pub(super) place: Place,
    /// The code of the finding.
    pub(super) code: &'static str,
    /// The message of the finding.
    pub(super) message: &'a str,
}

impl Fault<'_> {
    /// Returns true if fields of the object at `at` steps have the same name. Separating them separates all fields of the object.
    pub(super) fn is_about_fields(&self, at: usize) -> bool {
        let keyword = self.place.path.get(at).map(String::as_str);
        self.code == "name-clash" && matches!(keyword, Some("properties" | "required"))
    }
}

/// Returns the warning about fields that were separated.
pub(super) fn separated(why: &str) -> String {
    format!("{why}; all of them are checked, but only the first has a field")
}

/// The keywords that limit numbers.
const BOUNDS: [&str; 4] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];

/// Changes a schema to remove a fault; `rest` is the path from the schema to the fault. Returns a warning about the change, or
/// `None` if there is nothing left to try. The first try keeps the most; later ones leave out more.
pub(super) fn fix(
    schema: &mut Json,
    rest: &[String],
    fault: &Fault<'_>,
    tries: usize,
    is_object: bool,
) -> Option<String> {
    let why = fault.message;
    if let ("not-an-object", Json::String(_)) = (fault.code, &*schema) {
        *schema = as_schema(schema);
    }
    let Json::Object(entries) = schema else {
        let message = format!("{schema} was left out, so any value is accepted: {why}");
        *schema = anything();
        return Some(message);
    };
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    if tries > 2 {
        return clear(entries, is_object).then(|| format!("a schema was left out: {why}"));
    }
    if tries == 1
        && let Some(message) = fix_keeping_meaning(entries, &rest, fault, is_object)
    {
        return Some(message);
    }
    match rest.as_slice() {
        _ if tries == 2 && ["name-clash", "reserved-name"].contains(&fault.code) => {
            untyped(entries, is_object);
            Some(format!("{why}; the schema is checked, and has no type of its own"))
        }
        [keyword @ ("enum" | "required" | "examples"), item]
            if tries == 1 && is_redundant_item(fault.code) =>
        {
            remove_item(entries, keyword, item);
            Some(format!("a value of `{keyword}` was left out: {why}"))
        }
        ["patternProperties", name, ..] if fault.place.is_key => {
            let Some((_, Json::Object(patterns))) =
                entries.iter_mut().find(|(key, _)| key == "patternProperties")
            else {
                return Some(format!("`patternProperties` was left out: {why}"));
            };
            let mut kept = std::mem::take(patterns);
            take(&mut kept, name);
            let mut message = without(entries, "patternProperties", why);
            if !kept.is_empty() {
                entries.push(("patternProperties".to_owned(), Json::Object(kept)));
                message = format!("a pattern of {message}");
            }
            Some(message)
        }
        [keyword, ..] => Some(without(entries, keyword, why)),
        [] if shows_values(fault.code) && tries == 1 => {
            let word = if why.starts_with("the default") { "default" } else { "examples" };
            let is_there = take(entries, word).is_some();
            let gone = if is_there { word } else { "default" };
            if !is_there {
                take(entries, "default");
            }
            Some(format!("`{gone}` was left out: {why}"))
        }
        [] if entries.iter().any(|(key, _)| key == "$ref") => Some(without(entries, "$ref", why)),
        [] => clear(entries, is_object).then(|| format!("a schema was left out: {why}")),
    }
}

/// Leaves out a keyword and those that depend on it. Returns the warning.
fn without(entries: &mut Entries, keyword: &str, why: &str) -> String {
    let others = leave_out(entries, keyword);
    let others: Vec<String> = others.iter().map(|other| format!("`{other}`")).collect();
    let with =
        if others.is_empty() { String::new() } else { format!(", with {}", others.join(" and ")) };
    format!("`{keyword}` was left out{with}: {why}")
}

/// Fixes a fault so that the schema accepts the same values. Returns the warning, or `None` if there is no such fix.
fn fix_keeping_meaning(
    entries: &mut Entries,
    rest: &[&str],
    fault: &Fault<'_>,
    is_object: bool,
) -> Option<String> {
    let why = fault.message;
    let nothing = |what: &str| Some(format!("{what} is accepted, which `not` now says: {why}"));
    match (fault.code, rest) {
        ("not-an-object", _) => {
            declare_object(entries);
            Some("arguments are an object, which the schema now says".to_owned())
        }
        ("name-clash", ["properties" | "required", ..]) => {
            field_clashes::separate(entries);
            Some(separated(why))
        }
        ("name-clash" | "reserved-name", _) => {
            untyped(entries, is_object);
            Some(format!("{why}; the schema is checked, and has no type of its own"))
        }
        ("empty-range", []) => {
            impossible(entries, &BOUNDS, Some("number"));
            nothing("no number")
        }
        ("empty-range", ["maxLength"]) => {
            impossible(entries, &["minLength", "maxLength"], Some("string"));
            nothing("no string")
        }
        ("empty-range", ["maxItems"]) => {
            impossible(entries, &["minItems", "maxItems"], Some("array"));
            nothing("no array")
        }
        ("impossible-property", ["required", item]) => {
            remove_item(entries, "required", item);
            impossible(entries, &[], Some("object"));
            nothing("no object")
        }
        ("empty-enum", [keyword]) => {
            impossible(entries, &[keyword], None);
            nothing("nothing")
        }
        ("wrong-type-for-value", ["const"]) => {
            impossible(entries, &["const"], None);
            nothing("nothing")
        }
        _ => None,
    }
}

/// Returns whether a finding may be about a default or an example.
fn shows_values(code: &str) -> bool {
    ["default-breaks-schema", "over-budget"].contains(&code)
}

/// Returns whether a finding is about an item of a list that has no effect on the accepted values.
fn is_redundant_item(code: &str) -> bool {
    ["wrong-type-for-value", "repeated-value", "repeated-item", "default-breaks-schema"]
        .contains(&code)
}

fn remove_item(entries: &mut Entries, keyword: &str, item: &str) {
    let list = entries.iter_mut().find(|(key, _)| key == keyword);
    let (Some((_, Json::Array(items))), Ok(index)) = (list, item.parse::<usize>()) else { return };
    if index < items.len() {
        items.remove(index);
    }
    if items.is_empty() && keyword != "enum" {
        take(entries, keyword);
    }
}

/// Replaces keywords that contradict each other by a `not` that refuses every value of a type.
fn impossible(entries: &mut Entries, keywords: &[&str], kind: Option<&str>) {
    for keyword in keywords {
        take(entries, keyword);
    }
    let refused = kind.map(|kind| ("type".to_owned(), Json::string(kind)));
    let refused = Json::Object(refused.into_iter().collect());
    if entries.iter().any(|(key, _)| key == "not") {
        demand(entries, Json::Object(vec![("not".to_owned(), refused)]));
    } else {
        entries.push(("not".to_owned(), refused));
    }
}

/// Adds a schema to `allOf`.
fn demand(entries: &mut Entries, schema: Json) {
    match entries.iter_mut().find(|(key, _)| key == "allOf") {
        Some((_, Json::Array(all))) => all.push(schema),
        _ => entries.push(("allOf".to_owned(), Json::Array(vec![schema]))),
    }
}

/// Adds the type `object` to a schema of arguments, as arguments are always objects.
fn declare_object(entries: &mut Entries) {
    let decides = ["const", "enum", "$ref"];
    let is_decided = entries.iter().any(|(key, _)| decides.contains(&key.as_str()));
    let object = Json::string("object");
    let is_object = match entries.iter().find(|(key, _)| key == "type") {
        None => true,
        Some((_, Json::Array(kinds))) => kinds.contains(&object),
        Some((_, kind)) => *kind == object,
    };
    if is_decided || !is_object || refers_to_whole(entries) {
        untyped(entries, true);
        return;
    }
    take(entries, "type");
    entries.insert(0, ("type".to_owned(), object));
    // With `properties` beside it, an `anyOf` or `oneOf` does not become a union type.
    if !entries.iter().any(|(key, _)| key == "properties") {
        entries.push(("properties".to_owned(), Json::Object(Entries::new())));
    }
}

fn refers_to_whole(entries: &Entries) -> bool {
    let mut found = false;
    rebuild(Json::Object(entries.clone()), "", &mut |part, _| {
        found |= part.get("$ref") == Some(&Json::string("#"));
        part
    });
    found
}

/// Moves the assertions of a schema into `then` beside `if: true`, which does not become a type. The meaning stays the same.
fn untyped(entries: &mut Entries, is_object: bool) {
    let stays = |key: &str| is_annotation(key) || key == "$defs";
    let refers = refers_to_whole(entries);
    let (mut outside, inside): (Entries, Entries) =
        std::mem::take(entries).into_iter().partition(|(key, _)| stays(key));
    let mut schema = Json::Object(inside);
    if refers && is_object {
        // `#` has to refer to the same schema as before.
        let mut definitions = match take(&mut outside, "$defs") {
            Some(Json::Object(definitions)) => definitions,
            _ => Entries::new(),
        };
        let mut name = "Whole".to_owned();
        while definitions.iter().any(|(known, _)| *known == name) {
            name.push('_');
        }
        let reference = Json::String(format!("#/$defs/{name}"));
        let redirected = |schema: Json| {
            rebuild(schema, "", &mut |part, _| match part {
                Json::Object(mut entries) => {
                    for (key, value) in &mut entries {
                        if key == "$ref" && *value == Json::string("#") {
                            *value = reference.clone();
                        }
                    }
                    Json::Object(entries)
                }
                other => other,
            })
        };
        for (_, body) in &mut definitions {
            *body = redirected(std::mem::replace(body, Json::Null));
        }
        definitions.push((name, redirected(schema)));
        outside.push(("$defs".to_owned(), Json::Object(definitions)));
        schema = Json::Object(vec![("$ref".to_owned(), reference)]);
    }
    if is_object {
        entries.push(("type".to_owned(), Json::string("object")));
    }
    entries.extend(outside);
    entries.push(("if".to_owned(), Json::Boolean(true)));
    entries.push(("then".to_owned(), schema));
}

/// Leaves out all assertions of a schema. Returns whether there were any.
fn clear(entries: &mut Entries, is_object: bool) -> bool {
    let asserts = |key: &str| !is_annotation(key) && key != "$defs";
    let object = ("type".to_owned(), Json::string("object"));
    let is_blank =
        entries.iter().all(|entry| !asserts(&entry.0) || (is_object && *entry == object));
    let has_values = entries.iter().any(|(key, _)| key == "default" || key == "examples");
    if is_blank && !has_values {
        return false;
    }
    entries.retain(|(key, _)| ["title", "description", "$defs"].contains(&key.as_str()));
    if is_object {
        entries.insert(0, object);
    }
    mark_wider(entries);
    true
}
