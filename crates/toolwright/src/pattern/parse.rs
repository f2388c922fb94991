//! Reads ECMA-262 patterns (22.2.1, with the `u` flag, and groups with flags of ECMA-262 2025). No engine is known here.

use std::collections::BTreeMap;

use super::class::CodePoints;
use super::tree::{Node, Repeat, Tree};
use super::{PatternError, property};

/// How deep groups may nest, so that reading them needs little stack.
const MAX_DEPTH: usize = 40;

/// How often a counted repetition may repeat: ECMA-262 knows no limit, but memory does.
const MAX_REPEAT: u32 = 10_000;

/// How many instructions a pattern may have, repeated parts counted as often as they are repeated: each may be tried
/// at each character.
const MAX_WEIGHT: u64 = 20_000;

/// How many ranges of a class are about as much work as one instruction.
const RANGES_PER_WEIGHT: usize = 32;

/// Reads a pattern.
pub(super) fn parse(ecma: &str) -> Result<Tree, PatternError> {
    let mut parser = Parser { characters: ecma.chars().collect(), ..Parser::default() };
    let Weighed { node, weight } = parser.alternatives()?;
    if parser.peek().is_some() {
        return Err(parser.refuse("`)` without `(`"));
    }
    let references = parser.resolved()?;
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
    /// References to groups, each with what is behind it: a group may come after its reference.
    references: Vec<(usize, Target)>,
    needs_tables: bool,
}

/// The flags of the group that is read.
#[derive(Clone, Copy, Default)]
struct Flags {
    ignores_case: bool,
    of_lines: bool,
    dot_is_all: bool,
}

/// The target of a reference.
enum Target {
    /// The number of a group, from 1.
    Number(usize),
    Name(String),
}

/// A part of a pattern, and about how many instructions it is.
struct Weighed {
    node: Node,
    weight: u64,
}

/// A term, and whether it may be repeated.
struct Term {
    node: Node,
    weight: u64,
    repeatable: bool,
}

impl Term {
    fn atom(node: Node) -> Self {
        let ranges = if let Node::Set(set) = &node { set.size() } else { 0 };
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

    fn refuse(&self, what: &str) -> PatternError {
        PatternError { offset: self.at, message: what.to_owned(), help: None }
    }

    fn alternatives(&mut self) -> Result<Weighed, PatternError> {
        let mut all = self.sequence()?;
        let mut parts = Vec::new();
        while self.take("|") {
            let next = self.sequence()?;
            parts.push(std::mem::replace(&mut all.node, next.node));
            all.weight = self.bearable(all.weight + next.weight + 1)?;
        }
        if !parts.is_empty() {
            parts.push(all.node);
            all.node = Node::Choice(parts);
        }
        Ok(all)
    }

    fn bearable(&self, weight: u64) -> Result<u64, PatternError> {
        if weight <= MAX_WEIGHT {
            return Ok(weight);
        }
        Err(self.refuse(&format!("more than {MAX_WEIGHT} steps, repetitions counted")))
    }

    fn sequence(&mut self) -> Result<Weighed, PatternError> {
        let (mut parts, mut weight) = (Vec::new(), 0);
        while let Some(c) = self.peek().filter(|&c| c != '|' && c != ')') {
            let before = self.groups;
            let term = self.term(c)?;
            let quantifier = self.quantifier()?;
            if quantifier.is_some() && !term.repeatable {
                return Err(self.refuse("an assertion cannot be repeated"));
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
            weight = self.bearable(weight + (term.weight + 1).saturating_mul(times))?;
        }
        Ok(Weighed { node: Node::Sequence(parts), weight })
    }

    fn term(&mut self, first: char) -> Result<Term, PatternError> {
        let start = self.at;
        let of_lines = self.flags.of_lines;
        self.at += 1;
        Ok(match first {
            '^' => Term::assertion(Node::Start { of_lines }),
            '$' => Term::assertion(Node::End { of_lines }),
            '.' if self.flags.dot_is_all => Term::atom(Node::Set(CodePoints::default().negated())),
            '.' => Term::atom(Node::Set(CodePoints::line_breaks().negated())),
            '(' => self.group()?,
            '[' => Term::atom(Node::Set(self.class()?)),
            '\\' => self.escape()?,
            '*' | '+' | '?' | '{' | '}' | ']' => {
                self.at = start;
                return Err(self.refuse(&format!("`{first}` has to be written `\\{first}`")));
            }
            c => self.character(c)?,
        })
    }

    /// A character outside of a class.
    fn character(&mut self, c: char) -> Result<Term, PatternError> {
        let set = self.any_case(CodePoints::one(c))?;
        Ok(Term::atom(if set.only().is_some() { Node::Literal(c) } else { Node::Set(set) }))
    }

    /// The set, and where case is ignored all that differ from it by case alone.
    fn any_case(&mut self, set: CodePoints) -> Result<CodePoints, PatternError> {
        if !self.flags.ignores_case {
            return Ok(set);
        }
        if let Some(folded) = set.any_case_of_ascii() {
            return Ok(folded);
        }
        self.needs_tables = true;
        property::any_case(&set).ok_or_else(|| self.without_tables("case of letters beyond ASCII"))
    }

    fn group(&mut self) -> Result<Term, PatternError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.refuse(&format!("groups nested more than {MAX_DEPTH} deep")));
        }
        let outside = self.flags;
        let look = |behind, negated| Some((behind, negated));
        let (mut index, mut around) = (None, None);
        if !self.take("?") {
            index = Some(self.groups);
        } else if self.take("=") {
            around = look(false, false);
        } else if self.take("!") {
            around = look(false, true);
        } else if self.take("<=") {
            around = look(true, false);
        } else if self.take("<!") {
            around = look(true, true);
        } else if self.take("<") {
            let name = self.group_name()?;
            index = Some(self.groups);
            if self.names.insert(name, self.groups).is_some() {
                return Err(self.refuse("a group has the name of another"));
            }
        } else if !self.take(":") {
            self.flags = self.group_flags()?;
        }
        self.groups += usize::from(index.is_some());
        let Weighed { node, weight } = self.alternatives()?;
        if !self.take(")") {
            return Err(self.refuse("a group without its `)`"));
        }
        self.depth -= 1;
        self.flags = outside;
        let inner = Box::new(node);
        Ok(match around {
            Some((behind, negated)) => {
                Term { node: Node::Look { behind, negated, inner }, weight, repeatable: false }
            }
            None => Term { node: Node::Group { index, inner }, weight, repeatable: true },
        })
    }

    /// The flags of `(?i-s:` (ECMA-262 2025, RegularExpressionModifiers).
    fn group_flags(&mut self) -> Result<Flags, PatternError> {
        let start = self.at;
        let (mut flags, mut on, mut seen) = (self.flags, true, Vec::new());
        while let Some(c) = self.next() {
            let flag = match c {
                'i' => &mut flags.ignores_case,
                'm' => &mut flags.of_lines,
                's' => &mut flags.dot_is_all,
                '-' if on => {
                    on = false;
                    continue;
                }
                ':' if !seen.is_empty() => return Ok(flags),
                ')' if !seen.is_empty() => {
                    let given: String = self.characters[start..self.at - 1].iter().collect();
                    let error = self.refuse("flags without a group,");
                    return Err(error.with_help(format!(
                        "write `(?{given}:…)` around the part of the pattern that they are for"
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
        let error = self.refuse("expected a group of ECMA-262");
        let help = "groups begin with `(`, `(?:`, `(?<name>`, `(?=`, `(?!`, `(?<=`, `(?<!`, or with flags such as `(?i:`";
        Err(error.with_help(help))
    }

    /// The name of a group, behind its `<`.
    fn group_name(&mut self) -> Result<String, PatternError> {
        let mut name = String::new();
        while let Some(c) = self.next().filter(|&c| c != '>') {
            if !is_of_name(c, name.is_empty()) {
                return Err(self.refuse("a name of a group has only letters, digits, `_` and `$`"));
            }
            name.push(c);
        }
        if name.is_empty() || self.characters.get(self.at - 1) != Some(&'>') {
            return Err(self.refuse("a group has no name, or no `>` after it"));
        }
        Ok(name)
    }

    /// How often what stands before is repeated, at least and at most, and whether as often as possible.
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
            return Err(self.refuse("a `{` that counts nothing has to be written `\\{`"));
        }
        if most.is_some_and(|most| most < least) {
            return Err(self.refuse("a repetition at least more often than at most"));
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
            return Err(self.refuse("a `{` that counts nothing has to be written `\\{`"));
        }
        digits
            .parse()
            .ok()
            .filter(|&count| count <= MAX_REPEAT)
            .ok_or_else(|| self.refuse(&format!("a repetition of more than {MAX_REPEAT}")))
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
                    return Err(self.refuse("`\\k` without the name of a group"));
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
            // What the group will have matched may be beyond ASCII.
            self.needs_tables = true;
            property::any_case(&CodePoints::one('a'))
                .ok_or_else(|| self.without_tables("a reference regardless of case"))?;
        }
        let index = self.references.len();
        self.references.push((self.at, target));
        Ok(Term::atom(Node::Reference { index, ignores_case }))
    }

    /// The groups that references are to.
    fn resolved(&self) -> Result<Vec<usize>, PatternError> {
        let resolved = |(at, target): &(usize, Target)| {
            let refuse = |message: String| PatternError { offset: *at, message, help: None };
            match target {
                Target::Number(number) if *number <= self.groups => Ok(number - 1),
                Target::Number(number) => Err(refuse(format!(
                    "`\\{number}` refers to a group, but there are {},",
                    self.groups
                ))),
                Target::Name(name) => self
                    .names
                    .get(name)
                    .copied()
                    .ok_or_else(|| refuse(format!("no group has the name `{name}`"))),
            }
        };
        self.references.iter().map(resolved).collect()
    }

    fn without_tables(&self, what: &str) -> PatternError {
        let error = self.refuse(&format!("{what} needs Unicode's tables"));
        error.with_help("turn on the feature `patterns`, or list the characters in a class")
    }

    /// Reads what follows a `\`, in a class or outside.
    fn escaped(&mut self) -> Result<Escaped, PatternError> {
        let Some(c) = self.next() else { return Err(self.refuse("a `\\` with nothing after it")) };
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
            c => return Err(self.refuse(&format!("`\\{c}` means nothing"))),
        })
    }

    /// Reads what follows `\\p` or `\\P`.
    fn property(&mut self, negated: bool) -> Result<CodePoints, PatternError> {
        if !self.take("{") {
            return Err(self.refuse("`\\p` without a property such as `\\p{L}`"));
        }
        let start = self.at;
        while self.peek().is_some_and(|c| c != '}') {
            self.at += 1;
        }
        let name: String = self.characters[start..self.at].iter().collect();
        if !self.take("}") {
            return Err(self.refuse("a `\\p{` without its `}`"));
        }
        if !property::is_property(&name) {
            let error = self.refuse(&format!("ECMA-262 knows no Unicode property `{name}`"));
            return Err(error.with_help(
                "write a general category (`L`, `Lu`), a script (`Script=Greek`) or a property such as `Alphabetic`",
            ));
        }
        self.needs_tables = true;
        let points = property::code_points(&name)
            .map_err(|property::NoTables| self.without_tables("a Unicode property"))?
            .ok_or_else(|| self.refuse(&format!("the tables here lack `{name}`")))?;
        self.any_case(if negated { points.negated() } else { points })
    }

    fn control(&mut self) -> Result<char, PatternError> {
        match self.next().filter(char::is_ascii_alphabetic) {
            Some(letter) => Ok(char::from(letter as u8 % 32)),
            None => Err(self.refuse("`\\c` without a letter")),
        }
    }

    fn hex_digits(&mut self, length: usize) -> Result<u32, PatternError> {
        let mut code = 0;
        for _ in 0..length {
            match self.next().and_then(|c| c.to_digit(16)) {
                Some(digit) => code = code * 16 + digit,
                None => {
                    return Err(self.refuse(&format!("expected {length} hexadecimal digits")));
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
            return Err(self.refuse("a broken `\\u{`"));
        }
        if code > u32::from(char::MAX) { Err(self.refuse("no code point")) } else { Ok(code) }
    }

    fn class(&mut self) -> Result<CodePoints, PatternError> {
        let negated = self.take("^");
        let mut points = CodePoints::default();
        while !self.take("]") {
            let low = self.class_atom()?;
            let is_range = self.peek() == Some('-')
                && self.characters.get(self.at + 1).is_some_and(|&c| c != ']');
            if is_range {
                self.at += 1;
                let high = self.class_atom()?;
                match (low, high) {
                    (Escaped::Point(low), Escaped::Point(high)) if low <= high => {
                        points.join(&self.any_case(CodePoints::between(low, high))?);
                    }
                    _ => return Err(self.refuse("a range that is none")),
                }
            } else {
                points.join(&match low {
                    Escaped::Point(point) => self.any_case(CodePoints::between(point, point))?,
                    Escaped::Set(points) => points,
                });
            }
        }
        Ok(if negated { points.negated() } else { points })
    }

    fn class_atom(&mut self) -> Result<Escaped, PatternError> {
        match self.next() {
            None => Err(self.refuse("a class without its `]`")),
            Some('\\') if self.take("b") => Ok(Escaped::point('\u{8}')),
            Some('\\') => self.escaped(),
            Some(c) => Ok(Escaped::point(c)),
        }
    }
}

/// The meaning of one character or escape of a class.
enum Escaped {
    /// One code point; it may be half a surrogate pair, which no string holds.
    Point(u32),
    /// A set.
    Set(CodePoints),
}

impl Escaped {
    fn point(c: char) -> Self {
        Self::Point(u32::from(c))
    }
}

/// Whether a character may stand in the name of a group (`RegExpIdentifierName`).
fn is_of_name(c: char, is_first: bool) -> bool {
    c == '$' || c == '_' || c.is_alphabetic() || (!is_first && c.is_alphanumeric())
}
