//! Area `build-dependency`: the time to compile a build script's dependencies. A package with nothing else is compiled cold in
//! the dev profile, once with toolwright and once with the dependencies of each peer. The build script does nothing.

use std::io;

use super::workspace::{Candidate, File, Workspace};
use crate::report::Comparison;
use crate::rounds::median;

/// The number of rounds, in which all packages take turns.
const ROUNDS: usize = 3;

/// A package with the dependencies of a peer.
struct Peer {
    name: &'static str,
    workspace: Workspace,
}

/// Runs all comparisons of the area.
///
/// # Errors
///
/// Returns an error if a file cannot be written or cargo fails.
pub fn run() -> io::Result<Vec<Comparison>> {
    let repository = super::repository();
    let (folder, lock) = (tempfile::tempdir()?, repository.join("Cargo.lock"));
    let codegen = repository.join("codegen").display().to_string();
    let ours = Workspace::write(folder.path(), ours(&codegen), &lock)?;
    let mut peers = Vec::new();
    for (name, candidate) in self::peers(&codegen) {
        peers.push(Peer { name, workspace: Workspace::write(folder.path(), candidate, &lock)? });
    }
    let mut seconds = Vec::new();
    for _ in 0..ROUNDS {
        let ours = ours.compile_cold()?;
        let peers: io::Result<Vec<f64>> =
            peers.iter().map(|peer| peer.workspace.compile_cold()).collect();
        seconds.push((ours, peers?));
    }
    let our_crates = ours.count_of_dependencies()?;
    let mut all = Vec::new();
    for (at, peer) in peers.iter().enumerate() {
        let rounds: Vec<(f64, f64)> =
            seconds.iter().map(|(ours, peers)| (*ours, peers[at])).collect();
        all.push(of_time(peer.name, &rounds));
        all.push(of_crates(peer.name, our_crates, peer.workspace.count_of_dependencies()?));
    }
    Ok(all)
}

fn of_time(peer_name: &'static str, rounds: &[(f64, f64)]) -> Comparison {
    Comparison {
        name: "cold compile as a build dependency".to_owned(),
        ours: median(rounds.iter().map(|(ours, _)| *ours)),
        peer: median(rounds.iter().map(|(_, peer)| *peer)),
        peer_name,
        unit: "CPU s",
        ratio: median(rounds.iter().map(|(ours, peer)| ours / peer)),
        target: Some(1.0),
    }
}

fn of_crates(peer_name: &'static str, ours: f64, peer: f64) -> Comparison {
    let name = "crates of a build dependency".to_owned();
    Comparison { name, ours, peer, peer_name, unit: "crates", ratio: ours / peer, target: None }
}

/// A package with the dependency that the README shows for build scripts.
fn ours(codegen: &str) -> Candidate {
    candidate(
        "build-toolwright",
        &format!("toolwright-codegen = {{ path = \"{codegen}\", default-features = false }}\n"),
    )
}

/// Returns the peers with their names.
fn peers(codegen: &str) -> [(&'static str, Candidate); 3] {
    [
        (
            "prost-build and protox",
            candidate("build-prost", "prost-build = \"0.14\"\nprotox = \"0.10\"\n"),
        ),
        // The dependencies that typify's documentation lists for printing types.
        (
            "typify, syn and prettyplease",
            candidate(
                "build-typify",
                "typify = \"0.8\"\nprettyplease = \"0.2\"\nsyn = \"2\"\nserde_json = \"1\"\n",
            ),
        ),
        (
            "ours with all features",
            candidate(
                "build-toolwright-whole",
                &format!("toolwright-codegen = {{ path = \"{codegen}\" }}\n"),
            ),
        ),
    ]
}

fn candidate(name: &'static str, dependencies: &str) -> Candidate {
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [build-dependencies]\n{dependencies}"
    );
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let files = vec![
        file("Cargo.toml", &manifest),
        file("build.rs", "fn main() {}\n"),
        file("src/lib.rs", ""),
    ];
    Candidate { name, library: name, files }
}
