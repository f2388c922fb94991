//! `cargo xtask soak`: millions of calls, some of which fail, panic or hang. Exits 1 if a result was lost, doubled or
//! another call's, or if memory grew.

mod load;
mod memory;
mod neighbours;
mod tools;

use std::process::ExitCode;

use clap::Parser;

/// Load the runtime and count what comes back.
#[derive(Parser)]
#[command(bin_name = "cargo xtask soak")]
struct Arguments {
    /// How many calls are made.
    #[arg(long, default_value_t = 10_000_000)]
    calls: u64,
    /// How many tasks make them side by side.
    #[arg(long, default_value_t = 32)]
    tasks: u64,
}

/// The most that memory may grow after the first tenth, in percent.
const MAX_GROWTH: f64 = 5.0;

fn main() -> ExitCode {
    let Arguments { calls, tasks } = Arguments::parse();
    // A hundred thousand panics are part of the plan; nobody reads their backtraces.
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: no runtime can be had: {error}");
            return ExitCode::from(3);
        }
    };
    let load = runtime.block_on(load::run(calls, tasks.max(1)));
    let neighbours = runtime.block_on(neighbours::run());
    print!("{load}{neighbours}");
    let passed = load.is_exact() && load.growth() <= MAX_GROWTH && neighbours.is_fair();
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
