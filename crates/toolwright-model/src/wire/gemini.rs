//! Gemini `generateContent`, as Google's API reference and SDK describe it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolwright_dialect::{Dialect, PlacedTool};

use super::HttpRequest;
use super::json::{bounded, extra, missing, object, read, segment, write};
use super::names::{Names, output, own, schema};
use super::reader;
use super::turns::{instructions, turns};
use crate::draft::{Draft, own_id};
use crate::error::ModelError;
use crate::model::{Answer, Choice, Content, Message, ModelFacts, Question, Stop, Usage};

/// The kind of the opaque part for the signature of the text or call after it.
const SIGNATURE: &str = "thoughtSignature";

/// The kind of an opaque part that is a whole part of a content.
const PART: &str = "part";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<System<'a>>,
    contents: Vec<Sent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_config: Option<GenerationConfig<'a>>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a RawValue>,
}

/// The keys of [`Body`].
const WRITTEN: [&str; 5] =
    ["tools", "systemInstruction", "contents", "toolConfig", "generationConfig"];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Function<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters_json_schema: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    function_calling_config: FunctionCallingConfig<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FunctionCallingConfig<'a> {
    mode: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowed_function_names: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    thinking_level: &'static str,
}

#[derive(Serialize)]
struct System<'a> {
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Sent<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Part<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'a RawValue>,
    },
    Call {
        function_call: SentCall<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'a RawValue>,
    },
    Response {
        function_response: SentResponse<'a>,
    },
    Opaque(&'a RawValue),
}

#[derive(Serialize)]
struct SentCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    name: Cow<'a, str>,
    args: Cow<'a, RawValue>,
}

#[derive(Serialize)]
struct SentResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    name: Cow<'a, str>,
    response: Response<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Response<'a> {
    Output(Output<'a>),
    Error(Output<'a>),
}

/// A result: JSON as it is, or a text.
#[derive(Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Json(&'a RawValue),
    Text(&'a str),
}

pub(super) fn request(
    facts: &ModelFacts,
    question: &Question<'_>,
    stream: bool,
) -> Result<HttpRequest, ModelError> {
    let names = Names::new(facts, question)?;
    let settings = &question.settings;
    let is_subset = facts.dialect.envelope() == "gemini_parameters";
    let functions = question.tools.tools.iter().map(|tool| function(tool, is_subset));
    let function_declarations = functions.collect::<Result<Vec<_>, _>>()?;
    let has_tools = !function_declarations.is_empty();
    let system = instructions(question.messages);
    let system: Vec<_> = system.map(|text| Part::Text { text, thought_signature: None }).collect();
    let turns = turns(question.messages, "model", |message| parts_of(message, facts, &names))?;
    let output = output(question)?;
    let has_settings = output.is_some()
        || settings.max_output_tokens.is_some()
        || settings.temperature.is_some()
        || settings.effort.is_some();
    let generation_config = has_settings.then(|| GenerationConfig {
        max_output_tokens: settings.max_output_tokens,
        temperature: settings.temperature,
        thinking_config: settings
            .effort
            .map(|effort| ThinkingConfig { thinking_level: effort.as_str() }),
        response_mime_type: output.map(|_| "application/json"),
        response_json_schema: output.map(|(_, schema)| schema),
    });
    let body = Body {
        tools: has_tools.then_some(Tools { function_declarations }).into_iter().collect(),
        system_instruction: (!system.is_empty()).then_some(System { parts: system }),
        contents: turns.into_iter().map(|(role, parts)| Sent { role, parts }).collect(),
        tool_config: if has_tools { tool_config(&question.choice, &names)? } else { None },
        generation_config,
        extra: extra(settings, &WRITTEN)?,
    };
    let model = match facts.model.split_once('/') {
        Some((collection, model)) => format!("{}/{}", segment(collection), segment(model)),
        None => format!("models/{}", segment(&facts.model)),
    };
    let verb = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    let path = format!("/{model}:{verb}");
    Ok(HttpRequest { path, headers: Vec::new(), body: write(&body)? })
}

fn function<'a>(tool: &'a PlacedTool<'a>, is_subset: bool) -> Result<Function<'a>, ModelError> {
    let schema = schema(tool)?;
    let (parameters, parameters_json_schema) =
        if is_subset { (schema, None) } else { (None, schema) };
    let name = &tool.projection.wire_name;
    let description = &tool.projection.description;
    Ok(Function { name, description, parameters, parameters_json_schema })
}

fn tool_config<'a>(
    choice: &'a Choice,
    names: &Names<'a>,
) -> Result<Option<ToolConfig<'a>>, ModelError> {
    let (mode, allowed_function_names) = match choice {
        Choice::Auto => return Ok(None),
        Choice::None => ("NONE", Vec::new()),
        Choice::Required => ("ANY", Vec::new()),
        Choice::Only(only) => ("ANY", names.only(only)?),
    };
    let function_calling_config = FunctionCallingConfig { mode, allowed_function_names };
    Ok(Some(ToolConfig { function_calling_config }))
}

fn parts_of<'a>(
    message: &'a Message,
    facts: &ModelFacts,
    names: &Names<'a>,
) -> Result<Vec<Part<'a>>, ModelError> {
    let mut parts = Vec::new();
    let mut thought_signature = None;
    match message {
        Message::System(_) => {}
        Message::User(text) => parts.push(Part::Text { text, thought_signature }),
        Message::Assistant(content) => {
            for part in content {
                match part {
                    Content::Text(text) => {
                        let thought_signature = thought_signature.take();
                        parts.push(Part::Text { text, thought_signature });
                    }
                    Content::Call(call) => parts.push(Part::Call {
                        function_call: SentCall {
                            id: own_id(&call.id).map(|_| names.id(call)),
                            name: names.tool(&call.name),
                            args: object(&call.args)?,
                        },
                        thought_signature: thought_signature.take(),
                    }),
                    Content::Opaque(part) if part.kind == SIGNATURE => {
                        thought_signature = own(part, facts)?;
                    }
                    Content::Opaque(part) => parts.extend(own(part, facts)?.map(Part::Opaque)),
                }
            }
            if thought_signature.is_some() {
                parts.push(Part::Text { text: "", thought_signature });
            }
        }
        Message::Results(results) => {
            for result in results {
                let (id, call) = names.call(result)?;
                let output = match serde_json::from_str(&result.text) {
                    Ok(json) => Output::Json(json),
                    Err(_) => Output::Text(&result.text),
                };
                let response = if result.is_error {
                    Response::Error(output)
                } else {
                    Response::Output(output)
                };
                let function_response = SentResponse {
                    id: own_id(&call.id).map(|_| id),
                    name: names.tool(&call.name),
                    response,
                };
                parts.push(Part::Response { function_response });
            }
        }
    }
    Ok(parts)
}

/// A piece of an answer, or a whole one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow, default, deserialize_with = "bounded")]
    candidates: Option<Vec<Candidate<'a>>>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<Tokens>,
    model_version: Option<String>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<ReadContent<'a>>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
    index: Option<u64>,
}

#[derive(Deserialize)]
struct ReadContent<'a> {
    #[serde(borrow, default, deserialize_with = "bounded")]
    parts: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadPart<'a> {
    text: Option<String>,
    thought: Option<bool>,
    #[serde(borrow)]
    thought_signature: Option<&'a RawValue>,
    #[serde(borrow)]
    function_call: Option<ReadCall<'a>>,
}

#[derive(Deserialize)]
struct ReadCall<'a> {
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    prompt_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    tool_use_prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
}

impl Tokens {
    /// Tokens of thoughts are counted separately here, and those of a cache within the prompt.
    fn usage(self) -> Usage {
        let cache_read = self.cached_content_token_count.unwrap_or_default();
        let reasoning = self.thoughts_token_count.unwrap_or_default();
        let prompt = self.prompt_token_count.unwrap_or_default().saturating_sub(cache_read);
        Usage {
            input: prompt.saturating_add(self.tool_use_prompt_token_count.unwrap_or_default()),
            cache_read,
            cache_write: 0,
            output: self.candidates_token_count.unwrap_or_default().saturating_add(reasoning),
            reasoning,
        }
    }
}

/// The events of a stream.
pub(super) struct Events {
    draft: Draft,
    dialect: &'static Dialect,
}

impl Events {
    pub(super) fn new(facts: &ModelFacts, question: &Question<'_>) -> Self {
        Self { draft: Draft::new(facts, question), dialect: facts.dialect }
    }

    fn chunk(&mut self, chunk: Chunk<'_>) -> Result<(), ModelError> {
        if let Some(tokens) = chunk.usage_metadata {
            self.draft.usage = Some(tokens.usage());
        }
        if let Some(error) = chunk.error {
            return Err(ModelError::of_event(error.get(), self.dialect));
        }
        if let Some(model) = chunk.model_version {
            self.draft.model = model;
        }
        if let Some(reason) = chunk.prompt_feedback.and_then(|feedback| feedback.block_reason) {
            self.draft.stop = Some(Stop::Refused(reason));
        }
        // Only one candidate was requested.
        let mut candidates = chunk.candidates.into_iter().flatten();
        if let Some(candidate) =
            candidates.find(|candidate| candidate.index.unwrap_or_default() == 0)
        {
            for part in candidate.content.and_then(|content| content.parts).into_iter().flatten() {
                self.part(part.get())?;
            }
            if let Some(reason) = candidate.finish_reason {
                self.draft.stop = Some(match reason.as_str() {
                    "STOP" => Stop::End,
                    "MAX_TOKENS" => Stop::Length,
                    "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT"
                    | "SPII" => Stop::Filtered,
                    _ => Stop::Other(match candidate.finish_message {
                        Some(message) => format!("{reason}: {message}"),
                        None => reason,
                    }),
                });
            }
        }
        Ok(())
    }

    fn part(&mut self, json: &str) -> Result<(), ModelError> {
        let part: ReadPart<'_> = read("a part of a content", json)?;
        let is_known = part.text.is_some() || part.function_call.is_some();
        if part.thought == Some(true) || !is_known {
            self.draft.reasoning(&part.text.unwrap_or_default());
            // Summaries of thoughts need not go back.
            if part.thought_signature.is_some() || !is_known {
                self.draft.opaque(PART, json.to_owned())?;
            }
            return Ok(());
        }
        if let Some(signature) = part.thought_signature {
            self.draft.opaque(SIGNATURE, signature.get().to_owned())?;
        }
        if let Some(call) = part.function_call {
            let id = call.id.unwrap_or_default();
            let place = self.draft.call(&id, &call.name.unwrap_or_default())?;
            self.draft.args(place, call.args.map_or("", RawValue::get))?;
        }
        self.draft.text(&part.text.unwrap_or_default())
    }
}

impl reader::Events for Events {
    fn event(&mut self, _: &str, payload: &str) -> Result<(), ModelError> {
        self.chunk(read("a piece of a content", payload)?)
    }

    fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }

    fn end(self: Box<Self>) -> Result<Answer, ModelError> {
        self.draft.finish()
    }
}

pub(super) fn answer(
    facts: &ModelFacts,
    question: &Question<'_>,
    body: &str,
) -> Result<Answer, ModelError> {
    let whole: Chunk<'_> = read("a content", body)?;
    let is_empty = whole.candidates.as_ref().is_none_or(Vec::is_empty);
    if is_empty && whole.error.is_none() && whole.prompt_feedback.is_none() {
        return Err(missing("an answer with a candidate", body));
    }
    let mut events = Events::new(facts, question);
    events.chunk(whole)?;
    events.draft.finish()
}
