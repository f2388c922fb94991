//! Compares the tools that a host has accepted with those that a server lists now.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use toolwright::untrusted::line;
use toolwright::{ToolSpec, Value};

/// The maximum length of a printed tool name in bytes.
const MAX_NAME: usize = 120;

/// The definition of a tool at one time.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) tool: String,
    /// The digest of the whole definition.
    pub(super) pin: String,
    /// `None` if only the pin is known, because another process accepted the tool and the server has changed it since.
    pub(super) spec: Option<Arc<ToolSpec>>,
}

/// A difference between a tool that the host has accepted and the tool that the server lists now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolChange {
    /// The name of the tool on the server.
    pub tool: String,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The accepted tool. `None` if the tool is new, or if another process accepted it.
    pub before: Option<Arc<ToolSpec>>,
    /// The tool that the server lists now. `None` if it is gone or cannot be used.
    pub after: Option<Arc<ToolSpec>>,
    /// The digests of the accepted tool and of the listed one.
    pins: [Option<String>; 2],
}

/// The kind of change of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The tool is new.
    Added,
    /// The tool is gone, or can no longer be used.
    Removed,
    /// The definition of the tool has changed.
    Changed,
}

/// A part of the definition of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolPart {
    /// The title.
    Title,
    /// The description.
    Description,
    /// The annotations: hints about its effects.
    Annotations,
    /// The schema of its arguments.
    Args,
    /// The schema of its results.
    Result,
    /// Something that neither models nor hosts see, such as an icon, `_meta` or a hidden character.
    Other,
}

/// Returns definitions by the names of their tools.
pub(super) fn by_name(tools: &[Definition]) -> HashMap<&str, &Definition> {
    tools.iter().map(|tool| (tool.tool.as_str(), tool)).collect()
}

impl ToolChange {
    /// Compares accepted tools with listed ones. Returns removed and changed tools first, then added ones.
    pub(super) fn between(accepted: &[Definition], listed: &[Definition]) -> Vec<Self> {
        let (old_tools, new_tools) = (by_name(accepted), by_name(listed));
        let old = accepted.iter().filter_map(|before| {
            let after = new_tools.get(before.tool.as_str()).copied();
            let is_same = after.is_some_and(|after| after.pin == before.pin);
            (!is_same).then(|| Self::of(Some(before), after))
        });
        let is_new = |tool: &&Definition| !old_tools.contains_key(tool.tool.as_str());
        let new = listed.iter().filter(is_new).map(|after| Self::of(None, Some(after)));
        old.chain(new).collect()
    }

    fn of(before: Option<&Definition>, after: Option<&Definition>) -> Self {
        let kind = match (before, after) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Removed,
            _ => ChangeKind::Changed,
        };
        let spec = |tool: Option<&Definition>| tool.and_then(|tool| tool.spec.clone());
        let pin = |tool: Option<&Definition>| tool.map(|tool| tool.pin.clone());
        Self {
            tool: before.or(after).map(|tool| tool.tool.clone()).unwrap_or_default(),
            kind,
            before: spec(before),
            after: spec(after),
            pins: [pin(before), pin(after)],
        }
    }

    /// Returns the parts that differ. Empty if `before` or `after` is `None`.
    pub fn parts(&self) -> Vec<ToolPart> {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return Vec::new() };
        let is_same = |ours: &str, theirs: &str| {
            ours == theirs || ours.parse::<Value>().ok() == theirs.parse::<Value>().ok()
        };
        let parts = [
            (ToolPart::Title, before.title() != after.title()),
            (ToolPart::Description, before.description() != after.description()),
            (ToolPart::Annotations, before.annotations() != after.annotations()),
            (ToolPart::Args, !is_same(before.args_schema(), after.args_schema())),
            (ToolPart::Result, !is_same(before.result_schema(), after.result_schema())),
        ];
        let parts = parts.into_iter().filter_map(|(part, differs)| differs.then_some(part));
        let parts: Vec<_> = parts.collect();
        if parts.is_empty() { vec![ToolPart::Other] } else { parts }
    }

    /// Returns the definition of the tool after this change, or `None` if it is removed.
    pub(super) fn definition_after(&self) -> Option<Definition> {
        let pin = self.pins[1].clone()?;
        Some(Definition { tool: self.tool.clone(), pin, spec: self.after.clone() })
    }

    /// Returns a key that two changes share if they have the same definitions before and after.
    pub(super) fn key(&self) -> (&str, &[Option<String>; 2]) {
        (&self.tool, &self.pins)
    }
}

impl fmt::Display for ToolChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = line(&self.tool, MAX_NAME);
        match self.kind {
            ChangeKind::Added => write!(f, "`{tool}` is new"),
            ChangeKind::Removed => write!(f, "`{tool}` is gone"),
            ChangeKind::Changed => {
                write!(f, "`{tool}` changed")?;
                for (position, part) in self.parts().into_iter().enumerate() {
                    write!(f, "{} {part}", if position == 0 { ":" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for ToolPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Title => "title",
            Self::Description => "description",
            Self::Annotations => "annotations",
            Self::Args => "arguments",
            Self::Result => "result",
            Self::Other => "other parts",
        })
    }
}
