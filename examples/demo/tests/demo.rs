//! Tests the output of the demo, which does not depend on time, ids or chance.

use std::process::{Command, Output};

use expect_test::expect;

fn demo(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toolwright-demo")).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// G32, G22, G30: a call of the agent's tool runs the agent, which uses the tools of two services and returns a plan.
#[test]
fn g32_the_default_goal_ends_with_a_plan() {
    let output = demo(&[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    expect![[r#"
        → 1.1  plan_session   goal: "Release version 1.0 of the command lin…, max_steps: 5
           run 2: session_planner starts to answer plan_session
              → 2.1  get_todos      (nothing)
              ← 2.1  get_todos      0 items
              → 2.2  open_page      (nothing)
              ← 2.2  open_page      page: "page_1"
              ? 2.3  update_todos   Store 5 todos?
              ! 2.3  update_todos   yes
              → 2.3  update_todos   mode: "replace", 5 items
              ↻ 2.3  update_todos   again, after unavailable: the todos cannot be stored now; try later
              ← 2.3  update_todos   5 items
              → 2.4  write_page     page: "page_1", line: "Release version 1.0 of the command lin…
              ← 2.4  write_page     lines: 1
              → 2.5  add            a: 20, b: 25
              ← 2.5  add            sum: 45
              → 2.6  add            a: 30, b: 10
              ← 2.6  add            sum: 40
              → 2.7  add            a: 45, b: 40
              ← 2.7  add            sum: 85
              → 2.8  add            a: 85, b: 15
              ← 2.8  add            sum: 100
              ? 2.9  update_todos   Store 1 todos?
              ! 2.9  update_todos   yes
              → 2.9  update_todos   mode: "merge", 1 item
              ← 2.9  update_todos   5 items
           run 2: session_planner is done
        ← 1.1  plan_session   goal: "Release version 1.0 of the command lin…, 5 steps

        Plan: Release version 1.0 of the command line tool
          1. [>] Agree on what goes in               20 min
          2. [ ] Run every test on a clean machine   25 min
          3. [ ] Write the release notes             30 min
          4. [ ] Tag and publish                     10 min
          5. [ ] Tell the users                      15 min
                 in all                             100 min
    "#]]
    .assert_eq(text(&output.stdout));
}

#[test]
fn a_recorded_model_makes_the_same_plan_over_its_real_wire() {
    let output = demo(&["--model", "stage"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), text(&demo(&[]).stdout));
}

#[test]
fn a_model_that_cannot_be_asked_is_an_error() {
    for (args, message) in [
        (&["--model", "nobody", "--name", "m"][..], "there is no"),
        (&["--model", "ollama"], "give the id of the model with `--name`"),
        (&["--model"], "expected a value after `--model`"),
        (
            &["--model", "ollama", "--name", "m", "--base-url", "http://127.0.0.1:1"],
            "the model cannot be reached",
        ),
    ] {
        let output = demo(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let error = text(&output.stderr);
        assert!(error.contains(message), "{args:?}: {error}");
    }
}

#[test]
fn the_goal_can_be_given_as_arguments() {
    let output = demo(&["Fix", "the", "crash"]);
    assert!(text(&output.stdout).contains("Plan: Fix the crash\n  1. [>] Reproduce it in a test"));
}

#[test]
fn a_goal_that_breaks_the_schema_is_an_error() {
    let output = demo(&[""]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "error: `/goal`: has 0 characters, at least 1 required\n");
}

/// Runs the demo on an engine; `None` if its server is not installed.
fn on(engine: &str) -> Option<Output> {
    let output = demo(&[engine]);
    let errors = text(&output.stderr);
    if errors.contains("server; run `cargo xtask engines") {
        toolwright_prerequisites::skip(&format!("the demo with {engine}: {errors}"));
        return None;
    }
    assert!(output.status.success(), "{errors}");
    Some(output)
}

/// Returns the plan at the end. Results of calls that run at once are in any order.
fn plan(output: &Output) -> &str {
    let text = text(&output.stdout);
    &text[text.find("Plan:").expect("there is a plan")..]
}

/// The agent's worker is killed in the middle of its run, and the next one goes on.
#[test]
fn the_plan_is_the_same_on_restate_though_a_worker_is_killed() {
    let Some(output) = on("--restate") else { return };
    assert_eq!(plan(&output), plan(&demo(&[])));
    assert!(text(&output.stdout).contains("another one starts"));
}

#[test]
fn the_plan_is_the_same_with_a_calculator_in_another_process() {
    let Some(output) = on("--nats") else { return };
    assert_eq!(plan(&output), plan(&demo(&[])));
}
