//! What the official tools are pointed at, and the page that says what they found. Started by tests, by the tools
//! themselves, and by `cargo xtask mcp-conformance` in the repository's root.

mod chore;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tokio::net::TcpListener;
use toolwright::RegistrationError;
use toolwright_mcp::{HttpOptions, McpServer};
use toolwright_mcp_conformance::{client, examples, fixtures};

/// Holds MCP servers and clients against the official tools.
#[derive(Parser)]
#[command(bin_name = "toolwright-mcp-conformance")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Serve a generated server, on stdio unless told otherwise.
    Serve {
        /// Which one.
        #[arg(default_value = "fixtures")]
        server: Server,
        /// Listen on this address; the first line of standard output is the URL.
        #[arg(long)]
        http: Option<String>,
    },
    /// Be the client of a scenario of the suite.
    Client {
        /// The server that the suite offers.
        url: String,
    },
    /// Run the suite on both sides and in both eras, and write docs/mcp-conformance.md.
    Page {
        /// Write nothing; fail if the page is out of date.
        #[arg(long)]
        check: bool,
    },
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Server {
    /// The fixture tools.
    Fixtures,
    /// The worked example's calculator.
    Calc,
    /// The worked example's planner.
    Planner,
}

impl Server {
    fn build(self) -> Result<McpServer, RegistrationError> {
        match self {
            Self::Fixtures => fixtures::server(),
            Self::Calc => examples::calc(),
            Self::Planner => examples::planner(),
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Serve { server, http } => serve(server, http.as_deref()).await,
        Task::Client { url } => client::run(&url).await,
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

async fn serve(server: Server, http: Option<&str>) -> Result<(), Box<dyn Error>> {
    let server = server.build()?;
    let Some(address) = http else { return Ok(server.serve_stdio().await?) };
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    Ok(server.serve_listener(listener, HttpOptions::new()).await?)
}
