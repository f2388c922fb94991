//! Services and executors for the generated servers of this repository, `gen/*/mcp/*`.

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
/// Returns an error if a tool has no executor.
pub fn calc() -> Result<McpServer, RegistrationError> {
    calculator_calc_mcp::server(Calculator)
}

/// The planner's server.
///
/// # Errors
///
/// Returns an error if a tool has no executor.
pub fn planner() -> Result<McpServer, RegistrationError> {
    planner_mcp::server(Arc::new(Planner))
}

struct Calculator;

impl CalculatorService for Calculator {
    async fn add(&self, payload: AddPayload) -> Result<AddResult, MethodError> {
        Ok(AddResult { sum: payload.a + payload.b })
    }
}

/// Returns plans without steps.
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
