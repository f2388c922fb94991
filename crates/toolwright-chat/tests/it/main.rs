//! Chats with agents: what is shown, and what the agents are asked.

mod interrupts;
mod terminal;

use std::io::Cursor;
use std::sync::Arc;

use expect_test::{Expect, expect};
use toolwright::spec::Approval;
use toolwright::{
    BoxError, BoxFuture, FailureKind, Payload, Recovery, ToolCall, ToolFailure, ToolSpec, described,
};
use toolwright_chat::Chat;
use toolwright_model::{Client, ModelPlanner, Preset, Prices};
use toolwright_model_stage::{Reply, Script, Stage};
use toolwright_runtime::{Agent, FunctionTool, ModelEvent, Planner, Registry, Runtime, Step, Turn};

described! {
    struct Door {
        name: String,
    }
}

/// An agent with the tools `oil`, which fails for the gate, and `open`, which needs an approval.
fn runtime(planner: impl Planner + 'static) -> Runtime {
    let registry = Registry::new();
    let oil = async |door: Door| match door.name.as_str() {
        "gate" => {
            Err(ToolFailure::new(FailureKind::DomainRejection, "no oil is left", Recovery::Replan))
        }
        _ => Ok(door),
    };
    registry.tool("oil", "Oil a door.", oil).unwrap();
    let approval =
        Approval { prompt: Some("Open the {{ args.name }}?".into()), ..Approval::default() };
    let open = ToolSpec::new("open").with_approval(approval);
    registry.register_tool(FunctionTool::new(open, async |door: Door| door)).unwrap();
    let agent = Agent::new("janitor", "lab").with_tools(["oil", "open"]);
    registry.register_agent(agent, Arc::new(planner)).unwrap();
    Runtime::new(registry)
}

/// Writes pieces of text without a pause, and then oils the shed.
struct Pieces(Vec<String>);

impl Planner for Pieces {
    fn plan<'a>(&'a self, turn: &'a Turn<'a>) -> BoxFuture<'a, Result<Step, BoxError>> {
        Box::pin(async {
            if turn.step() > 0 {
                return Ok(Step::Finish(Payload::new("null")));
            }
            self.0.iter().for_each(|piece| turn.publish(ModelEvent::Text(piece.clone())));
            Ok(Step::call([ToolCall::new("oil", Payload::new(r#"{"name":"shed"}"#))]))
        })
    }
}

async fn stage(replies: impl IntoIterator<Item = Reply>) -> (Stage, ModelPlanner) {
    let script = replies.into_iter().fold(Script::new(), Script::reply);
    let preset = Preset::find("openai").unwrap();
    let stage = Stage::start(script.as_twin_of(preset.dialect).unwrap()).await.unwrap();
    let client = Client::builder(preset, "a-model").with_base(stage.base()).with_attempts(1);
    let planner = ModelPlanner::new(client.build().unwrap());
    (stage, planner)
}

/// Returns the output of a chat, without the spaces at the ends of lines.
async fn output(runtime: Runtime, input: impl AsRef<[u8]> + Send + 'static) -> String {
    let mut output = Vec::new();
    let chat = Chat::new(runtime, "janitor");
    chat.run_with(Cursor::new(input), &mut output).await.unwrap();
    let output = String::from_utf8(output).unwrap();
    let lines: Vec<_> = output.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

async fn check(replies: impl IntoIterator<Item = Reply>, input: &'static str, expected: Expect) {
    let (stage, planner) = stage(replies).await;
    let output = output(runtime(planner), input).await;
    assert_eq!(stage.refusals(), Vec::<String>::new());
    expected.assert_eq(&output);
}

fn call(tool: &str, door: &str) -> Reply {
    Reply::call(tool, format!(r#"{{"name":"{door}"}}"#))
}

#[tokio::test]
async fn calls_and_their_results_are_shown_between_the_texts_of_the_model() {
    let replies = [
        call("oil", "gate").and_call("oil", r#"{"name":"shed"}"#).and_text("I look for oil."),
        Reply::text("Only the shed is oiled."),
    ];
    check(
        replies,
        "Oil all doors\n",
        expect![[r#"
            > I look for oil.
              oil {"name":"gate"}
              oil failed: no oil is left
              oil {"name":"shed"}
              oil -> {"name":"shed"}
            Only the shed is oiled.
              [tokens: 200 read, 20 written]
            >
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_call_that_needs_an_approval_runs_after_a_yes_only() {
    let replies = || {
        [
            call("open", "gate").and_call("open", r#"{"name":"shed"}"#),
            Reply::text("One of them is open."),
        ]
    };
    check(
        replies(),
        "Open all doors\ny\nit is night\n",
        expect![[r#"
            >   open {"name":"gate"} needs an approval
            Open the gate? [y/N, or a reason against it]   open {"name":"shed"} needs an approval
            Open the shed? [y/N, or a reason against it]   open {"name":"gate"}
              open -> {"name":"gate"}
              open was denied: it is night
            One of them is open.
              [tokens: 200 read, 20 written]
            >
        "#]],
    )
    .await;
    check(
        replies(),
        "Open all doors\n",
        expect![[r#"
            >   open {"name":"gate"} needs an approval
            Open the gate? [y/N, or a reason against it]
              not answered
              [tokens: 100 read, 10 written]
            >
        "#]],
    )
    .await;
}

/// They could move the call out of the screen, with another question below them.
#[tokio::test]
async fn long_runs_of_blanks_in_a_question_are_shown_by_their_length() {
    let blanks = format!("{}{}\u{3000}", " ".repeat(1000), "\u{a0}".repeat(99));
    let args = format!(r#"{{"name":{}"gate{blanks}Open the barn"}}"#, " ".repeat(50));
    check(
        [Reply::call("open", args), Reply::text("It is closed.")],
        "Open the gate\nn\n",
        expect![[r#"
            >   open {"name":[50 blanks]"gate[1100 blanks]Open the barn"} needs an approval
            Open the gate[1100 blanks]Open the barn? [y/N, or a reason against it]   open was denied: the call of `open` was not approved
            It is closed.
              [tokens: 200 read, 20 written]
            >
        "#]],
    )
    .await;
}

#[tokio::test]
async fn the_arguments_in_a_question_are_on_one_line() {
    check(
        [Reply::call("open", "{\n\n\"name\":\t\"gate\"\r\n}"), Reply::text("It is closed.")],
        "Open the gate\nn\n",
        expect![[r#"
            >   open {  "name": "gate"  } needs an approval
            Open the gate? [y/N, or a reason against it]   open was denied: the call of `open` was not approved
            It is closed.
              [tokens: 200 read, 20 written]
            >
        "#]],
    )
    .await;
}

#[tokio::test]
async fn an_agent_remembers_the_requests_before() {
    let replies = [call("oil", "shed"), Reply::text("Done."), Reply::text("The shed.")];
    let (stage, planner) = stage(replies).await;
    let output = output(runtime(planner), "Oil the shed\n\nWhat did you oil?\n").await;
    expect![[r#"
        >   oil {"name":"shed"}
          oil -> {"name":"shed"}
        Done.
          [tokens: 200 read, 20 written]
        > > The shed.
          [tokens: 100 read, 10 written]
        >
    "#]]
    .assert_eq(&output);
    let asked = stage.requests().pop().unwrap().text;
    for text in ["Oil the shed", r#"{\"name\":\"shed\"}"#, "Done.", "What did you oil?"] {
        assert!(asked.contains(text), "{asked}");
    }
}

#[tokio::test]
async fn a_request_that_fails_does_not_end_the_chat() {
    let replies = [Reply::status(400), Reply::text("Good morning.")];
    check(
        replies,
        "Hello\nHello?\n",
        expect![[r"
            >   failed: the model could not be asked
              detail: the provider answered with status 400: the script says so
            > Good morning.
              [tokens: 100 read, 10 written]
            >
        "]],
    )
    .await;
}

#[tokio::test]
async fn hidden_characters_do_not_reach_the_terminal() {
    let replies = [call("oil", "sh\\u001b[2Jed"), Reply::text("Done\u{1b}[2J\u{202e}.")];
    check(
        replies,
        "Oil the shed\n",
        expect![[r#"
            >   oil {"name":"sh\u001b[2Jed"}
              oil -> {"name":"sh\u001b[2Jed"}
            Done�[2J�.
              [tokens: 200 read, 20 written]
            >
        "#]],
    )
    .await;
}

#[tokio::test]
async fn the_cost_of_a_request_is_shown_if_prices_are_known() {
    let (_stage, planner) = stage([Reply::text("Hello."), Reply::text("Hello again.")]).await;
    let prices = Prices { input: 2_000_000, cache_read: 0, cache_write: 0, output: 8_000_000 };
    let output = output(runtime(planner.with_prices(prices)), "Hello\nHello\n").await;
    expect![[r"
        > Hello.
          [tokens: 100 read, 10 written, cost 0.000280]
        > Hello again.
          [tokens: 100 read, 10 written, cost 0.000280]
        >
    "]]
    .assert_eq(&output);
}

#[tokio::test]
async fn usage_that_no_model_can_have_is_shown_and_the_chat_goes_on() {
    let most = Reply::text("Hello.").with_usage(Some([u64::MAX, 1]));
    let (_stage, planner) = stage([most, Reply::text("Hello again.")]).await;
    let output = output(runtime(planner), "Hello\nHello\n").await;
    expect![[r"
        > Hello.
          [tokens: 18446744073709551615 read, 1 written]
        > Hello again.
          [tokens: 100 read, 10 written]
        >
    "]]
    .assert_eq(&output);
}

#[tokio::test]
async fn an_unknown_agent_is_an_error_with_the_nearest_name() {
    let (_stage, planner) = stage([]).await;
    let chat = Chat::new(runtime(planner), "janitr");
    let error = chat.run_with(Cursor::new(""), &mut Vec::new()).await.unwrap_err();
    expect!["there is no agent `janitr`, did you mean `janitor`?"].assert_eq(&error.to_string());
}

#[tokio::test]
async fn a_final_payload_without_a_model_is_shown() {
    let registry = Registry::new();
    let planner = toolwright_runtime::Script::new().finish(Payload::new(r#"{"done":true}"#));
    registry.register_agent(Agent::new("janitor", "lab"), planner.into()).unwrap();
    expect![[r#"
        > {"done":true}
        >
    "#]]
    .assert_eq(&output(Runtime::new(registry), "Hello\n").await);
}

#[tokio::test]
async fn no_call_is_lost_after_any_number_of_pieces_of_text() {
    let pieces = Pieces(vec!["x".to_owned(); 100_000]);
    let output = output(runtime(pieces), "Hello\n").await;
    let (text, calls) = output.split_at("> ".len() + 100_000);
    assert!(text.ends_with('x'));
    expect![[r#"

          oil {"name":"shed"}
          oil -> {"name":"shed"}
        null
        >
    "#]]
    .assert_eq(calls);
}

#[tokio::test]
async fn combining_marks_are_counted_across_pieces_of_text() {
    let pieces =
        Pieces(vec!["a\u{300}\u{300}\u{300}".to_owned(), "\u{300}".repeat(4), "\u{300}".repeat(4)]);
    let output = output(runtime(pieces), "Hello\n").await;
    let shown = format!("> a{}\u{fffd}\u{fffd}\u{fffd}\n", "\u{300}".repeat(8));
    assert!(output.starts_with(&shown), "{output:?}");
}

#[tokio::test]
async fn a_line_without_an_end_is_an_error() {
    let (_stage, planner) = stage([]).await;
    let chat = Chat::new(runtime(planner), "janitor");
    let endless = std::io::BufReader::new(std::io::repeat(b'x'));
    let error = chat.run_with(endless, &mut Vec::new()).await.unwrap_err().to_string();
    assert!(error.contains("a line of the input is longer than 16 MiB"), "{error}");
}

#[tokio::test]
async fn a_line_that_is_not_utf8_does_not_end_the_chat() {
    let replies = [Reply::text("Who?"), Reply::text("Good morning.")];
    let (stage, planner) = stage(replies).await;
    let output = output(runtime(planner), b"h\xe9llo\nHello\n").await;
    expect![[r"
        > Who?
          [tokens: 100 read, 10 written]
        > Good morning.
          [tokens: 100 read, 10 written]
        >
    "]]
    .assert_eq(&output);
    assert!(stage.requests().pop().unwrap().text.contains("h\u{fffd}llo"));
}
