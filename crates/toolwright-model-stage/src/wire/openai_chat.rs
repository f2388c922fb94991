//! OpenAI Chat Completions.

use serde_json::{Value, json};

use super::{Answer, AnswerPart, CREATED, data, halves};
use crate::reply::Stop;

pub(super) fn stream(answer: &Answer<'_>) -> Vec<u8> {
    let chunk = |delta: &Value, finish: Option<&str>| {
        data(&json!({
            "id": answer.id, "object": "chat.completion.chunk", "created": CREATED, "model": answer.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }))
    };
    let mut body = chunk(&json!({"role": "assistant", "content": ""}), None);
    let mut calls = 0;
    for part in &answer.parts {
        match part {
            AnswerPart::Text(text) => {
                for text in halves(text) {
                    body += &chunk(&json!({"content": text}), None);
                }
            }
            AnswerPart::Reasoning { text, .. } => {
                body += &chunk(&json!({"reasoning_content": text}), None);
            }
            AnswerPart::Call { id, name, args, .. } => {
                let begin = json!({"name": name, "arguments": ""});
                let call = json!({"index": calls, "id": id, "type": "function", "function": begin});
                body += &chunk(&json!({"tool_calls": [call]}), None);
                for args in halves(args) {
                    let call = json!({"index": calls, "function": {"arguments": args}});
                    body += &chunk(&json!({"tool_calls": [call]}), None);
                }
                calls += 1;
            }
        }
    }
    body += &chunk(&json!({}), Some(finish(answer)));
    if let Some(usage) = usage(answer) {
        body += &data(&json!({
            "id": answer.id, "object": "chat.completion.chunk", "created": CREATED, "model": answer.model,
            "choices": [], "usage": usage,
        }));
    }
    body += "data: [DONE]\n\n";
    body.into_bytes()
}

pub(super) fn answer(answer: &Answer<'_>) -> Vec<u8> {
    let mut message = json!({"role": "assistant", "content": null});
    let mut calls = Vec::new();
    for part in &answer.parts {
        match part {
            AnswerPart::Text(text) => {
                let before = message["content"].as_str().unwrap_or_default();
                message["content"] = Value::from(format!("{before}{text}"));
            }
            AnswerPart::Reasoning { text, .. } => message["reasoning_content"] = Value::from(*text),
            AnswerPart::Call { id, name, args, .. } => {
                let function = json!({"name": name, "arguments": args});
                calls.push(json!({"id": id, "type": "function", "function": function}));
            }
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::from(calls);
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish(answer)});
    json!({
        "id": answer.id, "object": "chat.completion", "created": CREATED, "model": answer.model,
        "choices": [choice], "usage": usage(answer),
    })
    .to_string()
    .into_bytes()
}

fn finish(answer: &Answer<'_>) -> &'static str {
    match answer.stop {
        Some(Stop::Length) => "length",
        Some(Stop::Filtered) => "content_filter",
        None if answer.has_calls() => "tool_calls",
        None => "stop",
    }
}

fn usage(answer: &Answer<'_>) -> Option<Value> {
    let [input, output] = answer.usage?;
    Some(json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input.saturating_add(output),
    }))
}
