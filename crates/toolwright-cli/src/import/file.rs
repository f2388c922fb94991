//! Reads and writes the schema file of an import.

use std::path::Path;

use toolwright::untrusted::visible;
use toolwright_codegen::project::{Project, count};
use toolwright_codegen::{Source, disk};
use toolwright_import::{Existing, Imported, Owner, difference};

use super::Failure;
use crate::exit::Exit;
use crate::print;

/// The file before the import.
pub(crate) struct Before {
    /// The text of the file, if it exists.
    text: Option<String>,
    /// The parsed file, unless it does not exist or is replaced.
    pub(crate) existing: Option<Existing>,
}

/// Returns the other schema files of the project that a file belongs to: the project around the file, or else the project
/// of the current folder.
///
/// # Errors
///
/// Fails if they cannot be read.
pub(crate) fn other_files(file: Option<&Path>) -> Result<Vec<Source>, Failure> {
    let Some(file) = file else { return Ok(Vec::new()) };
    let parent = file.parent().filter(|folder| folder.is_dir());
    for folder in parent.into_iter().chain([Path::new(".")]) {
        let project = Project::open(folder);
        let schemas = project.and_then(|project| project.beside(file));
        let schemas = schemas.map_err(|failure| (Exit::from(&failure), failure.to_string()))?;
        if !schemas.is_empty() {
            return Ok(schemas);
        }
    }
    Ok(Vec::new())
}

/// Reads the file before the import.
///
/// # Errors
///
/// Fails if the file cannot be read, or if it is not an import of the toolset: such a file is replaced only with `--force`.
pub(crate) fn read(file: &Path, owner: Owner<'_>, force: bool) -> Result<Before, Failure> {
    let text = disk::read_writable(file).map_err(|failure| (Exit::Io, failure.to_string()))?;
    let existing = match &text {
        Some(text) if !force => Some(parse(file, text, owner)?),
        _ => None,
    };
    Ok(Before { text, existing })
}

fn parse(file: &Path, text: &str, owner: Owner<'_>) -> Result<Existing, Failure> {
    let file = file.display().to_string();
    Existing::read(&file, text, owner).map_err(|mistakes| {
        for line in &mistakes.0 {
            print::err_line(&format!("error: {line}"));
        }
        let message = format!(
            "{file} exists and is not an import of the toolset `{}`; name another file, or replace it with --force",
            owner.toolset
        );
        (Exit::Rejected, message)
    })
}

/// Prints the changes, and writes the file unless `check` is set.
///
/// # Errors
///
/// Fails if the file cannot be written.
pub(crate) fn write(
    file: &Path,
    before: &Before,
    imported: &Imported,
    check: bool,
) -> Result<Exit, Failure> {
    print::out(&imported.report.to_string());
    let old = before.text.as_deref();
    let name = file.display().to_string();
    if let Some(old) = old.or_else(|| check.then_some("")) {
        // Not shortened: people must see all changes.
        print::out(&visible(&difference(&disk::printable_path(file), old, &imported.text)));
    }
    let is_same = old == Some(&imported.text);
    let summary = summary(imported);
    if check {
        let state =
            if is_same { "is up to date" } else { "is not up to date; nothing was written" };
        print::out_line(&format!("{summary}: {name} {state}"));
        return Ok(if is_same { Exit::Success } else { Exit::Rejected });
    }
    if is_same {
        print::out_line(&format!("{summary}, no change: {name}"));
        return Ok(Exit::Success);
    }
    disk::write_text(file, &imported.text).map_err(|failure| (Exit::Io, failure.to_string()))?;
    print::out_line(&format!("{summary}: {name}"));
    Ok(Exit::Success)
}

/// Returns the numbers of tools and warnings.
pub(crate) fn summary(imported: &Imported) -> String {
    format!(
        "import: {}, {}",
        count(imported.tools, "tool"),
        count(imported.warnings.len(), "warning")
    )
}
