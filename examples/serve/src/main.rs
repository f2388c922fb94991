//! Serves the calculator of the example schema over MCP, on standard input and output or on HTTP. The generated crate has the
//! server and the schemas.

mod calculator;
mod serve;

use std::process::ExitCode;

fn main() -> ExitCode {
    serve::run(calculator_calc_mcp::server(calculator::Calculator))
}
