//! Reads strings, numbers, constants and enumerations.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use toolwright::format::{Format, IntegerFormat};
use toolwright::value::Kind;

use super::SchemaReader;
use crate::diagnostic::schemas;
use crate::json::Json;
use crate::schema::{
    Bound, BoxedAnnotations, DOUBLE, EnumValue, NumberRules, Pattern, Shape, StringRules,
    is_double, json_key, kind_of_value, number,
};
use crate::source::{Span, Spanned};
use crate::yaml::{Node, Value};

/// The keywords that limit numbers.
const LIMITS: [&str; 4] = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"];

impl SchemaReader<'_> {
    /// Reads the limits of a string (2020-12 validation, 6.3).
    pub(super) fn string_rules(&mut self, text: &Node) -> StringRules {
        let min_length = self.count(text, "minLength");
        let max_length = self.count(text, "maxLength");
        self.check_counts(text, "maxLength", min_length, max_length);
        let pattern = text.get("pattern").and_then(|node| self.pattern(node)).map(Box::new);
        let format = text.get("format").and_then(Node::as_str);
        let format = format.and_then(Format::from_name);
        StringRules { min_length, max_length, pattern, format }
    }

    /// Reads a pattern.
    pub(super) fn pattern(&mut self, node: &Node) -> Option<Pattern> {
        let Some(ecma) = node.as_str() else {
            self.expected("a pattern", node);
            return None;
        };
        self.translated(ecma, node.span)
    }

    /// Translates a pattern, or reports that no engine supports it.
    pub(super) fn translated(&mut self, ecma: &str, at: Span) -> Option<Pattern> {
        if let Some(known) = self.schemas.pattern(ecma) {
            return Some(known.clone());
        }
        let pattern = match self.pending.budget.translated(ecma) {
            Ok(pattern) => pattern,
            Err((reason, help)) => {
                self.report.add(schemas::bad_pattern(at, &reason, help));
                return None;
            }
        };
        if pattern.translated.needs_tables {
            self.schemas.needs_tables.get_or_insert(at);
        }
        self.schemas.patterns.insert(ecma.to_owned(), pattern.clone());
        Some(pattern)
    }

    /// Reads a keyword whose value is a count.
    pub(super) fn count(&mut self, text: &Node, keyword: &str) -> Option<u64> {
        let node = text.get(keyword)?;
        let count = match &node.value {
            Value::Number(text) => number::count(text),
            _ => None,
        };
        if count.is_none() {
            self.expected("a whole number from 0 to 18446744073709551615", node);
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
            self.report.add(schemas::empty_range(node.span, message));
        }
    }

    /// Reads the limits of a number (2020-12 validation, 6.2).
    pub(super) fn number_rules(&mut self, text: &Node, integer: bool) -> NumberRules {
        for node in LIMITS.into_iter().filter_map(|keyword| text.get(keyword)) {
            if !matches!(node.value, Value::Number(_)) {
                self.expected("a number", node);
            }
        }
        let rules = self.numbers(text, integer);
        let NumberRules { lower, upper, format, .. } = &rules;
        if let (Some(lower), Some(upper)) = (lower, upper)
            && is_empty(lower, upper, integer)
        {
            let message = format!("no number is between {} and {}", lower.number, upper.number);
            self.report.add(schemas::empty_range(text.span, message));
        }
        if let (Some(_), Some(least), Some(greatest)) =
            (format, rules.min_integer(), rules.max_integer())
            && least > greatest
        {
            let message = format!("no integer of this format is from {least} to {greatest}");
            self.report.add(schemas::empty_range(text.span, message));
        }
        rules
    }

    /// Returns the limits of a number that can be part of its type, and its format or the default one.
    pub(super) fn numbers(&self, text: &Node, integer: bool) -> NumberRules {
        let bound = |keyword| bound(text, keyword, integer);
        let lower = tighter(bound("minimum"), bound("exclusiveMinimum"), Ordering::Less);
        let upper = tighter(bound("maximum"), bound("exclusiveMaximum"), Ordering::Greater);
        let mut rules = NumberRules { lower, upper, format: None, is_double: false };
        let format = text.get("format").and_then(Node::as_str);
        // The limits that do not become part of the type: they are beyond every standard integer, or not exactly a double.
        let mut wide = LIMITS.into_iter().filter_map(|keyword| match &text.get(keyword)?.value {
            Value::Number(number) => {
                (!is_typed_bound(number, keyword, integer)).then_some(number.as_str())
            }
            _ => None,
        });
        if integer {
            rules.format = format.and_then(IntegerFormat::from_name);
            if rules.format.is_none() && wide.next().is_none() && format != Some(DOUBLE) {
                rules.format = self.default_format(&rules, text.span);
            }
        } else {
            let is_beyond_doubles = |number: &str| !number::as_f64(number).is_finite();
            rules.is_double = match format {
                Some(format) => format == DOUBLE,
                None => self.is_default_double(&rules, text.span) && !wide.any(is_beyond_doubles),
            };
        }
        rules
    }

    /// Returns the format of an integer without one: 64 bits if a limit is missing and the other one fits.
    fn default_format(&self, rules: &NumberRules, at: Span) -> Option<IntegerFormat> {
        let is_open = rules.lower.is_none() || rules.upper.is_none();
        let bounds = [rules.min_integer(), rules.max_integer()];
        let fits = bounds.into_iter().flatten().all(|bound| i64::try_from(bound).is_ok());
        let is_exact = self.exact_integers.contains(&at.source);
        (is_open && fits && !is_exact).then_some(IntegerFormat::Int64)
    }

    /// Returns whether a number without a format is a double: it is if a limit is missing.
    pub(super) fn is_default_double(&self, rules: &NumberRules, at: Span) -> bool {
        !rules.is_within_doubles() && !self.exact_integers.contains(&at.source)
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

    /// Reads an `enum` of strings, numbers, booleans and `null`.
    pub(super) fn enumeration(&mut self, text: &Node) -> Shape {
        let Some(node) = text.get("enum") else { return Shape::Any };
        let Value::Sequence(items) = &node.value else { return Shape::Any };
        self.check_values(text, node);
        let null = items.iter().any(|item| matches!(item.value, Value::Null));
        let strings = items.iter().filter_map(|item| match &item.value {
            Value::String(value) => Some(Spanned::new(value.clone(), item.span)),
            _ => None,
        });
        let integers = items.iter().filter_map(|item| match &item.value {
            Value::Number(text) => {
                let value = i64::try_from(number::ceiling(text, false)?).ok()?;
                Some(Spanned::new(value, item.span))
            }
            _ => None,
        });
        let (strings, integers): (Vec<_>, Vec<_>) = (strings.collect(), integers.collect());
        let others = || items.iter().filter(|item| !matches!(item.value, Value::Null));
        let shape = match (strings.as_slice(), integers.as_slice()) {
            _ if others().count() == 0 => return Shape::Null,
            _ if !others().all(is_string) && !others().all(is_integer) => {
                constants(others().map(|item| undescribed(Spanned::new(item.to_json(), item.span))))
            }
            ([only], []) => Shape::Const(Json::string(&only.value)),
            ([], [only]) => Shape::Const(Json::Number(only.value.to_string())),
            ([], _) => Shape::IntegerEnum(integers),
            _ => Shape::Enum(strings.into_iter().map(undescribed).collect()),
        };
        if null { self.nullable(shape, text.span) } else { shape }
    }

    /// Checks the values of an `enum` of any kind.
    pub(super) fn check_values(&mut self, text: &Node, node: &Node) {
        let Value::Sequence(items) = &node.value else { return };
        let mut known: BTreeMap<String, Vec<Span>> = BTreeMap::new();
        for item in items.iter() {
            self.check_type_allows(text, item);
            known.entry(json_key(&item.to_json())).or_default().push(item.span);
        }
        for places in known.into_values().filter(|places| places.len() > 1) {
            self.report.add(schemas::repeated_value(places));
        }
        if items.is_empty() {
            self.report.add(schemas::empty_enum(node.span));
        }
    }

    /// Reports a value that the `type` beside it never accepts.
    fn check_type_allows(&mut self, text: &Node, value: &Node) {
        let Some(types) = text.get("type") else { return };
        let words = match &types.value {
            Value::Sequence(words) => &words[..],
            _ => std::slice::from_ref(types),
        };
        let value_json = value.to_json();
        let found = kind_of_value(&value_json);
        let accepts = |word: &Node| match &word.value {
            Value::Null => found == Kind::Null,
            Value::String(word) if word == Kind::Number.as_str() => {
                matches!(found, Kind::Integer | Kind::Number)
            }
            Value::String(word) => word == found.as_str(),
            _ => false,
        };
        if !words.iter().any(accepts) {
            let shown = value_json.to_string();
            self.report.add(schemas::wrong_type_for_value(value.span, &shown, types.span));
        }
    }
}

/// Returns a limit of a number, if it can be part of its type.
fn bound(text: &Node, keyword: &str, integer: bool) -> Option<Bound> {
    let Value::Number(number) = &text.get(keyword)?.value else { return None };
    is_typed_bound(number, keyword, integer)
        .then(|| Bound { number: number.clone(), exclusive: keyword.starts_with("exclusive") })
}

/// Returns whether the limit of a number can be part of its type: an integer that fits `i64` or `u64`, or a number that is
/// exactly a double.
pub(super) fn is_typed_bound(number: &str, keyword: &str, integer: bool) -> bool {
    match keyword {
        _ if !integer => is_double(number),
        "minimum" | "exclusiveMinimum" => {
            number::ceiling(number, keyword == "exclusiveMinimum").is_some()
        }
        _ => number::floor(number, keyword == "exclusiveMaximum").is_some(),
    }
}

/// Returns the kinds of values that a format applies to; an unknown format applies to strings.
pub(super) fn kinds_of_format(format: &Node) -> &'static [Kind] {
    match format.as_str() {
        Some(DOUBLE) => &[Kind::Integer, Kind::Number],
        Some(format) if IntegerFormat::from_name(format).is_some() => {
            &[Kind::Integer, Kind::Number]
        }
        _ => &[Kind::String],
    }
}

/// Wraps a value of an `enum`, which has no annotations.
fn undescribed<T>(value: Spanned<T>) -> EnumValue<T> {
    EnumValue { value, annotations: BoxedAnnotations::default() }
}

/// Returns the shape of an enumeration that has neither only strings nor only integers of 64 bits.
pub(super) fn constants(values: impl Iterator<Item = EnumValue<Json>>) -> Shape {
    let values: Vec<_> = values.collect();
    let is_boolean = |value: &EnumValue<Json>| {
        matches!(value.value.value, Json::Boolean(_)) && value.annotations.is_empty()
    };
    match values.as_slice() {
        [only] => Shape::Const(only.value.value.clone()),
        // They are `true` and `false`, because all values differ.
        [one, other] if is_boolean(one) && is_boolean(other) => Shape::Boolean,
        _ => Shape::Constants(values),
    }
}

/// Returns whether an `enum` can be a type: it has only strings, numbers, booleans and `null`.
pub(super) fn is_enumeration(node: &Node) -> bool {
    let Value::Sequence(items) = &node.value else { return false };
    let is_nested = |node: &Node| matches!(node.value, Value::Sequence(_) | Value::Mapping(_));
    !items.is_empty() && !items.iter().any(is_nested)
}

fn is_string(node: &Node) -> bool {
    matches!(node.value, Value::String(_))
}

fn is_integer(node: &Node) -> bool {
    match &node.value {
        Value::Number(text) => {
            let value = number::ceiling(text, false).filter(|_| number::is_whole(text));
            value.is_some_and(|value| i64::try_from(value).is_ok())
        }
        _ => false,
    }
}

/// Returns the stricter of two bounds on one side; the exclusive one if they are equal.
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
