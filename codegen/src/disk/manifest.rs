//! The list of generated files inside the output folder. It makes files ours that cannot carry a banner, such as JSON.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::failure::{IoFailure, OutputError};
use super::sources::read_regular;
use super::tree::BANNER;
use crate::files::Files;

/// Its name in the root of the output folder.
pub(super) const NAME: &str = ".toolwright-manifest";

/// Texts by path.
pub(super) type Texts<'a> = BTreeMap<&'a str, Cow<'a, str>>;

/// The generated texts by path, with the manifest as one of them.
///
/// # Errors
///
/// When a path is not a plain relative one.
pub(super) fn complete(files: &Files) -> Result<Texts<'_>, OutputError> {
    let mut texts = BTreeMap::new();
    for (path, text) in files.iter() {
        if !is_plain(path) {
            return Err(OutputError::UnsafePath(path.to_owned()));
        }
        texts.insert(path, Cow::Borrowed(text));
    }
    texts.insert(NAME, Cow::Owned(text(files)));
    Ok(texts)
}

/// The paths an earlier run listed; they are only ever compared with what is found, never followed.
pub(super) fn listed(out: &Path) -> Result<BTreeSet<String>, IoFailure> {
    let text = read_regular(&out.join(NAME))?.unwrap_or_default();
    Ok(paths(&text).map(str::to_owned).collect())
}

/// The paths in a list.
pub(super) fn paths(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

/// The paths in a list that is as a run writes it, letter by letter; none if it is not.
pub(super) fn parse(text: &str) -> Option<Vec<&str>> {
    let listed: Vec<&str> = paths(text).collect();
    let head = head();
    let length = head.len() + listed.iter().map(|path| path.len() + 1).sum::<usize>();
    (text.starts_with(&head) && text.len() == length && listed.is_sorted()).then_some(listed)
}

fn text(files: &Files) -> String {
    let paths = files.iter().map(|(path, _)| format!("{path}\n"));
    std::iter::once(head()).chain(paths).collect()
}

fn head() -> String {
    format!("# {BANNER}: the files it may replace and remove here\n")
}

/// Whether a path stays below the folder it is joined to, on every system, and is not ours already.
fn is_plain(path: &str) -> bool {
    let plain_part = |part: &str| !matches!(part, "" | "." | "..");
    let odd = |c: char| c.is_control() || matches!(c, '\\' | ':');
    path != NAME && !path.starts_with('#') && !path.contains(odd) && path.split('/').all(plain_part)
}
