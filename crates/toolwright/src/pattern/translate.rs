//! Translates patterns to the syntax of `regex-lite`.
//!
//! Captures are not needed, so they become plain groups. A class becomes the list of its code points, so that the
//! meaning of `\s` and of negations does not depend on the engine.

use std::fmt::Write as _;

use super::tree::{Node, Repeat};
use super::{PatternError, parse};

/// A pattern for one of the engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translated {
    /// The pattern in the syntax of the engine.
    pub regex: String,
    /// The engine.
    pub engine: Engine,
    /// The approximate number of instructions: the cost of trying it at a character.
    pub weight: u64,
    /// True if it needs the Unicode tables of the feature `patterns`.
    pub needs_tables: bool,
}

/// The engine that runs a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// `regex-lite`, which has a syntax of its own and takes time linear in the length of a text.
    Linear,
    /// A backtracking engine for the syntax of ECMA-262, which stops after a limit of steps.
    Backtracking,
}

/// Translates an ECMA-262 pattern.
///
/// # Errors
///
/// If the pattern is invalid or too large, or if it needs the Unicode tables and the feature `patterns` is off.
pub fn translate(ecma: &str) -> Result<Translated, PatternError> {
    let tree = parse(ecma)?;
    let backtracks = tree.root.needs_backtracking();
    let (engine, regex) = if backtracks {
        (Engine::Backtracking, ecma.to_owned())
    } else {
        let mut regex = String::new();
        write(&tree.root, &mut regex);
        (Engine::Linear, regex)
    };
    Ok(Translated { regex, engine, weight: tree.weight, needs_tables: tree.needs_tables })
}

/// Writes a part that does not need backtracking.
fn write(node: &Node, out: &mut String) {
    match node {
        Node::Literal(c) => write_literal(*c, out),
        Node::Set(points) => *out += &points.class(),
        Node::Start { .. } => out.push('^'),
        Node::End { .. } => out.push('$'),
        Node::Boundary { negated, .. } => *out += if *negated { r"\B" } else { r"\b" },
        Node::Sequence(parts) => parts.iter().for_each(|part| write(part, out)),
        Node::Choice(parts) => {
            for (index, part) in parts.iter().enumerate() {
                *out += if index == 0 { "" } else { "|" };
                write(part, out);
            }
        }
        Node::Group { inner, .. } => {
            *out += "(?:";
            write(inner, out);
            out.push(')');
        }
        Node::Repeat(repeat) => {
            write(&repeat.inner, out);
            *out += &quantifier(repeat);
        }
        Node::Lookaround { .. } | Node::Reference { .. } => {
            unreachable!("the backtracking engine runs them")
        }
    }
}

/// Writes a quantifier. It is always greedy, since lazy ones match the same texts.
fn quantifier(repeat: &Repeat) -> String {
    match (repeat.least, repeat.most) {
        (0, None) => "*".to_owned(),
        (1, None) => "+".to_owned(),
        (0, Some(1)) => "?".to_owned(),
        (least, None) => format!("{{{least},}}"),
        (least, Some(most)) if least == most => format!("{{{least}}}"),
        (least, Some(most)) => format!("{{{least},{most}}}"),
    }
}

/// Writes a character outside of a class.
fn write_literal(c: char, out: &mut String) {
    match c {
        c if c.is_alphanumeric() || "_ -/:;,@%&<>=!'\"`~#".contains(c) => out.push(c),
        c if c.is_ascii_punctuation() => out.extend(['\\', c]),
        // Writing to a string cannot fail.
        c => drop(write!(out, "\\x{{{:x}}}", u32::from(c))),
    }
}
