//! The rounds in which all servers take turns, and what a call cost in each. Knows no server by name.

use std::io;

use crate::cpu;
use crate::driver::Way;
use crate::report::Comparison;
use crate::sides::{Installed, Running, Side};

/// Odd, so that one of them is the median.
const ROUNDS: usize = 7;
/// How many rounds' calls are made before the first that counts: just-in-time compilers need them.
const WARM_UP: u32 = 2;

/// Microseconds of processor time a call, a round each.
struct Costs {
    side: Side,
    rounds: Vec<f64>,
}

/// Compares ours with every peer, one way of reaching them.
pub(crate) async fn compare(installed: &Installed, way: Way) -> io::Result<Vec<Comparison>> {
    let mut running = Vec::new();
    for side in Side::all(way) {
        let mut server = installed.start(*side, way).await?;
        for _ in 0..WARM_UP {
            cost(&mut server).await?;
        }
        running.push((server, Costs { side: *side, rounds: Vec::new() }));
    }
    for _ in 0..ROUNDS {
        for (server, costs) in &mut running {
            costs.rounds.push(cost(server).await?);
        }
    }
    let costs: Vec<Costs> = running.into_iter().map(|(_, costs)| costs).collect();
    let (ours, peers) = costs.split_first().ok_or_else(|| io::Error::other("nobody to compare"))?;
    Ok(peers.iter().map(|peer| comparison(way, ours, peer)).collect())
}

/// What one call costs the server, over one round.
async fn cost(server: &mut Running) -> io::Result<f64> {
    let before = cpu::used_by(server.server.process()?)?;
    let calls = server.side.calls();
    for number in 0..calls {
        server.client.call(number).await?;
    }
    let used = cpu::used_by(server.server.process()?)?.saturating_sub(before);
    Ok(used.as_secs_f64() * 1e6 / f64::from(calls))
}

fn comparison(way: Way, ours: &Costs, peer: &Costs) -> Comparison {
    let ratios = ours.rounds.iter().zip(&peer.rounds).map(|(ours, peer)| ours / peer);
    Comparison {
        name: format!("mcp/call, {}", way.name()),
        ours: median(ours.rounds.iter().copied()),
        peer: median(peer.rounds.iter().copied()),
        peer_name: peer.side.name(),
        unit: "CPU µs",
        ratio: median(ratios),
        target: peer.side.target(),
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
