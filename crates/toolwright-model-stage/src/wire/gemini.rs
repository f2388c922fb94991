//! Gemini `generateContent`.

use serde_json::{Value, json};

use super::{Answer, AnswerPart, halves};
use crate::reply::Stop;

pub(super) fn stream(answer: &Answer<'_>) -> Vec<u8> {
    let mut body = String::new();
    let mut event = |part: &str, finish: Option<&str>| {
        body += "data: ";
        body += &response(answer, part, finish);
        body += "\n\n";
    };
    for part in parts(answer, true) {
        event(&part, None);
    }
    event("", Some(finish(answer)));
    body.into_bytes()
}

pub(super) fn answer(answer: &Answer<'_>) -> String {
    response(answer, &parts(answer, false).join(","), Some(finish(answer)))
}

/// Writes a response. The arguments of calls stay as the script has them, so this is put together as text.
fn response(answer: &Answer<'_>, parts: &str, finish: Option<&str>) -> String {
    let finish = finish.map_or(String::new(), |finish| format!(r#","finishReason":"{finish}""#));
    let usage = match answer.usage {
        Some([input, output]) => {
            let tokens = json!({"promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input.saturating_add(output)});
            format!(r#","usageMetadata":{tokens}"#)
        }
        None => String::new(),
    };
    let (model, id) = (Value::from(answer.model.as_str()), Value::from(answer.id.as_str()));
    format!(
        r#"{{"candidates":[{{"index":0,"content":{{"role":"model","parts":[{parts}]}}{finish}}}]{usage},"modelVersion":{model},"responseId":{id}}}"#
    )
}

/// Returns the parts. A signature is in the part after the reasoning.
fn parts(answer: &Answer<'_>, is_stream: bool) -> Vec<String> {
    let mut parts = Vec::new();
    let mut signed = None;
    for part in &answer.parts {
        let signature =
            |signed: &mut Option<&String>| signed.take().map(|signature| json!(signature));
        match part {
            AnswerPart::Text(text) => {
                let pieces: Vec<&str> =
                    if is_stream { halves(text).collect() } else { vec![*text] };
                for text in pieces {
                    let mut part = json!({"text": text});
                    if let Some(signature) = signature(&mut signed) {
                        part["thoughtSignature"] = signature;
                    }
                    parts.push(part.to_string());
                }
            }
            AnswerPart::Reasoning { text, signature } => {
                parts.push(json!({"text": text, "thought": true}).to_string());
                signed = Some(signature);
            }
            AnswerPart::Call { id, has_own_id, name, args } => {
                let name = Value::from(name.as_str());
                let id =
                    if *has_own_id { format!(r#","id":{}"#, json!(id)) } else { String::new() };
                let signature = signature(&mut signed)
                    .map(|signature| format!(r#","thoughtSignature":{signature}"#));
                let signature = signature.unwrap_or_default();
                let args = if args.trim().is_empty() { "{}" } else { args };
                parts.push(format!(
                    r#"{{"functionCall":{{"name":{name},"args":{args}{id}}}{signature}}}"#
                ));
            }
        }
    }
    parts
}

fn finish(answer: &Answer<'_>) -> &'static str {
    match answer.stop {
        Some(Stop::Length) => "MAX_TOKENS",
        Some(Stop::Filtered) => "SAFETY",
        None => "STOP",
    }
}
