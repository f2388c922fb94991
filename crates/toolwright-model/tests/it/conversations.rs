//! Conversations of several runs.

use toolwright::{FailureKind, Payload};
use toolwright_model_stage::{Reply, Script, Stage};
use toolwright_runtime::{
    PastRun, Policy, ResumeRequest, RunOutcome, RunRequest, Runtime, SealKey,
};

use crate::planner::{PRESETS, agent, last_request, planner, registry, stage};

fn runtime(name: &str, stage: &Stage) -> Runtime {
    let registry = registry();
    registry.register_agent(agent(false), planner(name, stage).into()).unwrap();
    Runtime::builder(registry).with_seal_keys([SealKey::new([7; 32]).unwrap()]).build()
}

fn request(text: &str) -> RunRequest {
    RunRequest::new("counter", Payload::of(text).unwrap())
}

/// Stores a run and reads it again.
fn stored(outcome: RunOutcome) -> PastRun {
    let run = PastRun::from(outcome);
    let read = PastRun::from_json(&run.to_json()).unwrap();
    assert_eq!(read, run);
    read
}

#[tokio::test]
async fn a_model_sees_the_runs_before_on_all_wires() {
    for name in PRESETS {
        let add = || Reply::call("math.add", r#"{"a":1,"b":2}"#).with_reasoning("I add.");
        let script = Script::new()
            .reply(add())
            .reply(Reply::text("It is three."))
            .reply(add())
            .reply(Reply::text("Still three."));
        let stage = stage(name, script).await;
        let first = runtime(name, &stage).run(request("What are 1 and 2?")).await.unwrap();
        let again = request("Are you sure?").with_past([stored(first)]);
        let waiting =
            runtime(name, &stage).run(again.with_approval_of(["math.add"])).await.unwrap();
        let asked = last_request(&stage);
        let places =
            ["What are 1 and 2?", "It is three.", "Are you sure?"].map(|text| asked.find(text));
        assert!(places[0].is_some() && places.is_sorted(), "{name}: {asked}");

        // Another process resumes the second run.
        let waiting = waiting.suspended().unwrap();
        let exported = runtime(name, &stage).export(waiting).await.unwrap();
        let runtime = runtime(name, &stage);
        let waiting = runtime.restore(&exported).await.unwrap();
        let answers: Vec<_> = waiting.pending().iter().map(|question| question.approve()).collect();
        let second = runtime.resume(ResumeRequest::new(&waiting, answers)).await.unwrap();
        assert_eq!(second.decode::<String>().unwrap(), "Still three.", "{name}");
        assert!(last_request(&stage).contains("It is three."), "{name}");
        assert_eq!(stage.refusals(), Vec::<String>::new(), "{name}");
    }
}

#[tokio::test]
async fn a_model_is_told_of_a_run_without_an_answer() {
    for name in PRESETS {
        let script = Script::new()
            .reply(Reply::call("math.add", r#"{"a":1,"b":2}"#))
            .reply(Reply::call("math.add", r#"{"a":1,"b":2}"#))
            .reply(Reply::text("It is three."));
        let stage = stage(name, script).await;
        let registry = registry();
        let policy = Policy { max_model_calls: Some(1), ..Policy::UNLIMITED };
        let limited = agent(false).with_policy(policy);
        registry.register_agent(limited, planner(name, &stage).into()).unwrap();
        let failed = Runtime::new(registry).run(request("What are 1 and 2?")).await.unwrap();
        let failure = failed.result().unwrap_err();
        assert_eq!(failure.kind, FailureKind::Denied, "{name}: {failure:?}");

        let request = request("Well?").with_past([failed]);
        let outcome = runtime(name, &stage).run(request).await.unwrap();
        assert_eq!(outcome.decode::<String>().unwrap(), "It is three.", "{name}");
        assert!(last_request(&stage).contains(&failure.message), "{name}");
        assert_eq!(stage.refusals(), Vec::<String>::new(), "{name}");
    }
}

#[tokio::test]
async fn ids_of_calls_that_two_runs_have_become_different() {
    for name in PRESETS {
        let add = || Reply::call("math.add", r#"{"a":1,"b":2}"#).with_id("call_0");
        let mut past = Vec::new();
        for question in ["One and two?", "Again?"] {
            let script = Script::new().reply(add()).reply(Reply::text("Three."));
            let stage = stage(name, script).await;
            past.push(stored(runtime(name, &stage).run(request(question)).await.unwrap()));
        }
        let stage = stage(name, Script::new().reply(add()).reply(Reply::text("Three."))).await;
        let asked = request("And now?").with_past(past);
        let outcome = runtime(name, &stage).run(asked).await.unwrap();
        assert_eq!(outcome.decode::<String>().unwrap(), "Three.", "{name}");
        assert_eq!(stage.refusals(), Vec::<String>::new(), "{name}");
        let text = last_request(&stage);
        for id in ["call_0_2", "call_0"] {
            assert!(name == "gemini" || text.contains(&format!("\"{id}\"")), "{name}: {text}");
        }
    }
}
