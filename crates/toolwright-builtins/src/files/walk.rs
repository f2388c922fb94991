//! The tool `list_files`, and the walk through folders, which `search_files` uses, too.

use std::io;
use std::ops::ControlFlow;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use toolwright::ToolFailure;
use toolwright_runtime::FunctionTool;

use super::{Files, blocking, refused, spec};
use crate::READS;

/// The most entries that a call visits.
const MAX_ENTRIES: usize = 100_000;
/// The deepest folder that a call visits.
const MAX_DEPTH: usize = 64;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArgs {
    /// The folder; `.` is the whole folder.
    #[serde(default = "super::root")]
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// Whether to list the content of its folders, too.
    #[serde(default)]
    recursive: bool,
}

#[derive(Serialize, JsonSchema)]
struct Listing {
    /// The entries in alphabetical order, each folder before its content.
    entries: Vec<Entry>,
    /// Whether there are more entries; then list a subfolder.
    is_cut_off: bool,
}

#[derive(Serialize, JsonSchema)]
struct Entry {
    path: String,
    kind: Kind,
    /// The size of a file in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    File,
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

pub(super) fn tool(files: &Files) -> FunctionTool {
    let files = files.clone();
    FunctionTool::new(
        spec("list_files", "List the files of a folder.", READS),
        move |args: ListArgs| {
            let files = files.clone();
            blocking(move |token| list(&files, &args, token))
        },
    )
}

fn list(files: &Files, args: &ListArgs, token: &CancellationToken) -> Result<Listing, ToolFailure> {
    let folder = files.root.open_dir(&args.path).map_err(|error| refused(&args.path, &error))?;
    let mut entries = Vec::new();
    let mut add = |found: Found<'_>| {
        if entries.len() == files.listing_limit {
            return ControlFlow::Break(());
        }
        let size = found.folder.symlink_metadata(found.name).ok().map(|metadata| metadata.len());
        let size = size.filter(|_| found.kind == Kind::File);
        entries.push(Entry { path: found.path.to_owned(), kind: found.kind, size });
        ControlFlow::Continue(())
    };
    let walk = Walk::new(args.recursive, token, &mut add);
    let is_cut_off =
        walk.through(&folder, &args.path).map_err(|error| refused(&args.path, &error))?;
    Ok(Listing { entries, is_cut_off })
}

/// An entry of an open folder.
pub(super) struct Found<'a> {
    pub(super) folder: &'a Dir,
    pub(super) name: &'a str,
    /// The path from the root folder.
    pub(super) path: &'a str,
    pub(super) kind: Kind,
}

/// A walk through a folder in alphabetical order, which does not follow symbolic links.
pub(super) struct Walk<'a> {
    /// The number of entries that it may still visit.
    left: usize,
    token: &'a CancellationToken,
    recursive: bool,
    visit: &'a mut dyn FnMut(Found<'_>) -> ControlFlow<()>,
    /// Whether something was left out.
    is_cut_off: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        recursive: bool,
        token: &'a CancellationToken,
        visit: &'a mut dyn FnMut(Found<'_>) -> ControlFlow<()>,
    ) -> Self {
        Self { left: MAX_ENTRIES, token, recursive, visit, is_cut_off: false }
    }

    /// Visits the entries of a folder and returns whether something was left out. Subfolders that cannot be read are treated
    /// as empty.
    ///
    /// # Errors
    ///
    /// The folder cannot be read.
    pub(super) fn through(mut self, folder: &Dir, path: &str) -> io::Result<bool> {
        let _is_visited = self.folder(folder, path, MAX_DEPTH)?;
        Ok(self.is_cut_off)
    }

    /// Visits entries up to the limits. Breaks if the visitor breaks.
    fn folder(&mut self, folder: &Dir, path: &str, depth: usize) -> io::Result<ControlFlow<()>> {
        let mut entries = Vec::new();
        for entry in folder.entries()? {
            if self.left == 0 || self.token.is_cancelled() {
                self.is_cut_off = true;
                break;
            }
            self.left -= 1;
            let entry = entry?;
            // A call cannot contain a name that is not UTF-8.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let kind = entry.file_type()?;
            let kind = if kind.is_symlink() {
                Kind::Link
            } else if kind.is_dir() {
                Kind::Folder
            } else if kind.is_file() {
                Kind::File
            } else {
                Kind::Other
            };
            entries.push((name, kind));
        }
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, kind) in entries {
            let path = if path == "." {
                name.clone()
            } else {
                format!("{}/{name}", path.trim_end_matches('/'))
            };
            let found = Found { folder, name: &name, path: &path, kind };
            if (self.visit)(found).is_break() || self.token.is_cancelled() {
                self.is_cut_off = true;
                return Ok(ControlFlow::Break(()));
            }
            if kind != Kind::Folder || !self.recursive {
                continue;
            }
            if depth == 0 {
                self.is_cut_off = true;
                continue;
            }
            let walked = folder
                .open_dir_nofollow(&name)
                .and_then(|below| self.folder(&below, &path, depth - 1));
            if walked.is_ok_and(|walked| walked.is_break()) {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
