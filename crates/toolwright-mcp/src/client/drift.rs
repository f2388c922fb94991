//! What is between the tools a server has now and those a toolset was written for. Never refuses a call: the policy does,
//! in [`super::Client`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use toolwright::spec::ToolSpec;
use toolwright::untrusted::line;
use toolwright::{Map, Origin, Value};

use super::error::LONGEST;
use super::live::{Live, LiveTool};

/// What is between the tools a server has now and those a toolset was written for, by their names on the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drift {
    /// Tools of ours that the server no longer has.
    pub missing: BTreeSet<String>,
    /// Tools of ours whose schemas changed, and how, where that can be told.
    pub changed: BTreeMap<String, String>,
    /// Tools that the server did not list when the toolset was written. Empty where the file does not say what it listed.
    pub new: BTreeSet<String>,
}

impl Drift {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.changed.is_empty() && self.new.is_empty()
    }

    /// Compares what a server has now with what is known of it.
    pub(super) fn between(live: &Live, origin: &Origin) -> Self {
        let mut drift = Self::default();
        for spec in origin.tools {
            let name = spec.remote_name().unwrap_or_else(|| spec.name());
            match live.get(name) {
                None => drift.missing.extend([name.to_owned()]),
                Some(tool) => {
                    let change = change(tool, spec, origin.digest(name));
                    drift.changed.extend(change.map(|change| (name.to_owned(), change)));
                }
            }
        }
        if !origin.listed.is_empty() {
            let unknown = live.tools.iter().filter(|tool| origin.digest(&tool.name).is_none());
            drift.new = unknown.map(|tool| tool.name.clone()).collect();
        }
        drift
    }
}

/// How a tool differs from what it was: by its digest, and where there is none by the properties of its arguments.
fn change(tool: &LiveTool, spec: &ToolSpec, digest: Option<&str>) -> Option<String> {
    if digest.is_some_and(|digest| digest == tool.digest) {
        return None;
    }
    let difference = difference(tool, spec);
    match digest {
        None => difference,
        Some(_) => Some(difference.unwrap_or_else(|| "its schemas differ".to_owned())),
    }
}

/// What of the arguments' properties makes our calls wrong.
fn difference(tool: &LiveTool, spec: &ToolSpec) -> Option<String> {
    let ours: Value = spec.args_schema().parse().ok()?;
    let theirs = tool.input.as_ref().map_or(&Value::Null, |input| &input.value);
    let (our_names, their_names) = (properties(&ours), properties(theirs));
    if let Some(name) = our_names.difference(&their_names).next() {
        return Some(format!("it has no argument `{name}` any more"));
    }
    let (our_needs, their_needs) = (required(&ours), required(theirs));
    let need = their_needs.difference(&our_needs).next()?;
    Some(format!("it requires the argument `{need}` now"))
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
    /// One sentence a kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sentences = Vec::new();
        if !self.missing.is_empty() {
            sentences.push(format!("missing: {}", listed(self.missing.iter())));
        }
        if !self.changed.is_empty() {
            let changed: Vec<_> =
                self.changed.iter().map(|(name, how)| format!("`{name}` ({how})")).collect();
            sentences.push(format!("changed: {}", changed.join(", ")));
        }
        if !self.new.is_empty() {
            sentences.push(format!("new: {}", listed(self.new.iter())));
        }
        if sentences.is_empty() {
            return f.write_str("no drift");
        }
        f.write_str(&line(&sentences.join("; "), LONGEST))
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
