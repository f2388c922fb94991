//! Generates random schemas of tool arguments with every keyword that the language honors.

use fastrand::Rng;
use toolwright::Value;
use toolwright::format::IntegerFormat;
use toolwright::value::Map;

use crate::json::{count, number, object, string, words};
use crate::pool::{FORMATS, NAMES, NUMBERS, PATTERNS, STRINGS};

const KINDS: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

/// Names that only differ in signs or case.
const ALIKE: [[&str; 2]; 4] = [["+1", "-1"], ["a", "@a"], ["b", "_b"], ["fooBar", "foo_bar"]];

/// The maximum depth of schemas below the arguments.
const DEPTH: usize = 3;

/// Generates a schema of arguments: a random object schema, or an object with a random schema for the property `value`.
pub fn arguments(rng: &mut Rng) -> Value {
    let mut generator = Generator { definitions: rng.usize(0..4).saturating_sub(1), rng };
    let mut root = Map::new();
    if generator.chance(30) {
        root.insert("type", string("object"));
        generator.object_keywords(&mut root, DEPTH);
        if generator.chance(35) {
            generator.combine(&mut root, DEPTH, 0);
        }
    } else {
        root.insert("type", string("object"));
        let value = match generator.rng.u32(0..100) {
            0..25 => generator.merged(DEPTH, 0),
            _ => generator.schema(DEPTH, 0),
        };
        root.insert("properties", object([("value", value)]));
        root.insert("required", words(["value"]));
    }
    let mut definitions = Map::new();
    for index in 0..generator.definitions {
        let body = match generator.rng.u32(0..100) {
            0..25 => generator.recursive_choice(index),
            25..50 => generator.object(DEPTH - 1),
            _ => generator.schema(DEPTH - 1, index + 1),
        };
        definitions.insert(definition(index), body);
    }
    if !definitions.is_empty() {
        root.insert("$defs", Value::Object(definitions));
    }
    Value::Object(root)
}

fn definition(index: usize) -> String {
    ["Alpha", "Beta", "Gamma"][index % 3].to_owned()
}

struct Generator<'a> {
    rng: &'a mut Rng,
    definitions: usize,
}

impl Generator<'_> {
    fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(0..100) < percent
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.rng.usize(0..choices.len())]
    }

    /// A name of a property. The first of three random ones is taken, so that a few names occur often.
    fn name(&mut self) -> &'static str {
        let index = (0..3).map(|_| self.rng.usize(0..NAMES.len())).min();
        NAMES[index.unwrap_or_default()]
    }

    fn names(&mut self, most: usize) -> Vec<&'static str> {
        let mut names: Vec<&str> = Vec::new();
        for _ in 0..self.rng.usize(0..=most) {
            let name = self.name();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if most > 2 && self.chance(8) {
            let alike = self.pick(&ALIKE);
            names.retain(|name| !alike.contains(name));
            names.extend(alike);
        }
        names
    }

    /// Any schema. `floor` is the first definition that it may refer to for the same value, so that references cannot form a
    /// cycle without going into a value.
    fn schema(&mut self, depth: usize, floor: usize) -> Value {
        let mut schema = Map::new();
        match self.rng.u32(0..100) {
            0..3 => return Value::Boolean(true),
            3 => return Value::Boolean(false),
            4..6 => {}
            6..18 if floor < self.definitions => {
                let index = self.rng.usize(floor..self.definitions);
                schema.insert("$ref", string(format!("#/$defs/{}", definition(index))));
                if self.chance(20) {
                    self.any_keywords(&mut schema, depth);
                }
            }
            18..24 => _ = schema.insert("const", self.constant(2)),
            24..32 => self.enumeration(&mut schema),
            32..37 if depth > 0 => return self.tagged_union(depth),
            37..43 => self.any_keywords(&mut schema, depth),
            43..47 => self.kinds(&mut schema, depth),
            47..51 if depth > 0 => return self.merged(depth, floor),
            51..59 if depth > 0 => self.combine(&mut schema, depth, floor),
            _ => self.typed(&mut schema, depth),
        }
        if depth > 0 && self.chance(14) {
            self.combine(&mut schema, depth, floor);
        }
        self.annotate(&mut schema);
        Value::Object(schema)
    }

    fn typed(&mut self, schema: &mut Map<Value>, depth: usize) {
        let kind = match depth {
            0 => self.pick(&KINDS[2..]),
            _ => self.pick(&[
                "object", "object", "array", "array", "string", "string", "integer", "number",
                "boolean",
            ]),
        };
        if kind != "null" && self.chance(8) {
            schema.insert("type", words([kind, "null"]));
        } else {
            schema.insert("type", string(kind));
        }
        self.keywords(kind, schema, depth);
    }

    /// Adds a `type` with several words.
    fn kinds(&mut self, schema: &mut Map<Value>, depth: usize) {
        let kinds: Vec<&str> = KINDS.into_iter().filter(|_| self.chance(40)).collect();
        if kinds.is_empty() {
            return;
        }
        schema.insert("type", words(kinds.iter().copied()));
        let kind = self.pick(&kinds);
        self.keywords(kind, schema, depth);
    }

    /// Adds keywords without a `type`.
    fn any_keywords(&mut self, schema: &mut Map<Value>, depth: usize) {
        for _ in 0..self.rng.usize(1..3) {
            let kind = self.pick(&KINDS[..5]);
            self.keywords(kind, schema, depth);
        }
    }

    fn keywords(&mut self, kind: &str, schema: &mut Map<Value>, depth: usize) {
        match kind {
            "object" => self.object_keywords(schema, depth),
            "array" => self.array_keywords(schema, depth),
            "string" => self.string_keywords(schema),
            "integer" | "number" => self.number_keywords(schema),
            _ => {}
        }
    }

    fn object_keywords(&mut self, schema: &mut Map<Value>, depth: usize) {
        let below = depth.saturating_sub(1);
        let declared = self.names(4);
        if !declared.is_empty() && self.chance(90) {
            let mut properties = Map::new();
            for name in &declared {
                properties.insert(*name, self.schema(below, 0));
            }
            schema.insert("properties", Value::Object(properties));
        }
        if self.chance(45) {
            let mut required: Vec<&str> =
                declared.iter().copied().filter(|_| self.rng.bool()).collect();
            if self.chance(10) {
                let name = self.name();
                required.retain(|other| *other != name);
                required.push(name);
            }
            schema.insert("required", words(required));
        }
        if self.chance(45) {
            let extra = match self.rng.u32(0..10) {
                0..5 => Value::Boolean(false),
                5..6 => Value::Boolean(true),
                _ => self.schema(below, 0),
            };
            schema.insert("additionalProperties", extra);
        }
        if self.chance(12) {
            let mut patterns = Map::new();
            for _ in 0..self.rng.usize(1..3) {
                patterns.insert(self.pattern(), self.schema(below, 0));
            }
            schema.insert("patternProperties", Value::Object(patterns));
        }
        if self.chance(8) {
            let mut names = Map::new();
            self.string_keywords(&mut names);
            schema.insert("propertyNames", Value::Object(names));
        }
        if self.chance(8) {
            let mut needs = Map::new();
            for _ in 0..self.rng.usize(1..3) {
                let names = self.names(2);
                needs.insert(self.name(), words(names));
            }
            schema.insert("dependentRequired", Value::Object(needs));
        }
        if self.chance(6) {
            let fragment = self.fragment(below);
            schema.insert("dependentSchemas", object([(self.name(), fragment)]));
        }
        if self.chance(8) {
            schema.insert("minProperties", count(self.rng.usize(0..3)));
        }
        if self.chance(8) {
            schema.insert("maxProperties", count(self.rng.usize(1..5)));
        }
        if self.chance(7) {
            schema.insert("unevaluatedProperties", self.closed_or(below));
        }
    }

    /// An object, half of the time without its `type`.
    fn object(&mut self, depth: usize) -> Value {
        let mut schema = Map::new();
        if self.rng.bool() {
            schema.insert("type", string("object"));
        }
        self.object_keywords(&mut schema, depth);
        Value::Object(schema)
    }

    /// An `allOf` of objects, some by reference, often beside properties with similar names.
    fn merged(&mut self, depth: usize, floor: usize) -> Value {
        let below = depth - 1;
        let mut schema = Map::new();
        if self.chance(40) {
            self.object_keywords(&mut schema, below);
        } else if self.chance(60) {
            let alike = self.pick(&ALIKE).map(|name| (name, self.schema(below, 0)));
            schema.insert("properties", object(alike));
        }
        let member = |generator: &mut Self| {
            if floor < generator.definitions && generator.rng.bool() {
                let index = generator.rng.usize(floor..generator.definitions);
                object([("$ref", string(format!("#/$defs/{}", definition(index))))])
            } else {
                generator.object(below)
            }
        };
        let members = (0..self.rng.usize(1..4)).map(|_| member(self)).collect();
        schema.insert("allOf", Value::Array(members));
        Value::Object(schema)
    }

    fn array_keywords(&mut self, schema: &mut Map<Value>, depth: usize) {
        let below = depth.saturating_sub(1);
        if self.chance(65) {
            schema.insert("items", self.schema(below, 0));
        }
        if self.chance(25) {
            let places = (0..self.rng.usize(1..4)).map(|_| self.schema(below, 0)).collect();
            schema.insert("prefixItems", Value::Array(places));
        }
        if self.chance(15) {
            schema.insert("contains", self.schema(below, 0));
            if self.chance(40) {
                schema.insert("minContains", count(self.rng.usize(0..3)));
            }
            if self.chance(40) {
                schema.insert("maxContains", count(self.rng.usize(1..4)));
            }
        }
        if self.chance(20) {
            let flag = self.chance(90);
            schema.insert("uniqueItems", Value::Boolean(flag));
        }
        let least = self.rng.usize(0..3);
        if self.chance(25) {
            schema.insert("minItems", count(least));
        }
        if self.chance(25) {
            schema.insert("maxItems", count(least + self.rng.usize(0..3)));
        }
        if self.chance(7) {
            schema.insert("unevaluatedItems", self.closed_or(below));
        }
    }

    fn closed_or(&mut self, depth: usize) -> Value {
        if self.chance(60) { Value::Boolean(false) } else { self.schema(depth, 0) }
    }

    fn string_keywords(&mut self, schema: &mut Map<Value>) {
        let least = self.rng.usize(0..4);
        if self.chance(25) {
            schema.insert("minLength", count(least));
        }
        if self.chance(25) {
            schema.insert("maxLength", count(least + self.rng.usize(0..3)));
        }
        if self.chance(35) {
            schema.insert("pattern", string(self.pattern()));
        }
        if self.chance(15) {
            let format = &FORMATS[self.rng.usize(0..FORMATS.len())];
            schema.insert("format", string(format.name.as_str()));
        }
    }

    fn pattern(&mut self) -> &'static str {
        &PATTERNS[self.rng.usize(0..PATTERNS.len())].ecma
    }

    fn number_keywords(&mut self, schema: &mut Map<Value>) {
        let mut bounds = [self.pick(&NUMBERS), self.pick(&NUMBERS)].map(number);
        bounds.sort_by(|one, other| one.as_number().cmp(&other.as_number()));
        let [low, high] = bounds;
        match self.rng.u32(0..10) {
            0..3 => _ = schema.insert("minimum", low),
            3 => _ = schema.insert("exclusiveMinimum", low),
            _ => {}
        }
        match self.rng.u32(0..10) {
            0..3 => _ = schema.insert("maximum", high),
            3 => _ = schema.insert("exclusiveMaximum", high),
            _ => {}
        }
        if self.chance(22) {
            let positive: Vec<&str> = NUMBERS
                .into_iter()
                .filter(|text| number(text).as_number() > number("0").as_number())
                .collect();
            schema.insert("multipleOf", number(self.pick(&positive)));
        }
        if self.chance(15) {
            let formats = IntegerFormat::ALL.map(IntegerFormat::name);
            schema.insert("format", string(self.pick(&formats)));
        }
    }

    fn constant(&mut self, depth: usize) -> Value {
        match self.rng.u32(0..12) {
            0..4 => number(self.pick(&NUMBERS)),
            4..8 => string(self.pick(&STRINGS)),
            8 => Value::Boolean(self.rng.bool()),
            9 => Value::Null,
            10 if depth > 0 => {
                Value::Array((0..self.rng.usize(0..3)).map(|_| self.constant(depth - 1)).collect())
            }
            _ if depth > 0 => {
                let mut entries = Map::new();
                for name in self.names(2) {
                    entries.insert(name, self.constant(depth - 1));
                }
                Value::Object(entries)
            }
            _ => Value::Null,
        }
    }

    fn enumeration(&mut self, schema: &mut Map<Value>) {
        let mut values: Vec<Value> = Vec::new();
        let of = self.rng.u32(0..3);
        for _ in 0..self.rng.usize(1..5) {
            let value = match of {
                0 => string(self.pick(&STRINGS)),
                1 => number(self.pick(&NUMBERS)),
                _ => self.constant(2),
            };
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if self.chance(25) {
            schema.insert("type", string(["string", "number", "object"][of as usize]));
        }
        schema.insert("enum", Value::Array(values));
    }

    /// A union of objects that differ in a constant property.
    fn tagged_union(&mut self, depth: usize) -> Value {
        let mut members = Vec::new();
        for tag in ["circle", "square", "line"].into_iter().take(self.rng.usize(2..4)) {
            let mut member = Map::new();
            member.insert("type", string("object"));
            self.object_keywords(&mut member, depth - 1);
            let mut properties = match member.remove("properties") {
                Some(Value::Object(properties)) => properties,
                _ => Map::new(),
            };
            properties.insert("kind", object([("const", string(tag))]));
            member.insert("properties", Value::Object(properties));
            member.insert("required", words(["kind"]));
            members.push(Value::Object(member));
        }
        let keyword = self.pick(&["anyOf", "oneOf"]);
        object([(keyword, Value::Array(members))])
    }

    /// A recursive choice with members that overlap.
    fn recursive_choice(&mut self, index: usize) -> Value {
        let itself = || object([("$ref", string(format!("#/$defs/{}", definition(index))))]);
        let leaf = self.pick(&["string", "integer", "null", "boolean"]);
        let mut members = vec![object([("type", string(leaf))])];
        for _ in 0..self.rng.usize(1..3) {
            let mut member = Map::new();
            if self.chance(30) {
                member.insert("type", string("array"));
                member.insert("items", itself());
            } else {
                member.insert("type", string("object"));
                let mut properties = Map::new();
                for name in ["a", "b"].into_iter().take(self.rng.usize(1..3)) {
                    properties.insert(name, itself());
                }
                member.insert("properties", Value::Object(properties));
                if self.chance(40) {
                    member.insert("required", words([self.pick(&["a", "b", "c"])]));
                }
                if self.chance(40) {
                    member.insert("additionalProperties", Value::Boolean(false));
                }
            }
            members.push(Value::Object(member));
        }
        let keyword = self.pick(&["anyOf", "anyOf", "oneOf"]);
        object([(keyword, Value::Array(members))])
    }

    /// A schema with few keywords, as is usual in `allOf` or `then`.
    fn fragment(&mut self, depth: usize) -> Value {
        let mut schema = Map::new();
        match self.rng.u32(0..10) {
            0..4 => _ = schema.insert("required", words([self.name()])),
            4..6 => {
                let schema_below = self.schema(depth.saturating_sub(1), 0);
                schema.insert("properties", object([(self.name(), schema_below)]));
            }
            _ => self.any_keywords(&mut schema, depth),
        }
        Value::Object(schema)
    }

    fn member(&mut self, depth: usize, floor: usize) -> Value {
        if self.chance(35) { self.fragment(depth) } else { self.schema(depth, floor) }
    }

    fn members(&mut self, depth: usize, floor: usize) -> Value {
        let count = self.rng.usize(1..4);
        Value::Array((0..count).map(|_| self.member(depth, floor)).collect())
    }

    /// Adds an applicator to the same value.
    fn combine(&mut self, schema: &mut Map<Value>, depth: usize, floor: usize) {
        let below = depth.saturating_sub(1);
        match self.rng.u32(0..10) {
            0..3 => _ = schema.insert("anyOf", self.members(below, floor)),
            3..5 => _ = schema.insert("oneOf", self.members(below, floor)),
            5..7 => _ = schema.insert("allOf", self.members(below, floor)),
            7..8 => _ = schema.insert("not", self.member(below, floor)),
            _ => {
                schema.insert("if", self.member(below, floor));
                if self.chance(70) {
                    schema.insert("then", self.member(below, floor));
                }
                if self.chance(50) {
                    schema.insert("else", self.member(below, floor));
                }
            }
        }
    }

    /// Adds annotations.
    fn annotate(&mut self, schema: &mut Map<Value>) {
        if self.chance(6) {
            schema.insert(
                "description",
                string(self.pick(&["A value.", "Quotes \" and \\ and */ and é."])),
            );
        }
        if self.chance(2) {
            schema.insert("title", string("Title"));
        }
        for keyword in ["default", "examples"] {
            let known = match (schema.get("const"), schema.get("enum")) {
                (Some(value), _) => Some(value.clone()),
                (_, Some(Value::Array(values))) => values.first().cloned(),
                _ => None,
            };
            // The compiler refuses a tool with a wrong default or example, so those must be rare.
            let value = match known {
                Some(value) if self.chance(12) => value,
                None if self.rng.u32(0..400) == 0 => self.constant(1),
                _ => continue,
            };
            let value = if keyword == "examples" { Value::Array(vec![value]) } else { value };
            schema.insert(keyword, value);
        }
    }
}
