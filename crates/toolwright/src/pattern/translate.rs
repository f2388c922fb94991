//! Patterns in the words of `regex-lite`. No pattern is run here.
//!
//! Only whether a pattern is found somewhere matters, so captures become plain groups. A class becomes the list of its
//! code points, so that what `\s` or a negation means is decided by this crate alone.

use std::fmt::Write as _;

use super::tree::{Node, Repeat};
use super::{PatternError, parse};

/// A pattern for an engine of this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translated {
    /// The pattern as the engine reads it.
    pub regex: String,
    /// The engine that it is for.
    pub engine: Engine,
    /// About how many instructions it is: what trying it at a character may cost.
    pub weight: u64,
    /// Whether reading it took Unicode's tables, which are behind the feature `patterns`.
    pub needs_tables: bool,
}

/// The engine that runs a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// `regex-lite`, in time that is linear in the length of a text. It reads a language of its own.
    Linear,
    /// An engine that goes back, as ECMA-262 describes it, and stops after a number of steps. It reads ECMA-262.
    Backtracking,
}

/// Translates an ECMA-262 pattern.
///
/// # Errors
///
/// A pattern that is not valid, one that is too large, and without the feature `patterns` one that needs Unicode's
/// tables.
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

/// Writes a part that needs no backtracking.
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
        Node::Look { .. } | Node::Reference { .. } => {
            unreachable!("they need the other engine")
        }
    }
}

/// Lazy or greedy, the same texts match.
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

/// One character outside a class.
fn write_literal(c: char, out: &mut String) {
    match c {
        c if c.is_alphanumeric() || "_ -/:;,@%&<>=!'\"`~#".contains(c) => out.push(c),
        c if c.is_ascii_punctuation() => out.extend(['\\', c]),
        // Writing to a string cannot fail.
        c => drop(write!(out, "\\x{{{:x}}}", u32::from(c))),
    }
}
