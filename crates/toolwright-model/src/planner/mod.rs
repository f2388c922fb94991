//! A planner that asks a model.
//!
//! The conversation is built in each turn from the history of the run, whose notes hold the answers of the model. So a run that
//! another process resumes asks the same questions.

mod answer;
mod compaction;
mod conversation;
mod failure;
mod offered;
mod output;
mod projections;
mod search;
mod spending;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;
use toolwright::{BoxError, BoxFuture, FailureKind, Recovery, ToolFailure};
use toolwright_dialect::{Policy, Request};
use toolwright_runtime::{ModelEvent, ModelUsage, Planner, Step, Turn};
use tracing::{Instrument, Span, field};

use crate::error::ModelError;
use crate::model::{Answer, Delta, Message, Model, Question, Settings, Stop, Usage};
use answer::{Answered, Decision};
use conversation::Conversation;
use offered::Offered;
use output::Expected;
use projections::ProjectionCache;
use search::{IndexCache, VisibleTools};
use spending::Spending;

pub use compaction::{Compactor, LeaveOutResults};
pub use output::FinalOutput;
pub use search::ToolSearch;
pub use spending::Prices;

/// The default of [`ModelPlanner::with_max_corrections`].
const MAX_CORRECTIONS: u32 = 2;

/// The number of times that a model is asked again after an answer that broke off.
const MAX_BROKEN: u32 = 2;

/// The most searches for tools in a row.
const MAX_SEARCHES: u32 = 10;

/// A planner that asks a model what to do next.
///
/// - The instructions of the run are the first message, its input the second: as JSON, or as plain text if it is a JSON string.
/// - Calls are decoded as the dialect of the model says. One that cannot be decoded fails, and the others run. The model reads
///   the issues with their places in what it wrote.
/// - An answer without calls ends the run. If the final payload must match a schema, the model gives it as [`FinalOutput`]
///   says, and corrects it if it is not valid.
/// - At a limit of [`Policy`](toolwright_runtime::Policy), such as `max_model_calls`, the model gets one last question. Questions
///   count also if their answer breaks off, each attempt of the client; tokens that are not reported are estimated.
///
/// The notes of the run's steps hold the answers of the model, including reasoning that only its provider understands. They are
/// kept when the run is suspended.
///
/// ```
/// use toolwright::{Payload, described};
/// use toolwright_model::{Client, ModelPlanner, Preset};
/// use toolwright_model_stage::{Reply, Script, Stage};
/// use toolwright_runtime::{Agent, Registry, RunRequest, Runtime};
///
/// described! {
///     struct Numbers {
///         a: i64,
///         b: i64,
///     }
///
///     struct Sum {
///         sum: i64,
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toolwright::BoxError> {
/// // The stage takes the place of the provider.
/// let script = Script::new()
///     .reply(Reply::call("add", r#"{"a":2,"b":40}"#))
///     .reply(Reply::text("It is 42."));
/// let stage = Stage::start(script).await?;
/// let client = Client::builder(Preset::find("openai")?, "gpt-5");
/// let client = client.with_base(stage.base()).with_key("none").build()?;
///
/// let registry = Registry::new();
/// registry.tool("add", "Add two numbers.", async |Numbers { a, b }: Numbers| Sum { sum: a + b })?;
/// let agent = Agent::new("counter", "lab").with_tools(["add"]);
/// registry.register_agent(agent, ModelPlanner::new(client).into())?;
///
/// let runtime = Runtime::new(registry);
/// let request = RunRequest::new("counter", Payload::of("What are 2 and 40?")?);
/// let outcome = runtime.run(request).await?;
/// assert_eq!(outcome.decode::<String>()?, "It is 42.");
/// # Ok(())
/// # }
/// ```
pub struct ModelPlanner {
    model: Arc<dyn Model>,
    settings: Settings,
    output: FinalOutput,
    is_one_at_a_time: bool,
    max_corrections: u32,
    prices: Option<Prices>,
    compactor: Arc<dyn Compactor>,
    projections: ProjectionCache,
    search: Option<ToolSearch>,
    index: IndexCache,
    /// True once the model has refused strict tools.
    is_plain: AtomicBool,
}

impl std::fmt::Debug for ModelPlanner {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ModelPlanner").field("model", self.model.facts()).finish_non_exhaustive()
    }
}

impl ModelPlanner {
    /// Creates a planner.
    pub fn new(model: impl Model + 'static) -> Self {
        Self {
            model: Arc::new(model),
            settings: Settings::default(),
            output: FinalOutput::default(),
            is_one_at_a_time: false,
            max_corrections: MAX_CORRECTIONS,
            prices: None,
            compactor: Arc::new(LeaveOutResults::default()),
            projections: ProjectionCache::default(),
            search: None,
            index: IndexCache::default(),
            is_plain: AtomicBool::new(false),
        }
    }

    /// Sets the settings of the model.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets how the model gives a final payload that must match a schema.
    #[must_use]
    pub fn with_output(mut self, output: FinalOutput) -> Self {
        self.output = output;
        self
    }

    /// Sets which losses of schemas are allowed; see [`toolwright_dialect::Policy`].
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.projections = ProjectionCache::new(policy);
        self
    }

    /// Allows one call in each answer. Further calls are denied.
    #[must_use]
    pub fn with_one_call_at_a_time(mut self) -> Self {
        self.is_one_at_a_time = true;
        self
    }

    /// Sets how often in a row the model may correct calls of one tool, or its final payload. The default is 2.
    #[must_use]
    pub fn with_max_corrections(mut self, corrections: u32) -> Self {
        self.max_corrections = corrections;
        self
    }

    /// Sets the prices of the model. Without them costs are not known, and the run of an agent with `max_cost` fails. Tokens that a
    /// provider does not report are estimated.
    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// Sets what shortens a conversation that is too long for the model. The default is [`LeaveOutResults`].
    #[must_use]
    pub fn with_compactor(mut self, compactor: impl Compactor + 'static) -> Self {
        self.compactor = Arc::new(compactor);
        self
    }

    /// Shows the model only some tools if there are many, and lets it search for the others.
    #[must_use]
    pub fn with_search(mut self, search: ToolSearch) -> Self {
        self.search = Some(search);
        self
    }

    async fn next_step(&self, turn: &Turn<'_>) -> Result<Step, ToolFailure> {
        if turn.agent().policy.max_cost.is_some() && self.prices.is_none() {
            return Err(spending::no_prices(&turn.agent().name));
        }
        let dialect = self.model.facts().dialect;
        let search = self.search.as_ref();
        let offered = Offered::of(turn, dialect, search.is_some_and(ToolSearch::is_by_provider));
        let expected = Expected::of(turn, self.output, &offered);
        let found = conversation::found(turn);
        let mut shown = VisibleTools::of(&offered, search, &self.index, dialect, &found);
        let mut tools = self.projections.tools(&shown, &expected, dialect);
        let (corrections, compactor) = (self.max_corrections, &*self.compactor);
        let mut conversation =
            Conversation::of(turn, &expected, &tools, dialect.dated_id(), corrections, compactor);
        let (mut again, mut searches) = (0, 0);
        let mut last = None;
        loop {
            if last.is_none() {
                last = conversation.spending.over(&turn.agent().policy);
                if let Some(reason) = &last {
                    conversation.push(Message::User(expected.last_words(reason)));
                }
            }
            let answered = self
                .answer(
                    turn,
                    (&tools, offered.left_out()),
                    &expected,
                    last.is_some(),
                    &mut conversation,
                )
                .await?;
            let Some(answered) = answered else { continue };
            let strict = answered.strict.clone();
            let reader = answer::Reader {
                turn,
                shown: &shown,
                expected: &expected,
                tools: &tools,
                dialect,
                is_one_at_a_time: self.is_one_at_a_time,
            };
            let next = reader.read(answered);
            if let (
                Some(reason),
                Decision::Step { .. } | Decision::Found { .. } | Decision::Again(_),
            ) = (&last, &next)
            {
                return Err(spending::exhausted(reason));
            }
            match next {
                Decision::Finish(payload) => return Ok(Step::Finish(payload)),
                Decision::Fail(failure) => return Err(failure),
                Decision::Step { content, calls, answers, found } => {
                    conversation.push(Message::Assistant(content));
                    shown.add(&found);
                    let note = conversation.into_note(strict, answers, shown.found())?;
                    return Ok(Step::Call { calls, note: Some(note) });
                }
                Decision::Found { messages, found } => {
                    searches += 1;
                    if searches > MAX_SEARCHES {
                        let last = "it only searched for tools";
                        return Err(output::not_given(searches, last));
                    }
                    again = 0;
                    shown.add(&found);
                    tools = self.projections.tools(&shown, &expected, dialect);
                    for message in messages {
                        conversation.push(message);
                    }
                }
                Decision::Again(messages) => {
                    again += 1;
                    if again > self.max_corrections {
                        return Err(output::not_given(again, last_words(&messages)));
                    }
                    for message in messages {
                        conversation.push(message);
                    }
                }
            }
        }
    }

    /// Asks the model. A conversation that is too long is shortened once, strict tools that the model refuses become plain ones,
    /// and an answer that breaks off is asked for again. Returns `None` if a limit of the run is reached before there is an answer.
    async fn answer(
        &self,
        turn: &Turn<'_>,
        (tools, left_out): (&projections::Tools, &[String]),
        expected: &Expected<'_>,
        is_last: bool,
        conversation: &mut Conversation,
    ) -> Result<Option<Answered>, ToolFailure> {
        let is_thinking = output::is_thinking(&self.settings);
        let choice = expected.choice(is_last, tools.is_empty(), is_thinking);
        let mut broken = 0;
        loop {
            let is_plain = self.is_plain.load(Ordering::Relaxed);
            let placed = tools.placed(self.model.facts().dialect, is_plain);
            let request = placed.request();
            let findings = [left_out, &findings(&request, expected)?].concat();
            let question = Question {
                choice: choice.clone(),
                output: tools.output(is_plain),
                parallel: (self.is_one_at_a_time && !tools.is_empty()).then_some(false),
                settings: self.settings.clone(),
                timeout: turn.time_left(),
                ..Question::new(&conversation.messages, &request)
            };
            let spending = &mut conversation.spending;
            let error = match self.ask(turn, &question, findings, spending).await {
                Ok(answer) => {
                    let strict = request.tools.iter().map(|tool| (tool.name, tool.is_strict));
                    let strict = strict.filter(|(_, is_strict)| *is_strict);
                    let strict = strict.map(|(name, _)| name.to_owned()).collect();
                    return Ok(Some(Answered { answer, strict, is_plain }));
                }
                Err(error) => error,
            };
            match &error {
                ModelError::TooLong(_) if !conversation.is_compact => {
                    let before = conversation.messages.clone();
                    conversation.compact(&*self.compactor);
                    if conversation.messages == before {
                        return Err(failure_of(&error));
                    }
                }
                ModelError::StrictRefused(_) | ModelError::TooLargeAGrammar(_) if !is_plain => {
                    self.is_plain.store(true, Ordering::Relaxed);
                }
                // Nothing of the answer was used.
                ModelError::Interrupted(_) if broken < MAX_BROKEN && !is_last => broken += 1,
                _ => return Err(failure_of(&error)),
            }
            turn.publish(ModelEvent::Restarted { reason: error.to_string() });
            if !is_last && conversation.spending.over(&turn.agent().policy).is_some() {
                return Ok(None);
            }
        }
    }

    /// Asks the model once, within a span, and publishes events.
    async fn ask(
        &self,
        turn: &Turn<'_>,
        question: &Question<'_>,
        findings: Vec<String>,
        spending: &mut Spending,
    ) -> Result<Answer, ModelError> {
        let facts = self.model.facts();
        turn.publish(ModelEvent::Asked {
            provider: facts.provider.clone(),
            model: facts.model.clone(),
            tools: question.tools.tools.len(),
            findings,
        });
        let span = tracing::info_span!(
            "chat",
            otel.name = format!("chat {}", facts.model),
            otel.kind = "client",
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = facts.provider,
            gen_ai.request.model = facts.model,
            gen_ai.request.max_tokens = question.settings.max_output_tokens,
            gen_ai.request.temperature = question.settings.temperature,
            gen_ai.response.model = field::Empty,
            gen_ai.response.finish_reasons = field::Empty,
            gen_ai.usage.input_tokens = field::Empty,
            gen_ai.usage.output_tokens = field::Empty,
            error.type = field::Empty,
        );
        spending.count_question();
        let since = Instant::now();
        let mut unanswered = Unanswered { turn, since, is_over: false };
        let (bytes, broken) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let deltas = |delta| {
            if let Delta::Retried { usage: Some(usage), .. } = delta {
                broken.lock().unwrap_or_else(PoisonError::into_inner).push(usage);
            }
            bytes.fetch_add(spending::delta_bytes(&delta), Ordering::Relaxed);
            turn.publish(event(delta));
        };
        let asked = self.model.ask(question, &deltas).instrument(span.clone()).await;
        unanswered.is_over = true;
        for usage in broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
            spending.count_question();
            spending.add(&spending::broken_usage(question, usage, 0), self.prices.as_ref());
        }
        let duration = since.elapsed();
        match asked {
            Ok(answer) => {
                record(&span, &answer);
                let usage = spending::usage(question, &answer);
                let cost = spending.add(&usage, self.prices.as_ref());
                turn.publish(ModelEvent::Answered {
                    model: answered_by(&answer, &facts.model).to_owned(),
                    usage: answer.usage.map(usage_of),
                    cost,
                    stop: stop_word(&answer.stop).to_owned(),
                    duration,
                });
                Ok(answer)
            }
            Err(error) => {
                if matches!(error, ModelError::Interrupted(_)) {
                    let usage = Usage::default();
                    let usage = spending::broken_usage(question, usage, bytes.into_inner());
                    spending.add(&usage, self.prices.as_ref());
                }
                span.record("error.type", error.kind());
                let (kind, text) = (error.kind(), error.to_string());
                turn.publish(ModelEvent::Failed { kind, error: text, duration });
                Err(error)
            }
        }
    }
}

impl Planner for ModelPlanner {
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        Box::pin(async move { self.next_step(turn).await.map_err(Into::into) })
    }
}

impl From<ModelPlanner> for Arc<dyn Planner> {
    fn from(planner: ModelPlanner) -> Self {
        Arc::new(planner)
    }
}

/// Publishes the end of a question whose run is cancelled before there is an answer.
struct Unanswered<'a> {
    turn: &'a Turn<'a>,
    since: Instant,
    is_over: bool,
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let error = "the run ended before the model answered".to_owned();
            let (kind, duration) = ("cancelled", self.since.elapsed());
            self.turn.publish(ModelEvent::Failed { kind, error, duration });
        }
    }
}

/// Returns what was found about the tools of a request.
///
/// # Errors
///
/// The tool for the final answer is left out, or there are too many tools.
fn findings(request: &Request<'_>, expected: &Expected<'_>) -> Result<Vec<String>, ToolFailure> {
    let failed = |detail: String| {
        let message = "the model could not be asked";
        ToolFailure::new(FailureKind::Internal, message, Recovery::Replan).with_detail(detail)
    };
    let findings = request.findings.iter().map(|finding| finding.message.clone());
    if let Some(error) = request.findings.iter().find(|finding| finding.is_error) {
        let advice = match error.code {
            "TWD202" => "; `ModelPlanner::with_search` shows a model only some tools",
            _ => "",
        };
        return Err(failed(format!("{error}{advice}")));
    }
    if let Some(name) = expected.tool_name()
        && let Some(finding) = request.findings.iter().find(|finding| finding.tool == name)
        && !request.tools.iter().any(|tool| tool.name == name)
    {
        return Err(failed(finding.to_string()));
    }
    Ok(findings.collect())
}

/// Returns the last message for the model.
fn last_words(messages: &[Message]) -> &str {
    match messages.last() {
        Some(Message::User(text)) => text,
        Some(Message::Results(results)) => results.last().map_or("", |result| &result.text),
        _ => "",
    }
}

/// Returns the failure of a run whose model gave no answer. The words of the provider are for operators.
fn failure_of(error: &ModelError) -> ToolFailure {
    let (kind, recovery, message) = match error {
        ModelError::Status { code: 429, .. } => {
            (FailureKind::RateLimited, Recovery::Retry, "the model is asked too often")
        }
        ModelError::Timeout(_) => {
            (FailureKind::Timeout, Recovery::Retry, "the model took too long to answer")
        }
        ModelError::Connect(_) => {
            (FailureKind::Unavailable, Recovery::Retry, "the model cannot be reached")
        }
        ModelError::Interrupted(_) | ModelError::Status { code: 500.., .. } => {
            (FailureKind::Unavailable, Recovery::Retry, "the model cannot answer now")
        }
        _ => (FailureKind::Internal, Recovery::Replan, "the model could not be asked"),
    };
    ToolFailure::new(kind, message, recovery).with_detail(error.to_string())
}

fn event(delta: Delta) -> ModelEvent {
    match delta {
        Delta::Text(text) => ModelEvent::Text(text),
        Delta::Reasoning(text) => ModelEvent::Reasoning(text),
        Delta::Call { call, name } => {
            ModelEvent::Call { call, tool: Some(name), args: String::new() }
        }
        Delta::Args { call, text } => ModelEvent::Call { call, tool: None, args: text },
        Delta::Retried { error, .. } => ModelEvent::Restarted { reason: error },
    }
}

fn record(span: &Span, answer: &Answer) {
    if !answer.model.is_empty() {
        span.record("gen_ai.response.model", &answer.model);
    }
    span.record("gen_ai.response.finish_reasons", stop_word(&answer.stop));
    if let Some(usage) = answer.usage.map(usage_of) {
        span.record("gen_ai.usage.input_tokens", usage.total_input);
        span.record("gen_ai.usage.output_tokens", usage.output);
    }
}

fn answered_by<'a>(answer: &'a Answer, asked: &'a str) -> &'a str {
    if answer.model.is_empty() { asked } else { &answer.model }
}

fn usage_of(usage: Usage) -> ModelUsage {
    ModelUsage {
        total_input: usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write),
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        output: usage.output,
        reasoning: usage.reasoning,
    }
}

fn stop_word(stop: &Stop) -> &str {
    match stop {
        Stop::End => "end",
        Stop::Calls => "calls",
        Stop::Length => "length",
        Stop::Filtered => "filtered",
        Stop::Paused => "paused",
        Stop::Refused(_) => "refused",
        Stop::Other(word) => word,
    }
}
