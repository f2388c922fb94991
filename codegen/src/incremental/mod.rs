//! Decides which crates have to be generated again after some schema files changed, from the record of the last run.
//!
//! If the [`Interface`] of a changed file is the same as before, there are no new name clashes, and only the crates of files
//! that need this file are affected. So only those crates are generated, and only the files that they need are compiled. In
//! all other cases everything is generated. Two texts count as equal if their hashes are equal.

mod interface;
mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use xxhash_rust::xxh3::xxh3_128;

use crate::diagnostic::Diagnostic;
use crate::parallel;
use crate::source::{Source, Sources, with_line_feeds};
use crate::syntax::Document;
pub(crate) use interface::Interface;
use interface::{Kind, Name};
pub(crate) use record::Record;
use record::{GeneratedCrate, SourceFile};

/// The schema files and crates of an incremental run.
pub(crate) struct Outdated {
    /// The schema files to compile.
    pub(crate) sources: Sources,
    /// The folders of the crates to generate.
    pub(crate) crates: BTreeSet<String>,
}

impl Record {
    /// Creates the record of a full run. Returns `None` if two files have the same path or a path contains a line break.
    ///
    /// `interfaces` has the interface of each source; `generator` is everything else that the output depends on.
    /// `instructions_left` are those that the patterns of the project do not use.
    pub(crate) fn new<'p>(
        generator: &impl Debug,
        sources: &Sources,
        interfaces: &[Interface],
        paths: impl Iterator<Item = &'p str>,
        warnings: &[Diagnostic],
        instructions_left: u64,
    ) -> Option<Self> {
        let hashes = hashes(sources);
        let files: Vec<&str> = sources.iter().map(|(_, source)| source.path.as_str()).collect();
        let is_plain = files.is_sorted_by(|a, b| a < b)
            && !files.iter().any(|path| path.contains('\n'))
            && files.len() == interfaces.len();
        if !is_plain {
            return None;
        }
        let mut declared: BTreeMap<&Name, Vec<usize>> = BTreeMap::new();
        for (at, interface) in interfaces.iter().enumerate() {
            for name in &interface.declares {
                declared.entry(name).or_default().push(at);
            }
        }
        let all = 0..files.len();
        let needs = |at: usize| -> Vec<usize> {
            let Interface { has_service, needs, .. } = &interfaces[at];
            let needed: BTreeSet<usize> = if *has_service {
                needs.iter().filter_map(|name| declared.get(name)).flatten().copied().collect()
            } else {
                all.clone().collect()
            };
            needed.into_iter().filter(|other| *other != at).collect()
        };
        let mut record = Self {
            generator: generator_hash(generator),
            instructions_left,
            sources: all
                .clone()
                .map(|at| SourceFile {
                    path: files[at].to_owned(),
                    hash: hashes[at],
                    interface: interfaces[at].digest(),
                    has_warning: false,
                    needs: needs(at),
                })
                .collect(),
            crates: paths
                .filter_map(|path| path.strip_suffix("/src/lib.rs"))
                .map(|dir| GeneratedCrate {
                    dir: dir.to_owned(),
                    // If it is unknown which files declare the crate, it depends on all of them.
                    sources: declaration(dir)
                        .and_then(|name| declared.get(&name).cloned())
                        .unwrap_or_else(|| all.clone().collect()),
                })
                .collect(),
        };
        record.set_warnings(sources, warnings);
        Some(record)
    }

    /// Returns whether the same generator made the record.
    pub(crate) fn is_of(&self, generator: &impl Debug) -> bool {
        self.generator == generator_hash(generator)
    }

    /// Updates the record for changed sources. Returns the files and crates that have to be generated again, or `None` if a
    /// full run is needed. The caller has to parse the returned files and to do a full run if [`Self::has_interfaces_of`] is
    /// false for them.
    ///
    /// `touched` has the paths of generated files that may have changed on disk.
    pub(crate) fn update(&mut self, sources: &Sources, touched: &[&str]) -> Option<Outdated> {
        let known = self.sources.iter().map(|file| file.path.as_str());
        if !known.eq(sources.iter().map(|(_, source)| source.path.as_str())) {
            return None;
        }
        let changed = self.update_hashes(sources);
        let mut users = vec![Vec::new(); self.sources.len()];
        for (user, file) in self.sources.iter().enumerate() {
            file.needs.iter().for_each(|&need| users[need].push(user));
        }
        let affected = reachable(changed.iter().copied(), users.iter());
        let touched = self.crates_of(touched)?;
        // Files with warnings are compiled in every run, so that their warnings are reported by every run.
        let warned = (0..self.sources.len()).filter(|&at| self.sources[at].has_warning);
        let mut needed: Vec<usize> = changed.into_iter().chain(warned).collect();
        let mut crates = BTreeSet::new();
        for krate in &self.crates {
            if touched.contains(krate.dir.as_str()) || krate.sources.iter().any(|&at| affected[at])
            {
                crates.insert(krate.dir.clone());
                needed.extend(&krate.sources);
            }
        }
        let needed = reachable(needed, self.sources.iter().map(|file| &file.needs));
        let ids = sources.iter().map(|(id, _)| id).zip(needed);
        let sources = sources.only(ids.filter_map(|(id, is_needed)| is_needed.then_some(id)));
        Some(Outdated { sources, crates })
    }

    /// Subtracts the instructions of the patterns of changed files and the files that they need. Returns false if they may be too
    /// many for the project. Of the patterns that the files had before, nothing is known, so they are not added.
    pub(crate) fn spend_instructions(&mut self, instructions: u64) -> bool {
        let left = self.instructions_left.checked_sub(instructions);
        self.instructions_left = left.unwrap_or_default();
        left.is_some()
    }

    /// Records which files have warnings. `compiled` must include all files that had warnings before.
    pub(crate) fn set_warnings(&mut self, compiled: &Sources, warnings: &[Diagnostic]) {
        let spans = warnings.iter().filter_map(|warning| warning.span);
        let warned: BTreeSet<&str> =
            spans.map(|span| compiled.get(span.source).path.as_str()).collect();
        for file in &mut self.sources {
            file.has_warning = warned.contains(file.path.as_str());
        }
    }

    /// Updates the hashes of changed files; returns their indices.
    fn update_hashes(&mut self, sources: &Sources) -> Vec<usize> {
        let mut changed = Vec::new();
        for (at, (file, hash)) in self.sources.iter_mut().zip(hashes(sources)).enumerate() {
            if std::mem::replace(&mut file.hash, hash) != hash {
                changed.push(at);
            }
        }
        changed
    }

    /// Returns whether every file could be parsed and has the recorded interface, so that no other file is affected.
    pub(crate) fn has_interfaces_of(&self, sources: &Sources, documents: &[Document]) -> bool {
        let known = |path: &str| self.sources.binary_search_by(|file| file.path.as_str().cmp(path));
        documents.len() == sources.iter().count()
            && sources.iter().zip(documents).all(|((_, source), document)| {
                known(&source.path)
                    .is_ok_and(|at| self.sources[at].interface == Interface::of(document).digest())
            })
    }

    /// Returns the folders of the crates that generated files belong to, or `None` if a file belongs to no crate.
    fn crates_of<'p>(&self, paths: &[&'p str]) -> Option<BTreeSet<&'p str>> {
        let dirs: BTreeSet<&str> = self.crates.iter().map(|krate| krate.dir.as_str()).collect();
        let dir_of = |path: &&'p str| {
            let mut folders = path.match_indices('/').map(|(at, _)| &path[..at]);
            folders.find(|folder| dirs.contains(folder))
        };
        paths.iter().map(dir_of).collect()
    }
}

/// Returns the name that files of a crate declare, from the folder of the crate.
fn declaration(dir: &str) -> Option<Name> {
    let parts: Vec<&str> = dir.split('/').collect();
    match parts[..] {
        [_, "tools", toolset] => Some((Kind::Toolset, toolset.to_owned())),
        [service, "agents" | "mcp", name] => Some((Kind::Consumer, format!("{service}/{name}"))),
        [service, ..] => Some((Kind::Service, service.to_owned())),
        [] => None,
    }
}

/// Returns for each file whether it is one of the given files or can be reached from one.
fn reachable<'e>(
    from: impl IntoIterator<Item = usize>,
    edges: impl ExactSizeIterator<Item = &'e Vec<usize>>,
) -> Vec<bool> {
    let edges: Vec<&Vec<usize>> = edges.collect();
    let mut reached = vec![false; edges.len()];
    let mut waiting: Vec<usize> = from.into_iter().collect();
    while let Some(file) = waiting.pop() {
        if !std::mem::replace(&mut reached[file], true) {
            waiting.extend(edges[file]);
        }
    }
    reached
}

/// Hashes each text. Line ends do not count.
fn hashes(sources: &Sources) -> Vec<u128> {
    let texts: Vec<&Source> = sources.iter().map(|(_, source)| source).collect();
    parallel::map(&texts, |Source { text, .. }| {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        xxh3_128(with_line_feeds(text).as_bytes())
    })
}

/// Hashes the version of this crate and the debug form of the generator's settings, which shows all of them.
fn generator_hash(generator: &impl Debug) -> u128 {
    xxh3_128(format!("{} {generator:?}", env!("CARGO_PKG_VERSION")).as_bytes())
}
