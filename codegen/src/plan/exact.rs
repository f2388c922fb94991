//! Finds the numbers that must not become an `f64`: those that may be larger than any `f64`, those between two of them, and those where a keyword could
//! give another result for the rounded number than for the one that was sent, so that a decoded value might not encode. Their
//! type keeps all digits.

use std::collections::{BTreeMap, BTreeSet};

use toolwright::format::IntegerFormat;

use super::validated::validated;
use crate::json::Json;
use crate::naming::TypeNames;
use crate::schema::{
    Assertion, Bound, DOUBLE, Keyword, NodeId, Schemas, Shape, is_double, last_place, parts,
};

/// A decimal number of up to this many units of its last digit is the shortest text of its nearest double.
const EXACT: f64 = 1e15;

/// A node that an assertion checks values against, and whether the result is negated, as by `not`. A negated keyword detects
/// more roundings: a number inside a range stays inside when it is rounded, but a number outside may move inside.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    node: NodeId,
    is_negated: bool,
}

/// Returns the nodes whose numbers keep their digits.
pub(super) fn nodes(schemas: &Schemas, names: &TypeNames) -> BTreeSet<NodeId> {
    let uses_by = |id: NodeId| {
        let assertions = schemas[id].assertions.iter();
        assertions.flat_map(|assertion| subschemas(assertion, false)).collect::<Vec<_>>()
    };
    let detecting = detecting(schemas, schemas.ids().flat_map(uses_by).collect());
    let mut exact = validated(schemas, names, |id| {
        let mut assertions = schemas[id].assertions.iter();
        matches!(&schemas[id].shape, Shape::Array(array) if array.unique)
            || assertions.any(|assertion| detects_rounding(schemas, id, assertion, false))
            || uses_by(id).iter().any(|usage| detecting.contains(usage))
    });
    let has_others = |id: &NodeId| matches!(&schemas[*id].shape, Shape::Number(rules) if !rules.is_within_doubles() || !rules.has_double());
    exact.extend(schemas.ids().filter(has_others));
    exact
}

/// Returns those of the given uses, and of the uses below them, that detect the rounding of some number.
fn detecting(schemas: &Schemas, begin: Vec<Use>) -> BTreeSet<Use> {
    let (mut users, mut waiting) = (BTreeMap::<Use, Vec<Use>>::new(), begin);
    let (mut known, mut found) = (BTreeSet::new(), Vec::new());
    while let Some(usage) = waiting.pop() {
        if !known.insert(usage) {
            continue;
        }
        let Use { node: id, is_negated: negated } = usage;
        let node = &schemas[id];
        let is_detecting =
            |assertion: &Assertion| detects_rounding(schemas, id, assertion, negated);
        if shape_detects_rounding(&node.shape, negated) || node.assertions.iter().any(is_detecting)
        {
            found.push(usage);
        }
        let parts = parts(schemas, id).into_iter().map(|node| Use { node, is_negated: negated });
        let others = node.assertions.iter().flat_map(|assertion| subschemas(assertion, negated));
        for other in parts.chain(others) {
            users.entry(other).or_default().push(usage);
            waiting.push(other);
        }
    }
    let mut detecting = BTreeSet::new();
    while let Some(usage) = found.pop() {
        if detecting.insert(usage) {
            found.extend(users.get(&usage).into_iter().flatten());
        }
    }
    detecting
}

/// Returns the subschemas of a keyword and how they are used.
fn subschemas(assertion: &Assertion, negated: bool) -> Vec<Use> {
    let negated = negated
        || matches!(
            assertion.keyword,
            Keyword::Not | Keyword::OneOf | Keyword::If | Keyword::Contains
        );
    assertion.schemas().into_iter().map(|node| Use { node, is_negated: negated }).collect()
}

/// Returns whether the result of a keyword, without its subschemas, can differ between a number and its nearest double.
fn detects_rounding(schemas: &Schemas, node: NodeId, assertion: &Assertion, negated: bool) -> bool {
    let Some(value) = assertion.value() else { return false };
    let is_integer = |word: &Json| *word == Json::string("integer");
    match (assertion.keyword, value) {
        (Keyword::MultipleOf, divisor) => negated || !holds_multiples(schemas, node, divisor),
        (Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum | Keyword::UniqueItems, _) => true,
        (Keyword::Format, Json::String(name)) if name == DOUBLE => negated,
        (Keyword::Format, Json::String(name)) => IntegerFormat::from_name(name)
            .is_some_and(|format| negated || is_beyond_doubles(format)),
        (Keyword::Minimum | Keyword::Maximum | Keyword::Const | Keyword::Enum, value) => {
            has_number(value, negated)
        }
        (Keyword::Type, Json::Array(words)) => negated && words.iter().any(is_integer),
        (Keyword::Type, word) => negated && is_integer(word),
        _ => false,
    }
}

/// Returns whether the result of a shape, without its parts, can differ between a number and its nearest double.
fn shape_detects_rounding(shape: &Shape, negated: bool) -> bool {
    match shape {
        Shape::Integer(rules) => {
            let limits = [rules.min_integer(), rules.max_integer()];
            negated || limits.into_iter().flatten().any(|limit| !is_double(&limit.to_string()))
        }
        Shape::IntegerEnum(values) => {
            negated || values.iter().any(|value| !is_double(&value.value.to_string()))
        }
        Shape::Number(rules) => {
            let bounds = || [&rules.lower, &rules.upper].into_iter().flatten();
            bounds().any(|bound| negated || bound.exclusive)
        }
        Shape::Const(value) => has_number(value, negated),
        Shape::Constants(values) => {
            values.iter().any(|value| has_number(&value.value.value, negated))
        }
        Shape::Array(array) => array.unique,
        _ => false,
    }
}

/// Returns whether a limit of a format is not a double, so that the nearest double of an integer may be outside.
fn is_beyond_doubles(format: IntegerFormat) -> bool {
    [format.min_value(), format.max_value()].iter().any(|limit| !is_double(&limit.to_string()))
}

/// Returns whether every multiple within the bounds of a node survives rounding to a double.
fn holds_multiples(schemas: &Schemas, node: NodeId, divisor: &Json) -> bool {
    let (Shape::Number(rules), Json::Number(divisor)) = (&schemas[node].shape, divisor) else {
        // The types of integers do not round.
        return matches!(schemas[node].shape, Shape::Integer(_));
    };
    // A multiple has at most as many decimal places as the divisor.
    let Some(place) = last_place(divisor) else { return false };
    let is_near = |bound: &Option<Bound>| {
        bound.as_ref().is_some_and(|bound| bound.as_f64().abs() / 10_f64.powi(place) < EXACT)
    };
    is_near(&rules.lower) && is_near(&rules.upper)
}

/// Returns whether a value contains a number; unless `any` is set, only numbers that are not doubles count.
fn has_number(value: &Json, any: bool) -> bool {
    match value {
        Json::Number(number) => any || !is_double(number),
        Json::Array(items) => items.iter().any(|item| has_number(item, any)),
        Json::Object(entries) => entries.iter().any(|(_, value)| has_number(value, any)),
        _ => false,
    }
}
