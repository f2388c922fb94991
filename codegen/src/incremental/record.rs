//! What the last run was made of, as the file that stands among what it generated: one line a schema file and one a
//! crate, so that changes to different files merge. Never read to learn what is on disk.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::line::Line;
use crate::schema::Json;

/// Its name in the root of the output folder.
pub(crate) const NAME: &str = ".toolwright-record";

/// The keys of the first line.
const ABOUT: &str = "about";
const GENERATOR: &str = "generator";

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
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SourceLine {
    /// Relative to the schema folder.
    pub(super) name: String,
    /// Its text.
    pub(super) hash: String,
    /// The names it declared and used.
    pub(super) interface: String,
    /// Whether something was found in it that did not stand in the way.
    pub(super) warned: bool,
    /// The other files without which nothing can be made of it.
    pub(super) needs: BTreeSet<String>,
}

/// A crate as it was generated.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CrateLine {
    /// Its folder.
    pub(super) dir: String,
    /// How many files it has.
    pub(super) files: usize,
    /// The files that declare what it holds.
    pub(super) from: BTreeSet<String>,
}

impl SourceLine {
    fn read(line: &mut Line<'_>) -> Option<Self> {
        Some(Self {
            name: line.text("schema")?,
            hash: line.text("hash")?,
            interface: line.text("interface")?,
            warned: line.flag("warned")?,
            needs: line.list("needs")?,
        })
    }

    fn entries(&self) -> Vec<Entry> {
        let Self { name, hash, interface, warned, needs } = self;
        let mut entries =
            vec![entry("schema", name), entry("hash", hash), entry("interface", interface)];
        if *warned {
            entries.push(("warned".to_owned(), Json::Boolean(true)));
        }
        if !needs.is_empty() {
            entries.push(list("needs", needs));
        }
        entries
    }
}

impl CrateLine {
    fn read(line: &mut Line<'_>) -> Option<Self> {
        Some(Self {
            dir: line.text("crate")?,
            files: line.number("files")?,
            from: line.list("from")?,
        })
    }

    fn entries(&self) -> Vec<Entry> {
        let Self { dir, files, from } = self;
        let files = ("files".to_owned(), Json::Number(files.to_string()));
        vec![entry("crate", dir), files, list("from", from)]
    }
}

impl Record {
    /// The record of a text; none if it is not one, letter by letter.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut head = Line::new(lines.next()?);
        head.text(ABOUT)?;
        let generator = head.text(GENERATOR)?;
        let mut record = Self { generator, sources: Vec::new(), crates: Vec::new() };
        for line in lines {
            match SourceLine::read(&mut Line::new(line)) {
                Some(source) => record.sources.push(source),
                None => record.crates.push(CrateLine::read(&mut Line::new(line))?),
            }
        }
        (record.text() == text).then_some(record)
    }

    /// Its text.
    pub(crate) fn text(&self) -> String {
        let about = format!("{}: what it was made of", crate::emit::BANNER);
        let head = vec![entry(ABOUT, &about), entry(GENERATOR, &self.generator)];
        let sources = self.sources.iter().map(SourceLine::entries);
        let crates = self.crates.iter().map(CrateLine::entries);
        let mut text = String::new();
        for entries in std::iter::once(head).chain(sources).chain(crates) {
            text += &Json::Object(entries).to_string();
            text.push('\n');
        }
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

type Entry = (String, Json);

fn entry(key: &str, text: &str) -> Entry {
    (key.to_owned(), Json::string(text))
}

fn list(key: &str, texts: &BTreeSet<String>) -> Entry {
    (key.to_owned(), Json::Array(texts.iter().map(Json::string).collect()))
}
