//! Searches for input that breaks a promise: changes known inputs at random, and keeps those with new outcomes. It runs on
//! stable Rust without instrumentation; the target returns the outcomes, such as the codes of findings.
//!
//! `TOOLWRIGHT_FUZZ_SECONDS` sets the time (`cargo xtask fuzz` does so). A run with it stores new inputs in `corpus/`.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The default time for each target.
const SHORT: Duration = Duration::from_secs(2);

/// The longest input. Longer input is slower and has few new outcomes.
const MAX_BYTES: usize = 8192;

/// The longest input that is stored in the corpus.
const MAX_KEPT: usize = 1024;

/// The maximum number of files in the corpus of a target.
const MAX_FILES: usize = 60;

/// A promise about any input.
pub(crate) struct Target {
    /// Its folder in the corpus.
    pub(crate) name: &'static str,
    /// The first inputs, besides the corpus.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    /// Pieces of text with a meaning in its inputs.
    pub(crate) words: &'static [&'static str],
    /// Runs an input. Returns the outcomes, and panics if the promise is broken.
    pub(crate) try_on: fn(&[u8]) -> BTreeSet<String>,
}

struct Search<'t> {
    target: &'t Target,
    known: Vec<Vec<u8>>,
    outcomes: BTreeSet<String>,
    state: u64,
}

impl Target {
    /// Searches for the time that the environment sets.
    pub(crate) fn search(&self) {
        let asked =
            std::env::var("TOOLWRIGHT_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
        let time = asked.map_or(SHORT, Duration::from_secs);
        let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| now.as_secs());
        let mut search =
            Search { target: self, known: Vec::new(), outcomes: BTreeSet::new(), state: seed };
        for input in self.corpus() {
            search.take(input);
        }
        for input in (self.seeds)() {
            search.take(input);
        }
        let (end, mut tried) = (Instant::now() + time, search.known.len());
        let mut kept = self.corpus().len();
        while Instant::now() < end {
            let input = search.changed();
            let is_long = asked.is_some();
            if search.take(input.clone()) && is_long && input.len() <= MAX_KEPT && kept < MAX_FILES
            {
                self.keep(&input);
                kept += 1;
            }
            tried += 1;
        }
        let outcomes = search.outcomes.len();
        println!("{}: {tried} inputs, {outcomes} outcomes, seed {seed}", self.name);
    }

    fn folder(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fuzz/corpus").join(self.name)
    }

    fn corpus(&self) -> Vec<Vec<u8>> {
        let entries = fs::read_dir(self.folder()).expect("the corpus can be read");
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        assert!(!paths.is_empty(), "the corpus of {} is empty", self.name);
        paths.iter().map(|path| fs::read(path).expect("a file of the corpus")).collect()
    }

    /// Stores an input in a file named after its hash (FNV-1a).
    fn keep(&self, input: &[u8]) -> PathBuf {
        let name = input.iter().fold(0xcbf2_9ce4_8422_2325, |number: u64, byte| {
            (number ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let path = self.folder().join(format!("{name:016x}"));
        fs::write(&path, input).expect("the corpus can be written");
        path
    }

    /// The outcomes of an input; `None` if it breaks the promise.
    fn outcomes(&self, input: &[u8]) -> Option<BTreeSet<String>> {
        catch_unwind(AssertUnwindSafe(|| (self.try_on)(input))).ok()
    }

    /// Shortens an input that breaks the promise: removes halves, quarters and so on while it still does.
    fn shortened(&self, input: &[u8]) -> Vec<u8> {
        // The first panic has been printed, so the others need not be.
        panic::set_hook(Box::new(|_| ()));
        let mut input = input.to_vec();
        let mut length = input.len() / 2;
        while length > 0 {
            let mut at = 0;
            while at + length <= input.len() {
                let shorter = [&input[..at], &input[at + length..]].concat();
                if self.outcomes(&shorter).is_none() { input = shorter } else { at += length }
            }
            length /= 2;
        }
        drop(panic::take_hook());
        input
    }
}

impl Search<'_> {
    fn take(&mut self, input: Vec<u8>) -> bool {
        let Some(outcomes) = self.target.outcomes(&input) else {
            let shortest = self.target.shortened(&input);
            let path = self.target.keep(&shortest);
            panic!(
                "{} breaks its promise on {}: {:?}",
                self.target.name,
                path.display(),
                String::from_utf8_lossy(&shortest)
            );
        };
        let before = self.outcomes.len();
        self.outcomes.extend(outcomes);
        let is_new = self.outcomes.len() > before;
        if is_new || self.known.is_empty() {
            self.known.push(input);
        }
        is_new
    }

    /// A number below another (SplitMix64, Steele and others 2014).
    fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 33).expect("31 bits") % end.max(1)
    }

    /// A known input with a few changes.
    fn changed(&mut self) -> Vec<u8> {
        let at = self.below(self.known.len());
        let mut input = self.known[at].clone();
        for _ in 0..=self.below(4) {
            self.change(&mut input);
        }
        input.truncate(MAX_BYTES);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let start = self.below(input.len() + 1);
        let end = (start + self.below(12)).min(input.len());
        let other = self.below(self.known.len());
        let piece: Vec<u8> = match self.below(6) {
            0 => Vec::new(),
            1 => vec![u8::try_from(self.below(256)).expect("a byte")],
            2 | 3 => self.target.words[self.below(self.target.words.len())].into(),
            4 => input[start..end].repeat(2),
            _ => {
                let length = self.known[other].len();
                let from = self.below(length + 1);
                let to = (from + self.below(60)).min(length);
                self.known[other][from..to].to_vec()
            }
        };
        let end = if self.below(2) == 0 { start } else { end };
        input.splice(start..end, piece);
    }
}
