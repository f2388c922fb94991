//! The calculator, as slow as its users' code may be: a sum blocks its thread for as many milliseconds as `a` says. For
//! tests.

mod serve;

use std::process::ExitCode;
use std::time::Duration;

use calculator_service::service::CalculatorService;
use calculator_service::types::{AddPayload, AddResult};
use toolwright::MethodError;

/// Does sums, one day.
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
