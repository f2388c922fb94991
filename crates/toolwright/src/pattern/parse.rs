//! Parses ECMA-262 patterns (section 22.2.1, with the `u` flag, and groups with flags of ECMA-262 2025).

use std::collections::BTreeMap;

use super::class::CodePoints;
use super::tree::{Node, Repeat, Tree};
use super::{PatternError, property};
use crate::unicode::is_name_character;

/// The maximum nesting of groups, since the parser is recursive.
const MAX_DEPTH: usize = 40;

/// The maximum count of a repetition, which limits memory. ECMA-262 has no such limit.
const MAX_REPEAT: u32 = 10_000;

/// The maximum number of instructions, with repeated parts counted each time, since each instruction may be tried at
/// each character.
const MAX_WEIGHT: u64 = 20_000;

/// The number of ranges of a class that count as one instruction.
const RANGES_PER_WEIGHT: usize = 32;

/// Parses a pattern.
pub(super) fn parse(ecma: &str) -> Result<Tree, PatternError> {
    let mut parser = Parser { characters: ecma.chars().collect(), ..Parser::default() };
    let Weighted { node, weight } = parser.alternatives()?;
    if parser.peek().is_some() {
        return Err(parser.error("`)` without `(`"));
    }
    let references = parser.resolve_references()?;
    let weight = weight.max(parser.weight_of_read());
    let Parser { groups, needs_tables, .. } = parser;
    Ok(Tree { root: node, weight, groups, references, needs_tables })
}

#[derive(Default)]
struct Parser {
    characters: Vec<char>,
    at: usize,
    depth: usize,
    flags: Flags,
    groups: usize,
    names: BTreeMap<String, usize>,
    /// References to groups, each with the position after it. A group may come after its reference.
    references: Vec<(usize, Target)>,
    needs_tables: bool,
    /// The ranges of code points that were read, of which the pattern may keep few.
    read_ranges: usize,
}

/// The flags of the current group.
#[derive(Clone, Copy, Default)]
struct Flags {
    ignores_case: bool,
    multiline: bool,
    dot_all: bool,
}

/// The target of a reference.
enum Target {
    /// The number of a group, from 1.
    Number(usize),
    Name(String),
}

/// A part of a pattern, and its approximate number of instructions.
struct Weighted {
    node: Node,
    weight: u64,
}

/// A term, which may or may not be repeatable.
struct Term {
    node: Node,
    weight: u64,
    repeatable: bool,
}

impl Term {
    fn atom(node: Node) -> Self {
        let ranges = if let Node::Set(set) = &node { set.range_count() } else { 0 };
        Self { node, weight: 1 + (ranges / RANGES_PER_WEIGHT) as u64, repeatable: true }
    }

    fn assertion(node: Node) -> Self {
        Self { node, weight: 1, repeatable: false }
    }
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    fn take(&mut self, text: &str) -> bool {
        let taken = self.characters[self.at..].iter().take(text.chars().count()).copied();
        let found = taken.eq(text.chars());
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn error(&self, what: &str) -> PatternError {
        PatternError { offset: self.at, message: what.to_owned(), help: None }
    }

    fn alternatives(&mut self) -> Result<Weighted, PatternError> {
        let mut all = self.sequence()?;
        let mut parts = Vec::new();
        while self.take("|") {
            let next = self.sequence()?;
            parts.push(std::mem::replace(&mut all.node, next.node));
            all.weight = self.check_weight(all.weight + next.weight + 1)?;
        }
        if !parts.is_empty() {
            parts.push(all.node);
            all.node = Node::Choice(parts);
        }
        Ok(all)
    }

    fn check_weight(&self, weight: u64) -> Result<u64, PatternError> {
        if weight <= MAX_WEIGHT {
            return Ok(weight);
        }
        Err(self.error(&format!("more than {MAX_WEIGHT} steps, with repetitions")))
    }

    /// Counts ranges that take time now, whether or not they are repeated.
    fn read(&mut self, ranges: usize) -> Result<(), PatternError> {
        self.read_ranges += ranges;
        self.check_weight(self.weight_of_read()).map(drop)
    }

    fn weight_of_read(&self) -> u64 {
        (self.read_ranges / RANGES_PER_WEIGHT) as u64
    }

    fn sequence(&mut self) -> Result<Weighted, PatternError> {
        let (mut parts, mut weight) = (Vec::new(), 0);
        while let Some(c) = self.peek().filter(|&c| c != '|' && c != ')') {
            let before = self.groups;
            let term = self.term(c)?;
            let quantifier = self.quantifier()?;
            if quantifier.is_some() && !term.repeatable {
                return Err(self.error("an assertion cannot be repeated"));
            }
            let mut times = 1;
            parts.push(match quantifier {
                None => term.node,
                Some((least, most, greedy)) => {
                    times = u64::from(most.unwrap_or(least).max(1));
                    let groups = before..self.groups;
                    Node::Repeat(Box::new(Repeat { inner: term.node, least, most, greedy, groups }))
                }
            });
            weight = self.check_weight(weight + (term.weight + 1).saturating_mul(times))?;
        }
        Ok(Weighted { node: Node::Sequence(parts), weight })
    }

    fn term(&mut self, first: char) -> Result<Term, PatternError> {
        let start = self.at;
        let multiline = self.flags.multiline;
        self.at += 1;
        Ok(match first {
            '^' => Term::assertion(Node::Start { multiline }),
            '$' => Term::assertion(Node::End { multiline }),
            '.' if self.flags.dot_all => Term::atom(Node::Set(CodePoints::default().negated())),
            '.' => Term::atom(Node::Set(CodePoints::line_breaks().negated())),
            '(' => self.group()?,
            '[' => Term::atom(Node::Set(self.class()?)),
            '\\' => self.escape()?,
            '*' | '+' | '?' | '{' | '}' | ']' => {
                self.at = start;
                return Err(self.error(&format!("`{first}` has to be written `\\{first}`")));
            }
            c => self.character(c)?,
        })
    }

    /// Returns the term for a character outside of a class.
    fn character(&mut self, c: char) -> Result<Term, PatternError> {
        let set = self.any_case(CodePoints::one(c))?;
        Ok(Term::atom(if set.single().is_some() { Node::Literal(c) } else { Node::Set(set) }))
    }

    /// Adds all characters that differ from the set only by case, if case is ignored.
    fn any_case(&mut self, set: CodePoints) -> Result<CodePoints, PatternError> {
        if !self.flags.ignores_case {
            return Ok(set);
        }
        let set = set.sorted();
        if let Some(folded) = set.any_case_of_ascii() {
            return Ok(folded);
        }
        self.needs_tables = true;
        let folded = property::any_case(&set)
            .ok_or_else(|| self.without_tables("case of letters beyond ASCII"))?;
        self.read(folded.range_count())?;
        Ok(folded.sorted())
    }

    fn group(&mut self) -> Result<Term, PatternError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(&format!("groups nested more than {MAX_DEPTH} deep")));
        }
        let outside = self.flags;
        let look = |behind, negated| Some((behind, negated));
        let (mut index, mut lookaround) = (None, None);
        if !self.take("?") {
            index = Some(self.groups);
        } else if self.take("=") {
            lookaround = look(false, false);
        } else if self.take("!") {
            lookaround = look(false, true);
        } else if self.take("<=") {
            lookaround = look(true, false);
        } else if self.take("<!") {
            lookaround = look(true, true);
        } else if self.take("<") {
            let name = self.group_name()?;
            index = Some(self.groups);
            if self.names.insert(name, self.groups).is_some() {
                return Err(self.error("two groups have the same name"));
            }
        } else if !self.take(":") {
            self.flags = self.group_flags()?;
        }
        self.groups += usize::from(index.is_some());
        let Weighted { node, weight } = self.alternatives()?;
        if !self.take(")") {
            return Err(self.error("a group without its `)`"));
        }
        self.depth -= 1;
        self.flags = outside;
        let inner = Box::new(node);
        Ok(match lookaround {
            Some((behind, negated)) => Term {
                node: Node::Lookaround { behind, negated, inner },
                weight,
                repeatable: false,
            },
            None => Term { node: Node::Group { index, inner }, weight, repeatable: true },
        })
    }

    /// Parses the flags of `(?i-s:` (ECMA-262 2025, RegularExpressionModifiers).
    fn group_flags(&mut self) -> Result<Flags, PatternError> {
        let start = self.at;
        let (mut flags, mut on, mut seen) = (self.flags, true, Vec::new());
        while let Some(c) = self.next() {
            let flag = match c {
                'i' => &mut flags.ignores_case,
                'm' => &mut flags.multiline,
                's' => &mut flags.dot_all,
                '-' if on => {
                    on = false;
                    continue;
                }
                ':' if !seen.is_empty() => return Ok(flags),
                ')' if !seen.is_empty() => {
                    let given: String = self.characters[start..self.at - 1].iter().collect();
                    let error = self.error("flags without a group");
                    return Err(error.with_help(format!(
                        "write `(?{given}:…)` around the part of the pattern to which they apply"
                    )));
                }
                _ => break,
            };
            if seen.contains(&c) {
                break;
            }
            *flag = on;
            seen.push(c);
        }
        let error = self.error("expected a group of ECMA-262");
        let help = "groups begin with `(`, `(?:`, `(?<name>`, `(?=`, `(?!`, `(?<=`, `(?<!`, or with flags such as `(?i:`";
        Err(error.with_help(help))
    }

    /// Parses the name of a group, after its `<`.
    fn group_name(&mut self) -> Result<String, PatternError> {
        let mut name = String::new();
        while let Some(c) = self.next().filter(|&c| c != '>') {
            if !is_name_character(c, name.is_empty()) {
                return Err(self.error("a name of a group has only letters, digits, `_` and `$`"));
            }
            name.push(c);
        }
        if name.is_empty() || self.characters.get(self.at - 1) != Some(&'>') {
            return Err(self.error("a group has no name, or no `>` after it"));
        }
        Ok(name)
    }

    /// Parses a quantifier: minimum, maximum, and true if it is greedy.
    fn quantifier(&mut self) -> Result<Option<(u32, Option<u32>, bool)>, PatternError> {
        let Some(c) = self.peek() else { return Ok(None) };
        let (least, most) = match c {
            '*' | '{' => (0, None),
            '+' => (1, None),
            '?' => (0, Some(1)),
            _ => return Ok(None),
        };
        self.at += 1;
        let (least, most) = if c == '{' { self.counts()? } else { (least, most) };
        Ok(Some((least, most, !self.take("?"))))
    }

    fn counts(&mut self) -> Result<(u32, Option<u32>), PatternError> {
        let least = self.count()?;
        let most = match (self.take(","), self.peek()) {
            (false, _) => Some(least),
            (true, Some('}')) => None,
            (true, _) => Some(self.count()?),
        };
        if !self.take("}") {
            return Err(self.error("a `{` without a count has to be written `\\{`"));
        }
        if most.is_some_and(|most| most < least) {
            return Err(self.error("a repetition whose minimum exceeds its maximum"));
        }
        Ok((least, most))
    }

    fn count(&mut self) -> Result<u32, PatternError> {
        let mut digits = String::new();
        while let Some(digit) = self.peek().filter(char::is_ascii_digit) {
            digits.push(digit);
            self.at += 1;
        }
        if digits.is_empty() {
            return Err(self.error("a `{` without a count has to be written `\\{`"));
        }
        digits
            .parse()
            .ok()
            .filter(|&count| count <= MAX_REPEAT)
            .ok_or_else(|| self.error(&format!("a repetition of more than {MAX_REPEAT}")))
    }

    fn escape(&mut self) -> Result<Term, PatternError> {
        let ignores_case = self.flags.ignores_case;
        match self.peek() {
            Some(c @ ('b' | 'B')) => {
                self.at += 1;
                Ok(Term::assertion(Node::Boundary { negated: c == 'B', ignores_case }))
            }
            Some('1'..='9') => {
                let mut number: usize = 0;
                while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
                    number = number.saturating_mul(10).saturating_add(digit as usize);
                    self.at += 1;
                }
                self.reference(Target::Number(number))
            }
            Some('k') => {
                self.at += 1;
                if !self.take("<") {
                    return Err(self.error("`\\k` without the name of a group"));
                }
                let name = self.group_name()?;
                self.reference(Target::Name(name))
            }
            _ => match self.escaped()? {
                Escaped::Point(point) => match char::from_u32(point) {
                    Some(c) => self.character(c),
                    None => Ok(Term::atom(Node::Set(CodePoints::default()))),
                },
                Escaped::Set(points) => Ok(Term::atom(Node::Set(points))),
            },
        }
    }

    fn reference(&mut self, target: Target) -> Result<Term, PatternError> {
        let ignores_case = self.flags.ignores_case;
        if ignores_case {
            // The text of the group may not be ASCII.
            self.needs_tables = true;
            property::any_case(&CodePoints::one('a'))
                .ok_or_else(|| self.without_tables("a reference that ignores case"))?;
        }
        let index = self.references.len();
        self.references.push((self.at, target));
        Ok(Term::atom(Node::Reference { index, ignores_case }))
    }

    /// Returns the group of each reference.
    fn resolve_references(&self) -> Result<Vec<usize>, PatternError> {
        let resolve = |(at, target): &(usize, Target)| {
            let error = |message: String| PatternError { offset: *at, message, help: None };
            match target {
                Target::Number(number) if *number <= self.groups => Ok(number - 1),
                Target::Number(number) => {
                    Err(error(format!("`\\{number}` refers to a group that does not exist")))
                }
                Target::Name(name) => self
                    .names
                    .get(name)
                    .copied()
                    .ok_or_else(|| error(format!("no group has the name `{name}`"))),
            }
        };
        self.references.iter().map(resolve).collect()
    }

    fn without_tables(&self, what: &str) -> PatternError {
        let error = self.error(&format!("{what} needs the Unicode tables"));
        error.with_help("turn on the feature `patterns`, or list the characters in a class")
    }

    /// Parses an escape after its `\`, inside or outside of a class.
    fn escaped(&mut self) -> Result<Escaped, PatternError> {
        let Some(c) = self.next() else { return Err(self.error("a `\\` with nothing after it")) };
        Ok(match c {
            'd' => Escaped::Set(CodePoints::digits()),
            'D' => Escaped::Set(CodePoints::digits().negated()),
            'w' => Escaped::Set(self.any_case(CodePoints::word())?),
            'W' => Escaped::Set(self.any_case(CodePoints::word())?.negated()),
            's' => Escaped::Set(CodePoints::space()),
            'S' => Escaped::Set(CodePoints::space().negated()),
            'p' => Escaped::Set(self.property(false)?),
            'P' => Escaped::Set(self.property(true)?),
            't' => Escaped::point('\t'),
            'n' => Escaped::point('\n'),
            'v' => Escaped::point('\u{b}'),
            'f' => Escaped::point('\u{c}'),
            'r' => Escaped::point('\r'),
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => Escaped::point('\0'),
            'c' => Escaped::point(self.control()?),
            'x' => Escaped::Point(self.hex_digits(2)?),
            'u' => Escaped::Point(self.unicode()?),
            c if "^$\\.*+?()[]{}|/-".contains(c) => Escaped::point(c),
            c => return Err(self.error(&format!("`\\{c}` is not an escape"))),
        })
    }

    /// Parses a property after `\\p` or `\\P`.
    fn property(&mut self, negated: bool) -> Result<CodePoints, PatternError> {
        if !self.take("{") {
            return Err(self.error("`\\p` without a property such as `\\p{L}`"));
        }
        let start = self.at;
        while self.peek().is_some_and(|c| c != '}') {
            self.at += 1;
        }
        let name: String = self.characters[start..self.at].iter().collect();
        if !self.take("}") {
            return Err(self.error("a `\\p{` without its `}`"));
        }
        if !property::is_property(&name) {
            let error = self.error(&format!("ECMA-262 has no Unicode property `{name}`"));
            return Err(error.with_help(
                "write a general category (`L`, `Lu`), a script (`Script=Greek`) or a property such as `Alphabetic`",
            ));
        }
        self.needs_tables = true;
        let points = property::code_points(&name)
            .map_err(|property::NoTables| self.without_tables("a Unicode property"))?
            .ok_or_else(|| self.error(&format!("the Unicode tables do not have `{name}`")))?;
        // Finding a property takes time, too.
        self.read(RANGES_PER_WEIGHT)?;
        self.any_case(if negated { points.negated() } else { points })
    }

    fn control(&mut self) -> Result<char, PatternError> {
        match self.next().filter(char::is_ascii_alphabetic) {
            Some(letter) => Ok(char::from(letter as u8 % 32)),
            None => Err(self.error("`\\c` without a letter")),
        }
    }

    fn hex_digits(&mut self, length: usize) -> Result<u32, PatternError> {
        let mut code = 0;
        for _ in 0..length {
            match self.next().and_then(|c| c.to_digit(16)) {
                Some(digit) => code = code * 16 + digit,
                None => {
                    return Err(self.error(&format!("expected {length} hexadecimal digits")));
                }
            }
        }
        Ok(code)
    }

    fn unicode(&mut self) -> Result<u32, PatternError> {
        if self.take("{") {
            return self.braced();
        }
        let code = self.hex_digits(4)?;
        let after = self.at;
        if (0xd800..0xdc00).contains(&code) && self.take("\\u") {
            if let Ok(low @ 0xdc00..0xe000) = self.hex_digits(4) {
                return Ok(0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00));
            }
            self.at = after;
        }
        Ok(code)
    }

    fn braced(&mut self) -> Result<u32, PatternError> {
        let mut code: u32 = 0;
        let mut digits = 0;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) {
            code = code.saturating_mul(16).saturating_add(digit);
            digits += 1;
            self.at += 1;
        }
        if digits == 0 || !self.take("}") {
            return Err(self.error("a broken `\\u{`"));
        }
        if code > u32::from(char::MAX) { Err(self.error("not a code point")) } else { Ok(code) }
    }

    fn class(&mut self) -> Result<CodePoints, PatternError> {
        let negated = self.take("^");
        // Sets that ignore case already, if needed, and single characters and ranges, which do not.
        let (mut sets, mut points) = (CodePoints::default(), CodePoints::default());
        while !self.take("]") {
            self.read(1)?;
            let low = self.class_atom()?;
            let is_range = self.peek() == Some('-')
                && self.characters.get(self.at + 1).is_some_and(|&c| c != ']');
            if is_range {
                self.at += 1;
                let high = self.class_atom()?;
                match (low, high) {
                    (Escaped::Point(low), Escaped::Point(high)) if low <= high => {
                        points.extend(&CodePoints::between(low, high));
                    }
                    _ => return Err(self.error("an invalid range")),
                }
            } else {
                match low {
                    Escaped::Point(point) => points.extend(&CodePoints::between(point, point)),
                    Escaped::Set(set) => {
                        self.read(set.range_count())?;
                        sets.extend(&set);
                    }
                }
            }
        }
        sets.extend(&self.any_case(points)?);
        Ok(if negated { sets.negated() } else { sets })
    }

    fn class_atom(&mut self) -> Result<Escaped, PatternError> {
        match self.next() {
            None => Err(self.error("a class without its `]`")),
            Some('\\') if self.take("b") => Ok(Escaped::point('\u{8}')),
            Some('\\') => self.escaped(),
            Some(c) => Ok(Escaped::point(c)),
        }
    }
}

/// A parsed character or escape.
enum Escaped {
    /// One code point; it may be a surrogate, which no string holds.
    Point(u32),
    /// A set.
    Set(CodePoints),
}

impl Escaped {
    fn point(c: char) -> Self {
        Self::Point(u32::from(c))
    }
}
