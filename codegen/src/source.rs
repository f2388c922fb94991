//! Source text and places in it. Never reads a file: [`crate::disk`] does.

use std::sync::OnceLock;

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
    /// Where the lines of each file begin, once somebody asks: most files are never spoken of.
    lines: Vec<OnceLock<Vec<usize>>>,
    /// The files whose text is not what their author wrote, for it could not be read.
    unread: Vec<SourceId>,
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
        let lines = files.iter().map(|_| OnceLock::new()).collect();
        Self { files, lines, unread: Vec::new() }
    }

    /// Some of the files.
    pub(crate) fn only(&self, ids: impl IntoIterator<Item = SourceId>) -> Self {
        Self::new(ids.into_iter().map(|id| self.get(id).clone()).collect())
    }

    /// Keeps a file from being read on: there is only a name and a place for what is wrong with it.
    pub fn set_aside(&mut self, id: SourceId) {
        self.unread.push(id);
    }

    /// The files that can be read, in path order.
    pub fn readable(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.iter().filter(|(id, _)| !self.unread.contains(id))
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
        let start = (span.start as usize).min(text.len());
        let (line, line_start) = self.line(span.source, start);
        let before = text.get(line_start..start).unwrap_or_default();
        LineColumn { line, column: before.chars().count() + 1 }
    }

    /// The line of a place in a file, from 1, and where it begins.
    pub fn line(&self, source: SourceId, offset: usize) -> (usize, usize) {
        let starts =
            self.lines[source.0 as usize].get_or_init(|| line_starts(&self.get(source).text));
        let line = starts.partition_point(|&start| start <= offset);
        (line, starts[line.saturating_sub(1)])
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect()
}

impl<T> Spanned<T> {
    /// Pairs a value with its place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}
