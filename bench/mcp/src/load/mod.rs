//! `cargo xtask load`: what well-behaved clients notice of other clients who misbehave.

mod callers;
mod faults;
mod memory;

use std::io;
use std::time::Duration;

use clap::Args;
use tokio::time::sleep;

use callers::{Callers, Waits};
use faults::Faults;

use crate::driver::Way;
use crate::sides::{Installed, Side};

/// For how long calls are made before any that count.
const WARM_UP: Duration = Duration::from_secs(2);

/// The duration of a load and its size.
#[derive(Args)]
pub(crate) struct Load {
    /// How many seconds each server is called: a third of them in quiet, the rest beside faults.
    #[arg(long, default_value_t = 18)]
    seconds: u64,
    /// How many calls a second all well-behaved clients make together.
    #[arg(long, default_value_t = 200)]
    rate: u32,
    /// How many connections they share; over standard streams there is one, and so many calls are on their way.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64, 256, 1000])]
    connections: Vec<u32>,
    /// Leave the peers out.
    #[arg(long)]
    alone: bool,
}

/// One row: a server, and what its clients noticed.
struct Row {
    side: Side,
    way: Way,
    connections: u32,
    quiet: Waits,
    beside_faults: Waits,
    /// The server's resident memory in bytes, when a third of the time with faults was over and at its end.
    memory: [u64; 2],
}

impl Load {
    /// Prints a row a server; false if a well-behaved client of ours got an error.
    pub(crate) async fn run(&self, installed: &Installed) -> io::Result<bool> {
        println!(
            "| server | transport | connections | calls | errors | quiet p50, ms | p99 | with faults p50, ms | p99 | memory, MiB | at the end |\n\
             |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
        );
        let peers = [Side::Ours, Side::ByHand, Side::FastMcp];
        let sides = if self.alone { &peers[..1] } else { &peers };
        let mut is_sound = true;
        let mut first_errors = Vec::new();
        for way in [Way::Stateless, Way::Sessions, Way::Stdio] {
            for &connections in &self.connections {
                // Standard streams have one client, who need not have a thousand calls on the way.
                if way == Way::Stdio && connections > 64 {
                    continue;
                }
                for &side in sides {
                    let row = self.row(installed, side, way, connections).await?;
                    is_sound &= side != Side::Ours || row.errors() == 0;
                    first_errors.extend(row.first_error());
                    println!("{}", row.to_markdown());
                }
            }
        }
        if !first_errors.is_empty() {
            println!("\n{}", first_errors.join("\n"));
        }
        Ok(is_sound)
    }

    async fn row(
        &self,
        installed: &Installed,
        side: Side,
        way: Way,
        connections: u32,
    ) -> io::Result<Row> {
        let server = installed.start_under_load(side, way).await?;
        let mut callers = Callers::connect(&server, connections).await?;
        callers.call(self.rate, WARM_UP).await;
        let third = Duration::from_secs(self.seconds) / 3;
        let quiet = callers.call(self.rate, third).await;
        let faults = Faults::start(&server).await?;
        let mut beside_faults = callers.call(self.rate, third).await;
        let early = memory::resident(server.process()?)?;
        beside_faults.add(callers.call(self.rate, third).await);
        let memory = [early, memory::resident(server.process()?)?];
        faults.stop();
        // Who comes next begins in quiet.
        sleep(Duration::from_millis(100)).await;
        Ok(Row { side, way, connections, quiet, beside_faults, memory })
    }
}

impl Row {
    fn errors(&self) -> usize {
        self.quiet.errors.len() + self.beside_faults.errors.len()
    }

    fn first_error(&self) -> Option<String> {
        let error = self.quiet.errors.first().or(self.beside_faults.errors.first())?;
        let Self { side, way, connections, .. } = self;
        Some(format!("{}, {}, {connections}: {error}", side.name(), way.name()))
    }

    fn to_markdown(&self) -> String {
        let Self { side, way, connections, quiet, beside_faults, memory } = self;
        let calls = quiet.count() + beside_faults.count();
        let [early, late] = memory.map(|bytes| bytes >> 20);
        format!(
            "| {} | {} | {connections} | {calls} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {early} | {late} |",
            side.name(),
            way.name(),
            self.errors(),
            quiet.quantile(0.5),
            quiet.quantile(0.99),
            beside_faults.quantile(0.5),
            beside_faults.quantile(0.99),
        )
    }
}
