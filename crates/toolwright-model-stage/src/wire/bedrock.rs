//! Amazon Bedrock Converse.

use serde_json::{Value, json};

use super::{Answer, AnswerPart, halves};
use crate::event_stream;
use crate::reply::Stop;

pub(super) fn stream(answer: &Answer<'_>) -> Vec<u8> {
    let mut body = message("messageStart", &json!({"role": "assistant"}));
    for (index, part) in answer.parts.iter().enumerate() {
        if let AnswerPart::Call { id, name, .. } = part {
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
            AnswerPart::Text(text) => halves(text).for_each(|text| piece(json!({"text": text}))),
            AnswerPart::Reasoning { text, signature } => {
                piece(json!({"reasoningContent": {"text": text}}));
                piece(json!({"reasoningContent": {"signature": signature}}));
            }
            AnswerPart::Call { args, .. } => {
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

pub(super) fn answer(answer: &Answer<'_>) -> Vec<u8> {
    let content: Vec<_> = answer.parts.iter().map(block).collect();
    json!({
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop(answer), "usage": usage(answer), "metrics": {"latencyMs": 1},
    })
    .to_string()
    .into_bytes()
}

fn block(part: &AnswerPart<'_>) -> Value {
    match part {
        AnswerPart::Text(text) => json!({"text": text}),
        AnswerPart::Reasoning { text, signature } => {
            json!({"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}})
        }
        AnswerPart::Call { id, name, args, .. } => {
            let input: Value = serde_json::from_str(args).unwrap_or_default();
            json!({"toolUse": {"toolUseId": id, "name": name, "input": input}})
        }
    }
}

fn stop(answer: &Answer<'_>) -> &'static str {
    match answer.stop {
        Some(Stop::Length) => "max_tokens",
        Some(Stop::Filtered) => "content_filtered",
        None if answer.has_calls() => "tool_use",
        None => "end_turn",
    }
}

fn usage(answer: &Answer<'_>) -> Option<Value> {
    let [input, output] = answer.usage?;
    Some(
        json!({"inputTokens": input, "outputTokens": output, "totalTokens": input.saturating_add(output)}),
    )
}

fn message(event: &str, payload: &Value) -> Vec<u8> {
    event_stream::event(event, &payload.to_string())
}
