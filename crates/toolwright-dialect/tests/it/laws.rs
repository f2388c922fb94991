//! The laws of all projections, and those of each class.

use fastrand::Rng;
use jsonschema::Validator;
use toolwright::schema::Schema;
use toolwright::value::{Map, Value};
use toolwright_dialect::{Class, Dialect, LossKind, Projection};

use crate::rules;

/// The number of values that are tried with each wire schema.
const WIRE_VALUES: usize = 12;

/// A schema, as two validators read it.
pub(super) struct Validators {
    ours: Schema,
    /// `jsonschema`, for schemas without formats of integers, without patterns, as it reads `.` and `\B` differently, and
    /// without `multipleOf`, which it computes with doubles.
    peer: Option<Validator>,
}

impl Validators {
    pub(super) fn of(schema: &str) -> Result<Self, String> {
        let ours = Schema::new(schema).map_err(|error| error.to_string())?;
        let differs = ["\"pattern", "\"multipleOf", "\"format\":\"int", "\"format\":\"uint"];
        // `jsonschema` ignores formats that are newer than the draft that `$schema` names.
        let newer = ["\"format\":\"uuid", "\"format\":\"duration"];
        let newer = newer.iter().filter(|_| schema.contains("json-schema.org/draft-0"));
        // In draft-04, a number with a decimal point is no integer for it. In 2019-09, `contains` evaluates items for it.
        let of_draft = [("draft-04", "\"integer\""), ("2019-09", "\"contains\"")].into_iter();
        let of_draft = of_draft.filter(|(draft, _)| schema.contains(draft));
        let of_draft: Vec<&str> = of_draft.map(|(_, keyword)| keyword).collect();
        let mut differs = differs.iter().chain(newer).chain(&of_draft);
        let schema =
            in_doubles(schema).filter(|_| !differs.any(|keyword| schema.contains(keyword)));
        let options = jsonschema::options().should_validate_formats(true);
        let peer = schema.map(|schema| options.build(&schema)).transpose();
        Ok(Self { ours, peer: peer.map_err(|error| error.to_string())? })
    }

    pub(super) fn accept(&self, value: &str, faults: &mut Vec<String>) -> bool {
        let ours = self.ours.check(value.as_bytes()).is_ok();
        if let (Some(peer), Some(value)) = (&self.peer, in_doubles(value))
            && peer.is_valid(&value) != ours
        {
            faults.push(format!(
                "{value} is valid for our validator: {ours}, and not so for the other"
            ));
        }
        ours
    }
}

/// The laws for the projections of a canonical schema.
pub(super) struct Laws {
    canonical: Validators,
}

impl Laws {
    /// # Errors
    ///
    /// Returns an error if a validator refuses the schema, or it has numbers beyond those of `serde_json`.
    pub(super) fn of(schema: &str) -> Result<Self, String> {
        serde_json::from_str::<serde_json::Value>(schema).map_err(|error| error.to_string())?;
        if schema.contains("e-400") {
            return Err("has a number that `serde_json` takes for zero".to_owned());
        }
        Ok(Self { canonical: Validators::of(schema)? })
    }

    pub(super) fn accepts(&self, canonical: &str) -> bool {
        self.canonical.accept(canonical, &mut Vec::new())
    }

    /// Returns the promises that a projection breaks.
    pub(super) fn broken(
        &self,
        dialect: &Dialect,
        found: &Projection,
        valid: &[String],
    ) -> Vec<String> {
        let mut faults = Vec::new();
        if found.class == Class::Refused {
            return faults;
        }
        let mut on_wire = None;
        let mut wire_values = ["{}", "null", "", "[]"].map(str::to_owned).to_vec();
        if let Some(text) = &found.wire_schema {
            faults.extend(rules::broken(dialect, &serde_json::from_str(text).unwrap()));
            let mut wire = text.parse().unwrap();
            if dialect.to_toml().contains("null_type = false") {
                wire = without_nullable(&wire);
            }
            match Validators::of(&wire.to_string()) {
                Ok(validators) => on_wire = Some(validators),
                Err(error) => faults.push(format!("{text} is not a schema: {error}")),
            }
            wire_values = toolwright_judge::payloads(&wire, WIRE_VALUES, &mut Rng::with_seed(7));
        }
        // Values of the wire that are canonical, too, may have the keys of other properties.
        let both = wire_values.iter().filter(|value| self.accepts(value));
        for canonical in valid.iter().chain(both) {
            let Some(wire) = self.comes_back(found, canonical, &mut faults) else { continue };
            if on_wire.as_ref().is_some_and(|schema| !schema.accept(&wire, &mut faults)) {
                faults.push(format!("{canonical} becomes {wire}, which is not on the wire"));
            }
        }
        for wire in &wire_values {
            let is_on_wire =
                on_wire.as_ref().is_some_and(|schema| schema.accept(wire, &mut faults));
            self.decodes(found, wire, is_on_wire && found.class == Class::Lossless, &mut faults);
        }
        faults
    }

    /// Encodes a valid value, and decodes it again.
    fn comes_back(
        &self,
        found: &Projection,
        canonical: &str,
        faults: &mut Vec<String>,
    ) -> Option<String> {
        let wire = match found.encode(canonical) {
            Ok(wire) => wire,
            Err(error) => {
                if found.class < Class::Narrowed {
                    faults.push(format!("{}, and {canonical}: {error}", found.class));
                }
                return None;
            }
        };
        match found.decode(&wire) {
            Ok(decoded) => {
                let back = decoded.canonical.as_str();
                if !is_same(found, canonical, back) {
                    faults.push(format!("{canonical} becomes {wire}, which comes back as {back}"));
                } else if !self.accepts(back) {
                    faults.push(format!("{canonical} comes back as {back}, which is not valid"));
                }
            }
            Err(issues) => {
                faults.push(format!(
                    "{canonical} becomes {wire}, which does not come back: {issues}"
                ));
            }
        }
        Some(wire)
    }

    /// Decodes a value that a model may send. `must_be_valid` is true for values that a lossless dialect accepts.
    fn decodes(
        &self,
        found: &Projection,
        wire: &str,
        must_be_valid: bool,
        faults: &mut Vec<String>,
    ) {
        let decoded = match found.decode(wire) {
            Ok(decoded) => decoded,
            Err(issues) => {
                if must_be_valid {
                    faults.push(format!("lossless, and {wire} does not decode: {issues}"));
                }
                return;
            }
        };
        let canonical = decoded.canonical.as_str();
        let is_valid = self.canonical.accept(canonical, faults);
        if is_valid {
            self.comes_back(found, canonical, faults);
        } else if must_be_valid {
            faults.push(format!("lossless, and {wire} becomes {canonical}, which is not valid"));
        }
    }
}

/// A JSON text as `jsonschema` reads it, if that changes no number.
fn in_doubles(text: &str) -> Option<serde_json::Value> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let exact: Value = text.parse().ok()?;
    (value.to_string().parse() == Ok(exact)).then_some(value)
}

/// Returns whether the decoded value equals the canonical one. If absence means null, either counts as the other.
fn is_same(found: &Projection, canonical: &str, back: &str) -> bool {
    let read = |text: &str| text.parse::<Value>().unwrap();
    let absent_is_null = found
        .losses
        .iter()
        .any(|loss| loss.keyword == "absent" && loss.kind == LossKind::Annotation);
    if absent_is_null {
        return without_nulls(&read(canonical)) == without_nulls(&read(back));
    }
    read(canonical) == read(back)
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let entries = entries.iter().filter(|(_, value)| !value.is_null());
            Value::Object(entries.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

/// Replaces `nullable`, which validators do not know, by an `anyOf` with null.
pub(super) fn without_nullable(wire: &Value) -> Value {
    match wire {
        Value::Object(entries) => {
            let mut all: Map<Value> =
                entries.iter().map(|(key, value)| (key, without_nullable(value))).collect();
            if all.remove("nullable") == Some(Value::Boolean(true)) {
                let null = Map::from([("type", Value::from("null"))]);
                let both = vec![Value::Object(all), Value::Object(null)];
                return Value::Object(Map::from([("anyOf", Value::Array(both))]));
            }
            Value::Object(all)
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nullable).collect()),
        other => other.clone(),
    }
}
