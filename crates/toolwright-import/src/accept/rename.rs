//! Gives tools, methods and types other names: those of a round together, in one pass over the document.

use std::collections::{BTreeMap, BTreeSet};

use super::super::keywords::{Entries, rebuild};
use super::place::{Near, Path, schema_roots, value_at, value_at_mut, value_near_mut};
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::naming;

/// New names, by the paths of the mappings that have the entries.
pub(super) type Renames = BTreeMap<Path, Renamed>;

/// The entries of a mapping that get other names.
pub(super) struct Renamed {
    /// The new names, by the old ones.
    new: BTreeMap<String, String>,
    /// The names in use, as Rust writes them.
    taken: BTreeSet<String>,
    /// The last number that was tried for each name without one.
    numbers: BTreeMap<String, u32>,
}

/// Chooses a new name for an entry of a mapping, and returns it.
pub(super) fn choose<'a>(
    renames: &'a mut Renames,
    document: &Json,
    owner: &[String],
    name: &str,
) -> Option<&'a str> {
    let Some(Json::Object(named)) = value_at(document, owner) else { return None };
    let of_owner = renames.entry(owner.to_vec()).or_insert_with(|| Renamed {
        new: BTreeMap::new(),
        taken: named.iter().map(|(name, _)| naming::pascal(name).into()).collect(),
        numbers: BTreeMap::new(),
    });
    if !of_owner.new.contains_key(name) {
        let new = of_owner.free(name, owner.last()?)?;
        of_owner.new.insert(name.to_owned(), new);
    }
    of_owner.new.get(name).map(String::as_str)
}

impl Renamed {
    /// Takes the first free name made of another one and a number.
    fn free(&mut self, name: &str, kind: &str) -> Option<String> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
        let stem = if stem.is_empty() { name } else { stem };
        let gap = if kind == "types" { "" } else { "_" };
        let last = name.strip_prefix(stem).map(|rest| rest.trim_start_matches('_'));
        let last = last.and_then(|digits| digits.parse::<u32>().ok()).unwrap_or(1);
        // Longer names become equal once they are shortened for a number.
        let short = &stem[..stem.floor_char_boundary(naming::MAX_NAME - "_9999".len())];
        let tried = self.numbers.entry(short.to_owned()).or_default();
        let first = last.max(*tried).saturating_add(1);
        for number in (first..).take(10_000) {
            *tried = number;
            let suffix = format!("{gap}{number}");
            let room = naming::MAX_NAME.saturating_sub(suffix.len());
            let stem = &stem[..stem.floor_char_boundary(room)];
            let new = format!("{}{suffix}", stem.trim_end_matches('_'));
            if self.taken.insert(naming::pascal(&new).into()) {
                return Some(new);
            }
        }
        None
    }
}

/// Renames the entries, with all references to them.
pub(super) fn rename(document: &mut Json, renames: Renames) {
    for (owner, Renamed { new, .. }) in renames {
        let Some(Json::Object(named)) = value_at_mut(document, &owner) else { continue };
        for (name, _) in named {
            if let Some(new) = new.get(name) {
                name.clone_from(new);
            }
        }
        match owner.last().map(String::as_str) {
            Some("tools") => keep_remote(document, &owner, &new),
            Some("types") => refer(document, &new),
            _ => super::each_toolset(document, &mut |tools| {
                for (_, tool) in tools {
                    if let Json::Object(entries) = tool {
                        replace(entries, "bind", &new);
                    }
                }
            }),
        }
    }
}

/// Records the old names of renamed tools under `remote`, as the server still knows them by those.
fn keep_remote(document: &mut Json, tools: &[String], renamed: &BTreeMap<String, String>) {
    let toolset = tools.split_last().map_or(tools, |(_, toolset)| toolset);
    let is_remote = value_at(document, toolset).is_some_and(|set| set.get("mcp").is_some());
    let Some(Json::Object(tools)) = value_at_mut(document, tools).filter(|_| is_remote) else {
        return;
    };
    let old: BTreeMap<&str, &str> =
        renamed.iter().map(|(old, new)| (new.as_str(), old.as_str())).collect();
    for (name, tool) in tools {
        if let (Some(old), Json::Object(entries)) = (old.get(name.as_str()), tool)
            && !entries.iter().any(|(key, _)| key == "remote")
        {
            entries.insert(0, ("remote".to_owned(), Json::string(*old)));
        }
    }
}

/// Changes all references to types to their new names.
fn refer(document: &mut Json, renamed: &BTreeMap<String, String>) {
    let near = Near::default();
    for path in schema_roots(document) {
        if let Some(schema) = value_near_mut(document, &path, &near) {
            *schema =
                rebuild(std::mem::replace(schema, Json::Null), "", &mut |part, _| match part {
                    Json::Object(mut entries) => {
                        replace(&mut entries, "$ref", renamed);
                        Json::Object(entries)
                    }
                    other => other,
                });
        }
    }
    let sides = |entries: &mut Entries| {
        for side in ["args", "result", "payload"] {
            replace(entries, side, renamed);
        }
    };
    super::each_toolset(document, &mut |tools| {
        for (_, tool) in tools {
            if let Json::Object(entries) = tool {
                sides(entries);
            }
        }
    });
    if let Some(Json::Object(methods)) = value_at_mut(document, &["methods".to_owned()]) {
        for (_, method) in methods {
            if let Json::Object(entries) = method {
                sides(entries);
            }
        }
    }
}

fn replace(entries: &mut Entries, key: &str, renamed: &BTreeMap<String, String>) {
    for (_, value) in entries.iter_mut().filter(|(known, _)| known == key) {
        if let Json::String(old) = value
            && let Some(new) = renamed.get(old)
        {
            old.clone_from(new);
        }
    }
}
