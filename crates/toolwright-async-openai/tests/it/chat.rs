//! Chat Completions.

use async_openai::types::chat::{
    ChatCompletionMessageCustomToolCall, ChatCompletionMessageToolCall,
    ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessageArgs,
    ChatCompletionRequestMessage, ChatCompletionRequestUserMessage,
    CreateChatCompletionRequestArgs, CustomTool, FunctionCall,
};
use toolwright::{FailureKind, Payload, Recovery, ToolCall, ToolFailure, ToolResult, ToolSpec};
use toolwright_async_openai::chat;
use toolwright_dialect::{Dialect, Policy, ProjectedTools};
use toolwright_model_stage::Stage;
use toolwright_runtime::Runtime;

use crate::adapters::{cases, registry};
use crate::{client, tools};

/// Asks until the model makes no calls.
async fn run(stage: &Stage, dialect: &str) -> String {
    let registry = registry();
    let tools = tools(&registry, dialect);
    let request = tools.request();
    let (client, runtime) = (client(stage), Runtime::new(registry));
    let user = ChatCompletionRequestUserMessage::from("Add 1 and 2.");
    let mut messages: Vec<ChatCompletionRequestMessage> = vec![user.into()];
    loop {
        let asked = CreateChatCompletionRequestArgs::default()
            .model("gpt-5")
            .messages(messages.clone())
            .tools(chat::tools(&request).unwrap())
            .build()
            .unwrap();
        let answer = client.chat().create(asked).await.unwrap();
        let message = answer.choices.into_iter().next().unwrap().message;
        let Some(calls) = message.tool_calls else { return message.content.unwrap_or_default() };
        let mut said = ChatCompletionRequestAssistantMessageArgs::default();
        messages.push(said.tool_calls(calls.clone()).build().unwrap().into());
        for theirs in &calls {
            let result = match chat::call(&request, theirs) {
                Ok(call) => runtime.call(call).await,
                Err(refused) => *refused,
            };
            messages.push(chat::answer(&result).into());
        }
    }
}

#[tokio::test]
async fn a_program_passes_the_cases_of_all_adapters() {
    for dialect in ["openai-chat-strict", "openai-chat", "ollama"] {
        for case in cases(dialect) {
            let stage = case.stage(dialect).await;
            let end = run(&stage, dialect).await;
            case.check(&stage, &end);
        }
    }
}

fn theirs(name: &str, arguments: &str) -> ChatCompletionMessageToolCalls {
    let function = FunctionCall { name: name.to_owned(), arguments: arguments.to_owned() };
    ChatCompletionMessageToolCall { id: "call_1".to_owned(), function }.into()
}

#[test]
fn the_arguments_of_a_call_are_the_text_that_the_model_wrote() {
    let spec = ToolSpec::new("add");
    let tools =
        ProjectedTools::of([&spec], Dialect::find("openai-chat").unwrap(), &Policy::default());
    let written = r#"{"a":1,"a":2,"b":12345678901234567890123}"#;
    let call = chat::call(&tools.request(), &theirs("add", written)).unwrap();
    assert_eq!((call.id(), call.tool(), call.args().as_str()), ("call_1", "add", written));
}

#[test]
fn a_call_of_a_custom_tool_or_one_that_was_not_offered_is_refused() {
    let tools = tools(&registry(), "openai-chat-strict");
    let custom_tool = CustomTool { name: "run".to_owned(), input: "ls".to_owned() };
    let custom = ChatCompletionMessageCustomToolCall { id: "call_1".to_owned(), custom_tool };
    let custom = ChatCompletionMessageToolCalls::Custom(custom);
    for call in [custom, theirs("run", "{}")] {
        let refused = chat::call(&tools.request(), &call).unwrap_err();
        let failure = refused.outcome.unwrap_err();
        assert_eq!((refused.call_id.as_str(), failure.kind), ("call_1", FailureKind::NotFound));
    }
}

#[test]
fn names_that_are_equal_on_the_wire_are_refused() {
    let specs = [ToolSpec::new("math.add"), ToolSpec::new("math_add")];
    let dialect = Dialect::find("openai-chat-strict").unwrap();
    let tools = ProjectedTools::of(&specs, dialect, &Policy::default());
    let error = chat::tools(&tools.request()).unwrap_err().to_string();
    assert!(error.contains("are both `math_add` on the wire"), "{error}");
}

#[test]
fn a_failure_is_answered_with_its_message_and_data() {
    let call = ToolCall::new("buy", Payload::new("{}")).with_id("call_1");
    let mut failure = ToolFailure::declared("sold_out", "no tea is left", Recovery::Replan)
        .with_detail("a secret of the operator");
    failure.data = Some(Payload::new(r#"{"left":0}"#));
    let empty = ToolFailure::new(FailureKind::Timeout, "", Recovery::Retry);
    for (outcome, expected) in [
        (Ok(Payload::new("[1]")), "[1]"),
        (Err(failure), "sold_out: no tea is left\n{\"left\":0}"),
        (Err(empty), "timeout"),
    ] {
        let message = chat::answer(&ToolResult::new(&call, outcome));
        let message = serde_json::to_value(message).unwrap();
        assert_eq!(message["content"], expected);
        assert_eq!(message["tool_call_id"], "call_1");
    }
}
