//! The endpoints of the tests, and questions from files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolwright::Payload;
use toolwright::spec::Strictness;
use toolwright_dialect::{
    Dialect, Policy, Projection, Projections, Request, Subject, place, project,
};
use toolwright_model::{
    CallAnswer, ChatOptions, Choice, Content, Effort, Message, ModelCall, ModelFacts, Opaque,
    Question, Settings, Wire,
};

/// The endpoints: name, model, wire and dialect.
pub(crate) const ENDPOINTS: [(&str, &str, Wire, &str); 7] = [
    ("openai-chat", "gpt-5", Wire::OpenAiChat(ChatOptions::OPENAI), "openai-chat-strict"),
    (
        "mistral",
        "mistral-large",
        Wire::OpenAiChat(ChatOptions { answer_after_results: true, ..ChatOptions::OTHERS }),
        "mistral",
    ),
    ("openai-responses", "gpt-5", Wire::OpenAiResponses, "openai-responses-strict"),
    ("anthropic", "claude-sonnet-4-5", Wire::Anthropic, "anthropic-strict"),
    ("gemini", "gemini-3-pro", Wire::Gemini, "gemini"),
    ("gemini-schema", "tunedModels/a model?", Wire::Gemini, "gemini-schema"),
    ("bedrock", "anthropic.claude-sonnet-4-5-v1:0", Wire::Bedrock, "bedrock-strict"),
];

/// Returns the facts of an endpoint.
pub(crate) fn facts(provider: &str, model: &str, dialect: &str) -> ModelFacts {
    ModelFacts {
        provider: provider.to_owned(),
        model: model.to_owned(),
        dialect: Dialect::find(dialect).unwrap(),
    }
}

/// Returns the files of a folder with an ending, in order.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(folder);
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
    paths.sort();
    paths
}

/// A question of a file, with its tools in a dialect.
pub(crate) struct Asked {
    names: Vec<String>,
    deferred: Vec<bool>,
    projections: Vec<(Projection, Projection)>,
    dialect: &'static Dialect,
    messages: Vec<Message>,
    choice: Choice,
    parallel: Option<bool>,
    settings: Settings,
}

impl Asked {
    /// Reads the JSON of a question.
    pub(crate) fn new(case: &Value, dialect: &'static Dialect) -> Self {
        let (mut names, mut projections, mut deferred) = (Vec::new(), Vec::new(), Vec::new());
        for tool in case["tools"].as_array().into_iter().flatten() {
            let (name, args) = (text(&tool["name"]), tool["args"].to_string());
            let description = text(&tool["description"]);
            let subject = Subject { name: &name, description: &description, args: &args };
            let policy = Policy::default();
            projections.push((
                project(&subject, dialect, &policy),
                project(&subject, dialect.plain(), &policy),
            ));
            deferred.push(tool["deferred"] == true);
            names.push(name);
        }
        let choice = match &case["choice"] {
            Value::Null => Choice::Auto,
            Value::Array(names) => Choice::Only(names.iter().map(text).collect()),
            word if word == "none" => Choice::None,
            word => {
                assert_eq!(word, "required");
                Choice::Required
            }
        };
        let effort = case["effort"].as_str().map(|word| {
            let efforts = [Effort::Low, Effort::Medium, Effort::High];
            efforts.into_iter().find(|effort| effort.as_str() == word).unwrap()
        });
        // Numbers keep their digits in this text.
        let extra = case["extra"].as_object().into_iter().flatten();
        let settings = Settings {
            max_output_tokens: case["max_output_tokens"]
                .as_u64()
                .map(|most| most.try_into().unwrap()),
            temperature: case["temperature"].as_f64(),
            effort,
            extra: extra.map(|(key, json)| (key.clone(), Payload::new(json.to_string()))).collect(),
        };
        Self {
            names,
            deferred,
            projections,
            dialect,
            messages: case["messages"].as_array().unwrap().iter().map(message).collect(),
            choice,
            parallel: case["parallel"].as_bool(),
            settings,
        }
    }

    /// Calls a function with the question.
    pub(crate) fn with<T>(&self, ask: impl FnOnce(&Question<'_>) -> T) -> T {
        let tools: Vec<Projections<'_>> = self
            .names
            .iter()
            .zip(&self.projections)
            .zip(&self.deferred)
            .map(|((name, (strict, plain)), is_deferred)| Projections {
                name,
                strict,
                plain,
                strictness: Strictness::Prefer,
                is_deferred: *is_deferred,
            })
            .collect();
        let tools: Request<'_> = place(&tools, self.dialect);
        ask(&Question {
            choice: self.choice.clone(),
            parallel: self.parallel,
            settings: self.settings.clone(),
            ..Question::new(&self.messages, &tools)
        })
    }
}

fn message(case: &Value) -> Message {
    let (kind, value) = case.as_object().unwrap().iter().next().unwrap();
    let items = || value.as_array().unwrap().iter();
    match kind.as_str() {
        "system" => Message::System(text(value)),
        "user" => Message::User(text(value)),
        "assistant" => Message::Assistant(items().map(content).collect()),
        _ => {
            assert_eq!(kind, "results");
            let result = |result: &Value| CallAnswer {
                id: text(&result["id"]),
                text: text(&result["text"]),
                is_error: result["is_error"].as_bool().unwrap_or_default(),
            };
            Message::Results(items().map(result).collect())
        }
    }
}

fn content(case: &Value) -> Content {
    let (kind, value) = case.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "text" => Content::Text(text(value)),
        "call" => Content::Call(ModelCall {
            id: text(&value["id"]),
            name: text(&value["name"]),
            args: Payload::new(text(&value["args"])),
        }),
        _ => {
            assert_eq!(kind, "opaque");
            Content::Opaque(Opaque {
                provider: text(&value["provider"]),
                kind: text(&value["kind"]),
                json: text(&value["json"]),
            })
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
