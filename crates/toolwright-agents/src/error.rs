//! Mistakes in agent files, each with its place, and how they are shown. Never reads a file.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use toolwright::untrusted::{line, visible};

/// A file and its text.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Everything that is wrong with agent files. Displayed, it shows each mistake beside its line.
#[derive(Debug)]
pub struct AgentFilesError(Vec<Mistake>);

/// One thing that is wrong with an agent file.
#[derive(Clone, Debug)]
pub struct Mistake {
    path: PathBuf,
    message: String,
    help: Option<String>,
    place: Option<(Arc<Source>, Range<usize>)>,
    hides_line: bool,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text may hold a secret that was refused.
        f.debug_struct("Source").field("path", &self.path).finish_non_exhaustive()
    }
}

impl AgentFilesError {
    pub(crate) fn new(mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort_by_key(|mistake| {
            let start = mistake.place.as_ref().map_or(0, |(_, place)| place.start);
            (mistake.path.clone(), start)
        });
        Self(mistakes)
    }

    /// The mistakes, by the names of the files and then by place.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.0
    }
}

impl Mistake {
    /// A mistake of a file or folder as a whole.
    pub(crate) fn anywhere(path: &Path, error: &dyn Error) -> Self {
        Self {
            path: path.to_owned(),
            message: error.to_string(),
            help: None,
            place: None,
            hides_line: false,
        }
    }

    /// A mistake at a place of a file, in bytes.
    pub(crate) fn at(
        source: &Arc<Source>,
        place: Range<usize>,
        message: impl Into<String>,
    ) -> Self {
        let end = source.text.len();
        let place = place.start.min(end)..place.end.min(end);
        Self {
            path: source.path.clone(),
            message: message.into(),
            help: None,
            place: Some((Arc::clone(source), place)),
            hides_line: false,
        }
    }

    /// Shows where its line is, and not what is in it.
    pub(crate) fn hiding_its_line(mut self) -> Self {
        self.hides_line = true;
        self
    }

    pub(crate) fn with_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    /// The file, or the folder where it is about no file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong, and what to do about it.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The line and the column where it begins, in characters, both from 1; none where it is about the whole file.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        let (source, place) = self.place.as_ref()?;
        let before = source.text.get(..place.start)?;
        let line = before.rsplit('\n').next().unwrap_or_default();
        Some((before.matches('\n').count() + 1, line.chars().count() + 1))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown(&self.path);
        let title = Group::with_title(Level::ERROR.primary_title(&self.message));
        let group = match (&self.place, self.line_column()) {
            (None, _) => title.element(Origin::path(&path)),
            (_, Some((line, column))) if self.hides_line => {
                title.element(Origin::path(&path).line(line).char_column(column))
            }
            (Some((source, place)), _) => {
                let here = AnnotationKind::Primary.span(place.clone());
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

/// Formats a path on one line with hidden characters made visible: anyone who may write to a folder chooses its file names.
pub(crate) fn shown(path: &Path) -> String {
    line(&path.display().to_string(), usize::MAX)
}

impl fmt::Display for AgentFilesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mistakes: Vec<_> = self.0.iter().map(Mistake::to_string).collect();
        f.write_str(&mistakes.join("\n\n"))
    }
}

impl Error for AgentFilesError {}
