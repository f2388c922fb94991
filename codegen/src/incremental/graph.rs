//! Which schema files need which, as a record says it, and what follows from that. Never looks at what files say.

use std::collections::{BTreeMap, BTreeSet};

use super::record::Record;

/// Which files need which.
pub(super) struct Graph<'a> {
    /// From each file to those without which nothing can be made of it.
    needs: Edges<'a>,
    /// The same from the other end.
    users: Edges<'a>,
}

/// A file that no edge leads from has no entry.
type Edges<'a> = BTreeMap<&'a str, Vec<&'a str>>;

impl<'a> Graph<'a> {
    /// What a record says of files; none if it speaks of one that has no line.
    pub(super) fn new(record: &'a Record) -> Option<Self> {
        let mut graph = Self { needs: BTreeMap::new(), users: BTreeMap::new() };
        let known: BTreeSet<&str> = record.sources.iter().map(|line| line.name.as_str()).collect();
        for line in record.sources.iter().filter(|line| !line.needs.is_empty()) {
            for need in &line.needs {
                graph.users.entry(need).or_default().push(&line.name);
            }
            graph.needs.insert(&line.name, line.needs.iter().map(String::as_str).collect());
        }
        let of_crates = record.crates.iter().flat_map(|line| &line.from);
        let mut named = graph.users.keys().copied().chain(of_crates.map(String::as_str));
        named.all(|name| known.contains(name)).then_some(graph)
    }

    /// Files, all that these need, all that those need.
    pub(super) fn needed(&self, files: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
        closure(&self.needs, files)
    }

    /// Files, all that need one of these, all that need one of those.
    pub(super) fn affected(&self, files: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
        closure(&self.users, files)
    }
}

fn closure<'a>(edges: &Edges<'a>, from: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&str> = from.into_iter().collect();
    while let Some(name) = waiting.pop() {
        if reached.insert(name) {
            waiting.extend(edges.get(name).into_iter().flatten());
        }
    }
    reached
}
