//! Tests the database in runs that follow a script.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use toolwright::{Payload, ToolCall};
use toolwright_runtime::{
    Agent, Registry, RunOutcome, RunRequest, Runtime, Script, Step, Turn, testing,
};
use toolwright_sqlite_example::{Database, Pool};

/// Runs an agent that begins a transaction, inserts a row and, if `commits`, commits.
async fn run(pool: &Arc<Pool>, commits: bool) -> RunOutcome {
    let pool = Arc::clone(pool);
    let registry = Registry::new();
    registry.register_toolset("db", move |_| Database::new(&pool)).unwrap();
    let mut script =
        Script::new().call([ToolCall::new("begin", Payload::new("{}"))]).then(|turn| {
            Ok(with_txn(turn, "execute", r#","sql":"INSERT INTO notes VALUES ('kept')""#))
        });
    if commits {
        script = script.then(|turn| Ok(with_txn(turn, "commit", "")));
    }
    let agent = Agent::new("scribe", "db").with_toolsets(["db"]);
    registry.register_agent(agent, Arc::new(script.finish(Payload::new("{}")))).unwrap();
    Runtime::new(registry).run(RunRequest::new("scribe", Payload::new("{}"))).await.unwrap()
}

/// A call with the handle from the first step.
fn with_txn(turn: &Turn<'_>, tool: &str, more: &str) -> Step {
    let opened = turn.history()[0].calls[0].result.outcome.as_ref().unwrap().to_string();
    let args = format!("{}{more}}}", opened.trim_end_matches('}'));
    Step::call([ToolCall::new(tool, Payload::new(args))])
}

fn notes(path: &Path) -> i64 {
    let connection = Connection::open(path).unwrap();
    connection.query_row("SELECT count(*) FROM notes", [], |row| row.get(0)).unwrap()
}

/// I4, I5: an open transaction is rolled back when its run ends, and its connection returns to the pool.
#[tokio::test]
async fn i4_i5_an_open_transaction_is_rolled_back_and_its_connection_returns_to_the_pool() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE notes (text)").unwrap();
    let pool = Pool::new(&path);
    for (commits, expected) in [(false, 0), (true, 1), (false, 1), (true, 2)] {
        let outcome = run(&pool, commits).await;
        assert!(outcome.calls().all(|record| record.result.outcome.as_ref().is_ok()));
        assert_eq!(notes(&path), expected);
        assert_eq!(pool.idle(), 1, "each run reuses the connection");
    }
}

/// I2, I4: a handle of another run is unknown.
#[tokio::test]
async fn i2_i4_a_handle_of_another_run_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let pool = Pool::new(folder.path().join("notes.db"));
    let tools = testing::toolset(move |_| Database::new(&pool));
    let failure = tools.call("commit", r#"{"txn":"txn_01234567"}"#).await.unwrap_err();
    assert_eq!(failure.message, "unknown transaction: txn_01234567");
}
