//! A pattern as it was read: groups, choices, repetitions. Flags are resolved: what matches regardless of case is in the
//! sets of code points.

use std::ops::Range;

use super::class::CodePoints;

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// One character, outside of a class.
    Literal(char),
    /// One character of a set.
    Set(CodePoints),
    /// `^`, and whether each line has a start.
    Start {
        of_lines: bool,
    },
    /// `$`, and whether each line has an end.
    End {
        of_lines: bool,
    },
    /// `\b`, or `\B` if negated; regardless of case some letters more are of words.
    Boundary {
        negated: bool,
        ignores_case: bool,
    },
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    /// A group, with its index if it captures.
    Group {
        index: Option<usize>,
        inner: Box<Node>,
    },
    Repeat(Box<Repeat>),
    /// Looking ahead or behind.
    Look {
        behind: bool,
        negated: bool,
        inner: Box<Node>,
    },
    /// The text that a group matched; the index is that of [`Tree::references`].
    Reference {
        index: usize,
        ignores_case: bool,
    },
}

/// A repeated part.
#[derive(Clone, Debug)]
pub(super) struct Repeat {
    pub(super) inner: Node,
    pub(super) least: u32,
    pub(super) most: Option<u32>,
    pub(super) greedy: bool,
    /// The groups inside, which forget what they matched before each repetition.
    pub(super) groups: Range<usize>,
}

/// A whole pattern.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) root: Node,
    /// About how many instructions it is.
    pub(super) weight: u64,
    /// How many groups capture.
    pub(super) groups: usize,
    /// The group of each reference.
    pub(super) references: Vec<usize>,
    /// Whether Unicode's tables were needed to read it.
    pub(super) needs_tables: bool,
}

impl Node {
    /// Whether an engine has to go back to match it: looking around, references, lines, and `\b` regardless of case.
    pub(super) fn needs_backtracking(&self) -> bool {
        match self {
            Self::Literal(_) | Self::Set(_) => false,
            Self::Start { of_lines } | Self::End { of_lines } => *of_lines,
            Self::Boundary { ignores_case, .. } => *ignores_case,
            Self::Sequence(parts) | Self::Choice(parts) => {
                parts.iter().any(Self::needs_backtracking)
            }
            Self::Group { inner, .. } => inner.needs_backtracking(),
            Self::Repeat(repeat) => repeat.inner.needs_backtracking(),
            Self::Look { .. } | Self::Reference { .. } => true,
        }
    }
}
