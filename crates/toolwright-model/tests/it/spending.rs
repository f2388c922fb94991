//! The limits of a run with providers that report wrong tokens or none, or that break off their answers.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolwright::FailureKind;
use toolwright_model::{Client, ModelPlanner, Preset, Prices};
use toolwright_runtime::{Agent, Collector, Policy, RunEnd, RunOutcome, Runtime};

use crate::planner::{agent, registry, request, run};
use crate::server::{Reply, Server};

const PRICES: Prices =
    Prices { input: 3_000_000, cache_read: 300_000, cache_write: 3_750_000, output: 15_000_000 };

/// A stream with a call of `math.add`, but without the end.
const CALL: &str = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"math_add\",\"arguments\":\"{\\\"a\\\":1,\\\"b\\\":2}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n";

/// Returns the event with the tokens of an answer, and the end of the stream.
fn tokens(question: u32, answer: u32) -> String {
    format!(
        "data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":{question},\"completion_tokens\":{answer}}}}}\n\ndata: [DONE]\n\n"
    )
}

/// An agent with limits, and with a time budget so that no test is endless.
fn limited(policy: Policy) -> Agent {
    agent(false).with_policy(Policy { time_budget: Some(Duration::from_secs(10)), ..policy })
}

async fn run_on(server: &Server, name: &str, agent: Agent) -> RunOutcome {
    let client = Client::builder(Preset::find(name).unwrap(), "a-model");
    let client = client.with_base(&server.base).with_key("none").with_attempts(1).build().unwrap();
    run(agent, ModelPlanner::new(client).with_prices(PRICES)).await
}

/// The sum of the tokens once overflowed, which was a panic or a small number.
#[tokio::test]
async fn reported_tokens_that_overflow_become_the_most() {
    let usage = format!(
        "{{\"input_tokens\":{0},\"cache_read_input_tokens\":{0},\"cache_creation_input_tokens\":{0},\"output_tokens\":{0}}}",
        u64::MAX
    );
    let body = [
        format!("{{\"type\":\"message_start\",\"message\":{{\"model\":\"m\",\"usage\":{usage}}}}}"),
        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Yes.\"}}".to_owned(),
        "{\"type\":\"content_block_stop\",\"index\":0}".to_owned(),
        format!("{{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"end_turn\"}},\"usage\":{usage}}}"),
        "{\"type\":\"message_stop\"}".to_owned(),
    ];
    let body = body.map(|data| format!("data: {data}\n\n")).concat();
    let server = Server::start(vec![Reply::stream(body)]).await;
    let outcome = run_on(&server, "anthropic", agent(false)).await;
    assert!(matches!(outcome.end, RunEnd::Finished(_)), "{:?}", outcome.end);
}

/// An answer with a call is about 6 tokens, and a question at least 50.
#[tokio::test]
async fn tokens_that_a_provider_does_not_report_are_estimated() {
    let unreported = format!("{CALL}data: [DONE]\n\n");
    let unlimited = Policy::UNLIMITED;
    let text = "x".repeat(4000);
    let long =
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n{CALL}");
    for (name, stream, policy, most) in [
        ("cost", &unreported, Policy { max_cost: Some(1), ..unlimited }, 2),
        ("cost", &format!("{CALL}{}", tokens(0, 0)), Policy { max_cost: Some(1), ..unlimited }, 2),
        ("a cost of questions", &unreported, Policy { max_cost: Some(1000), ..unlimited }, 5),
        ("tokens", &unreported, Policy { max_output_tokens: Some(12), ..unlimited }, 4),
        (
            "no tokens",
            &format!("{CALL}{}", tokens(100, 0)),
            Policy { max_output_tokens: Some(12), ..unlimited },
            4,
        ),
        (
            "too few tokens",
            &format!("{long}{}", tokens(100, 1)),
            Policy { max_output_tokens: Some(1000), ..unlimited },
            3,
        ),
    ] {
        let server = Server::start(vec![Reply::stream(stream)]).await;
        run_on(&server, "openai", limited(policy)).await;
        let asked = server.requests().len();
        assert!((2..=most).contains(&asked), "{name}: {asked} questions, expected 2 to {most}");
    }
}

#[tokio::test]
async fn answers_that_break_off_count_for_the_limits_of_a_run() {
    let text = "x".repeat(4000);
    let broken = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let call = format!("{CALL}{}", tokens(1, 1));
    for (name, policy, expected) in [
        ("questions", Policy { max_model_calls: Some(4), ..Policy::UNLIMITED }, 5),
        ("tokens", Policy { max_output_tokens: Some(2500), ..Policy::UNLIMITED }, 5),
        ("cost", Policy { max_cost: Some(40_000), ..Policy::UNLIMITED }, 5),
    ] {
        let step = [Reply::stream(&broken), Reply::stream(&broken), Reply::stream(&call)];
        let server = Server::start(std::iter::repeat_n(step, 20).flatten().collect()).await;
        let outcome = run_on(&server, "openai", limited(policy)).await;
        assert!(matches!(outcome.end, RunEnd::Failed(_)), "{name}: {outcome:?}");
        let requests = server.requests();
        assert_eq!(requests.len(), expected, "{name}");
        assert!(requests[expected - 1].contains("the run has reached its limit of"), "{name}");
    }
}

/// Nothing of them was shown, so the client asks again by itself.
#[tokio::test]
async fn attempts_that_break_off_count_for_the_limits_of_a_run() {
    let call = format!("{CALL}{}", tokens(1, 1));
    for (name, policy, expected) in [
        ("questions", Policy { max_model_calls: Some(4), ..Policy::UNLIMITED }, 6),
        ("cost", Policy { max_cost: Some(100), ..Policy::UNLIMITED }, 4),
    ] {
        let step = [Reply::stream("data: {\"choices\":[]}\n\n"), Reply::stream(&call)];
        let server = Server::start(std::iter::repeat_n(step, 20).flatten().collect()).await;
        let client = Client::builder(Preset::find("openai").unwrap(), "a-model");
        let client = client.with_base(&server.base).with_key("none").build().unwrap();
        run(limited(policy), ModelPlanner::new(client).with_prices(PRICES)).await;
        let requests = server.requests();
        assert_eq!(requests.len(), expected, "{name}");
        assert!(requests[expected - 1].contains("the run has reached its limit of"), "{name}");
    }
}

#[tokio::test]
async fn the_tokens_of_an_attempt_that_ends_with_an_error_count_for_the_limits_of_a_run() {
    let failed = "data: {\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2000},\"error\":{\"code\":500,\"message\":\"Sorry.\"}}\n\n";
    let call = format!("{CALL}{}", tokens(1, 1));
    let replies = [failed, &call, &call].map(Reply::stream);
    let server = Server::start(replies.into()).await;
    let client = Client::builder(Preset::find("openai").unwrap(), "a-model");
    let client = client.with_base(&server.base).with_key("none").build().unwrap();
    let policy = Policy { max_output_tokens: Some(2000), ..Policy::UNLIMITED };
    run(limited(policy), ModelPlanner::new(client)).await;
    let requests = server.requests();
    assert!(requests[2].contains("the run has reached its limit of tokens"), "{requests:?}");
}

#[tokio::test]
async fn a_limit_of_cost_without_prices_fails_before_the_model_is_asked() {
    let server = Server::start(vec![Reply::stream(CALL)]).await;
    let client = Client::builder(Preset::find("openai").unwrap(), "a-model");
    let client = client.with_base(&server.base).build().unwrap();
    let policy = Policy { max_cost: Some(1), ..Policy::UNLIMITED };
    let failure = run(limited(policy), ModelPlanner::new(client)).await.result().unwrap_err();
    assert!(failure.detail.unwrap().contains("`ModelPlanner::with_prices`"));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_question_of_a_cancelled_run_ends_with_an_event() {
    let server = Server::start(vec![Reply::stream("").then_silence()]).await;
    let client = Client::builder(Preset::find("openai").unwrap(), "a-model");
    let planner = ModelPlanner::new(client.with_base(&server.base).build().unwrap());
    let (registry, events, token) = (registry(), Collector::new(), CancellationToken::new());
    registry.register_agent(agent(false), planner.into()).unwrap();
    let runtime = Runtime::builder(registry).with_events(events.clone()).build();
    let running = runtime.run(request().with_cancellation(token.clone()));
    let cancelling = async {
        while server.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(running, cancelling);
    assert_eq!(outcome.unwrap().result().unwrap_err().kind, FailureKind::Cancelled);
    let names: Vec<_> = events.events().iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(names, ["run_started", "model_asked", "model_failed", "run_finished"]);
}
