//! Generates payloads for a schema: some that it probably accepts, and some with random changes.

use fastrand::Rng;
use toolwright::Value;
use toolwright::value::Map;

use crate::json::{number, resolve, string};
use crate::pool::{FORMATS, NAMES, NUMBERS, PATTERNS, STRINGS};

/// The depth below which only scalars are generated.
const DEPTH: usize = 7;

/// Generates distinct payloads for a schema, as JSON text.
pub fn payloads(schema: &Value, count: usize, rng: &mut Rng) -> Vec<String> {
    let mut generator = Generator { root: schema, rng };
    let mut made: Vec<String> = Vec::new();
    // A small schema may have fewer distinct payloads than `count`.
    for _ in 0..count * 3 {
        if made.len() == count {
            break;
        }
        let mut payload = generator.valid(schema, 0);
        for _ in 0..generator.pick(&[0, 0, 1, 1, 1, 2, 3]) {
            generator.change(&mut payload, 0);
        }
        if generator.chance(3) {
            payload = generator.any(0);
        }
        let text = payload.to_string();
        if !made.contains(&text) {
            made.push(text);
        }
    }
    made
}

struct Generator<'a> {
    root: &'a Value,
    rng: &'a mut Rng,
}

impl Generator<'_> {
    fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(0..100) < percent
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.rng.usize(0..choices.len())]
    }

    /// A value that the schema probably accepts.
    fn valid(&mut self, schema: &Value, depth: usize) -> Value {
        if depth > DEPTH {
            return self.scalar();
        }
        let mut flat = Map::new();
        self.flatten(schema, 0, &mut flat);
        if let Some(value) = flat.get("const") {
            return self.same_or_near(value.clone());
        }
        if let Some(Value::Array(values)) = flat.get("enum") {
            let value = values[self.rng.usize(0..values.len())].clone();
            return self.same_or_near(value);
        }
        match self.kind(&flat) {
            "object" => self.object(&flat, depth),
            "array" => self.array(&flat, depth),
            "string" => string(self.string(&flat)),
            "integer" => self.number(&flat, true),
            "number" => self.number(&flat, false),
            "boolean" => Value::Boolean(self.rng.bool()),
            "null" => Value::Null,
            _ => self.any(depth),
        }
    }

    /// Collects the keywords for one value: follows references, and takes one member of each choice. A later keyword replaces
    /// an earlier one, but `properties` and `required` are merged.
    fn flatten(&mut self, schema: &Value, level: usize, flat: &mut Map<Value>) {
        let Value::Object(schema) = schema else { return };
        if level > 8 {
            return;
        }
        for (keyword, text) in schema {
            match (keyword, text) {
                ("$ref", Value::String(reference)) => {
                    if let Some(target) = resolve(self.root, reference) {
                        self.flatten(target, level + 1, flat);
                    }
                }
                ("anyOf" | "oneOf", Value::Array(members)) => {
                    let member = self.rng.usize(0..members.len());
                    self.flatten(&members[member], level + 1, flat);
                }
                ("allOf", Value::Array(members)) => {
                    for member in members {
                        self.flatten(member, level + 1, flat);
                    }
                }
                ("if", condition) => {
                    let holds = self.rng.bool();
                    if holds {
                        self.flatten(condition, level + 1, flat);
                    }
                    if let Some(branch) = schema.get(if holds { "then" } else { "else" }) {
                        self.flatten(branch, level + 1, flat);
                    }
                }
                ("then" | "else" | "not", _) => {}
                ("properties", Value::Object(more)) => match flat.get_mut("properties") {
                    Some(Value::Object(known)) => {
                        for (name, schema) in more {
                            known.insert(name, schema.clone());
                        }
                    }
                    _ => _ = flat.insert("properties", text.clone()),
                },
                ("required", Value::Array(more)) => match flat.get_mut("required") {
                    Some(Value::Array(known)) => known.extend(more.iter().cloned()),
                    _ => _ = flat.insert("required", text.clone()),
                },
                _ => _ = flat.insert(keyword, text.clone()),
            }
        }
    }

    fn kind(&mut self, flat: &Map<Value>) -> &'static str {
        let known = |word: &str| {
            let kinds = ["object", "array", "string", "integer", "number", "boolean", "null"];
            kinds.into_iter().find(|kind| *kind == word).unwrap_or("any")
        };
        match flat.get("type") {
            Some(Value::String(word)) => known(word),
            Some(Value::Array(words)) if !words.is_empty() => {
                let word = &words[self.rng.usize(0..words.len())];
                known(word.as_str().unwrap_or_default())
            }
            _ => {
                let kind_of = |keyword: &str| match keyword {
                    "properties"
                    | "required"
                    | "additionalProperties"
                    | "patternProperties"
                    | "propertyNames"
                    | "dependentRequired"
                    | "dependentSchemas"
                    | "minProperties"
                    | "maxProperties"
                    | "unevaluatedProperties" => "object",
                    "items" | "prefixItems" | "contains" | "minItems" | "maxItems"
                    | "uniqueItems" | "unevaluatedItems" => "array",
                    "minLength" | "maxLength" | "pattern" | "format" => "string",
                    "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
                    | "multipleOf" => "number",
                    _ => "any",
                };
                let kinds: Vec<&str> =
                    flat.keys().map(kind_of).filter(|kind| *kind != "any").collect();
                if kinds.is_empty() { "any" } else { self.pick(&kinds) }
            }
        }
    }

    fn object(&mut self, flat: &Map<Value>, depth: usize) -> Value {
        let nothing = Map::new();
        let properties = match flat.get("properties") {
            Some(Value::Object(properties)) => properties,
            _ => &nothing,
        };
        let strings = |list: Option<&Value>| -> Vec<String> {
            let list = list.and_then(Value::as_array).unwrap_or_default();
            list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mut names = strings(flat.get("required"));
        let often = self.pick(&[10, 50, 90]);
        for name in properties.keys() {
            if self.chance(often) {
                names.push(name.to_owned());
            }
        }
        if let Some(Value::Object(needs)) =
            flat.get("dependentRequired").or(flat.get("dependentSchemas"))
        {
            for (name, needed) in needs {
                if self.chance(50) {
                    names.push(name.to_string());
                    names.extend(strings(Some(needed)));
                }
            }
        }
        let is_closed = matches!(flat.get("additionalProperties"), Some(Value::Boolean(false)));
        let patterns = match flat.get("patternProperties") {
            Some(Value::Object(patterns)) => patterns,
            _ => &nothing,
        };
        for pattern in patterns.keys() {
            if self.chance(70) {
                names.extend(self.sample(pattern));
            }
        }
        if let Some(pattern) = flat.get("propertyNames").and_then(|names| names.get("pattern")) {
            names.extend(self.sample(pattern.as_str().unwrap_or_default()));
        }
        if self.chance(if is_closed { 10 } else { 40 }) {
            for _ in 0..self.rng.usize(1..3) {
                names.push(self.name());
            }
        }
        let mut entries = Map::new();
        for name in names {
            let under_pattern = patterns.values().next().filter(|_| self.rng.bool());
            let schema =
                properties.get(&name).or(under_pattern).or(flat.get("additionalProperties"));
            let value = match schema {
                Some(schema) => self.valid(schema, depth + 1),
                None => self.any(depth + 1),
            };
            entries.insert(name, value);
        }
        Value::Object(entries)
    }

    fn array(&mut self, flat: &Map<Value>, depth: usize) -> Value {
        let size = |keyword: &str| {
            flat.get(keyword).and_then(Value::as_u64).map(|size| usize::try_from(size).unwrap_or(9))
        };
        let places = flat.get("prefixItems").and_then(Value::as_array).unwrap_or_default();
        let least = size("minItems").unwrap_or(0);
        let most = size("maxItems").unwrap_or(least.max(places.len()) + 2);
        let length = self.rng.usize(least.min(most)..=least.max(most)).min(8);
        let mut items: Vec<Value> = Vec::new();
        for place in 0..length {
            let schema = places.get(place).or(flat.get("items"));
            items.push(match schema {
                Some(schema) => self.valid(schema, depth + 1),
                None => self.any(depth + 1),
            });
        }
        if let Some(schema) = flat.get("contains") {
            for item in &mut items {
                if self.chance(40) {
                    *item = self.valid(schema, depth + 1);
                }
            }
        }
        Value::Array(items)
    }

    fn string(&mut self, flat: &Map<Value>) -> String {
        if let Some(Value::String(format)) = flat.get("format").filter(|_| self.chance(90))
            && let Some(format) = FORMATS.iter().find(|known| known.name == *format)
        {
            return format.literals[self.rng.usize(0..format.literals.len())].clone();
        }
        if let Some(Value::String(pattern)) = flat.get("pattern")
            && let Some(sample) = self.sample(pattern).filter(|_| self.chance(80))
        {
            return sample;
        }
        let bounds: Vec<u64> = ["minLength", "maxLength"]
            .into_iter()
            .filter_map(|word| flat.get(word)?.as_u64())
            .collect();
        if !bounds.is_empty() && self.chance(70) {
            let near = self.pick(&bounds) + self.rng.u64(0..2);
            let character = self.pick(&["a", "é", "😀", "1", "\u{2028}"]);
            return character.repeat(usize::try_from(near).unwrap_or(9).min(12));
        }
        self.pick(&STRINGS).to_owned()
    }

    /// A string that matches a pattern or nearly does.
    fn sample(&mut self, pattern: &str) -> Option<String> {
        let known = PATTERNS.iter().find(|known| known.ecma == pattern)?;
        Some(known.samples[self.rng.usize(0..known.samples.len())].clone())
    }

    fn number(&mut self, flat: &Map<Value>, whole: bool) -> Value {
        let words = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
        let near: Vec<&str> = words
            .into_iter()
            .filter_map(|word| Some(flat.get(word)?.as_number()?.as_str()))
            .collect();
        if near.is_empty() || self.chance(25) {
            let whole_only =
                NUMBERS.into_iter().filter(|text| !whole || is_whole(text)).collect::<Vec<_>>();
            return number(self.pick(&whole_only));
        }
        let near = self.pick(&near).to_owned();
        number(&self.near(&near))
    }

    /// A number equal to another, next to it, or a small multiple of it.
    fn near(&mut self, text: &str) -> String {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let plain = !text.contains(['e', 'E']);
        let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let scaled = digits.parse::<i128>().ok().filter(|_| plain && digits.len() < 30);
        let scaled = scaled.map(|scaled| if text.starts_with('-') { -scaled } else { scaled });
        match (scaled, self.rng.u32(0..9)) {
            (Some(scaled), 0..2) => decimal(scaled + self.pick(&[1, -1]), scale),
            (Some(scaled), 2) => decimal(scaled * self.pick(&[2, 3, 7, -1, 10]), scale),
            (Some(_), 3) if scale > 0 => format!("{text}1"),
            (Some(_), 3) => format!("{text}.00000000000000000001"),
            (Some(_), 4) if scale > 0 => format!("{text}0"),
            (Some(_), 4) => format!("{text}.0"),
            (Some(_), 5) => format!("{text}e0"),
            _ => text.to_owned(),
        }
    }

    /// The same value; a number may be replaced by one near it.
    fn same_or_near(&mut self, value: Value) -> Value {
        match &value {
            Value::Number(text) if self.chance(40) => {
                let text = text.as_str().to_owned();
                number(&self.near(&text))
            }
            _ => value,
        }
    }

    fn scalar(&mut self) -> Value {
        match self.rng.u32(0..10) {
            0..4 => number(self.pick(&NUMBERS)),
            4..7 => string(self.pick(&STRINGS)),
            7..9 => Value::Boolean(self.rng.bool()),
            _ => Value::Null,
        }
    }

    fn any(&mut self, depth: usize) -> Value {
        match self.rng.u32(0..10) {
            0 if depth < DEPTH => {
                Value::Array((0..self.rng.usize(0..3)).map(|_| self.any(depth + 2)).collect())
            }
            1..3 if depth < DEPTH => {
                let mut entries = Map::new();
                for _ in 0..self.rng.usize(0..3) {
                    entries.insert(self.name(), self.any(depth + 2));
                }
                Value::Object(entries)
            }
            _ => self.scalar(),
        }
    }

    fn name(&mut self) -> String {
        let index = (0..2).map(|_| self.rng.usize(0..NAMES.len())).min();
        NAMES[index.unwrap_or_default()].to_owned()
    }

    /// Changes one random part of a value.
    fn change(&mut self, value: &mut Value, depth: usize) {
        let goes_below = self.chance(65);
        match value {
            Value::Array(items) if !items.is_empty() && goes_below => {
                let at = self.rng.usize(0..items.len());
                self.change(&mut items[at], depth + 1);
            }
            Value::Object(entries) if !entries.is_empty() && goes_below => {
                let name = entries.keys().nth(self.rng.usize(0..entries.len())).map(str::to_owned);
                if let Some(below) = name.and_then(|name| entries.get_mut(&name)) {
                    self.change(below, depth + 1);
                }
            }
            Value::Array(items) => match self.rng.u32(0..5) {
                0 if !items.is_empty() => _ = items.remove(self.rng.usize(0..items.len())),
                1 | 2 if !items.is_empty() => {
                    let twin = items[self.rng.usize(0..items.len())].clone();
                    let twin = self.same_or_near(twin);
                    items.push(twin);
                }
                3 if items.len() > 1 => items.swap(0, 1),
                _ => items.push(self.any(depth + 1)),
            },
            Value::Object(entries) => {
                let name = match entries.len() {
                    0 => None,
                    length => entries.keys().nth(self.rng.usize(0..length)).map(str::to_owned),
                };
                match (name, self.rng.u32(0..4)) {
                    (Some(name), 0 | 1) => _ = entries.remove(&name),
                    (Some(name), 2) => {
                        let moved = entries.remove(&name).unwrap_or_default();
                        entries.insert(self.name(), moved);
                    }
                    _ => _ = entries.insert(self.name(), self.any(depth + 1)),
                }
            }
            Value::Number(text) if self.chance(60) => {
                let text = text.as_str().to_owned();
                *value = number(&self.near(&text));
            }
            Value::String(text) if self.chance(50) => {
                let more = self.pick(&["a", "\n", "😀", "1", " ", "\u{2028}"]);
                if self.rng.bool() {
                    text.push_str(more);
                } else {
                    text.insert_str(0, more);
                }
            }
            _ => *value = self.any(depth),
        }
    }
}

/// `scaled` divided by ten to the power of `scale`.
fn decimal(scaled: i128, scale: usize) -> String {
    if scale == 0 {
        return scaled.to_string();
    }
    let digits = format!("{:0>width$}", scaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{}{whole}.{fraction}", if scaled < 0 { "-" } else { "" })
}

fn is_whole(text: &str) -> bool {
    number(text).as_number().is_some_and(toolwright::value::Number::is_integer)
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn a_scaled_number_is_written_with_its_point() {
        for (scaled, scale, expected) in
            [(3, 2, "0.03"), (-3, 2, "-0.03"), (123, 1, "12.3"), (5, 0, "5"), (0, 1, "0.0")]
        {
            assert_eq!(decimal(scaled, scale), expected);
        }
    }
}
