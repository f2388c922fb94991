//! Mistakes in agent files, with their positions, and how they are displayed.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use toolwright::untrusted::{line, visible};

use crate::hints::is_secret;

/// The most characters of a message, which may quote a file.
const LONGEST_MESSAGE: usize = 1000;

/// The most bytes of a line that is displayed. Each mistake in it displays it.
const LONGEST_LINE: usize = 2000;

/// A file and its text.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// The error that holds all mistakes in agent files. It displays each mistake with its line.
#[derive(Debug)]
pub struct AgentFilesError(Vec<Mistake>);

/// A mistake in an agent file.
#[derive(Clone, Debug)]
pub struct Mistake {
    path: PathBuf,
    message: String,
    help: Option<String>,
    span: Option<(Arc<Source>, Range<usize>)>,
    hides_line: bool,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text is left out, since it may hold a secret.
        f.debug_struct("Source").field("path", &self.path).finish_non_exhaustive()
    }
}

impl AgentFilesError {
    pub(crate) fn new(mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort_by_key(|mistake| {
            let start = mistake.span.as_ref().map_or(0, |(_, span)| span.start);
            (mistake.path.clone(), start)
        });
        Self(mistakes)
    }

    /// The mistakes, sorted by file name and position.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.0
    }
}

impl Mistake {
    /// Creates a mistake without a position, for a file or folder.
    pub(crate) fn without_position(path: &Path, error: &dyn Error) -> Self {
        Self {
            path: path.to_owned(),
            message: error.to_string(),
            help: None,
            span: None,
            hides_line: false,
        }
    }

    /// Creates a mistake at a byte range of a file.
    pub(crate) fn at(source: &Arc<Source>, span: Range<usize>, message: impl Into<String>) -> Self {
        let end = source.text.len();
        let message = line(&message.into(), LONGEST_MESSAGE);
        let span = span.start.min(end)..span.end.min(end);
        let hides_line = names_secret(&source.text, &span);
        let path = source.path.clone();
        Self { path, message, help: None, span: Some((Arc::clone(source), span)), hides_line }
    }

    /// Displays the position of the line without its text.
    pub(crate) fn with_hidden_line(mut self) -> Self {
        self.hides_line = true;
        self
    }

    pub(crate) fn with_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    /// The file, or the folder if the mistake is not in a file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns true if the line at the mistake is too long to be displayed.
    fn is_line_long(&self) -> bool {
        let Some((source, span)) = &self.span else { return false };
        let Some((before, after)) = source.text.split_at_checked(span.start) else { return false };
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let end = span.start + after.find('\n').unwrap_or(after.len());
        end - start > LONGEST_LINE
    }

    /// The line and the column, in characters, where it begins, both from 1; `None` for a mistake without a position.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        let (source, span) = self.span.as_ref()?;
        let before = source.text.get(..span.start)?;
        let line = before.rsplit('\n').next().unwrap_or_default();
        Some((before.matches('\n').count() + 1, line.chars().count() + 1))
    }
}

/// Returns whether the lines of a byte range, or any line before, have a word that names a secret. Its value may have several lines,
/// and reach these, also if they could not be parsed.
fn names_secret(text: &str, span: &Range<usize>) -> bool {
    let line_end = |at: usize| text.get(at..).and_then(|rest| rest.find('\n')).map(|end| at + end);
    let lines = text.get(..line_end(span.end).unwrap_or(text.len())).unwrap_or(text);
    let mut words = lines.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    words.any(is_secret)
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown(&self.path);
        let title = Group::with_title(Level::ERROR.primary_title(&self.message));
        let group = match (&self.span, self.line_column()) {
            (None, _) => title.element(Origin::path(&path)),
            (_, Some((line, column))) if self.hides_line || self.is_line_long() => {
                title.element(Origin::path(&path).line(line).char_column(column))
            }
            (Some((source, span)), _) => {
                let here = AnnotationKind::Primary.span(span.clone());
                title.element(Snippet::source(&source.text).path(&path).annotation(here))
            }
        };
        let group = match &self.help {
            Some(help) => group.element(Level::HELP.message(help)),
            None => group,
        };
        f.write_str(&visible(&Renderer::plain().render(&[group])))
    }
}

/// Formats a path on one line with hidden characters replaced, since file names are not trusted.
pub(crate) fn shown(path: &Path) -> String {
    line(&path.display().to_string(), usize::MAX)
}

impl fmt::Display for AgentFilesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mistakes: Vec<_> = self.0.iter().map(Mistake::to_string).collect();
        let number = match mistakes.len() {
            1 => "a mistake".to_owned(),
            number => format!("{number} mistakes"),
        };
        write!(f, "the files of agents have {number}\n\n{}", mistakes.join("\n\n"))
    }
}

impl Error for AgentFilesError {}
