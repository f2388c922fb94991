//! The agent, its tool, and a model that follows a script.

use toolwright::{BoxError, BoxFuture, Payload, ToolSpec, described};
use toolwright_dialect::Dialect;
use toolwright_model::{
    Answer, Content, Delta, Message, Model, ModelCall, ModelError, ModelFacts, ModelPlanner,
    Prices, Question, Stop, Usage,
};
use toolwright_runtime::{Agent, FunctionTool, Registry};

pub(crate) const AGENT: &str = "adder";
pub(crate) const TOOLSET: &str = "sums";

described! {
    struct Numbers {
        a: i64,
        b: i64,
    }
}

/// Creates the tool, which logs.
pub(crate) fn add() -> FunctionTool {
    let mut spec = ToolSpec::new("add").with_toolset(TOOLSET);
    spec.set_description("Add two numbers.");
    FunctionTool::new(spec, async |Numbers { a, b }: Numbers| {
        tracing::info!(a, b, "numbers are added");
        a.saturating_add(b)
    })
}

/// Registers the agent.
pub(crate) fn register(registry: &Registry) -> Result<(), BoxError> {
    let agent =
        Agent::new(AGENT, "demo").with_toolsets([TOOLSET]).with_instructions("Add with `add`.");
    let model = Scripted(ModelFacts {
        provider: "script".to_owned(),
        model: "script-1".to_owned(),
        dialect: Dialect::find("openai-chat")?,
    });
    // Three dollars for a million tokens of questions, and 15 for answers.
    let prices = Prices { input: 3_000_000, output: 15_000_000, ..Prices::default() };
    registry.register_agent(agent, ModelPlanner::new(model).with_prices(prices).into())?;
    Ok(())
}

/// A model that calls the tool, and then says its result.
struct Scripted(ModelFacts);

impl Model for Scripted {
    fn facts(&self) -> &ModelFacts {
        &self.0
    }

    fn ask<'a>(
        &'a self,
        question: &'a Question<'a>,
        _: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let (content, stop) = if let Some(Message::Results(results)) = question.messages.last() {
            let texts: Vec<_> = results.iter().map(|result| result.text.as_str()).collect();
            (Content::Text(format!("It is {}.", texts.join(", "))), Stop::End)
        } else {
            let args = Payload::new(r#"{"a":2,"b":40}"#);
            let call = ModelCall { id: "c1".to_owned(), name: "add".to_owned(), args };
            (Content::Call(call), Stop::Calls)
        };
        let usage = Some(Usage { input: 100, output: 10, ..Usage::default() });
        let answer = Answer { content: vec![content], stop, usage, model: "script-1.1".to_owned() };
        Box::pin(std::future::ready(Ok(answer)))
    }
}
