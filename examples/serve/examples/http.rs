//! The smallest program that serves the calculator over HTTP.

#[path = "../src/calculator.rs"]
mod calculator;

use toolwright_mcp::HttpOptions;

#[tokio::main(worker_threads = 4)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = calculator_calc_mcp::server(calculator::Calculator)?;
    server.serve_http("127.0.0.1:8080", HttpOptions::new()).await?;
    Ok(())
}
