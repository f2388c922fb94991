//! The algorithm of ECMA-262 (22.2.2) as it stands there, with no care for time: what an engine has to agree with.

use std::cell::Cell;
use std::ops::Range;

use super::super::class::CodePoints;
use super::super::property::is_same_letter;
use super::super::tree::{Node, Repeat, Tree};

/// How many nodes are tried before the answer is left open.
const STEPS: u32 = 100_000;

/// Whether a pattern matches somewhere in a text, or nothing if that takes too long.
pub(super) fn is_match(tree: &Tree, text: &str) -> Option<bool> {
    let matcher = Matcher { tree, input: text.chars().collect(), left: Cell::new(STEPS) };
    let found = (0..=matcher.input.len()).any(|end| {
        let captures = vec![None; tree.groups];
        matcher.node(&tree.root, State { end, captures }, false, &Some).is_some()
    });
    (matcher.left.get() > 0).then_some(found)
}

struct Matcher<'t> {
    tree: &'t Tree,
    input: Vec<char>,
    left: Cell<u32>,
}

/// `MatchState`: how far a match has come, and what groups have captured.
#[derive(Clone)]
struct State {
    end: usize,
    captures: Vec<Option<Range<usize>>>,
}

/// `MatcherContinuation`: what is matched after a node.
type Continuation<'c> = &'c dyn Fn(State) -> Option<State>;

impl Matcher<'_> {
    fn node(&self, node: &Node, x: State, behind: bool, then: Continuation<'_>) -> Option<State> {
        self.left.set(self.left.get().checked_sub(1)?);
        match node {
            Node::Literal(c) => self.character(x, behind, |other| other == *c).and_then(then),
            Node::Set(set) => {
                self.character(x, behind, |c| set.sorted().contains(c)).and_then(then)
            }
            Node::Start { of_lines } => {
                let before = self.beside(x.end, true);
                let holds = before.is_none_or(|c| *of_lines && CodePoints::is_line_break(c));
                Some(x).filter(|_| holds).and_then(then)
            }
            Node::End { of_lines } => {
                let after = self.beside(x.end, false);
                let holds = after.is_none_or(|c| *of_lines && CodePoints::is_line_break(c));
                Some(x).filter(|_| holds).and_then(then)
            }
            Node::Boundary { negated, ignores_case } => {
                let [before, after] = [true, false].map(|behind| {
                    let c = self.beside(x.end, behind);
                    c.is_some_and(|c| CodePoints::is_of_word(c, *ignores_case))
                });
                Some(x).filter(|_| (before != after) != *negated).and_then(then)
            }
            Node::Sequence(parts) => {
                let parts: Vec<&Node> =
                    if behind { parts.iter().rev().collect() } else { parts.iter().collect() };
                self.sequence(&parts, x, behind, then)
            }
            Node::Choice(parts) => {
                parts.iter().find_map(|part| self.node(part, x.clone(), behind, then))
            }
            Node::Group { index: None, inner } => self.node(inner, x, behind, then),
            Node::Group { index: Some(index), inner } => {
                let start = x.end;
                self.node(inner, x, behind, &|mut y| {
                    y.captures[*index] = Some(start.min(y.end)..start.max(y.end));
                    then(y)
                })
            }
            Node::Repeat(repeat) => self.repeat(repeat, repeat.least, repeat.most, x, behind, then),
            Node::Look { behind, negated, inner } => {
                match (negated, self.node(inner, x.clone(), *behind, &Some)) {
                    (true, None) => then(x),
                    (false, Some(y)) => then(State { end: x.end, captures: y.captures }),
                    _ => None,
                }
            }
            Node::Reference { index, ignores_case } => {
                let captured = x.captures[self.tree.references[*index]].clone();
                let mut letters = captured.map_or(Vec::new(), |range| self.input[range].to_vec());
                if behind {
                    letters.reverse();
                }
                let is_same = |one, other| match ignores_case {
                    true => is_same_letter(one, other),
                    false => one == other,
                };
                let end = letters
                    .into_iter()
                    .try_fold(x, |x, letter| self.character(x, behind, |c| is_same(letter, c)));
                end.and_then(then)
            }
        }
    }

    fn sequence(
        &self,
        parts: &[&Node],
        x: State,
        behind: bool,
        then: Continuation<'_>,
    ) -> Option<State> {
        match parts {
            [] => then(x),
            [first, rest @ ..] => {
                self.node(first, x, behind, &|y| self.sequence(rest, y, behind, then))
            }
        }
    }

    /// `RepeatMatcher` (22.2.2.3.1).
    fn repeat(
        &self,
        repeat: &Repeat,
        least: u32,
        most: Option<u32>,
        x: State,
        behind: bool,
        then: Continuation<'_>,
    ) -> Option<State> {
        if most == Some(0) {
            return then(x);
        }
        let start = x.end;
        let again = |y: State| {
            let is_idle = least == 0 && y.end == start;
            let (least, most) = (least.saturating_sub(1), most.map(|most| most - 1));
            if is_idle { None } else { self.repeat(repeat, least, most, y, behind, then) }
        };
        let mut inside = x.clone();
        inside.captures[repeat.groups.clone()].fill(None);
        let once = || self.node(&repeat.inner, inside, behind, &again);
        match (least, repeat.greedy) {
            (1.., _) => once(),
            (0, true) => once().or_else(|| then(x)),
            (0, false) => then(x).or_else(once),
        }
    }

    fn character(&self, x: State, behind: bool, fits: impl Fn(char) -> bool) -> Option<State> {
        self.beside(x.end, behind).filter(|c| fits(*c))?;
        Some(State { end: if behind { x.end - 1 } else { x.end + 1 }, ..x })
    }

    fn beside(&self, place: usize, behind: bool) -> Option<char> {
        let place = if behind { place.checked_sub(1)? } else { place };
        self.input.get(place).copied()
    }
}
