//! What the official tools are pointed at, and the page that says what they found. Started by tests, by the tools
//! themselves, and by `cargo xtask mcp-conformance` in the repository's root.

mod chore;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tokio::net::TcpListener;
use toolwright_mcp::HttpOptions;
use toolwright_mcp_conformance::fixtures;

/// Holds MCP servers and clients against the official tools.
#[derive(Parser)]
#[command(bin_name = "toolwright-mcp-conformance")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Serve the fixture tools, on stdio unless told otherwise.
    Serve {
        /// Listen on this address; the first line of standard output is the URL.
        #[arg(long)]
        http: Option<String>,
    },
    /// Run the suite on both sides and in both eras, and write docs/mcp-conformance.md.
    Page {
        /// Write nothing; fail if the page is out of date.
        #[arg(long)]
        check: bool,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Serve { http } => serve(http.as_deref()).await,
        Task::Page { check } => return chore::run(check),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(http: Option<&str>) -> Result<(), Box<dyn Error>> {
    let server = fixtures::server()?;
    let Some(address) = http else { return Ok(server.serve_stdio().await?) };
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    Ok(server.serve_listener(listener, HttpOptions::new()).await?)
}
