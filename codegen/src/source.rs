//! Source texts, and spans in them. [`crate::disk`] reads the files.

use std::borrow::Cow;
use std::sync::OnceLock;

/// One schema file: its path and its text.
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
    /// The offsets at which the lines of each file begin, computed on first use: most files have no diagnostics.
    lines: Vec<OnceLock<Vec<usize>>>,
    /// The files that could not be read; their text is not the text on disk.
    unreadable: Vec<SourceId>,
}

/// Identifies one file of a [`Sources`].
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

/// A value with its span.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The span of its text.
    pub span: Span,
}

/// The line and column of a place, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl Sources {
    /// Sorts files by path.
    pub fn new(mut files: Vec<Source>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let lines = files.iter().map(|_| OnceLock::new()).collect();
        Self { files, lines, unreadable: Vec::new() }
    }

    /// Returns a copy of some of the files, which get new ids.
    pub(crate) fn only(&self, ids: impl IntoIterator<Item = SourceId>) -> Self {
        Self::new(ids.into_iter().map(|id| self.get(id).clone()).collect())
    }

    /// Marks a file as unreadable. It stays, so that diagnostics can refer to it.
    pub fn mark_unreadable(&mut self, id: SourceId) {
        self.unreadable.push(id);
    }

    /// Returns the files that could be read, in path order.
    pub fn readable(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.iter().filter(|(id, _)| !self.unreadable.contains(id))
    }

    /// Returns all files in path order, each with its id.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        (0..).map(SourceId).zip(&self.files)
    }

    /// Returns the file with this id.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.files[id.0 as usize]
    }

    /// Widens a span to whole characters, and clips it to the text.
    pub(crate) fn to_char_boundaries(&self, span: Span) -> Span {
        let text = &self.get(span.source).text;
        let start = text.floor_char_boundary(span.start as usize);
        let end = text.ceil_char_boundary((span.end as usize).min(text.len()));
        let offset = |byte| u32::try_from(byte).unwrap_or(u32::MAX);
        Span { start: offset(start), end: offset(end.max(start)), ..span }
    }

    /// Returns the line and column where a span begins.
    pub fn line_column(&self, span: Span) -> LineColumn {
        let text = &self.get(span.source).text;
        let start = (span.start as usize).min(text.len());
        let (line, line_start) = self.line(span.source, start);
        let before = text.get(line_start..start).unwrap_or_default();
        LineColumn { line, column: before.chars().count() + 1 }
    }

    /// Returns the number of the line at an offset, counted from 1, and the offset where that line begins.
    pub fn line(&self, source: SourceId, offset: usize) -> (usize, usize) {
        let starts =
            self.lines[source.0 as usize].get_or_init(|| line_starts(&self.get(source).text));
        let line = starts.partition_point(|&start| start <= offset);
        (line, starts[line.saturating_sub(1)])
    }
}

/// Returns a text with `\n` in place of `\r\n`, since git may convert line ends on checkout.
pub fn with_line_feeds(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

fn line_starts(text: &str) -> Vec<usize> {
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect()
}

impl<T> Spanned<T> {
    /// Pairs a value with its span.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}
