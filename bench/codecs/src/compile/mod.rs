//! Area `compile`: what 100 tools with 700 types cost to compile, ours and with serde's derive. Needs Linux.
//!
//! Processor time is counted, as time on the wall depends on what else the machine does. Dependencies are compiled
//! before, and without incremental compilation.

pub mod build_dependency;
mod derived;
mod ours;
mod shapes;
mod workspace;

use std::io;
use std::path::Path;

use crate::report::Comparison;
use crate::rounds::median;
use workspace::Workspace;

/// How often each step is measured.
const ROUNDS: usize = 3;

/// A step that is measured.
struct Step {
    what: &'static str,
    arguments: &'static [&'static str],
    /// Compiles the program too, not the library alone.
    program: bool,
    target: f64,
}

const STEPS: [Step; 3] = [
    Step { what: "check", arguments: &["check"], program: false, target: 0.4 },
    Step { what: "debug build", arguments: &["build"], program: false, target: 0.55 },
    Step {
        what: "release library and binary",
        arguments: &["build", "--release"],
        program: true,
        target: 0.4,
    },
];

/// All comparisons of the area.
///
/// # Errors
///
/// When a file cannot be written or cargo fails.
pub fn run() -> io::Result<Vec<Comparison>> {
    let repository = repository();
    let folder = tempfile::tempdir()?;
    let lock = repository.join("Cargo.lock");
    let ours = Workspace::write(folder.path(), ours::side(repository), &lock)?;
    let derived = Workspace::write(folder.path(), derived::side(), &lock)?;
    let mut all = Vec::new();
    for step in &STEPS {
        all.push(compare(step, &ours, &derived)?);
    }
    all.push(sizes(&ours, &derived)?);
    Ok(all)
}

/// The folder of the workspace: two above this crate's own.
fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

fn compare(step: &Step, ours: &Workspace, derived: &Workspace) -> io::Result<Comparison> {
    // Once for the dependencies.
    build(step, ours)?;
    build(step, derived)?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push((rebuild(step, ours)?, rebuild(step, derived)?));
    }
    Ok(Comparison {
        name: format!("{}, 700 types", step.what),
        ours: median(rounds.iter().map(|(ours, _)| *ours)),
        peer: median(rounds.iter().map(|(_, peer)| *peer)),
        peer_name: "serde derive",
        unit: "CPU s",
        ratio: median(rounds.iter().map(|(ours, peer)| ours / peer)),
        target: Some(step.target),
    })
}

/// Compiles what is not yet compiled.
fn build(step: &Step, side: &Workspace) -> io::Result<f64> {
    let packages = packages(step, side);
    let mut arguments = step.arguments.to_vec();
    arguments.extend(workspace::named(&packages));
    side.cargo(&arguments)
}

/// Compiles anew what is generated, and nothing else.
fn rebuild(step: &Step, side: &Workspace) -> io::Result<f64> {
    side.clean(&packages(step, side))?;
    build(step, side)
}

fn packages(step: &Step, side: &Workspace) -> Vec<&'static str> {
    if step.program { vec![side.library, "program"] } else { vec![side.library] }
}

fn sizes(ours: &Workspace, derived: &Workspace) -> io::Result<Comparison> {
    let kilobytes = |bytes: u64| f64::from(u32::try_from(bytes / 1000).unwrap_or(u32::MAX));
    let (ours, peer) = (kilobytes(ours.binary_size()?), kilobytes(derived.binary_size()?));
    Ok(Comparison {
        name: "stripped binary, 700 types".to_owned(),
        ours,
        peer,
        peer_name: "serde derive",
        unit: "kB",
        ratio: ours / peer,
        target: Some(0.55),
    })
}
