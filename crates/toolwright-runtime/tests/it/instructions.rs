//! Instructions of toolsets for planners, through wrappers and sessions.

use std::sync::Arc;

use toolwright::{Scope, ToolSpec};
use toolwright_runtime::tools::{Combined, IntoSource};
use toolwright_runtime::{
    Agent, Planner, Registry, RunRequest, Runtime, Source, Step, ToolSpecRef, Toolset,
};

use crate::planners::rule;
use crate::state::counter;
use crate::tools::{Log, N, payload};
use crate::toys::{Toy, spec, tool};

fn expecting(expected: &'static str) -> Arc<dyn Planner> {
    rule(move |turn| {
        assert_eq!(turn.instructions(), expected);
        Ok(Step::Finish(payload(0)))
    })
}

fn toy() -> Toy {
    Toy::new("one", &Log::default())
}

/// A spec whose toolset has a description.
fn described() -> ToolSpec {
    let mut spec = spec("ask").with_types::<N, N>();
    spec.set_toolset_description("Asks people.");
    spec
}

#[tokio::test]
async fn h5_planners_get_the_instructions_of_every_kind_of_toolset() {
    let cases: [(Source, &str); 4] = [
        (toy().into_source(), "Be brief.\n\nUse one well."),
        (Source::per_step(|_: Scope| toy()), "Be brief.\n\nUse one well."),
        (
            Source::run_by_host([ToolSpecRef::from(described())]),
            "Be brief.\n\n`toys`: Asks people.",
        ),
        ((|_: Scope| counter(None)).into_source(), "Be brief."),
    ];
    for (source, expected) in cases {
        let registry = Registry::new();
        registry.register_toolset("set", source).unwrap();
        let agent = Agent::new("worker", "lab").with_toolsets(["set"]);
        registry.register_agent(agent.with_instructions("Be brief."), expecting(expected)).unwrap();
        let outcome = Runtime::new(registry).run(RunRequest::new("worker", payload(0))).await;
        outcome.unwrap().result().unwrap();
    }
}

/// H5, P1: in a session and without one.
#[tokio::test]
async fn h5_p1_planners_get_the_instructions_of_published_shared_toolsets() {
    let registry = Registry::new();
    registry.register_toolset("set", toy()).unwrap();
    registry.register_agent(Agent::new("worker", "lab"), expecting("Use one well.")).unwrap();
    let catalog = registry.catalog();
    catalog.publish("set", "x").unwrap();
    catalog.allow("worker", "set").unwrap();
    let runtime = Runtime::builder(registry).with_catalog(catalog).build();
    let request = RunRequest::new("worker", payload(0));
    runtime.run(request.clone()).await.unwrap().result().unwrap();
    let session = runtime.open_session("worker").await.unwrap();
    runtime.run(request.in_session(&session)).await.unwrap().result().unwrap();
}

#[tokio::test]
async fn h5_a_combination_has_no_duplicate_or_blank_instructions() {
    let blank = tool("mute", |n| n).with_instructions(|_| Some(" \n".into()));
    let all = Combined::new().with("one", toy()).with("blank", blank).with("again", toy());
    assert_eq!(all.instructions(&Scope::default()).await.as_deref(), Some("Use one well."));
}

#[tokio::test]
async fn a_toolset_without_text_has_no_instructions() {
    assert_eq!(counter(None).instructions(&Scope::default()).await, None);
}
