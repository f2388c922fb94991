//! Strings, numbers, constants and enumerations. Never objects or arrays.

use std::cmp::Ordering;

use super::SchemaReader;
use crate::diagnostic::Diagnostic;
use crate::schema::{Bound, Json, NumberRules, Pattern, Shape, StringRules, number, pattern};
use crate::source::Spanned;
use crate::yaml::{Node, Value};

impl SchemaReader<'_> {
    /// Reads the limits of a string (2020-12 validation, 6.3).
    pub(super) fn string_rules(&mut self, text: &Node) -> StringRules {
        let min_length = self.count(text, "minLength");
        let max_length = self.count(text, "maxLength");
        self.check_counts(text, "maxLength", min_length, max_length);
        StringRules { min_length, max_length, pattern: self.pattern(text) }
    }

    fn pattern(&mut self, text: &Node) -> Option<Pattern> {
        let node = text.get("pattern")?;
        let Some(ecma) = node.as_str() else {
            self.expected("a pattern", node);
            return None;
        };
        match pattern::translate(ecma) {
            Ok(regex) => Some(Pattern { ecma: ecma.to_owned(), regex }),
            Err(message) => {
                let message = format!("this pattern cannot be used: {message}");
                self.report.add(Diagnostic::error("bad-pattern", node.span, message));
                None
            }
        }
    }

    /// A keyword whose value counts something.
    pub(super) fn count(&mut self, text: &Node, keyword: &str) -> Option<u64> {
        let node = text.get(keyword)?;
        let count = match &node.value {
            Value::Number(text) => number::count(text),
            _ => None,
        };
        if count.is_none() {
            self.expected("a whole number that is not negative", node);
        }
        count
    }

    /// Reports a least count above the greatest.
    pub(super) fn check_counts(
        &mut self,
        text: &Node,
        keyword: &str,
        least: Option<u64>,
        greatest: Option<u64>,
    ) {
        if let (Some(least), Some(greatest), Some(node)) = (least, greatest, text.get(keyword))
            && least > greatest
        {
            let message = format!("nothing can have at least {least} and at most {greatest}");
            self.report.add(Diagnostic::error("empty-range", node.span, message));
        }
    }

    /// Reads the limits of a number (2020-12 validation, 6.2).
    pub(super) fn number_rules(&mut self, text: &Node, integer: bool) -> NumberRules {
        let inclusive = self.bound(text, "minimum", integer, number::ceiling);
        let exclusive = self.bound(text, "exclusiveMinimum", integer, number::ceiling);
        let lower = tighter(inclusive, exclusive, Ordering::Less);
        let inclusive = self.bound(text, "maximum", integer, number::floor);
        let exclusive = self.bound(text, "exclusiveMaximum", integer, number::floor);
        let upper = tighter(inclusive, exclusive, Ordering::Greater);
        if let (Some(lower), Some(upper)) = (&lower, &upper)
            && is_empty(lower, upper, integer)
        {
            let message = format!("no number is between {} and {}", lower.number, upper.number);
            self.report.add(Diagnostic::error("empty-range", text.span, message));
        }
        NumberRules { lower, upper }
    }

    fn bound(
        &mut self,
        text: &Node,
        keyword: &str,
        integer: bool,
        implied: fn(&str, bool) -> Option<i64>,
    ) -> Option<Bound> {
        let node = text.get(keyword)?;
        let Value::Number(number) = &node.value else {
            self.expected("a number", node);
            return None;
        };
        let exclusive = keyword.starts_with("exclusive");
        if !number::as_f64(number).is_finite() || (integer && implied(number, exclusive).is_none())
        {
            let message = format!("the bound {number} is out of range");
            let finding = Diagnostic::error("bound-out-of-range", node.span, message)
                .help("leave it out: integers have 64 bits where they have bounds");
            self.report.add(finding);
            return None;
        }
        Some(Bound { number: number.clone(), exclusive })
    }

    /// Reads `const`, which `type` beside it must allow.
    pub(super) fn constant(&mut self, text: &Node) -> Shape {
        let Some(node) = text.get("const") else { return Shape::Any };
        self.check_type_allows(text, node);
        match node.to_json() {
            Json::Null => Shape::Null,
            value => Shape::Const(value),
        }
    }

    /// Reads `enum`: strings, and `null` beside them.
    pub(super) fn enumeration(&mut self, text: &Node) -> Shape {
        let Some(node) = text.get("enum") else { return Shape::Any };
        let Value::Sequence(items) = &node.value else {
            self.expected("a list of values", node);
            return Shape::Any;
        };
        let (mut strings, mut null) = (Vec::<Spanned<String>>::new(), None);
        for item in items {
            self.check_type_allows(text, item);
            let first = match &item.value {
                Value::String(value) => {
                    let first = strings.iter().find(|known| known.value == *value);
                    let first = first.map(|known| known.span);
                    strings.push(Spanned::new(value.clone(), item.span));
                    first
                }
                Value::Null => null.replace(item.span),
                _ => {
                    let message = format!("{} in an `enum` is not supported yet", item.kind());
                    let finding = Diagnostic::error("unsupported-enum", item.span, message)
                        .help("strings, and null beside them, may stand here");
                    self.report.add(finding);
                    None
                }
            };
            if let Some(first) = first {
                let finding =
                    Diagnostic::error("repeated-value", item.span, "this value stands here twice")
                        .also(first, "first here");
                self.report.add(finding);
            }
        }
        if items.is_empty() {
            let message = "an empty `enum` accepts nothing";
            self.report.add(Diagnostic::error("empty-enum", node.span, message));
        }
        let shape = match strings.as_slice() {
            [] => return Shape::Null,
            [only] => Shape::Const(Json::string(&only.value)),
            _ => Shape::Enum(strings),
        };
        if null.is_some() { self.nullable(shape, text.span) } else { shape }
    }

    /// Reports a value that the `type` beside it never accepts.
    fn check_type_allows(&mut self, text: &Node, value: &Node) {
        let Some(types) = text.get("type") else { return };
        let words: Vec<&str> = match &types.value {
            Value::Sequence(words) => words.iter().map(word).collect(),
            _ => vec![word(types)],
        };
        if !words.iter().any(|word| accepts(word, &value.value)) {
            let message = format!("{} is not of the `type` beside it", value.to_json());
            let finding = Diagnostic::error("wrong-type-for-value", value.span, message)
                .also(types.span, "the type is this");
            self.report.add(finding);
        }
    }
}

fn word(node: &Node) -> &str {
    if matches!(node.value, Value::Null) { "null" } else { node.as_str().unwrap_or_default() }
}

fn accepts(word: &str, value: &Value) -> bool {
    match value {
        Value::Null => word == "null",
        Value::Boolean(_) => word == "boolean",
        Value::Number(text) => word == "number" || (word == "integer" && number::is_whole(text)),
        Value::String(_) => word == "string",
        Value::Sequence(_) => word == "array",
        Value::Mapping(_) => word == "object",
    }
}

/// Of two bounds on one side, the one that leaves less; of equal ones the exclusive.
fn tighter(inclusive: Option<Bound>, exclusive: Option<Bound>, weaker: Ordering) -> Option<Bound> {
    match (inclusive, exclusive) {
        (Some(inclusive), Some(exclusive)) => {
            let order = number::compare(&exclusive.number, &inclusive.number);
            Some(if order == weaker { inclusive } else { exclusive })
        }
        (inclusive, exclusive) => inclusive.or(exclusive),
    }
}

fn is_empty(lower: &Bound, upper: &Bound, integer: bool) -> bool {
    if integer {
        let least = number::ceiling(&lower.number, lower.exclusive);
        return least > number::floor(&upper.number, upper.exclusive);
    }
    match number::compare(&lower.number, &upper.number) {
        Ordering::Less => false,
        Ordering::Equal => lower.exclusive || upper.exclusive,
        Ordering::Greater => true,
    }
}
