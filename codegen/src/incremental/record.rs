//! The record of a run as text: a line for each schema file, each crate and each generated file, and a hash of it all at
//! the end, so that a damaged record is told from a whole one.
//!
//! By hand, because a JSON library would be all that a build script compiles for this.

use std::fmt::Write as _;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_128;

/// What a run leaves for the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// A hash of the program that generated and of its options.
    pub(super) generator: u128,
    /// Every schema file, in path order.
    pub(super) sources: Vec<SourceFile>,
    /// Every crate.
    pub(super) crates: Vec<GeneratedCrate>,
}

/// A schema file as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceFile {
    pub(super) path: String,
    /// A hash of its text.
    pub(super) hash: u128,
    /// A hash of its interface.
    pub(super) interface: u128,
    /// Whether there was a warning about it.
    pub(super) has_warning: bool,
    /// The files that are needed to compile it, as places in the list of all.
    pub(super) needs: Vec<usize>,
}

/// A crate as it was generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GeneratedCrate {
    /// Its folder.
    pub(super) dir: String,
    /// The schema files that declare what it holds, as places in the list of all.
    pub(super) sources: Vec<usize>,
}

impl Record {
    /// Writes a record with the paths of all generated files, in path order.
    pub(crate) fn text<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> String {
        let Self { generator, sources, crates } = self;
        let mut text = format!("{generator:x} {} {}\n", sources.len(), crates.len());
        // Writing into a string does not fail.
        for SourceFile { path, hash, interface, has_warning, needs } in sources {
            let needs = joined(needs);
            let _ = writeln!(text, "{hash:x} {interface:x} {has_warning} {needs} {path}");
        }
        for GeneratedCrate { dir, sources } in crates {
            let _ = writeln!(text, "{} {dir}", joined(sources));
        }
        for path in paths {
            text.push_str(path);
            text.push('\n');
        }
        let _ = writeln!(text, "{:x}", xxh3_128(text.as_bytes()));
        text
    }

    /// Parses a record and the paths of all generated files; returns `None` if the text is damaged.
    pub(crate) fn parse(text: &str) -> Option<(Self, Vec<&str>)> {
        let end = text.strip_suffix('\n')?.rfind('\n')? + 1;
        let (body, hash) = text.split_at(end);
        if u128::from_str_radix(hash.trim_end(), 16).ok()? != xxh3_128(body.as_bytes()) {
            return None;
        }
        let mut lines = body.split_terminator('\n');
        let mut head = lines.next()?.split(' ');
        let mut record =
            Self { generator: hexadecimal(head.next()?)?, sources: Vec::new(), crates: Vec::new() };
        let count: usize = head.next()?.parse().ok()?;
        let crates: usize = head.next()?.parse().ok()?;
        for line in lines.by_ref().take(count) {
            let mut parts = line.splitn(5, ' ');
            record.sources.push(SourceFile {
                hash: hexadecimal(parts.next()?)?,
                interface: hexadecimal(parts.next()?)?,
                has_warning: bool::from_str(parts.next()?).ok()?,
                needs: places(parts.next()?, count)?,
                path: parts.next()?.to_owned(),
            });
        }
        for line in lines.by_ref().take(crates) {
            let (sources, dir) = line.split_once(' ')?;
            record
                .crates
                .push(GeneratedCrate { dir: dir.to_owned(), sources: places(sources, count)? });
        }
        let is_whole = record.sources.len() == count && record.crates.len() == crates;
        let paths: Vec<&str> = lines.collect();
        (is_whole && paths.is_sorted()).then_some((record, paths))
    }
}

fn hexadecimal(text: &str) -> Option<u128> {
    u128::from_str_radix(text, 16).ok()
}

fn joined(places: &[usize]) -> String {
    places.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Parses indices that must be below `count`.
fn places(text: &str, count: usize) -> Option<Vec<usize>> {
    let place = |text: &str| text.parse().ok().filter(|place| *place < count);
    text.split_terminator(',').map(place).collect()
}
