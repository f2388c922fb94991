//! The file of an import: what it holds before, and what becomes of it. Never decides what it is to say.

use std::path::Path;

use toolwright::untrusted::visible;
use toolwright_codegen::project::{Project, count};
use toolwright_codegen::{Source, disk};
use toolwright_import::{Existing, Imported, Owner, difference};

use super::Failure;
use crate::end::End;
use crate::print;

/// What a file holds.
pub(crate) struct Before {
    /// Its text, where it is there.
    text: Option<String>,
    /// The same as an import, unless it is to be written anew.
    pub(crate) existing: Option<Existing>,
}

/// The schema files of the project that a file is to be in, beside it: the project around it, or else that of the
/// current folder.
///
/// # Errors
///
/// When they cannot be read.
pub(crate) fn beside(file: Option<&Path>) -> Result<Vec<Source>, Failure> {
    let Some(file) = file else { return Ok(Vec::new()) };
    let around = file.parent().filter(|folder| folder.is_dir());
    for folder in around.into_iter().chain([Path::new(".")]) {
        let project = Project::open(folder);
        let beside = project.and_then(|project| project.beside(file));
        let beside = beside.map_err(|failure| (End::from(&failure), failure.to_string()))?;
        if !beside.is_empty() {
            return Ok(beside);
        }
    }
    Ok(Vec::new())
}

/// Reads what is there.
///
/// # Errors
///
/// When it cannot be read, or is no import of the toolset: such a file is never overwritten unasked.
pub(crate) fn before(file: &Path, owner: Owner<'_>, force: bool) -> Result<Before, Failure> {
    let text = disk::read_writable(file).map_err(|failure| (End::Io, failure.to_string()))?;
    let existing = match &text {
        Some(text) if !force => Some(existing(file, text, owner)?),
        _ => None,
    };
    Ok(Before { text, existing })
}

fn existing(file: &Path, text: &str, owner: Owner<'_>) -> Result<Existing, Failure> {
    let file = file.display().to_string();
    Existing::read(&file, text, owner).map_err(|not_ours| {
        for line in &not_ours.0 {
            print::err_line(&format!("error: {line}"));
        }
        let message = format!(
            "{file} is there and no import of the toolset `{}`; name another file, or write it anew with --force",
            owner.toolset
        );
        (End::Rejected, message)
    })
}

/// Shows what changes, and writes it unless it is only to be checked.
///
/// # Errors
///
/// When the file cannot be written.
pub(crate) fn settle(
    file: &Path,
    before: &Before,
    imported: &Imported,
    check: bool,
) -> Result<End, Failure> {
    print::out(&imported.report.to_string());
    let old = before.text.as_deref();
    let name = file.display().to_string();
    if let Some(old) = old.or_else(|| check.then_some("")) {
        // All of it: what is cut would be taken unread.
        print::out(&visible(&difference(&disk::printable_path(file), old, &imported.text)));
    }
    let is_same = old == Some(&imported.text);
    let summary = summary(imported);
    if check {
        let state =
            if is_same { "is up to date" } else { "is not up to date; nothing was written" };
        print::out_line(&format!("{summary}: {name} {state}"));
        return Ok(if is_same { End::Done } else { End::Rejected });
    }
    if is_same {
        print::out_line(&format!("{summary}, no change: {name}"));
        return Ok(End::Done);
    }
    disk::write_text(file, &imported.text).map_err(|failure| (End::Io, failure.to_string()))?;
    print::out_line(&format!("{summary}: {name}"));
    Ok(End::Done)
}

/// How much was imported.
pub(crate) fn summary(imported: &Imported) -> String {
    format!(
        "import: {}, {}",
        count(imported.tools, "tool"),
        count(imported.warnings.len(), "warning")
    )
}
