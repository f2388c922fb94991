//! Projects the root of a schema, which is an object on the wire.

use std::borrow::Cow;

use toolwright::value::{Kind, Map, Value};

use super::object::Others;
use super::{Depth, Node, Projector};
use crate::guard::strings;
use crate::loss::LossKind;
use crate::plan::{SAME, Step, StepId};

/// The property that holds arguments that are not an object.
pub(super) const INPUT: &str = "input";

/// Projects the whole schema. Returns no wire schema if the tool is sent without one.
pub(super) fn project(projector: &mut Projector<'_>) -> (Option<Map<Value>>, StepId) {
    let canonical = projector.canonical;
    let root = &*canonical.root;
    let Some(entries) = plain_object(projector, root) else {
        let node = projector.node(root, "", Depth(2));
        return wrapped(projector, node);
    };
    let properties = entries.get("properties").and_then(Value::as_object);
    let is_named = |(_, schema): (_, &Value)| *schema != Value::Boolean(false);
    let names_none = !properties.is_some_and(|all| all.iter().any(is_named))
        && strings(entries.get("required")).next().is_none();
    let takes_maps =
        !projector.dialect.objects_closed && projector.dialect.takes("additionalProperties");
    match super::object::others(&entries) {
        others @ (Others::Closed | Others::Silent) if names_none => {
            return nothing(projector, &entries, &others);
        }
        Others::Open(_) | Others::Pattern(..) if names_none && !takes_maps => {
            let node = projector.entries(&entries, "", Depth(2));
            return wrapped(projector, node);
        }
        _ => {}
    }
    let node = projector.entries(&entries, "", Depth(1));
    (Some(node.wire), node.step)
}

/// The entries of a root that is an object with properties, after references and `allOf`.
fn plain_object<'a>(projector: &Projector<'a>, root: &'a Value) -> Option<Cow<'a, Map<Value>>> {
    let entries = projector.canonical.without_reference_in(root.as_object()?, 0)?;
    let is_object = entries.get("type").and_then(Value::as_str) == Some(Kind::Object.as_str());
    let is_listed = entries.contains_key("enum") || entries.contains_key("const");
    let choice = |keyword: &str| entries.get(keyword).and_then(Value::as_array);
    let has_choice = ["anyOf", "oneOf"]
        .into_iter()
        .filter_map(choice)
        .any(|branches| !branches.iter().all(super::choice::only_restricts));
    let is_text = super::object::evaluates_by_value(&entries);
    (is_object && !is_listed && !has_choice && !is_text).then_some(entries)
}

/// Arguments that are not an object, or that the dialect only accepts inside one.
pub(super) fn wrapped(projector: &mut Projector<'_>, node: Node) -> (Option<Map<Value>>, StepId) {
    let dialect = projector.dialect;
    let mut wire = Map::from([
        ("type", Value::from("object")),
        ("properties", Value::Object(Map::from([(INPUT, Value::Object(node.wire))]))),
        ("required", Value::Array(vec![Value::from(INPUT)])),
    ]);
    if dialect.takes("additionalProperties") {
        wire.insert("additionalProperties", Value::Boolean(false));
    } else {
        projector.lose(
            LossKind::Widening,
            "",
            "",
            Value::Null,
            "an object with the key `input`",
            "T1",
        );
    }
    let step = projector.step(Step::Wrapped { key: INPUT.to_owned(), inner: node.step });
    (Some(wire), step)
}

/// No arguments.
fn nothing(
    projector: &mut Projector<'_>,
    entries: &Map<Value>,
    others: &Others<'_>,
) -> (Option<Map<Value>>, StepId) {
    let dialect = projector.dialect;
    let is_closed = matches!(others, Others::Closed);
    if dialect.nonempty_root_properties {
        let kind = if is_closed { LossKind::Annotation } else { LossKind::Narrowing };
        projector.lose(kind, "", "unnamed_keys", Value::Null, "no parameters", "T2");
        let object = crate::plan::ObjectStep::new(Vec::new(), crate::plan::Rest::NoForm);
        let step = if is_closed { SAME } else { projector.step(Step::Object(object)) };
        return (None, step);
    }
    let empty = Map::new();
    let properties = entries.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let node = projector.named(properties, &[], others, entries, "", Depth(1));
    (Some(node.wire), node.step)
}
