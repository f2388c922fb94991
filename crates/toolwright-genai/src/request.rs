//! Writes a question as genai's request and options.

use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ContentPart, JsonSchemaDialect, JsonSpec,
    MessageContent, ReasoningEffort, Tool, ToolCall, ToolChoice, ToolResponse,
    sanitize_json_schema,
};
use serde_json::{Map, Value, json};
use toolwright::Payload;
use toolwright_dialect::{Dialect, PlacedTool};
use toolwright_model::{
    Choice, Content, Effort, Message, ModelError, ModelFacts, Names, Opaque, Question,
};

use crate::answer::{PART, SIGNATURES, provider};

/// Names that genai takes for tools of a provider, with the beginning of the envelopes of its dialects.
const TAKEN: [(&str, &str); 6] = [
    ("anthropic", "web_search"),
    ("openai_responses", "web_search"),
    ("gemini", "googleSearch"),
    ("gemini", "googleSearchRetrieval"),
    ("gemini", "codeExecution"),
    ("gemini", "urlContext"),
];

pub(crate) fn of(
    facts: &ModelFacts,
    question: &Question<'_>,
) -> Result<(ChatRequest, ChatOptions), ModelError> {
    let names = Names::new(facts, question)?;
    let messages = question.messages.iter().map(|message| sent(message, facts, &names));
    let mut request = ChatRequest::new(messages.collect::<Result<_, _>>()?);
    let tools = question.offered().map(|placed| tool(placed, facts.dialect));
    let tools: Vec<Tool> = tools.collect::<Result<_, _>>()?;
    let mut options = ChatOptions::default()
        .with_capture_usage(true)
        .with_capture_content(true)
        .with_capture_reasoning_content(true)
        .with_capture_tool_calls(true);
    if !tools.is_empty() {
        options.tool_choice = choice(&question.choice, &names)?;
        request = request.with_tools(tools);
    }
    let settings = &question.settings;
    options.max_tokens = settings.max_output_tokens;
    options.temperature = settings.temperature;
    options.reasoning_effort = settings.effort.map(|effort| match effort {
        Effort::Low => ReasoningEffort::Low,
        Effort::Medium => ReasoningEffort::Medium,
        Effort::High => ReasoningEffort::High,
    });
    options.response_format = output(question, facts.dialect)?.map(Into::into);
    if !settings.extra.is_empty() {
        let entries = settings.extra.iter().map(|(key, value)| {
            Ok((key.clone(), json(&format!("the extra key `{key}`"), value.as_str())?))
        });
        options.extra_body = Some(Value::Object(entries.collect::<Result<_, ModelError>>()?));
    }
    Ok((request, options))
}

fn sent(
    message: &Message,
    facts: &ModelFacts,
    names: &Names<'_>,
) -> Result<ChatMessage, ModelError> {
    Ok(match message {
        Message::System(text) => ChatMessage::system(text),
        Message::User(text) => ChatMessage::user(text),
        Message::Assistant(content) => ChatMessage::assistant(parts(content, facts, names)?),
        Message::Results(results) => {
            let results = results.iter().map(|result| {
                let (id, call) = names.call(result)?;
                Ok(ToolResponse::new(id, &result.text).with_fn_name(names.tool(&call.name)))
            });
            ChatMessage::from(results.collect::<Result<Vec<_>, ModelError>>()?)
        }
    })
}

fn parts(
    content: &[Content],
    facts: &ModelFacts,
    names: &Names<'_>,
) -> Result<MessageContent, ModelError> {
    let mut parts = MessageContent::default();
    let mut thought_signatures = None;
    for part in content {
        match part {
            Content::Text(text) => parts.push(ContentPart::Text(text.clone())),
            Content::Call(call) => parts.push(ContentPart::ToolCall(ToolCall {
                call_id: names.id(call),
                fn_name: names.tool(&call.name).into_owned(),
                fn_arguments: object(&call.args),
                thought_signatures: thought_signatures.take(),
            })),
            Content::Opaque(opaque) if opaque.provider != provider(facts) => {}
            Content::Opaque(opaque) if opaque.kind == PART => {
                parts.push(own::<ContentPart>(opaque)?);
            }
            Content::Opaque(opaque) if opaque.kind == SIGNATURES => {
                thought_signatures = Some(own(opaque)?);
            }
            Content::Opaque(_) => {}
        }
    }
    Ok(parts)
}

/// Reads an opaque part of an earlier answer.
fn own<T: for<'de> serde::Deserialize<'de>>(opaque: &Opaque) -> Result<T, ModelError> {
    serde_json::from_str(&opaque.json).map_err(|error| {
        ModelError::Unsendable(format!("found an opaque part that genai did not write: {error}"))
    })
}

/// Returns arguments as an object. Where the model wrote something else, the object holds its text under `_raw`.
fn object(args: &Payload) -> Value {
    match args.as_str().trim() {
        "" => Value::Object(Map::new()),
        text => match serde_json::from_str(text) {
            Ok(object @ Value::Object(_)) => object,
            _ => json!({ "_raw": args.as_str() }),
        },
    }
}

fn tool(placed: &PlacedTool<'_>, dialect: &Dialect) -> Result<Tool, ModelError> {
    let projection = placed.projection;
    let name = &projection.wire_name;
    let envelope = dialect.envelope();
    if TAKEN.iter().any(|(begin, taken)| envelope.starts_with(begin) && taken == name) {
        return Err(ModelError::Unsendable(format!(
            "found a tool `{name}`, which genai takes for a tool of the provider; rename it"
        )));
    }
    let mut tool = Tool::new(name).with_description(&projection.description);
    tool.schema = match &projection.wire_schema {
        Some(schema) => Some(json("a schema", schema)?),
        // Gemini takes a tool without a schema; the others require one.
        None if envelope.starts_with("gemini") => None,
        None => Some(json!({ "type": "object", "properties": {} })),
    };
    let is_kept = match (&tool.schema, sanitizer(envelope, JsonSchemaDialect::OpenAiStrictTool)) {
        (Some(schema), Some(sanitizer)) => sanitize_json_schema(schema, sanitizer) == *schema,
        _ => true,
    };
    tool.strict = match placed.is_strict && is_kept {
        true => Some(true),
        // Without the key, the provider may decide to enforce the schema.
        false if envelope == "openai_responses" => Some(false),
        false => None,
    };
    Ok(tool)
}

/// Returns the sanitizer through which genai sends a schema.
fn sanitizer(envelope: &str, of_openai: JsonSchemaDialect) -> Option<JsonSchemaDialect> {
    match envelope {
        "anthropic" => Some(JsonSchemaDialect::AnthropicStructured),
        "openai_chat" | "openai_responses" => Some(of_openai),
        _ => None,
    }
}

fn choice(choice: &Choice, names: &Names<'_>) -> Result<Option<ToolChoice>, ModelError> {
    Ok(match choice {
        Choice::Auto => None,
        Choice::None => Some(ToolChoice::None),
        Choice::Required => Some(ToolChoice::Required),
        Choice::Only(only) => match names.only(only)?[..] {
            [name] => Some(ToolChoice::tool(name)),
            _ => Some(ToolChoice::Required),
        },
    })
}

fn output(question: &Question<'_>, dialect: &Dialect) -> Result<Option<JsonSpec>, ModelError> {
    let Some(projection) = question.output else { return Ok(None) };
    let Some(schema) = &projection.wire_schema else {
        let message = "the schema of the answer has no form in the dialect of the model";
        return Err(ModelError::Unsendable(message.to_owned()));
    };
    let schema: Value = json("a schema", schema)?;
    let sanitizer = sanitizer(dialect.envelope(), JsonSchemaDialect::OpenAiStrict);
    if sanitizer.is_some_and(|sanitizer| sanitize_json_schema(&schema, sanitizer) != schema) {
        let message = "genai would change the schema of the answer; let the model call a tool with the final answer";
        return Err(ModelError::Unsendable(message.to_owned()));
    }
    Ok(Some(JsonSpec::new(&projection.wire_name, schema)))
}

fn json(what: &str, text: &str) -> Result<Value, ModelError> {
    serde_json::from_str(text)
        .map_err(|error| ModelError::Unsendable(format!("found {what} that is no JSON: {error}")))
}
