//! Checks payloads in two ways: with the generated codecs of a tool, and with its published schemas by the `jsonschema`
//! crate.

use std::collections::BTreeMap;
use std::fmt;

use jsonschema::{Draft, Validator};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright::format::IntegerFormat;
use toolwright::{InvalidPayload, ToolSpec};

/// The two payloads of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Side {
    Args,
    Result,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Args, Self::Result];

    /// Checks a payload with the generated codec.
    pub(crate) fn check(self, spec: &ToolSpec, payload: &str) -> Result<(), InvalidPayload> {
        match self {
            Self::Args => spec.check_args(payload.as_bytes()),
            Self::Result => spec.check_result(payload.as_bytes()),
        }
    }

    /// The published schema; `None` if it has a number that `serde_json` does not read.
    pub(crate) fn schema(self, spec: &ToolSpec) -> Option<Value> {
        let text = match self {
            Self::Args => spec.args_schema(),
            Self::Result => spec.result_schema(),
        };
        let is_json = text.parse::<toolwright::Value>().is_ok();
        assert!(is_json, "published schemas are JSON: {text}");
        serde_json::from_str(text).ok()
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Args => "args",
            Self::Result => "result",
        })
    }
}

/// The toolsets with schemas that the `jsonschema` crate gets wrong or takes too long to check. The verdicts of their rows are
/// written by hand.
pub(crate) const MISJUDGED: [&str; 2] = ["choices", "fidelity"];

/// The validators of the published schemas of some tools.
pub(crate) struct Published(BTreeMap<(String, Side), Option<Validator>>);

impl Published {
    pub(crate) fn of<'a>(specs: impl IntoIterator<Item = &'a ToolSpec>) -> Self {
        let keyed = |spec: &'a ToolSpec| {
            Side::BOTH.map(|side| {
                let schema = side.schema(spec).filter(|_| !MISJUDGED.contains(&spec.toolset()));
                let validator = schema.as_ref().and_then(validator);
                ((spec.name().to_owned(), side), validator)
            })
        };
        Self(specs.into_iter().flat_map(keyed).collect())
    }

    /// Returns whether the schema accepts a payload. `None` if `serde_json` cannot read its exact value, as it is not JSON, nests
    /// too deep or has a number that no double holds, or if the `jsonschema` crate refuses the schema.
    pub(crate) fn accepts(&self, spec: &ToolSpec, side: Side, payload: &str) -> Option<bool> {
        let value: Value = serde_json::from_str(payload).ok()?;
        let validator = self.0[&(spec.name().to_owned(), side)].as_ref()?;
        is_read_exactly(&value, payload).then(|| validator.is_valid(&value))
    }
}

/// Returns whether `serde_json` read the exact value of a payload, or the payload has duplicate keys, which codecs must refuse.
fn is_read_exactly(value: &Value, payload: &str) -> bool {
    let exact = payload.parse::<toolwright::Value>();
    exact.is_err() || exact == value.to_string().parse()
}

/// The validator of a schema; `None` if the crate does not support it, such as some patterns of ECMA-262.
fn validator(schema: &Value) -> Option<Validator> {
    let options = jsonschema::options();
    let schema = with_integer_limits(schema);
    options.with_draft(Draft::Draft202012).should_validate_formats(true).build(&schema).ok()
}

/// Replaces the formats of integers by limits, as the crate only knows formats of strings.
fn with_integer_limits(schema: &Value) -> Value {
    let mut schema = schema.clone();
    match &mut schema {
        Value::Array(items) => items.iter_mut().for_each(|item| *item = with_integer_limits(item)),
        Value::Object(entries) => {
            entries.values_mut().for_each(|value| *value = with_integer_limits(value));
            let format = entries.get("format").and_then(Value::as_str);
            if let Some(format) = format.and_then(IntegerFormat::from_name) {
                let limits = format!(
                    r#"{{"minimum":{},"maximum":{},"multipleOf":1}}"#,
                    format.min_value(),
                    format.max_value()
                );
                let limits = serde_json::from_str(&limits).expect("the limits are JSON");
                let entry = entries.entry("allOf").or_insert_with(|| Value::Array(Vec::new()));
                entry.as_array_mut().expect("a list of schemas").push(limits);
            }
        }
        _ => {}
    }
    schema
}
