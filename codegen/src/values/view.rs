//! What a schema accepts, by the kind of value: the form in which two schemas are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::{self, Discriminant};

use crate::json::{Json, Style};
use crate::schema::{
    Additional, Assertion, NodeId, NumberRules, Operand, Property, Schemas, Shape, Variant,
    aliased, published,
};
use toolwright::Value;
use toolwright::format::Format;
use toolwright::value::{Map, Number};

/// The end of a range: a number, and whether it is excluded.
pub type End = (Number, bool);

/// The values that a schema accepts. Each kind that it accepts has a part; `rules` restrict all of them.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// True if null is accepted.
    pub null: bool,
    /// The booleans.
    pub boolean: Option<Part<()>>,
    /// The numbers.
    pub number: Option<Part<Numbers>>,
    /// The strings.
    pub string: Option<Part<Strings>>,
    /// The arrays.
    pub array: Option<Part<Arrays>>,
    /// The objects.
    pub object: Option<Part<Objects>>,
    /// The keywords that belong to no part, each as `kind keyword: operand`, which is equal for equal rules.
    pub rules: BTreeSet<String>,
}

/// The values of one kind.
#[derive(Clone, Debug)]
pub enum Part<T> {
    /// Only these.
    Values(Vec<Value>),
    /// Those that follow the rules.
    Rules(T),
}

/// The rules of numbers.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// True if only whole numbers are accepted.
    pub is_integer: bool,
    /// The lower and the upper end.
    pub ends: [Option<End>; 2],
    /// True if a number has to be in the range of doubles.
    pub is_double: bool,
}

/// The rules of strings.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    /// The least and the greatest length.
    pub lengths: [Option<u64>; 2],
    /// The pattern, as it is written.
    pub pattern: Option<String>,
    /// The format, if it is checked.
    pub format: Option<&'static str>,
}

/// The rules of arrays.
#[derive(Clone, Debug, Default)]
pub struct Arrays {
    /// The schemas of the first items.
    pub places: Vec<NodeId>,
    /// The schema of the items after them.
    pub rest: Rest,
    /// The least and the greatest count.
    pub counts: [Option<u64>; 2],
    /// True if no two items may be equal.
    pub is_unique: bool,
}

/// The rule for what has no schema of its own: further keys of an object, further items of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    /// There is none.
    Closed,
    /// Nothing is said, and anything is accepted. Such keys of an object carry no meaning.
    Silent,
    /// Anything is accepted, as the schema says.
    #[default]
    Declared,
    /// Values of this schema are accepted.
    Typed(NodeId),
}

/// The rules of objects.
#[derive(Clone, Debug)]
pub enum Objects {
    /// An object.
    Object(Object),
    /// One of several objects, told apart by the value of a key: each with that value.
    Union(String, Vec<(String, NodeId)>),
}

/// The keys of an object.
#[derive(Clone, Debug, Default)]
pub struct Object {
    /// The properties: the name, the schema, and whether it is required.
    pub properties: Vec<(String, NodeId, bool)>,
    /// The properties that are only required here, so that keywords about other keys apply to them.
    pub undescribed: BTreeSet<String>,
    /// The rule for other keys.
    pub rest: Rest,
}

impl View {
    /// Returns the number of values that are listed.
    pub fn constants(&self) -> usize {
        fn listed<T>(part: Option<&Part<T>>) -> usize {
            match part {
                Some(Part::Values(values)) => values.len(),
                Some(Part::Rules(_)) | None => 0,
            }
        }
        listed(self.number.as_ref())
            + listed(self.string.as_ref())
            + listed(self.array.as_ref())
            + listed(self.object.as_ref())
    }

    /// Returns what a schema without keywords accepts.
    pub fn of_anything() -> Self {
        Self {
            null: true,
            boolean: Some(Part::Rules(())),
            number: Some(Part::Rules(Numbers::default())),
            string: Some(Part::Rules(Strings::default())),
            array: Some(Part::Rules(Arrays::default())),
            object: Some(Part::Rules(Objects::Object(Object::default()))),
            rules: BTreeSet::new(),
        }
    }

    /// Returns what a node accepts. `schemas` have no annotations.
    pub fn of(schemas: &Schemas, node: NodeId) -> Self {
        let mut view = Self::default();
        let mut assertions = Vec::new();
        view.add(schemas, node, "", &mut assertions);
        let rule = |(kind, assertion): (&str, &Assertion)| {
            format!("{kind} {}: {}", assertion.keyword.word(), operand(schemas, assertion))
        };
        Self { rules: assertions.into_iter().map(rule).collect(), ..view }
    }

    /// Returns what a node accepts without its rules, whose texts may be long.
    pub(super) fn of_parts(schemas: &Schemas, node: NodeId) -> Self {
        let mut view = Self::default();
        view.add(schemas, node, "", &mut Vec::new());
        view
    }

    /// Adds what a node accepts, of which it is known that it has only values of a kind, if that is given. Adds the keywords that
    /// belong to no part to `assertions`.
    fn add<'a>(
        &mut self,
        schemas: &'a Schemas,
        node: NodeId,
        kind: &'static str,
        assertions: &mut Vec<(&'static str, &'a Assertion)>,
    ) {
        let own = schemas[node].assertions.iter();
        let own = own.filter(|assertion| !is_list_of_constants(schemas, node, assertion));
        assertions.extend(own.map(|assertion| (kind, assertion)));
        match &schemas[node].shape {
            // The assertion that says how many members of a choice have to accept a value is one of the rules.
            Shape::Any | Shape::Overlapping(_) => self.add_anything(kind),
            Shape::Null => self.null = true,
            Shape::Boolean => self.boolean = Some(Part::Rules(())),
            Shape::String(rules) => {
                self.string = Some(Part::Rules(Strings {
                    lengths: [rules.min_length, rules.max_length],
                    pattern: rules.pattern.as_ref().map(|pattern| pattern.ecma.clone()),
                    format: rules.format.map(Format::name),
                }));
            }
            Shape::Integer(rules) => self.number = Some(Part::Rules(numbers(rules, true))),
            Shape::Number(rules) => self.number = Some(Part::Rules(numbers(rules, false))),
            Shape::Const(value) => self.add_value(value),
            Shape::Enum(values) => {
                for value in values {
                    self.add_value(&Json::string(&value.value.value));
                }
            }
            Shape::IntegerEnum(values) => {
                for value in values {
                    self.add_value(&Json::Number(value.value.to_string()));
                }
            }
            Shape::Constants(values) => {
                for value in values {
                    self.add_value(&value.value.value);
                }
            }
            Shape::Array(array) => {
                let rest =
                    if array.is_described { Rest::Typed(array.items) } else { Rest::Declared };
                self.array = Some(Part::Rules(Arrays {
                    places: Vec::new(),
                    rest,
                    counts: [array.min_items, array.max_items],
                    is_unique: array.unique,
                }));
            }
            Shape::Tuple(tuple) => {
                let rest = match &tuple.rest {
                    None => Rest::Closed,
                    Some(rest) if rest.is_described => Rest::Typed(rest.items),
                    Some(_) => Rest::Declared,
                };
                self.array = Some(Part::Rules(Arrays {
                    places: tuple.places.clone(),
                    rest,
                    counts: [tuple.min_items, tuple.max_items],
                    is_unique: false,
                }));
            }
            Shape::Object(object) => {
                let property = |property: &Property| {
                    (property.name.value.clone(), property.schema, property.required)
                };
                let undescribed =
                    object.properties.iter().filter(|property| !property.is_described);
                self.object = Some(Part::Rules(Objects::Object(Object {
                    properties: object.properties.iter().map(property).collect(),
                    undescribed: undescribed.map(|property| property.name.value.clone()).collect(),
                    rest: match object.additional {
                        Additional::Closed => Rest::Closed,
                        Additional::Open => Rest::Silent,
                        Additional::Declared => Rest::Declared,
                        Additional::Typed(node) => Rest::Typed(node),
                    },
                })));
            }
            Shape::Union(union) => {
                let variant = |variant: &Variant| (variant.tag.value.clone(), variant.schema);
                let variants = union.variants.iter().map(variant).collect();
                self.object = Some(Part::Rules(Objects::Union(union.tag.clone(), variants)));
            }
            Shape::Nullable(inner) => {
                self.add(schemas, *inner, "not null", assertions);
                self.null = true;
            }
            Shape::Mixed(variants) => {
                for variant in variants {
                    self.add(schemas, variant.schema, variant.kind.as_str(), assertions);
                }
            }
            Shape::Named(id) => self.add(schemas, schemas[*id].schema, kind, assertions),
            Shape::Local(target) => self.add(schemas, *target, kind, assertions),
        }
    }

    /// Adds all values of a kind, or of all kinds.
    fn add_anything(&mut self, kind: &str) {
        let View { boolean, number, string, array, object, .. } = Self::of_anything();
        match kind {
            "null" => self.null = true,
            "boolean" => self.boolean = boolean,
            "integer" => {
                let rules = Numbers { is_integer: true, ..Numbers::default() };
                self.number = Some(Part::Rules(rules));
            }
            "number" => self.number = number,
            "string" => self.string = string,
            "array" => self.array = array,
            "object" => self.object = object,
            _ => {
                *self =
                    Self { null: true, boolean, number, string, array, object, ..mem::take(self) }
            }
        }
    }

    /// Adds a constant.
    fn add_value(&mut self, value: &Json) {
        fn push<T>(part: &mut Option<Part<T>>, value: Value) {
            match part.get_or_insert_with(|| Part::Values(Vec::new())) {
                Part::Values(values) => values.push(value),
                Part::Rules(_) => {}
            }
        }
        let value = value.to_value();
        match &value {
            Value::Null => self.null = true,
            Value::Boolean(_) => push(&mut self.boolean, value),
            Value::Number(_) => push(&mut self.number, value),
            Value::String(_) => push(&mut self.string, value),
            Value::Array(_) => push(&mut self.array, value),
            Value::Object(_) => push(&mut self.object, value),
        }
    }

    /// Returns whether the two differ in which keys or items have schemas of their own. `schemas` have no annotations.
    pub fn has_other_parts(&self, other: &Self, schemas: &Schemas) -> bool {
        let places = |view: &Self| match &view.array {
            Some(Part::Rules(array)) => {
                Some((array.places.len(), std::mem::discriminant(&array.rest)))
            }
            _ => None,
        };
        self.keys(schemas) != other.keys(schemas) || places(self) != places(other)
    }

    /// Returns the keys that have schemas of their own, and the kind of the rule for others. For a choice between objects, there
    /// are those of each, by the tag and its value.
    fn keys(&self, schemas: &Schemas) -> BTreeMap<[String; 2], (Vec<String>, Discriminant<Rest>)> {
        match &self.object {
            Some(Part::Rules(Objects::Object(object))) => {
                let names = object.properties.iter().map(|(name, ..)| name);
                let described = names.filter(|name| !object.undescribed.contains(*name));
                let mut names: Vec<String> = described.cloned().collect();
                names.sort();
                BTreeMap::from([(Default::default(), (names, mem::discriminant(&object.rest)))])
            }
            Some(Part::Rules(Objects::Union(tag, variants))) => {
                let mut all = BTreeMap::new();
                for (value, node) in variants {
                    // Each is an object.
                    for keys in Self::of_parts(schemas, *node).keys(schemas).into_values() {
                        all.insert([tag.clone(), value.clone()], keys);
                    }
                }
                all
            }
            _ => BTreeMap::new(),
        }
    }

    /// Returns the names of the kinds that it accepts, without null.
    pub fn kinds(&self) -> Vec<&'static str> {
        let number = match &self.number {
            Some(Part::Rules(rules)) if rules.is_integer => "integer",
            Some(Part::Values(values)) if values.iter().all(is_integer) => "integer",
            _ => "number",
        };
        let kinds = [
            ("boolean", self.boolean.is_some()),
            (number, self.number.is_some()),
            ("string", self.string.is_some()),
            ("array", self.array.is_some()),
            ("object", self.object.is_some()),
        ];
        kinds.into_iter().filter_map(|(kind, is_accepted)| is_accepted.then_some(kind)).collect()
    }
}

impl Numbers {
    /// Returns the ends, with those of doubles if these count.
    pub fn limits(&self, with_doubles: bool) -> [Option<End>; 2] {
        let double = |limit: f64| {
            let number = Number::try_from(limit).ok().filter(|_| with_doubles && self.is_double);
            number.map(|number| (number, false))
        };
        let [least, most] = self.ends.clone();
        [least.or_else(|| double(f64::MIN)), most.or_else(|| double(f64::MAX))]
    }
}

/// Returns whether a choice only says which constants a node has, as its shape does.
fn is_list_of_constants(schemas: &Schemas, node: NodeId, assertion: &Assertion) -> bool {
    let Operand::Schemas(members) = &assertion.operand else { return false };
    let is_constant = |member: &NodeId| {
        let member = &schemas[*member];
        matches!(member.shape, Shape::Const(_)) && member.assertions.is_empty()
    };
    ["anyOf", "oneOf"].contains(&assertion.keyword.word())
        && matches!(
            schemas[node].shape,
            Shape::Enum(_) | Shape::IntegerEnum(_) | Shape::Constants(_)
        )
        && members.iter().all(is_constant)
}

pub fn is_integer(value: &Value) -> bool {
    value.as_number().is_some_and(Number::is_integer)
}

fn numbers(rules: &NumberRules, is_integer: bool) -> Numbers {
    let ends = if is_integer {
        let end = |limit: Option<i128>| limit.map(|limit| (Number::from(limit), false));
        [end(rules.min_integer()), end(rules.max_integer())]
    } else {
        [&rules.lower, &rules.upper].map(|bound| {
            let bound = bound.as_ref()?;
            match bound.number.parse() {
                Ok(Value::Number(number)) => Some((number, bound.exclusive)),
                _ => None,
            }
        })
    };
    Numbers { is_integer, ends, is_double: rules.is_double }
}

/// Returns the operand of a keyword as a text that is equal for equal meanings: keys and the items of sets are sorted.
fn operand(schemas: &Schemas, assertion: &Assertion) -> String {
    // Many members may refer to one type.
    let mut known: BTreeMap<NodeId, String> = BTreeMap::new();
    let mut schema = |node: &NodeId| {
        let node = aliased(schemas, *node).last().unwrap_or(*node);
        let text = || sorted(&published(schemas, node, Style::Compact).parse().unwrap_or_default());
        known.entry(node).or_insert_with(text).clone()
    };
    let list = |mut items: Vec<String>| {
        items.sort();
        format!("[{}]", items.join(","))
    };
    match &assertion.operand {
        Operand::Plain(value) => sorted(&value.to_value()),
        Operand::Schema(node) => schema(node),
        Operand::Schemas(nodes) if assertion.keyword.word() == "prefixItems" => {
            nodes.iter().map(schema).collect::<Vec<_>>().join(",")
        }
        Operand::Schemas(nodes) => list(nodes.iter().map(schema).collect()),
        Operand::Named(nodes) => {
            let named = nodes
                .iter()
                .map(|(name, node)| format!("{}:{}", Value::from(name.as_str()), schema(node)));
            list(named.collect())
        }
    }
}

/// The keywords whose lists are sets.
const SETS: [&str; 6] = ["allOf", "anyOf", "enum", "oneOf", "required", "type"];

/// Returns a schema with only some of its entries. `keeps` gets the entries around each, its key and its value.
pub fn retained(schema: &Value, keeps: &impl Fn(&Map<Value>, &str, &Value) -> bool) -> Value {
    match schema {
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| retained(item, keeps)).collect())
        }
        Value::Object(entries) => {
            let kept = entries.iter().filter(|(key, value)| keeps(entries, key, value));
            Value::Object(kept.map(|(key, value)| (key, retained(value, keeps))).collect())
        }
        other => other.clone(),
    }
}

/// Returns a schema as text, with sorted keys and sets.
pub fn sorted(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(","))
        }
        Value::Object(entries) => {
            let entry = |(key, value): (&str, &Value)| {
                let text = match value {
                    Value::Array(items) if SETS.contains(&key) => {
                        let mut items: Vec<String> = items.iter().map(sorted).collect();
                        items.sort();
                        format!("[{}]", items.join(","))
                    }
                    _ => sorted(value),
                };
                format!("{}:{text}", Value::from(key))
            };
            let mut entries: Vec<String> = entries.iter().map(entry).collect();
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
        Value::Number(number) => number.to_canonical(),
        _ => value.to_string(),
    }
}

impl Rest {
    /// Returns the schema of the values, if they have one.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Self::Typed(node) => Some(node),
            _ => None,
        }
    }
}
