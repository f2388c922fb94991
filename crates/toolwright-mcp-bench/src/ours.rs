//! Our side: the generated calculator, served as its users serve it.

use std::error::Error;

use calculator_service::service::CalculatorService;
use calculator_service::types::{AddPayload, AddResult};
use tokio::net::TcpListener;
use toolwright::MethodError;
use toolwright_mcp::HttpOptions;

struct Calculator;

impl CalculatorService for Calculator {
    async fn add(&self, payload: AddPayload) -> Result<AddResult, MethodError> {
        Ok(AddResult { sum: payload.a + payload.b })
    }
}

/// Serves stdio, or the listener that is given.
pub(crate) async fn serve(listener: Option<TcpListener>) -> Result<(), Box<dyn Error>> {
    let server = calculator_calc_mcp::server(Calculator)?;
    match listener {
        None => server.serve_stdio().await?,
        Some(listener) => server.serve_listener(listener, HttpOptions::new()).await?,
    }
    Ok(())
}
