//! Models of genai on the stage, one for each API that both know.

use std::sync::Mutex;
use std::time::Duration;

use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use toolwright_dialect::{Dialect, Request};
use toolwright_genai::GenaiModel;
use toolwright_model::{Answer, Delta, Message, Model, ModelError, ModelFacts, Question};
use toolwright_model_stage::{Reply, Script, Stage};

/// A key that is easy to find.
pub(crate) const KEY: &str = "sk-live-0123456789abcdef";

/// An API: genai's adapter for it, a model, and the dialect of its tools.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Provider {
    pub(crate) kind: AdapterKind,
    pub(crate) model: &'static str,
    pub(crate) dialect: &'static str,
}

pub(crate) const OPENAI: Provider =
    Provider { kind: AdapterKind::OpenAI, model: "gpt-5", dialect: "openai-chat-strict" };

pub(crate) const RESPONSES: Provider =
    Provider { kind: AdapterKind::OpenAIResp, model: "gpt-5", dialect: "openai-responses-strict" };

pub(crate) const ANTHROPIC: Provider = Provider {
    kind: AdapterKind::Anthropic,
    model: "claude-sonnet-4-5",
    dialect: "anthropic-strict",
};

pub(crate) const GEMINI: Provider =
    Provider { kind: AdapterKind::Gemini, model: "gemini-3-pro", dialect: "gemini" };

pub(crate) const PROVIDERS: [Provider; 4] = [OPENAI, RESPONSES, ANTHROPIC, GEMINI];

impl Provider {
    /// Returns a model at an address.
    pub(crate) fn at(self, base: &str) -> GenaiModel {
        self.with_client(Client::new().unwrap(), base)
    }

    pub(crate) fn with_client(self, client: Client, base: &str) -> GenaiModel {
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(format!("{base}/")),
            auth: AuthData::from_single(KEY),
            model: ModelIden::new(self.kind, self.model),
        };
        GenaiModel::new(client, target, self.facts())
    }

    pub(crate) fn facts(self) -> ModelFacts {
        ModelFacts {
            provider: "a-provider".to_owned(),
            model: self.model.to_owned(),
            dialect: Dialect::find(self.dialect).unwrap(),
        }
    }
}

/// Returns the stage for one reply.
pub(crate) async fn stage(reply: Reply) -> Stage {
    Stage::start(Script::new().reply(reply)).await.unwrap()
}

/// The pieces of an answer, and the answer or the error.
pub(crate) type Outcome = (Vec<Delta>, Result<Answer, ModelError>);

/// Asks a question.
pub(crate) async fn ask(model: &GenaiModel, question: &Question<'_>) -> Outcome {
    let deltas = Mutex::new(Vec::new());
    let result = model.ask(question, &|delta| deltas.lock().unwrap().push(delta)).await;
    (deltas.into_inner().unwrap(), result)
}

/// Asks for a yes, without tools.
pub(crate) async fn ask_for_yes(model: &GenaiModel, timeout: Option<Duration>) -> Outcome {
    let messages = [Message::User("Say yes.".to_owned())];
    let tools = Request { tools: Vec::new(), findings: Vec::new() };
    ask(model, &Question { timeout, ..Question::new(&messages, &tools) }).await
}

/// Asks for a yes, which one reply answers.
pub(crate) async fn answer_of(provider: Provider, reply: Reply) -> Outcome {
    let stage = stage(reply).await;
    ask_for_yes(&provider.at(stage.base()), None).await
}
