//! Statements, blocks and the expressions that look like them: `if`, `match`, loops. Never an item, nor a call.

use super::{Kind, Layout, STEP, Span};

impl Layout<'_> {
    /// `{ statements }`, a line each.
    pub(super) fn block(&mut self, open: usize) {
        self.braces(open, Self::statements);
    }

    fn statements(&mut self, span: Span) {
        let mut at = span.from;
        while at < span.to {
            if at > span.from {
                self.newline();
            }
            let statement = Span { from: at, to: self.statement_end(Span { from: at, ..span }) };
            self.statement(statement);
            at = statement.to;
        }
    }

    fn statement_end(&self, span: Span) -> usize {
        if self.is_control(span.from) {
            return self.control_end(span);
        }
        self.find(span, Kind::Semicolon).map_or(span.to, |at| at + 1)
    }

    /// Where an `if`, a `match` or a loop ends: behind its last block, or the semicolon there.
    fn control_end(&self, span: Span) -> usize {
        let mut at = span.from;
        loop {
            let Some(open) = self.find(Span { from: at, ..span }, Kind::OpenBrace) else {
                return span.to;
            };
            at = self.tokens.mate(open) + 1;
            if at >= span.to || !self.is(at, Kind::Else) {
                break;
            }
        }
        let goes_on = at < span.to
            && (self.is(at, Kind::Dot)
                || self.is(at, Kind::Question)
                || self.is(at, Kind::Semicolon));
        if goes_on {
            self.find(Span { from: at, ..span }, Kind::Semicolon).map_or(span.to, |at| at + 1)
        } else {
            at
        }
    }

    /// One statement, with its semicolon where it has one.
    pub(super) fn statement(&mut self, span: Span) {
        let from = self.lead(span);
        let ends = self.tokens.kind(span.to - 1) == Kind::Semicolon;
        let body = Span { from, to: span.to - usize::from(ends) };
        match self.tokens.kind(from) {
            Kind::Let => self.variable(body, usize::from(ends)),
            Kind::OpenBrace => self.block(from),
            _ if self.is_control(from) => self.control(body),
            _ => self.expression(body, usize::from(ends)),
        }
        if ends {
            self.push(";");
        }
    }

    fn variable(&mut self, span: Span, tail: usize) {
        let Some(equals) = self.find(span, Kind::Equals).filter(|_| !self.fits(span, tail)) else {
            return self.push_flat(span);
        };
        let value = Span { from: equals + 1, ..span };
        let otherwise = self.find(value, Kind::Else).filter(|_| !self.is_control(value.from));
        self.push_flat(Span { from: span.from, to: equals + 1 });
        let Some(at) = otherwise else { return self.right_side(value, tail) };
        self.right_side(Span { to: at, ..value }, " else {".len());
        self.push(" else ");
        self.block(at + 1);
    }

    pub(super) fn is_control(&self, at: usize) -> bool {
        matches!(
            self.tokens.kind(at),
            Kind::If | Kind::Match | Kind::While | Kind::For | Kind::Loop | Kind::Unsafe
        )
    }

    /// `if`, `match` and loops, always on several lines.
    pub(super) fn control(&mut self, span: Span) {
        let Some(open) = self.find(span, Kind::OpenBrace) else { return self.push_flat(span) };
        self.condition(Span { from: span.from, to: open });
        if self.is(span.from, Kind::Match) {
            self.arms(open);
        } else {
            self.block(open);
        }
        self.after_control(Span { from: self.tokens.mate(open) + 1, ..span });
    }

    /// What stands before the block, with a space or, where it ends further in, a new line behind it.
    fn condition(&mut self, span: Span) {
        let tail = " {".len();
        if self.fits(span, tail) || span.from + 1 >= span.to {
            return self.push_flat_up_to(span);
        }
        match self.find(span, Kind::Equals).map(|equals| equals + 1) {
            Some(value) if self.fits_below(Span { from: value, ..span }, 0) => {
                self.push_flat(Span { to: value, ..span });
                self.right_side(Span { from: value, ..span }, tail);
                self.newline();
            }
            value => {
                let value = value.unwrap_or(span.from + 1);
                self.push_flat_up_to(Span { to: value, ..span });
                self.expression(Span { from: value, ..span }, tail);
                self.push(" ");
            }
        }
    }

    fn after_control(&mut self, span: Span) {
        if span.is_empty() {
            return;
        }
        if !self.is(span.from, Kind::Else) {
            return self.push_flat_behind(span.from - 1, span.to);
        }
        self.push(" else ");
        let next = Span { from: span.from + 1, ..span };
        if self.is(next.from, Kind::If) { self.control(next) } else { self.block(next.from) }
    }

    fn arms(&mut self, open: usize) {
        self.braces(open, |layout, span| {
            let mut at = span.from;
            while at < span.to {
                if at > span.from {
                    layout.newline();
                }
                at = layout.arm(Span { from: at, ..span });
            }
        });
    }

    /// One arm. Returns where the next begins.
    fn arm(&mut self, span: Span) -> usize {
        let Some(arrow) = self.find(span, Kind::Arrow) else {
            self.push_flat(span);
            return span.to;
        };
        let rest = Span { from: arrow + 1, ..span };
        let is_block = self.is(rest.from, Kind::OpenBrace);
        let end = match self.find(rest, Kind::Comma) {
            _ if is_block => self.tokens.mate(rest.from) + 1,
            end => end.unwrap_or(span.to),
        };
        self.pattern(Span { from: span.from, to: arrow });
        self.push(" =>");
        self.arm_body(Span { from: rest.from, to: end }, is_block);
        let has_comma = end < span.to && self.tokens.kind(end) == Kind::Comma;
        end + usize::from(has_comma)
    }

    /// A pattern; alternatives that are too long together stand below each other.
    fn pattern(&mut self, span: Span) {
        if self.fits(span, " => {".len()) {
            return self.push_flat(span);
        }
        let mut from = span.from;
        while let Some(bar) = self.find(Span { from: from + 1, ..span }, Kind::Bar) {
            self.push_flat(Span { from, to: bar });
            self.newline();
            from = bar;
        }
        self.push_flat(Span { from, ..span });
    }

    fn arm_body(&mut self, body: Span, is_block: bool) {
        self.push(" ");
        if is_block {
            self.block(body.from);
        } else if self.fits(body, 1) {
            self.push_flat(body);
            self.push(",");
        } else if self.fits_below(body, 0) || !self.hangs(body) {
            self.in_braces(body);
        } else {
            let mark = self.mark();
            self.expression(body, 1);
            self.push(",");
            if self.is_too_long(mark) {
                self.go_back(mark);
                self.in_braces(body);
            }
        }
    }

    /// An expression in braces of its own, where it has none. An assignment gets its semicolon.
    pub(super) fn in_braces(&mut self, span: Span) {
        self.push("{");
        self.indent += STEP;
        self.newline();
        let is_assignment = self.is_assignment(span);
        self.expression(span, usize::from(is_assignment));
        if is_assignment {
            self.push(";");
        }
        self.indent -= STEP;
        self.newline();
        self.push("}");
    }
}
