//! The differences between the tools that a host agreed to and those that a server lists now. Agreeing is the host's:
//! see [`super::McpToolset`].

use std::fmt;
use std::sync::Arc;

use toolwright::untrusted::line;
use toolwright::{ToolSpec, Value};

/// The longest printed tool name in bytes.
const LONGEST_NAME: usize = 120;

/// A tool as it was seen at one time.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) tool: String,
    /// The digest of everything that is said of it.
    pub(super) pin: String,
    /// What was said; nothing where the pin is of another process and the server says something else.
    pub(super) spec: Option<Arc<ToolSpec>>,
}

/// A tool that is not, or not any more, what a host agreed to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolChange {
    /// Its name on the server.
    pub tool: String,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The tool that was agreed to. `None` for one that is new, and where another process agreed to it.
    pub before: Option<Arc<ToolSpec>>,
    /// The tool that the server lists now. `None` for one that is gone or cannot be used.
    pub after: Option<Arc<ToolSpec>>,
    /// The digests of the tool as agreed to and as listed now.
    pins: [Option<String>; 2],
}

/// The kind of change of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The server has it for the first time.
    Added,
    /// The server has it no longer, or in a form that cannot be used.
    Removed,
    /// The server says something else of it.
    Changed,
}

/// A part of what a server says of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolPart {
    /// The title.
    Title,
    /// The description.
    Description,
    /// The hints about its effects.
    Annotations,
    /// The schema of its arguments.
    Args,
    /// The schema of its results.
    Result,
}

impl ToolChange {
    /// Compares what was agreed to with what is listed: first tools that are gone or changed, then new ones.
    pub(super) fn between(agreed: &[Definition], listed: &[Definition]) -> Vec<Self> {
        let old = agreed.iter().filter_map(|before| {
            let after = listed.iter().find(|after| after.tool == before.tool);
            let is_same = after.is_some_and(|after| after.pin == before.pin);
            (!is_same).then(|| Self::of(Some(before), after))
        });
        let is_new = |tool: &&Definition| agreed.iter().all(|before| before.tool != tool.tool);
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

    /// The parts that differ. Empty where only one side is known, and where a text differs in hidden characters alone.
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
        parts.into_iter().filter_map(|(part, differs)| differs.then_some(part)).collect()
    }

    /// The tool that is agreed to with this change.
    pub(super) fn accepted(&self) -> Option<Definition> {
        let pin = self.pins[1].clone()?;
        Some(Definition { tool: self.tool.clone(), pin, spec: self.after.clone() })
    }

    /// Whether two changes are of the same definitions.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.tool == other.tool && self.pins == other.pins
    }
}

impl fmt::Display for ToolChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = line(&self.tool, LONGEST_NAME);
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
        })
    }
}
