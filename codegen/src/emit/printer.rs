//! Prints tokens as Rust source, in one linear pass and without a syntax tree.
//!
//! The house style, in lines of at most 100 columns:
//!
//! 1. Each statement, item, doc line and attribute starts a new line; blank lines separate items that have a body.
//! 2. Code that fits on one line stays on one line, except bodies of items, `if` statements, loops and blocks with a `;`.
//! 3. A list that does not fit has one item per line and a trailing comma; items of one token share lines.
//! 4. If only the last argument of a list is too long and it ends in brackets, those brackets are broken instead.
//! 5. A value after `=`, `=>` or a field's `:` moves to the next line if it fits there but not on this one.
//! 6. A chain of calls that does not fit has one call per line.
//!
//! The tokens tell whether braces hold statements, arms or a list (see [`GroupKind`]). The printer keeps the tokens and their
//! order; it only adds or removes the comma after the last item of a list and after the block of an arm. It cannot break a
//! string or a path, so a line with one of these may be longer than 100 columns.

use super::rust::{FlatTokens, GroupKind, Kind, TokenRange, TokenStream};

/// The maximal width of a line in columns.
const WIDTH: usize = 100;

/// The columns of one level of indentation.
const STEP: usize = 4;

/// Prints streams of items. It keeps its buffers from one to the next.
#[derive(Debug, Default)]
pub(super) struct Printer {
    line: FlatTokens,
    file: String,
}

impl Printer {
    /// Returns the text that `write` adds, without spare capacity: thousands of files are in memory until they are written.
    pub(super) fn file(&mut self, write: impl FnOnce(&mut Self, &mut String)) -> String {
        let mut text = std::mem::take(&mut self.file);
        text.clear();
        write(self, &mut text);
        let file = text.as_str().to_owned();
        self.file = text;
        file
    }

    /// Appends the lines of some items to a file.
    pub(super) fn print(&mut self, items: &TokenStream, file: &mut String) {
        self.line.load(items);
        let start = file.len();
        Output { tokens: &self.line, out: file, start, indent: 0 }.statements(self.line.all());
        file.push('\n');
    }
}

/// A file that is being printed.
struct Output<'a> {
    tokens: &'a FlatTokens,
    out: &'a mut String,
    /// The byte offset of the current line in the file.
    start: usize,
    /// The indentation of the current line in columns.
    indent: usize,
}

// `tail` is always the number of columns needed on the line after a range, for example for a comma.

impl<'a> Output<'a> {
    /// Prints statements or items, each on lines of its own.
    fn statements(&mut self, range: TokenRange) {
        let (mut at, mut before) = (range.from, None);
        while at < range.to {
            let head = self.head(TokenRange { from: at, ..range });
            let kind = self.tokens.kind(head);
            if let Some(before) = before {
                if has_body(before) || has_body(kind) {
                    self.out.push('\n');
                }
                self.newline();
            }
            let to = self.statement_end(TokenRange { from: head, ..range });
            let from = self.docs_and_attributes(TokenRange { from: at, to });
            let tail = usize::from(self.is(to - 1, Kind::Semicolon));
            let body = TokenRange { from, to: to - tail };
            if has_body(kind) || is_control(kind) {
                self.walk(body, tail);
            } else {
                self.line(body, tail);
            }
            self.out.push_str(if tail > 0 { ";" } else { "" });
            (at, before) = (to, Some(kind));
        }
    }

    /// Returns the keyword or name that a statement or an item begins with, after docs, attributes and `pub`.
    fn head(&self, range: TokenRange) -> usize {
        let mut at = range.from;
        while at < range.to {
            at = match self.tokens.kind(at) {
                Kind::Doc | Kind::Pub | Kind::Async => at + 1,
                Kind::Hash => self.tokens.matching(at + 1) + 1,
                Kind::Unsafe if !self.is(at + 1, Kind::OpenBrace) => at + 1,
                Kind::Const if self.is(at + 1, Kind::Fn) => at + 1,
                Kind::OpenParen if at > range.from && self.is(at - 1, Kind::Pub) => {
                    self.tokens.matching(at) + 1
                }
                _ => break,
            };
        }
        at
    }

    /// Returns the index after the first statement or item of a range that begins with its head.
    fn statement_end(&self, range: TokenRange) -> usize {
        let kind = self.tokens.kind(range.from);
        let mut at = range.from;
        if has_body(kind) || is_control(kind) || kind == Kind::OpenBrace {
            let is_body = |&at: &usize| match self.tokens.kind(at) {
                Kind::Semicolon => true,
                Kind::OpenBrace => self.tokens.group_kind(at) != GroupKind::List,
                _ => false,
            };
            while let Some(end) =
                self.outside_brackets(TokenRange { from: at, ..range }).find(is_body)
            {
                at = self.tokens.matching(end) + 1;
                if at >= range.to || !self.is(at, Kind::Else) {
                    break;
                }
            }
            let goes_on =
                matches!(self.tokens.kind(at), Kind::Dot | Kind::Question | Kind::Semicolon);
            if !goes_on || at >= range.to || self.is(at - 1, Kind::Semicolon) {
                return at;
            }
        }
        self.find(TokenRange { from: at, ..range }, Kind::Semicolon).map_or(range.to, |at| at + 1)
    }

    /// Prints docs and attributes, each on its own line. Returns the index after them.
    fn docs_and_attributes(&mut self, range: TokenRange) -> usize {
        let mut at = range.from;
        while at < range.to {
            let end = match self.tokens.kind(at) {
                Kind::Doc => at + 1,
                Kind::Hash => self.tokens.matching(at + 1) + 1,
                _ => break,
            };
            self.push_flat(TokenRange { from: at, to: end });
            self.newline();
            at = end;
        }
        at
    }

    /// Prints an expression, a statement or a field.
    fn line(&mut self, range: TokenRange, tail: usize) {
        if self.fits(range, tail) {
            return self.push_flat(range);
        }
        if let Some(value) = self.value(range) {
            self.line(TokenRange { to: value, ..range }, 0);
            return self.beside_or_below(TokenRange { from: value, ..range }, tail);
        }
        if !is_control(self.tokens.kind(range.from)) && self.chain(range, tail) {
            return;
        }
        self.walk(range, tail);
    }

    /// Returns where the value of an assignment, a field, a closure or an entry in a macro begins.
    fn value(&self, range: TokenRange) -> Option<usize> {
        if is_control(self.tokens.kind(range.from)) {
            return None;
        }
        let sign = |kind| self.find(range, kind).map(|at| at + 1).filter(|&value| value < range.to);
        let signs = [Kind::Arrow, Kind::Equals, Kind::Colon];
        self.closure_body(range).or_else(|| signs.into_iter().find_map(sign))
    }

    /// Returns where the body of a closure begins.
    fn closure_body(&self, range: TokenRange) -> Option<usize> {
        let is_moved = |&at: &usize| matches!(self.tokens.kind(at), Kind::Async | Kind::Move);
        let at = (range.from..range.to).find(|at| !is_moved(at))?;
        let end = match self.tokens.kind(at) {
            Kind::TwoBars => at,
            Kind::Bar => self.find(TokenRange { from: at + 1, ..range }, Kind::Bar)?,
            _ => return None,
        };
        (end + 1 < range.to).then_some(end + 1)
    }

    /// Prints a value on this line, after a space, or on the next line if it fits only there. A value that ends in braces
    /// always begins on this line.
    fn beside_or_below(&mut self, range: TokenRange, tail: usize) {
        let ends_in_braces = self.is(range.to - 1, Kind::CloseBrace);
        // For an assignment, its target and the first token of its value have to fit on this line; for any other value, the
        // tokens up to its first bracket.
        let is_opening = |&at: &usize| self.tokens.kind(at).is_opening();
        let head = match self.value(range) {
            Some(value) => (value + 1).min(range.to),
            None => (range.from..range.to).find(is_opening).map_or(range.from, |open| open + 1),
        };
        let begins_beside = self.fits(TokenRange { to: head, ..range }, 1);
        let is_below = self.fits_below(range, tail) || !begins_beside;
        if !ends_in_braces && !self.fits(range, tail + 1) && is_below {
            self.indent += STEP;
            self.newline();
            self.line(range, tail);
            self.indent -= STEP;
        } else {
            self.out.push(' ');
            self.line(range, tail);
        }
    }

    /// Prints a chain of calls with one call per line. Returns false, and prints nothing, if there is no chain or if breaking
    /// its last brackets is enough.
    fn chain(&mut self, range: TokenRange, tail: usize) -> bool {
        let is_call = |&dot: &usize| {
            self.is(dot, Kind::Dot)
                && dot + 2 < range.to
                && matches!(self.tokens.kind(dot + 2), Kind::OpenParen | Kind::TwoColons)
        };
        let is_short = |&dot: &usize| {
            let head = TokenRange { to: dot, ..range };
            self.tokens.width(head).is_some_and(|width| width <= STEP)
        };
        let dots: Vec<_> =
            self.outside_brackets(range).filter(is_call).skip_while(is_short).collect();
        let [first, .., last] = dots[..] else { return false };
        let end = |place: usize| dots.get(place + 1).copied().unwrap_or(range.to);
        let all_fit = dots
            .iter()
            .enumerate()
            .all(|(place, &from)| self.fits_below(TokenRange { from, to: end(place) }, tail));
        if !all_fit && self.fits(TokenRange { to: (last + 3).min(range.to), ..range }, 0) {
            return false;
        }
        self.walk(TokenRange { to: first, ..range }, 0);
        self.indent += STEP;
        for (place, &from) in dots.iter().enumerate() {
            self.newline();
            let to = end(place);
            self.walk(TokenRange { from, to }, if to == range.to { tail } else { 0 });
        }
        self.indent -= STEP;
        true
    }

    /// Prints tokens and breaks each pair of brackets that does not fit on the line together with the tokens after it.
    fn walk(&mut self, range: TokenRange, tail: usize) {
        if range.is_empty() {
            return;
        }
        let tokens = self.tokens;
        let is_group = |&at: &usize| tokens.kind(at).is_opening() && tokens.matching(at) > at + 1;
        let mut groups = self.outside_brackets(range).filter(is_group).peekable();
        let is_impl = tokens.kind(self.head(range)) == Kind::Impl;
        let (mut done, mut from) = (tokens.start(range.from), range.from);
        while let Some(open) = groups.next() {
            let close = tokens.matching(open);
            if is_impl && tokens.group_kind(open) == GroupKind::Items {
                self.impl_head(range, open, &mut done);
            }
            self.segment(TokenRange { from, to: open }, done, tokens.start(open), "{".len());
            // There is no line break up to the next group.
            let (to, tail) = groups.peek().map_or((range.to, tail), |&next| (next + 1, 0));
            let text = tokens.part(tokens.start(open), tokens.end(to - 1));
            let is_flat = tokens.width(TokenRange { from: open, to: close + 1 }).is_some();
            let is_list = tokens.group_kind(open) == GroupKind::List;
            if is_flat && is_list && self.column() + tokens.columns(text) + tail <= WIDTH {
                self.out.push_str(tokens.part(tokens.start(open), tokens.end(close)));
            } else {
                let after = tokens.part(tokens.end(close), tokens.end(to - 1));
                self.group(open, tokens.columns(after) + tail);
            }
            done = tokens.end(close);
            from = close + 1;
        }
        self.segment(TokenRange { from, ..range }, done, tokens.end(range.to - 1), tail);
    }

    /// Prints a part of the line without brackets, and breaks its generics if it does not fit.
    fn segment(&mut self, range: TokenRange, mut start: usize, end: usize, tail: usize) {
        let tokens = self.tokens;
        let is_less = |&at: &usize| self.is(at, Kind::Less) && tokens.start(at) >= start;
        if self.column() + tokens.columns(tokens.part(start, end)) + tail > WIDTH
            && let Some(open) = self.outside_brackets(range).find(is_less)
            && let Some(close) = self.generics_end(open)
            && close < end
        {
            self.out.push_str(tokens.part(start, tokens.end(open)));
            self.generics(open, close);
            start = close;
        }
        self.out.push_str(tokens.part(start, end));
    }

    /// Returns the position in the line of the `>` that closes a `<`; it may be half of a `>>`.
    fn generics_end(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in self.outside_brackets(TokenRange { from: open, to: self.tokens.all().to }) {
            let closed = match self.tokens.kind(at) {
                Kind::Less => {
                    depth += 1;
                    continue;
                }
                Kind::Greater => 1,
                Kind::TwoGreater => 2,
                _ => continue,
            };
            if closed >= depth {
                return Some(self.tokens.start(at) + depth - 1);
            }
            depth -= closed;
        }
        None
    }

    /// Prints generics with one argument per line.
    fn generics(&mut self, open: usize, close: usize) {
        self.indent += STEP;
        let mut from = open + 1;
        let mut at = from;
        while self.tokens.start(at) < close {
            let end = match self.tokens.kind(at) {
                Kind::Less => self.generics_end(at).unwrap_or(close),
                _ => self.tokens.start(at),
            };
            while self.tokens.start(at) < end {
                at += 1;
            }
            if self.is(at, Kind::Comma) {
                self.newline();
                self.generic(from, self.tokens.end(at));
                from = at + 1;
            }
            at += 1;
        }
        self.newline();
        self.generic(from, close);
        self.indent -= STEP;
        self.newline();
    }

    /// Prints one generic argument that ends at a position in the line.
    fn generic(&mut self, from: usize, end: usize) {
        let tokens = self.tokens;
        let text = tokens.part(tokens.start(from), end);
        let is_open = |&at: &usize| self.is(at, Kind::Less);
        let open = (from..tokens.all().to).take_while(|&at| tokens.start(at) < end).find(is_open);
        let close = open.and_then(|open| self.generics_end(open));
        match open.zip(close) {
            Some((open, close)) if self.column() + tokens.columns(text) > WIDTH => {
                self.out.push_str(tokens.part(tokens.start(from), tokens.end(open)));
                self.generics(open, close);
                self.out.push_str(tokens.part(close, end));
            }
            _ => self.out.push_str(text),
        }
    }

    /// Breaks the head of an `impl` before its `for` if it does not fit.
    fn impl_head(&mut self, range: TokenRange, open: usize, done: &mut usize) {
        let head = TokenRange { from: range.from, to: open };
        let Some(at) = self.find(head, Kind::For).filter(|_| !self.fits(head, " {".len())) else {
            return;
        };
        let text = self.tokens.part(*done, self.tokens.end(at - 1));
        self.out.push_str(text);
        self.indent += STEP;
        self.newline();
        self.indent -= STEP;
        *done = self.tokens.start(at);
    }

    /// Prints brackets with their content on several lines.
    fn group(&mut self, open: usize, tail: usize) {
        let inside = TokenRange { from: open + 1, to: self.tokens.matching(open) };
        let kind = self.tokens.group_kind(open);
        if kind == GroupKind::List {
            return self.list(open, tail);
        }
        self.broken(open, |output| match kind {
            GroupKind::Fields => output.items(&output.split(inside), true),
            GroupKind::Arms => output.arms(inside),
            GroupKind::Items | GroupKind::Statements | GroupKind::List => output.statements(inside),
        });
    }

    /// Prints brackets, with the output of `print` on indented lines between them.
    fn broken(&mut self, open: usize, print: impl FnOnce(&mut Self)) {
        let close = self.tokens.matching(open);
        self.push_flat(TokenRange { from: open, to: open + 1 });
        self.indent += STEP;
        self.newline();
        print(self);
        self.indent -= STEP;
        self.newline();
        self.push_flat(TokenRange { from: close, to: close + 1 });
    }

    /// Prints a list on several lines.
    fn list(&mut self, open: usize, tail: usize) {
        let items = self.split(TokenRange { from: open + 1, to: self.tokens.matching(open) });
        if let Some(&last) = items.last()
            && self.breaks_last(open, &items, last)
        {
            self.push_flat_up_to(TokenRange { from: open, to: last.from });
            self.walk(last, tail + 1);
            let close = self.tokens.matching(open);
            return self
                .out
                .push_str(self.tokens.part(self.tokens.end(last.to - 1), self.tokens.end(close)));
        }
        let is_one_token = |item: &TokenRange| item.to - item.from == 1;
        let shares_lines =
            self.is(open, Kind::OpenBracket) || (open > 0 && self.is(open - 1, Kind::TwoColons));
        if shares_lines && items.iter().all(is_one_token) {
            return self.broken(open, |output| output.fill(&items));
        }
        // Some macros do not accept a trailing comma.
        let is_macro = open > 0 && self.is(open - 1, Kind::Exclamation);
        self.broken(open, |output| output.items(&items, !is_macro));
    }

    /// Returns whether the brackets at the end of the last item are broken instead of those of the list.
    fn breaks_last(&self, open: usize, items: &[TokenRange], last: TokenRange) -> bool {
        let end = self.tokens.matching(last.to - 1);
        let ends_in_brackets = self.tokens.kind(last.to - 1).is_closing() && end + 2 < last.to;
        let is_closure = self.closure_body(last).is_some();
        let may_break = match items {
            [_] => self.find(last, Kind::Colon).is_none() || is_closure,
            _ => is_closure && !self.fits_below(last, 1),
        };
        let is_parens = matches!(self.tokens.kind(open), Kind::OpenParen | Kind::OpenBracket);
        is_parens
            && ends_in_brackets
            && may_break
            && self.fits(TokenRange { from: open, to: end }, " {".len())
    }

    /// Prints items, each on lines of its own and followed by a comma.
    fn items(&mut self, items: &[TokenRange], ends_in_comma: bool) {
        for (place, &item) in items.iter().enumerate() {
            if place > 0 {
                self.newline();
            }
            let from = self.docs_and_attributes(item);
            self.line(TokenRange { from, ..item }, 1);
            let is_base = self.is(from, Kind::TwoDots);
            let has_comma = (ends_in_comma && !is_base) || place + 1 < items.len();
            self.out.push_str(if has_comma { "," } else { "" });
        }
    }

    /// Prints items of one token, as many on each line as fit.
    fn fill(&mut self, items: &[TokenRange]) {
        for (place, &item) in items.iter().enumerate() {
            if place > 0 && self.fits(item, ", ".len()) {
                self.out.push(' ');
            } else if place > 0 {
                self.newline();
            }
            self.push_flat(item);
            self.out.push(',');
        }
    }

    /// Prints the arms of a `match`.
    fn arms(&mut self, range: TokenRange) {
        let mut from = range.from;
        while let Some(arrow) = self.find(TokenRange { from, ..range }, Kind::Arrow) {
            if from > range.from {
                self.newline();
            }
            let body = TokenRange { from: arrow + 1, ..range };
            let is_block = self.is(body.from, Kind::OpenBrace);
            let to = match self.find(body, Kind::Comma) {
                _ if is_block => self.tokens.matching(body.from) + 1,
                comma => comma.unwrap_or(range.to),
            };
            self.pattern(TokenRange { from, to: arrow });
            self.out.push_str(" =>");
            self.beside_or_below(TokenRange { to, ..body }, 1);
            self.out.push_str(if is_block { "" } else { "," });
            from = to + usize::from(to < range.to && self.is(to, Kind::Comma));
        }
    }

    /// Prints a pattern, with each alternative on its own line if they do not fit on one.
    fn pattern(&mut self, range: TokenRange) {
        let mut from = range.from;
        while !self.fits(TokenRange { from, ..range }, " => {".len())
            && let Some(bar) = self.find(TokenRange { from: from + 1, ..range }, Kind::Bar)
        {
            self.push_flat(TokenRange { from, to: bar });
            self.newline();
            from = bar;
        }
        self.walk(TokenRange { from, ..range }, " => {".len());
    }

    /// Splits a list at its commas, except those in the parameters of a closure and in generics.
    fn split(&self, range: TokenRange) -> Vec<TokenRange> {
        let mut items = Vec::new();
        let (mut from, mut generics, mut in_parameters) = (range.from, 0_usize, false);
        for at in self.outside_brackets(range) {
            match self.tokens.kind(at) {
                Kind::Bar => {
                    let rest = TokenRange { from, ..range };
                    in_parameters = !in_parameters && self.closure_body(rest).is_some();
                }
                Kind::Less => generics += 1,
                Kind::Greater => generics = generics.saturating_sub(1),
                Kind::TwoGreater => generics = generics.saturating_sub(2),
                Kind::Comma if generics == 0 && !in_parameters => {
                    items.push(TokenRange { from, to: at });
                    from = at + 1;
                }
                _ => {}
            }
        }
        items.push(TokenRange { from, to: range.to });
        items.retain(|item| !item.is_empty());
        items
    }

    fn newline(&mut self) {
        self.out.push('\n');
        self.start = self.out.len();
        self.out.extend(std::iter::repeat_n(' ', self.indent));
    }

    fn push_flat(&mut self, range: TokenRange) {
        self.out.push_str(self.tokens.flat(range));
    }

    /// Prints the tokens and the space that follows them on the flat line.
    fn push_flat_up_to(&mut self, range: TokenRange) {
        self.out
            .push_str(self.tokens.part(self.tokens.start(range.from), self.tokens.start(range.to)));
    }

    fn column(&self) -> usize {
        self.tokens.columns(&self.out[self.start..])
    }

    /// Returns whether the tokens and `tail` fit on this line.
    fn fits(&self, range: TokenRange, tail: usize) -> bool {
        self.tokens.width(range).is_some_and(|width| self.column() + width + tail <= WIDTH)
    }

    /// Returns whether the tokens and `tail` fit on an indented line of their own.
    fn fits_below(&self, range: TokenRange, tail: usize) -> bool {
        let width = self.tokens.width(range);
        width.is_some_and(|width| self.indent + STEP + width + tail <= WIDTH)
    }

    /// Returns the first token of a kind that is not inside brackets.
    fn find(&self, range: TokenRange, kind: Kind) -> Option<usize> {
        self.outside_brackets(range).find(|&at| self.is(at, kind))
    }

    /// Returns the tokens of a range that are not inside brackets; a pair of brackets counts as its opening one.
    fn outside_brackets(&self, range: TokenRange) -> impl Iterator<Item = usize> + use<'a> {
        let (mut next, tokens) = (range.from, self.tokens);
        std::iter::from_fn(move || {
            let at = next;
            (at < range.to).then(|| {
                next = tokens.matching(at).max(at) + 1;
                at
            })
        })
    }

    fn is(&self, at: usize, kind: Kind) -> bool {
        self.tokens.kind(at) == kind
    }
}

/// Returns whether items that begin with this keyword can have a body in braces.
fn has_body(kind: Kind) -> bool {
    matches!(kind, Kind::Fn | Kind::Impl | Kind::Trait | Kind::Struct | Kind::Enum | Kind::Mod)
}

fn is_control(kind: Kind) -> bool {
    matches!(kind, Kind::If | Kind::Match | Kind::While | Kind::For | Kind::Loop | Kind::Unsafe)
}
