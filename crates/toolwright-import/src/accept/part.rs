//! Parts of a document: some of its methods and tools, with all that belongs to them. Each part is built in time in proportion to
//! its own size.

use std::collections::{BTreeMap, BTreeSet};

use super::super::existing::references;
use super::super::keywords::Entries;
use super::place::Path;
use toolwright_codegen::internal::Json;

/// A document, with its methods, tools and types by name.
pub(super) struct Whole<'a> {
    document: &'a Json,
    /// The methods, and the tools that call no method.
    pub(super) owners: BTreeMap<Path, &'a Json>,
    /// The paths of the owners, in the order of the document.
    pub(super) order: Vec<Path>,
    /// The tools that call a method, by its path.
    bound: BTreeMap<Path, Vec<(Path, &'a Json)>>,
    /// The types, each with its place in the order of the document.
    types: BTreeMap<&'a str, (usize, &'a Json)>,
}

/// The path of the tool or method that a path leads into.
pub(super) fn owner(path: &[String]) -> Option<&[String]> {
    match path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["toolsets", _, "tools", _, ..] => Some(&path[..4]),
        ["methods", _, ..] => Some(&path[..2]),
        _ => None,
    }
}

impl<'a> Whole<'a> {
    pub(super) fn of(document: &'a Json) -> Self {
        let methods = entries(document.get("methods")).iter();
        let mut order: Vec<Path> = methods.clone().map(|(name, _)| method(name)).collect();
        let mut owners: BTreeMap<Path, &Json> =
            methods.map(|(name, body)| (method(name), body)).collect();
        let mut bound: BTreeMap<Path, Vec<(Path, &Json)>> = BTreeMap::new();
        for (toolset, body) in entries(document.get("toolsets")) {
            for (name, tool) in entries(body.get("tools")) {
                let path = ["toolsets", toolset, "tools", name].map(str::to_owned).to_vec();
                if let Some(Json::String(to)) = tool.get("bind") {
                    bound.entry(method(to)).or_default().push((path, tool));
                } else {
                    order.push(path.clone());
                    owners.insert(path, tool);
                }
            }
        }
        let types = entries(document.get("types")).iter();
        let types =
            types.enumerate().map(|(at, (name, body))| (name.as_str(), (at, body))).collect();
        Self { document, owners, order, bound, types }
    }

    /// Returns the path itself, or that of the method which the tool at this path calls.
    pub(super) fn owner_of(&self, path: &[String]) -> Path {
        if self.owners.contains_key(path) {
            return path.to_vec();
        }
        let calls = |(_, tools): &(&Path, &Vec<(Path, &Json)>)| {
            tools.iter().any(|(tool, _)| tool.as_slice() == path)
        };
        self.bound.iter().find(calls).map_or_else(|| path.to_vec(), |(method, _)| method.clone())
    }

    /// Returns a document with some of the methods and tools, and with the tools and types that belong to them.
    pub(super) fn part(&self, paths: &[Path]) -> Json {
        let (mut methods, mut tools) = (Entries::new(), BTreeMap::<&str, Entries>::new());
        let mut found = BTreeSet::new();
        let bound = paths.iter().filter_map(|path| self.bound.get(path)).flatten();
        let owners = paths.iter().filter_map(|path| Some((path, *self.owners.get(path)?)));
        for (path, body) in owners.chain(bound.map(|(path, body)| (path, *body))) {
            references(body, &mut found);
            match path.as_slice() {
                [_, name] => methods.push((name.clone(), body.clone())),
                [_, toolset, _, name] => {
                    tools.entry(toolset).or_default().push((name.clone(), body.clone()));
                }
                _ => {}
            }
        }
        let types = self.reached(found);
        let rebuilt = entries(Some(self.document)).iter().filter_map(|(key, value)| {
            let value = match key.as_str() {
                "types" => Json::Object(types.clone()),
                "methods" => Json::Object(methods.clone()),
                "toolsets" => toolsets(value, &mut tools),
                _ => value.clone(),
            };
            let is_empty = matches!(&value, Json::Object(entries) if entries.is_empty());
            (!is_empty).then(|| (key.clone(), value))
        });
        Json::Object(rebuilt.collect())
    }

    /// Returns the types that some names lead to, in the order of the document.
    fn reached(&self, mut found: BTreeSet<String>) -> Entries {
        let mut open: Vec<String> = found.iter().cloned().collect();
        let mut types = BTreeMap::new();
        while let Some(name) = open.pop() {
            let Some((at, body)) = self.types.get(name.as_str()) else { continue };
            let mut further = BTreeSet::new();
            references(body, &mut further);
            open.extend(further.into_iter().filter(|name| found.insert(name.clone())));
            types.insert(at, (name, (*body).clone()));
        }
        types.into_values().collect()
    }

    /// Returns those of the methods and tools that use some types, each with the reason of one of the types.
    pub(super) fn users(
        &self,
        paths: &[Path],
        reasons: BTreeMap<String, String>,
    ) -> Vec<(Path, String)> {
        if reasons.is_empty() {
            return Vec::new();
        }
        let users = paths.iter().filter_map(|path| {
            let mut found = BTreeSet::new();
            references(self.owners.get(path)?, &mut found);
            let reached = self.reached(found);
            let why = reached.iter().find_map(|(name, _)| reasons.get(name))?;
            Some((path.clone(), why.clone()))
        });
        users.collect()
    }
}

/// The toolsets with these tools, without toolsets that have none of them.
fn toolsets(written: &Json, tools: &mut BTreeMap<&str, Entries>) -> Json {
    let kept = entries(Some(written)).iter().filter_map(|(name, body)| {
        let tools = tools.remove(name.as_str())?;
        let body = entries(Some(body)).iter().map(|(key, value)| {
            let value = if key == "tools" { Json::Object(tools.clone()) } else { value.clone() };
            (key.clone(), value)
        });
        Some((name.clone(), Json::Object(body.collect())))
    });
    Json::Object(kept.collect())
}

fn method(name: &str) -> Path {
    vec!["methods".to_owned(), name.to_owned()]
}

fn entries(value: Option<&Json>) -> &[(String, Json)] {
    match value {
        Some(Json::Object(entries)) => entries,
        _ => &[],
    }
}
