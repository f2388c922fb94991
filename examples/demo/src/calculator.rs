//! The calculator service of the demo.

use calculator_service::service::CalculatorService;
use calculator_service::types::{AddPayload, AddResult};
use toolwright::MethodError;

/// Adds numbers.
pub(crate) struct Calculator;

impl CalculatorService for Calculator {
    async fn add(&self, payload: AddPayload) -> Result<AddResult, MethodError> {
        Ok(AddResult { sum: payload.a + payload.b })
    }
}
