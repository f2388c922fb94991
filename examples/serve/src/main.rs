//! The worked example's calculator as an MCP server, on standard input and output or on HTTP. Holds no
//! protocol and no schema: the generated crate brings both.

mod calculator;
mod serve;

use std::process::ExitCode;

fn main() -> ExitCode {
    serve::run(calculator_calc_mcp::server(calculator::Calculator))
}
