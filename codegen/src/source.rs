//! Source text and places in it. Never reads a file: [`crate::disk`] does.

/// One schema file: where it came from, as its author would name it, and what it says.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path shown in diagnostics, with `/` between its parts.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// All files of one project, in path order.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

/// Names one file of a [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(u32);

/// A range of bytes in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub source: SourceId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

/// A place as a person counts it, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl Sources {
    /// Puts files into path order.
    pub fn new(mut files: Vec<Source>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    /// The files in path order, each with its id.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        (0..).map(SourceId).zip(&self.files)
    }

    /// The file an id names.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.files[id.0 as usize]
    }

    /// The least place of whole characters around another, and inside its text.
    pub(crate) fn whole(&self, span: Span) -> Span {
        let text = &self.get(span.source).text;
        let start = text.floor_char_boundary(span.start as usize);
        let end = text.ceil_char_boundary((span.end as usize).min(text.len()));
        let offset = |byte| u32::try_from(byte).unwrap_or(u32::MAX);
        Span { start: offset(start), end: offset(end.max(start)), ..span }
    }

    /// Where a span begins.
    pub fn line_column(&self, span: Span) -> LineColumn {
        let text = &self.get(span.source).text;
        let before = &text[..text.floor_char_boundary(span.start as usize)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        LineColumn {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl<T> Spanned<T> {
    /// Pairs a value with its place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}
