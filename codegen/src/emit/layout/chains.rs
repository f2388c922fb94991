//! Chains of methods: in one line but for the end of the last call, or a call in each line.

use super::{Kind, Layout, STEP, Span};

/// A call this long hangs at the end of its chain, even if it had room in a line of its own.
const LONG: usize = 5;

impl Layout<'_> {
    /// A chain that is too long for its line.
    pub(super) fn chain(&mut self, span: Span, tail: usize) {
        let links = self.links(span);
        let Some(&last) = links.last() else { return self.call(span, tail) };
        let is_done = self.fits(Span { to: last, ..span }, 1) && self.in_one(span, last, tail);
        if !is_done {
            self.in_many(span, &links, tail);
        }
    }

    /// The dots at which a chain may be broken: a short name keeps its method beside it.
    fn links(&self, span: Span) -> Vec<usize> {
        let is_short = |dot: usize| {
            let width = self.tokens.width(Span { to: dot, ..span });
            width.is_some_and(|width| width <= STEP)
        };
        self.outside_brackets(span)
            .filter(|&at| self.tokens.kind(at) == Kind::Dot)
            .skip_while(|&dot| is_short(dot))
            .collect()
    }

    /// The chain in this line, its last call as far as it goes. Says whether that went well.
    fn in_one(&mut self, span: Span, last: usize, tail: usize) -> bool {
        let mark = self.mark();
        let call = Span { from: last, ..span };
        self.push_flat(Span { to: last, ..span });
        self.call(call, tail);
        let lines = self.lines_since(mark);
        let is_fine = !self.is_too_long(mark)
            && (lines >= LONG
                || (!self.fits_below(call, tail) && self.lines_below(call, tail) >= lines));
        if !is_fine {
            self.go_back(mark);
        }
        is_fine
    }

    /// How many lines a call would take below the head of its chain.
    fn lines_below(&mut self, call: Span, tail: usize) -> usize {
        let end = self.mark();
        self.indent += STEP;
        self.newline();
        let begin = self.mark();
        self.call(call, tail);
        let lines = self.lines_since(begin);
        self.indent -= STEP;
        self.go_back(end);
        lines
    }

    fn in_many(&mut self, span: Span, links: &[usize], tail: usize) {
        self.expression(Span { to: links[0], ..span }, 0);
        self.indent += STEP;
        for (place, &from) in links.iter().enumerate() {
            let to = links.get(place + 1).copied().unwrap_or(span.to);
            self.newline();
            self.call(Span { from, to }, if to == span.to { tail } else { 0 });
        }
        self.indent -= STEP;
    }
}
