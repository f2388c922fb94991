//! Turns the definitions of many schemas into the types of one service. Equal definitions of several tools become one type;
//! different definitions of one name become several.

use std::collections::{BTreeMap, BTreeSet};

use super::definitions::Definitions;
use super::digest;
use super::keywords::{Entries, rebuild};
use super::references::{Standalone, target};
use super::warnings::Warnings;
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::components;
use toolwright_codegen::internal::naming;

/// Gathers the types of a service.
#[derive(Debug, Default)]
pub(super) struct Types {
    /// The types, in the order in which they are found.
    types: Entries,
    /// The names of the types, by the keys of their definitions.
    known: BTreeMap<String, String>,
    /// The Rust names of all types.
    taken: BTreeSet<String>,
    /// The last number that was tried for each name with a number, so that many types of one name do not take quadratic time.
    numbers: BTreeMap<String, u32>,
    /// The prefixes of the Rust names that types inside tools get.
    derived: BTreeSet<String>,
}

/// The tool that a schema belongs to, for names and warnings.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    /// The tool's name in the language.
    pub(super) tool: &'a str,
    /// `args` or `result`.
    pub(super) side: &'a str,
}

impl Types {
    /// Creates an empty collection for tools of these names.
    pub(super) fn of(tools: &[String]) -> Self {
        Self::with_sides(tools, ["Args", "Result"])
    }

    /// Creates an empty collection for tools or methods of these names, whose types inside begin with the name and a side.
    pub(super) fn with_sides(tools: &[String], sides: [&str; 2]) -> Self {
        let sides = |tool: &String| sides.map(|side| naming::pascal_part(tool) + side);
        Self { derived: tools.iter().flat_map(sides).collect(), ..Self::default() }
    }

    /// Makes types of a schema's definitions and returns the schema that refers to them. Definitions that reach `#` stay inside
    /// the schema, as `#` means another schema elsewhere.
    pub(super) fn lift(
        &mut self,
        schema: Standalone,
        known: &mut Definitions,
        origin: Origin<'_>,
        warnings: &mut Warnings,
    ) -> Json {
        let free = without_root_references(&schema, &mut known.keys);
        let names = &mut known.types;
        let mut new = Vec::new();
        for (name, body) in &schema.definitions {
            if free.contains(name) {
                let (key, wanted) = (known.keys[name].clone(), naming::pascal(name));
                let known = self.known.get(&key).cloned();
                let is_new = known.is_none();
                let chosen = known.unwrap_or_else(|| self.name(&wanted, origin, warnings));
                self.known.insert(key, chosen.clone());
                names.insert(name.clone(), chosen.clone());
                new.extend(is_new.then(|| (chosen, body.clone())));
            }
        }
        let lifted = new.into_iter().map(|(name, body)| (name, renamed(body, names)));
        self.types.extend(lifted.collect::<Entries>());
        with_remaining_definitions(schema, names)
    }

    /// The types.
    pub(super) fn into_entries(self) -> Entries {
        self.types
    }

    /// Returns the first free name: the wanted one, or with the tool, its side and a number added.
    fn name(&mut self, wanted: &str, origin: Origin<'_>, warnings: &mut Warnings) -> String {
        // `Self` becomes `Self_` in Rust. A type's name may have no underscore, and with a prefix it needs none.
        let wanted = wanted.trim_end_matches('_');
        let tool = naming::pascal(origin.tool);
        let tool = tool.trim_end_matches('_');
        let sided = format!("{tool}{}{wanted}", naming::pascal(origin.side));
        let mut preferred = vec![wanted.to_owned(), format!("{tool}{wanted}")];
        preferred.retain(|name| !self.is_derived(name));
        let numbers = self.numbers.get(&sided).copied().unwrap_or(1)..;
        let last = numbers.map(|number| match number {
            1 => (1, sided.clone()),
            number => (number, format!("{sided}{number}")),
        });
        let mut candidates = preferred.into_iter().map(|name| (0, name)).chain(last);
        let (number, chosen) = candidates.find(|(_, name)| self.claim(name)).unwrap_or_default();
        if number > 0 {
            self.numbers.insert(sided, number);
        }
        if chosen != wanted {
            let message = format!("the type name `{wanted}` is taken or reserved");
            warnings.at(format!("{} {} `{chosen}`", origin.tool, origin.side), message);
        }
        chosen
    }

    fn claim(&mut self, name: &str) -> bool {
        let is_word = naming::pascal(name) == *naming::pascal_part(name);
        let is_name = is_word && naming::is_type_name(name) && !naming::is_reserved_type(name);
        is_name && self.taken.insert(naming::pascal(name).into())
    }

    /// Returns whether the compiler may give this name to a type inside a tool.
    fn is_derived(&self, name: &str) -> bool {
        // A prefix ends where the next word begins.
        let is_end = |(at, next): &(usize, char)| *at > 0 && !next.is_ascii_lowercase();
        let mut ends = name.char_indices().filter(is_end).map(|(at, _)| at).chain([name.len()]);
        ends.any(|end| self.derived.contains(&name[..end]))
    }
}

/// Adds the keys of a schema's definitions to those of earlier ones. Returns the names of the definitions that reach no `#`.
fn without_root_references(
    schema: &Standalone,
    keys: &mut BTreeMap<String, String>,
) -> BTreeSet<String> {
    let bodies: BTreeMap<&str, &Json> =
        schema.definitions.iter().map(|(name, body)| (name.as_str(), body)).collect();
    let (mut edges, mut earlier) = (BTreeMap::new(), BTreeMap::new());
    let mut rooted = BTreeSet::new();
    for (&name, body) in &bodies {
        let direct = references(body);
        if direct.contains("#") {
            rooted.insert(name);
        }
        let (new, old): (Vec<String>, Vec<String>) =
            direct.into_iter().partition(|to| bodies.contains_key(to.as_str()));
        let new = new.iter().filter_map(|to| Some(*bodies.get_key_value(to.as_str())?.0));
        edges.insert(name, new.collect::<Vec<_>>());
        earlier.insert(name, old);
    }
    let names: Vec<&str> = bodies.keys().copied().collect();
    let component = components(&names, &edges);
    let mut members: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (name, number) in &component {
        members.entry(*number).or_default().push(name);
    }
    let mut free = BTreeSet::new();
    // The components that a component refers to have higher numbers.
    for (number, members) in members.iter().rev() {
        let beyond = members.iter().flat_map(|name| &edges[name]);
        let beyond: BTreeSet<&str> =
            beyond.copied().filter(|to| component[to] != *number).collect();
        if members.iter().all(|name| !rooted.contains(name))
            && beyond.iter().all(|to| free.contains(*to))
        {
            free.extend(members.iter().map(|&name| name.to_owned()));
        }
        let before = members.iter().flat_map(|name| &earlier[name]).map(String::as_str);
        let beyond: BTreeSet<&str> = beyond.into_iter().chain(before).collect();
        let members_text = members.iter().map(|name| format!("{name} {}", bodies[name]));
        let beyond_text = beyond.iter().filter_map(|&to| keys.get(to).cloned());
        let text: Vec<String> = members_text.chain(beyond_text).collect();
        let digits = digest::text(&text.join("\n"));
        keys.extend(members.iter().map(|&name| (name.to_owned(), format!("{name} {digits}"))));
    }
    free
}

/// The references of a schema: names of definitions, and `#` for anything else.
fn references(schema: &Json) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    rebuild(schema.clone(), "", &mut |schema, _| {
        if schema.get("$ref").is_some() || schema.get("$dynamicRef").is_some() {
            found.insert(target(&schema).unwrap_or("#").to_owned());
        }
        schema
    });
    found
}

/// Rewrites references to definitions that became types.
fn renamed(schema: Json, names: &BTreeMap<String, String>) -> Json {
    rebuild(schema, "", &mut |schema, _| {
        let name = target(&schema).and_then(|name| names.get(name));
        let Some(name) = name.cloned() else { return schema };
        let Json::Object(mut entries) = schema else { return schema };
        for (key, value) in &mut entries {
            if key == "$ref" {
                *value = Json::string(&name);
            }
        }
        Json::Object(entries)
    })
}

/// The schema with the definitions that did not become types.
fn with_remaining_definitions(schema: Standalone, names: &BTreeMap<String, String>) -> Json {
    let root = renamed(schema.root, names);
    let stay = schema.definitions.into_iter().filter(|(name, _)| !names.contains_key(name));
    let stay: Entries = stay.map(|(name, body)| (name, renamed(body, names))).collect();
    match root {
        Json::Object(mut entries) if !stay.is_empty() => {
            entries.push(("$defs".to_owned(), Json::Object(stay)));
            Json::Object(entries)
        }
        root => root,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_derived_if_it_begins_with_a_tool_and_a_side_as_words() {
        let types = Types::of(&["find".to_owned(), "find_all".to_owned()]);
        for (name, expected) in [
            ("FindArgs", true),
            ("FindArgsItem", true),
            ("FindAllResult2", true),
            ("FindArgsé", true),
            ("FindArgsitem", false),
            ("Find", false),
            ("AFindArgs", false),
            ("", false),
        ] {
            assert_eq!(types.is_derived(name), expected, "{name}");
        }
    }
}
