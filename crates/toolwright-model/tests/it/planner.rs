//! The planner with real clients and a stage: runs of agents from the first question to the result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolwright::{BoxFuture, FailureKind, Payload, Recovery, ToolFailure, ToolSpec, described};
use toolwright_model::{
    Answer, Client, ClientBuilder, Delta, Effort, FinalOutput, Model, ModelError, ModelFacts,
    ModelPlanner, Preset, Prices, Question, Settings,
};
use toolwright_model_stage::{Reply, Script, Stage};
use toolwright_runtime::{
    Agent, Collector, EventKind, FunctionTool, ModelEvent, Policy, Registry, ResumeRequest,
    RunOutcome, RunRequest, Runtime, SealKey,
};

/// A key that is easy to find.
pub(crate) const KEY: &str = "sk-live-0123456789abcdef";

pub(crate) const PRESETS: [&str; 5] =
    ["openai", "openai-responses", "anthropic", "gemini", "bedrock"];

described! {
    struct Numbers {
        a: i64,
        b: i64,
    }

    pub(crate) struct Sum {
        sum: i64,
    }

    pub(crate) struct Goal {
        pub(crate) text: String,
    }

    pub(crate) struct Nothing {}

    struct Report {
        total: i64,
    }
}

pub(crate) fn builder(name: &str, stage: &Stage) -> ClientBuilder {
    Client::builder(Preset::find(name).unwrap(), "a-model").with_base(stage.base()).with_key(KEY)
}

pub(crate) fn planner(name: &str, stage: &Stage) -> ModelPlanner {
    ModelPlanner::new(builder(name, stage).build().unwrap())
}

/// Plays a script as the twin of a preset's dialect.
pub(crate) async fn stage(name: &str, script: Script) -> Stage {
    Stage::start(script.as_twin_of(Preset::find(name).unwrap().dialect).unwrap()).await.unwrap()
}

/// A registry with `math.add`, which fails for large sums.
pub(crate) fn registry() -> Registry {
    let registry = Registry::new();
    let add = FunctionTool::new(
        ToolSpec::new("math.add").with_description("Add two numbers."),
        async |Numbers { a, b }: Numbers| match a + b {
            sum @ ..1000 => Ok(Sum { sum }),
            _ => Err(ToolFailure::new(
                FailureKind::DomainRejection,
                "sums end at 999",
                Recovery::Replan,
            )
            .with_detail("a secret of the operator")),
        },
    );
    registry.register_tool(add).unwrap();
    registry
}

/// The agent, with or without a schema for its result.
pub(crate) fn agent(has_schema: bool) -> Agent {
    let agent =
        Agent::new("counter", "lab").with_tools(["math.add"]).with_instructions("Be brief.");
    if has_schema {
        return agent.with_result_spec(ToolSpec::new("count").with_types::<Goal, Report>());
    }
    agent
}

pub(crate) async fn run(agent: Agent, planner: ModelPlanner) -> RunOutcome {
    let registry = registry();
    registry.register_agent(agent, planner.into()).unwrap();
    Runtime::new(registry).run(request()).await.unwrap()
}

pub(crate) fn request() -> RunRequest {
    RunRequest::new("counter", Payload::new(r#""Add 1 and 2, and 3 and 4.""#)).with_run_id("run_1")
}

/// Adds twice, after some reasoning.
fn two_calls() -> Reply {
    Reply::call("math.add", r#"{"a":1,"b":2}"#)
        .and_call("math.add", r#"{"a":3,"b":4}"#)
        .with_reasoning("I add.")
}

pub(crate) fn last_request(stage: &Stage) -> String {
    stage.requests().last().unwrap().text.clone()
}

#[tokio::test]
async fn a_run_has_the_same_events_and_result_on_all_wires() {
    let mut all = Vec::new();
    for name in PRESETS {
        let script = Script::new()
            .reply(two_calls())
            .reply(Reply::call("final_answer", r#"{"total":10}"#).and_text(""));
        let stage = stage(name, script).await;
        let registry = registry();
        registry.register_agent(agent(true), planner(name, &stage).into()).unwrap();
        let events = Collector::new();
        let runtime = Runtime::builder(registry).with_events(events.clone()).build();
        let outcome = runtime.run(request()).await.unwrap();
        assert_eq!(stage.refusals(), Vec::<String>::new(), "{name}");
        assert_eq!(outcome.result().unwrap().as_str(), r#"{"total":10}"#, "{name}");
        let events = events.events();
        let shown: Vec<_> = events.iter().filter_map(|event| shown(&event.kind)).collect();
        let debug = format!("{events:?} {outcome:?} {:?}", planner(name, &stage));
        assert!(!debug.contains(KEY), "{name}");
        all.push((name, shown));
    }
    let (_, first) = &all[0];
    assert_eq!(first.len(), 10, "{first:#?}");
    for (name, shown) in &all {
        assert_eq!(shown, first, "{name}");
    }
}

/// Shows an event without ids and times. Pieces of an answer differ between wires.
fn shown(kind: &EventKind) -> Option<String> {
    Some(match kind {
        EventKind::RunStarted { input, .. } => format!("started {input}"),
        EventKind::RunFinished { result, .. } => format!("finished {result:?}"),
        EventKind::ToolCallScheduled { call, .. } => format!("{} {}", call.tool(), call.args()),
        EventKind::ToolResultReceived { outcome, .. } => format!("{outcome:?}"),
        EventKind::Model(ModelEvent::Asked { model, tools, .. }) => {
            format!("asked {model} {tools}")
        }
        EventKind::Model(ModelEvent::Answered { usage, stop, .. }) => {
            let usage = usage.unwrap();
            format!("answered {stop} {} {}", usage.total_input, usage.output)
        }
        _ => return None,
    })
}

#[tokio::test]
async fn a_resumed_run_asks_what_an_unbroken_one_asks() {
    for name in PRESETS {
        let mut asked = Vec::new();
        for is_broken in [false, true] {
            let script = Script::new()
                .reply(two_calls())
                .reply(Reply::call("math.add", r#"{"a":3,"b":7}"#).with_reasoning("Once more."))
                .reply(Reply::text("10"));
            let stage = stage(name, script).await;
            let runtime = || {
                let registry = registry();
                registry.register_agent(agent(false), planner(name, &stage).into()).unwrap();
                {
                    let key = SealKey::new([7; 32]).unwrap();
                    Runtime::builder(registry).with_seal_keys([key]).build()
                }
            };
            let request = request().with_approval_of(["math.add"]);
            let mut outcome = runtime().run(request).await.unwrap();
            let mut here = runtime();
            while let Some(waiting) = outcome.suspended() {
                let restored;
                let waiting = if is_broken {
                    let text = here.export(waiting).await.unwrap();
                    here = runtime();
                    restored = here.restore(&text).await.unwrap();
                    &restored
                } else {
                    waiting
                };
                let answers: Vec<_> =
                    waiting.pending().iter().map(|question| question.approve()).collect();
                outcome = here.resume(ResumeRequest::new(waiting, answers)).await.unwrap();
            }
            assert_eq!(outcome.result().unwrap().as_str(), r#""10""#, "{name}");
            assert_eq!(stage.refusals(), Vec::<String>::new(), "{name}");
            let texts = stage.requests().into_iter().map(|request| request.text);
            asked.push(texts.collect::<Vec<_>>());
        }
        assert_eq!(asked[0].len(), 3, "{name}");
        assert_eq!(asked[0], asked[1], "{name}");
    }
}

#[tokio::test]
async fn a_call_that_cannot_be_read_is_answered_and_costs_its_siblings_nothing() {
    for name in ["openai", "openai-responses", "anthropic", "bedrock"] {
        let script = Script::new()
            .reply(
                Reply::call("math.add", r#"{"a":1,"a":1,"b":2}"#)
                    .and_call("math.add", r#"{"a":1,"#)
                    .and_call("math.add", r#"{"a":1,"b":2}"#)
                    .and_call("math.sub", "{}"),
            )
            .reply(Reply::text("done"));
        let stage = stage(name, script).await;
        let outcome = run(agent(false), planner(name, &stage)).await;
        assert_eq!(outcome.result().unwrap().as_str(), r#""done""#, "{name}");
        let kinds: Vec<_> = outcome.steps[0]
            .calls
            .iter()
            .map(|done| done.result.outcome.as_ref().err().map(|failure| failure.kind))
            .collect();
        let invalid = Some(FailureKind::InvalidCall);
        assert_eq!(kinds, [invalid, invalid, None, Some(FailureKind::NotFound)], "{name}");
        let asked = last_request(&stage);
        for text in
            ["duplicate", r#"{\"sum\":3}"#, "there is no tool `math_sub`, there is `math_add`"]
        {
            assert!(asked.contains(text), "{name}: {text} is not in {asked}");
        }
    }
}

#[tokio::test]
async fn a_model_reads_issues_and_not_the_details_of_operators() {
    let wrong = |a: u8| Reply::call("math.add", format!(r#"{{"a":"{a}","b":2}}"#));
    let script = Script::new()
        .reply(wrong(1))
        .reply(wrong(1))
        .reply(wrong(2))
        .reply(Reply::call("math.add", r#"{"a":999,"b":2}"#))
        .reply(Reply::text("done"));
    let stage = stage("openai", script).await;
    let outcome = run(agent(false), planner("openai", &stage)).await;
    assert!(outcome.result().is_ok(), "{outcome:?}");
    let asked = last_request(&stage);
    for (text, times) in [
        ("the arguments of `math_add` are not valid:", 3),
        ("`/a`", 3),
        ("These are the arguments of the call before; change them.", 1),
        ("Do not call `math_add` again; try another way.", 1),
        ("sums end at 999", 1),
        ("a secret of the operator", 0),
    ] {
        assert_eq!(asked.matches(text).count(), times, "{text}: {asked}");
    }
}

#[tokio::test]
async fn an_invalid_final_answer_is_corrected() {
    let script = Script::new()
        .reply(Reply::text("It is ten."))
        .reply(Reply::call("final_answer", r#"{"total":"ten"}"#))
        .reply(Reply::call("final_answer", r#"{"total":10}"#));
    let stage = stage("anthropic", script).await;
    let outcome = run(agent(true), planner("anthropic", &stage)).await;
    assert_eq!(outcome.result().unwrap().as_str(), r#"{"total":10}"#);
    assert_eq!(stage.refusals(), Vec::<String>::new());
    let asked = last_request(&stage);
    assert!(asked.contains("If the work is done, call `final_answer`"), "{asked}");
    assert!(asked.contains("the final answer is not valid:"), "{asked}");
}

#[tokio::test]
async fn a_final_answer_that_is_never_valid_fails_the_run() {
    let wrong = Reply::call("final_answer", r#"{"total":"ten"}"#);
    let script = Script::new().reply(wrong.clone()).reply(wrong.clone()).reply(wrong);
    let stage = stage("gemini", script).await;
    let outcome = run(agent(true), planner("gemini", &stage)).await;
    let failure = outcome.result().unwrap_err();
    assert_eq!(failure.kind, FailureKind::MalformedResult);
    assert_eq!(failure.message, "the model gave no valid answer in 3 attempts");
    let detail = failure.detail.as_deref().unwrap();
    assert!(detail.starts_with("the final answer is not valid:\n`/total`: "), "{detail}");
    assert_eq!(stage.requests().len(), 3);
}

#[tokio::test]
async fn a_final_answer_beside_other_calls_waits() {
    let script = Script::new()
        .reply(
            Reply::call("math.add", r#"{"a":1,"b":2}"#).and_call("final_answer", r#"{"total":3}"#),
        )
        .reply(Reply::call("final_answer", r#"{"total":4}"#));
    let stage = stage("openai-responses", script).await;
    let outcome = run(agent(true), planner("openai-responses", &stage)).await;
    assert_eq!(outcome.result().unwrap().as_str(), r#"{"total":4}"#);
    assert_eq!(stage.refusals(), Vec::<String>::new());
    assert!(last_request(&stage).contains("call `final_answer` alone"), "{stage:?}");
}

#[tokio::test]
async fn a_native_answer_is_held_to_the_schema_by_the_provider() {
    for name in PRESETS {
        let script = Script::new()
            .reply(Reply::text(r#"{"total":"ten"}"#))
            .reply(Reply::text(r#"{"total":10}"#));
        let stage = stage(name, script).await;
        let planner = planner(name, &stage).with_output(FinalOutput::Native);
        let outcome = run(agent(true), planner).await;
        assert_eq!(outcome.result().unwrap().as_str(), r#"{"total":10}"#, "{name}");
        assert_eq!(stage.refusals(), Vec::<String>::new(), "{name}");
        let asked = &stage.requests()[0].text;
        let schemas = ["json_schema", "responseJsonSchema"];
        assert!(schemas.iter().any(|schema| asked.contains(schema)), "{name}: {asked}");
    }
}

#[tokio::test]
async fn a_prompted_answer_is_the_first_json_of_a_text() {
    let script = Script::new()
        .reply(Reply::text("It is {\"total\": true}."))
        .reply(Reply::text("So:\n```json\n{\"total\": 10}\n```"));
    let stage = stage("bedrock", script).await;
    let planner = planner("bedrock", &stage).with_output(FinalOutput::Prompted);
    let outcome = run(agent(true), planner).await;
    assert_eq!(outcome.result().unwrap().as_str(), r#"{"total": 10}"#);
    assert!(stage.requests()[0].text.contains("It must match this JSON Schema"));
}

#[tokio::test]
async fn a_final_answer_of_brackets_takes_time_in_proportion_to_its_size() {
    for output in [FinalOutput::Prompted, FinalOutput::Native] {
        for opening in ["[", "{", "[{", "{\n", "[\"é\n"] {
            let text = opening.repeat(400_000 / opening.len());
            let script = Script::new().reply(Reply::text(text));
            let stage = stage("openai", script.reply(Reply::text(r#"{"total":3}"#))).await;
            let start = Instant::now();
            run(agent(true), planner("openai", &stage).with_output(output)).await;
            // In the square of its size it would take hours.
            assert!(start.elapsed() < Duration::from_mins(2), "{output:?} {opening}");
        }
    }
}

#[tokio::test]
async fn the_name_of_a_tool_is_not_taken_for_the_final_answer() {
    let script = Script::new().reply(Reply::call("final_answer_2", r#"{"total":1}"#));
    let stage = stage("openai", script).await;
    let registry = registry();
    registry.tool("final_answer", "Answer.", async |sum: Sum| sum).unwrap();
    let agent = agent(true).with_tools(["final_answer"]);
    registry.register_agent(agent, planner("openai", &stage).into()).unwrap();
    let outcome = Runtime::new(registry).run(request()).await.unwrap();
    assert_eq!(outcome.result().unwrap().as_str(), r#"{"total":1}"#);
}

#[tokio::test]
async fn answers_that_are_empty_or_cut_off_are_asked_for_again() {
    let script = Script::new()
        .reply(Reply::nothing())
        .reply(Reply::call("math.add", r#"{"a":1,"#).and_text("So").cut_off_at_its_limit())
        .reply(Reply::text("3"));
    let stage = stage("anthropic", script).await;
    let outcome = run(agent(false), planner("anthropic", &stage)).await;
    assert_eq!(outcome.result().unwrap().as_str(), r#""3""#);
    assert_eq!(stage.refusals(), Vec::<String>::new());
    let asked = last_request(&stage);
    assert!(asked.contains("The answer was empty."), "{asked}");
    assert!(asked.contains("The answer was cut off"), "{asked}");
}

#[tokio::test]
async fn a_filter_ends_the_run() {
    let stage = stage("openai", Script::new().reply(Reply::text("No").filtered())).await;
    let outcome = run(agent(false), planner("openai", &stage)).await;
    let failure = outcome.result().unwrap_err();
    assert_eq!(
        (failure.kind, &*failure.message),
        (FailureKind::Denied, "the model was stopped by a filter")
    );
}

#[tokio::test]
async fn the_words_of_a_provider_reach_operators_only() {
    let script = Script::new().reply(Reply::status(401));
    let stage = stage("openai", script).await;
    let outcome = run(agent(false), planner("openai", &stage)).await;
    let failure = outcome.result().unwrap_err();
    assert_eq!(failure.message, "the model could not be asked");
    let detail = failure.detail.as_deref().unwrap();
    assert_eq!(detail, "the provider answered with status 401: the script says so");
}

#[tokio::test]
async fn over_a_limit_the_model_gets_one_last_question() {
    let limits = [
        Policy { max_model_calls: Some(2), ..Policy::UNLIMITED },
        Policy { max_output_tokens: Some(20), ..Policy::UNLIMITED },
        Policy { max_cost: Some(600), ..Policy::UNLIMITED },
    ];
    for policy in limits {
        for has_schema in [true, false] {
            let script = Script::new().reply(two_calls()).reply(two_calls());
            let last = if has_schema {
                Reply::call("final_answer", r#"{"total":10}"#)
            } else {
                Reply::text("10")
            };
            let script = script.reply(last);
            let stage = stage("openai", script).await;
            // 100 tokens of a question and 10 of an answer cost 300.
            let prices = Prices { input: 2_000_000, output: 10_000_000, ..Prices::default() };
            let planner = planner("openai", &stage).with_prices(prices);
            let outcome = run(agent(has_schema).with_policy(policy), planner).await;
            assert!(outcome.result().is_ok(), "{policy:?} {outcome:?}");
            let asked = last_request(&stage);
            assert!(asked.contains("call no other tool: the run has reached its"), "{asked}");
            let choice = &stage.requests()[2].body["tool_choice"];
            if has_schema {
                assert_eq!(choice["function"]["name"], "final_answer");
            } else {
                assert_eq!(choice, "none");
            }
        }
    }
}

#[tokio::test]
async fn a_model_that_goes_on_after_its_last_question_fails_the_run() {
    let script = Script::new().reply(two_calls()).reply(two_calls());
    let stage = stage("bedrock", script).await;
    let policy = Policy { max_model_calls: Some(1), ..Policy::UNLIMITED };
    let outcome = run(agent(false).with_policy(policy), planner("bedrock", &stage)).await;
    let failure = outcome.result().unwrap_err();
    let message = "the run has reached its limit of questions to the model, and the model gave no valid final answer";
    assert_eq!((failure.kind, &*failure.message), (FailureKind::Denied, message));
}

#[tokio::test]
async fn further_calls_of_one_answer_are_denied_if_only_one_is_allowed() {
    let script = Script::new().reply(two_calls()).reply(Reply::text("3"));
    let stage = stage("anthropic", script).await;
    let planner = planner("anthropic", &stage).with_one_call_at_a_time();
    let outcome = run(agent(false), planner).await;
    let denied = outcome.steps[0].calls[1].result.outcome.as_ref().unwrap_err();
    assert_eq!(denied.kind, FailureKind::Denied);
    let choice = &stage.requests()[0].body["tool_choice"];
    assert_eq!(choice["disable_parallel_tool_use"], true, "{choice}");
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_shortened_in_all_later_turns() {
    let too_long = r#"{"error":{"message":"this model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#;
    let script = Script::new()
        .reply(Reply::call("read", "{}"))
        .reply(Reply::call("math.add", r#"{"a":1,"b":2}"#))
        .reply(Reply::body(400, too_long))
        .reply(Reply::call("math.add", r#"{"a":1,"b":2}"#))
        .reply(Reply::text("3"));
    let stage = stage("openai", script).await;
    let registry = registry();
    let read = async |_: Nothing| Goal { text: "x".repeat(100_000) };
    registry.tool("read", "Read.", read).unwrap();
    let agent = agent(false).with_tools(["read"]);
    registry.register_agent(agent, planner("openai", &stage).into()).unwrap();
    let outcome = Runtime::new(registry).run(request()).await.unwrap();
    let sizes: Vec<_> = stage.requests().iter().map(|request| request.text.len()).collect();
    assert_eq!(
        outcome.result().as_ref().map(Payload::as_str),
        Ok(r#""3""#),
        "{sizes:?} {:?}",
        outcome.steps
    );
    assert!(sizes[2] > 100_000 && sizes[3] < 10_000 && sizes[4] < 10_000, "{sizes:?}");
    assert!(last_request(&stage).contains("the result was left out, 100011 bytes"));
}

/// A model with a small context: the results are far fewer than the most that stay.
#[tokio::test]
async fn a_conversation_with_few_results_is_shortened_by_half_of_them() {
    let too_long = r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#;
    let script = (0..8).fold(Script::new(), |script, _| script.reply(Reply::call("read", "{}")));
    let script = script.reply(Reply::body(400, too_long)).reply(Reply::text("done"));
    let stage = stage("openai", script).await;
    let registry = registry();
    let read = async |_: Nothing| Goal { text: "x".repeat(5_000) };
    registry.tool("read", "Read.", read).unwrap();
    let agent = agent(false).with_tools(["read"]);
    registry.register_agent(agent, planner("openai", &stage).into()).unwrap();
    let outcome = Runtime::new(registry).run(request()).await.unwrap();
    assert_eq!(outcome.result().unwrap().as_str(), r#""done""#);
    let left = last_request(&stage).matches("the result was left out").count();
    assert_eq!(left, 4);
}

/// A model that refuses strict tools.
struct TakesNoStrictTools(Client);

impl Model for TakesNoStrictTools {
    fn facts(&self) -> &ModelFacts {
        self.0.facts()
    }

    fn ask<'a>(
        &'a self,
        question: &'a Question<'a>,
        deltas: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        if question.tools.tools.iter().any(|tool| tool.is_strict) {
            let error = ModelError::StrictRefused("strict: no".to_owned());
            return Box::pin(std::future::ready(Err(error)));
        }
        self.0.ask(question, deltas)
    }
}

#[tokio::test]
async fn strict_tools_that_a_model_refuses_become_plain_ones() {
    let script = Script::new().reply(two_calls()).reply(Reply::text("done"));
    let stage = Stage::start(script.as_twin_of("anthropic-strict").unwrap()).await.unwrap();
    let client = builder("anthropic", &stage).with_dialect("anthropic-strict").build().unwrap();
    let outcome = run(agent(false), ModelPlanner::new(TakesNoStrictTools(client))).await;
    assert!(outcome.result().is_ok(), "{outcome:?}");
    let strict: Vec<_> = stage
        .requests()
        .iter()
        .map(|request| request.body["tools"][0]["strict"].as_bool().unwrap_or_default())
        .collect();
    assert_eq!(strict, [false, false]);
}

#[tokio::test]
async fn a_thinking_model_is_not_made_to_call_a_tool() {
    let extra = |key: &str, json: &str| {
        let extra = [(key.to_owned(), Payload::new(json))].into();
        Settings { extra, ..Settings::default() }
    };
    let effort = Settings { effort: Some(Effort::High), ..Settings::default() };
    let fields = "additionalModelRequestFields";
    for (name, settings, is_thinking) in [
        ("anthropic", effort, true),
        ("anthropic", extra("thinking", r#"{"type":"enabled","budget_tokens":2048}"#), true),
        ("anthropic", extra("thinking", r#"{"type":"disabled"}"#), false),
        ("anthropic", extra("top_k", "4"), false),
        ("bedrock", extra(fields, r#"{"thinking":{"type":"adaptive"}}"#), true),
        ("bedrock", extra(fields, r#"{"reasoning_config":{"type":"enabled"}}"#), true),
        ("bedrock", extra(fields, r#"{"thinking":{"type":"disabled"},"top_k":4}"#), false),
    ] {
        let script = Script::new().reply(Reply::call("final_answer", r#"{"total":10}"#));
        let stage = stage(name, script).await;
        let shown = format!("{name} {settings:?}");
        let outcome = run(agent(true), planner(name, &stage).with_settings(settings)).await;
        assert!(outcome.result().is_ok(), "{shown}: {outcome:?}");
        let body = &stage.requests()[0].body;
        let is_free = body["tool_choice"].is_null() && body["toolConfig"]["toolChoice"].is_null();
        assert_eq!(is_free, is_thinking, "{shown}: {body}");
    }
}

#[tokio::test]
async fn a_question_ends_with_the_time_of_its_run() {
    let script = Script::new().reply(Reply::text("late").after(Duration::from_secs(30)));
    let stage = stage("openai", script).await;
    let policy = Policy { time_budget: Some(Duration::from_millis(200)), ..Policy::UNLIMITED };
    let outcome = run(agent(false).with_policy(policy), planner("openai", &stage)).await;
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::Timeout);
}

#[tokio::test]
async fn steps_of_another_planner_and_of_another_model_are_read() {
    let script = Script::new().reply(two_calls());
    let first = stage("gemini", script).await;
    let registry = registry();
    registry.register_agent(agent(false), planner("gemini", &first).into()).unwrap();
    let states = Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = Arc::clone(&states);
    let keep = move |state| kept.lock().unwrap().push(state);
    let runtime = Runtime::new(registry);
    let outcome = runtime.run(request().with_checkpoints(keep)).await.unwrap();
    assert!(outcome.result().is_err(), "the script is over");

    let second = stage("anthropic", Script::new().reply(Reply::text("10"))).await;
    let registry = self::registry();
    registry.register_agent(agent(false), planner("anthropic", &second).into()).unwrap();
    let state = states.lock().unwrap().pop().unwrap();
    let outcome = Runtime::new(registry).resume(ResumeRequest::new(&state, [])).await.unwrap();
    assert_eq!(outcome.result().unwrap().as_str(), r#""10""#);
    assert_eq!(second.refusals(), Vec::<String>::new());
    let asked = last_request(&second);
    assert!(asked.contains(r#"{"a":3,"b":4}"#) && !asked.contains("I add."), "{asked}");
}
