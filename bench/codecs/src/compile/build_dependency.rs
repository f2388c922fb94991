//! Area `build-dependency`: what a build script's dependency costs those who name it. A package of nothing else, compiled
//! cold in the dev profile, ours beside what a user of the peer names there. Never what the build script then does.

use std::io;

use super::workspace::{File, Side, Workspace};
use crate::report::Comparison;
use crate::rounds::median;

/// How often each side is compiled; all take turns.
const ROUNDS: usize = 3;

/// Who else is compiled.
struct Peer {
    name: &'static str,
    workspace: Workspace,
}

/// All comparisons of the area.
///
/// # Errors
///
/// When a file cannot be written or cargo fails.
pub fn run() -> io::Result<Vec<Comparison>> {
    let repository = super::repository();
    let (folder, lock) = (tempfile::tempdir()?, repository.join("Cargo.lock"));
    let codegen = repository.join("codegen").display().to_string();
    let ours = Workspace::write(folder.path(), ours(&codegen), &lock)?;
    let mut peers = Vec::new();
    for (name, side) in self::peers(&codegen) {
        peers.push(Peer { name, workspace: Workspace::write(folder.path(), side, &lock)? });
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

/// The package as the README has it for build scripts.
fn ours(codegen: &str) -> Side {
    side(
        "build-toolwright",
        &format!("toolwright-codegen = {{ path = \"{codegen}\", default-features = false }}\n"),
    )
}

/// The peers, and their names.
fn peers(codegen: &str) -> [(&'static str, Side); 3] {
    [
        (
            "prost-build and protox",
            side("build-prost", "prost-build = \"0.14\"\nprotox = \"0.10\"\n"),
        ),
        // What typify's documentation asks for to print the types.
        (
            "typify, syn and prettyplease",
            side(
                "build-typify",
                "typify = \"0.8\"\nprettyplease = \"0.2\"\nsyn = \"2\"\nserde_json = \"1\"\n",
            ),
        ),
        (
            "ours with all features",
            side(
                "build-toolwright-whole",
                &format!("toolwright-codegen = {{ path = \"{codegen}\" }}\n"),
            ),
        ),
    ]
}

fn side(name: &'static str, dependencies: &str) -> Side {
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
    Side { name, library: name, files }
}
