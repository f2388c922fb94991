//! OpenAI Responses.

use serde_json::{Value, json};

use super::{Answer, AnswerPart, CREATED, halves, named};
use crate::reply::Stop;

pub(super) fn stream(answer: &Answer<'_>) -> Vec<u8> {
    let mut number = 0;
    let mut event = |mut value: Value| {
        value["sequence_number"] = Value::from(number);
        number += 1;
        named(&value)
    };
    let begun = json!({"id": answer.id, "object": "response", "created_at": CREATED, "status": "in_progress", "model": answer.model, "output": [], "usage": null});
    let mut body = event(json!({"type": "response.created", "response": begun}));
    for (index, part) in answer.parts.iter().enumerate() {
        let done = item(answer, index, part, true);
        let begun = item(answer, index, part, false);
        body += &event(
            json!({"type": "response.output_item.added", "output_index": index, "item": begun}),
        );
        let piece = |kind: &str, text: &str| json!({"type": kind, "output_index": index, "item_id": done["id"], "content_index": 0, "summary_index": 0, "delta": text});
        match part {
            AnswerPart::Text(text) => {
                for text in halves(text) {
                    body += &event(piece("response.output_text.delta", text));
                }
            }
            AnswerPart::Reasoning { text, .. } => {
                body += &event(piece("response.reasoning_summary_text.delta", text));
            }
            AnswerPart::Call { args, .. } => {
                for args in halves(args) {
                    body += &event(piece("response.function_call_arguments.delta", args));
                }
            }
        }
        body += &event(
            json!({"type": "response.output_item.done", "output_index": index, "item": done}),
        );
    }
    let (status, _) = status(answer);
    let kind = if status == "completed" { "response.completed" } else { "response.incomplete" };
    body += &event(json!({"type": kind, "response": response(answer)}));
    body.into_bytes()
}

pub(super) fn answer(answer: &Answer<'_>) -> Vec<u8> {
    response(answer).to_string().into_bytes()
}

fn response(answer: &Answer<'_>) -> Value {
    let (status, details) = status(answer);
    let items = answer.parts.iter().enumerate();
    let items: Vec<_> = items.map(|(index, part)| item(answer, index, part, true)).collect();
    json!({
        "id": answer.id, "object": "response", "created_at": CREATED, "status": status, "error": null,
        "incomplete_details": details, "model": answer.model, "output": items, "usage": usage(answer),
    })
}

fn item(answer: &Answer<'_>, index: usize, part: &AnswerPart<'_>, is_done: bool) -> Value {
    let id = format!("{}_{index}", answer.id);
    let status = if is_done { "completed" } else { "in_progress" };
    match part {
        AnswerPart::Text(text) => {
            let part = json!({"type": "output_text", "text": text, "annotations": []});
            let content = if is_done { vec![part] } else { Vec::new() };
            json!({"id": id, "type": "message", "role": "assistant", "status": status, "content": content})
        }
        AnswerPart::Reasoning { text, signature } => {
            let part = json!({"type": "summary_text", "text": text});
            let summary = if is_done { vec![part] } else { Vec::new() };
            let signature = Some(signature).filter(|_| answer.is_signed);
            json!({"id": id, "type": "reasoning", "encrypted_content": signature, "summary": summary})
        }
        AnswerPart::Call { id: call, name, args, .. } => {
            let args = if is_done { args } else { "" };
            json!({"id": id, "type": "function_call", "status": status, "arguments": args, "call_id": call, "name": name})
        }
    }
}

fn status(answer: &Answer<'_>) -> (&'static str, Value) {
    match answer.stop {
        None => ("completed", Value::Null),
        Some(Stop::Length) => ("incomplete", json!({"reason": "max_output_tokens"})),
        Some(Stop::Filtered) => ("incomplete", json!({"reason": "content_filter"})),
    }
}

fn usage(answer: &Answer<'_>) -> Option<Value> {
    let [input, output] = answer.usage?;
    Some(json!({
        "input_tokens": input, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input.saturating_add(output),
    }))
}
