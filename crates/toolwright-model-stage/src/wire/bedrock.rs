//! Amazon Bedrock Converse. A stream is framed as
//! [AWS describes](https://docs.aws.amazon.com/lexv2/latest/dg/event-stream-encoding.html).

use serde_json::{Value, json};

use super::{Complement, Complete, halves};
use crate::reply::Stop;

pub(super) fn stream(answer: &Complete<'_>) -> Vec<u8> {
    let mut body = message("messageStart", &json!({"role": "assistant"}));
    for (index, part) in answer.parts.iter().enumerate() {
        if let Complement::Call { id, name, .. } = part {
            let start = json!({"toolUse": {"toolUseId": id, "name": name}});
            body.extend(message(
                "contentBlockStart",
                &json!({"contentBlockIndex": index, "start": start}),
            ));
        }
        let mut piece = |delta: Value| {
            let delta = json!({"contentBlockIndex": index, "delta": delta});
            body.extend(message("contentBlockDelta", &delta));
        };
        match part {
            Complement::Text(text) => halves(text).for_each(|text| piece(json!({"text": text}))),
            Complement::Reasoning { text, signature } => {
                piece(json!({"reasoningContent": {"text": text}}));
                piece(json!({"reasoningContent": {"signature": signature}}));
            }
            Complement::Call { args, .. } => {
                halves(args).for_each(|args| piece(json!({"toolUse": {"input": args}})));
            }
        }
        body.extend(message("contentBlockStop", &json!({"contentBlockIndex": index})));
    }
    body.extend(message("messageStop", &json!({"stopReason": stop(answer)})));
    if let Some(usage) = usage(answer) {
        body.extend(message("metadata", &json!({"usage": usage, "metrics": {"latencyMs": 1}})));
    }
    body
}

pub(super) fn answer(answer: &Complete<'_>) -> Vec<u8> {
    let content: Vec<_> = answer.parts.iter().map(block).collect();
    json!({
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop(answer), "usage": usage(answer), "metrics": {"latencyMs": 1},
    })
    .to_string()
    .into_bytes()
}

fn block(part: &Complement<'_>) -> Value {
    match part {
        Complement::Text(text) => json!({"text": text}),
        Complement::Reasoning { text, signature } => {
            json!({"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}})
        }
        Complement::Call { id, name, args, .. } => {
            let input: Value = serde_json::from_str(args).unwrap_or_default();
            json!({"toolUse": {"toolUseId": id, "name": name, "input": input}})
        }
    }
}

fn stop(answer: &Complete<'_>) -> &'static str {
    match answer.stop {
        Some(Stop::Length) => "max_tokens",
        Some(Stop::Filtered) => "content_filtered",
        None if answer.has_calls() => "tool_use",
        None => "end_turn",
    }
}

fn usage(answer: &Complete<'_>) -> Option<Value> {
    let [input, output] = answer.usage?;
    Some(json!({"inputTokens": input, "outputTokens": output, "totalTokens": input + output}))
}

/// Writes a message: two lengths, headers and the payload, each followed by a checksum.
fn message(event: &str, payload: &Value) -> Vec<u8> {
    /// The type of a string in a header.
    const STRING: u8 = 7;
    /// The bytes beside headers and payload.
    const FRAME: usize = 16;
    let mut headers = Vec::new();
    for (name, value) in
        [(":event-type", event), (":content-type", "application/json"), (":message-type", "event")]
    {
        headers.extend(u8::try_from(name.len()).unwrap_or_default().to_be_bytes());
        headers.extend(name.bytes());
        headers.push(STRING);
        headers.extend(u16::try_from(value.len()).unwrap_or_default().to_be_bytes());
        headers.extend(value.bytes());
    }
    let payload = payload.to_string();
    let length = |bytes: usize| u32::try_from(bytes).unwrap_or_default().to_be_bytes();
    let mut message = Vec::new();
    message.extend(length(FRAME + headers.len() + payload.len()));
    message.extend(length(headers.len()));
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message.extend(headers);
    message.extend(payload.bytes());
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message
}
