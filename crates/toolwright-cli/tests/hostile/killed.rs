//! Kills generators at random moments, and runs many at once. The output is always one complete tree, old or new.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::project::{Tree, generator, schema, tree};

/// The number of tools of each tree.
const SIZES: [usize; 3] = [1, 20, 150];

/// The number of kills. `cargo xtask torture` sets the variable to 300.
fn kills() -> usize {
    let asked = std::env::var("TOOLWRIGHT_KILLS").ok().and_then(|count| count.parse().ok());
    asked.unwrap_or(24) / SIZES.len()
}

/// Returns a pseudorandom number (SplitMix64, Steele and others 2014).
fn scrambled(seed: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Writes two schemas. Returns their trees and the shorter of the two generation times, as other load may have delayed the longer one.
fn prepare(folder: &Path, tools: usize) -> ([Tree; 2], Duration) {
    let mut shortest = Duration::MAX;
    let trees = ["one", "other"].map(|word| {
        fs::write(folder.join(format!("{word}.yaml")), schema(tools, word)).unwrap();
        let start = Instant::now();
        let output = generator(folder, &format!("{word}.yaml")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        shortest = shortest.min(start.elapsed());
        tree(&folder.join("gen"))
    });
    assert_ne!(trees[0], trees[1]);
    (trees, shortest)
}

fn start(folder: &Path, number: usize) -> Child {
    let schema = ["one.yaml", "other.yaml"][number % 2];
    generator(folder, schema).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns the temporary files that a killed run left beside the output folder, without the record.
fn leftovers(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.starts_with('.') && name != ".toolwright")
        .collect()
}

#[test]
fn a_killed_generator_leaves_the_old_tree_or_the_new_one() {
    for tools in SIZES {
        let folder = tempfile::tempdir().unwrap();
        let (trees, shortest) = prepare(folder.path(), tools);
        let (mut in_time, mut with_leftovers, mut new) = (0, 0, 0);
        for number in 0..kills() {
            let mut child = start(folder.path(), number);
            // The delay is at most a little longer than a run, so that every moment of a run can be hit.
            let share = scrambled(number as u64) % 1100;
            std::thread::sleep(shortest * u32::try_from(share).unwrap() / 1000);
            child.kill().unwrap();
            in_time += usize::from(!child.wait().unwrap().success());
            with_leftovers += usize::from(!leftovers(folder.path()).is_empty());
            let found = tree(&folder.path().join("gen"));
            assert!(trees.contains(&found), "{tools} tools, kill {number}: a torn tree");
            new += usize::from(found == trees[number % 2]);
        }
        assert!(in_time > 0, "{tools} tools: all were done before they were killed");
        let swept = generator(folder.path(), "one.yaml").output().unwrap();
        assert!(swept.status.success(), "{}", String::from_utf8_lossy(&swept.stderr));
        assert_eq!(tree(&folder.path().join("gen")), trees[0]);
        assert_eq!(leftovers(folder.path()), Vec::<String>::new());
        let (paths, kills) = (trees[0].len(), kills());
        println!(
            "| {tools} | {paths} | {kills} | {in_time} | {with_leftovers} | {} | {new} |",
            kills - new
        );
    }
}

#[test]
fn sixteen_generators_at_once_leave_one_whole_tree() {
    let folder = tempfile::tempdir().unwrap();
    let (trees, _) = prepare(folder.path(), 20);
    for _ in 0..3 {
        let children: Vec<Child> = (0..16).map(|number| start(folder.path(), number)).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        assert!(trees.contains(&tree(&folder.path().join("gen"))), "a torn tree");
        assert_eq!(leftovers(folder.path()), Vec::<String>::new());
    }
}
