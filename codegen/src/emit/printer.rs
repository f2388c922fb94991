//! Prints tokens as Rust source, in one linear pass and without a syntax tree.
//!
//! The house style, in lines of at most 100 columns:
//!
//! 1. Each statement, item, doc line and attribute starts a new line; blank lines separate items that have a body.
//! 2. Code that fits on one line stays on one line, except bodies of items, `if` statements, loops and blocks with a `;`.
//! 3. A list that does not fit has one item per line and a trailing comma; single words share lines.
//! 4. If only the last argument of a list is too long and it ends in brackets, those brackets are broken instead.
//! 5. A value after `=`, `=>` or a field's `:` moves to the next line if it fits there but not on this one.
//! 6. A chain of calls that does not fit has one call per line.
//!
//! Whether a brace holds statements, arms or a list is read from the tokens (see [`Form`]). The printer writes the tokens it
//! is given in their order. Only commas may change: behind the last item of a list, and behind the block of an arm. It cannot
//! break a text or a path; a line that is one of these may be longer than 100 columns.

use super::rust::{Form, Kind, Spaced, Span, TokenStream};

/// How wide a line may be, in columns.
const WIDTH: usize = 100;

/// How much further in a part stands than the whole.
const STEP: usize = 4;

/// Prints one stream of items after another.
#[derive(Debug, Default)]
pub(super) struct Printer {
    line: Spaced,
    file: String,
}

impl Printer {
    /// A file of what `write` adds, in no more memory than it takes: thousands of files are kept until they are written.
    pub(super) fn file(&mut self, write: impl FnOnce(&mut Self, &mut String)) -> String {
        let mut text = std::mem::take(&mut self.file);
        text.clear();
        write(self, &mut text);
        let file = text.as_str().to_owned();
        self.file = text;
        file
    }

    /// Adds the lines of some items to a file.
    pub(super) fn print(&mut self, items: &TokenStream, file: &mut String) {
        self.line.read(items);
        let start = file.len();
        Output { tokens: &self.line, out: file, start, indent: 0 }.statements(self.line.all());
        file.push('\n');
    }
}

/// A file in the making.
struct Output<'a> {
    tokens: &'a Spaced,
    out: &'a mut String,
    /// Where the last line begins in it.
    start: usize,
    /// How far in that line stands.
    indent: usize,
}

impl<'a> Output<'a> {
    /// Statements or items, each in lines of its own.
    fn statements(&mut self, span: Span) {
        let (mut at, mut before) = (span.from, None);
        while at < span.to {
            let head = self.head(Span { from: at, ..span });
            let kind = self.tokens.kind(head);
            if let Some(before) = before {
                if has_body(before) || has_body(kind) {
                    self.out.push('\n');
                }
                self.newline();
            }
            let to = self.statement_end(Span { from: head, ..span });
            let from = self.lead(Span { from: at, to });
            let tail = usize::from(self.is(to - 1, Kind::Semicolon));
            let body = Span { from, to: to - tail };
            if has_body(kind) || is_control(kind) {
                self.walk(body, tail);
            } else {
                self.line(body, tail);
            }
            self.out.push_str(if tail > 0 { ";" } else { "" });
            (at, before) = (to, Some(kind));
        }
    }

    /// The keyword or name that a statement or an item begins with, behind docs, attributes and `pub`.
    fn head(&self, span: Span) -> usize {
        let mut at = span.from;
        while at < span.to {
            at = match self.tokens.kind(at) {
                Kind::Doc | Kind::Pub | Kind::Async => at + 1,
                Kind::Hash => self.tokens.mate(at + 1) + 1,
                Kind::Unsafe if !self.is(at + 1, Kind::OpenBrace) => at + 1,
                Kind::Const if self.is(at + 1, Kind::Fn) => at + 1,
                Kind::OpenParen if at > span.from && self.is(at - 1, Kind::Pub) => {
                    self.tokens.mate(at) + 1
                }
                _ => break,
            };
        }
        at
    }

    fn statement_end(&self, span: Span) -> usize {
        let kind = self.tokens.kind(span.from);
        let mut at = span.from;
        if has_body(kind) || is_control(kind) || kind == Kind::OpenBrace {
            let is_body = |&at: &usize| match self.tokens.kind(at) {
                Kind::Semicolon => true,
                Kind::OpenBrace => self.tokens.form(at) != Form::List,
                _ => false,
            };
            while let Some(end) = self.outside_brackets(Span { from: at, ..span }).find(is_body) {
                at = self.tokens.mate(end) + 1;
                if at >= span.to || !self.is(at, Kind::Else) {
                    break;
                }
            }
            let goes_on =
                matches!(self.tokens.kind(at), Kind::Dot | Kind::Question | Kind::Semicolon);
            if !goes_on || at >= span.to || self.is(at - 1, Kind::Semicolon) {
                return at;
            }
        }
        self.find(Span { from: at, ..span }, Kind::Semicolon).map_or(span.to, |at| at + 1)
    }

    /// Docs and attributes, a line each. Returns where they end.
    fn lead(&mut self, span: Span) -> usize {
        let mut at = span.from;
        while at < span.to {
            let end = match self.tokens.kind(at) {
                Kind::Doc => at + 1,
                Kind::Hash => self.tokens.mate(at + 1) + 1,
                _ => break,
            };
            self.push_flat(Span { from: at, to: end });
            self.newline();
            at = end;
        }
        at
    }

    /// An expression, a statement or a field, with so many columns to follow it.
    fn line(&mut self, span: Span, tail: usize) {
        if self.fits(span, tail) {
            return self.push_flat(span);
        }
        if let Some(value) = self.value(span) {
            self.line(Span { to: value, ..span }, 0);
            return self.beside_or_below(Span { from: value, ..span }, tail);
        }
        if !is_control(self.tokens.kind(span.from)) && self.chain(span, tail) {
            return;
        }
        self.walk(span, tail);
    }

    /// Where the value of an assignment, of a field, of a closure or of an entry in a macro begins.
    fn value(&self, span: Span) -> Option<usize> {
        if is_control(self.tokens.kind(span.from)) {
            return None;
        }
        let sign = |kind| self.find(span, kind).map(|at| at + 1).filter(|&value| value < span.to);
        let signs = [Kind::Arrow, Kind::Equals, Kind::Colon];
        self.closure_body(span).or_else(|| signs.into_iter().find_map(sign))
    }

    /// Where the body of a closure begins.
    fn closure_body(&self, span: Span) -> Option<usize> {
        let is_moved = |&at: &usize| matches!(self.tokens.kind(at), Kind::Async | Kind::Move);
        let at = (span.from..span.to).find(|at| !is_moved(at))?;
        let end = match self.tokens.kind(at) {
            Kind::TwoBars => at,
            Kind::Bar => self.find(Span { from: at + 1, ..span }, Kind::Bar)?,
            _ => return None,
        };
        (end + 1 < span.to).then_some(end + 1)
    }

    /// A value with the space before it: in this line, or in the next if only that has room for the whole of it. What ends
    /// in braces begins in this line.
    fn beside_or_below(&mut self, span: Span, tail: usize) {
        let ends_in_braces = self.is(span.to - 1, Kind::CloseBrace);
        // The target of an assignment and the first token of its value have to fit on the first line, or else what stands
        // before the first bracket.
        let is_opening = |&at: &usize| self.tokens.kind(at).is_opening();
        let head = match self.value(span) {
            Some(value) => (value + 1).min(span.to),
            None => (span.from..span.to).find(is_opening).map_or(span.from, |open| open + 1),
        };
        let begins_beside = self.fits(Span { to: head, ..span }, 1);
        let is_below = self.fits_below(span, tail) || !begins_beside;
        if !ends_in_braces && !self.fits(span, tail + 1) && is_below {
            self.indent += STEP;
            self.newline();
            self.line(span, tail);
            self.indent -= STEP;
        } else {
            self.out.push(' ');
            self.line(span, tail);
        }
    }

    /// A chain of calls with a call in each line. Says no if its last brackets are what should be broken.
    fn chain(&mut self, span: Span, tail: usize) -> bool {
        let is_call = |&dot: &usize| {
            self.is(dot, Kind::Dot)
                && dot + 2 < span.to
                && matches!(self.tokens.kind(dot + 2), Kind::OpenParen | Kind::TwoColons)
        };
        let is_short = |&dot: &usize| {
            let head = Span { to: dot, ..span };
            self.tokens.width(head).is_some_and(|width| width <= STEP)
        };
        let dots: Vec<_> =
            self.outside_brackets(span).filter(is_call).skip_while(is_short).collect();
        let [first, .., last] = dots[..] else { return false };
        let end = |place: usize| dots.get(place + 1).copied().unwrap_or(span.to);
        let all_fit = dots
            .iter()
            .enumerate()
            .all(|(place, &from)| self.fits_below(Span { from, to: end(place) }, tail));
        if !all_fit && self.fits(Span { to: (last + 3).min(span.to), ..span }, 0) {
            return false;
        }
        self.walk(Span { to: first, ..span }, 0);
        self.indent += STEP;
        for (place, &from) in dots.iter().enumerate() {
            self.newline();
            let to = end(place);
            self.walk(Span { from, to }, if to == span.to { tail } else { 0 });
        }
        self.indent -= STEP;
        true
    }

    /// Tokens in their order, with those brackets broken that do not fit together with what follows them.
    fn walk(&mut self, span: Span, tail: usize) {
        if span.is_empty() {
            return;
        }
        let tokens = self.tokens;
        let is_group = |&at: &usize| tokens.kind(at).is_opening() && tokens.mate(at) > at + 1;
        let mut groups = self.outside_brackets(span).filter(is_group).peekable();
        let is_impl = tokens.kind(self.head(span)) == Kind::Impl;
        let (mut done, mut from) = (tokens.start(span.from), span.from);
        while let Some(open) = groups.next() {
            let close = tokens.mate(open);
            if is_impl && tokens.form(open) == Form::Items {
                self.implemented(span, open, &mut done);
            }
            self.segment(Span { from, to: open }, done, tokens.start(open), "{".len());
            // Up to here no other line can begin.
            let (to, tail) = groups.peek().map_or((span.to, tail), |&next| (next + 1, 0));
            let text = tokens.part(tokens.start(open), tokens.end(to - 1));
            let is_flat = tokens.width(Span { from: open, to: close + 1 }).is_some();
            let is_list = tokens.form(open) == Form::List;
            if is_flat && is_list && self.column() + tokens.columns(text) + tail <= WIDTH {
                self.out.push_str(tokens.part(tokens.start(open), tokens.end(close)));
            } else {
                let behind = tokens.part(tokens.end(close), tokens.end(to - 1));
                self.group(open, tokens.columns(behind) + tail);
            }
            done = tokens.end(close);
            from = close + 1;
        }
        self.segment(Span { from, ..span }, done, tokens.end(span.to - 1), tail);
    }

    /// A part of the line without brackets, with its generics broken if it does not fit.
    fn segment(&mut self, span: Span, mut start: usize, end: usize, tail: usize) {
        let tokens = self.tokens;
        let is_less = |&at: &usize| self.is(at, Kind::Less) && tokens.start(at) >= start;
        if self.column() + tokens.columns(tokens.part(start, end)) + tail > WIDTH
            && let Some(open) = self.outside_brackets(span).find(is_less)
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
        for at in self.outside_brackets(Span { from: open, to: self.tokens.all().to }) {
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

    /// The head of an `impl`, which may be broken before its `for`.
    fn implemented(&mut self, span: Span, open: usize, done: &mut usize) {
        let head = Span { from: span.from, to: open };
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

    /// Brackets that are broken, with so many columns behind them.
    fn group(&mut self, open: usize, tail: usize) {
        let inside = Span { from: open + 1, to: self.tokens.mate(open) };
        let form = self.tokens.form(open);
        if form == Form::List {
            return self.list(open, tail);
        }
        self.broken(open, |output| match form {
            Form::Fields => output.items(&output.split(inside), true),
            Form::Arms => output.arms(inside),
            Form::Items | Form::Statements | Form::List => output.statements(inside),
        });
    }

    /// Brackets, with what `print` adds in lines further in.
    fn broken(&mut self, open: usize, print: impl FnOnce(&mut Self)) {
        let close = self.tokens.mate(open);
        self.push_flat(Span { from: open, to: open + 1 });
        self.indent += STEP;
        self.newline();
        print(self);
        self.indent -= STEP;
        self.newline();
        self.push_flat(Span { from: close, to: close + 1 });
    }

    fn list(&mut self, open: usize, tail: usize) {
        let items = self.split(Span { from: open + 1, to: self.tokens.mate(open) });
        if let Some(&last) = items.last()
            && self.hangs(open, &items, last)
        {
            self.push_flat_up_to(Span { from: open, to: last.from });
            self.walk(last, tail + 1);
            let close = self.tokens.mate(open);
            return self
                .out
                .push_str(self.tokens.part(self.tokens.end(last.to - 1), self.tokens.end(close)));
        }
        let is_word = |item: &Span| item.to - item.from == 1;
        let shares_lines =
            self.is(open, Kind::OpenBracket) || (open > 0 && self.is(open - 1, Kind::TwoColons));
        if shares_lines && items.iter().all(is_word) {
            return self.broken(open, |output| output.fill(&items));
        }
        // The arguments of a macro are its own: it may not take a comma at the end.
        let is_macro = open > 0 && self.is(open - 1, Kind::Exclamation);
        self.broken(open, |output| output.items(&items, !is_macro));
    }

    /// Whether the brackets that a list ends with are broken instead of the list.
    fn hangs(&self, open: usize, items: &[Span], last: Span) -> bool {
        let end = self.tokens.mate(last.to - 1);
        let ends_in_brackets = self.tokens.kind(last.to - 1).is_closing() && end + 2 < last.to;
        let is_closure = self.closure_body(last).is_some();
        let may_hang = match items {
            [_] => self.find(last, Kind::Colon).is_none() || is_closure,
            _ => is_closure && !self.fits_below(last, 1),
        };
        let is_parens = matches!(self.tokens.kind(open), Kind::OpenParen | Kind::OpenBracket);
        is_parens
            && ends_in_brackets
            && may_hang
            && self.fits(Span { from: open, to: end }, " {".len())
    }

    /// Items, each in lines of its own and with a comma behind it.
    fn items(&mut self, items: &[Span], ends_in_comma: bool) {
        for (place, &item) in items.iter().enumerate() {
            if place > 0 {
                self.newline();
            }
            let from = self.lead(item);
            self.line(Span { from, ..item }, 1);
            let is_base = self.is(from, Kind::TwoDots);
            let has_comma = (ends_in_comma && !is_base) || place + 1 < items.len();
            self.out.push_str(if has_comma { "," } else { "" });
        }
    }

    /// Words, as many in a line as it takes.
    fn fill(&mut self, items: &[Span]) {
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

    /// The arms of a `match`.
    fn arms(&mut self, span: Span) {
        let mut from = span.from;
        while let Some(arrow) = self.find(Span { from, ..span }, Kind::Arrow) {
            if from > span.from {
                self.newline();
            }
            let body = Span { from: arrow + 1, ..span };
            let is_block = self.is(body.from, Kind::OpenBrace);
            let to = match self.find(body, Kind::Comma) {
                _ if is_block => self.tokens.mate(body.from) + 1,
                comma => comma.unwrap_or(span.to),
            };
            self.pattern(Span { from, to: arrow });
            self.out.push_str(" =>");
            self.beside_or_below(Span { to, ..body }, 1);
            self.out.push_str(if is_block { "" } else { "," });
            from = to + usize::from(to < span.to && self.is(to, Kind::Comma));
        }
    }

    /// A pattern; alternatives that are too long together stand below each other.
    fn pattern(&mut self, span: Span) {
        let mut from = span.from;
        while !self.fits(Span { from, ..span }, " => {".len())
            && let Some(bar) = self.find(Span { from: from + 1, ..span }, Kind::Bar)
        {
            self.push_flat(Span { from, to: bar });
            self.newline();
            from = bar;
        }
        self.walk(Span { from, ..span }, " => {".len());
    }

    /// The items of a list. A comma in a closure's parameters or between types of a generic one parts none.
    fn split(&self, span: Span) -> Vec<Span> {
        let mut items = Vec::new();
        let (mut from, mut generics, mut in_parameters) = (span.from, 0_usize, false);
        for at in self.outside_brackets(span) {
            match self.tokens.kind(at) {
                Kind::Bar => {
                    let rest = Span { from, ..span };
                    in_parameters = !in_parameters && self.closure_body(rest).is_some();
                }
                Kind::Less => generics += 1,
                Kind::Greater => generics = generics.saturating_sub(1),
                Kind::TwoGreater => generics = generics.saturating_sub(2),
                Kind::Comma if generics == 0 && !in_parameters => {
                    items.push(Span { from, to: at });
                    from = at + 1;
                }
                _ => {}
            }
        }
        items.push(Span { from, to: span.to });
        items.retain(|item| !item.is_empty());
        items
    }

    fn newline(&mut self) {
        self.out.push('\n');
        self.start = self.out.len();
        self.out.extend(std::iter::repeat_n(' ', self.indent));
    }

    fn push_flat(&mut self, span: Span) {
        self.out.push_str(self.tokens.flat(span));
    }

    /// The tokens and the space before what follows them.
    fn push_flat_up_to(&mut self, span: Span) {
        self.out
            .push_str(self.tokens.part(self.tokens.start(span.from), self.tokens.start(span.to)));
    }

    fn column(&self) -> usize {
        self.tokens.columns(&self.out[self.start..])
    }

    /// Whether tokens can stand in this line, with so many columns to follow them.
    fn fits(&self, span: Span, tail: usize) -> bool {
        self.tokens.width(span).is_some_and(|width| self.column() + width + tail <= WIDTH)
    }

    /// Whether tokens can stand in a line of their own, further in than this one.
    fn fits_below(&self, span: Span, tail: usize) -> bool {
        let width = self.tokens.width(span);
        width.is_some_and(|width| self.indent + STEP + width + tail <= WIDTH)
    }

    /// The first token of a kind outside all brackets of a span.
    fn find(&self, span: Span, kind: Kind) -> Option<usize> {
        self.outside_brackets(span).find(|&at| self.is(at, kind))
    }

    /// The tokens of a span that stand in no bracket; of brackets the opening one.
    fn outside_brackets(&self, span: Span) -> impl Iterator<Item = usize> + use<'a> {
        let (mut next, tokens) = (span.from, self.tokens);
        std::iter::from_fn(move || {
            let at = next;
            (at < span.to).then(|| {
                next = tokens.mate(at).max(at) + 1;
                at
            })
        })
    }

    fn is(&self, at: usize, kind: Kind) -> bool {
        self.tokens.kind(at) == kind
    }
}

/// Whether items that begin with this keyword can have a body in braces.
fn has_body(kind: Kind) -> bool {
    matches!(kind, Kind::Fn | Kind::Impl | Kind::Trait | Kind::Struct | Kind::Enum | Kind::Mod)
}

fn is_control(kind: Kind) -> bool {
    matches!(kind, Kind::If | Kind::Match | Kind::While | Kind::For | Kind::Loop | Kind::Unsafe)
}
