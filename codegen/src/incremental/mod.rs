//! What has to be generated again after some schema files changed, and what each run notes down for the next one. Never
//! touches the disk, and never decides that two texts are equal other than by their hashes.
//!
//! A file whose *interface* stays as it is, the names that it declares and uses, can change without any other file being
//! looked at: no name can clash that did not before, and the crates made of it are those of files that need it. So the
//! files that these need are compiled, and nothing else. Whatever is in doubt is generated in full.

mod graph;
mod interface;
mod line;
mod record;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) use record::{NAME, Record};

use crate::diagnostic::{Diagnostic, Report};
use crate::options::Options;
use crate::parallel;
use crate::source::{Source, SourceId, Sources};
use crate::syntax::{self, Document};
use graph::Graph;
pub(crate) use interface::Interface;
use record::{CrateLine, SourceLine};
use xxhash_rust::xxh3::xxh3_128;

/// The files of a run by names that do not depend on where it was started.
#[derive(Debug)]
pub(crate) struct Inputs<'a> {
    sources: &'a Sources,
    files: BTreeMap<String, Input>,
    generator: String,
}

/// A file of a run.
#[derive(Debug)]
struct Input {
    id: SourceId,
    hash: String,
}

/// What has to be compiled and generated again.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    /// The schema files that are needed.
    pub(crate) sources: BTreeSet<String>,
    /// The folders of the crates to generate.
    pub(crate) crates: BTreeSet<String>,
}

impl<'a> Inputs<'a> {
    /// The inputs, if every file has a name of its own below the folders they were read from.
    pub(crate) fn new(sources: &'a Sources, roots: &[String], options: &Options) -> Option<Self> {
        let read: Vec<(SourceId, &Source)> = sources.iter().collect();
        let hashes = parallel::map(&read, |(_, source)| hash(&source.text));
        let mut files = BTreeMap::new();
        for ((id, source), hash) in read.into_iter().zip(hashes) {
            let name = roots.iter().enumerate().find_map(|(at, root)| name(at, root, &source.path));
            if files.insert(name?, Input { id, hash }).is_some() {
                return None;
            }
        }
        // Options are paths and switches, and their debug form shows all of them.
        let told = xxh3_128(format!("{options:?}").as_bytes());
        let generator = format!("{} {told:032x}", env!("CARGO_PKG_VERSION"));
        Some(Self { sources, files, generator })
    }

    /// What has to be generated again, given the last run and the crates whose files on disk may have been changed; none
    /// if everything has.
    pub(crate) fn scope(&self, last: &Record, suspicious: &BTreeSet<&str>) -> Option<Scope> {
        let known = last.sources.iter().map(|line| line.name.as_str());
        if last.generator != self.generator || !known.eq(self.files.keys().map(String::as_str)) {
            return None;
        }
        let changed = self.changed(last)?;
        let graph = Graph::new(last)?;
        let affected = graph.affected(changed.iter().copied());
        let of_affected = |from: &BTreeSet<String>| {
            !affected.is_empty() && from.iter().any(|name| affected.contains(name.as_str()))
        };
        let mut scope = Scope::default();
        let mut needed: BTreeSet<&str> = changed;
        for CrateLine { dir, from, .. } in &last.crates {
            if suspicious.contains(dir.as_str()) || of_affected(from) {
                scope.crates.insert(dir.clone());
                needed.extend(from.iter().map(String::as_str));
            }
        }
        // What was found in a file is told again, though nothing is made of it.
        let warned = last.sources.iter().filter(|line| line.warned).map(|line| line.name.as_str());
        needed.extend(warned);
        let needed = graph.needed(needed);
        scope.sources = needed.into_iter().map(str::to_owned).collect();
        Some(scope)
    }

    /// The files with another text, if the interface of each is the same.
    fn changed(&self, last: &'a Record) -> Option<BTreeSet<&'a str>> {
        let mut changed = BTreeSet::new();
        for (line, Input { id, hash }) in last.sources.iter().zip(self.files.values()) {
            if line.hash == *hash {
                continue;
            }
            let mut unseen = Report::default();
            let alone = self.sources.only([*id]);
            let [document] = &syntax::parse(&alone, &mut unseen)[..] else { return None };
            if unseen.has_errors() || Interface::of(document).digest() != line.interface {
                return None;
            }
            changed.insert(line.name.as_str());
        }
        Some(changed)
    }

    /// The sources of a scope.
    pub(crate) fn select(&self, scope: &Scope) -> Sources {
        let chosen = scope.sources.iter().filter_map(|name| self.files.get(name));
        self.sources.only(chosen.map(|input| input.id))
    }

    /// What the next run is to know after everything was compiled.
    pub(crate) fn record<'p>(
        &self,
        interfaces: &BTreeMap<SourceId, Interface>,
        paths: impl Iterator<Item = &'p str> + Clone,
        warnings: &[Diagnostic],
    ) -> Record {
        let files: Vec<File<'_>> = self
            .files
            .iter()
            .filter_map(|(name, Input { id, .. })| {
                Some(File { name, interface: interfaces.get(id)? })
            })
            .collect();
        let index = Index::new(&files);
        let sources = self.files.iter().filter_map(|(name, Input { id, hash })| {
            let interface = interfaces.get(id)?;
            Some(SourceLine {
                name: name.clone(),
                hash: hash.clone(),
                interface: interface.digest(),
                warned: warnings
                    .iter()
                    .any(|warning| warning.span.is_some_and(|span| span.source == *id)),
                needs: index.needs(name, interface),
            })
        });
        let crates = record::sizes(paths).into_iter().map(|(dir, files)| CrateLine {
            from: index.home(dir),
            files,
            dir: dir.to_owned(),
        });
        let crates = crates.collect();
        Record { generator: self.generator.clone(), sources: sources.collect(), crates }
    }

    /// What the next run is to know after a scope was compiled.
    pub(crate) fn renewed(
        &self,
        last: Record,
        scope: &Scope,
        compiled: &Sources,
        warnings: &[Diagnostic],
    ) -> Record {
        let warned: BTreeSet<&str> = warnings
            .iter()
            .filter_map(|warning| Some(compiled.get(warning.span?.source).path.as_str()))
            .collect();
        let renew = |line: SourceLine| match self
            .files
            .get(&line.name)
            .filter(|_| scope.sources.contains(&line.name))
        {
            Some(Input { id, hash }) => SourceLine {
                hash: hash.clone(),
                warned: warned.contains(self.sources.get(*id).path.as_str()),
                ..line
            },
            None => line,
        };
        Record { sources: last.sources.into_iter().map(renew).collect(), ..last }
    }
}

/// What each file is to the others.
pub(crate) fn interfaces(documents: &[Document]) -> BTreeMap<SourceId, Interface> {
    documents.iter().map(|document| (document.span.source, Interface::of(document))).collect()
}

/// A file and what it is to others.
struct File<'a> {
    name: &'a str,
    interface: &'a Interface,
}

/// Which files declare what.
#[derive(Default)]
struct Index<'a> {
    all: BTreeSet<&'a str>,
    /// The files that add to a service's crate.
    providers: BTreeMap<&'a str, BTreeSet<&'a str>>,
    toolsets: BTreeMap<&'a str, BTreeSet<&'a str>>,
    tools: BTreeMap<&'a str, BTreeSet<&'a str>>,
    consumers: BTreeMap<(&'a str, &'a str), BTreeSet<&'a str>>,
    /// The files with an agent that implements a toolset.
    exporters: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Index<'a> {
    fn new(files: &[File<'a>]) -> Self {
        let mut index = Self::default();
        for File { name, interface } in files {
            index.all.insert(name);
            let service = interface.service.as_deref().unwrap_or_default();
            if interface.is_provider {
                index.providers.entry(service).or_default().insert(name);
            }
            add(&mut index.toolsets, &interface.toolsets, name);
            add(&mut index.tools, &interface.tools, name);
            add(&mut index.exporters, &interface.exports, name);
            for consumer in &interface.consumers {
                index.consumers.entry((service, consumer)).or_default().insert(name);
            }
        }
        index
    }

    /// The other files without which nothing can be made of one.
    fn needs(&self, name: &str, interface: &Interface) -> BTreeSet<String> {
        let Some(service) = &interface.service else {
            // Who owns what it declares, others say.
            return self
                .all
                .iter()
                .filter(|other| **other != name)
                .map(|&other| other.to_owned())
                .collect();
        };
        let services = interface.uses_services.iter().chain([service]);
        let exported = interface.exports.iter().chain(&interface.uses_toolsets);
        let needed = [
            found(&self.providers, services),
            found(&self.toolsets, exported),
            found(&self.tools, interface.uses_tools.iter()),
            found(&self.exporters, interface.toolsets.iter()),
        ];
        let needed = needed.into_iter().flatten().filter(|other| *other != name);
        needed.map(str::to_owned).collect()
    }

    /// The files that declare what a crate holds.
    fn home(&self, dir: &str) -> BTreeSet<String> {
        let parts: Vec<&str> = dir.split('/').collect();
        let files = match parts[..] {
            [_, "tools", toolset] => self.toolsets.get(toolset),
            [service, "agents" | "mcp", consumer] => self.consumers.get(&(service, consumer)),
            [service, ..] => self.providers.get(service),
            [] => None,
        };
        // Where that is not plain, all of them.
        files.unwrap_or(&self.all).iter().map(|&name| name.to_owned()).collect()
    }
}

fn add<'a>(
    files: &mut BTreeMap<&'a str, BTreeSet<&'a str>>,
    names: &'a BTreeSet<String>,
    file: &'a str,
) {
    for name in names {
        files.entry(name).or_default().insert(file);
    }
}

fn found<'a, 'n>(
    files: &BTreeMap<&'a str, BTreeSet<&'a str>>,
    names: impl Iterator<Item = &'n String>,
) -> Vec<&'a str> {
    names.filter_map(|name| files.get(name.as_str())).flatten().copied().collect()
}

/// The name of a file below the folder it was read from; `root` may be the file itself.
fn name(at: usize, root: &str, path: &str) -> Option<String> {
    let rest = match path.strip_prefix(root) {
        Some("") => path.rsplit('/').next()?,
        Some(rest) => rest.strip_prefix('/')?,
        None if root == "." => path,
        None => return None,
    };
    Some(if at == 0 { rest.to_owned() } else { format!("{at}:{rest}") })
}

/// A number that changes with a text, but not with how its lines end: a checkout may have them in its own way.
fn hash(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let plain =
        if text.contains('\r') { text.replace("\r\n", "\n").into() } else { Cow::from(text) };
    format!("{:032x}", xxh3_128(plain.as_bytes()))
}
