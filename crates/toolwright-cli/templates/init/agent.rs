//! Tests the agent of `agents/triager.yaml` with a stage, which plays a model from a script.

use std::sync::Arc;

use toolwright::{BoxError, Payload};
use toolwright_agents::AgentsFrom as _;
use toolwright_model::{Client, ModelPlanner, Preset};
use toolwright_model_stage::{Reply, Script, Stage};
use toolwright_runtime::{Planner, Registry, ResumeRequest, RunRequest, Runtime};

use {{ package }}::{% if parts.build_rs %}{Tracker, issues_tools}{% else %}Tracker{% endif %};

/// Runs the agent with a model that follows a script.
async fn runtime(script: Script) -> Result<(Stage, Runtime), BoxError> {
    let stage = Stage::start(script).await?;
    let client = Client::builder(Preset::find("openai")?, "gpt-5").with_base(stage.base());
    let planner: Arc<dyn Planner> = ModelPlanner::new(client.build()?).into();
    let mut registry = Registry::new();
    issues_tools::register(&mut registry, Tracker::with_issues(&["Oil the door"]))?;
    registry.agents_from("agents", |_| Arc::clone(&planner))?;
    Ok((stage, Runtime::new(registry)))
}

#[tokio::test]
async fn the_triager_asks_before_it_closes_an_issue() -> Result<(), BoxError> {
    let script = Script::new()
        .reply(Reply::call("close_issue", r#"{"id": 1}"#))
        .reply(Reply::text("It is closed."));
    let (_stage, runtime) = runtime(script).await?;
    let request = RunRequest::new("triager", Payload::of("Close this: Oil the door")?);
    let outcome = runtime.run(request).await?;

    let waiting = outcome.suspended().ok_or("it does not ask")?;
    let questions = waiting.pending();
    assert_eq!(questions[0].prompt.as_deref(), Some("Close issue 1?"));

    let answers = [questions[0].approve()];
    let outcome = runtime.resume(ResumeRequest::new(waiting, answers)).await?;
    assert_eq!(outcome.decode::<String>()?, "It is closed.");
    Ok(())
}
