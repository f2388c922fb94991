//! The calculator that is served. Never rounds: a double is a double.

use calculator_service::service::CalculatorService;
use calculator_service::types::{AddPayload, AddResult};
use toolwright::MethodError;

/// Does sums.
pub(crate) struct Calculator;

impl CalculatorService for Calculator {
    async fn add(&self, payload: AddPayload) -> Result<AddResult, MethodError> {
        Ok(AddResult { sum: payload.a + payload.b })
    }
}
