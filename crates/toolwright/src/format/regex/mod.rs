//! Checks the syntax of regular expressions (ECMA-262, 11th edition, section 21.2.1, with the `u` flag), which is the
//! edition that JSON Schema 2020-12 refers to.
//!
//! Open groups are kept in a list and not on the stack, so that no pattern is too deep.

mod escape;

use std::collections::BTreeSet;

use escape::{Escape, escape, group_name};

pub(super) fn is_regex(text: &str) -> bool {
    Checker { rest: text, ..Checker::default() }.check().is_some()
}

/// A cursor in a pattern, with the groups and references found so far.
#[derive(Default)]
struct Checker<'a> {
    rest: &'a str,
    /// The groups around the cursor: true for each that may be repeated.
    open: Vec<bool>,
    groups: usize,
    names: BTreeSet<String>,
    largest_reference: usize,
    named_references: Vec<String>,
}

impl Checker<'_> {
    fn check(mut self) -> Option<()> {
        while let Some(first) = take(&mut self.rest) {
            if self.term(first)? {
                quantifier(&mut self.rest)?;
            }
        }
        self.is_complete().then_some(())
    }

    fn is_complete(&self) -> bool {
        self.open.is_empty()
            && self.largest_reference <= self.groups
            && self.named_references.iter().all(|name| self.names.contains(name))
    }

    /// Reads the term that begins with this character, and returns true if it may be repeated.
    fn term(&mut self, first: char) -> Option<bool> {
        match first {
            '|' | '^' | '$' => Some(false),
            '(' => self.group().map(|()| false),
            ')' => self.open.pop(),
            '[' => class(&mut self.rest).map(|()| true),
            '\\' => self.atom_escape(),
            '*' | '+' | '?' | '{' | '}' | ']' => None,
            _ => Some(true),
        }
    }

    /// Reads the start of a group, after the opening parenthesis.
    fn group(&mut self) -> Option<()> {
        let lookarounds = ["?=", "?!", "?<=", "?<!"];
        if lookarounds.iter().any(|start| skip(&mut self.rest, start)) {
            self.open.push(false);
            return Some(());
        }
        self.open.push(true);
        if skip(&mut self.rest, "?:") {
            return Some(());
        }
        self.groups += 1;
        if skip(&mut self.rest, "?<") { self.name() } else { Some(()) }
    }

    fn name(&mut self) -> Option<()> {
        let name = group_name(&mut self.rest)?;
        self.names.insert(name).then_some(())
    }

    /// Reads `AtomEscape` or a word boundary, after the backslash.
    fn atom_escape(&mut self) -> Option<bool> {
        if skip(&mut self.rest, "b") || skip(&mut self.rest, "B") {
            return Some(false);
        }
        if skip(&mut self.rest, "k<") {
            self.named_references.push(group_name(&mut self.rest)?);
        } else if self.rest.starts_with(|c| matches!(c, '1'..='9')) {
            // A number that `usize` cannot hold also exceeds the number of groups.
            let number = take_digits(&mut self.rest).parse().unwrap_or(usize::MAX);
            self.largest_reference = self.largest_reference.max(number);
        } else {
            escape(&mut self.rest)?;
        }
        Some(true)
    }
}

/// Reads a quantifier, if there is one.
fn quantifier(rest: &mut &str) -> Option<()> {
    let repeats = ["*", "+", "?"].iter().any(|sign| skip(rest, sign));
    if repeats || (skip(rest, "{") && braces(rest)?) {
        skip(rest, "?");
    }
    Some(())
}

/// Reads `{2}`, `{2,}` or `{2,3}` after the opening brace.
fn braces(rest: &mut &str) -> Option<bool> {
    let low = number(rest)?;
    if skip(rest, ",") && !rest.starts_with('}') {
        let high = number(rest)?;
        // Numbers may have any length, so their digits are compared.
        ((low.len(), low) <= (high.len(), high)).then_some(())?;
    }
    skip(rest, "}").then_some(true)
}

/// Reads digits and returns them without leading zeros.
fn number<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let digits = take_digits(rest);
    (!digits.is_empty()).then(|| digits.trim_start_matches('0'))
}

/// Reads a character class, after its opening bracket.
fn class(rest: &mut &str) -> Option<()> {
    skip(rest, "^");
    while !skip(rest, "]") {
        let low = class_atom(rest)?;
        if rest.starts_with('-') && !rest.starts_with("-]") {
            skip(rest, "-");
            is_range(low, class_atom(rest)?).then_some(())?;
        }
    }
    Some(())
}

/// Reads one member of a class, or one end of a range.
fn class_atom(rest: &mut &str) -> Option<Escape> {
    match take(rest)? {
        '\\' if skip(rest, "b") => Some(Escape::Character(0x8)),
        '\\' if skip(rest, "-") => Some(Escape::Character(u32::from('-'))),
        '\\' => escape(rest),
        plain => Some(Escape::Character(u32::from(plain))),
    }
}

fn is_range(low: Escape, high: Escape) -> bool {
    matches!((low, high), (Escape::Character(low), Escape::Character(high)) if low <= high)
}

/// Takes the next character.
fn take(rest: &mut &str) -> Option<char> {
    let mut characters = rest.chars();
    let first = characters.next()?;
    *rest = characters.as_str();
    Some(first)
}

/// Takes all digits that follow.
fn take_digits<'a>(rest: &mut &'a str) -> &'a str {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    *rest = after;
    digits
}

/// Skips a text, if it follows.
fn skip(rest: &mut &str, start: &str) -> bool {
    let after = rest.strip_prefix(start);
    *rest = after.unwrap_or(rest);
    after.is_some()
}
