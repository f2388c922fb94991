//! The syntax tree of a pattern. Flags are resolved: if case is ignored, the sets of code points include both cases.

use std::ops::Range;

use super::class::CodePoints;

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// One character, outside of a class.
    Literal(char),
    /// One character of a set.
    Set(CodePoints),
    /// `^`, which also matches at the start of each line if `multiline`.
    Start {
        multiline: bool,
    },
    /// `$`, which also matches at the end of each line if `multiline`.
    End {
        multiline: bool,
    },
    /// `\b`, or `\B` if negated. If case is ignored, there are two more word characters.
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
    /// A lookahead or lookbehind.
    Lookaround {
        behind: bool,
        negated: bool,
        inner: Box<Node>,
    },
    /// A reference to the text of a group, with its index in [`Tree::references`].
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
    /// The groups inside, whose matches are cleared before each repetition.
    pub(super) groups: Range<usize>,
}

/// A whole pattern.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) root: Node,
    /// The approximate number of instructions.
    pub(super) weight: u64,
    /// The number of capturing groups.
    pub(super) groups: usize,
    /// The group of each reference.
    pub(super) references: Vec<usize>,
    /// True if the pattern needs the Unicode tables.
    pub(super) needs_tables: bool,
}

impl Node {
    /// Returns true if the pattern needs backtracking: for lookarounds, references, multiline anchors, or `\b` with
    /// case ignored.
    pub(super) fn needs_backtracking(&self) -> bool {
        match self {
            Self::Literal(_) | Self::Set(_) => false,
            Self::Start { multiline } | Self::End { multiline } => *multiline,
            Self::Boundary { ignores_case, .. } => *ignores_case,
            Self::Sequence(parts) | Self::Choice(parts) => {
                parts.iter().any(Self::needs_backtracking)
            }
            Self::Group { inner, .. } => inner.needs_backtracking(),
            Self::Repeat(repeat) => repeat.inner.needs_backtracking(),
            Self::Lookaround { .. } | Self::Reference { .. } => true,
        }
    }
}
