//! `cargo xtask bench mcp [--json]` measures the processor time of a call in the process of an MCP server. `cargo xtask load`
//! measures how well servers serve clients while others misbehave.

mod by_hand;
mod cpu;
mod driver;
mod load;
mod ours;
// These two files are included instead of their packages, whose other dependencies would turn on features that no server
// needs.
#[expect(unreachable_pub, reason = "the file is a module of a library")]
#[path = "../../../conformance/mcp/src/fixtures/process.rs"]
mod process;
#[expect(unreachable_pub, reason = "the file is a module of a library")]
#[path = "../../codecs/src/report.rs"]
mod report;
mod rounds;
mod servers;

use std::error::Error;
use std::process::ExitCode;
use std::{env, io};

use clap::{Parser, Subcommand, ValueEnum};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::driver::Transport;
use crate::load::Load;
use crate::servers::Installed;

/// Compare MCP servers.
#[derive(Parser)]
#[command(bin_name = "cargo xtask bench mcp")]
struct Arguments {
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Run one of the servers that are compared.
    Serve {
        kind: Served,
        endpoint: Endpoint,
        /// Use a thread for each core instead of one thread.
        #[arg(long)]
        threads: bool,
    },
    /// Put servers under load.
    Load(Load),
}

#[derive(Clone, Copy, ValueEnum)]
enum Served {
    Ours,
    ByHand,
}

#[derive(Clone, Copy, ValueEnum)]
enum Endpoint {
    Stdio,
    Http,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}

fn run(arguments: Arguments) -> Result<bool, Box<dyn Error>> {
    // The benchmark and its servers use one thread each, so that the whole cost of a call is in that thread.
    let mut runtime = match &arguments.task {
        None | Some(Task::Serve { threads: false, .. }) => Builder::new_current_thread(),
        Some(Task::Serve { .. } | Task::Load(_)) => Builder::new_multi_thread(),
    };
    runtime.enable_all().build()?.block_on(async {
        match arguments.task {
            Some(Task::Serve { kind, endpoint, .. }) => serve(kind, endpoint).await?,
            Some(Task::Load(load)) => return Ok(load.run(&installed()?).await?),
            None => bench(arguments.json).await?,
        }
        Ok(true)
    })
}

async fn serve(kind: Served, endpoint: Endpoint) -> Result<(), Box<dyn Error>> {
    let listener = match endpoint {
        Endpoint::Stdio => None,
        Endpoint::Http => {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("http://{}/mcp", listener.local_addr()?);
            Some(listener)
        }
    };
    match kind {
        Served::Ours => ours::serve(listener).await,
        Served::ByHand => by_hand::serve(listener).await,
    }
}

async fn bench(json: bool) -> io::Result<()> {
    let installed = installed()?;
    let mut comparisons = Vec::new();
    for transport in [Transport::Stdio, Transport::Sessions, Transport::Stateless] {
        comparisons.extend(rounds::compare(&installed, transport).await?);
    }
    if json {
        print!("{}", report::json_lines(&comparisons));
    } else {
        println!("{}", report::table("mcp", &comparisons));
    }
    Ok(())
}

/// Installs the peers in the target folder.
fn installed() -> io::Result<Installed> {
    let program = env::current_exe()?;
    let folder = program.ancestors().nth(2).map(|folder| folder.join("tmp"));
    let folder =
        folder.ok_or_else(|| io::Error::other("this program is not in a target folder"))?;
    Installed::under(&folder)
}
