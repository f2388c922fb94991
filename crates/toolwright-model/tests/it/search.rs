//! A planner whose model finds tools by searching.

use toolwright::{FailureKind, ToolSpec};
use toolwright_model::{ModelPlanner, ToolSearch};
use toolwright_model_stage::{Reply, Script, Stage};
use toolwright_runtime::{
    Agent, Collector, EventKind, FunctionTool, ModelEvent, Registry, RunOutcome, Runtime,
};

use crate::planner::{Goal, Nothing, Sum, agent, builder, planner, registry, request, stage};

/// A registry with `math.add` and many other tools.
fn large_registry() -> Registry {
    let registry = registry();
    for number in 0..200 {
        let name = format!("store.shelf_{number}");
        let spec = ToolSpec::new(name).with_description("Looks at a shelf of the store.");
        let look = FunctionTool::new(spec, async |_: Nothing| Goal { text: "empty".to_owned() });
        registry.register_tool(look).unwrap();
    }
    registry
}

/// An agent with all tools of the large registry.
fn clerk() -> Agent {
    clerk_of(200)
}

fn clerk_of(shelves: usize) -> Agent {
    agent(false).with_tools((0..shelves).map(|number| format!("store.shelf_{number}")))
}

async fn search(script: Script) -> (Stage, RunOutcome) {
    let stage = stage("openai", script).await;
    let registry = large_registry();
    let search = ToolSearch::above(20).with_pinned(["store.shelf_7"]);
    let planner = planner("openai", &stage).with_search(search);
    registry.register_agent(clerk(), planner.into()).unwrap();
    let outcome = Runtime::new(registry).run(request()).await.unwrap();
    assert_eq!(stage.refusals(), Vec::<String>::new());
    (stage, outcome)
}

/// Returns the names of the tools in each request.
fn offered(stage: &Stage) -> Vec<String> {
    let names = |request: &toolwright_model_stage::ReceivedRequest| {
        let tools = request.body["tools"].as_array().unwrap().iter();
        let names = tools.map(|tool| tool["function"]["name"].as_str().unwrap());
        names.collect::<Vec<_>>().join(" ")
    };
    stage.requests().iter().map(names).collect()
}

#[tokio::test]
async fn a_model_with_many_tools_searches_and_keeps_what_it_found() {
    let (stage, outcome) = search(
        Script::new()
            .reply(Reply::call("search_tools", r#"{"query":"sum of two numbers"}"#))
            .reply(Reply::call("math.add", r#"{"a":1,"b":2}"#))
            .reply(Reply::text("3")),
    )
    .await;
    assert_eq!(outcome.result().unwrap().as_str(), r#""3""#);
    let found = "store_shelf_7 math_add search_tools";
    assert_eq!(offered(&stage), ["store_shelf_7 search_tools", found, found]);
    assert!(stage.requests()[1].text.contains("Add two numbers."));
    assert_eq!(outcome.calls().count(), 1, "the search is no call of the run");
}

#[tokio::test]
async fn a_search_beside_calls_and_a_call_of_a_hidden_tool_are_answered() {
    let (stage, outcome) = search(
        Script::new()
            .reply(
                Reply::call("search_tools", r#"{"query":"add"}"#)
                    .and_call("store.shelf_9", "{}")
                    .and_call("search_tools", r#"{"query":"weather of tomorrow"}"#)
                    .and_call("search_tools", "[]"),
            )
            .reply(Reply::call("math.add", r#"{"a":1,"b":2}"#))
            .reply(Reply::text("3")),
    )
    .await;
    assert_eq!(outcome.result().unwrap().as_str(), r#""3""#);
    assert!(outcome.calls().all(|done| done.result.outcome.is_ok()), "{outcome:?}");
    assert_eq!(offered(&stage)[1], "store_shelf_7 math_add search_tools");
    let asked = &stage.requests()[1].text;
    assert!(asked.contains("no tool fits; search with other words"), "{asked}");
    assert!(asked.contains("expected an object with `query`, a text"), "{asked}");
}

#[tokio::test]
async fn a_deferred_tool_is_found_by_searching() {
    let script = Script::new()
        .reply(Reply::call("search_tools", r#"{"query":"look at the attic"}"#))
        .reply(Reply::text("done"));
    let stage = stage("openai", script).await;
    let registry = registry();
    let spec = ToolSpec::new("attic").with_description("Looks at the attic.").deferred();
    let attic = async |_: Nothing| Goal { text: "dust".to_owned() };
    registry.register_tool(FunctionTool::new(spec, attic)).unwrap();
    let planner = planner("openai", &stage).with_search(ToolSearch::above(20));
    registry.register_agent(agent(false).with_tools(["attic"]), planner.into()).unwrap();
    let outcome = Runtime::new(registry).run(request()).await.unwrap();
    assert!(outcome.result().is_ok(), "{outcome:?}");
    assert_eq!(offered(&stage), ["math_add search_tools", "math_add attic search_tools"]);
}

#[tokio::test]
async fn tools_found_first_make_room_for_others_where_a_request_has_few() {
    let find = |query: &str| Reply::call("search_tools", format!(r#"{{"query":"{query}"}}"#));
    let script = Script::new()
        .reply(find("shelf 101"))
        .reply(find("sum of two numbers"))
        .reply(find("shelf 102"))
        .reply(Reply::call("math.add", r#"{"a":1,"b":2}"#))
        .reply(find("shelf 103 104 101"))
        .reply(Reply::text("3"));
    let stage = stage("openai", script).await;
    let registry = large_registry();
    // A request in this dialect has 20 tools, and the planner's own take the room of two.
    let pinned = (0..15).map(|number| format!("store.shelf_{number}"));
    let search = ToolSearch::above(20).with_pinned(pinned);
    let client = builder("openai", &stage).with_dialect("portable").build().unwrap();
    let planner = ModelPlanner::new(client).with_search(search);
    registry.register_agent(clerk(), planner.into()).unwrap();
    let outcome = Runtime::new(registry).run(request()).await.unwrap();
    assert_eq!(outcome.result().unwrap().as_str(), r#""3""#);
    let found = |names: String| names.split(' ').skip(15).collect::<Vec<_>>().join(" ");
    let found: Vec<_> = offered(&stage).into_iter().map(found).collect();
    assert_eq!(
        found,
        [
            "search_tools",
            "store_shelf_101 search_tools",
            "store_shelf_101 math_add search_tools",
            "store_shelf_101 math_add store_shelf_102 search_tools",
            "store_shelf_101 math_add store_shelf_102 search_tools",
            "store_shelf_101 store_shelf_103 store_shelf_104 search_tools",
        ]
    );
}

#[tokio::test]
async fn too_many_tools_without_a_search_are_an_error_that_says_what_to_do() {
    let stage = stage("openai", Script::new()).await;
    let registry = large_registry();
    registry.register_agent(clerk(), planner("openai", &stage).into()).unwrap();
    let outcome = Runtime::new(registry).run(request()).await.unwrap();
    let detail = outcome.result().unwrap_err().detail.unwrap();
    assert!(detail.contains("ModelPlanner::with_search"), "{detail}");
    assert!(stage.requests().is_empty());
}

#[tokio::test]
async fn a_model_that_only_searches_fails_the_run() {
    let script = (0..11).fold(Script::new(), |script, _| {
        script.reply(Reply::call("search_tools", r#"{"query":"add"}"#))
    });
    let (stage, outcome) = search(script).await;
    assert_eq!(outcome.result().unwrap_err().kind, FailureKind::MalformedResult);
    assert_eq!(stage.requests().len(), 11);
}

#[tokio::test]
async fn a_provider_with_a_search_of_its_own_gets_all_tools_and_searches() {
    for (name, shelves) in [("anthropic", 200), ("openai-responses", 100)] {
        let script = Script::new()
            .reply(Reply::call("math.add", r#"{"a":1,"b":2}"#))
            .reply(Reply::text("3"));
        let stage = stage(name, script).await;
        let registry = large_registry();
        let search = ToolSearch::above(20).with_pinned(["store.shelf_7"]).by_provider();
        let planner = planner(name, &stage).with_search(search);
        registry.register_agent(clerk_of(shelves), planner.into()).unwrap();
        let outcome = Runtime::new(registry).run(request()).await.unwrap();
        assert_eq!(stage.refusals(), Vec::<String>::new(), "{name}");
        assert_eq!(outcome.result().unwrap().as_str(), r#""3""#, "{name}");
        for request in stage.requests() {
            let tools = request.body["tools"].as_array().unwrap();
            assert_eq!(tools.len(), shelves + 2, "{name}");
            assert!(tools[0]["type"].as_str().unwrap().starts_with("tool_search"), "{name}");
            let shown = tools[1..].iter().filter(|tool| tool["defer_loading"] != true);
            let shown: Vec<_> = shown.map(|tool| tool["name"].as_str().unwrap()).collect();
            assert_eq!(shown, ["store_shelf_7"], "{name}");
        }
    }
}

#[tokio::test]
async fn the_planner_searches_if_the_provider_cannot_or_there_are_too_many_tools_for_it() {
    for name in ["gemini", "openai-responses"] {
        let stage = stage(name, Script::new().reply(Reply::text("3"))).await;
        let registry = large_registry();
        let planner = planner(name, &stage).with_search(ToolSearch::above(20).by_provider());
        registry.register_agent(clerk(), planner.into()).unwrap();
        Runtime::new(registry).run(request()).await.unwrap();
        assert_eq!(stage.refusals(), Vec::<String>::new(), "{name}");
        assert!(stage.requests()[0].text.contains("search_tools"), "{name}");
    }
}

/// One server of tools must not take the model from the others. The names of the run differ, those that providers accept do not.
#[tokio::test]
async fn a_tool_whose_name_is_taken_on_the_wire_is_left_out() {
    let long = |end: &str| format!("{}.{end}", "a".repeat(70));
    let names =
        ["final.answer".to_owned(), "search.tools".to_owned(), long("65172"), long("93122")];
    let script = Script::new().reply(Reply::call("final_answer_2", r#"{"total":1}"#));
    let stage = stage("openai", script).await;
    let registry = registry();
    for name in names.clone() {
        registry.tool(name, "Sum.", async |sum: Sum| sum).unwrap();
    }
    let agent = agent(true).with_tools(names.clone());
    let search = ToolSearch::above(1).with_pinned(names.clone());
    let planner = planner("openai", &stage).with_search(search);
    registry.register_agent(agent, planner.into()).unwrap();
    let events = Collector::new();
    let outcome = Runtime::new(registry).run(request().with_events(events.clone())).await.unwrap();
    assert_eq!(outcome.result().unwrap().as_str(), r#"{"total":1}"#);
    let body = &stage.requests()[0].body;
    let tools = body["tools"].as_array().unwrap().iter();
    let mut offered: Vec<_> =
        tools.map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    offered.sort_unstable();
    let cut = format!("{}_271d2c50", "a".repeat(55));
    assert_eq!(
        offered,
        [&*cut, "final_answer", "final_answer_2", "search_tools", "search_tools_2"]
    );
    let events = events.take();
    let findings = events.iter().find_map(|event| match &event.kind {
        EventKind::Model(ModelEvent::Asked { findings, .. }) => Some(findings.join("\n")),
        _ => None,
    });
    let findings = findings.unwrap();
    assert!(
        findings.contains(&format!("`{}` is left out: `{}`", names[3], names[2])),
        "{findings}"
    );
}
