//! Drops defaults and examples that their own schema refuses, such as `default: null` on a string. Only types, `enum`,
//! `const`, limits and the keywords that combine schemas are checked.

use std::collections::BTreeMap;

use super::keywords::rebuild;
use super::references::{Standalone, target};
use super::warnings::Subject;
use toolwright_codegen::internal::Json;

/// The maximum number of schemas that one value is checked against. After that it counts as accepted.
const MAX_STEPS: usize = 500;

/// The number of values of an enum that are compared in a step.
const VALUES_PER_STEP: usize = 100;

/// Drops such defaults and examples from a schema and its definitions. The schema may also refer to `known` definitions.
pub(super) fn drop_refused(
    schema: Standalone,
    known: &BTreeMap<String, Json>,
    subject: &mut Subject<'_>,
) -> Standalone {
    let whole = schema.root.clone();
    let judge = Judge { whole: &whole, known };
    let root = judge.drop_refused(schema.root, "", subject);
    let definitions = schema.definitions.into_iter().map(|(name, body)| {
        let pointer = format!("/$defs/{name}");
        let body = judge.drop_refused(body, &pointer, subject);
        (name, body)
    });
    Standalone { definitions: definitions.collect(), root }
}

struct Judge<'a> {
    /// The schema that `#` refers to.
    whole: &'a Json,
    known: &'a BTreeMap<String, Json>,
}

impl Judge<'_> {
    fn drop_refused(&self, schema: Json, pointer: &str, subject: &mut Subject<'_>) -> Json {
        rebuild(schema, pointer, &mut |schema, at| self.drop_refused_in(schema, at, subject))
    }

    fn drop_refused_in(&self, schema: Json, pointer: &str, subject: &mut Subject<'_>) -> Json {
        let Json::Object(mut entries) = schema else { return schema };
        if !entries.iter().any(|(key, _)| ["default", "examples"].contains(&key.as_str())) {
            return Json::Object(entries);
        }
        let whole = Json::Object(entries.clone());
        let accepts = |value: &Json| self.accepts(&whole, value, &mut MAX_STEPS.clone());
        entries.retain(|(key, value)| {
            let refused = key == "default" && !accepts(value);
            if refused {
                let what = if *value == Json::Null { "`default: null`" } else { "a `default`" };
                subject.warn(pointer, format!("{what} that its own schema refuses was left out"));
            }
            !refused
        });
        if let Some((_, Json::Array(examples))) =
            entries.iter_mut().find(|(key, _)| key == "examples")
        {
            examples.retain(|value| {
                let fits = accepts(value);
                if !fits {
                    subject.warn(pointer, "an example that its own schema refuses was left out");
                }
                fits
            });
        }
        entries.retain(|(key, value)| key != "examples" || *value != Json::Array(Vec::new()));
        Json::Object(entries)
    }

    /// Returns `false` only if the schema certainly refuses the value.
    fn accepts(&self, schema: &Json, value: &Json, steps: &mut usize) -> bool {
        *steps = steps.saturating_sub(1);
        let Json::Object(entries) = schema else { return *schema != Json::Boolean(false) };
        *steps == 0
            || entries.iter().all(|(key, limit)| match (key.as_str(), limit) {
                ("type", Json::String(word)) => is_of_type(value, word),
                ("type", Json::Array(words)) => words
                    .iter()
                    .any(|word| matches!(word, Json::String(word) if is_of_type(value, word))),
                ("enum", Json::Array(values)) => {
                    *steps = steps.saturating_sub(values.len() / VALUES_PER_STEP);
                    values.iter().any(|one| may_equal(one, value))
                }
                ("const", one) => may_equal(one, value),
                ("anyOf" | "oneOf", Json::Array(members)) => {
                    members.iter().any(|one| self.accepts(one, value, steps))
                }
                ("allOf", Json::Array(members)) => {
                    members.iter().all(|one| self.accepts(one, value, steps))
                }
                ("$ref", _) => {
                    self.referred(schema).is_none_or(|to| self.accepts(to, value, steps))
                }
                (key, Json::Number(limit)) => is_within(key, limit, value),
                _ => true,
            })
    }

    fn referred(&self, schema: &Json) -> Option<&Json> {
        target(schema).map_or(Some(self.whole), |name| self.known.get(name))
    }
}

/// Returns `false` only if the value is certainly not of the type.
pub(super) fn is_of_type(value: &Json, word: &str) -> bool {
    match (word, value) {
        ("null", Json::Null)
        | ("boolean", Json::Boolean(_))
        | ("string", Json::String(_))
        | ("number", Json::Number(_))
        | ("array", Json::Array(_))
        | ("object", Json::Object(_)) => true,
        // An exponent can make any number whole, so only a fraction without one is certainly not an integer.
        ("integer", Json::Number(text)) => match text.split_once('.') {
            Some((_, fraction)) => fraction.contains('e') || fraction.trim_matches('0').is_empty(),
            None => true,
        },
        _ => false,
    }
}

/// Returns `false` only if two values certainly differ. Numbers in lists and objects may be written differently.
fn may_equal(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(_), Json::Number(_)) => double(one) == double(other),
        (Json::Array(_), Json::Array(_)) | (Json::Object(_), Json::Object(_)) => true,
        _ => one == other,
    }
}

fn is_within(key: &str, limit: &str, value: &Json) -> bool {
    let Ok(limit) = limit.parse::<f64>() else { return true };
    let size = match (key, value) {
        ("minLength" | "maxLength", Json::String(text)) => count(text.chars().count()),
        ("minItems" | "maxItems", Json::Array(items)) => count(items.len()),
        ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", number) => double(number),
        _ => None,
    };
    let Some(size) = size else { return true };
    match key {
        "minimum" | "minLength" | "minItems" => size >= limit,
        "exclusiveMinimum" => size > limit,
        "exclusiveMaximum" => size < limit,
        _ => size <= limit,
    }
}

fn count(count: usize) -> Option<f64> {
    u32::try_from(count).ok().map(f64::from)
}

fn double(value: &Json) -> Option<f64> {
    match value {
        Json::Number(text) => text.parse().ok(),
        _ => None,
    }
}
