//! The worked example's calculator as an MCP server, on standard input and output or on HTTP. Holds no
//! protocol and no schema: the generated crate brings both.

mod calculator;

use std::error::Error;
use std::process::ExitCode;

use tokio::net::TcpListener;
use toolwright_mcp::HttpOptions;

use crate::calculator::Calculator;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let address = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => None,
        ["--http", address] => Some(address),
        _ => {
            eprintln!("error: unknown arguments; there is `--http ADDRESS`, and stdio without it");
            return ExitCode::from(2);
        }
    };
    match serve(address).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&*error),
    }
}

/// Standard output is the protocol's, so that other words go to standard error.
async fn serve(address: Option<&str>) -> Result<(), Box<dyn Error>> {
    let server = calculator_calc_mcp::server(Calculator)?;
    let Some(address) = address else { return Ok(server.serve_stdio().await?) };
    let listener = TcpListener::bind(address).await?;
    eprintln!("serving calc at http://{}/mcp", listener.local_addr()?);
    Ok(server.serve_listener(listener, HttpOptions::new()).await?)
}

fn failed(error: &dyn Error) -> ExitCode {
    eprintln!("error: {error}");
    if let Some(cause) = error.source() {
        eprintln!("cause: {cause}");
    }
    ExitCode::FAILURE
}
