//! A stream as it reads in one line: where each token stands there, which brackets belong together, what keeps it from
//! being one line. Layout asks it and decides; nothing is decided here.

use super::kind::Kind;
use super::spacing::{self, Around, Side};
use super::stream::{Token, TokenStream};

/// Where a token stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Where it begins and ends in the line.
    start: usize,
    end: usize,
    /// How many tokens before it cannot stand in a line with others.
    breaks: usize,
    /// The bracket that belongs to it; itself for any other token.
    mate: usize,
    kind: Kind,
}

/// Some tokens of a stream, by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emit) struct Span {
    /// The first.
    pub(in crate::emit) from: usize,
    /// The one after the last.
    pub(in crate::emit) to: usize,
}

impl Span {
    pub(in crate::emit) fn is_empty(self) -> bool {
        self.from >= self.to
    }
}

/// A stream in one line. Used for one stream after another, it keeps its room.
#[derive(Debug, Default)]
pub(in crate::emit) struct Spaced {
    line: String,
    is_ascii: bool,
    places: Vec<Place>,
    open: Vec<Group>,
}

/// A group that is not closed yet.
#[derive(Debug)]
struct Group {
    at: usize,
    bracket: Kind,
    is_import: bool,
    /// Whether its brackets are those of a call, and no tuple's.
    is_call: bool,
    commas: usize,
    in_parameters: bool,
}

impl Spaced {
    /// Takes a stream in place of the last.
    pub(in crate::emit) fn read(&mut self, stream: &TokenStream) {
        self.line.clear();
        self.places.clear();
        self.places.reserve(stream.tokens().len() + 1);
        self.open.clear();
        self.is_ascii = stream.text().is_ascii();
        let mut cursor = Cursor::new(stream.text());
        for &token in stream.tokens() {
            self.add(token, &mut cursor);
        }
        self.put(Token { kind: Kind::End, length: 0 }, false, &mut cursor);
        self.copy(&mut cursor);
    }

    /// All its tokens.
    pub(in crate::emit) fn all(&self) -> Span {
        Span { from: 0, to: self.places.len() - 1 }
    }

    pub(in crate::emit) fn kind(&self, at: usize) -> Kind {
        self.places[at].kind
    }

    /// The bracket that belongs to the one at a place; the place itself where no bracket stands.
    pub(in crate::emit) fn mate(&self, at: usize) -> usize {
        self.places[at].mate
    }

    pub(in crate::emit) fn text(&self, at: usize) -> &str {
        let Place { start, end, .. } = self.places[at];
        &self.line[start..end]
    }

    /// The tokens in one line.
    pub(in crate::emit) fn flat(&self, span: Span) -> &str {
        if span.is_empty() {
            return "";
        }
        &self.line[self.places[span.from].start..self.places[span.to - 1].end]
    }

    /// The tokens in one line, with the space before the token that follows.
    pub(in crate::emit) fn flat_up_to(&self, span: Span) -> &str {
        &self.line[self.places[span.from].start..self.places[span.to].start]
    }

    /// The tokens behind one, in one line, with the space behind that one.
    pub(in crate::emit) fn flat_behind(&self, at: usize, to: usize) -> &str {
        &self.line[self.places[at].end..self.places[to - 1].end]
    }

    /// How wide they are in one line; none where they cannot stand in one.
    pub(in crate::emit) fn width(&self, span: Span) -> Option<usize> {
        if span.is_empty() {
            return Some(0);
        }
        let (first, last) = (&self.places[span.from], &self.places[span.to - 1]);
        let is_one_line = self.places[span.to].breaks == first.breaks;
        let width = if self.is_ascii {
            last.end - first.start
        } else {
            self.columns(&self.line[first.start..last.end])
        };
        is_one_line.then_some(width)
    }

    /// How many columns a part of the line takes, or something made of such parts.
    pub(in crate::emit) fn columns(&self, text: &str) -> usize {
        if self.is_ascii { text.len() } else { text.chars().count() }
    }

    #[inline]
    fn add(&mut self, token: Token, cursor: &mut Cursor<'_>) {
        if token.kind.is_opening() {
            return self.open(token, cursor);
        }
        if token.kind.is_closing() {
            return self.close(token, cursor);
        }
        let (space, side) = spacing::of(token.kind, cursor.around);
        self.put(token, space, cursor);
        cursor.around.before = side;
        match token.kind {
            Kind::Bar if cursor.around.in_parameters || side == Side::Prefix => {
                cursor.around.in_parameters = !cursor.around.in_parameters;
            }
            Kind::Comma => self.open.last_mut().into_iter().for_each(|group| group.commas += 1),
            Kind::Semicolon | Kind::Arrow => cursor.breaks += usize::from(self.is_in_braces()),
            Kind::Doc => cursor.breaks += 1,
            _ => {}
        }
    }

    fn is_in_braces(&self) -> bool {
        self.open.last().is_some_and(|group| group.bracket == Kind::OpenBrace)
    }

    fn open(&mut self, token: Token, cursor: &mut Cursor<'_>) {
        let (bracket, around) = (token.kind, cursor.around);
        let is_in_parens =
            || self.open.last().is_some_and(|group| group.bracket == Kind::OpenParen);
        // `pub (A, B)` is a field of a tuple, `pub(crate)` none.
        let is_field = around.last == Kind::Pub && is_in_parens();
        let space = is_field || spacing::before_bracket(bracket, around);
        let is_import = bracket == Kind::OpenBrace && around.last == Kind::TwoColons;
        self.open.push(Group {
            at: self.places.len(),
            bracket,
            is_import,
            is_call: around.is_called(),
            commas: 0,
            in_parameters: std::mem::take(&mut cursor.around.in_parameters),
        });
        self.put(token, space, cursor);
        let is_body = bracket == Kind::OpenBrace && !is_import;
        cursor.around.before = if is_body { Side::Brace } else { Side::Open };
    }

    fn close(&mut self, token: Token, cursor: &mut Cursor<'_>) {
        let group = self.open.pop().expect("emitters close what they open");
        let (at, last) = (self.places.len(), self.places.len() - 1);
        let is_tuple_of_one =
            group.bracket == Kind::OpenParen && group.commas == 1 && !group.is_call;
        if self.places[last].kind == Kind::Comma && !is_tuple_of_one {
            self.drop_comma(cursor);
        }
        let is_padded = token.kind == Kind::CloseBrace && !group.is_import && group.at != last;
        self.put(token, is_padded, cursor);
        self.places[at].mate = group.at;
        self.places[group.at].mate = at;
        cursor.around.before = Side::Operand;
        cursor.around.in_parameters = group.in_parameters;
    }

    /// A comma before a closing bracket is not written in one line.
    fn drop_comma(&mut self, cursor: &mut Cursor<'_>) {
        let comma = self.places.last_mut().expect("it was seen");
        comma.end = comma.start;
        cursor.end = comma.start;
        cursor.at -= 1;
        self.copy(cursor);
        cursor.at += 1;
        cursor.copied = cursor.at;
    }

    #[inline]
    fn put(&mut self, token: Token, space: bool, cursor: &mut Cursor<'_>) {
        if space {
            self.put_space(cursor);
        }
        let start = cursor.end;
        cursor.end += token.length;
        cursor.at += token.length;
        cursor.around.last = token.kind;
        let (end, mate) = (cursor.end, self.places.len());
        self.places.push(Place { start, end, breaks: cursor.breaks, mate, kind: token.kind });
    }

    #[inline(never)]
    fn put_space(&mut self, cursor: &mut Cursor<'_>) {
        self.copy(cursor);
        self.line.push(' ');
        cursor.end += 1;
    }

    /// Adds to the line what waits for it: tokens without spaces between them are copied together.
    fn copy(&mut self, cursor: &mut Cursor<'_>) {
        self.line.push_str(&cursor.text[cursor.copied..cursor.at]);
        cursor.copied = cursor.at;
    }
}

/// What is known where the next token begins.
struct Cursor<'a> {
    /// The text of the stream, where in it the next token stands, and how much of it stands in the line already.
    text: &'a str,
    at: usize,
    copied: usize,
    /// Where the last token ends in the line.
    end: usize,
    around: Around,
    breaks: usize,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str) -> Self {
        let around = Around { before: Side::Start, last: Kind::End, in_parameters: false };
        Self { text, at: 0, copied: 0, end: 0, around, breaks: 0 }
    }
}
