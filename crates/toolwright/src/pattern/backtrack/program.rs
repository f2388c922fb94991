//! Compiles a pattern to a program for the backtracking engine (ECMA-262, section 22.2.2). The continuation of an
//! operation is the operations that follow it.

use std::ops::Range;

use super::super::class::CodePoints;
use super::super::tree::{Node, Repeat, Tree};

/// The operations of a pattern and the number of their registers.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) operations: Vec<Operation>,
    /// Two registers for each group, its start and end; then two for each loop, its count and the start of the current
    /// repetition.
    pub(super) registers: usize,
}

/// The index of an operation.
pub(super) type Address = usize;

#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// Matches one character of a set, after the position or before it.
    Set {
        set: CodePoints,
        backward: bool,
    },
    Run(Run),
    Start {
        multiline: bool,
    },
    End {
        multiline: bool,
    },
    Boundary {
        negated: bool,
        ignores_case: bool,
    },
    /// Saves the position in a register.
    Save(usize),
    /// Matches the text of a group, after the position or before it; the empty text if the group did not match.
    Reference {
        group: usize,
        ignores_case: bool,
        backward: bool,
    },
    /// Tries the next operation, then the one at the address.
    Split(Address),
    Jump(Address),
    /// Sets the count of a loop to zero.
    EnterLoop {
        register: usize,
    },
    /// Repeats a loop, whose body is next, or leaves it.
    Loop {
        register: usize,
        least: u32,
        most: Option<u32>,
        greedy: bool,
        exit: Address,
    },
    /// Begins a repetition and clears the groups in it.
    BeginRepetition {
        register: usize,
        groups: Range<usize>,
    },
    /// Ends a repetition. It fails if the repetition is optional and matched the empty text.
    EndRepetition {
        register: usize,
        least: u32,
        head: Address,
    },
    /// Tries the operations from here to the address, which end with `Accept`.
    Lookaround {
        negated: bool,
        end: Address,
    },
    Accept,
}

/// A run of characters of a set.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) set: CodePoints,
    pub(super) least: u32,
    pub(super) most: Option<u32>,
    pub(super) greedy: bool,
    pub(super) backward: bool,
}

pub(super) fn program(tree: &Tree) -> Program {
    let mut compiler = Compiler {
        operations: Vec::new(),
        registers: 2 * tree.groups,
        references: &tree.references,
    };
    compiler.add(&tree.root, false);
    compiler.operations.push(Operation::Accept);
    Program { operations: compiler.operations, registers: compiler.registers }
}

struct Compiler<'t> {
    operations: Vec<Operation>,
    registers: usize,
    references: &'t [usize],
}

impl Compiler<'_> {
    fn add(&mut self, node: &Node, backward: bool) {
        match node {
            Node::Literal(c) => {
                self.operations.push(Operation::Set { set: CodePoints::one(*c), backward });
            }
            Node::Set(set) => {
                self.operations.push(Operation::Set { set: set.sorted(), backward });
            }
            Node::Start { multiline } => {
                self.operations.push(Operation::Start { multiline: *multiline });
            }
            Node::End { multiline } => {
                self.operations.push(Operation::End { multiline: *multiline });
            }
            Node::Boundary { negated, ignores_case } => {
                let (negated, ignores_case) = (*negated, *ignores_case);
                self.operations.push(Operation::Boundary { negated, ignores_case });
            }
            Node::Sequence(parts) if backward => {
                parts.iter().rev().for_each(|part| self.add(part, backward));
            }
            Node::Sequence(parts) => parts.iter().for_each(|part| self.add(part, backward)),
            Node::Choice(parts) => self.choice(parts, backward),
            Node::Group { index: None, inner } => self.add(inner, backward),
            Node::Group { index: Some(index), inner } => {
                let (first, last) =
                    (2 * index + usize::from(backward), 2 * index + usize::from(!backward));
                self.operations.push(Operation::Save(first));
                self.add(inner, backward);
                self.operations.push(Operation::Save(last));
            }
            Node::Repeat(repeat) => self.repeat(repeat, backward),
            Node::Lookaround { behind: backward, negated, inner } => {
                let look = self.operations.len();
                self.operations.push(Operation::Lookaround { negated: *negated, end: 0 });
                self.add(inner, *backward);
                self.operations.push(Operation::Accept);
                self.operations[look] =
                    Operation::Lookaround { negated: *negated, end: self.operations.len() };
            }
            Node::Reference { index, ignores_case } => {
                let (group, ignores_case) = (self.references[*index], *ignores_case);
                self.operations.push(Operation::Reference { group, ignores_case, backward });
            }
        }
    }

    fn choice(&mut self, parts: &[Node], backward: bool) {
        let mut jumps = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let split = self.operations.len();
            let is_last = index + 1 == parts.len();
            if !is_last {
                self.operations.push(Operation::Split(0));
            }
            self.add(part, backward);
            if !is_last {
                jumps.push(self.operations.len());
                self.operations.push(Operation::Jump(0));
                self.operations[split] = Operation::Split(self.operations.len());
            }
        }
        for jump in jumps {
            self.operations[jump] = Operation::Jump(self.operations.len());
        }
    }

    fn repeat(&mut self, repeat: &Repeat, backward: bool) {
        let Repeat { inner, least, most, greedy, groups } = repeat;
        let (least, most, greedy) = (*least, *most, *greedy);
        let set = match inner {
            Node::Literal(c) => Some(CodePoints::one(*c)),
            Node::Set(set) => Some(set.sorted()),
            _ => None,
        };
        if let Some(set) = set {
            self.operations.push(Operation::Run(Run { set, least, most, greedy, backward }));
            return;
        }
        let register = self.registers;
        self.registers += 2;
        self.operations.push(Operation::EnterLoop { register });
        let head = self.operations.len();
        self.operations.push(Operation::Accept);
        self.operations.push(Operation::BeginRepetition { register, groups: groups.clone() });
        self.add(inner, backward);
        self.operations.push(Operation::EndRepetition { register, least, head });
        let exit = self.operations.len();
        self.operations[head] = Operation::Loop { register, least, most, greedy, exit };
    }
}
