//! Runs programs on texts and counts the steps.

use super::super::TooCostly;
use super::super::class::CodePoints;
use super::super::property::is_same_letter;
use super::program::{Address, Operation, Program, Run};
use crate::json::BYTES_PER_STEP;

/// The step limit for an empty text.
const BASE_STEPS: u64 = 1_000_000;

/// The additional steps for each byte of a text.
const STEPS_PER_BYTE: u64 = 30;

/// The registers that are reset in one step.
const REGISTERS_PER_STEP: u64 = 16;

/// The maximum number of entries on the stack.
const MAX_STACK: usize = 2_000_000;

/// The value of a register that is not set.
const UNSET: usize = usize::MAX;

/// Returns the step limit for a text.
pub(super) fn limit(text: &str) -> u64 {
    BASE_STEPS.saturating_add(STEPS_PER_BYTE.saturating_mul(text.len() as u64))
}

/// Returns true if a program matches somewhere in a text, and subtracts the steps from those that are left.
pub(super) fn is_match(program: &Program, text: &str, left: &mut u64) -> Result<bool, TooCostly> {
    let limit = limit(text).min(*left);
    let mut machine =
        Machine { program, text, registers: Vec::new(), stack: Vec::new(), limit, steps: 0 };
    let found = machine.spend(program.registers as u64 / REGISTERS_PER_STEP).and_then(|()| {
        machine.registers = vec![UNSET; program.registers];
        search(&mut machine)
    });
    *left -= machine.steps.min(limit);
    found
}

/// Tries each position of the text.
fn search(machine: &mut Machine<'_>) -> Result<bool, TooCostly> {
    let Machine { program, text, .. } = *machine;
    let only_at_start =
        matches!(program.operations.first(), Some(Operation::Start { multiline: false }));
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

/// An entry of the stack, for backtracking.
enum Entry {
    /// Restores a register.
    Restore { register: usize, value: usize },
    /// Resumes at an operation and a position.
    Resume { address: Address, position: usize },
    /// Resumes at an operation and the position one character closer to `end`, repeatedly until `end` is reached.
    Shift { address: Address, position: usize, end: usize },
}

impl Machine<'_> {
    /// Returns true if the operations from an address accept the text from a position. If they do, the registers and
    /// the entries on the stack are kept.
    fn run(&mut self, mut address: Address, mut position: usize) -> Result<bool, TooCostly> {
        let base = self.stack.len();
        let program = self.program;
        loop {
            self.spend(1)?;
            let operation = &program.operations[address];
            if matches!(operation, Operation::Accept) {
                return Ok(true);
            }
            match self.step(operation, address, position)?.or_else(|| self.backtrack(base)) {
                Some(next) => (address, position) = next,
                None => return Ok(false),
            }
        }
    }

    /// Runs an operation and returns the next address and position; `None` if it fails.
    fn step(
        &mut self,
        operation: &Operation,
        address: Address,
        position: usize,
    ) -> Result<Option<(Address, usize)>, TooCostly> {
        let next = address + 1;
        let holds = |holds: bool| holds.then_some((next, position));
        Ok(match operation {
            Operation::Set { set, backward } => {
                self.after(position, *backward, set).map(|position| (next, position))
            }
            Operation::Run(run) => {
                self.match_run(run, next, position)?.map(|position| (next, position))
            }
            Operation::Start { multiline } => {
                let before = self.neighbor(position, true);
                holds(before.is_none_or(|c| *multiline && CodePoints::is_line_break(c)))
            }
            Operation::End { multiline } => {
                let after = self.neighbor(position, false);
                holds(after.is_none_or(|c| *multiline && CodePoints::is_line_break(c)))
            }
            Operation::Boundary { negated, ignores_case } => {
                let is_word = |backward| {
                    self.neighbor(position, backward)
                        .is_some_and(|c| CodePoints::is_word_character(c, *ignores_case))
                };
                holds((is_word(true) != is_word(false)) != *negated)
            }
            Operation::Save(register) => {
                self.set(*register, position)?;
                Some((next, position))
            }
            Operation::Reference { group, ignores_case, backward } => self
                .reference(*group, *ignores_case, *backward, position)?
                .map(|position| (next, position)),
            Operation::Split(otherwise) => {
                self.push(Entry::Resume { address: *otherwise, position })?;
                Some((next, position))
            }
            Operation::Jump(address) => Some((*address, position)),
            Operation::EnterLoop { register } => {
                self.set(*register, 0)?;
                Some((next, position))
            }
            Operation::Loop { register, least, most, greedy, exit } => {
                let count = self.registers[*register];
                if count < *least as usize {
                    return Ok(Some((next, position)));
                }
                if most.is_some_and(|most| count >= most as usize) {
                    return Ok(Some((*exit, position)));
                }
                let (first, second) = if *greedy { (next, *exit) } else { (*exit, next) };
                self.push(Entry::Resume { address: second, position })?;
                Some((first, position))
            }
            Operation::BeginRepetition { register, groups } => {
                self.set(*register, self.registers[*register] + 1)?;
                self.set(register + 1, position)?;
                for slot in 2 * groups.start..2 * groups.end {
                    self.spend(1)?;
                    self.set(slot, UNSET)?;
                }
                Some((next, position))
            }
            Operation::EndRepetition { register, least, head } => {
                let is_free = self.registers[*register] > *least as usize;
                let is_empty = self.registers[register + 1] == position;
                (!(is_free && is_empty)).then_some((*head, position))
            }
            Operation::Lookaround { negated, end } => {
                let found = self.lookaround(next, position, *negated)?;
                (found != *negated).then_some((*end, position))
            }
            Operation::Accept => None,
        })
    }

    /// Returns the first position to try after a run, and puts the others on the stack.
    fn match_run(
        &mut self,
        run: &Run,
        next: Address,
        position: usize,
    ) -> Result<Option<usize>, TooCostly> {
        let (mut count, mut first, mut last) = (0, position, position);
        while run.most.is_none_or(|most| count < most) {
            let Some(after) = self.after(last, run.backward, &run.set) else { break };
            self.spend(1)?;
            count += 1;
            last = after;
            first = if count <= run.least { after } else { first };
        }
        if count < run.least {
            return Ok(None);
        }
        let (position, end) = if run.greedy { (last, first) } else { (first, last) };
        if position != end {
            self.push(Entry::Shift { address: next, position, end })?;
        }
        Ok(Some(position))
    }

    /// Returns true if the operations from an address match at a position. Captures are kept unless the lookaround is
    /// negated.
    fn lookaround(
        &mut self,
        address: Address,
        position: usize,
        negated: bool,
    ) -> Result<bool, TooCostly> {
        let base = self.stack.len();
        let found = self.run(address, position)?;
        if negated {
            self.undo(base);
        } else {
            self.drop_resume_points(base);
        }
        Ok(found)
    }

    /// Undoes changes back to the last entry above the base at which to resume, and returns its address and position.
    fn backtrack(&mut self, base: usize) -> Option<(Address, usize)> {
        while self.stack.len() > base {
            match self.stack.pop()? {
                Entry::Restore { register, value } => self.registers[register] = value,
                Entry::Resume { address, position } => return Some((address, position)),
                Entry::Shift { address, position, end } => {
                    let backward = end < position;
                    let width = self.neighbor(position, backward).map_or(0, char::len_utf8);
                    let position = if backward { position - width } else { position + width };
                    if position != end {
                        // This cannot exceed the limit, since an entry was popped.
                        self.stack.push(Entry::Shift { address, position, end });
                    }
                    return Some((address, position));
                }
            }
        }
        None
    }

    /// Undoes all changes above the base.
    fn undo(&mut self, base: usize) {
        for entry in self.stack.drain(base..).rev() {
            if let Entry::Restore { register, value } = entry {
                self.registers[register] = value;
            }
        }
    }

    /// Removes the entries above the base at which to resume, and keeps those that restore registers.
    fn drop_resume_points(&mut self, base: usize) {
        let mut kept = base;
        for index in base..self.stack.len() {
            if matches!(self.stack[index], Entry::Restore { .. }) {
                self.stack.swap(kept, index);
                kept += 1;
            }
        }
        self.stack.truncate(kept);
    }

    /// The character after a position, or before it if `backward`.
    fn neighbor(&self, position: usize, backward: bool) -> Option<char> {
        if backward {
            self.text[..position].chars().next_back()
        } else {
            self.text[position..].chars().next()
        }
    }

    /// The position after one character of a set.
    fn after(&self, position: usize, backward: bool, set: &CodePoints) -> Option<usize> {
        let c = self.neighbor(position, backward).filter(|&c| set.contains(c))?;
        Some(if backward { position - c.len_utf8() } else { position + c.len_utf8() })
    }

    /// The position after the text that a group matched.
    fn reference(
        &mut self,
        group: usize,
        ignores_case: bool,
        backward: bool,
        position: usize,
    ) -> Result<Option<usize>, TooCostly> {
        let (start, end) = (self.registers[2 * group], self.registers[2 * group + 1]);
        if start == UNSET || end == UNSET {
            return Ok(Some(position));
        }
        let text = self.text;
        let matched = &text[start..end];
        if !ignores_case {
            self.spend((matched.len() / BYTES_PER_STEP) as u64)?;
            return Ok(if backward {
                text[..position].ends_with(matched).then(|| position - matched.len())
            } else {
                text[position..].starts_with(matched).then(|| position + matched.len())
            });
        }
        let mut position = position;
        let mut characters = matched.chars();
        while let Some(c) = if backward { characters.next_back() } else { characters.next() } {
            self.spend(1)?;
            let same = self.neighbor(position, backward).filter(|&other| is_same_letter(c, other));
            let Some(other) = same else { return Ok(None) };
            position =
                if backward { position - other.len_utf8() } else { position + other.len_utf8() };
        }
        Ok(Some(position))
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
