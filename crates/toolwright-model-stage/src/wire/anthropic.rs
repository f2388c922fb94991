//! Anthropic Messages.

use serde_json::{Value, json};

use super::{Answer, AnswerPart, halves, named};
use crate::reply::Stop;

pub(super) fn stream(answer: &Answer<'_>) -> Vec<u8> {
    let mut begun = message(answer, &[]);
    begun["stop_reason"] = Value::Null;
    if let Some([input, _]) = answer.usage {
        begun["usage"] = json!({"input_tokens": input, "output_tokens": 1});
    }
    let mut body = named(&json!({"type": "message_start", "message": begun}));
    body += &named(&json!({"type": "ping"}));
    for (index, part) in answer.parts.iter().enumerate() {
        let start = match part {
            AnswerPart::Text(_) => json!({"type": "text", "text": ""}),
            AnswerPart::Reasoning { .. } => {
                json!({"type": "thinking", "thinking": "", "signature": ""})
            }
            AnswerPart::Call { id, name, .. } => {
                json!({"type": "tool_use", "id": id, "name": name, "input": {}})
            }
        };
        body +=
            &named(&json!({"type": "content_block_start", "index": index, "content_block": start}));
        let mut piece = |delta: Value| {
            body += &named(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        };
        match part {
            AnswerPart::Text(text) => {
                halves(text).for_each(|text| piece(json!({"type": "text_delta", "text": text})));
            }
            AnswerPart::Reasoning { text, signature } => {
                piece(json!({"type": "thinking_delta", "thinking": text}));
                piece(json!({"type": "signature_delta", "signature": signature}));
            }
            AnswerPart::Call { args, .. } => halves(args).for_each(|args| {
                piece(json!({"type": "input_json_delta", "partial_json": args}));
            }),
        }
        body += &named(&json!({"type": "content_block_stop", "index": index}));
    }
    let mut end = json!({"type": "message_delta", "delta": {"stop_reason": stop(answer), "stop_sequence": null}});
    if let Some([_, output]) = answer.usage {
        end["usage"] = json!({"output_tokens": output});
    }
    body += &named(&end);
    body += &named(&json!({"type": "message_stop"}));
    body.into_bytes()
}

pub(super) fn answer(answer: &Answer<'_>) -> Vec<u8> {
    let blocks: Vec<_> = answer.parts.iter().map(block).collect();
    let mut message = message(answer, &blocks);
    if let Some([input, output]) = answer.usage {
        message["usage"] = json!({"input_tokens": input, "output_tokens": output});
    }
    message.to_string().into_bytes()
}

fn message(answer: &Answer<'_>, content: &[Value]) -> Value {
    json!({
        "id": answer.id, "type": "message", "role": "assistant", "content": content,
        "model": answer.model, "stop_reason": stop(answer), "stop_sequence": null,
    })
}

fn block(part: &AnswerPart<'_>) -> Value {
    match part {
        AnswerPart::Text(text) => json!({"type": "text", "text": text}),
        AnswerPart::Reasoning { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        AnswerPart::Call { id, name, args, .. } => {
            let input: Value = serde_json::from_str(args).unwrap_or_default();
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    }
}

fn stop(answer: &Answer<'_>) -> &'static str {
    match answer.stop {
        Some(Stop::Length) => "max_tokens",
        Some(Stop::Filtered) => "refusal",
        None if answer.has_calls() => "tool_use",
        None => "end_turn",
    }
}
