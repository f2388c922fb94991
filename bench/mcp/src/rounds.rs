//! Measures the cost of a call in rounds, in which all servers take turns.

use std::io;

use crate::cpu;
use crate::driver::Transport;
use crate::report::Comparison;
use crate::servers::{Installed, Running, ServerKind};

/// The number of rounds: odd, so that one of them is the median.
const ROUNDS: usize = 7;
/// The number of rounds before the first one that is measured, for just-in-time compilers.
const WARM_UP: u32 = 2;

/// The costs of a server.
struct Costs {
    kind: ServerKind,
    /// Microseconds of processor time per call, for each round.
    rounds: Vec<f64>,
}

/// Compares toolwright with every peer over one transport.
pub(crate) async fn compare(
    installed: &Installed,
    transport: Transport,
) -> io::Result<Vec<Comparison>> {
    let mut running = Vec::new();
    for kind in ServerKind::all(transport) {
        let mut server = installed.start(*kind, transport).await?;
        for _ in 0..WARM_UP {
            cost(&mut server).await?;
        }
        running.push((server, Costs { kind: *kind, rounds: Vec::new() }));
    }
    for _ in 0..ROUNDS {
        for (server, costs) in &mut running {
            costs.rounds.push(cost(server).await?);
        }
    }
    let costs: Vec<Costs> = running.into_iter().map(|(_, costs)| costs).collect();
    let (ours, peers) =
        costs.split_first().ok_or_else(|| io::Error::other("there are no servers"))?;
    Ok(peers.iter().map(|peer| comparison(transport, ours, peer)).collect())
}

/// Makes the calls of one round; returns the server's processor time per call in microseconds.
async fn cost(server: &mut Running) -> io::Result<f64> {
    let before = cpu::used_by(server.server.process()?)?;
    let calls = server.kind.calls();
    for number in 0..calls {
        server.client.call(number).await?;
    }
    let used = cpu::used_by(server.server.process()?)?.saturating_sub(before);
    Ok(used.as_secs_f64() * 1e6 / f64::from(calls))
}

fn comparison(transport: Transport, ours: &Costs, peer: &Costs) -> Comparison {
    let ratios = ours.rounds.iter().zip(&peer.rounds).map(|(ours, peer)| ours / peer);
    Comparison {
        name: format!("mcp/call, {}", transport.name()),
        ours: median(ours.rounds.iter().copied()),
        peer: median(peer.rounds.iter().copied()),
        peer_name: peer.kind.name(),
        unit: "CPU µs",
        ratio: median(ratios),
        target: peer.kind.target(),
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
