//! `cargo xtask torture engines` and `cargo xtask bench engines`: real servers and workers in processes of their own, which are
//! killed, paused and measured under load. Exits with 1 if a call was lost, had its effect twice, or did not end in time.

mod costs;
mod faults;
mod lab;
mod nats;
mod proxy;
mod runs;
mod simulate;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Kill, pause and measure engines and workers.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Kill and pause servers and workers under load, and count what was lost.
    Torture {
        /// The calls of each row.
        #[arg(long, default_value_t = 1000)]
        calls: usize,
        /// The runs that wait for an approval while everything is restarted.
        #[arg(long, default_value_t = 200)]
        approvals: usize,
        /// The runs that are cancelled at a random moment.
        #[arg(long, default_value_t = 500)]
        cancelled: usize,
    },
    /// Measure calls and runs.
    Bench,
    /// Simulate ten million runs a day on clusters of several sizes.
    Simulate,
    /// Serve the tools of the bench, as a process of its own.
    #[command(hide = true)]
    Worker {
        /// The port to serve.
        port: u16,
        /// The folder in which effects are recorded; without one, only the handler by the SDK alone is served.
        effects: Option<PathBuf>,
    },
    /// Serve a tool of the bench over NATS.
    #[command(hide = true)]
    NatsWorker {
        /// The URL of the server.
        server: String,
        /// The folder in which effects are recorded.
        effects: PathBuf,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let passed = match Arguments::parse().what {
        What::Worker { port, effects } => {
            worker::serve(port, effects).await;
            true
        }
        What::NatsWorker { server, effects } => {
            worker::serve_nats(&server, &effects).await;
            true
        }
        What::Torture { calls, approvals, cancelled } => {
            let faults = faults::run(calls).await;
            let nats = nats::run(calls).await;
            let runs = runs::run(approvals, cancelled).await;
            faults && nats && runs
        }
        What::Bench => costs::run().await,
        What::Simulate => {
            simulate::run();
            true
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
