//! Projects strings, numbers, booleans and null, and the keywords that all nodes share.

use toolwright::format::{Format, IntegerFormat};
use toolwright::value::{Kind, Map, Number, Value};

use super::{Node, Projector};
use crate::listed::Listed;
use crate::loss::LossKind;
use crate::plan::{SAME, Step, StepId};
use crate::row::{Dialect, Mode};
use crate::sentence;

/// Keywords that do not restrict values.
const ANNOTATIONS: [&str; 14] = [
    "$schema",
    "$id",
    "$comment",
    "$anchor",
    "$vocabulary",
    "title",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
];

/// Annotations that are never kept: references are others on the wire, where `nullable` is a rule and `propertyOrdering` has other names.
const NOT_KEPT: [&str; 5] = ["$schema", "$id", "$anchor", "nullable", "propertyOrdering"];

/// Keywords that other parts of the projection read.
const STRUCTURE: [&str; 9] = [
    "type",
    "description",
    "$defs",
    "definitions",
    "$ref",
    "const",
    "enum",
    "$dynamicAnchor",
    "format",
];

impl Projector<'_> {
    pub(super) fn leaf(&mut self, kind: Kind, entries: &Map<Value>, at: &str) -> Node {
        let mut wire = Map::new();
        if kind == Kind::Null && !self.dialect.null_type {
            wire.insert("type", Value::from("string"));
            wire.insert("enum", Value::Array(vec![Value::from("null")]));
            let step = self.step(Step::Table {
                canonical: Listed::new(vec![Value::Null]),
                wire: Listed::new(vec![Value::from("null")]),
            });
            self.finish(&mut wire, entries, at, &[], &[Kind::Null], step);
            return Node { wire, step };
        }
        if kind == Kind::Integer && self.needs_digits(entries) {
            wire.insert("type", Value::from("string"));
            let step = self.step(Step::Digits);
            self.lose(LossKind::Widening, at, "type", Value::from("integer"), DIGITS, "T18");
            self.finish_in_words(
                &mut wire,
                &with_words(entries, DIGITS),
                at,
                &["format"],
                Kind::Integer,
                step,
            );
            return Node { wire, step };
        }
        wire.insert("type", Value::from(kind.as_str()));
        self.finish(&mut wire, entries, at, &[], &[kind], SAME);
        Node::same(wire)
    }

    /// Returns whether the bounds of integers are beyond what numbers hold on the wire.
    pub(super) fn needs_digits(&self, entries: &Map<Value>) -> bool {
        let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
        let mut bounds = bounds.iter().filter_map(|bound| entries.get(bound)?.as_number());
        self.dialect.doubles && bounds.any(is_beyond_doubles)
    }

    /// Adds the other keywords of a node: as they are if the dialect accepts them, otherwise as sentences.
    pub(super) fn finish(
        &mut self,
        wire: &mut Map<Value>,
        entries: &Map<Value>,
        at: &str,
        handled: &[&str],
        kinds: &[Kind],
        step: StepId,
    ) {
        let mut sentences = Vec::new();
        for (keyword, value) in entries {
            if handled.contains(&keyword) || (STRUCTURE.contains(&keyword) && keyword != "format") {
                continue;
            }
            if keyword == "default" {
                if self.dialect.takes(keyword) && step == SAME {
                    wire.insert(keyword, value.clone());
                } else if let Some(words) = sentence::of(keyword, value, entries) {
                    self.lose(LossKind::Annotation, at, keyword, value.clone(), &words, "T21");
                    sentences.push(words);
                }
                continue;
            }
            if keyword == "format" {
                self.format(wire, value, at, kinds, &mut sentences);
                continue;
            }
            if is_annotation(keyword) {
                let kept = !NOT_KEPT.contains(&keyword)
                    && (step == SAME || !matches!(keyword, "examples" | "example"))
                    && self.dialect.takes(keyword);
                // A list names the keywords to keep; without it, only known annotations are kept.
                if kept && (self.dialect.mode == Mode::Allow || ANNOTATIONS.contains(&keyword)) {
                    wire.insert(keyword, value.clone());
                } else {
                    self.lose(LossKind::Annotation, at, keyword, value.clone(), "", "T21");
                }
                continue;
            }
            let speaks_of = sentence::kinds_of_keyword(keyword);
            if !speaks_of.is_empty() && !speaks_of.iter().any(|kind| kinds.contains(kind)) {
                continue;
            }
            if says_nothing(keyword, value) {
                continue;
            }
            if self.takes_rule(keyword, value, entries) {
                wire.insert(keyword, value.clone());
                continue;
            }
            let words = sentence::of(keyword, value, entries);
            self.lose(
                LossKind::Enforcement,
                at,
                keyword,
                value.clone(),
                words.as_deref().unwrap_or_default(),
                "T20",
            );
            sentences.extend(words);
        }
        let own = entries.get("description").and_then(Value::as_str);
        if self.dialect.takes("description") {
            wire.extend(
                sentence::behind(own, &sentences).map(|text| ("description", Value::from(text))),
            );
        }
    }

    fn format(
        &mut self,
        wire: &mut Map<Value>,
        value: &Value,
        at: &str,
        kinds: &[Kind],
        sentences: &mut Vec<String>,
    ) {
        let Some(name) = value.as_str() else { return };
        let is_number = IntegerFormat::from_name(name).is_some();
        let known = is_number || Format::from_name(name).is_some();
        let speaks_of_it = if is_number {
            kinds.iter().any(|kind| matches!(kind, Kind::Integer | Kind::Number))
        } else {
            kinds.contains(&Kind::String)
        };
        if !speaks_of_it && known {
            return;
        }
        let listed = self
            .dialect
            .formats
            .as_ref()
            .is_none_or(|formats| formats.iter().any(|format| format == name));
        if self.dialect.takes("format") && listed {
            wire.insert("format", value.clone());
            return;
        }
        let words = sentence::of("format", value, &Map::new());
        let (kind, by) =
            if known { (LossKind::Enforcement, "T20") } else { (LossKind::Annotation, "T21") };
        self.lose(kind, at, "format", value.clone(), words.as_deref().unwrap_or_default(), by);
        sentences.extend(words);
    }

    /// Returns whether the dialect accepts a rule of a node as it is written.
    fn takes_rule(&self, keyword: &str, value: &Value, entries: &Map<Value>) -> bool {
        let dialect = self.dialect;
        if !dialect.takes(keyword) || is_schema(keyword) {
            return false;
        }
        let at_most = |most: Option<u64>| {
            most.is_none_or(|most| value.as_u64().is_some_and(|count| count <= most))
        };
        match keyword {
            "pattern" => {
                let Some(pattern) = value.as_str() else { return false };
                let lengths =
                    entries.contains_key("minLength") || entries.contains_key("maxLength");
                let classes = ["\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\p", "\\b"]
                    .iter()
                    .any(|class| pattern.contains(class));
                takes_parts(dialect, pattern)
                    && (!dialect.pattern_anchored
                        || (pattern.starts_with('^') && pattern.ends_with('$')))
                    && (!dialect.pattern_no_classes || !classes)
                    && (dialect.pattern_with_lengths || !lengths)
                    && dialect
                        .repetition_max
                        .is_none_or(|most| repetitions(pattern).all(|count| count <= most))
            }
            // If it may only name properties, it is written with them.
            "required" => !dialect.required_in_properties,
            "minLength" | "maxLength" | "maxItems" => at_most(dialect.repetition_max),
            "minItems" => at_most(dialect.repetition_max) && at_most(dialect.min_items_max),
            _ => true,
        }
    }
}

/// The form of integers beyond what doubles hold.
const DIGITS: &str = "An integer as a string of digits: `^-?(0|[1-9][0-9]*)$`.";

/// Returns whether a number is beyond ±2^53, where a double does not hold every integer (IEEE 754, binary64).
pub(super) fn is_beyond_doubles(number: &Number) -> bool {
    const EXACT: i64 = 1 << 53;
    *number > Number::from(EXACT) || *number < Number::from(-EXACT)
}

fn with_words(entries: &Map<Value>, words: &str) -> Map<Value> {
    let mut all = entries.clone();
    let own = entries.get("description").and_then(Value::as_str);
    all.extend(
        sentence::behind(own, &[words.to_owned()]).map(|text| ("description", Value::from(text))),
    );
    all
}

/// Returns whether a keyword is an annotation.
fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword)
        || (sentence::kinds_of_keyword(keyword).is_empty() && !is_schema(keyword))
}

/// Returns whether a rule is a schema or an object of schemas.
pub(super) fn is_schema(keyword: &str) -> bool {
    matches!(
        keyword,
        "anyOf"
            | "oneOf"
            | "allOf"
            | "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "dependentSchemas"
            | "propertyNames"
            | "patternProperties"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "items"
            | "prefixItems"
    )
}

/// Returns whether a keyword with this value accepts everything.
pub(super) fn says_nothing(keyword: &str, value: &Value) -> bool {
    match keyword {
        "minLength" | "minItems" | "minProperties" => {
            value.as_number().is_some_and(|count| *count == Number::from(0))
        }
        "required" => value.as_array().is_some_and(<[Value]>::is_empty),
        "uniqueItems" => *value == Value::Boolean(false),
        // The sentence for `if` contains them.
        "then" | "else" => true,
        "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems" => {
            *value == Value::Boolean(true)
        }
        _ => false,
    }
}

/// Returns whether a pattern has a lookahead or a lookbehind.
fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| pattern.contains(look))
}

/// Returns whether a pattern refers to what a group matched; each escaped digit counts as such a reference.
fn refers_back(pattern: &str) -> bool {
    let mut escapes = pattern.split('\\').skip(1);
    while let Some(escaped) = escapes.next() {
        match escaped.chars().next() {
            // An escaped backslash: what follows the second one is plain.
            None => drop(escapes.next()),
            Some(first) if first.is_ascii_digit() || escaped.starts_with("k<") => return true,
            Some(_) => {}
        }
    }
    false
}

/// Returns whether a dialect takes the lookaround and the references of a pattern.
pub(super) fn takes_parts(dialect: &Dialect, pattern: &str) -> bool {
    (dialect.pattern_lookaround || !looks_around(pattern))
        && (dialect.pattern_references || !refers_back(pattern))
}

/// The counts of `{n}` and `{n,m}` in a pattern.
fn repetitions(pattern: &str) -> impl Iterator<Item = u64> {
    pattern.split('{').skip(1).flat_map(|rest| {
        let inside = rest.split('}').next().unwrap_or_default();
        inside.split(',').filter_map(|count| count.parse().ok()).collect::<Vec<u64>>()
    })
}
