//! Expressions: what each kind of them does when it is too long for its line. Never a list, nor a chain of methods.

use super::{Kind, Layout, Mark, STEP, Span};

/// How an expression is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `|args| body`: where the body begins.
    Closure(usize),
    /// `&value`, `..base`: where the value begins.
    Prefixed(usize),
    /// `if`, `match` and loops.
    Control,
    /// `{ statements }`
    Block,
    /// `place = value`: where the sign stands.
    Assignment(usize),
    /// `value.method()`
    Chain,
    /// `name(…)`, `name { … }`, `[…]`, `(…)`: where the last brackets begin.
    Call(usize),
    /// What is not broken.
    Plain,
}

impl Layout<'_> {
    pub(super) fn form(&self, span: Span) -> Form {
        if span.is_empty() {
            return Form::Plain;
        }
        match self.tokens.kind(span.from) {
            Kind::OpenBrace if self.tokens.mate(span.from) + 1 == span.to => Form::Block,
            Kind::Ampersand | Kind::Star | Kind::Minus | Kind::Exclamation | Kind::TwoDots => {
                Form::Prefixed(self.after_prefix(span))
            }
            Kind::Return if span.from + 1 < span.to => Form::Prefixed(span.from + 1),
            _ if self.is_control(span.from) => Form::Control,
            _ => match self.closure_body(span) {
                Some(body) => Form::Closure(body),
                None => self.form_of_signs(span),
            },
        }
    }

    fn after_prefix(&self, span: Span) -> usize {
        let next = span.from + 1;
        if next + 1 < span.to && self.is(next, Kind::Mut) { next + 1 } else { next }
    }

    fn form_of_signs(&self, span: Span) -> Form {
        let mut form = Form::Plain;
        let mut is_chain = false;
        for at in self.outside_brackets(span) {
            match self.tokens.kind(at) {
                Kind::Equals => return Form::Assignment(at),
                Kind::Dot => is_chain = true,
                kind if kind.is_opening() => form = Form::Call(at),
                _ => {}
            }
        }
        if is_chain { Form::Chain } else { form }
    }

    /// Where the body of a closure begins.
    fn closure_body(&self, span: Span) -> Option<usize> {
        let mut at = span.from;
        while at < span.to && matches!(self.tokens.kind(at), Kind::Async | Kind::Move) {
            at += 1;
        }
        let end = match self.tokens.kind(at) {
            _ if at >= span.to => return None,
            Kind::TwoBars => at,
            Kind::Bar => self.find(Span { from: at + 1, ..span }, Kind::Bar)?,
            _ => return None,
        };
        let rest = Span { from: end + 1, ..span };
        if self.is(rest.from, Kind::ResultArrow) {
            self.find(rest, Kind::OpenBrace)
        } else {
            Some(rest.from)
        }
    }

    pub(super) fn is_assignment(&self, span: Span) -> bool {
        matches!(self.form(span), Form::Assignment(_))
    }

    /// Whether an expression may begin in a line and end in another with nothing but its end there.
    pub(super) fn hangs(&self, span: Span) -> bool {
        match self.form(span) {
            Form::Prefixed(rest) => self.hangs(Span { from: rest, ..span }),
            Form::Assignment(_) | Form::Plain => false,
            _ => true,
        }
    }

    /// An expression, with so many columns to follow it.
    pub(super) fn expression(&mut self, span: Span, tail: usize) {
        if self.fits(span, tail) {
            return self.push_flat(span);
        }
        match self.form(span) {
            Form::Closure(body) => self.closure(span, body, tail),
            Form::Prefixed(rest) => {
                self.push_flat_up_to(Span { from: span.from, to: rest });
                self.expression(Span { from: rest, ..span }, tail);
            }
            Form::Control => self.control(span),
            Form::Block => self.block(span.from),
            Form::Assignment(equals) => {
                self.push_flat(Span { from: span.from, to: equals + 1 });
                self.right_side(Span { from: equals + 1, ..span }, tail);
            }
            Form::Chain => self.chain(span, tail),
            Form::Call(_) => self.call(span, tail),
            Form::Plain => self.push_flat(span),
        }
    }

    fn closure(&mut self, span: Span, body: usize, tail: usize) {
        let rest = Span { from: body, ..span };
        self.push_flat_up_to(Span { from: span.from, to: body });
        match self.form(rest) {
            _ if self.fits(rest, tail) => self.push_flat(rest),
            Form::Block => self.block(body),
            Form::Control if self.fits(self.before_braces(rest), " {".len()) => self.control(rest),
            Form::Call(open) if self.is(open, Kind::OpenBrace) => self.expression(rest, tail),
            _ => self.in_braces(rest),
        }
    }

    fn before_braces(&self, span: Span) -> Span {
        Span { to: self.find(span, Kind::OpenBrace).unwrap_or(span.to), ..span }
    }

    /// The value behind `=`, with the space before it: in this line, in the next, or in both.
    pub(super) fn right_side(&mut self, span: Span, tail: usize) {
        if self.fits(span, tail + 1) || !self.fits_below(span, tail) {
            let mark = self.mark();
            self.beside(span, tail);
            if self.is_shorter_below(span, tail, mark) {
                self.go_back(mark);
                self.below(span, tail);
            }
        } else {
            self.below(span, tail);
        }
    }

    /// Whether a chain that takes the lines since a mark would take at least two less in a line of its own.
    fn is_shorter_below(&mut self, span: Span, tail: usize, mark: Mark) -> bool {
        let lines = self.lines_since(mark);
        if lines <= 2 || self.form(span) != Form::Chain {
            return false;
        }
        let end = self.mark();
        self.below(span, tail);
        let lines_below = self.lines_since(end) - 1;
        self.go_back(end);
        lines > lines_below + 1
    }

    /// The value of a field, with the space before it: in this line, if its beginning has room there. A long text stays.
    pub(super) fn beside(&mut self, span: Span, tail: usize) {
        let mark = self.mark();
        self.push(" ");
        self.expression(span, tail);
        let is_better_below = self.lines_since(mark) > 1 || self.fits_below(span, tail);
        if self.is_too_long(mark) && is_better_below && !self.is(span.from, Kind::Text) {
            self.go_back(mark);
            self.below(span, tail);
        }
    }

    fn below(&mut self, span: Span, tail: usize) {
        self.indent += STEP;
        self.newline();
        self.expression(span, tail);
        self.indent -= STEP;
    }

    /// `name(…)` or `name { … }` with its last brackets broken; what stands behind them stays there.
    pub(super) fn call(&mut self, span: Span, tail: usize) {
        let open =
            self.outside_brackets(span).filter(|&at| self.tokens.kind(at).is_opening()).last();
        let Some(open) = open.filter(|_| !self.fits(span, tail)) else {
            return self.push_flat(span);
        };
        let behind = Span { from: self.tokens.mate(open) + 1, ..span };
        let width = self.tokens.width(behind).unwrap_or_default();
        self.push_flat_up_to(Span { from: span.from, to: open });
        if self.is(open, Kind::OpenBrace) {
            self.fields(open);
        } else {
            self.list(open, tail + width);
        }
        self.push_flat_behind(self.tokens.mate(open), span.to);
    }
}
