//! A stream as it reads in one line: where each token stands there, which brackets belong together, what keeps it from
//! being one line. Layout asks it and decides; nothing is decided here.

use super::spacing::{self, Around, Side};
use super::stream::TokenStream;

/// What a token is to layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emit) enum Kind {
    /// A name, a keyword, a literal, a sign.
    Plain,
    /// `(`, `[` or `{`.
    Open,
    /// `)`, `]` or `}`.
    Close,
    /// `,`, also one that a single line does without.
    Comma,
    /// `;`
    Semicolon,
    /// `.`
    Dot,
    /// `=`
    Equals,
    /// `=>`
    Arrow,
    /// A doc line.
    Doc,
}

/// One token in the line.
#[derive(Clone, Copy, Debug)]
struct Token {
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
    tokens: Vec<Token>,
    open: Vec<Group>,
}

/// A group that is not closed yet.
#[derive(Debug)]
struct Group {
    at: usize,
    bracket: u8,
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
        self.tokens.clear();
        self.open.clear();
        self.is_ascii = stream.is_ascii();
        let mut cursor = Cursor { before: Side::Start, last: 0, breaks: 0, in_parameters: false };
        for token in stream.tokens() {
            self.add(token, &mut cursor);
        }
        // What stands behind the last token: nothing.
        self.put("", false, Kind::Plain, &mut cursor);
    }

    /// All its tokens.
    pub(in crate::emit) fn all(&self) -> Span {
        Span { from: 0, to: self.tokens.len() - 1 }
    }

    pub(in crate::emit) fn kind(&self, at: usize) -> Kind {
        self.tokens[at].kind
    }

    /// The bracket that belongs to the one at a place; the place itself where no bracket stands.
    pub(in crate::emit) fn mate(&self, at: usize) -> usize {
        self.tokens[at].mate
    }

    pub(in crate::emit) fn text(&self, at: usize) -> &str {
        let Token { start, end, .. } = self.tokens[at];
        &self.line[start..end]
    }

    pub(in crate::emit) fn is(&self, at: usize, text: &str) -> bool {
        self.text(at) == text
    }

    /// The tokens in one line.
    pub(in crate::emit) fn flat(&self, span: Span) -> &str {
        if span.is_empty() {
            return "";
        }
        &self.line[self.tokens[span.from].start..self.tokens[span.to - 1].end]
    }

    /// The tokens in one line, with the space before the token that follows.
    pub(in crate::emit) fn flat_up_to(&self, span: Span) -> &str {
        &self.line[self.tokens[span.from].start..self.tokens[span.to].start]
    }

    /// The tokens behind one, in one line, with the space behind that one.
    pub(in crate::emit) fn flat_behind(&self, at: usize, to: usize) -> &str {
        &self.line[self.tokens[at].end..self.tokens[to - 1].end]
    }

    /// How wide they are in one line; none where they cannot stand in one.
    pub(in crate::emit) fn width(&self, span: Span) -> Option<usize> {
        if span.is_empty() {
            return Some(0);
        }
        let (first, last) = (&self.tokens[span.from], &self.tokens[span.to - 1]);
        let is_one_line = self.tokens[span.to].breaks == first.breaks;
        let width = if self.is_ascii {
            last.end - first.start
        } else {
            columns(&self.line[first.start..last.end])
        };
        is_one_line.then_some(width)
    }

    fn add(&mut self, token: &str, cursor: &mut Cursor) {
        match token.as_bytes() {
            [bracket @ (b'(' | b'[' | b'{')] => self.open(*bracket, cursor),
            [bracket @ (b')' | b']' | b'}')] => self.close(*bracket, cursor),
            [b'/', b'/', ..] => {
                self.put(token, false, Kind::Doc, cursor);
                cursor.breaks += 1;
                cursor.before = Side::Start;
            }
            _ => self.add_plain(token, cursor),
        }
    }

    fn add_plain(&mut self, token: &str, cursor: &mut Cursor) {
        let (space, side) = spacing::of(token, &self.around(cursor));
        if token == "|" && (cursor.in_parameters || side == Side::Prefix) {
            cursor.in_parameters = !cursor.in_parameters;
        }
        let kind = kind_of(token);
        self.put(token, space, kind, cursor);
        cursor.before = side;
        let Some(group) = self.open.last_mut() else { return };
        group.commas += usize::from(kind == Kind::Comma);
        let breaks = matches!(kind, Kind::Semicolon | Kind::Arrow) && group.bracket == b'{';
        cursor.breaks += usize::from(breaks);
    }

    fn around(&self, cursor: &Cursor) -> Around<'_> {
        Around {
            before: cursor.before,
            line: &self.line,
            last: cursor.last,
            in_parameters: cursor.in_parameters,
        }
    }

    fn open(&mut self, bracket: u8, cursor: &mut Cursor) {
        let around = self.around(cursor);
        // `pub (A, B)` is a field of a tuple, `pub(crate)` none.
        let is_field =
            around.word() == "pub" && self.open.last().is_some_and(|group| group.bracket == b'(');
        let space = is_field || spacing::before_bracket(bracket, &around);
        let is_import = bracket == b'{' && around.word() == "::";
        let is_call = around.is_called();
        let group = Group {
            at: self.tokens.len(),
            bracket,
            is_import,
            is_call,
            commas: 0,
            in_parameters: std::mem::take(&mut cursor.in_parameters),
        };
        let text = match bracket {
            b'(' => "(",
            b'[' => "[",
            _ => "{",
        };
        self.put(text, space, Kind::Open, cursor);
        cursor.before = if bracket == b'{' && !is_import { Side::Brace } else { Side::Open };
        self.open.push(group);
    }

    fn close(&mut self, bracket: u8, cursor: &mut Cursor) {
        let group = self.open.pop().expect("emitters close what they open");
        let last = self.tokens.len() - 1;
        let is_tuple_of_one = group.bracket == b'(' && group.commas == 1 && !group.is_call;
        if self.tokens[last].kind == Kind::Comma && !is_tuple_of_one {
            self.drop_comma(last);
        }
        let is_padded = bracket == b'}' && !group.is_import && group.at != last;
        let text = match bracket {
            b')' => ")",
            b']' => "]",
            _ => "}",
        };
        self.put(text, is_padded, Kind::Close, cursor);
        let at = self.tokens.len() - 1;
        self.tokens[at].mate = group.at;
        self.tokens[group.at].mate = at;
        cursor.before = Side::Operand;
        cursor.in_parameters = group.in_parameters;
    }

    /// A comma before a closing bracket is not written in one line.
    fn drop_comma(&mut self, at: usize) {
        let comma = &mut self.tokens[at];
        comma.end = comma.start;
        self.line.truncate(comma.start);
    }

    fn put(&mut self, text: &str, space: bool, kind: Kind, cursor: &mut Cursor) {
        if space {
            self.line.push(' ');
        }
        let (start, mate) = (self.line.len(), self.tokens.len());
        self.line.push_str(text);
        cursor.last = start;
        let end = self.line.len();
        self.tokens.push(Token { start, end, breaks: cursor.breaks, mate, kind });
    }
}

/// What is known where the next token begins.
struct Cursor {
    before: Side,
    /// Where the last token began.
    last: usize,
    breaks: usize,
    in_parameters: bool,
}

fn kind_of(token: &str) -> Kind {
    match token.as_bytes() {
        [b','] => Kind::Comma,
        [b';'] => Kind::Semicolon,
        [b'.'] => Kind::Dot,
        [b'='] => Kind::Equals,
        [b'=', b'>'] => Kind::Arrow,
        _ => Kind::Plain,
    }
}

/// How many columns a text takes.
pub(in crate::emit) fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}
