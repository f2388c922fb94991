//! Asks models through [genai](https://docs.rs/genai), for providers that `toolwright-model` has no wire for. A [`GenaiModel`] is a
//! [`Model`] like `toolwright_model::Client`, so a `ModelPlanner` can use it.
//!
//! Tools are sent as `toolwright_dialect` projects them, and the arguments of calls are decoded by the same projection.
//!
//! # What is lost
//!
//! A wire of `toolwright-model` keeps all of this. Where a provider has one, use it.
//!
//! | part | through genai |
//! |---|---|
//! | arguments of calls | genai parses them: of two equal keys the last one wins, and numbers beyond 64 bits are rounded. Arguments that are not JSON stay text. |
//! | numbers in schemas and in [`Settings::extra`](toolwright_model::Settings::extra) | beyond 64 bits they are rounded |
//! | strict tools | a tool is only strict if genai's sanitizer leaves its schema as it is. Otherwise, and on APIs other than those of OpenAI and Anthropic, it is sent with the same schema, and the provider does not enforce it. |
//! | a schema for the text of the answer | refused with [`ModelError::Unsendable`] if genai's sanitizer would change it |
//! | tools with the name of a tool of the provider, such as `web_search` | refused with [`ModelError::Unsendable`], as genai would offer the provider's own tool |
//! | reasoning | genai's form of it: signatures and encrypted texts go back, but not the order of texts and reasoning, nor the ids and summaries of items of OpenAI Responses |
//! | the words of a refusal | an answer of OpenAI that is only a refusal looks empty; refusals of Anthropic have no explanation |
//! | filters of OpenAI Responses | look like the limit of tokens |
//! | failed results | genai does not mark them; the model reads their text |
//! | [`Question::parallel`] | not sent; the planner still denies further calls if one at a time is allowed |
//! | marks for caching | none are sent, besides those in the `ChatOptions` of the client |
//! | the id of the model that answered | empty |
//! | attempts | one; genai tries nothing again |
//! | an end without the API's last event | [`ModelError::Interrupted`], even if the reason of the stop is known |
//! | errors within a stream of OpenAI Responses | `response.failed` is [`ModelError::Malformed`], with its message |
//! | silence | ends the answer only with [`Question::timeout`] or the `stream_read_timeout` of the client's `ChatOptions` |
//! | limits of memory | genai reads errors and single events of any length; texts, calls and reasoning of an answer have limits. One short event with a large `index` of a call makes genai 0.7.2 allocate without a limit, which aborts the process. |
//! | redirects | genai's own client follows them, and sends the keys of Anthropic (`x-api-key`) and Gemini (`x-goog-api-key`) to other hosts. The client of the example follows none. |
//! | keys that the provider repeats in its texts | not replaced, as genai holds the key |
//!
//! # Example
//!
//! ```
//! use genai::adapter::AdapterKind;
//! use genai::resolver::{AuthData, Endpoint};
//! use genai::{Client, ModelIden, ServiceTarget};
//! use toolwright_dialect::{Dialect, Request};
//! use toolwright_genai::GenaiModel;
//! use toolwright_model::{Message, Model, ModelFacts, Question};
//! use toolwright_model_stage::{Reply, Script, Stage};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The stage takes the place of the provider.
//! let stage = Stage::start(Script::new().reply(Reply::text("Yes."))).await?;
//! let target = ServiceTarget {
//!     endpoint: Endpoint::from_owned(format!("{}/", stage.base())),
//!     auth: AuthData::from_single("none"),
//!     model: ModelIden::new(AdapterKind::Together, "a-model"),
//! };
//! let facts = ModelFacts {
//!     provider: "together".to_owned(),
//!     model: "a-model".to_owned(),
//!     dialect: Dialect::find("portable")?,
//! };
//! let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
//! let client = Client::builder().with_reqwest(http).build()?;
//! let model = GenaiModel::new(client, target, facts);
//!
//! let messages = [Message::User("Say yes.".to_owned())];
//! let tools = Request { tools: Vec::new(), findings: Vec::new() };
//! let answer = model.ask(&Question::new(&messages, &tools), &|_| {}).await?;
//! assert_eq!(answer.text(), "Yes.");
//! # Ok(())
//! # }
//! ```

#![warn(missing_debug_implementations)]

mod answer;
mod error;
mod request;

use std::fmt;

use futures_util::StreamExt as _;
use genai::{Client, ModelSpec};
use toolwright::BoxFuture;
use toolwright_model::{Answer, Delta, Model, ModelError, ModelFacts, Question};

use answer::Reader;

/// A model behind a client of genai.
///
/// Opaque parts of its answers go back only to a `GenaiModel` of the same provider.
pub struct GenaiModel {
    client: Client,
    spec: ModelSpec,
    facts: ModelFacts,
}

impl GenaiModel {
    /// Creates a model: genai's client, the model as genai names it, and facts about it. The dialect must be that of the API that
    /// genai uses for the model, such as `anthropic-strict`; `portable` is accepted by most. Features of genai decide whether it can
    /// use `https` addresses.
    pub fn new(client: Client, model: impl Into<ModelSpec>, facts: ModelFacts) -> Self {
        Self { client, spec: model.into(), facts }
    }

    async fn attempt(
        &self,
        question: &Question<'_>,
        deltas: &(dyn Fn(Delta) + Send + Sync),
    ) -> Result<Answer, ModelError> {
        let (request, options) = request::of(&self.facts, question)?;
        let error = |found| error::of(found, self.facts.dialect);
        let sent = self.client.exec_chat_stream(self.spec.clone(), request, Some(&options));
        let mut events = sent.await.map_err(error)?.stream;
        let mut reader = Reader::new(&self.facts, question);
        while let Some(event) = events.next().await {
            let end = reader.event(event.map_err(error)?)?;
            reader.deltas().into_iter().for_each(deltas);
            if let Some(end) = end {
                return answer::of(&self.facts, question, end);
            }
        }
        let message = "found the end of the stream before the last event; ask again";
        Err(ModelError::Interrupted(message.to_owned()))
    }
}

impl Model for GenaiModel {
    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn ask<'a>(
        &'a self,
        question: &'a Question<'a>,
        deltas: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let asked = self.attempt(question, deltas);
            let Some(limit) = question.timeout else { return asked.await };
            tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| {
                Err(ModelError::Timeout(format!("found no answer within {limit:?}")))
            })
        })
    }
}

impl fmt::Debug for GenaiModel {
    /// Leaves out genai's client and target, which may hold a key.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("GenaiModel").field("facts", &self.facts).finish_non_exhaustive()
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
