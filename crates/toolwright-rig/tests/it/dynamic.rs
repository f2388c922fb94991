//! Tools of a registry in rig, with rig's own client and the stage as the provider.

use rig_core::completion::CompletionRequest;
use rig_core::message::Message;
use rig_core::providers::openai::OpenAIConfig;
use rig_core::tool::{DynamicTool, ToolErrorKind, ToolResult as RigResult};
use rig_core::transcript::{invalid_arguments_feedback, tool_result_message, tool_result_output};
use serde_json::json;
use toolwright::{FailureKind, Payload, Recovery, ToolFailure, ToolResult, ToolSpec};
use toolwright_dialect::{Dialect, Policy, ProjectedTools};
use toolwright_model_stage::Stage;
use toolwright_runtime::{Registry, Runtime};

use crate::adapters::{cases, registry};

fn tools(registry: Registry, dialect: &str) -> Vec<DynamicTool> {
    let dialect = Dialect::find(dialect).unwrap();
    let tools = ProjectedTools::of(registry.specs(), dialect, &Policy::default());
    let runtime = Runtime::new(registry);
    let run = move |call| {
        let runtime = runtime.clone();
        async move { runtime.call(call).await }
    };
    toolwright_rig::dynamic_tools(tools, run).unwrap()
}

/// Asks until the model makes no calls, and answers calls as rig's agents do.
async fn run(stage: &Stage, dialect: &str) -> String {
    let tools = tools(registry(), dialect);
    let config = OpenAIConfig::new("none").with_base_url(stage.base());
    let model = config.client().chat("gpt-5");
    let mut request = CompletionRequest::new("Add 1 and 2.")
        .tools(tools.iter().map(DynamicTool::definition).collect());
    loop {
        let answer = model.call(request.clone()).await.unwrap();
        let mut results = Vec::new();
        for call in answer.tool_calls() {
            let (id, name) = (call.id.clone(), call.function.name.clone());
            if let Some(written) = &call.function.invalid_arguments {
                let feedback = invalid_arguments_feedback(name.as_str(), written);
                results.push(tool_result_message(id, name, feedback));
                continue;
            }
            let tool = tools.iter().find(|tool| *tool.name() == name).unwrap();
            let outcome = tool.execute(call.function.arguments_value()).await;
            let result = outcome.map_or_else(RigResult::failed, RigResult::success);
            results.push(tool_result_output(id, name, &result));
        }
        if results.is_empty() {
            return answer.text();
        }
        request.chat_history.push(answer.message().unwrap());
        request.chat_history.push(Message::User { content: results });
    }
}

#[tokio::test]
async fn a_program_passes_the_cases_of_all_adapters() {
    for dialect in ["openai-chat", "openai-chat-strict"] {
        for case in cases(dialect) {
            // Rig's agents answer these calls themselves.
            if case.name == "an unknown tool" {
                continue;
            }
            let stage = case.stage(dialect).await;
            let end = run(&stage, dialect).await;
            case.check(&stage, &end);
        }
    }
}

#[tokio::test]
async fn failures_become_errors_of_the_same_kind_without_the_details_of_operators() {
    for (kind, recovery, expected, is_retryable) in [
        (FailureKind::InvalidCall, Recovery::Replan, ToolErrorKind::InvalidArgs, false),
        (FailureKind::NotFound, Recovery::Replan, ToolErrorKind::NotFound, false),
        (FailureKind::Denied, Recovery::Finish, ToolErrorKind::PermissionDenied, false),
        (FailureKind::DomainRejection, Recovery::Replan, ToolErrorKind::Other, false),
        (FailureKind::Unavailable, Recovery::Retry, ToolErrorKind::Network, true),
        (FailureKind::RateLimited, Recovery::Retry, ToolErrorKind::RateLimited, true),
        (FailureKind::Timeout, Recovery::Replan, ToolErrorKind::Timeout, false),
        (FailureKind::Cancelled, Recovery::Replan, ToolErrorKind::Cancelled, false),
        (FailureKind::MalformedResult, Recovery::Replan, ToolErrorKind::Other, false),
        (FailureKind::Internal, Recovery::Replan, ToolErrorKind::Other, false),
    ] {
        let mut failure = ToolFailure::new(kind, "it failed", recovery).with_detail("a secret");
        failure.code = Some("broken".into());
        let spec = ToolSpec::new("fail");
        let dialect = Dialect::find("openai-chat").unwrap();
        let tools = ProjectedTools::of([&spec], dialect, &Policy::default());
        let tools = toolwright_rig::dynamic_tools(tools, move |call| {
            std::future::ready(ToolResult::new(&call, Err(failure.clone())))
        });
        let error = tools.unwrap()[0].execute(json!({})).await.unwrap_err();
        assert_eq!(error.kind(), expected, "{kind}");
        assert_eq!(error.retryable(), Some(is_retryable), "{kind}");
        assert_eq!((error.message(), error.code()), ("a secret", Some("broken")), "{kind}");
        assert_eq!(error.model_output().as_text(), Some("broken: it failed"), "{kind}");
    }
}

#[tokio::test]
async fn a_result_is_the_text_of_its_payload() {
    let payload = r#"{"n": 12345678901234567890123}"#;
    let spec = ToolSpec::new("big.number");
    let dialect = Dialect::find("openai-chat").unwrap();
    let tools = ProjectedTools::of([&spec], dialect, &Policy::default());
    let tools = toolwright_rig::dynamic_tools(tools, move |call| {
        assert_eq!(call.tool(), "big.number");
        std::future::ready(ToolResult::new(&call, Ok(Payload::new(payload))))
    });
    let tools = tools.unwrap();
    assert_eq!(tools[0].name().as_str(), "big_number");
    let output = tools[0].execute(json!({})).await.unwrap();
    assert_eq!(output.as_text(), Some(payload));
}

#[test]
fn names_that_are_equal_on_the_wire_are_refused() {
    let specs = [ToolSpec::new("math.add"), ToolSpec::new("math_add")];
    let dialect = Dialect::find("openai-chat").unwrap();
    let tools = ProjectedTools::of(&specs, dialect, &Policy::default());
    let converted = toolwright_rig::dynamic_tools(tools, |call| {
        std::future::ready(ToolResult::new(&call, Ok(Payload::new("0"))))
    });
    let error = converted.unwrap_err().to_string();
    assert!(error.contains("are both `math_add` on the wire"), "{error}");
}
