//! What the last run was made of, as the file that stands among what it generated: one line a schema file and one a
//! crate, so that changes to different files merge. Never read to learn what is on disk.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Its name in the root of the output folder.
pub(crate) const NAME: &str = ".toolwright-record";

/// What a run was made of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The version of the generator, and its options.
    pub(super) generator: String,
    /// Every schema file, by name.
    pub(super) sources: Vec<SourceLine>,
    /// Every crate.
    pub(super) crates: Vec<CrateLine>,
}

/// A schema file as it was.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceLine {
    /// Relative to the schema folder.
    #[serde(rename = "schema")]
    pub(super) name: String,
    /// Its text.
    pub(super) hash: String,
    /// The names it declared and used.
    pub(super) interface: String,
    /// Whether something was found in it that did not stand in the way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) warned: bool,
    /// The other files without which nothing can be made of it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) needs: BTreeSet<String>,
}

/// A crate as it was generated.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CrateLine {
    /// Its folder.
    #[serde(rename = "crate")]
    pub(super) dir: String,
    /// How many files it has.
    pub(super) files: usize,
    /// The files that declare what it holds.
    pub(super) from: BTreeSet<String>,
}

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    about: String,
    generator: String,
}

impl Record {
    /// The record of a text; none if it is not one, letter by letter.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let Head { generator, .. } = serde_json::from_str(lines.next()?).ok()?;
        let mut record = Self { generator, sources: Vec::new(), crates: Vec::new() };
        for line in lines {
            if line.starts_with("{\"schema\"") {
                record.sources.push(serde_json::from_str(line).ok()?);
            } else {
                record.crates.push(serde_json::from_str(line).ok()?);
            }
        }
        (record.text() == text).then_some(record)
    }

    /// Its text.
    pub(crate) fn text(&self) -> String {
        let about = format!("{}: what it was made of", crate::emit::BANNER);
        let mut text = line(&Head { about, generator: self.generator.clone() });
        self.sources.iter().for_each(|source| text += &line(source));
        self.crates.iter().for_each(|krate| text += &line(krate));
        text
    }

    /// Whether it has a line for each crate that a list of generated files is of, with as many files, and for no other.
    pub(crate) fn is_about(&self, listed: &[&str]) -> bool {
        let of_list = sizes(listed.iter().copied());
        of_list.into_iter().eq(self.crates.iter().map(|krate| (krate.dir.as_str(), krate.files)))
    }

    /// The folders of the crates that generated files belong to; none if one belongs to no crate.
    pub(crate) fn crates_of(&self, paths: &[&str]) -> Option<BTreeSet<&str>> {
        let crates: BTreeMap<&str, &CrateLine> =
            self.crates.iter().map(|krate| (krate.dir.as_str(), krate)).collect();
        paths.iter().map(|path| Some(home_of(&crates, path)?.0)).collect()
    }
}

/// How many files each crate has, by its folder: that of its `src/lib.rs`.
pub(super) fn sizes<'a>(paths: impl Iterator<Item = &'a str> + Clone) -> BTreeMap<&'a str, usize> {
    let dirs = paths.clone().filter_map(|path| path.strip_suffix("/src/lib.rs"));
    let sizes: BTreeMap<&str, Cell<usize>> = dirs.map(|dir| (dir, Cell::new(0))).collect();
    let mut home = None;
    for path in paths {
        // Most files stand in the crate of the one before.
        if !home.is_some_and(|(dir, _)| is_in(path, dir)) {
            home = home_of(&sizes, path);
        }
        if let Some((_, size)) = home {
            size.set(size.get() + 1);
        }
    }
    sizes.into_iter().map(|(dir, size)| (dir, size.into_inner())).collect()
}

/// The crate that a file stands in, of crates by their folders.
fn home_of<'m, 'a, T>(crates: &'m BTreeMap<&'a str, T>, path: &str) -> Option<(&'a str, &'m T)> {
    let mut folders = path.match_indices('/').map(|(at, _)| &path[..at]);
    folders.find_map(|folder| crates.get_key_value(folder)).map(|(dir, of)| (*dir, of))
}

fn is_in(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
}

fn line(value: &impl Serialize) -> String {
    // Strings, booleans and lists of strings are always JSON.
    serde_json::to_string(value).unwrap_or_default() + "\n"
}
