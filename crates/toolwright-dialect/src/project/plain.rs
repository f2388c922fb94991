//! Projects for dialects that accept any JSON Schema, except for rules about its root and about older drafts.

use toolwright::schema::Schema;
use toolwright::value::{Map, Value};

use super::leaf::looks_around;
use super::root::{INPUT, wrapped};
use super::{Node, Projector};
use crate::canonical::{modern, rebuilt, visit};
use crate::guard::type_names;
use crate::loss::LossKind;
use crate::plan::{AbsentForm, ObjectStep, Property, Rest, SAME, Step, StepId};
use crate::sentence;

/// Projects the whole schema, as it is written.
pub(super) fn project(
    projector: &mut Projector<'_>,
    schema: &Value,
) -> (Option<Map<Value>>, StepId) {
    let dialect = projector.dialect;
    let mut schema = schema.clone();
    if dialect.needs_2020_12() {
        let draft = schema.get("$schema").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !draft.is_empty() && !draft.contains("2020-12") {
            let siblings_count =
                !["draft-04", "draft-06", "draft-07"].iter().any(|old| draft.contains(old));
            schema = modern(&schema, siblings_count);
            if let Value::Object(entries) = &mut schema {
                entries.remove("$schema");
            }
            projector.lose(LossKind::Annotation, "", "$schema", Value::from(draft), "", "T21");
        } else {
            schema = modern(&schema, true);
        }
    }
    if dialect.needs_2020_12()
        && let Err(error) = Schema::new(&schema.to_string())
    {
        projector.refuse(error.pointer(), "T0", error.message().to_owned());
        return (None, SAME);
    }
    let whole = plain_object(projector, &schema);
    let is_plain = whole.is_some();
    let mut schema = whole.map_or(schema, Value::Object);
    if !dialect.pattern_lookaround {
        schema = without_lookaround(projector, &schema);
    }
    if dialect.id_is_uri_reference {
        schema = without_strange_ids(projector, &schema);
    }
    if dialect.items_required {
        schema = with_items(projector, &schema);
    }
    let entries = match schema {
        Value::Object(entries) if is_plain => entries,
        schema => return under_input(projector, schema),
    };
    let keys = entries
        .get("properties")
        .and_then(Value::as_object)
        .map(|all| all.keys().map(str::to_owned).collect::<Vec<_>>());
    let keys = keys.unwrap_or_default();
    if keys.iter().all(|key| dialect.takes_key(key, true)) {
        let mut entries = entries;
        if dialect.objects_have_properties_root && !entries.contains_key("properties") {
            entries.insert("properties", Value::Object(Map::new()));
        }
        return (Some(entries), SAME);
    }
    match with_other_keys(projector, &entries, &keys) {
        Some((wire, step)) => (Some(wire), step),
        None => under_input(projector, Value::Object(entries)),
    }
}

/// The entries of a root that the dialect takes, where there is one without wrapping it.
fn plain_object(projector: &Projector<'_>, schema: &Value) -> Option<Map<Value>> {
    let dialect = projector.dialect;
    let entries = schema.as_object()?;
    let is_taken = |entries: &Map<Value>| {
        entries.get("type").and_then(Value::as_str) == Some("object")
            && !dialect.root_forbid.iter().any(|keyword| entries.contains_key(keyword))
            && !entries.contains_key("$ref")
    };
    if is_taken(entries) {
        return Some(entries.clone());
    }
    // A reference to an object, or members that merge, are one object.
    let merged = projector.canonical.without_reference(&projector.canonical.root, 0)?;
    let was_merged = entries.contains_key("$ref") || entries.contains_key("allOf");
    (was_merged && is_taken(&merged)).then_some(merged)
}

/// The schema under the one property of an object. References keep their targets.
fn under_input(projector: &mut Projector<'_>, schema: Value) -> (Option<Map<Value>>, StepId) {
    let Value::Object(mut inner) = schema else {
        return wrapped(projector, Node::same(Map::new()));
    };
    let mut outer = Map::new();
    for keyword in ["$schema", "$id"] {
        outer.extend(inner.remove(keyword).map(|value| (keyword, value)));
    }
    let mut definitions = Vec::new();
    for keyword in ["$defs", "definitions"] {
        definitions.extend(inner.remove(keyword).map(|value| (keyword, rebased(&value, true))));
    }
    let inner = rebased(&Value::Object(inner), false);
    let node = Node::same(inner.as_object().cloned().unwrap_or_default());
    let (wire, step) = wrapped(projector, node);
    let wire = wire.map(|wire| {
        outer
            .into_iter()
            .chain(wire)
            .chain(definitions.into_iter().map(|(key, value)| (key.to_owned(), value)))
            .collect()
    });
    (wire, step)
}

/// A schema whose references to its root lead to where that stands now. `is_map` for an object of schemas.
fn rebased(schema: &Value, is_map: bool) -> Value {
    let mut rebase = |mut node: Map<Value>| {
        if let Some(Value::String(reference)) = node.get("$ref")
            && let Some(rest) = reference.strip_prefix('#')
            && (rest.is_empty() || rest.starts_with('/'))
            && !rest.starts_with("/$defs/")
            && !rest.starts_with("/definitions/")
        {
            let moved = format!("#/properties/{INPUT}{rest}");
            node.insert("$ref", Value::from(moved));
        }
        node
    };
    match schema {
        Value::Object(members) if is_map => Value::Object(
            members.iter().map(|(name, member)| (name, rebuilt(member, &mut rebase))).collect(),
        ),
        _ => rebuilt(schema, &mut rebase),
    }
}

/// The root with keys that fit the grammar. `None` where other rules name the keys too.
fn with_other_keys(
    projector: &mut Projector<'_>,
    entries: &Map<Value>,
    keys: &[String],
) -> Option<(Map<Value>, StepId)> {
    let dialect = projector.dialect;
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
    let text = Value::Object(entries.clone()).to_string();
    if !entries.keys().all(|key| known.contains(&key))
        || text.contains("\"#/properties/")
        || text.contains("\"#\"")
    {
        return None;
    }
    let mut taken: Vec<String> =
        keys.iter().filter(|key| dialect.takes_key(key, true)).cloned().collect();
    let mut properties = Vec::new();
    for key in keys {
        let wire_key = if dialect.takes_key(key, true) {
            key.clone()
        } else {
            let renamed = super::object::renamed(key, &taken);
            taken.push(renamed.clone());
            renamed
        };
        properties.push(Property {
            key: key.clone(),
            wire_key,
            step: SAME,
            absent: AbsentForm::Absent,
        });
    }
    let wire_key = |key: &str| {
        let property = properties.iter().find(|property| property.key == key);
        property.map_or_else(|| key.to_owned(), |property| property.wire_key.clone())
    };
    let mut wire = entries.clone();
    if let Some(Value::Object(all)) = entries.get("properties") {
        wire.insert(
            "properties",
            Value::Object(all.iter().map(|(key, value)| (wire_key(key), value.clone())).collect()),
        );
    }
    if let Some(required) = entries.get("required") {
        let names = crate::guard::strings(Some(required)).map(|key| Value::from(wire_key(key)));
        wire.insert("required", Value::Array(names.collect()));
    }
    let is_closed = entries.get("additionalProperties") == Some(&Value::Boolean(false));
    if !is_closed {
        // A key that is spelled as a renamed one has no form.
        projector.lose(LossKind::Narrowing, "", "unnamed_keys", Value::Null, "renamed keys", "T19");
    }
    let step = projector.step(Step::Object(ObjectStep { properties, rest: Rest::Keep(SAME) }));
    Some((wire, step))
}

/// Gives `items` to arrays that lack it.
fn with_items(projector: &mut Projector<'_>, schema: &Value) -> Value {
    let lacks = |node: &Value| {
        node.get("items").is_none()
            && node.get("type").is_some_and(|kinds| type_names(kinds).any(|kind| kind == "array"))
    };
    visit(schema, String::new(), &mut |node, at| {
        if lacks(node)
            && let Some(was) = node.get("unevaluatedItems")
        {
            // With `items`, no item is left for it.
            let words = sentence::of("unevaluatedItems", was, node).unwrap_or_default();
            projector.lose(
                LossKind::Enforcement,
                at,
                "unevaluatedItems",
                was.clone(),
                &words,
                "T20",
            );
        }
    });
    rebuilt(schema, &mut |mut node| {
        let whole = Value::Object(node.clone());
        if lacks(&whole) {
            node.insert("items", Value::Object(Map::new()));
        }
        node
    })
}

/// Says patterns with lookaround in words.
fn without_lookaround(projector: &mut Projector<'_>, schema: &Value) -> Value {
    let words = |node: &Map<Value>| {
        let pattern = node.get("pattern")?;
        looks_around(pattern.as_str()?).then(|| sentence::of("pattern", pattern, &Value::Null))?
    };
    visit(schema, String::new(), &mut |node, at| {
        if let Some(entries) = node.as_object()
            && let (Some(words), Some(was)) = (words(entries), entries.get("pattern"))
        {
            projector.lose(LossKind::Enforcement, at, "pattern", was.clone(), &words, "T20");
        }
    });
    rebuilt(schema, &mut |mut node| {
        if let Some(words) = words(&node) {
            node.remove("pattern");
            let own = node.get("description").and_then(Value::as_str);
            let text = sentence::behind(own, &[words]);
            node.extend(text.map(|text| ("description", Value::from(text))));
        }
        node
    })
}

/// Takes out ids that are no URI reference (RFC 3986, section 4.1).
fn without_strange_ids(projector: &mut Projector<'_>, schema: &Value) -> Value {
    let mut lost = Vec::new();
    let is_reference = |id: &str| {
        id.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&byte))
            && !id.is_empty()
    };
    let clean = rebuilt(schema, &mut |mut node| {
        if let Some(id) =
            node.get("$id").filter(|id| id.as_str().is_none_or(|id| !is_reference(id))).cloned()
        {
            node.remove("$id");
            lost.push(id);
        }
        node
    });
    for id in lost {
        projector.lose(LossKind::Annotation, "", "$id", id, "", "T21");
    }
    clean
}
