//! Creates a small value that a schema accepts, as an example of a valid call for a model.

use toolwright::format::Format;
use toolwright::schema::Schema;

use super::{
    ArrayShape, Bound, Keyword, Node, NodeId, NumberRules, ObjectShape, Schemas, Shape,
    StringRules, number,
};
use crate::json::{Json, weight_of};

/// The deepest nesting of a sample, so that recursive schemas come to an end.
const MAX_DEPTH: usize = 12;

/// The greatest [weight](Json::weight_within) of a sample, with the values that are tried for it: a longer one is of no use, and a few
/// types that use each other could need millions of values.
const MAX_WEIGHT: usize = 500;

/// The most steps of the check of a sample: thousands of tools may have one. A text and a pattern can need millions.
const MAX_STEPS: u64 = 10_000;

/// Returns a value of a node with the required parts and little else; `None` if it is not easy to find one. `compiled` is the schema
/// of the node.
pub fn sample(schemas: &Schemas, node: NodeId, compiled: &Schema) -> Option<Json> {
    let value = Sampler { schemas, left: MAX_WEIGHT }.value(node, 0)?;
    compiled.check_within(value.to_string().as_bytes(), &mut { MAX_STEPS }).ok()?;
    Some(value)
}

struct Sampler<'a> {
    schemas: &'a Schemas,
    /// The weight that is left.
    left: usize,
}

impl<'a> Sampler<'a> {
    fn value(&mut self, node: NodeId, depth: usize) -> Option<Json> {
        let schemas: &'a Schemas = self.schemas;
        let schema = &schemas[node];
        self.left = self.left.checked_sub(1)?;
        if depth > MAX_DEPTH || !is_shape_sufficient(schema) {
            return None;
        }
        if let Some(value) = schemas.own_value(node).and_then(|value| self.copy(value)) {
            return Some(value);
        }
        Some(match &schema.shape {
            Shape::Any => Json::Object(Vec::new()),
            Shape::Null => Json::Null,
            Shape::Boolean => Json::Boolean(true),
            Shape::String(rules) => Json::String(text(rules)?),
            Shape::Integer(rules) => Json::Number(integer(rules).to_string()),
            Shape::Number(rules) => Json::Number(decimal(rules)?),
            Shape::Const(value) => self.copy(value)?,
            Shape::Enum(values) => Json::String(self.text(&values.first()?.value.value)?),
            Shape::IntegerEnum(values) => Json::Number(values.first()?.value.to_string()),
            Shape::Constants(values) => self.copy(&values.first()?.value.value)?,
            Shape::Array(array) => self.array(array, depth)?,
            Shape::Tuple(tuple) => {
                let items = tuple.places.iter().map(|&item| self.value(item, depth + 1));
                Json::Array(items.collect::<Option<_>>()?)
            }
            Shape::Object(object) => self.object(object, depth)?,
            Shape::Nullable(inner) => self.value(*inner, depth + 1).unwrap_or(Json::Null),
            Shape::Union(union) => {
                union.variants.iter().find_map(|variant| self.value(variant.schema, depth + 1))?
            }
            Shape::Mixed(variants) => {
                variants.iter().find_map(|variant| self.value(variant.schema, depth + 1))?
            }
            Shape::Overlapping(choice) => {
                choice.members.iter().find_map(|member| self.value(*member, depth + 1))?
            }
            Shape::Named(name) => self.value(self.schemas[*name].schema, depth + 1)?,
            Shape::Local(target) => self.value(*target, depth + 1)?,
        })
    }

    /// Creates an array with one item, to show its shape, or with the required number of items.
    fn array(&mut self, array: &ArrayShape, depth: usize) -> Option<Json> {
        let least = array.min_items.unwrap_or(0);
        let count = least.max(1).min(array.max_items.unwrap_or(u64::MAX));
        let items = if array.unique && count > 1 { None } else { self.items(array, count, depth) };
        items.or_else(|| (least == 0).then(Vec::new)).map(Json::Array)
    }

    fn items(&mut self, array: &ArrayShape, count: u64, depth: usize) -> Option<Vec<Json>> {
        let count = usize::try_from(count).ok().filter(|count| *count <= 16)?;
        let mut items = vec![self.value(array.items, depth + 1)?];
        while items.len() < count {
            items.push(self.copy(&items[0])?);
        }
        items.truncate(count);
        Some(items)
    }

    fn object(&mut self, object: &ObjectShape, depth: usize) -> Option<Json> {
        let required = object.properties.iter().filter(|property| property.required);
        let mut entry = |property: &super::Property| {
            Some((self.text(&property.name.value)?, self.value(property.schema, depth + 1)?))
        };
        Some(Json::Object(required.map(&mut entry).collect::<Option<_>>()?))
    }

    /// Copies a text, if what is left is enough for it.
    fn text(&mut self, text: &str) -> Option<String> {
        self.left = self.left.checked_sub(weight_of(text))?;
        Some(text.to_owned())
    }

    /// Copies a value, if what is left is enough for it.
    fn copy(&mut self, value: &Json) -> Option<Json> {
        self.left = value.weight_within(self.left)?;
        Some(value.clone())
    }
}

/// Returns whether a node accepts all values that its shape accepts.
fn is_shape_sufficient(schema: &Node) -> bool {
    match (&schema.shape, schema.assertions.as_slice()) {
        (_, []) => true,
        (Shape::Overlapping(_), [choice]) => choice.keyword == Keyword::AnyOf,
        _ => false,
    }
}

/// Creates a text of the right length. It ignores patterns: for those, people have to write examples.
fn text(rules: &StringRules) -> Option<String> {
    let word = rules.format.map_or("text", Format::example);
    let (least, most) = (rules.min_length.unwrap_or(0), rules.max_length.unwrap_or(u64::MAX));
    if least > 64 {
        return None;
    }
    let letters = word.chars().chain(std::iter::repeat('x'));
    let length = (word.len() as u64).max(least).min(most);
    Some(letters.take(usize::try_from(length).ok()?).collect())
}

fn integer(rules: &NumberRules) -> i128 {
    let (least, most) = (rules.min_integer(), rules.max_integer());
    1.max(least.unwrap_or(1)).min(most.unwrap_or(1))
}

/// Returns a whole number if one is allowed, else a bound that is allowed.
fn decimal(rules: &NumberRules) -> Option<String> {
    let whole = integer(rules).to_string();
    let inside = |text: &str| {
        let bound = |bound: &Option<Bound>, wrong: std::cmp::Ordering| {
            bound.as_ref().is_none_or(|bound| {
                let order = number::compare(text, &bound.number);
                order != wrong && !(bound.exclusive && order == std::cmp::Ordering::Equal)
            })
        };
        bound(&rules.lower, std::cmp::Ordering::Less)
            && bound(&rules.upper, std::cmp::Ordering::Greater)
    };
    let bounds =
        [&rules.lower, &rules.upper].into_iter().flatten().map(|bound| bound.number.clone());
    std::iter::once(whole).chain(bounds).find(|text| inside(text))
}
