//! Writes questions.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use toolwright_dialect::PlacedTool;

use super::{ChatOptions, DETAILS, REASONING};
use crate::error::ModelError;
use crate::model::{Choice, Content, Message, ModelFacts, Question};
use crate::wire::HttpRequest;
use crate::wire::json::{extra, write};
use crate::wire::names::{Names, cache_key, output, own, schema};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Sent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Chosen<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a RawValue>,
}

/// The keys of [`Body`].
const WRITTEN: [&str; 13] = [
    "model",
    "tools",
    "messages",
    "tool_choice",
    "parallel_tool_calls",
    "max_completion_tokens",
    "max_tokens",
    "temperature",
    "reasoning_effort",
    "response_format",
    "prompt_cache_key",
    "stream",
    "stream_options",
];

/// The answer of the model that [`ChatOptions::answer_after_results`] adds.
const FILLER: &str = "Understood.";

#[derive(Serialize)]
struct Format<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    json_schema: FormatSchema<'a>,
}

#[derive(Serialize)]
struct FormatSchema<'a> {
    name: &'a str,
    schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Chosen<'a> {
    Word(&'static str),
    One {
        #[serde(rename = "type")]
        kind: &'static str,
        function: Named<'a>,
    },
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Sent<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_details: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<SentCall<'a>>,
    },
    Tool {
        tool_call_id: String,
        content: &'a str,
    },
}

#[derive(Serialize)]
struct SentCall<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    function: SentFunction<'a>,
}

#[derive(Serialize)]
struct SentFunction<'a> {
    name: Cow<'a, str>,
    arguments: &'a str,
}

pub(in crate::wire) fn request(
    options: ChatOptions,
    facts: &ModelFacts,
    question: &Question<'_>,
    stream: bool,
) -> Result<HttpRequest, ModelError> {
    let names = Names::new(facts, question)?;
    let settings = &question.settings;
    let mut messages = Vec::new();
    for message in question.messages {
        messages_of(message, options, facts, &names, &mut messages)?;
    }
    let tools = question.offered().map(tool).collect::<Result<Vec<_>, _>>()?;
    let chosen = if tools.is_empty() { None } else { chosen(&question.choice, &names)? };
    let most = settings.max_output_tokens;
    let (max_completion_tokens, max_tokens) =
        if options.max_completion_tokens { (most, None) } else { (None, most) };
    let body = Body {
        model: &facts.model,
        messages,
        tool_choice: chosen,
        parallel_tool_calls: question.parallel.filter(|_| !tools.is_empty()),
        tools,
        max_completion_tokens,
        max_tokens,
        temperature: settings.temperature,
        reasoning_effort: settings.effort.map(crate::model::Effort::as_str),
        response_format: output(question)?.map(|(name, schema)| Format {
            kind: "json_schema",
            json_schema: FormatSchema {
                name,
                schema,
                strict: facts.dialect.is_strict().then_some(true),
            },
        }),
        prompt_cache_key: options.cache_key.then(|| cache_key(facts, question)),
        stream: stream.then_some(true),
        stream_options: (stream && options.stream_options)
            .then_some(StreamOptions { include_usage: true }),
        extra: extra(settings, &WRITTEN)?,
    };
    let path = "/chat/completions".to_owned();
    Ok(HttpRequest { path, headers: Vec::new(), body: write(&body)? })
}

fn tool<'a>(tool: &'a PlacedTool<'a>) -> Result<Tool<'a>, ModelError> {
    let function = Function {
        name: &tool.projection.wire_name,
        description: &tool.projection.description,
        parameters: schema(tool)?,
        strict: tool.is_strict.then_some(true),
    };
    Ok(Tool { kind: "function", function })
}

fn chosen<'a>(choice: &'a Choice, names: &Names<'a>) -> Result<Option<Chosen<'a>>, ModelError> {
    Ok(match choice {
        Choice::Auto => None,
        Choice::None => Some(Chosen::Word("none")),
        Choice::Required => Some(Chosen::Word("required")),
        Choice::Only(only) => match names.only(only)?[..] {
            [name] => Some(Chosen::One { kind: "function", function: Named { name } }),
            _ => Some(Chosen::Word("required")),
        },
    })
}

fn messages_of<'a>(
    message: &'a Message,
    options: ChatOptions,
    facts: &ModelFacts,
    names: &Names<'a>,
    messages: &mut Vec<Sent<'a>>,
) -> Result<(), ModelError> {
    match message {
        Message::System(content) => messages.push(Sent::System { content }),
        Message::User(content) => {
            if options.answer_after_results && matches!(messages.last(), Some(Sent::Tool { .. })) {
                messages.push(Sent::Assistant {
                    content: Some(FILLER.to_owned()),
                    reasoning_content: None,
                    reasoning_details: None,
                    tool_calls: Vec::new(),
                });
            }
            messages.push(Sent::User { content });
        }
        Message::Assistant(parts) => {
            let (mut text, mut tool_calls) = (String::new(), vec![]);
            let (mut reasoning_content, mut reasoning_details) = (None, None);
            for part in parts {
                match part {
                    Content::Text(more) => text += more,
                    Content::Call(call) => {
                        let arguments = match call.args.as_str() {
                            "" => "{}",
                            text => text,
                        };
                        let function = SentFunction { name: names.tool(&call.name), arguments };
                        tool_calls.push(SentCall {
                            id: names.id(call),
                            kind: "function",
                            function,
                        });
                    }
                    Content::Opaque(_) if !options.thoughts => {}
                    Content::Opaque(part) if part.kind == REASONING => {
                        reasoning_content = own(part, facts)?;
                    }
                    Content::Opaque(part) if part.kind == DETAILS => {
                        reasoning_details = own(part, facts)?;
                    }
                    Content::Opaque(_) => {}
                }
            }
            let content = (!text.is_empty() || tool_calls.is_empty()).then_some(text);
            messages.push(Sent::Assistant {
                content,
                reasoning_content,
                reasoning_details,
                tool_calls,
            });
        }
        Message::Results(results) => {
            for result in results {
                let (tool_call_id, _) = names.call(result)?;
                messages.push(Sent::Tool { tool_call_id, content: &result.text });
            }
        }
    }
    Ok(())
}
