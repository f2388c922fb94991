//! Matches the types of a new import with those of the file, so that they keep their names in the file.

use std::collections::{BTreeMap, BTreeSet};

use super::equality::{Equality, MAX_DEPTH, as_schema, type_body, type_name};
use super::keywords::{Entries, rebuild};
use toolwright_codegen::internal::Json;

/// A schema of the file and the server's new schema for the same place.
pub(super) type Pair = (Json, Json);

/// The types of a new import under their names in the file.
pub(super) struct Renamed {
    /// The types.
    pub(super) types: Entries,
    /// The names in the file by those of the import.
    names: BTreeMap<String, String>,
}

impl Renamed {
    /// Finds the names. Equal types are matched first, so that a changed type does not take the name of an equal one.
    pub(super) fn of(
        old: &Entries,
        new: &Entries,
        pairs: &[Pair],
        is_replaced: &dyn Fn(&str) -> bool,
    ) -> Self {
        let (names, claimed) = (BTreeMap::new(), BTreeSet::new());
        let mut pairing = Pairing { old, new, equality: Equality::of(old, new), names, claimed };
        for equal_only in [true, false] {
            let mut seen = BTreeSet::new();
            for (old, new) in pairs {
                pairing.pair(old, new, equal_only, &mut seen, 0);
            }
        }
        pairing.name_the_rest(is_replaced);
        let names = pairing.names;
        let types = new.iter().map(|(name, body)| {
            let name = names.get(name).unwrap_or(name);
            (name.clone(), renamed(body.clone(), &names))
        });
        Self { types: types.collect(), names }
    }

    /// Rewrites a schema to refer to the types by these names.
    pub(super) fn schema(&self, schema: &Json) -> Json {
        renamed(schema.clone(), &self.names)
    }
}

struct Pairing<'a> {
    old: &'a Entries,
    new: &'a Entries,
    equality: Equality<'a>,
    /// The names in the file by those of the import.
    names: BTreeMap<String, String>,
    /// The names in the file that are taken.
    claimed: BTreeSet<String>,
}

impl Pairing<'_> {
    fn pair(
        &mut self,
        old: &Json,
        new: &Json,
        equal_only: bool,
        seen: &mut BTreeSet<(String, String)>,
        depth: usize,
    ) {
        if depth == MAX_DEPTH {
            return;
        }
        let depth = depth + 1;
        if let (Some(a), Some(b)) = (type_name(old), type_name(new)) {
            if seen.insert((a.to_owned(), b.to_owned())) {
                self.claim(a, b, equal_only);
                let bodies = (type_body(self.old, a).cloned(), type_body(self.new, b).cloned());
                if let (Some(old), Some(new)) = bodies {
                    self.pair(&old, &new, equal_only, seen, depth);
                }
            }
            return;
        }
        match (old, new) {
            (Json::Object(entries), Json::Object(_)) => {
                for (key, old) in entries {
                    if let Some(new) = new.get(key) {
                        self.pair(old, new, equal_only, seen, depth);
                    }
                }
            }
            (Json::Array(old), Json::Array(new)) => {
                for (old, new) in old.iter().zip(new) {
                    self.pair(old, new, equal_only, seen, depth);
                }
            }
            _ => {}
        }
    }

    fn claim(&mut self, a: &str, b: &str, equal_only: bool) {
        let is_known = self.names.contains_key(b) || self.claimed.contains(a);
        let (Some(old), Some(new)) = (type_body(self.old, a), type_body(self.new, b)) else {
            return;
        };
        let is_same = || self.equality.holds(old, new);
        if !is_known && (!equal_only || is_same()) {
            self.names.insert(b.to_owned(), a.to_owned());
            self.claimed.insert(a.to_owned());
        }
    }

    /// New types keep the name of the import, unless the file has another type of that name.
    fn name_the_rest(&mut self, is_replaced: &dyn Fn(&str) -> bool) {
        let is_declared = |name: &str| type_body(self.old, name).is_some();
        for (wanted, _) in self.new {
            if self.names.contains_key(wanted) {
                continue;
            }
            let numbered = (2_u32..).map(|number| format!("{wanted}{number}"));
            let mut candidates = std::iter::once(wanted.clone()).chain(numbered);
            let is_free = |name: &String| {
                let is_new = name == wanted || type_body(self.new, name).is_none();
                let is_ours = is_declared(name) && !(name == wanted && is_replaced(name));
                is_new && !is_ours && !self.claimed.contains(name)
            };
            let name = candidates.find(is_free).unwrap_or_default();
            self.claimed.insert(name.clone());
            self.names.insert(wanted.clone(), name);
        }
    }
}

fn renamed(schema: Json, names: &BTreeMap<String, String>) -> Json {
    rebuild(as_schema(&schema), "", &mut |schema, _| {
        let name = type_name(&schema).and_then(|name| names.get(name)).cloned();
        match (name, schema) {
            (Some(name), Json::Object(mut entries)) => {
                for (_, value) in entries.iter_mut().filter(|(key, _)| key == "$ref") {
                    *value = Json::string(&name);
                }
                Json::Object(entries)
            }
            (_, schema) => schema,
        }
    })
}
