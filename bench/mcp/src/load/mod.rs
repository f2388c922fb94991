//! `cargo xtask load`: measures well-behaved clients of a server, alone and while other clients misbehave.

mod callers;
mod faults;
mod memory;

use std::io;
use std::time::Duration;

use clap::Args;
use tokio::time::sleep;

use callers::{Callers, Waits};
use faults::Faults;

use crate::driver::Transport;
use crate::servers::{Installed, ServerKind};

/// The time of calls before the first that is measured.
const WARM_UP: Duration = Duration::from_secs(2);

/// The duration and the size of the load.
#[derive(Args)]
pub(crate) struct Load {
    /// The seconds of load on each server: a third without faults, the rest with faults.
    #[arg(long, default_value_t = 18)]
    seconds: u64,
    /// The calls per second of all well-behaved clients together.
    #[arg(long, default_value_t = 200)]
    rate: u32,
    /// The numbers of connections to measure. Over standard streams there is one connection, and this is the number of
    /// concurrent calls.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64, 256, 1000])]
    connections: Vec<u32>,
    /// Leave out the peers.
    #[arg(long)]
    alone: bool,
}

/// The results for one server.
struct Row {
    kind: ServerKind,
    transport: Transport,
    connections: u32,
    quiet: Waits,
    beside_faults: Waits,
    /// The server's resident memory in bytes, after half of the time with faults and at its end.
    memory: [u64; 2],
}

impl Load {
    /// Prints a row for each server; returns false if a well-behaved client of toolwright got an error.
    pub(crate) async fn run(&self, installed: &Installed) -> io::Result<bool> {
        println!(
            "| server | transport | connections | calls | errors | quiet p50, ms | p99 | with faults p50, ms | p99 | memory, MiB | at the end |\n\
             |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
        );
        let peers = [ServerKind::Ours, ServerKind::ByHand, ServerKind::FastMcp];
        let servers = if self.alone { &peers[..1] } else { &peers };
        let mut is_sound = true;
        let mut first_errors = Vec::new();
        for transport in [Transport::Stateless, Transport::Sessions, Transport::Stdio] {
            for &connections in &self.connections {
                // Standard streams have one client, which does not make hundreds of concurrent calls.
                if transport == Transport::Stdio && connections > 64 {
                    continue;
                }
                for &kind in servers {
                    let row = self.row(installed, kind, transport, connections).await?;
                    is_sound &= kind != ServerKind::Ours || row.errors() == 0;
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
        kind: ServerKind,
        transport: Transport,
        connections: u32,
    ) -> io::Result<Row> {
        let server = installed.start_under_load(kind, transport).await?;
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
        // The next server should start without faults.
        sleep(Duration::from_millis(100)).await;
        Ok(Row { kind, transport, connections, quiet, beside_faults, memory })
    }
}

impl Row {
    fn errors(&self) -> usize {
        self.quiet.errors.len() + self.beside_faults.errors.len()
    }

    fn first_error(&self) -> Option<String> {
        let error = self.quiet.errors.first().or(self.beside_faults.errors.first())?;
        let Self { kind, transport, connections, .. } = self;
        Some(format!("{}, {}, {connections}: {error}", kind.name(), transport.name()))
    }

    fn to_markdown(&self) -> String {
        let Self { kind, transport, connections, quiet, beside_faults, memory } = self;
        let calls = quiet.count() + beside_faults.count();
        let [early, late] = memory.map(|bytes| bytes >> 20);
        format!(
            "| {} | {} | {connections} | {calls} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {early} | {late} |",
            kind.name(),
            transport.name(),
            self.errors(),
            quiet.quantile(0.5),
            quiet.quantile(0.99),
            beside_faults.quantile(0.5),
            beside_faults.quantile(0.99),
        )
    }
}
