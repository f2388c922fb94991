//! A pattern as a program for the backtracking engine (ECMA-262, 22.2.2, whose continuations are the operations that
//! follow). Nothing is matched here.

use std::ops::Range;

use super::super::class::CodePoints;
use super::super::tree::{Node, Repeat, Tree};

/// The operations of a pattern, and how many registers they use.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) operations: Vec<Operation>,
    /// Two for each group, where it starts and ends; then two for each loop, its count and where its repetition began.
    pub(super) registers: usize,
}

/// A number of an operation.
pub(super) type Address = usize;

#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// One character of a set, ahead or behind.
    Set {
        set: CodePoints,
        behind: bool,
    },
    Run(Run),
    Start {
        of_lines: bool,
    },
    End {
        of_lines: bool,
    },
    Boundary {
        negated: bool,
        ignores_case: bool,
    },
    /// Keeps the place in a register.
    Save(usize),
    /// The text that a group matched, ahead or behind; nothing if it matched nothing.
    Reference {
        group: usize,
        ignores_case: bool,
        behind: bool,
    },
    /// The next operation, or else the one at the address.
    Split(Address),
    Jump(Address),
    /// Sets the count of a loop to zero.
    Enter {
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
    /// Begins a repetition: the groups in it have matched nothing.
    Body {
        register: usize,
        groups: Range<usize>,
    },
    /// Ends a repetition: it has to match something, if it did not have to be.
    Repeated {
        register: usize,
        least: u32,
        head: Address,
    },
    /// Tries what is between here and the address, which ends with `Accept`.
    Look {
        negated: bool,
        end: Address,
    },
    Accept,
}

/// Characters of a set, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) set: CodePoints,
    pub(super) least: u32,
    pub(super) most: Option<u32>,
    pub(super) greedy: bool,
    pub(super) behind: bool,
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
    fn add(&mut self, node: &Node, behind: bool) {
        match node {
            Node::Literal(c) => {
                self.operations.push(Operation::Set { set: CodePoints::one(*c), behind });
            }
            Node::Set(set) => {
                self.operations.push(Operation::Set { set: set.sorted(), behind });
            }
            Node::Start { of_lines } => {
                self.operations.push(Operation::Start { of_lines: *of_lines });
            }
            Node::End { of_lines } => self.operations.push(Operation::End { of_lines: *of_lines }),
            Node::Boundary { negated, ignores_case } => {
                let (negated, ignores_case) = (*negated, *ignores_case);
                self.operations.push(Operation::Boundary { negated, ignores_case });
            }
            Node::Sequence(parts) if behind => {
                parts.iter().rev().for_each(|part| self.add(part, behind));
            }
            Node::Sequence(parts) => parts.iter().for_each(|part| self.add(part, behind)),
            Node::Choice(parts) => self.choice(parts, behind),
            Node::Group { index: None, inner } => self.add(inner, behind),
            Node::Group { index: Some(index), inner } => {
                let (first, last) =
                    (2 * index + usize::from(behind), 2 * index + usize::from(!behind));
                self.operations.push(Operation::Save(first));
                self.add(inner, behind);
                self.operations.push(Operation::Save(last));
            }
            Node::Repeat(repeat) => self.repeat(repeat, behind),
            Node::Look { behind, negated, inner } => {
                let look = self.operations.len();
                self.operations.push(Operation::Look { negated: *negated, end: 0 });
                self.add(inner, *behind);
                self.operations.push(Operation::Accept);
                self.operations[look] =
                    Operation::Look { negated: *negated, end: self.operations.len() };
            }
            Node::Reference { index, ignores_case } => {
                let (group, ignores_case) = (self.references[*index], *ignores_case);
                self.operations.push(Operation::Reference { group, ignores_case, behind });
            }
        }
    }

    fn choice(&mut self, parts: &[Node], behind: bool) {
        let mut jumps = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let split = self.operations.len();
            let is_last = index + 1 == parts.len();
            if !is_last {
                self.operations.push(Operation::Split(0));
            }
            self.add(part, behind);
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

    fn repeat(&mut self, repeat: &Repeat, behind: bool) {
        let Repeat { inner, least, most, greedy, groups } = repeat;
        let (least, most, greedy) = (*least, *most, *greedy);
        let set = match inner {
            Node::Literal(c) => Some(CodePoints::one(*c)),
            Node::Set(set) => Some(set.sorted()),
            _ => None,
        };
        if let Some(set) = set {
            self.operations.push(Operation::Run(Run { set, least, most, greedy, behind }));
            return;
        }
        let register = self.registers;
        self.registers += 2;
        self.operations.push(Operation::Enter { register });
        let head = self.operations.len();
        self.operations.push(Operation::Accept);
        self.operations.push(Operation::Body { register, groups: groups.clone() });
        self.add(inner, behind);
        self.operations.push(Operation::Repeated { register, least, head });
        let exit = self.operations.len();
        self.operations[head] = Operation::Loop { register, least, most, greedy, exit };
    }
}
