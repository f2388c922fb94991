//! `cargo xtask bench mcp [--json]`: what a call costs a server's process, the client's own time apart. `cargo xtask load`:
//! what clients notice of others.

mod by_hand;
mod cpu;
mod driver;
mod load;
mod ours;
// Shared as files: as dependencies, their packages would bring a compiler, clients and other peers along, and switch on
// features that no server needs.
#[expect(unreachable_pub, reason = "it is the module of a library there")]
#[path = "../../../conformance/mcp/src/fixtures/process.rs"]
mod process;
#[expect(unreachable_pub, reason = "it is the module of a library there")]
#[path = "../../codecs/src/report.rs"]
mod report;
mod rounds;
mod sides;

use std::error::Error;
use std::process::ExitCode;
use std::{env, io};

use clap::{Parser, Subcommand, ValueEnum};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::driver::Way;
use crate::load::Load;
use crate::sides::Installed;

/// Compare MCP servers side by side.
#[derive(Parser)]
#[command(bin_name = "cargo xtask bench mcp")]
struct Arguments {
    /// Print a JSON object a line.
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Be one of the servers that are compared.
    Serve {
        side: Served,
        transport: Transport,
        /// Use a thread for each core, and not one as the bench does.
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
enum Transport {
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
    // The bench and its servers have one thread each: what a call costs is then in one place.
    let mut runtime = match &arguments.task {
        None | Some(Task::Serve { threads: false, .. }) => Builder::new_current_thread(),
        Some(Task::Serve { .. } | Task::Load(_)) => Builder::new_multi_thread(),
    };
    runtime.enable_all().build()?.block_on(async {
        match arguments.task {
            Some(Task::Serve { side, transport, .. }) => serve(side, transport).await?,
            Some(Task::Load(load)) => return Ok(load.run(&installed()?).await?),
            None => bench(arguments.json).await?,
        }
        Ok(true)
    })
}

async fn serve(side: Served, transport: Transport) -> Result<(), Box<dyn Error>> {
    let listener = match transport {
        Transport::Stdio => None,
        Transport::Http => {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("http://{}/mcp", listener.local_addr()?);
            Some(listener)
        }
    };
    match side {
        Served::Ours => ours::serve(listener).await,
        Served::ByHand => by_hand::serve(listener).await,
    }
}

async fn bench(json: bool) -> io::Result<()> {
    let installed = installed()?;
    let mut comparisons = Vec::new();
    for way in [Way::Stdio, Way::Sessions, Way::Stateless] {
        comparisons.extend(rounds::compare(&installed, way).await?);
    }
    if json {
        print!("{}", report::json_lines(&comparisons));
    } else {
        println!("{}", report::table("mcp", &comparisons));
    }
    Ok(())
}

/// The peers, installed in the target folder.
fn installed() -> io::Result<Installed> {
    let program = env::current_exe()?;
    let folder = program.ancestors().nth(2).map(|folder| folder.join("tmp"));
    let folder =
        folder.ok_or_else(|| io::Error::other("this program is not in a target folder"))?;
    Installed::under(&folder)
}
