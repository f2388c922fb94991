//! Converts a result of `tools/call` into a payload or a failure. The payload is not validated yet, but the caller's
//! codec decides how text content is interpreted.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use toolwright::spec::ToolAnnotations;
use toolwright::untrusted::{excerpt, line};
use toolwright::{FailureKind, Payload, Recovery, ToolCall, ToolFailure};

use super::error::MAX_SERVER_TEXT;
use crate::FAILURE;
use crate::json::differ_by_rounding;

/// A result of `tools/call`, without the members that are not used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(default, borrow)]
    content: Option<Vec<&'a RawValue>>,
    #[serde(default, borrow, deserialize_with = "present")]
    structured_content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(default)]
    result_type: Option<String>,
    #[serde(default, borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// A failure as data, which servers of this crate add under `_meta`.
#[derive(Default, Deserialize)]
struct FailureData {
    kind: Option<String>,
    recovery: Option<String>,
    code: Option<String>,
    data: Option<Box<RawValue>>,
}

/// A block of content, of which only text is read.
#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    text: Option<String>,
}

/// Deserializes a key that may be `null`: only a missing key is `None`.
fn present<'de, D: Deserializer<'de>>(input: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(input).map(Some)
}

/// Returns the payload of a result: its structured content, else its text. `accepts` is the check of the tool's result
/// schema, which decides whether the text is the payload or a string in it, and whether it takes the place of structured content that
/// the schema does not accept.
pub(super) fn payload(
    result: &RawValue,
    call: &ToolCall,
    annotations: ToolAnnotations,
    accepts: impl Fn(&[u8]) -> bool,
) -> Result<Payload, ToolFailure> {
    let answer: CallResult<'_> = serde_json::from_str(result.get())
        .map_err(|error| malformed(call, &format!("not a result of `tools/call`: {error}")))?;
    if answer.is_error == Some(true) {
        return Err(answer.failure(call));
    }
    match answer.result_type.as_deref() {
        Some(other) if other != "complete" => {
            Err(incomplete(call, other).with_possible_effect(annotations))
        }
        _ if answer.content.is_none() && answer.structured_content.is_none() => {
            Err(malformed(call, "a result without `content`"))
        }
        _ => Ok(answer.payload(accepts)),
    }
}

impl CallResult<'_> {
    fn payload(&self, accepts: impl Fn(&[u8]) -> bool) -> Payload {
        // Before 2026-07-28 structured content is an object, so a null with other content means that there is none.
        let has_no_content = self.content().is_empty();
        let structured =
            self.structured_content.filter(|json| json.get() != "null" || has_no_content);
        if let Some(structured) = structured.map(RawValue::get) {
            let text = self.text().filter(|text| accepts(text.as_bytes()));
            // Most servers round the numbers of structured content, and before 2026-07-28 it must be an object.
            return match text {
                Some(text)
                    if differ_by_rounding(structured, &text) || !accepts(structured.as_bytes()) =>
                {
                    Payload::new(text)
                }
                _ => Payload::new(structured),
            };
        }
        match self.text() {
            Some(text) if accepts(text.as_bytes()) => Payload::new(text),
            None => Payload::new(self.blocks()),
            Some(_) if has_no_content && accepts(b"null") => Payload::new("null"),
            Some(text) => Payload::new(quoted(&text)),
        }
    }

    fn content(&self) -> &[&RawValue] {
        self.content.as_deref().unwrap_or_default()
    }

    /// Returns the text of the content, or `None` if a block is not text.
    fn text(&self) -> Option<String> {
        let texts: Option<Vec<String>> =
            self.content().iter().map(|block| text_of(block)).collect();
        texts.map(|texts| texts.join("\n"))
    }

    /// Returns the content as the server wrote it.
    fn blocks(&self) -> String {
        let blocks: Vec<&str> = self.content().iter().map(|block| block.get()).collect();
        format!(r#"{{"content":[{}]}}"#, blocks.join(","))
    }

    /// Converts a result with `isError`. The text is the message, because the protocol intends it for the model. Structured
    /// content is ignored.
    fn failure(&self, call: &ToolCall) -> ToolFailure {
        let texts: Vec<String> = self.content().iter().filter_map(|block| text_of(block)).collect();
        let text = texts.join("\n");
        let message = match text.trim() {
            "" => format!("`{}` failed and did not say why", call.tool()),
            text => excerpt(text, MAX_SERVER_TEXT),
        };
        let FailureData { kind, recovery, code, data } = self.failure_data();
        let kind = kind.and_then(|kind| FailureKind::from_name(&kind));
        let recovery = match recovery.as_deref() {
            Some("retry") => Recovery::Retry,
            Some("replan") => Recovery::Replan,
            Some("finish") => Recovery::Finish,
            _ => Recovery::correct(call),
        };
        ToolFailure {
            code: code.map(|code| excerpt(&code, MAX_SERVER_TEXT).into()),
            data: data.map(|data| Payload::new(data.get())),
            ..ToolFailure::new(kind.unwrap_or(FailureKind::DomainRejection), message, recovery)
        }
        .visible()
    }

    /// Returns the failure under `_meta`, or an empty one if it is missing or malformed.
    fn failure_data(&self) -> FailureData {
        let meta = self.meta.and_then(|meta| serde_json::from_str(meta.get()).ok());
        let mut meta: HashMap<String, Box<RawValue>> = meta.unwrap_or_default();
        let data = meta.remove(FAILURE);
        data.and_then(|data| serde_json::from_str(data.get()).ok()).unwrap_or_default()
    }
}

fn text_of(block: &RawValue) -> Option<String> {
    let block: Block = serde_json::from_str(block.get()).ok()?;
    block.text.filter(|_| block.r#type == "text")
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn malformed(call: &ToolCall, why: &str) -> ToolFailure {
    let message = format!("`{}` returned something that is not a result", call.tool());
    let detail = line(why, MAX_SERVER_TEXT);
    ToolFailure::new(FailureKind::MalformedResult, message, Recovery::Replan).with_detail(detail)
}

/// The failure for a result of another type than `complete`: the tool asks for input from a person. The call has reached the tool.
fn incomplete(call: &ToolCall, result_type: &str) -> ToolFailure {
    let message =
        format!("`{}` asks for more input, which this client does not support", call.tool());
    let detail = format!("the result is of type `{}`", line(result_type, MAX_SERVER_TEXT));
    ToolFailure::new(FailureKind::Internal, message, Recovery::Replan).with_detail(detail)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the payload of a result with a structured content and a text, for a schema that accepts objects with `total`.
    fn payload_of(structured: &str, text: &str) -> String {
        let content = json!([{ "type": "text", "text": text }]);
        let result = format!(r#"{{"content":{content},"structuredContent":{structured}}}"#);
        let accepts = |json: &[u8]| {
            let value: Option<toolwright::Value> =
                str::from_utf8(json).ok().and_then(|json| json.parse().ok());
            value.is_some_and(|value| value.get("total").is_some())
        };
        let call = ToolCall::new("sum", Payload::new("{}"));
        let result = RawValue::from_string(result).expect("it is JSON");
        let payload = payload(&result, &call, ToolAnnotations::default(), accepts);
        payload.expect("it is a result").as_str().to_owned()
    }

    #[test]
    fn numbers_that_a_server_rounded_are_those_of_the_text() {
        for (structured, text, expected) in [
            (r#"{"total":1e20}"#, r#"{"total":99999999999999999999}"#, 1),
            (r#"{"total":0.1}"#, r#"{"total":0.1000000000000000000001}"#, 1),
            // The same value, another value, and no value.
            (r#"{"total":1}"#, r#"{ "total": 1 }"#, 0),
            (r#"{"total":1}"#, r#"{"total":2}"#, 0),
            (r#"{"total":1}"#, "The total is 1.", 0),
        ] {
            assert_eq!(payload_of(structured, text), [structured, text][expected]);
        }
    }

    #[test]
    fn a_text_that_the_schema_accepts_takes_the_place_of_content_that_it_does_not() {
        let text = r#"{"total":1}"#;
        assert_eq!(payload_of(r#"{"result":{"total":1}}"#, text), text);
        assert_eq!(payload_of(r#"{"result":1}"#, "one"), r#"{"result":1}"#);
    }

    #[test]
    fn a_call_whose_tool_asks_for_more_may_have_taken_effect() {
        let call = ToolCall::new("pay", Payload::new("{}"));
        let result = RawValue::from_string(r#"{"resultType":"input_required"}"#.to_owned());
        let result = result.expect("it is JSON");
        let failure = payload(&result, &call, ToolAnnotations::default(), |_| true).unwrap_err();
        assert!(failure.message.contains("may have taken effect"), "{failure}");
        assert_eq!((failure.kind, failure.recovery), (FailureKind::Internal, Recovery::Replan));
    }
}
