//! Tokens laid out in lines: as rustfmt does it with `use_small_heuristics = "Max"`, for what emitters write. It reads
//! brackets, commas and keywords, and no grammar: what it does not know stays in one line, and is the same Rust. It never
//! adds, drops or moves a token but commas at the end of a list, braces around what stands behind an arrow or a closure's
//! parameters or around a single import, and imports, which it puts in order.

mod chains;
mod expressions;
mod items;
mod lists;
mod statements;

use super::rust::{Kind, Spaced, Span, TokenStream};

/// How wide a line may be, in columns.
const WIDTH: usize = 100;

/// How much further in a part stands than the whole.
const STEP: usize = 4;

/// What stands before a line, or a part of it.
const SPACES: &str = "                                                                ";

/// Lays out one stream of items after another.
#[derive(Debug, Default)]
pub(super) struct Printer {
    line: Spaced,
    file: String,
}

impl Printer {
    /// A file of what this writes, in no more memory than it takes: thousands of files are kept until they are written.
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
        let mut layout = Layout { tokens: &self.line, out: file, start, indent: 0 };
        layout.items(self.line.all());
        file.push('\n');
    }
}

/// A file in the making.
struct Layout<'a> {
    tokens: &'a Spaced,
    out: &'a mut String,
    /// Where the last line begins in it.
    start: usize,
    /// How far in that line stands.
    indent: usize,
}

/// A place to come back to when a way to break a line turns out worse than another.
#[derive(Clone, Copy)]
struct Mark {
    length: usize,
    start: usize,
}

impl Layout<'_> {
    fn newline(&mut self) {
        self.out.push('\n');
        self.start = self.out.len();
        let mut rest = self.indent;
        while rest > 0 {
            let part = rest.min(SPACES.len());
            self.out.push_str(&SPACES[..part]);
            rest -= part;
        }
    }

    /// What `print` adds stands further in.
    fn indented(&mut self, print: impl FnOnce(&mut Self)) {
        self.indent += STEP;
        print(self);
        self.indent -= STEP;
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn push_flat(&mut self, span: Span) {
        self.out.push_str(self.tokens.flat(span));
    }

    /// The tokens and the space before what follows them.
    fn push_flat_up_to(&mut self, span: Span) {
        self.out.push_str(self.tokens.flat_up_to(span));
    }

    /// What stands behind a token, with the space between.
    fn push_flat_behind(&mut self, at: usize, to: usize) {
        self.out.push_str(self.tokens.flat_behind(at, to));
    }

    fn column(&self) -> usize {
        self.tokens.columns(&self.out[self.start..])
    }

    /// Whether tokens can stand in this line, with so many columns to follow them.
    fn fits(&self, span: Span, tail: usize) -> bool {
        self.fits_from(self.column(), span, tail)
    }

    /// Whether tokens can stand in a line of their own, further in than this one.
    fn fits_below(&self, span: Span, tail: usize) -> bool {
        self.fits_from(self.indent + STEP, span, tail)
    }

    fn fits_from(&self, column: usize, span: Span, tail: usize) -> bool {
        self.tokens.width(span).is_some_and(|width| column + width + tail <= WIDTH)
    }

    fn mark(&self) -> Mark {
        Mark { length: self.out.len(), start: self.start }
    }

    fn go_back(&mut self, mark: Mark) {
        self.out.truncate(mark.length);
        self.start = mark.start;
    }

    /// How many lines there are since a mark, its own among them.
    fn lines_since(&self, mark: Mark) -> usize {
        1 + self.out[mark.length..].bytes().filter(|&byte| byte == b'\n').count()
    }

    /// The line that a mark stands in.
    fn line_of(&self, mark: Mark) -> &str {
        let line = &self.out[mark.start..];
        line.split_once('\n').map_or(line, |(line, _)| line)
    }

    fn is_too_long(&self, mark: Mark) -> bool {
        // No character is wider than it is long.
        self.out.len() - mark.start > WIDTH && self.tokens.columns(self.line_of(mark)) > WIDTH
    }

    /// The first token of a kind outside all brackets of a span.
    fn find(&self, span: Span, kind: Kind) -> Option<usize> {
        self.find_where(span, |at| self.is(at, kind))
    }

    fn find_where(&self, span: Span, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        self.outside_brackets(span).find(|&at| is_it(at))
    }

    /// The tokens of a span that stand in no bracket; of brackets the opening one.
    fn outside_brackets(&self, span: Span) -> impl Iterator<Item = usize> {
        let mut next = span.from;
        std::iter::from_fn(move || {
            let at = next;
            next = self.tokens.mate(at).max(at) + 1;
            (at < span.to).then_some(at)
        })
    }

    fn is(&self, at: usize, kind: Kind) -> bool {
        self.tokens.kind(at) == kind
    }

    /// What stands between brackets.
    fn inside(&self, open: usize) -> Span {
        Span { from: open + 1, to: self.tokens.mate(open) }
    }
}
