//! Mistakes in agent files, with their positions, and how they are displayed.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

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
    /// The end of the first word of the text that names a secret. Set with the first mistake, as each asks for it.
    secret_end: OnceLock<Option<usize>>,
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

impl Source {
    pub(crate) fn new(path: PathBuf, text: String) -> Self {
        Self { path, text, secret_end: OnceLock::new() }
    }

    /// Returns whether the lines of a byte range, or any line before, have a word that names a secret. Its value may have several lines,
    /// and reach these, also if they could not be parsed.
    fn names_secret(&self, span: &Range<usize>) -> bool {
        let rest = self.text.get(span.end..);
        let line_end = rest.and_then(|rest| rest.find('\n')).map(|end| span.end + end);
        let secret_end = self.secret_end.get_or_init(|| secret_end(&self.text));
        secret_end.is_some_and(|end| end <= line_end.unwrap_or(self.text.len()))
    }
}

/// Returns the end of the first word that names a secret.
fn secret_end(text: &str) -> Option<usize> {
    let ends_word = |c: char| !c.is_alphanumeric() && c != '_' && c != '-';
    let mut start = 0;
    for part in text.split_inclusive(ends_word) {
        let word = part.trim_end_matches(ends_word);
        if is_secret(word) {
            return Some(start + word.len());
        }
        start += part.len();
    }
    None
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
        let hides_line = source.names_secret(&span);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// If each mistake searched all lines before it, this would read 20 GB.
    #[test]
    fn a_text_is_searched_once_for_names_of_secrets_however_many_mistakes_it_has() {
        let words = "some words\n".repeat(90_000);
        let text = format!("{words}é: my-API_key: x\n{words}");
        let source = Arc::new(Source::new(PathBuf::from("a.yaml"), text));
        let secret_line = words.len()..words.len() + "é: my-API_key: x".len();
        for at in (0..source.text.len()).step_by(100) {
            let is_hidden = Mistake::at(&source, at..at, "wrong").hides_line;
            assert_eq!(is_hidden, at >= secret_line.start, "{at}");
        }
        assert!(Mistake::at(&source, secret_line, "wrong").hides_line);
    }
}
