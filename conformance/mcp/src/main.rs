//! The program with the servers and the client under test, which also writes the page with the results. It is started by
//! tests, by the official tools, and by `cargo xtask mcp-conformance` in the repository's root.

mod chore;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tokio::net::TcpListener;
use toolwright::RegistrationError;
use toolwright_mcp::{HttpOptions, McpServer};
use toolwright_mcp_conformance::{client, examples, fixtures};

/// Tests MCP servers and clients with the official tools.
#[derive(Parser)]
#[command(bin_name = "toolwright-mcp-conformance")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Serve a generated server, on stdio by default.
    Serve {
        /// The server.
        #[arg(default_value = "fixtures")]
        server: Server,
        /// Serve HTTP on this address; the first line of standard output is the URL.
        #[arg(long)]
        http: Option<String>,
    },
    /// Be the client of a scenario of the suite.
    Client {
        /// The URL of the suite's server.
        url: String,
    },
    /// Run the suite for server and client and for both revisions, and write docs/mcp-conformance.md.
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
    /// The calculator of the examples.
    Calc,
    /// The planner of the examples.
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
