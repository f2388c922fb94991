//! Checks codecs with vectors: rows of payloads, each with the verdict of the schema. Codecs in other languages can be checked with the
//! same rows.
//!
//! A row is a JSON object on a line:
//!
//! ```json
//! {"of":"args","payload":{"limit":0},"valid":false,"reason":"found 0, expected at least 1","at":"/limit"}
//! ```
//!
//! `of` is `args` or `result`. A payload that is not a value in a row, such as a key twice or broken JSON, is a string under
//! `text` instead of `payload`. `reason` and `at`, a JSON Pointer (RFC 6901), are for people.

use crate::codec::{Decode, Encode, from_json, to_json};
use crate::issue::{Issue, IssueKind};
use crate::schema::Schema;
use crate::spec::Tool;
use crate::value::Value;

/// Asserts that the codecs of a tool agree with rows; see [`disagreements`].
///
/// # Panics
///
/// If there are no rows, or with a line for each row that a codec disagrees with.
#[track_caller]
pub fn check<T: Tool>(rows: &str) {
    let name = T::SPEC.name();
    assert!(!rows.is_empty(), "expected rows for `{name}`, found none");
    let wrong = disagreements::<T>(rows);
    assert!(wrong.is_empty(), "the codecs of `{name}` disagree with rows:\n{}", wrong.join("\n"));
}

/// Returns a line for each row that a codec of a tool disagrees with: it accepts or refuses the payload and the row says
/// otherwise, or a valid payload is not valid any more after it was decoded and encoded.
///
/// A [`DomainType`](crate::codec::DomainType) may refuse a valid payload.
pub fn disagreements<T: Tool>(rows: &str) -> Vec<String> {
    let wrong = |line| verdict::<T>(line).err().map(|reason| format!("{reason}: {line}"));
    rows.lines().filter_map(wrong).collect()
}

/// Compares a row with the codec of the arguments or the result, whichever it is of.
fn verdict<T: Tool>(line: &str) -> Result<(), String> {
    let row: Value = line.parse().map_err(|invalid| format!("not a row, {invalid}"))?;
    let payload = match (row.get("payload"), row.get("text").and_then(Value::as_str)) {
        (Some(payload), None) => payload.to_string(),
        (None, Some(text)) => text.to_owned(),
        _ => return Err("expected either `payload` or `text`".to_owned()),
    };
    let is_valid = row.get("valid").and_then(Value::as_bool).ok_or("expected `valid`")?;
    match row.get("of").and_then(Value::as_str) {
        Some("args") => agrees::<T::Args>(&payload, is_valid, T::SPEC.args_schema()),
        Some("result") => agrees::<T::Result>(&payload, is_valid, T::SPEC.result_schema()),
        _ => Err("expected `of` to be `args` or `result`".to_owned()),
    }
}

fn agrees<V: Decode + Encode>(payload: &str, is_valid: bool, schema: &str) -> Result<(), String> {
    let value = match (from_json::<V>(payload.as_bytes()), is_valid) {
        (Ok(value), true) => value,
        (Err(_), false) => return Ok(()),
        (Ok(_), false) => return Err("accepted".to_owned()),
        (Err(invalid), true) => {
            let is_refused = |issue: &Issue| matches!(issue.kind(), IssueKind::Refused { .. });
            let is_domain = invalid.issues().iter().all(is_refused);
            return if is_domain { Ok(()) } else { Err(format!("refused, {invalid}")) };
        }
    };
    let encoded = to_json(&value).map_err(|invalid| format!("not encoded, {invalid}"))?;
    let again = from_json::<V>(encoded.as_bytes()).map(drop);
    let schema = Schema::new(schema).map_err(|mistake| mistake.to_string())?;
    again
        .and_then(|()| schema.check(encoded.as_bytes()))
        .map_err(|invalid| format!("encoded as {encoded}, {invalid}"))
}
