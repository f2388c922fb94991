//! Items: what stands at the top of a file, in an `impl` or a trait. Never an expression.

use super::{Kind, Layout, STEP, Span};

impl Layout<'_> {
    /// Items, one below the other; a blank line beside those that have a body.
    pub(super) fn items(&mut self, span: Span) {
        let (mut rest, mut before) = (span, None);
        while !rest.is_empty() {
            let (item, head) = self.first_item(rest);
            if before.is_some_and(|before| self.has_body(before) || self.has_body(head)) {
                self.push("\n");
            }
            if before.is_some() {
                self.newline();
            }
            rest.from = if self.is(head, Kind::Use) {
                self.imports(rest)
            } else {
                self.item(item, head);
                item.to
            };
            before = Some(head);
        }
    }

    /// An item and the keyword that says what it is.
    fn first_item(&self, span: Span) -> (Span, usize) {
        let head = self.head(span);
        (Span { to: self.item_end(Span { from: head, ..span }), ..span }, head)
    }

    /// Imports that follow each other, in the order of rustfmt: what is near first, then by the parts of their paths, several
    /// names after single ones. Returns where they end.
    fn imports(&mut self, span: Span) -> usize {
        let mut imports = Vec::new();
        let mut rest = span;
        while !rest.is_empty() {
            let (item, head) = self.first_item(rest);
            if !self.is(head, Kind::Use) {
                break;
            }
            imports.push((item, head));
            rest.from = item.to;
        }
        imports.sort_by_key(|&(item, head)| {
            let path = (head + 1..item.to).map(|at| self.tokens.text(at));
            (self.tokens.text(head + 1) != "super", path.collect::<Vec<_>>())
        });
        for (place, (item, head)) in imports.into_iter().enumerate() {
            if place > 0 {
                self.newline();
            }
            self.item(item, head);
        }
        rest.from
    }

    /// Docs and attributes, a line each. Returns where they end.
    pub(super) fn lead(&mut self, span: Span) -> usize {
        let mut at = span.from;
        while let Some(end) = self.lead_end(at).filter(|_| at < span.to) {
            let flat = self.tokens.flat(Span { from: at, to: end }).trim_end();
            self.out.push_str(flat);
            self.newline();
            at = end;
        }
        at
    }

    /// Where a doc line or an attribute ends.
    fn lead_end(&self, at: usize) -> Option<usize> {
        match self.tokens.kind(at) {
            Kind::Doc => Some(at + 1),
            _ if self.is(at, Kind::Hash) => Some(self.tokens.mate(at + 1) + 1),
            _ => None,
        }
    }

    /// The keyword that says what an item is.
    fn head(&self, span: Span) -> usize {
        let mut at = span.from;
        while at < span.to {
            at = match self.lead_end(at) {
                Some(end) => end,
                None if self.is_qualifier(at) => self.tokens.mate(at) + 1,
                None => break,
            };
        }
        at
    }

    fn is_qualifier(&self, at: usize) -> bool {
        match self.tokens.kind(at) {
            Kind::Pub | Kind::Async | Kind::Unsafe | Kind::OpenParen => true,
            Kind::Const => self.is(at + 1, Kind::Fn),
            _ => false,
        }
    }

    fn has_body(&self, head: usize) -> bool {
        matches!(
            self.tokens.kind(head),
            Kind::Fn | Kind::Impl | Kind::Trait | Kind::Struct | Kind::Enum | Kind::Mod
        )
    }

    fn item_end(&self, span: Span) -> usize {
        let ends_with_brace = !matches!(
            self.tokens.kind(span.from),
            Kind::Use | Kind::Static | Kind::Const | Kind::TypeAlias
        );
        let is_end = |at: usize| {
            self.tokens.kind(at) == Kind::Semicolon
                || (ends_with_brace && self.is(at, Kind::OpenBrace))
        };
        self.find_where(span, is_end).map_or(span.to, |at| self.tokens.mate(at) + 1)
    }

    fn item(&mut self, span: Span, head: usize) {
        let from = self.lead(span);
        let span = Span { from, ..span };
        match self.tokens.kind(head) {
            Kind::Use => self.import(span),
            Kind::Static | Kind::Const | Kind::TypeAlias => self.definition(span),
            Kind::Struct | Kind::Enum => self.data(span),
            Kind::Fn => self.function(span, head),
            Kind::Impl | Kind::Trait | Kind::Mod => self.container(span),
            _ => self.statement(span),
        }
    }

    /// Imports; a name that is alone needs no braces. As rustfmt has it, their lines end a column early.
    fn import(&mut self, span: Span) {
        let Some(open) = self.find(span, Kind::OpenBrace) else { return self.push_flat(span) };
        let close = self.tokens.mate(open);
        let names = self.split(self.inside(open));
        if let [only] = names.as_slice() {
            self.push_flat(Span { from: span.from, to: open });
            self.push_flat(*only);
            self.push_flat_behind(close, span.to);
        } else if self.fits(span, 1) {
            self.push_flat(span);
        } else {
            self.push_flat(Span { from: span.from, to: open + 1 });
            self.fill(&names);
            self.push_flat(Span { from: close, to: span.to });
        }
    }

    fn definition(&mut self, span: Span) {
        match self.find(span, Kind::Equals).filter(|_| !self.fits(span, 0)) {
            None => self.push_flat(span),
            Some(equals) => {
                self.push_flat(Span { from: span.from, to: equals + 1 });
                self.right_side(Span { from: equals + 1, to: span.to - 1 }, 1);
                self.push(";");
            }
        }
    }

    fn data(&mut self, span: Span) {
        match self.find(span, Kind::OpenBrace) {
            None if self.fits(span, 0) => self.push_flat(span),
            None => {
                self.call(Span { to: span.to - 1, ..span }, 1);
                self.push(";");
            }
            Some(open) => {
                let header = Span { from: span.from, to: open };
                let tail = if self.inside(open).is_empty() { " {}".len() } else { " {".len() };
                let fits = self.fits(header, tail);
                self.push_flat(header);
                if fits {
                    self.push(" ");
                } else {
                    self.newline();
                }
                self.braces(open, Self::members);
            }
        }
    }

    /// Fields or variants.
    fn members(&mut self, span: Span) {
        for (place, member) in self.split(span).into_iter().enumerate() {
            if place > 0 {
                self.newline();
            }
            let from = self.lead(member);
            self.member(Span { from, ..member });
            self.push(",");
        }
    }

    fn member(&mut self, span: Span) {
        match self.find(span, Kind::Colon) {
            _ if self.fits(span, 1) => self.push_flat(span),
            Some(colon) => {
                self.push_flat(Span { from: span.from, to: colon + 1 });
                self.right_side(Span { from: colon + 1, ..span }, 1);
            }
            None => self.expression(span, 1),
        }
    }

    fn function(&mut self, span: Span, head: usize) {
        let last = span.to - 1;
        let open = if self.is(last, Kind::Semicolon) { last } else { self.tokens.mate(last) };
        let signature = Span { from: span.from, to: open };
        match self.parameters(Span { from: head, to: open }) {
            Some(parameters) if !self.fits(signature, " {".len()) => {
                self.push_flat(Span { from: span.from, to: parameters });
                self.vertical(parameters, &self.split(self.inside(parameters)));
                self.push_flat_behind(self.tokens.mate(parameters), open);
            }
            _ => self.push_flat(signature),
        }
        if open == last {
            self.push(";");
        } else {
            self.push(" ");
            self.block(open);
        }
    }

    /// The brackets of a function's parameters: the first ones outside its generics.
    fn parameters(&self, span: Span) -> Option<usize> {
        let mut depth = 0_usize;
        self.outside_brackets(span).find(|&at| {
            match self.tokens.kind(at) {
                Kind::Less => depth += 1,
                Kind::Greater => depth = depth.saturating_sub(1),
                Kind::TwoGreater => depth = depth.saturating_sub(2),
                _ => {}
            }
            depth == 0 && self.is(at, Kind::OpenParen)
        })
    }

    fn container(&mut self, span: Span) {
        let Some(open) = self.find(span, Kind::OpenBrace) else { return self.push_flat(span) };
        let header = Span { from: span.from, to: open };
        match self.find(header, Kind::For) {
            Some(at) if !self.fits(header, " {".len()) => {
                self.push_flat(Span { from: header.from, to: at });
                self.indented(Self::newline);
                self.push_flat(Span { from: at, to: open });
                self.newline();
            }
            _ => self.push_flat_up_to(header),
        }
        self.braces(open, Self::items);
    }

    /// Braces with what `print` makes of the tokens in them further in; `{}` where there are none.
    pub(super) fn braces(&mut self, open: usize, print: impl FnOnce(&mut Self, Span)) {
        let inside = self.inside(open);
        self.push("{");
        if !inside.is_empty() {
            self.indent += STEP;
            self.newline();
            print(self, inside);
            self.indent -= STEP;
            self.newline();
        }
        self.push("}");
    }
}
