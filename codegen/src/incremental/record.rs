//! What a run tells the next one of schema files and crates, as text: a line for each. [`crate::disk`] keeps it beside what
//! it saw of the output folder, and tells a damaged record from a whole one.

use std::fmt::Write as _;
use std::str::FromStr;

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
    /// The record as text.
    pub(crate) fn text(&self) -> String {
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
        text
    }

    /// Parses a record; returns `None` if the text is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.split_terminator('\n');
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
        (is_whole && lines.next().is_none()).then_some(record)
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
