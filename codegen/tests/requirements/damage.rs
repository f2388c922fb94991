//! Compiling a randomly damaged project never panics.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use toolwright_codegen::{Options, Source, Sources, compile};

/// The default number of damaged projects. The variable `TOOLWRIGHT_DAMAGED` sets another number for a longer search.
const DAMAGED: u64 = 150;

/// Returns a pseudorandom number (SplitMix64, Steele and others 2014).
fn scrambled(seed: u64) -> usize {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    usize::try_from((z ^ (z >> 31)) >> 33).expect("31 bits")
}

fn examples() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "../schema",
        "../tests/requirements",
        "../tests/codecs",
        "../tests/real",
        "tests/cases/ok",
    ];
    let files =
        folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).into_iter().flatten());
    let paths: BTreeSet<_> = files.map(|file| file.expect("readable").path()).collect();
    let yaml = paths.iter().filter(|path| path.extension().is_some_and(|kind| kind == "yaml"));
    yaml.map(|path| fs::read_to_string(path).expect("readable")).collect()
}

/// Splits a text after each character that is not part of a word.
fn words(text: &str) -> Vec<&str> {
    text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

/// Replaces words by others of the text or by odd ones, or removes them, one to three times.
fn damaged(text: &str, seed: u64) -> String {
    let mut words = words(text);
    for turn in 0..=scrambled(seed) % 3 {
        let choice = |number: u64| {
            scrambled(seed ^ (u64::try_from(turn).expect("small") << 40) ^ (number << 50))
        };
        let at = choice(1) % words.len();
        let odd = [
            "{}", "[]", "null", "-1", "\"\"", "#", "$ref: ", "true", "1e400", "- ", "&a ", "*a ",
            ": ",
        ];
        match choice(2) % 3 {
            0 => words[at] = words[choice(3) % words.len()],
            1 => words[at] = odd[choice(4) % odd.len()],
            _ => drop(words.remove(at)),
        }
    }
    words.concat()
}

#[test]
fn no_damaged_project_panics() {
    let count =
        env::var("TOOLWRIGHT_DAMAGED").ok().and_then(|count| count.parse().ok()).unwrap_or(DAMAGED);
    let examples = examples();
    let mut compiled = 0;
    for seed in 0..count {
        let text = damaged(&examples[scrambled(!seed) % examples.len()], seed);
        let source = Source { path: "damaged.yaml".to_owned(), text };
        let sources = Sources::new(vec![source.clone()]);
        let found = std::panic::catch_unwind(|| compile(&sources, &Options::default()).is_ok());
        compiled += u64::from(found.unwrap_or_else(|_| panic!("seed {seed}:\n{}", source.text)));
    }
    assert!(compiled > 0, "no damaged project compiled, so errors may hide panics of later stages");
}
