//! Creates a small value that a schema accepts, as an example of a valid call for a model.

use toolwright::format::Format;

use super::{
    ArrayShape, Bound, Budget, Keyword, Node, NodeId, NumberRules, ObjectShape, Schemas, Shape,
    StringRules, number, violations,
};
use crate::json::Json;

/// The deepest nesting of a sample, so that recursive schemas come to an end.
const MAX_DEPTH: usize = 12;

/// The most values in a sample: a longer one is of no use, and a few types that use each other could need millions.
const MAX_VALUES: usize = 500;

/// Returns a value with the required parts and little else; `None` if it is not easy to find one.
pub fn sample(schemas: &Schemas, node: NodeId) -> Option<Json> {
    let mut sampler = Sampler { schemas, budget: Budget::default(), tried: 0 };
    let value = sampler.value(node, 0)?;
    violations(schemas, node, &value, &mut sampler.budget).is_empty().then_some(value)
}

struct Sampler<'a> {
    schemas: &'a Schemas,
    budget: Budget,
    /// The number of values created, including discarded ones.
    tried: usize,
}

impl<'a> Sampler<'a> {
    fn value(&mut self, node: NodeId, depth: usize) -> Option<Json> {
        let schemas: &'a Schemas = self.schemas;
        let schema = &schemas[node];
        self.tried += 1;
        if depth > MAX_DEPTH || self.tried > MAX_VALUES || !is_shape_sufficient(schema) {
            return None;
        }
        let own = schema.annotations.examples.iter().chain(&schema.annotations.default);
        let mut fits =
            |value: &&Json| violations(schemas, node, value, &mut self.budget).is_empty();
        if let Some(value) = own.into_iter().find(&mut fits) {
            return Some(value.clone());
        }
        Some(match &schema.shape {
            Shape::Any => Json::Object(Vec::new()),
            Shape::Null => Json::Null,
            Shape::Boolean => Json::Boolean(true),
            Shape::String(rules) => Json::String(text(rules)?),
            Shape::Integer(rules) => Json::Number(integer(rules).to_string()),
            Shape::Number(rules) => Json::Number(decimal(rules)?),
            Shape::Const(value) => value.clone(),
            Shape::Enum(values) => Json::string(&values.first()?.value.value),
            Shape::IntegerEnum(values) => Json::Number(values.first()?.value.to_string()),
            Shape::Constants(values) => values.first()?.value.value.clone(),
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
            Shape::Overlapping(members) => {
                members.iter().find_map(|member| self.value(*member, depth + 1))?
            }
            Shape::Named(name) => self.value(self.schemas[*name].schema, depth + 1)?,
            Shape::Local(target) => self.value(*target, depth + 1)?,
        })
    }

    /// Creates an array with one item, to show its shape, or with the required number of items.
    fn array(&mut self, array: &ArrayShape, depth: usize) -> Option<Json> {
        let least = array.min_items.unwrap_or(0);
        let count = least.max(1).min(array.max_items.unwrap_or(u64::MAX));
        if array.unique && count > 1 {
            return None;
        }
        let item = self.value(array.items, depth + 1);
        match item {
            Some(item) if count <= 16 && self.has_room(&item, count) => {
                Some(Json::Array(std::iter::repeat_n(item, usize::try_from(count).ok()?).collect()))
            }
            _ => (least == 0).then(|| Json::Array(Vec::new())),
        }
    }

    /// Counts the copies of an item as values; returns whether there are not too many.
    fn has_room(&mut self, item: &Json, count: u64) -> bool {
        let repeats = usize::try_from(count.saturating_sub(1)).unwrap_or(usize::MAX);
        self.tried = self.tried.saturating_add(size(item).saturating_mul(repeats));
        self.tried <= MAX_VALUES
    }

    fn object(&mut self, object: &ObjectShape, depth: usize) -> Option<Json> {
        let required = object.properties.iter().filter(|property| property.required);
        let mut entry = |property: &super::Property| {
            Some((property.name.value.clone(), self.value(property.schema, depth + 1)?))
        };
        Some(Json::Object(required.map(&mut entry).collect::<Option<_>>()?))
    }
}

/// Returns the number of values inside a value, including itself.
fn size(value: &Json) -> usize {
    match value {
        Json::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Json::Object(entries) => 1 + entries.iter().map(|(_, value)| size(value)).sum::<usize>(),
        _ => 1,
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
