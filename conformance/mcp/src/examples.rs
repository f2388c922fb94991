//! What runs the tools of the repository's own generated servers, `gen/*/mcp/*`. Never a server by itself.

use std::sync::Arc;

use calculator_service::service::CalculatorService;
use calculator_service::types::{AddPayload, AddResult};
use planning_tools::specs;
use planning_tools::types::Plan;
use toolwright::{BoxFuture, Executor, MethodError, RegistrationError, ToolCall, ToolResult};
use toolwright_mcp::McpServer;

/// The calculator's server.
///
/// # Errors
///
/// A tool that nothing runs.
pub fn calc() -> Result<McpServer, RegistrationError> {
    calculator_calc_mcp::server(Calculator)
}

/// The planner's server.
///
/// # Errors
///
/// A tool that nothing runs.
pub fn planner() -> Result<McpServer, RegistrationError> {
    planner_mcp::server(Arc::new(Planner))
}

struct Calculator;

impl CalculatorService for Calculator {
    async fn add(&self, payload: AddPayload) -> Result<AddResult, MethodError> {
        Ok(AddResult { sum: payload.a + payload.b })
    }
}

/// Plans nothing: a goal with no steps is a plan.
struct Planner;

impl Executor for Planner {
    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        match call.tool() {
            "plan_session" => call.run(specs::PlanSession, async move |input| {
                Ok(Plan { goal: input.goal, steps: Vec::new() })
            }),
            _ => call.not_found(specs::ALL),
        }
    }
}
