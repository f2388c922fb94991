//! Spans according to the OpenTelemetry conventions for generative AI. They hold payloads only if the host opts in.

use toolwright::spec::Implementation;
use toolwright::{Payload, ToolCall, ToolFailure};
use tracing::{Span, field};

use crate::agent::Agent;
use crate::tools::ToolEntry;

/// Creates the span of a run: `invoke_agent {name}`.
pub(crate) fn agent_span(agent: &Agent, run_id: &str, session_id: Option<&str>) -> Span {
    tracing::info_span!(
        "invoke_agent",
        otel.name = format!("invoke_agent {}", agent.name),
        otel.kind = "internal",
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = agent.name,
        gen_ai.agent.description = agent.description,
        gen_ai.conversation.id = session_id,
        toolwright.run.id = run_id,
        error.type = field::Empty,
    )
}

/// Creates the span of a call: `execute_tool {name}`. It has arguments and result only if content is recorded. Attributes that
/// the conventions do not define begin with `toolwright`.
pub(crate) fn tool_span(call: &ToolCall, tool: &ToolEntry, content: bool) -> Span {
    let spec = tool.spec();
    // The conventions for MCP ask for this instead of a second span. The server's span has the method, too.
    let method =
        matches!(spec.implementation(), Implementation::Mcp { .. }).then_some("tools/call");
    let (implementation, implemented_by) = match spec.implementation() {
        Implementation::Method { method, .. } => ("method", Some(&**method)),
        Implementation::Agent { agent, .. } => ("agent", Some(&**agent)),
        Implementation::Mcp { server } => ("mcp", Some(&**server)),
        Implementation::External => ("external", None),
    };
    // A tool that is registered without a toolset has neither.
    let [toolset, service] =
        [spec.toolset(), spec.service()].map(|name| (!name.is_empty()).then_some(name));
    tracing::info_span!(
        "execute_tool",
        otel.name = format!("execute_tool {}", tool.name()),
        otel.kind = "internal",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool.name(),
        gen_ai.tool.call.id = call.id(),
        gen_ai.tool.description = spec.description(),
        gen_ai.tool.r#type = "function",
        gen_ai.tool.call.arguments = content.then(|| call.args().as_str()),
        gen_ai.tool.call.result = field::Empty,
        mcp.method.name = method,
        toolwright.run.id = call.run_id(),
        toolwright.toolset.name = toolset,
        toolwright.service.name = service,
        toolwright.implementation.kind = implementation,
        toolwright.implementation.name = implemented_by,
        error.type = field::Empty,
    )
}

/// Records the outcome of a call in its span.
pub(crate) fn record(span: &Span, outcome: Result<&Payload, &ToolFailure>, content: bool) {
    match outcome {
        Ok(payload) if content => {
            span.record("gen_ai.tool.call.result", payload.as_str());
        }
        Ok(_) => {}
        Err(failure) => {
            span.record("error.type", failure.kind.as_str());
        }
    }
}
