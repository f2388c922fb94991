//! What a run counts for its limits, with providers that report wrong tokens, none, or break off.

use toolwright_model::{Client, ModelPlanner, Preset, Prices};
use toolwright_runtime::{Agent, RunEnd, RunOutcome};

use crate::planner::{agent, run};
use crate::server::{Reply, Server};

const PRICES: Prices =
    Prices { input: 3_000_000, cache_read: 300_000, cache_write: 3_750_000, output: 15_000_000 };

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
