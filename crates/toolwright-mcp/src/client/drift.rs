//! Compares the tools that a server lists now with those that a generated toolset was written for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use toolwright::spec::ToolSpec;
use toolwright::untrusted::line;
use toolwright::{Map, Origin, Value};

use super::error::MAX_SERVER_TEXT;
use super::listed_tools::{ListedTool, ListedTools};

/// The differences between the tools that a server lists now and those that a toolset was written for. Tools are named
/// as on the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drift {
    /// Tools of the toolset that the server no longer has.
    pub missing: BTreeSet<String>,
    /// Tools of the toolset that can do or get something else than before, with a description of the change. Everything that the
    /// server lists counts: schemas, annotations, icons, `_meta` and unknown members.
    pub changed: BTreeMap<String, String>,
    /// Tools of the toolset of which only titles or descriptions changed. Models do not see the server's texts, but
    /// those of the schema file.
    pub reworded: BTreeSet<String>,
    /// Tools that the server did not list when the toolset was written. Empty if the schema file has no record of that
    /// list.
    pub new: BTreeSet<String>,
}

impl Drift {
    /// Returns whether there are no differences.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Compares the tools that a server lists now with those that a toolset was written for.
    pub(super) fn between(listed: &ListedTools, origin: &Origin) -> Self {
        let mut drift = Self::default();
        for spec in origin.tools {
            let name = spec.remote_name().unwrap_or_else(|| spec.name());
            match listed.get(name) {
                None => drift.missing.extend([name.to_owned()]),
                Some(tool) => match origin.listed(name) {
                    Some(before) if before.all == tool.digests.all => {}
                    Some(before) if before.capabilities == tool.digests.capabilities => {
                        drift.reworded.insert(name.to_owned());
                    }
                    Some(_) => {
                        drift.changed.insert(name.to_owned(), change(tool, spec));
                    }
                    None => {
                        let change = difference(tool, spec);
                        drift.changed.extend(change.map(|change| (name.to_owned(), change)));
                    }
                },
            }
        }
        if !origin.listed.is_empty() {
            let unknown = listed.tools.iter().filter(|tool| origin.listed(&tool.name).is_none());
            drift.new = unknown.map(|tool| tool.name.clone()).collect();
        }
        drift
    }
}

/// Describes the change of a tool.
fn change(tool: &ListedTool, spec: &ToolSpec) -> String {
    if let Some(difference) = difference(tool, spec) {
        return difference;
    }
    let (ours, theirs) = schemas(tool, spec);
    if let Some(name) = properties(theirs).difference(&properties(&ours)).next() {
        return format!("it has the new argument `{name}`");
    }
    let is_same = tool.annotations == spec.annotations();
    let others =
        if is_same { "its schemas or other parts differ" } else { "its annotations differ" };
    others.to_owned()
}

/// Describes a change of the arguments' properties that makes calls invalid.
fn difference(tool: &ListedTool, spec: &ToolSpec) -> Option<String> {
    let (ours, theirs) = schemas(tool, spec);
    let (our_names, their_names) = (properties(&ours), properties(theirs));
    if let Some(name) = our_names.difference(&their_names).next() {
        return Some(format!("it has no argument `{name}` any more"));
    }
    let (our_required, their_required) = (required(&ours), required(theirs));
    let name = their_required.difference(&our_required).next()?;
    Some(format!("it requires the argument `{name}` now"))
}

/// Returns the argument schemas of the spec and of the server.
fn schemas<'a>(tool: &'a ListedTool, spec: &ToolSpec) -> (Value, &'a Value) {
    let theirs = tool.input.as_ref().map_or(&Value::Null, |input| &input.value);
    (spec.args_schema().parse().unwrap_or_default(), theirs)
}

fn properties(schema: &Value) -> BTreeSet<&str> {
    let object = schema.get("properties").and_then(Value::as_object);
    object.into_iter().flat_map(Map::keys).collect()
}

fn required(schema: &Value) -> BTreeSet<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.unwrap_or_default().iter().filter_map(Value::as_str).collect()
}

impl fmt::Display for Drift {
    /// Writes one phrase for each kind of difference.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut phrases = Vec::new();
        if !self.missing.is_empty() {
            phrases.push(format!("missing: {}", names(self.missing.iter())));
        }
        if !self.changed.is_empty() {
            let changed: Vec<_> =
                self.changed.iter().map(|(name, how)| format!("`{name}` ({how})")).collect();
            phrases.push(format!("changed: {}", changed.join(", ")));
        }
        if !self.reworded.is_empty() {
            phrases.push(format!("reworded: {}", names(self.reworded.iter())));
        }
        if !self.new.is_empty() {
            phrases.push(format!("new: {}", names(self.new.iter())));
        }
        if phrases.is_empty() {
            return f.write_str("no drift");
        }
        f.write_str(&line(&phrases.join("; "), MAX_SERVER_TEXT))
    }
}

fn names<'a>(tools: impl Iterator<Item = &'a String>) -> String {
    tools.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
