//! Runs programs on texts, and counts the steps.

use super::super::TooCostly;
use super::super::class::CodePoints;
use super::super::property::is_same_letter;
use super::program::{Address, Operation, Program, Run};

/// How many steps a text may take, however short it is.
const STEPS: u64 = 1_000_000;

/// How many steps more a text may take for each of its bytes.
const STEPS_PER_BYTE: u64 = 30;

/// How many places to go back to, and registers to restore there, are kept in memory.
const MAX_STACK: usize = 2_000_000;

/// A register that nothing was saved in.
const NONE: usize = usize::MAX;

/// How many steps a text may take.
pub(super) fn limit(text: &str) -> u64 {
    STEPS.saturating_add(STEPS_PER_BYTE.saturating_mul(text.len() as u64))
}

/// Whether a program matches somewhere in a text. The steps are taken from those that are left.
pub(super) fn is_match(program: &Program, text: &str, left: &mut u64) -> Result<bool, TooCostly> {
    let limit = limit(text).min(*left);
    let registers = vec![NONE; program.registers];
    let mut machine = Machine { program, text, registers, stack: Vec::new(), limit, steps: 0 };
    let found = search(&mut machine);
    *left -= machine.steps.min(limit);
    found
}

/// Tries each place of the text.
fn search(machine: &mut Machine<'_>) -> Result<bool, TooCostly> {
    let Machine { program, text, .. } = *machine;
    let only_at_start =
        matches!(program.operations.first(), Some(Operation::Start { of_lines: false }));
    let starts = text.char_indices().map(|(start, _)| start).chain([text.len()]);
    for start in starts.take(if only_at_start { 1 } else { usize::MAX }) {
        if machine.run(0, start)? {
            return Ok(true);
        }
    }
    Ok(false)
}

struct Machine<'a> {
    program: &'a Program,
    text: &'a str,
    registers: Vec<usize>,
    stack: Vec<Entry>,
    limit: u64,
    steps: u64,
}

/// A step to undo when a match fails.
enum Entry {
    /// Restores a register.
    Restore { register: usize, value: usize },
    /// Goes on at an operation and a place.
    Resume { address: Address, place: usize },
    /// Goes on at an operation and the place one character nearer to the end; more than once, until that is reached.
    Shift { address: Address, place: usize, end: usize },
}

impl Machine<'_> {
    /// Whether the operations from an address on accept the text from a place on. If they do, what they saved stays, and
    /// with it all that they could go back to.
    fn run(&mut self, mut address: Address, mut place: usize) -> Result<bool, TooCostly> {
        let base = self.stack.len();
        let program = self.program;
        loop {
            self.spend(1)?;
            let operation = &program.operations[address];
            if matches!(operation, Operation::Accept) {
                return Ok(true);
            }
            match self.step(operation, address, place)?.or_else(|| self.go_back(base)) {
                Some(next) => (address, place) = next,
                None => return Ok(false),
            }
        }
    }

    /// The address and place after an operation, or nothing if it fails.
    fn step(
        &mut self,
        operation: &Operation,
        address: Address,
        place: usize,
    ) -> Result<Option<(Address, usize)>, TooCostly> {
        let next = address + 1;
        let holds = |holds: bool| holds.then_some((next, place));
        Ok(match operation {
            Operation::Set { set, behind } => {
                self.after(place, *behind, set).map(|place| (next, place))
            }
            Operation::Run(run) => self.run_of(run, next, place)?.map(|place| (next, place)),
            Operation::Start { of_lines } => {
                let before = self.beside(place, true);
                holds(before.is_none_or(|c| *of_lines && CodePoints::is_line_break(c)))
            }
            Operation::End { of_lines } => {
                let after = self.beside(place, false);
                holds(after.is_none_or(|c| *of_lines && CodePoints::is_line_break(c)))
            }
            Operation::Boundary { negated, ignores_case } => {
                let is_word = |behind| {
                    self.beside(place, behind)
                        .is_some_and(|c| CodePoints::is_of_word(c, *ignores_case))
                };
                holds((is_word(true) != is_word(false)) != *negated)
            }
            Operation::Save(register) => {
                self.set(*register, place)?;
                Some((next, place))
            }
            Operation::Reference { group, ignores_case, behind } => {
                self.reference(*group, *ignores_case, *behind, place)?.map(|place| (next, place))
            }
            Operation::Split(otherwise) => {
                self.push(Entry::Resume { address: *otherwise, place })?;
                Some((next, place))
            }
            Operation::Jump(address) => Some((*address, place)),
            Operation::Enter { register } => {
                self.set(*register, 0)?;
                Some((next, place))
            }
            Operation::Loop { register, least, most, greedy, exit } => {
                let count = self.registers[*register];
                if count < *least as usize {
                    return Ok(Some((next, place)));
                }
                if most.is_some_and(|most| count >= most as usize) {
                    return Ok(Some((*exit, place)));
                }
                let (first, second) = if *greedy { (next, *exit) } else { (*exit, next) };
                self.push(Entry::Resume { address: second, place })?;
                Some((first, place))
            }
            Operation::Body { register, groups } => {
                self.set(*register, self.registers[*register] + 1)?;
                self.set(register + 1, place)?;
                for slot in 2 * groups.start..2 * groups.end {
                    self.spend(1)?;
                    self.set(slot, NONE)?;
                }
                Some((next, place))
            }
            Operation::Repeated { register, least, head } => {
                let is_free = self.registers[*register] > *least as usize;
                let is_empty = self.registers[register + 1] == place;
                (!(is_free && is_empty)).then_some((*head, place))
            }
            Operation::Look { negated, end } => {
                let found = self.look(next, place, *negated)?;
                (found != *negated).then_some((*end, place))
            }
            Operation::Accept => None,
        })
    }

    /// The first place to try after characters of a set; the others are kept to go back to.
    fn run_of(
        &mut self,
        run: &Run,
        next: Address,
        place: usize,
    ) -> Result<Option<usize>, TooCostly> {
        let (mut count, mut first, mut last) = (0, place, place);
        while run.most.is_none_or(|most| count < most) {
            let Some(after) = self.after(last, run.behind, &run.set) else { break };
            self.spend(1)?;
            count += 1;
            last = after;
            first = if count <= run.least { after } else { first };
        }
        if count < run.least {
            return Ok(None);
        }
        let (place, end) = if run.greedy { (last, first) } else { (first, last) };
        if place != end {
            self.push(Entry::Shift { address: next, place, end })?;
        }
        Ok(Some(place))
    }

    /// Whether the operations from an address on match at a place. What groups saved there stays, unless that was negated.
    fn look(&mut self, address: Address, place: usize, negated: bool) -> Result<bool, TooCostly> {
        let base = self.stack.len();
        let found = self.run(address, place)?;
        if negated {
            self.undo(base);
        } else {
            self.forget_places(base);
        }
        Ok(found)
    }

    /// Takes back what was done since the last place to go on at, which is returned if there is one above the base.
    fn go_back(&mut self, base: usize) -> Option<(Address, usize)> {
        while self.stack.len() > base {
            match self.stack.pop()? {
                Entry::Restore { register, value } => self.registers[register] = value,
                Entry::Resume { address, place } => return Some((address, place)),
                Entry::Shift { address, place, end } => {
                    let behind = end < place;
                    let width = self.beside(place, behind).map_or(0, char::len_utf8);
                    let place = if behind { place - width } else { place + width };
                    if place != end {
                        // As much was on the stack before.
                        self.stack.push(Entry::Shift { address, place, end });
                    }
                    return Some((address, place));
                }
            }
        }
        None
    }

    /// Takes back all that was done above the base.
    fn undo(&mut self, base: usize) {
        for entry in self.stack.drain(base..).rev() {
            if let Entry::Restore { register, value } = entry {
                self.registers[register] = value;
            }
        }
    }

    /// Forgets the places to go on at above the base, and keeps what has to be restored.
    fn forget_places(&mut self, base: usize) {
        let mut kept = base;
        for index in base..self.stack.len() {
            if matches!(self.stack[index], Entry::Restore { .. }) {
                self.stack.swap(kept, index);
                kept += 1;
            }
        }
        self.stack.truncate(kept);
    }

    /// The character before or after a place.
    fn beside(&self, place: usize, behind: bool) -> Option<char> {
        if behind {
            self.text[..place].chars().next_back()
        } else {
            self.text[place..].chars().next()
        }
    }

    /// The place after one character of a set.
    fn after(&self, place: usize, behind: bool, set: &CodePoints) -> Option<usize> {
        let c = self.beside(place, behind).filter(|&c| set.contains(c))?;
        Some(if behind { place - c.len_utf8() } else { place + c.len_utf8() })
    }

    /// The place after what a group matched.
    fn reference(
        &mut self,
        group: usize,
        ignores_case: bool,
        behind: bool,
        place: usize,
    ) -> Result<Option<usize>, TooCostly> {
        let (start, end) = (self.registers[2 * group], self.registers[2 * group + 1]);
        if start == NONE || end == NONE {
            return Ok(Some(place));
        }
        let text = self.text;
        let matched = &text[start..end];
        // Texts are compared many bytes at a time.
        self.spend(matched.len() as u64 / 16)?;
        if !ignores_case {
            return Ok(if behind {
                text[..place].ends_with(matched).then(|| place - matched.len())
            } else {
                text[place..].starts_with(matched).then(|| place + matched.len())
            });
        }
        let mut place = place;
        let mut characters = matched.chars();
        while let Some(c) = if behind { characters.next_back() } else { characters.next() } {
            let same = self.beside(place, behind).filter(|&other| is_same_letter(c, other));
            let Some(other) = same else { return Ok(None) };
            place = if behind { place - other.len_utf8() } else { place + other.len_utf8() };
        }
        Ok(Some(place))
    }

    fn set(&mut self, register: usize, value: usize) -> Result<(), TooCostly> {
        let old = std::mem::replace(&mut self.registers[register], value);
        if old == value {
            return Ok(());
        }
        self.push(Entry::Restore { register, value: old })
    }

    fn push(&mut self, entry: Entry) -> Result<(), TooCostly> {
        if self.stack.len() == MAX_STACK {
            return Err(TooCostly { limit: self.limit });
        }
        self.stack.push(entry);
        Ok(())
    }

    fn spend(&mut self, steps: u64) -> Result<(), TooCostly> {
        self.steps += steps;
        if self.steps > self.limit { Err(TooCostly { limit: self.limit }) } else { Ok(()) }
    }
}
