//! The algorithm of ECMA-262 (section 22.2.2) as specified, without optimizations, for comparison with the engine.

use std::cell::Cell;
use std::ops::Range;

use super::super::class::CodePoints;
use super::super::property::is_same_letter;
use super::super::tree::{Node, Repeat, Tree};

/// The maximum number of nodes to try.
const STEPS: u32 = 100_000;

/// Returns true if a pattern matches somewhere in a text; `None` if that takes too long.
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

/// `MatchState`: the end of the match so far, and the captures.
#[derive(Clone)]
struct State {
    end: usize,
    captures: Vec<Option<Range<usize>>>,
}

/// `MatcherContinuation`: matches the rest of the pattern after a node.
type Continuation<'c> = &'c dyn Fn(State) -> Option<State>;

impl Matcher<'_> {
    fn node(&self, node: &Node, x: State, backward: bool, then: Continuation<'_>) -> Option<State> {
        self.left.set(self.left.get().checked_sub(1)?);
        match node {
            Node::Literal(c) => self.character(x, backward, |other| other == *c).and_then(then),
            Node::Set(set) => {
                self.character(x, backward, |c| set.sorted().contains(c)).and_then(then)
            }
            Node::Start { multiline } => {
                let before = self.neighbor(x.end, true);
                let holds = before.is_none_or(|c| *multiline && CodePoints::is_line_break(c));
                Some(x).filter(|_| holds).and_then(then)
            }
            Node::End { multiline } => {
                let after = self.neighbor(x.end, false);
                let holds = after.is_none_or(|c| *multiline && CodePoints::is_line_break(c));
                Some(x).filter(|_| holds).and_then(then)
            }
            Node::Boundary { negated, ignores_case } => {
                let [before, after] = [true, false].map(|backward| {
                    let c = self.neighbor(x.end, backward);
                    c.is_some_and(|c| CodePoints::is_word_character(c, *ignores_case))
                });
                Some(x).filter(|_| (before != after) != *negated).and_then(then)
            }
            Node::Sequence(parts) => {
                let parts: Vec<&Node> =
                    if backward { parts.iter().rev().collect() } else { parts.iter().collect() };
                self.sequence(&parts, x, backward, then)
            }
            Node::Choice(parts) => {
                parts.iter().find_map(|part| self.node(part, x.clone(), backward, then))
            }
            Node::Group { index: None, inner } => self.node(inner, x, backward, then),
            Node::Group { index: Some(index), inner } => {
                let start = x.end;
                self.node(inner, x, backward, &|mut y| {
                    y.captures[*index] = Some(start.min(y.end)..start.max(y.end));
                    then(y)
                })
            }
            Node::Repeat(repeat) => {
                self.repeat(repeat, repeat.least, repeat.most, x, backward, then)
            }
            Node::Lookaround { behind: backward, negated, inner } => {
                match (negated, self.node(inner, x.clone(), *backward, &Some)) {
                    (true, None) => then(x),
                    (false, Some(y)) => then(State { end: x.end, captures: y.captures }),
                    _ => None,
                }
            }
            Node::Reference { index, ignores_case } => {
                let captured = x.captures[self.tree.references[*index]].clone();
                let mut letters = captured.map_or(Vec::new(), |range| self.input[range].to_vec());
                if backward {
                    letters.reverse();
                }
                let is_same = |one, other| match ignores_case {
                    true => is_same_letter(one, other),
                    false => one == other,
                };
                let end = letters
                    .into_iter()
                    .try_fold(x, |x, letter| self.character(x, backward, |c| is_same(letter, c)));
                end.and_then(then)
            }
        }
    }

    fn sequence(
        &self,
        parts: &[&Node],
        x: State,
        backward: bool,
        then: Continuation<'_>,
    ) -> Option<State> {
        match parts {
            [] => then(x),
            [first, rest @ ..] => {
                self.node(first, x, backward, &|y| self.sequence(rest, y, backward, then))
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
        backward: bool,
        then: Continuation<'_>,
    ) -> Option<State> {
        if most == Some(0) {
            return then(x);
        }
        let start = x.end;
        let again = |y: State| {
            let is_idle = least == 0 && y.end == start;
            let (least, most) = (least.saturating_sub(1), most.map(|most| most - 1));
            if is_idle { None } else { self.repeat(repeat, least, most, y, backward, then) }
        };
        let mut inside = x.clone();
        inside.captures[repeat.groups.clone()].fill(None);
        let once = || self.node(&repeat.inner, inside, backward, &again);
        match (least, repeat.greedy) {
            (1.., _) => once(),
            (0, true) => once().or_else(|| then(x)),
            (0, false) => then(x).or_else(once),
        }
    }

    fn character(&self, x: State, backward: bool, fits: impl Fn(char) -> bool) -> Option<State> {
        self.neighbor(x.end, backward).filter(|c| fits(*c))?;
        Some(State { end: if backward { x.end - 1 } else { x.end + 1 }, ..x })
    }

    fn neighbor(&self, position: usize, backward: bool) -> Option<char> {
        let position = if backward { position.checked_sub(1)? } else { position };
        self.input.get(position).copied()
    }
}
