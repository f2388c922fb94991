//! Numbers that a double may not stand for: those that may be beyond the largest one, and those of which a rule could tell the
//! rounded number from the one that was sent, so that what decodes would not encode. They keep their digits.

use std::collections::{BTreeMap, BTreeSet};

use toolwright::format::IntegerFormat;

use super::judged::judged;
use crate::json::Json;
use crate::naming::TypeNames;
use crate::schema::{
    Assertion, Bound, DOUBLE, Keyword, NodeId, Schemas, Shape, is_double, last_place, parts,
};

/// Up to this many units of its last digit, a decimal number is the shortest text of its nearest double.
const EXACT: f64 = 1e15;

/// A node, and whether what it says is turned around, as behind `not`. A rule that is turned around tells more: the nearest
/// double of a number that is in a range is in it too, but that of a number outside may come in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    node: NodeId,
    is_turned: bool,
}

/// The nodes whose numbers keep their digits.
pub(super) fn nodes(schemas: &Schemas, names: &TypeNames) -> BTreeSet<NodeId> {
    let judged_by = |id: NodeId| {
        let assertions = schemas[id].assertions.iter();
        assertions.flat_map(|assertion| judges(assertion, false)).collect::<Vec<_>>()
    };
    let telling = telling(schemas, schemas.ids().flat_map(judged_by).collect());
    let mut exact = judged(schemas, names, |id| {
        let mut assertions = schemas[id].assertions.iter();
        matches!(&schemas[id].shape, Shape::Array(array) if array.unique)
            || assertions.any(|assertion| tells(schemas, id, assertion, false))
            || judged_by(id).iter().any(|judge| telling.contains(judge))
    });
    let is_beyond_doubles = |id: &NodeId| matches!(&schemas[*id].shape, Shape::Number(rules) if !rules.is_within_doubles());
    exact.extend(schemas.ids().filter(is_beyond_doubles));
    exact
}

/// Of these uses and those they lead to, the ones that tell some number from its nearest double.
fn telling(schemas: &Schemas, begin: Vec<Use>) -> BTreeSet<Use> {
    let (mut users, mut waiting) = (BTreeMap::<Use, Vec<Use>>::new(), begin);
    let (mut known, mut found) = (BTreeSet::new(), Vec::new());
    while let Some(judge) = waiting.pop() {
        if !known.insert(judge) {
            continue;
        }
        let Use { node: id, is_turned: turned } = judge;
        let node = &schemas[id];
        let is_telling = |assertion: &Assertion| tells(schemas, id, assertion, turned);
        if shape_tells(&node.shape, turned) || node.assertions.iter().any(is_telling) {
            found.push(judge);
        }
        let parts = parts(schemas, id).into_iter().map(|node| Use { node, is_turned: turned });
        let others = node.assertions.iter().flat_map(|assertion| judges(assertion, turned));
        for other in parts.chain(others) {
            users.entry(other).or_default().push(judge);
            waiting.push(other);
        }
    }
    let mut telling = BTreeSet::new();
    while let Some(judge) = found.pop() {
        if telling.insert(judge) {
            found.extend(users.get(&judge).into_iter().flatten());
        }
    }
    telling
}

/// The schemas behind a keyword, and how they are used.
fn judges(assertion: &Assertion, turned: bool) -> Vec<Use> {
    let turned = turned
        || matches!(
            assertion.keyword,
            Keyword::Not | Keyword::OneOf | Keyword::If | Keyword::Contains
        );
    assertion.schemas().into_iter().map(|node| Use { node, is_turned: turned }).collect()
}

/// Whether a keyword by itself tells some number from its nearest double.
fn tells(schemas: &Schemas, node: NodeId, assertion: &Assertion, turned: bool) -> bool {
    let Some(value) = assertion.value() else { return false };
    let is_integer = |word: &Json| *word == Json::string("integer");
    match (assertion.keyword, value) {
        (Keyword::MultipleOf, divisor) => turned || !holds_multiples(schemas, node, divisor),
        (Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum | Keyword::UniqueItems, _) => true,
        (Keyword::Format, Json::String(name)) if name == DOUBLE => turned,
        (Keyword::Format, Json::String(name)) => {
            IntegerFormat::from_name(name).is_some_and(|format| turned || is_beyond_doubles(format))
        }
        (Keyword::Minimum | Keyword::Maximum | Keyword::Const | Keyword::Enum, value) => {
            has_number(value, turned)
        }
        (Keyword::Type, Json::Array(words)) => turned && words.iter().any(is_integer),
        (Keyword::Type, word) => turned && is_integer(word),
        _ => false,
    }
}

fn shape_tells(shape: &Shape, turned: bool) -> bool {
    match shape {
        Shape::Integer(rules) => {
            let limits = [rules.least_integer(), rules.greatest_integer()];
            turned || limits.into_iter().flatten().any(|limit| !is_double(&limit.to_string()))
        }
        Shape::IntegerEnum(values) => {
            turned || values.iter().any(|value| !is_double(&value.value.to_string()))
        }
        Shape::Number(rules) => {
            let bounds = || [&rules.lower, &rules.upper].into_iter().flatten();
            bounds().any(|bound| turned || bound.exclusive)
        }
        Shape::Const(value) => has_number(value, turned),
        Shape::Constants(values) => {
            values.iter().any(|value| has_number(&value.value.value, turned))
        }
        Shape::Array(array) => array.unique,
        _ => false,
    }
}

/// Whether the limits of a format lie between doubles, so that the nearest one of an integer may be outside.
fn is_beyond_doubles(format: IntegerFormat) -> bool {
    [format.least(), format.greatest()].iter().any(|limit| !is_double(&limit.to_string()))
}

/// Whether doubles hold every multiple that the bounds of a node leave.
fn holds_multiples(schemas: &Schemas, node: NodeId, divisor: &Json) -> bool {
    let (Shape::Number(rules), Json::Number(divisor)) = (&schemas[node].shape, divisor) else {
        // An integer keeps its digits by its type.
        return matches!(schemas[node].shape, Shape::Integer(_));
    };
    // Multiples have no more decimal places than the divisor.
    let Some(place) = last_place(divisor) else { return false };
    let is_near = |bound: &Option<Bound>| {
        bound.as_ref().is_some_and(|bound| bound.as_f64().abs() / 10_f64.powi(place) < EXACT)
    };
    is_near(&rules.lower) && is_near(&rules.upper)
}

/// Whether a number stands in a value: any number, or only one that no double holds.
fn has_number(value: &Json, any: bool) -> bool {
    match value {
        Json::Number(number) => any || !is_double(number),
        Json::Array(items) => items.iter().any(|item| has_number(item, any)),
        Json::Object(entries) => entries.iter().any(|(_, value)| has_number(value, any)),
        _ => false,
    }
}
