//! ECMA-262 patterns in the words of `regex-lite`: equal in meaning, or refused. No pattern is run here.
//!
//! Only whether a pattern is found somewhere matters, so captures become plain groups. A class becomes the list of its
//! code points: what `\s` or a negation means is then decided here alone.

use std::collections::BTreeSet;

use super::PatternError;
use super::class::CodePoints;

/// How deep groups may nest, so that reading them needs little stack.
const MAX_DEPTH: usize = 40;

/// How often a counted repetition may repeat: ECMA-262 knows no limit, but memory does.
const MAX_REPEAT: u32 = 10_000;

/// How many instructions a pattern may have, repeated parts counted as often as they are repeated: each may be tried
/// at each character.
const MAX_WEIGHT: u64 = 20_000;

/// A pattern for an engine of this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translated {
    /// The pattern as the engine writes it.
    pub regex: String,
    /// The engine that it is for.
    pub engine: Engine,
    /// About how many instructions it is: what trying it at a character may cost.
    pub weight: u64,
}

/// What runs a translated pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// `regex-lite`, in time that is linear in the length of a text.
    Linear,
}

/// Translates an ECMA-262 pattern.
///
/// # Errors
///
/// A pattern that is not valid, one that no engine gives the same meaning, and one that is too large.
pub fn translate(ecma: &str) -> Result<Translated, PatternError> {
    let characters = ecma.chars().collect();
    let mut translator = Translator { characters, at: 0, depth: 0, names: BTreeSet::new() };
    let Weighed { regex, weight } = translator.alternatives()?;
    if translator.peek().is_some() {
        return Err(translator.refuse("`)` without `(`"));
    }
    Ok(Translated { regex, engine: Engine::Linear, weight })
}

struct Translator {
    characters: Vec<char>,
    at: usize,
    depth: usize,
    names: BTreeSet<String>,
}

/// A part of a pattern, translated, and about how many instructions it is.
#[derive(Default)]
struct Weighed {
    regex: String,
    weight: u64,
}

/// A translated term, and whether it may be repeated.
struct Term {
    regex: String,
    weight: u64,
    repeatable: bool,
}

impl Term {
    fn atom(regex: String) -> Self {
        Self { regex, weight: 1, repeatable: true }
    }

    fn assertion(regex: &str) -> Self {
        Self { regex: regex.to_owned(), weight: 1, repeatable: false }
    }
}

impl Translator {
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
        while self.take("|") {
            let next = self.sequence()?;
            all.regex.push('|');
            all.regex += &next.regex;
            all.weight = self.bearable(all.weight + next.weight + 1)?;
        }
        Ok(all)
    }

    fn bearable(&self, weight: u64) -> Result<u64, PatternError> {
        if weight <= MAX_WEIGHT {
            return Ok(weight);
        }
        Err(self.refuse(&format!("more than {MAX_WEIGHT} steps, repetitions counted,")))
    }

    fn sequence(&mut self) -> Result<Weighed, PatternError> {
        let mut all = Weighed::default();
        while let Some(c) = self.peek().filter(|&c| c != '|' && c != ')') {
            let term = self.term(c)?;
            let quantifier = self.quantifier()?;
            if quantifier.is_some() && !term.repeatable {
                return Err(self.refuse("an assertion cannot be repeated, before"));
            }
            let (quantifier, times) = quantifier.unwrap_or_default();
            all.regex += &term.regex;
            all.regex += &quantifier;
            all.weight =
                self.bearable(all.weight + (term.weight + 1).saturating_mul(times.max(1)))?;
        }
        Ok(all)
    }

    fn term(&mut self, first: char) -> Result<Term, PatternError> {
        let start = self.at;
        self.at += 1;
        Ok(match first {
            '^' => Term::assertion("^"),
            '$' => Term::assertion("$"),
            '.' => Term::atom(CodePoints::line_breaks().negated().class()),
            '(' => {
                let Weighed { regex, weight } = self.group()?;
                Term { regex, weight, repeatable: true }
            }
            '[' => Term::atom(self.class()?.class()),
            '\\' => self.escape()?,
            '*' | '+' | '?' | '{' | '}' | ']' => {
                self.at = start;
                return Err(self.refuse(&format!("`{first}` has to be written `\\{first}`,")));
            }
            c => Term::atom(literal(c)),
        })
    }

    fn group(&mut self) -> Result<Weighed, PatternError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.refuse(&format!("groups nested more than {MAX_DEPTH} deep")));
        }
        if self.take("?") && !self.take(":") {
            self.group_kind()?;
        }
        let inner = self.alternatives()?;
        if !self.take(")") {
            return Err(self.refuse("a group without its `)`"));
        }
        self.depth -= 1;
        Ok(Weighed { regex: format!("(?:{})", inner.regex), ..inner })
    }

    fn group_kind(&mut self) -> Result<(), PatternError> {
        let lookaround = ["=", "!", "<=", "<!"];
        if lookaround.iter().any(|kind| self.take(kind)) {
            return Err(
                self.refuse("looking around (`(?=`, `(?!`, `(?<=`, `(?<!`) is not supported yet,")
            );
        }
        if !self.take("<") {
            return Err(self.refuse("flags of a group are not supported yet,"));
        }
        let mut name = String::new();
        while let Some(c) = self.next().filter(|&c| c != '>') {
            let first = c.is_ascii_alphabetic() || c == '_' || c == '$';
            if !first && (name.is_empty() || !c.is_ascii_digit()) {
                return Err(self.refuse("this name of a group is not supported yet,"));
            }
            name.push(c);
        }
        if name.is_empty() || !self.names.insert(name) {
            return Err(self.refuse("a group has no name, or the name of another,"));
        }
        Ok(())
    }

    /// How often what stands before is repeated, in words and at most, where no end is given at least.
    fn quantifier(&mut self) -> Result<Option<(String, u64)>, PatternError> {
        let quantifier = match self.peek() {
            Some(c @ ('*' | '+' | '?')) => {
                self.at += 1;
                (c.to_string(), 1)
            }
            Some('{') => {
                self.at += 1;
                self.counts()?
            }
            _ => return Ok(None),
        };
        // Lazy or greedy, the same strings are found.
        self.take("?");
        Ok(Some(quantifier))
    }

    fn counts(&mut self) -> Result<(String, u64), PatternError> {
        let least = self.count()?;
        let most = match (self.take(","), self.peek()) {
            (false, _) => Some(least),
            (true, Some('}')) => None,
            (true, _) => Some(self.count()?),
        };
        if !self.take("}") {
            return Err(self.refuse("a `{` that counts nothing has to be written `\\{`,"));
        }
        if most.is_some_and(|most| most < least) {
            return Err(self.refuse("a repetition at least more often than at most"));
        }
        let words = match most {
            Some(most) if most == least => format!("{{{least}}}"),
            Some(most) => format!("{{{least},{most}}}"),
            None => format!("{{{least},}}"),
        };
        Ok((words, u64::from(most.unwrap_or(least))))
    }

    fn count(&mut self) -> Result<u32, PatternError> {
        let mut digits = String::new();
        while let Some(digit) = self.peek().filter(char::is_ascii_digit) {
            digits.push(digit);
            self.at += 1;
        }
        if digits.is_empty() {
            return Err(self.refuse("a `{` that counts nothing has to be written `\\{`,"));
        }
        digits
            .parse()
            .ok()
            .filter(|&count| count <= MAX_REPEAT)
            .ok_or_else(|| self.refuse(&format!("a repetition of more than {MAX_REPEAT}")))
    }

    fn escape(&mut self) -> Result<Term, PatternError> {
        match self.peek() {
            Some('b') => {
                self.at += 1;
                Ok(Term::assertion(r"\b"))
            }
            Some('B') => {
                self.at += 1;
                Ok(Term::assertion(r"\B"))
            }
            Some(c) if c.is_ascii_digit() && c != '0' => {
                Err(self.refuse("references to groups are not supported yet,"))
            }
            Some('k') => Err(self.refuse("references to groups are not supported yet,")),
            _ => {
                let points = self.escaped()?;
                Ok(Term::atom(points.only().map_or_else(|| points.class(), literal)))
            }
        }
    }

    /// What follows a `\`, in a class or outside.
    fn escaped(&mut self) -> Result<CodePoints, PatternError> {
        let Some(c) = self.next() else { return Err(self.refuse("a `\\` with nothing after it")) };
        let point = match c {
            'd' => return Ok(CodePoints::digits()),
            'D' => return Ok(CodePoints::digits().negated()),
            'w' => return Ok(CodePoints::word()),
            'W' => return Ok(CodePoints::word().negated()),
            's' => return Ok(CodePoints::space()),
            'S' => return Ok(CodePoints::space().negated()),
            'p' | 'P' => {
                return Err(self.refuse("Unicode properties are not supported yet, before"));
            }
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => '\0',
            'c' => self.control()?,
            'x' => self.hex(2)?,
            'u' => self.unicode()?,
            c if "^$\\.*+?()[]{}|/-".contains(c) => c,
            c => return Err(self.refuse(&format!("`\\{c}` means nothing, before"))),
        };
        Ok(CodePoints::one(point))
    }

    fn control(&mut self) -> Result<char, PatternError> {
        match self.next().filter(char::is_ascii_alphabetic) {
            Some(letter) => Ok(char::from(letter as u8 % 32)),
            None => Err(self.refuse("`\\c` without a letter, before")),
        }
    }

    fn hex(&mut self, length: usize) -> Result<char, PatternError> {
        let code = self.hex_digits(length)?;
        char::from_u32(code).ok_or_else(|| self.refuse("half a surrogate pair, before"))
    }

    fn hex_digits(&mut self, length: usize) -> Result<u32, PatternError> {
        let mut code = 0;
        for _ in 0..length {
            match self.next().and_then(|c| c.to_digit(16)) {
                Some(digit) => code = code * 16 + digit,
                None => {
                    return Err(
                        self.refuse(&format!("expected {length} hexadecimal digits, before"))
                    );
                }
            }
        }
        Ok(code)
    }

    fn unicode(&mut self) -> Result<char, PatternError> {
        if self.take("{") {
            return self.braced();
        }
        let code = self.hex_digits(4)?;
        if (0xd800..0xdc00).contains(&code) && self.take("\\u") {
            let low = self.hex_digits(4)?;
            if (0xdc00..0xe000).contains(&low) {
                let whole = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                return char::from_u32(whole).ok_or_else(|| self.refuse("no code point, before"));
            }
        }
        char::from_u32(code).ok_or_else(|| self.refuse("half a surrogate pair, before"))
    }

    fn braced(&mut self) -> Result<char, PatternError> {
        let mut code: u32 = 0;
        let mut digits = 0;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) {
            code = code.saturating_mul(16).saturating_add(digit);
            digits += 1;
            self.at += 1;
        }
        if digits == 0 || !self.take("}") {
            return Err(self.refuse("a broken `\\u{`, before"));
        }
        char::from_u32(code).ok_or_else(|| self.refuse("no code point, before"))
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
                match (low.only(), high.only()) {
                    (Some(low), Some(high)) if low <= high => points.add(low, high),
                    _ => return Err(self.refuse("a range that is none, before")),
                }
            } else {
                points.join(&low);
            }
        }
        Ok(if negated { points.negated() } else { points })
    }

    fn class_atom(&mut self) -> Result<CodePoints, PatternError> {
        match self.next() {
            None => Err(self.refuse("a class without its `]`")),
            Some('\\') if self.take("b") => Ok(CodePoints::one('\u{8}')),
            Some('\\') => self.escaped(),
            Some(c) => Ok(CodePoints::one(c)),
        }
    }
}

/// One character outside a class.
fn literal(c: char) -> String {
    match c {
        c if c.is_alphanumeric() || "_ -/:;,@%&<>=!'\"`~#".contains(c) => c.to_string(),
        c if c.is_ascii_punctuation() => format!("\\{c}"),
        c => format!("\\x{{{:x}}}", u32::from(c)),
    }
}
