//! What stands between brackets with commas: arguments, items of an array, parameters, fields, imports.

use super::expressions::Form;
use super::{Kind, Layout, STEP, Span, WIDTH};

/// Items up to this width share lines, where all are as short.
const SHORT: usize = 10;

impl Layout<'_> {
    /// The items of a list. A comma in a closure's parameters or between types of a generic one parts none.
    pub(super) fn split(&self, span: Span) -> Vec<Span> {
        let mut items = Vec::new();
        let (mut from, mut generics, mut in_parameters) = (span.from, 0_usize, false);
        for at in self.outside_brackets(span) {
            match self.tokens.kind(at) {
                Kind::Bar => in_parameters = !in_parameters && self.begins_closure(from, at),
                Kind::Less => generics += 1,
                Kind::Greater => generics = generics.saturating_sub(1),
                Kind::TwoGreater => generics = generics.saturating_sub(2),
                _ => {}
            }
            let parts = self.tokens.kind(at) == Kind::Comma && generics == 0 && !in_parameters;
            if parts {
                items.push(Span { from, to: at });
                from = at + 1;
            }
        }
        items.push(Span { from, to: span.to });
        items.retain(|item| !item.is_empty());
        items
    }

    fn begins_closure(&self, from: usize, at: usize) -> bool {
        (from..at).all(|at| matches!(self.tokens.kind(at), Kind::Async | Kind::Move))
    }

    /// A list that is too long for its line.
    pub(super) fn list(&mut self, open: usize, tail: usize) {
        let items = self.split(self.inside(open));
        if items.is_empty() {
            return self.push_flat(Span { from: open, to: self.tokens.mate(open) + 1 });
        }
        let is_done = self.can_hang(&items) && self.hanging(open, &items, tail);
        if !is_done && self.are_short(&items) {
            self.push_open(open);
            self.fill(&items);
            self.push_close(open);
        } else if !is_done {
            self.vertical(open, &items);
        }
    }

    fn push_open(&mut self, open: usize) {
        self.push_flat(Span { from: open, to: open + 1 });
    }

    fn push_close(&mut self, open: usize) {
        let close = self.tokens.mate(open);
        self.push_flat(Span { from: close, to: close + 1 });
    }

    /// Whether the last item may begin in the line of the brackets and end in that of their end: a closure or a block
    /// always, another only where it is alone.
    fn can_hang(&self, items: &[Span]) -> bool {
        let is_closure = |item: &Span| matches!(self.form(*item), Form::Closure(_) | Form::Block);
        match items {
            [only] => self.hangs(*only),
            [others @ .., last] => is_closure(last) && !others.iter().any(is_closure),
            [] => false,
        }
    }

    /// All but the last item in this line, and the last as far as it goes. Says whether that went well.
    fn hanging(&mut self, open: usize, items: &[Span], tail: usize) -> bool {
        let Some(&last) = items.last() else { return false };
        let before = Span { from: open, to: last.from };
        if !self.fits(before, 1) {
            return false;
        }
        let mark = self.mark();
        self.push_flat_up_to(before);
        self.expression(last, tail + 1);
        let line = self.line_of(mark);
        // As rustfmt has it, the end has to have room in the first line too.
        let has_room = self.tokens.columns(line) + tail < WIDTH;
        let hangs = has_room && line.ends_with(['(', '[', '{']);
        if hangs {
            // A tuple of one has its comma in any case.
            self.push_flat(Span { from: last.to, to: self.tokens.mate(open) });
            self.push_close(open);
        } else {
            self.go_back(mark);
        }
        hangs
    }

    fn are_short(&self, items: &[Span]) -> bool {
        let is_short = |item: &Span| {
            self.is_word(*item) && self.tokens.width(*item).is_some_and(|width| width <= SHORT)
        };
        items.iter().all(is_short)
    }

    /// Whether an item is one name or literal, maybe with a sign before it.
    fn is_word(&self, item: Span) -> bool {
        match self.form(item) {
            Form::Plain => item.to - item.from == 1,
            Form::Prefixed(rest) => self.is_word(Span { from: rest, ..item }),
            _ => false,
        }
    }

    /// The brackets, and each item in a line of its own.
    pub(super) fn vertical(&mut self, open: usize, items: &[Span]) {
        // The arguments of a macro are its own: it may not take a comma at the end.
        let is_macro = open > 0 && self.is(open - 1, Kind::Exclamation);
        self.push_open(open);
        self.indent += STEP;
        for (place, item) in items.iter().enumerate() {
            self.newline();
            self.expression(*item, 1);
            let has_comma = !is_macro || place + 1 < items.len();
            self.push(if has_comma { "," } else { "" });
        }
        self.indent -= STEP;
        self.newline();
        self.push_close(open);
    }

    /// What stands between brackets, as many items in a line as it takes. As rustfmt has it, the lines end a column early.
    pub(super) fn fill(&mut self, items: &[Span]) {
        self.indent += STEP;
        self.newline();
        for (place, &item) in items.iter().enumerate() {
            if place > 0 && self.fits(item, ", ".len() + 1) {
                self.push(" ");
            } else if place > 0 {
                self.newline();
            }
            self.push_flat(item);
            self.push(",");
        }
        self.indent -= STEP;
        self.newline();
    }

    /// `{ name: value, ..base }`, a field in each line.
    pub(super) fn fields(&mut self, open: usize) {
        self.braces(open, |layout, span| {
            for (place, field) in layout.split(span).into_iter().enumerate() {
                if place > 0 {
                    layout.newline();
                }
                layout.field(field);
            }
        });
    }

    fn field(&mut self, span: Span) {
        if self.is(span.from, Kind::TwoDots) {
            return self.expression(span, 0);
        }
        let has_value = span.from + 1 < span.to && self.is(span.from + 1, Kind::Colon);
        if self.fits(span, 1) || !has_value {
            self.push_flat(span);
        } else {
            self.push_flat(Span { from: span.from, to: span.from + 2 });
            self.beside(Span { from: span.from + 2, ..span }, 1);
        }
        self.push(",");
    }
}
