//! The tokens of a stream on one line: the position of each token, matching brackets, and the tokens that force a line
//! break. The printer decides from this where to break lines.

use super::kind::{Kind, Token};
use super::spacing::{self, Context};
use super::stream::TokenStream;

/// One token on the line.
#[derive(Clone, Copy, Debug)]
struct Position {
    /// The byte offset of its start in the line.
    start: usize,
    /// The byte offset of its end in the line.
    end: usize,
    /// The number of forced line breaks before it.
    breaks: usize,
    /// The index of the matching bracket; the token's own index if it is not a bracket.
    matching: usize,
    kind: Kind,
    group_kind: GroupKind,
}

/// The kind of content between two brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emit) enum GroupKind {
    /// Items separated by commas: anything in `(…)` and `[…]`, a struct expression or pattern, imports.
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

/// A range of token indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emit) struct TokenRange {
    /// The index of the first token.
    pub(in crate::emit) from: usize,
    /// The index after the last token.
    pub(in crate::emit) to: usize,
}

impl TokenRange {
    pub(in crate::emit) fn is_empty(self) -> bool {
        self.from >= self.to
    }
}

/// The tokens of a stream on one line. Its buffers are reused for each stream that is loaded.
#[derive(Debug, Default)]
pub(in crate::emit) struct FlatTokens {
    line: String,
    is_ascii: bool,
    positions: Vec<Position>,
    gaps: Vec<Gap>,
    open: Vec<Group>,
}

/// A difference between the line and the text of the stream, at a byte offset of the text.
#[derive(Clone, Copy, Debug)]
enum Gap {
    /// A space is inserted.
    Space(usize),
    /// A comma is left out.
    Comma(usize),
}

/// A group that is not closed yet.
#[derive(Debug)]
struct Group {
    at: usize,
    bracket: Kind,
    is_import: bool,
    /// Set for the brackets of a call, but not of a tuple.
    is_call: bool,
    /// Set for the parentheses of a macro call: braces in them hold a list.
    is_macro: bool,
    commas: usize,
    in_parameters: bool,
    head: Option<Kind>,
    in_pattern: bool,
}

impl FlatTokens {
    /// Replaces the tokens with those of a stream.
    pub(in crate::emit) fn load(&mut self, stream: &TokenStream) {
        self.positions.clear();
        self.gaps.clear();
        self.open.clear();
        self.positions.reserve(stream.tokens().len() + 1);
        let mut cursor = Cursor::default();
        for &token in stream.tokens() {
            self.add(token, &mut cursor);
        }
        self.put(Token { kind: Kind::End, length: 0 }, false, &mut cursor);
        self.write(stream.text());
    }

    /// Writes the line, once all gaps are known.
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

    /// Returns the range of all tokens.
    pub(in crate::emit) fn all(&self) -> TokenRange {
        TokenRange { from: 0, to: self.positions.len() - 1 }
    }

    pub(in crate::emit) fn kind(&self, at: usize) -> Kind {
        self.positions[at].kind
    }

    /// Returns the index of the matching bracket, or the same index if the token is not a bracket.
    pub(in crate::emit) fn matching(&self, at: usize) -> usize {
        self.positions[at].matching
    }

    /// Returns the kind of the group that an opening bracket begins.
    pub(in crate::emit) fn group_kind(&self, at: usize) -> GroupKind {
        self.positions[at].group_kind
    }

    /// Returns the tokens as text on one line.
    pub(in crate::emit) fn flat(&self, range: TokenRange) -> &str {
        if range.is_empty() {
            return "";
        }
        &self.line[self.positions[range.from].start..self.positions[range.to - 1].end]
    }

    /// Returns the byte offset in the line where a token starts.
    pub(in crate::emit) fn start(&self, at: usize) -> usize {
        self.positions[at].start
    }

    /// Returns the byte offset in the line where a token ends.
    pub(in crate::emit) fn end(&self, at: usize) -> usize {
        self.positions[at].end
    }

    /// Returns the text between two byte offsets of the line.
    pub(in crate::emit) fn part(&self, start: usize, end: usize) -> &str {
        &self.line[start..end]
    }

    /// Returns the width of the tokens on one line in columns, or `None` if they need a line break.
    pub(in crate::emit) fn width(&self, range: TokenRange) -> Option<usize> {
        if range.is_empty() {
            return Some(0);
        }
        let (first, last) = (&self.positions[range.from], &self.positions[range.to - 1]);
        let is_one_line = self.positions[range.to].breaks == first.breaks;
        let width = if self.is_ascii {
            last.end - first.start
        } else {
            self.columns(&self.line[first.start..last.end])
        };
        is_one_line.then_some(width)
    }

    /// Returns the width in columns of a text that is made of parts of the line.
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
        cursor.before = if ends_parameters { Context::Sign } else { side };
        match token.kind {
            Kind::Bar => cursor.in_parameters = !ends_parameters && side == Context::Prefix,
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

    /// Returns the kind of a group that begins with this bracket, from the tokens before it.
    fn kind_of_group(bracket: Kind, is_in_macro: bool, cursor: &mut Cursor) -> GroupKind {
        if bracket != Kind::OpenBrace {
            return GroupKind::List;
        }
        let follows_path = matches!(
            cursor.last,
            Kind::Type | Kind::Name | Kind::Greater | Kind::TwoGreater | Kind::TwoColons
        );
        let head = if cursor.in_pattern && follows_path { None } else { cursor.head.take() };
        match head {
            Some(Kind::Struct | Kind::Enum) => GroupKind::Fields,
            Some(Kind::Match) => GroupKind::Arms,
            Some(Kind::Fn | Kind::Impl | Kind::Trait | Kind::Mod) => GroupKind::Items,
            None if follows_path || is_in_macro => GroupKind::List,
            _ => GroupKind::Statements,
        }
    }

    fn is_in_braces(&self) -> bool {
        self.open.last().is_some_and(|group| group.bracket == Kind::OpenBrace)
    }

    fn open(&mut self, token: Token, cursor: &mut Cursor) {
        let (bracket, before, last) = (token.kind, cursor.before, cursor.last);
        let is_in_parens =
            || self.open.last().is_some_and(|group| group.bracket == Kind::OpenParen);
        // In `(pub (A, B))` the brackets are the type of a tuple field, in `pub(crate)` they are not.
        let is_field = last == Kind::Pub && is_in_parens();
        let space = is_field || spacing::before_bracket(bracket, before, last);
        let is_import = bracket == Kind::OpenBrace && last == Kind::TwoColons;
        let is_in_macro = self.open.last().is_some_and(|group| group.is_macro);
        let group_kind = Self::kind_of_group(bracket, is_in_macro, cursor);
        self.open.push(Group {
            at: self.positions.len(),
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
        self.positions.last_mut().expect("a token was just added").group_kind = group_kind;
        let is_body = bracket == Kind::OpenBrace && !is_import;
        cursor.before = if is_body { Context::Brace } else { Context::Open };
    }

    fn close(&mut self, token: Token, cursor: &mut Cursor) {
        let group = self.open.pop().expect("the brackets of emitters are balanced");
        let (at, last) = (self.positions.len(), self.positions.len() - 1);
        let is_tuple_of_one =
            group.bracket == Kind::OpenParen && group.commas == 1 && !group.is_call;
        if self.positions[last].kind == Kind::Comma && !is_tuple_of_one {
            self.drop_comma(cursor);
        }
        let is_padded = token.kind == Kind::CloseBrace && !group.is_import && group.at != last;
        let is_body =
            matches!(self.positions[group.at].group_kind, GroupKind::Items | GroupKind::Fields);
        self.put(token, is_padded, cursor);
        cursor.breaks += usize::from(is_body && group.at != last);
        self.positions[at].matching = group.at;
        self.positions[group.at].matching = at;
        cursor.before = Context::Operand;
        cursor.in_parameters = group.in_parameters;
        (cursor.head, cursor.in_pattern) = (group.head, group.in_pattern);
    }

    /// Removes the comma before a closing bracket.
    fn drop_comma(&mut self, cursor: &mut Cursor) {
        let comma = self.positions.last_mut().expect("the last token is a comma");
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
        let (end, matching) = (cursor.end, self.positions.len());
        self.positions.push(Position {
            start,
            end,
            breaks: cursor.breaks,
            matching,
            kind: token.kind,
            group_kind: GroupKind::List,
        });
    }
}

/// The state before the next token.
struct Cursor {
    /// The byte offset of the next token in the text of the stream.
    at: usize,
    /// The byte offset in the line where the last token ends.
    end: usize,
    /// The spacing context after the last token.
    before: Context,
    /// The kind of the last token.
    last: Kind,
    /// Set inside the parameters of a closure.
    in_parameters: bool,
    /// The keyword whose braces are still to come.
    head: Option<Kind>,
    /// Set inside the pattern of that keyword.
    in_pattern: bool,
    /// The number of forced line breaks so far.
    breaks: usize,
}

impl Default for Cursor {
    fn default() -> Self {
        let (before, last) = (Context::Start, Kind::End);
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
    fn a_line_has_spaces_between_tokens_and_no_trailing_comma() {
        let mut tokens = FlatTokens::default();
        // Each stream replaces the one before it.
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
            tokens.load(&stream);
            assert_eq!(tokens.flat(tokens.all()), line);
        }
    }

    #[test]
    fn the_width_of_a_line_counts_characters() {
        let (mut tokens, word) = (FlatTokens::default(), "é🦀");
        tokens.load(&quote!(f(#word)));
        assert_eq!(tokens.width(tokens.all()), Some(r#"f("é🦀")"#.chars().count()));
        tokens.load(&quote!(a => { b; }));
        assert_eq!(tokens.width(tokens.all()), None, "a statement in braces needs a line break");
    }
}
