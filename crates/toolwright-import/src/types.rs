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

/// The types of a service, while they are gathered.
#[derive(Debug, Default)]
pub(super) struct Types {
    /// In the order in which they are met.
    types: Entries,
    /// A definition and all it reaches, as text, to the type it became.
    known: BTreeMap<String, String>,
    /// Every name in use, as it becomes Rust.
    taken: BTreeSet<String>,
    /// What the names of types inside the tools begin with.
    derived: Vec<String>,
}

/// Whose schema it is, for names and warnings.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    /// The tool's name in the language.
    pub(super) tool: &'a str,
    /// `args` or `result`.
    pub(super) side: &'a str,
}

impl Types {
    /// No types yet, for tools of these names.
    pub(super) fn of(tools: &[String]) -> Self {
        Self::with_sides(tools, ["Args", "Result"])
    }

    /// No types yet, for tools or methods of these names whose schemas are called so.
    pub(super) fn with_sides(tools: &[String], sides: [&str; 2]) -> Self {
        let sides = |tool: &String| sides.map(|side| naming::pascal_part(tool) + side);
        Self { derived: tools.iter().flat_map(sides).collect(), ..Self::default() }
    }

    /// Makes types of a schema's definitions and gives the schema that refers to them. Definitions that
    /// refer to the whole schema stay inside it: nowhere else does `#` mean the same.
    pub(super) fn lift(
        &mut self,
        schema: Standalone,
        known: &mut Definitions,
        origin: Origin<'_>,
        warnings: &mut Warnings,
    ) -> Json {
        let free = free(&schema, &mut known.keys);
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
        rooted(schema, names)
    }

    /// The types.
    pub(super) fn into_entries(self) -> Entries {
        self.types
    }

    /// The first free of the wanted name, the one with the tool before it, and so on.
    fn name(&mut self, wanted: &str, origin: Origin<'_>, warnings: &mut Warnings) -> String {
        // `Self` is spelt with an underscore in Rust, which no type's name may have; what begins otherwise needs none.
        let wanted = wanted.trim_end_matches('_');
        let tool = naming::pascal(origin.tool);
        let tool = tool.trim_end_matches('_');
        let sided = format!("{tool}{}{wanted}", naming::pascal(origin.side));
        let mut preferred = vec![wanted.to_owned(), format!("{tool}{wanted}")];
        preferred.retain(|name| !self.is_derived(name));
        let last = (1_u32..).map(|number| match number {
            1 => sided.clone(),
            number => format!("{sided}{number}"),
        });
        let mut candidates = preferred.into_iter().chain(last);
        let chosen = candidates.find(|name| self.claim(name)).unwrap_or_default();
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

    /// Whether something inside a tool may get this name by the way that leads there.
    fn is_derived(&self, name: &str) -> bool {
        let rest = |start: &String| name.strip_prefix(start.as_str());
        let mut rests = self.derived.iter().filter_map(rest);
        rests.any(|rest| !rest.starts_with(|next: char| next.is_ascii_lowercase()))
    }
}

/// Adds the keys of definitions that come with a schema to those of earlier ones. Returns those that reach no `#`.
fn free(schema: &Standalone, keys: &mut BTreeMap<String, String>) -> BTreeSet<String> {
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
    // What a component leads to has a higher number.
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

/// What a schema refers to: names of definitions, and `#` for anything else.
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

/// A schema that refers to types where definitions became such.
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

/// The schema itself, with the definitions that have to stay.
fn rooted(schema: Standalone, names: &BTreeMap<String, String>) -> Json {
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
