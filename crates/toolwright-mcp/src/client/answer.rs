//! What the result of `tools/call` becomes: a payload, or the tool's own refusal. Never judges a payload: the tool's
//! codecs do, which are asked here what they would accept.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use toolwright::untrusted::excerpt;
use toolwright::{FailureKind, Payload, Recovery, ToolCall, ToolFailure};

use super::error::LONGEST;
use crate::FAILURE;

/// A result of `tools/call`, as far as it counts here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
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

/// What a server made with this crate says of a failure besides its words.
#[derive(Default, Deserialize)]
struct Facts {
    kind: Option<String>,
    recovery: Option<String>,
    code: Option<String>,
    data: Option<Box<RawValue>>,
}

/// A block of content, as far as it may be text.
#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    text: Option<String>,
}

/// Keeps a null apart from nothing.
fn present<'de, D: Deserializer<'de>>(input: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(input).map(Some)
}

/// The payload of a result, chosen among its parts by what the tool's schema accepts.
pub(super) fn payload(
    result: &RawValue,
    call: &ToolCall,
    accepts: impl Fn(&[u8]) -> bool,
) -> Result<Payload, ToolFailure> {
    let answer: Answer<'_> = serde_json::from_str(result.get())
        .map_err(|error| malformed(call, &format!("no result of a call: {error}")))?;
    if answer.is_error == Some(true) {
        return Err(answer.refusal(call));
    }
    match answer.result_type.as_deref() {
        Some(other) if other != "complete" => Err(unfinished(call, other)),
        _ if answer.content.is_none() && answer.structured_content.is_none() => {
            Err(malformed(call, "a result without `content`"))
        }
        _ => Ok(answer.payload(accepts)),
    }
}

impl Answer<'_> {
    fn payload(&self, accepts: impl Fn(&[u8]) -> bool) -> Payload {
        // Before 2026-07-28 structured content is an object; a null beside content says that there is none.
        let is_bare = self.content().is_empty();
        let structured = self.structured_content.filter(|json| json.get() != "null" || is_bare);
        if let Some(structured) = structured {
            return Payload::new(structured.get());
        }
        match self.text() {
            Some(text) if accepts(text.as_bytes()) => Payload::new(text),
            None => Payload::new(self.blocks()),
            Some(_) if is_bare && accepts(b"null") => Payload::new("null"),
            Some(text) => Payload::new(quoted(&text)),
        }
    }

    fn content(&self) -> &[&RawValue] {
        self.content.as_deref().unwrap_or_default()
    }

    /// The content, if it is all text.
    fn text(&self) -> Option<String> {
        let texts: Option<Vec<String>> =
            self.content().iter().map(|block| text_of(block)).collect();
        texts.map(|texts| texts.join("\n"))
    }

    /// The content as it came.
    fn blocks(&self) -> String {
        let blocks: Vec<&str> = self.content().iter().map(|block| block.get()).collect();
        format!(r#"{{"content":[{}]}}"#, blocks.join(","))
    }

    /// The tool's refusal, in its own words: the protocol means them for the model. Structured content counts nothing.
    fn refusal(&self, call: &ToolCall) -> ToolFailure {
        let texts: Vec<String> = self.content().iter().filter_map(|block| text_of(block)).collect();
        let words = texts.join("\n");
        let message = match words.trim() {
            "" => format!("`{}` failed and did not say why", call.tool()),
            words => excerpt(words, LONGEST),
        };
        let Facts { kind, recovery, code, data } = self.facts();
        let kind = kind.and_then(|kind| FailureKind::from_name(&kind));
        let recovery = match recovery.as_deref() {
            Some("retry") => Recovery::Retry,
            Some("replan") => Recovery::Replan,
            Some("finish") => Recovery::Finish,
            _ => Recovery::correct(call),
        };
        ToolFailure {
            code: code.map(|code| excerpt(&code, LONGEST).into()),
            data: data.map(|data| Payload::new(data.get())),
            ..ToolFailure::new(kind.unwrap_or(FailureKind::DomainRejection), message, recovery)
        }
    }

    /// The facts under `_meta`, or none if they are missing or malformed.
    fn facts(&self) -> Facts {
        let meta = self.meta.and_then(|meta| serde_json::from_str(meta.get()).ok());
        let mut meta: HashMap<String, Box<RawValue>> = meta.unwrap_or_default();
        let facts = meta.remove(FAILURE);
        facts.and_then(|facts| serde_json::from_str(facts.get()).ok()).unwrap_or_default()
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
    let message = format!("`{}` answered with something that is no result", call.tool());
    ToolFailure::new(FailureKind::MalformedResult, message, Recovery::Replan).with_detail(why)
}

/// A result that is none yet: the tool wants something first that only a person could give.
fn unfinished(call: &ToolCall, what: &str) -> ToolFailure {
    let message =
        format!("`{}` asks for more than its arguments, which is not offered here", call.tool());
    let detail = format!("the result is of type `{what}`");
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Replan).with_detail(detail)
}
