//! The worked example's calculator as an MCP server on standard input and output. Holds no protocol
//! and no schema: the generated crate brings both.

mod calculator;

use std::process::ExitCode;

use crate::calculator::Calculator;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let server = match calculator_calc_mcp::server::server(Calculator) {
        Ok(server) => server,
        Err(error) => return failed(&error),
    };
    match server.serve_stdio().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

/// Standard output is the protocol's, so errors go to standard error.
fn failed(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("error: {error}");
    if let Some(cause) = error.source() {
        eprintln!("cause: {cause}");
    }
    ExitCode::FAILURE
}
