//! The record of schema files and crates that a run leaves for the next one, as text with one line for each.
//! [`crate::disk`] stores it together with its own record of the output folder, and detects damage.

use std::fmt::Write as _;
use std::str::FromStr;

/// The record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// A hash of the generator's version and options.
    pub(super) generator: u128,
    /// The instructions of patterns that runs may still compile before one has to count those of the whole project.
    pub(super) instructions_left: u64,
    /// All schema files, in path order.
    pub(super) sources: Vec<SourceFile>,
    /// All crates.
    pub(super) crates: Vec<GeneratedCrate>,
}

/// The record of a schema file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceFile {
    pub(super) path: String,
    /// A hash of its text.
    pub(super) hash: u128,
    /// A hash of its interface.
    pub(super) interface: u128,
    /// Set if there was a warning about it.
    pub(super) has_warning: bool,
    /// The indices of the files that are needed to compile it.
    pub(super) needs: Vec<usize>,
}

/// The record of a generated crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GeneratedCrate {
    /// Its folder.
    pub(super) dir: String,
    /// The indices of the schema files that declare its contents.
    pub(super) sources: Vec<usize>,
}

impl Record {
    /// Returns the record as text.
    pub(crate) fn text(&self) -> String {
        let Self { generator, instructions_left, sources, crates } = self;
        let (files, dirs) = (sources.len(), crates.len());
        let mut text = format!("{generator:x} {files} {dirs} {instructions_left}\n");
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

    /// Parses a record; returns `None` if the text is not a record.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.split_terminator('\n');
        let mut head = lines.next()?.split(' ');
        let generator = hexadecimal(head.next()?)?;
        let count: usize = head.next()?.parse().ok()?;
        let crates: usize = head.next()?.parse().ok()?;
        let instructions_left = head.next()?.parse().ok()?;
        let mut record =
            Self { generator, instructions_left, sources: Vec::new(), crates: Vec::new() };
        for line in lines.by_ref().take(count) {
            let mut parts = line.splitn(5, ' ');
            record.sources.push(SourceFile {
                hash: hexadecimal(parts.next()?)?,
                interface: hexadecimal(parts.next()?)?,
                has_warning: bool::from_str(parts.next()?).ok()?,
                needs: indices(parts.next()?, count)?,
                path: parts.next()?.to_owned(),
            });
        }
        for line in lines.by_ref().take(crates) {
            let (sources, dir) = line.split_once(' ')?;
            record
                .crates
                .push(GeneratedCrate { dir: dir.to_owned(), sources: indices(sources, count)? });
        }
        let is_whole = record.sources.len() == count && record.crates.len() == crates;
        (is_whole && lines.next().is_none()).then_some(record)
    }
}

fn hexadecimal(text: &str) -> Option<u128> {
    u128::from_str_radix(text, 16).ok()
}

fn joined(indices: &[usize]) -> String {
    indices.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Parses indices that must be below `count`.
fn indices(text: &str, count: usize) -> Option<Vec<usize>> {
    let index = |text: &str| text.parse().ok().filter(|index| *index < count);
    text.split_terminator(',').map(index).collect()
}
