//! A slow calculator for tests: a call blocks its thread for `a` milliseconds.

mod serve;

use std::process::ExitCode;
use std::time::Duration;

use calculator_service::service::CalculatorService;
use calculator_service::types::{AddPayload, AddResult};
use toolwright::MethodError;

/// Adds numbers after a wait.
struct SlowCalculator;

impl CalculatorService for SlowCalculator {
    async fn add(&self, payload: AddPayload) -> Result<AddResult, MethodError> {
        std::thread::sleep(Duration::try_from_secs_f64(payload.a / 1000.0)?);
        Ok(AddResult { sum: payload.a + payload.b })
    }
}

fn main() -> ExitCode {
    serve::run(calculator_calc_mcp::server(SlowCalculator))
}
