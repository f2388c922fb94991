//! Projects for dialects that accept any JSON Schema, except for rules about its root and about older drafts.

mod conditions;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use toolwright::pointer::{from_fragment, to_fragment};
use toolwright::schema::{Draft, Schema};
use toolwright::value::{Map, Value};

use super::free_names::FreeNames;
use super::leaf::takes_parts;
use super::root::{INPUT, wrapped};
use super::{Modern, Node, Projector};
use crate::canonical::{Canonical, change, change_in, modernize, parts, visit};
use crate::guard::{strings, type_names};
use crate::loss::LossKind;
use crate::plan::{AbsentForm, ObjectStep, Property, Rest, SAME, Step, StepId};
use crate::row::Dialect;
use crate::sentence;

impl Modern {
    pub(super) fn of(schema: &Value) -> Self {
        let mut modern = schema.clone();
        modernize(&mut modern);
        if let (true, Value::Object(entries)) = (other_draft(schema).is_some(), &mut modern) {
            entries.remove("$schema");
        }
        let mistake = Schema::new(&modern.to_string()).err();
        let mistake = mistake.map(|error| (error.pointer().to_owned(), error.message().to_owned()));
        Self { schema: modern, mistake }
    }
}

/// The `$schema` of a schema, if it names another draft than 2020-12.
fn other_draft(schema: &Value) -> Option<&str> {
    let draft = schema.get("$schema").and_then(Value::as_str)?;
    (!draft.is_empty() && !draft.contains("2020-12")).then_some(draft)
}

/// Projects the whole schema, as it is written; `modern` is its form of draft 2020-12.
pub(super) fn project<'a>(
    projector: &mut Projector<'_>,
    schema: &'a Value,
    modern: impl FnOnce() -> &'a Modern,
) -> (Option<Map<Value>>, StepId) {
    let dialect = projector.dialect;
    let mut whole = schema;
    if dialect.needs_2020_12() {
        let Modern { schema: modern, mistake } = modern();
        if let Some(draft) = other_draft(schema) {
            projector.lose(LossKind::Annotation, "", "$schema", Value::from(draft), "", "T21");
        }
        if let Some((pointer, message)) = mistake {
            projector.refuse(pointer, "T0", message.clone());
            return (None, SAME);
        }
        whole = modern;
    }
    let object = plain_object(projector, whole);
    let is_plain = object.is_some();
    let mut schema =
        object.map_or_else(|| whole.clone(), |object| Value::Object(object.into_owned()));
    conditions::remove(projector, &mut schema);
    if !dialect.pattern_lookaround || !dialect.pattern_references {
        without_strange_patterns(projector, &mut schema);
    }
    if dialect.id_is_uri_reference {
        without_strange_ids(projector, &mut schema);
    }
    if dialect.items_required {
        with_items(projector, &mut schema);
    }
    let entries = match schema {
        Value::Object(entries) if is_plain => entries,
        schema => return under_input(projector, schema),
    };
    let properties = entries.get("properties").and_then(Value::as_object);
    let takes_keys =
        properties.into_iter().flat_map(Map::keys).all(|key| dialect.takes_key(key, true));
    if takes_keys {
        let mut entries = entries;
        if dialect.objects_have_properties_root && !entries.contains_key("properties") {
            entries.insert("properties", Value::Object(Map::new()));
        }
        return (Some(entries), SAME);
    }
    match with_other_keys(projector, &entries) {
        Some((wire, step)) => (Some(wire), step),
        None => under_input(projector, Value::Object(entries)),
    }
}

/// The entries of a root that the dialect takes, where there is one without wrapping it.
fn plain_object<'a>(projector: &Projector<'a>, schema: &'a Value) -> Option<Cow<'a, Map<Value>>> {
    let dialect = projector.dialect;
    let entries = schema.as_object()?;
    let is_taken = |entries: &Map<Value>| {
        entries.get("type").and_then(Value::as_str) == Some("object")
            && !dialect.root_forbid.iter().any(|keyword| entries.contains_key(keyword))
            && !entries.contains_key("$ref")
    };
    if is_taken(entries) {
        return Some(Cow::Borrowed(entries));
    }
    // A reference to an object, or members that merge, are one object, unless a reference leads to what is merged.
    let stays = |pointer: &str| pointer.is_empty() || is_definition(pointer);
    if !projector.canonical.can_move_parts_of(entries) || !projector.canonical.referred().all(stays)
    {
        return None;
    }
    let merged = projector.canonical.without_reference(&projector.canonical.root, 0)?;
    let was_merged = entries.contains_key("$ref") || entries.contains_key("allOf");
    (was_merged && is_taken(&merged)).then_some(merged)
}

/// The schema under the one property of an object. References keep their targets.
fn under_input(projector: &mut Projector<'_>, schema: Value) -> (Option<Map<Value>>, StepId) {
    let Value::Object(mut inner) = schema else {
        if schema == Value::Boolean(false) {
            projector.lose(LossKind::Widening, "", "", schema, "any value", "T15");
        }
        return wrapped(projector, Node::same(Map::new()));
    };
    let schema_uri = inner.remove("$schema");
    let draft = schema_uri.as_ref().and_then(Value::as_str).and_then(Draft::from_uri);
    let draft = draft.unwrap_or(Draft::D2020);
    let mut outer = Map::new();
    outer.extend(schema_uri.map(|uri| ("$schema", uri)));
    let id = if draft == Draft::D4 { "id" } else { "$id" };
    let mut definitions = Vec::new();
    if projector.canonical.can_move_parts_of(&inner) {
        rebase(projector.canonical, &mut inner);
        let is_anchor = |id: &Value| id.as_str().is_some_and(|id| id.starts_with('#'));
        if !inner.get(id).is_some_and(is_anchor) {
            outer.extend(inner.remove(id).map(|value| (id, value)));
        }
        for keyword in ["$defs", "definitions"] {
            definitions.extend(inner.remove(keyword).map(|all| (keyword, all)));
        }
    } else {
        // With an id, all references in it keep their meaning.
        if inner.get(id).is_none() {
            inner.insert(id, Value::from(WHOLE));
        }
        let keyword = if draft < Draft::D2019 { "definitions" } else { "$defs" };
        let whole = Map::from([(NAME, Value::Object(inner))]);
        definitions.push((keyword, Value::Object(whole)));
        inner = Map::from([("$ref", Value::from(format!("#/{keyword}/{NAME}")))]);
    }
    let (wire, step) = wrapped(projector, Node::same(inner));
    let wire = wire.map(|wire| {
        outer
            .into_iter()
            .chain(wire)
            .chain(definitions.into_iter().map(|(key, value)| (key.to_owned(), value)))
            .collect()
    });
    (wire, step)
}

/// The definition of a whole schema, and its URI if it has none.
const NAME: &str = "args";
const WHOLE: &str = "toolwright:args";

/// Returns whether a pointer leads to a definition, or into one.
fn is_definition(pointer: &str) -> bool {
    pointer.starts_with("/$defs/") || pointer.starts_with("/definitions/")
}

/// Changes references to the root to its new place. Anchors move with it.
fn rebase(canonical: &Canonical, schema: &mut Map<Value>) {
    change_in(schema, &mut |node, at| {
        let Some(reference) = node.get("$ref").and_then(Value::as_str) else { return };
        let fragment = reference.split_once('#').map_or("", |(_, fragment)| fragment);
        let is_pointer = from_fragment(fragment)
            .is_some_and(|fragment| fragment.is_empty() || fragment.starts_with('/'));
        if let Some(pointer) = canonical.written_target(reference, at)
            && is_pointer
            && !is_definition(&pointer)
        {
            let moved = format!("#/properties/{INPUT}{}", to_fragment(&pointer));
            node.insert("$ref", Value::from(moved));
        }
    });
}

/// The root with keys that fit the grammar. `None` where other rules name the keys too.
fn with_other_keys(
    projector: &mut Projector<'_>,
    entries: &Map<Value>,
) -> Option<(Map<Value>, StepId)> {
    let dialect = projector.dialect;
    let all = entries.get("properties").and_then(Value::as_object);
    let keys: Vec<&str> = all.into_iter().flat_map(Map::keys).collect();
    let known = [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "title",
        "description",
        "$schema",
        "$id",
        "$defs",
        "definitions",
        "$comment",
        "minProperties",
        "maxProperties",
        "examples",
        "default",
    ];
    let canonical = projector.canonical;
    if !entries.keys().all(|key| known.contains(&key))
        || !canonical.can_move_parts_of(entries)
        || !canonical.referred().all(is_definition)
    {
        return None;
    }
    let mut free = FreeNames::default();
    let kept = keys.iter().copied().filter(|key| dialect.takes_key(key, true));
    // A required key may have no property.
    let kept: BTreeSet<&str> = kept.chain(strings(entries.get("required"))).collect();
    for key in kept {
        free.take(key.to_owned());
    }
    let mut properties = Vec::new();
    for key in keys {
        let wire_key = if dialect.takes_key(key, true) {
            key.to_owned()
        } else {
            free.take(super::object::fitted(key))
        };
        properties.push(Property {
            key: key.to_owned(),
            wire_key,
            step: SAME,
            absent: AbsentForm::Absent,
        });
    }
    let wire_keys: HashMap<&str, &str> =
        properties.iter().map(|property| (&*property.key, &*property.wire_key)).collect();
    let wire_key = |key: &str| wire_keys.get(key).copied().unwrap_or(key).to_owned();
    let mut wire = entries.clone();
    if let Some(Value::Object(all)) = entries.get("properties") {
        wire.insert(
            "properties",
            Value::Object(all.iter().map(|(key, value)| (wire_key(key), value.clone())).collect()),
        );
    }
    if let Some(required) = entries.get("required") {
        let names = strings(Some(required)).map(|key| Value::from(wire_key(key)));
        wire.insert("required", Value::Array(names.collect()));
    }
    let is_closed = entries.get("additionalProperties") == Some(&Value::Boolean(false));
    if !is_closed {
        // A key that equals the new name of another cannot be sent.
        projector.lose(LossKind::Narrowing, "", "unnamed_keys", Value::Null, "renamed keys", "T19");
    }
    let step = projector.step(Step::Object(ObjectStep::new(properties, Rest::Keep(SAME))));
    Some((wire, step))
}

/// Returns whether the schema of an array lacks `items`.
fn lacks_items(node: &Map<Value>) -> bool {
    !node.contains_key("items")
        && node.get("type").is_some_and(|kinds| type_names(kinds).any(|kind| kind == "array"))
}

/// Gives `items` to arrays that lack it.
fn with_items(projector: &mut Projector<'_>, schema: &mut Value) {
    let mut is_lacking = false;
    visit(schema, &mut |node, _| is_lacking |= lacks_items(node));
    if !is_lacking {
        return;
    }
    if let Value::Object(entries) = schema {
        lose_unevaluated_items(projector, entries, &mut String::new());
    }
    change(schema, &mut |node, _| {
        if lacks_items(node) {
            node.insert("items", Value::Object(Map::new()));
        }
    });
}

/// Lists each `unevaluatedItems`, apart from those in another: with `items`, here or in another schema of the same array, no item is left
/// for it.
fn lose_unevaluated_items(projector: &mut Projector<'_>, node: &Map<Value>, at: &mut String) {
    let keyword = "unevaluatedItems";
    if let Some(was) = node.get(keyword).filter(|_| !node.contains_key("items")) {
        let words = sentence::of(keyword, was, node).unwrap_or_default();
        projector.lose(LossKind::Enforcement, at, keyword, was.clone(), &words, "T20");
    }
    let outer = at.len();
    for part in parts(node).into_iter().filter(|part| part.keyword != keyword) {
        let Value::Object(inner) = part.schema else { continue };
        at.push_str(&part.pointer);
        lose_unevaluated_items(projector, inner, at);
        at.truncate(outer);
    }
}

/// Returns whether the dialect does not take the pattern of a node.
fn has_strange_pattern(dialect: &Dialect, node: &Map<Value>) -> bool {
    let pattern = node.get("pattern").and_then(Value::as_str);
    pattern.is_some_and(|pattern| !takes_parts(dialect, pattern))
}

/// Returns whether the dialect does not take a pattern for keys of a node.
fn has_strange_keys(dialect: &Dialect, node: &Map<Value>) -> bool {
    let patterns = node.get("patternProperties").and_then(Value::as_object);
    patterns.is_some_and(|all| all.keys().any(|pattern| !takes_parts(dialect, pattern)))
}

/// Replaces patterns with lookaround or references by sentences where the dialect does not take them.
fn without_strange_patterns(projector: &mut Projector<'_>, schema: &mut Value) {
    let dialect = projector.dialect;
    let words = |node: &Map<Value>| {
        let pattern = node.get("pattern").filter(|_| has_strange_pattern(dialect, node))?;
        sentence::of("pattern", pattern, node)
    };
    let mut is_lost = false;
    visit(schema, &mut |node, at| {
        if let (Some(words), Some(was)) = (words(node), node.get("pattern")) {
            is_lost = true;
            projector.lose(LossKind::Enforcement, at, "pattern", was.clone(), &words, "T20");
        }
    });
    if is_lost {
        change(schema, &mut |node, _| {
            if let Some(words) = words(node) {
                node.remove("pattern");
                describe(node, words);
            }
        });
    }
}

/// Adds a sentence to the description of a node.
fn describe(node: &mut Map<Value>, words: String) {
    let own = node.get("description").and_then(Value::as_str);
    let text = sentence::behind(own, &[words]);
    node.extend(text.map(|text| ("description", Value::from(text))));
}

/// Removes ids that are not URI references (RFC 3986, section 4.1).
fn without_strange_ids(projector: &mut Projector<'_>, schema: &mut Value) {
    let is_reference = |id: &str| {
        id.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&byte))
            && !id.is_empty()
    };
    let mut removed = None;
    let mut is_needed = false;
    change(schema, &mut |node, at| {
        let reference = node.get("$ref").and_then(Value::as_str);
        is_needed |= reference.is_some_and(|reference| !reference.starts_with('#'));
        if let Some(id) = node.get("$id")
            && id.as_str().is_none_or(|id| !is_reference(id))
            && let Some(id) = node.remove("$id")
        {
            // References in it are relative to it.
            is_needed |= !at.is_empty() && id.as_str().is_some();
            projector.lose(LossKind::Annotation, "", "$id", id.clone(), "", "T21");
            removed = Some(id);
        }
    });
    if let (Some(id), true) = (removed, is_needed) {
        let reason = format!("has the `$id` {id}, which references need, expected a URI reference");
        projector.refuse("", "T4", reason);
    }
}
