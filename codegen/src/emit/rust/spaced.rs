//! A stream as it reads in one line: where each token stands there, which brackets belong together, what keeps it from
//! being one line. The printer asks it and decides; nothing is decided here.

use super::kind::{Kind, Token};
use super::spacing::{self, Side};
use super::stream::TokenStream;

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
    form: Form,
}

/// What brackets hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emit) enum Form {
    /// Items with commas between them: anything in `(…)` and `[…]`, a struct's value or pattern, imports.
    List,
    /// The fields or variants of a type.
    Fields,
    /// The arms of a `match`.
    Arms,
    /// The body of a function, an `impl`, a trait or a module.
    Items,
    /// Any other block.
    Statements,
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
    gaps: Vec<Gap>,
    open: Vec<Group>,
}

/// Where the line differs from the text of the stream.
#[derive(Clone, Copy, Debug)]
enum Gap {
    /// A space stands there.
    Space(usize),
    /// The comma that stands there is left out.
    Comma(usize),
}

/// A group that is not closed yet.
#[derive(Debug)]
struct Group {
    at: usize,
    bracket: Kind,
    is_import: bool,
    /// Whether its brackets are those of a call, and no tuple's.
    is_call: bool,
    /// Whether its parentheses are those of a macro: braces in them hold a list.
    is_macro: bool,
    commas: usize,
    in_parameters: bool,
    head: Option<Kind>,
    in_pattern: bool,
}

impl Spaced {
    /// Takes a stream in place of the last.
    pub(in crate::emit) fn read(&mut self, stream: &TokenStream) {
        self.places.clear();
        self.gaps.clear();
        self.open.clear();
        self.places.reserve(stream.tokens().len() + 1);
        let mut cursor = Cursor::default();
        for &token in stream.tokens() {
            self.add(token, &mut cursor);
        }
        self.put(Token { kind: Kind::End, length: 0 }, false, &mut cursor);
        self.write(stream.text());
    }

    /// Makes the line of the text, where all gaps are known.
    fn write(&mut self, text: &str) {
        self.is_ascii = text.is_ascii();
        self.line.clear();
        let mut from = 0;
        for &gap in &self.gaps {
            match gap {
                Gap::Space(at) => {
                    self.line.push_str(&text[from..at]);
                    self.line.push(' ');
                    from = at;
                }
                Gap::Comma(at) => {
                    self.line.push_str(&text[from..at]);
                    from = at + 1;
                }
            }
        }
        self.line.push_str(&text[from..]);
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

    /// What the brackets hold that open at a place.
    pub(in crate::emit) fn form(&self, at: usize) -> Form {
        self.places[at].form
    }

    /// The tokens in one line.
    pub(in crate::emit) fn flat(&self, span: Span) -> &str {
        if span.is_empty() {
            return "";
        }
        &self.line[self.places[span.from].start..self.places[span.to - 1].end]
    }

    /// Where a token begins and ends in the line.
    pub(in crate::emit) fn start(&self, at: usize) -> usize {
        self.places[at].start
    }

    pub(in crate::emit) fn end(&self, at: usize) -> usize {
        self.places[at].end
    }

    /// A part of the line.
    pub(in crate::emit) fn part(&self, start: usize, end: usize) -> &str {
        &self.line[start..end]
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
    fn add(&mut self, token: Token, cursor: &mut Cursor) {
        if token.kind.is_opening() {
            return self.open(token, cursor);
        }
        if token.kind.is_closing() {
            return self.close(token, cursor);
        }
        let (space, side) = spacing::of(token.kind, cursor.before);
        let ends_parameters = cursor.in_parameters && token.kind == Kind::Bar;
        self.put(token, space && !ends_parameters, cursor);
        cursor.before = if ends_parameters { Side::Sign } else { side };
        match token.kind {
            Kind::Bar => cursor.in_parameters = !ends_parameters && side == Side::Prefix,
            Kind::Comma => self.open.last_mut().into_iter().for_each(|group| group.commas += 1),
            Kind::Semicolon | Kind::Arrow => {
                cursor.head = None;
                cursor.breaks += usize::from(self.is_in_braces());
            }
            Kind::Doc => cursor.breaks += 1,
            Kind::Let => cursor.in_pattern = cursor.head.is_some(),
            Kind::Equals => {
                cursor.in_pattern = false;
                cursor.head.take_if(|head| *head == Kind::ResultArrow);
            }
            kind if kind.begins_body() && cursor.head.is_none_or(|head| head == Kind::Unsafe) => {
                cursor.head = Some(kind);
            }
            _ => {}
        }
    }

    /// What a bracket holds, by what stands before it.
    fn form_of(bracket: Kind, is_in_macro: bool, cursor: &mut Cursor) -> Form {
        if bracket != Kind::OpenBrace {
            return Form::List;
        }
        let follows_path = matches!(
            cursor.last,
            Kind::Type | Kind::Name | Kind::Greater | Kind::TwoGreater | Kind::TwoColons
        );
        let head = if cursor.in_pattern && follows_path { None } else { cursor.head.take() };
        match head {
            Some(Kind::Struct | Kind::Enum) => Form::Fields,
            Some(Kind::Match) => Form::Arms,
            Some(Kind::Fn | Kind::Impl | Kind::Trait | Kind::Mod) => Form::Items,
            None if follows_path || is_in_macro => Form::List,
            _ => Form::Statements,
        }
    }

    fn is_in_braces(&self) -> bool {
        self.open.last().is_some_and(|group| group.bracket == Kind::OpenBrace)
    }

    fn open(&mut self, token: Token, cursor: &mut Cursor) {
        let (bracket, before, last) = (token.kind, cursor.before, cursor.last);
        let is_in_parens =
            || self.open.last().is_some_and(|group| group.bracket == Kind::OpenParen);
        // `pub (A, B)` is a field of a tuple, `pub(crate)` none.
        let is_field = last == Kind::Pub && is_in_parens();
        let space = is_field || spacing::before_bracket(bracket, before, last);
        let is_import = bracket == Kind::OpenBrace && last == Kind::TwoColons;
        let is_in_macro = self.open.last().is_some_and(|group| group.is_macro);
        let form = Self::form_of(bracket, is_in_macro, cursor);
        self.open.push(Group {
            at: self.places.len(),
            bracket,
            is_import,
            is_call: spacing::is_called(before, last),
            is_macro: bracket == Kind::OpenParen && last == Kind::Exclamation,
            commas: 0,
            in_parameters: std::mem::take(&mut cursor.in_parameters),
            head: cursor.head.take(),
            in_pattern: std::mem::take(&mut cursor.in_pattern),
        });
        self.put(token, space, cursor);
        self.places.last_mut().expect("it was put").form = form;
        let is_body = bracket == Kind::OpenBrace && !is_import;
        cursor.before = if is_body { Side::Brace } else { Side::Open };
    }

    fn close(&mut self, token: Token, cursor: &mut Cursor) {
        let group = self.open.pop().expect("emitters close what they open");
        let (at, last) = (self.places.len(), self.places.len() - 1);
        let is_tuple_of_one =
            group.bracket == Kind::OpenParen && group.commas == 1 && !group.is_call;
        if self.places[last].kind == Kind::Comma && !is_tuple_of_one {
            self.drop_comma(cursor);
        }
        let is_padded = token.kind == Kind::CloseBrace && !group.is_import && group.at != last;
        let is_body = matches!(self.places[group.at].form, Form::Items | Form::Fields);
        self.put(token, is_padded, cursor);
        cursor.breaks += usize::from(is_body && group.at != last);
        self.places[at].mate = group.at;
        self.places[group.at].mate = at;
        cursor.before = Side::Operand;
        cursor.in_parameters = group.in_parameters;
        (cursor.head, cursor.in_pattern) = (group.head, group.in_pattern);
    }

    /// A comma before a closing bracket is not written in one line.
    fn drop_comma(&mut self, cursor: &mut Cursor) {
        let comma = self.places.last_mut().expect("it was seen");
        comma.end = comma.start;
        cursor.end = comma.start;
        self.gaps.push(Gap::Comma(cursor.at - 1));
    }

    #[inline]
    fn put(&mut self, token: Token, space: bool, cursor: &mut Cursor) {
        if space {
            self.gaps.push(Gap::Space(cursor.at));
            cursor.end += 1;
        }
        let start = cursor.end;
        cursor.end += token.length;
        cursor.at += token.length;
        cursor.last = token.kind;
        let (end, mate) = (cursor.end, self.places.len());
        self.places.push(Place {
            start,
            end,
            breaks: cursor.breaks,
            mate,
            kind: token.kind,
            form: Form::List,
        });
    }
}

/// What is known where the next token begins.
struct Cursor {
    /// Where it stands in the text of the stream, and where the last one ends in the line.
    at: usize,
    end: usize,
    /// What the last token is to the next, and what it is by itself.
    before: Side,
    last: Kind,
    /// Whether the parameters of a closure have begun and not ended here.
    in_parameters: bool,
    /// The keyword that braces are awaited for, and whether its pattern has begun and not ended here.
    head: Option<Kind>,
    in_pattern: bool,
    breaks: usize,
}

impl Default for Cursor {
    fn default() -> Self {
        let (before, last) = (Side::Start, Kind::End);
        Self {
            at: 0,
            end: 0,
            before,
            last,
            in_parameters: false,
            head: None,
            in_pattern: false,
            breaks: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::rust::quote;

    #[test]
    fn a_line_has_its_spaces_and_no_comma_at_the_end_of_a_list() {
        let mut spaced = Spaced::default();
        // Read one after the other, each takes the place of the last.
        for (stream, line) in [
            (
                quote!(let x = f(&a, (b,), [c, d,]) else { return };),
                "let x = f(&a, (b,), [c, d]) else { return };",
            ),
            (quote!(g(|a, b| a && !b, || -1)?), "g(|a, b| a && !b, || -1)?"),
            (
                quote!(
                    impl<T: A<B>> C for Vec<T> {}
                ),
                "impl<T: A<B>> C for Vec<T> {}",
            ),
            (
                quote!(
                    use a::{b, c};
                ),
                "use a::{b, c};",
            ),
        ] {
            spaced.read(&stream);
            assert_eq!(spaced.flat(spaced.all()), line);
        }
    }

    #[test]
    fn a_line_is_as_wide_as_its_characters() {
        let (mut spaced, word) = (Spaced::default(), "é🦀");
        spaced.read(&quote!(f(#word)));
        assert_eq!(spaced.width(spaced.all()), Some(r#"f("é🦀")"#.chars().count()));
        spaced.read(&quote!(a => { b; }));
        assert_eq!(spaced.width(spaced.all()), None, "a statement in braces is no line");
    }
}
