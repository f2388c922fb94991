//! `cargo xtask soak`: makes millions of calls, some of which fail, panic or hang. Exits with 1 if a result was lost, was
//! duplicated or went to another call, if memory grew, or if slow calls slow down others.

mod load;
mod memory;
mod neighbors;
mod tools;

use std::process::ExitCode;

use clap::Parser;

/// Load the runtime and count the results.
#[derive(Parser)]
#[command(bin_name = "cargo xtask soak")]
struct Arguments {
    /// The number of calls.
    #[arg(long, default_value_t = 10_000_000)]
    calls: u64,
    /// The number of concurrent tasks that make the calls.
    #[arg(long, default_value_t = 32)]
    tasks: u64,
}

/// The maximal growth of memory after the first tenth of the calls, in MiB. A byte for each of the ten million calls would be 8.6.
const MAX_GROWTH: f64 = 1.0;

fn main() -> ExitCode {
    let Arguments { calls, tasks } = Arguments::parse();
    // Suppresses the messages of the panics, which are intended.
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: cannot start the tokio runtime: {error}");
            return ExitCode::from(3);
        }
    };
    let load = runtime.block_on(load::run(calls, tasks.max(1)));
    // A task of its own, as for any code that makes many calls: `main` is not a worker (docs/decisions/0032).
    let neighbors = runtime
        .block_on(async { tokio::spawn(neighbors::run()).await })
        .unwrap_or_else(|error| unreachable!("nothing in it panics: {error}"));
    print!("{load}{neighbors}");
    let passed = load.is_exact() && load.growth() <= MAX_GROWTH && neighbors.is_fair();
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
