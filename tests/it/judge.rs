//! Two judges of a payload: a tool's generated codecs, and the schemas it publishes, read by the `jsonschema` crate.
//! Never knows where a payload comes from.

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

    /// The verdict of the generated codec.
    pub(crate) fn check(self, spec: &ToolSpec, payload: &str) -> Result<(), InvalidPayload> {
        match self {
            Self::Args => spec.check_args(payload.as_bytes()),
            Self::Result => spec.check_result(payload.as_bytes()),
        }
    }

    /// The schema as the model or an MCP client sees it; nothing where it has a number that `serde_json` does not read.
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

/// The toolsets of what the `jsonschema` crate gets wrong, or takes forever to judge. What their rows say is written by hand.
pub(crate) const MISJUDGED: [&str; 2] = ["choices", "fidelity"];

/// The published schemas of some tools, ready to judge.
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

    /// Whether the schema accepts a payload. Nothing where `serde_json` reads no value or another one: no JSON, too
    /// deep, a number that no double holds; nor where the `jsonschema` crate does not take the schema.
    pub(crate) fn accepts(&self, spec: &ToolSpec, side: Side, payload: &str) -> Option<bool> {
        let value: Value = serde_json::from_str(payload).ok()?;
        let validator = self.0[&(spec.name().to_owned(), side)].as_ref()?;
        is_read_exactly(&value, payload).then(|| validator.is_valid(&value))
    }
}

/// Duplicate keys make no value of ours, and are for the codec to refuse.
fn is_read_exactly(value: &Value, payload: &str) -> bool {
    let exact = payload.parse::<toolwright::Value>();
    exact.is_err() || exact == value.to_string().parse()
}

/// Nothing for what the crate does not know: some patterns of ECMA-262, and numbers that no double holds.
fn validator(schema: &Value) -> Option<Validator> {
    let options = jsonschema::options();
    let schema = with_integer_limits(schema);
    options.with_draft(Draft::Draft202012).should_validate_formats(true).build(&schema).ok()
}

/// The formats of integers as limits, since the crate knows formats of strings alone.
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
                    format.least(),
                    format.greatest()
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
