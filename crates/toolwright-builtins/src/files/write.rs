//! The tool `write_file`.

use std::io::{self, Write as _};
use std::path::Path;

use cap_std::fs::{Dir, Metadata, OpenOptions};
#[cfg(unix)]
use cap_std::fs::{Permissions, PermissionsExt as _};
use cap_tempfile::TempFile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use toolwright::ToolFailure;
use toolwright_runtime::FunctionTool;

use super::{Files, blocking, cancelled, refused, spec};
use crate::{CHANGES, rejected, shown};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteArgs {
    /// The file, such as `docs/plan.md`. Missing folders are created.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// The whole text of the file.
    text: String,
    /// Whether an existing file may be replaced.
    #[serde(default)]
    overwrite: bool,
}

#[derive(Serialize, JsonSchema)]
struct WriteResult {
    /// The size of the file in bytes.
    size: usize,
}

pub(super) fn tool(files: &Files) -> FunctionTool {
    let files = files.clone();
    let about = "Write a new text file or, with `overwrite`, replace an existing one.";
    FunctionTool::new(spec("write_file", about, CHANGES), move |args: WriteArgs| {
        let files = files.clone();
        blocking(move |token| write(&files, &args, token))
    })
}

fn write(
    files: &Files,
    WriteArgs { path, text, overwrite }: &WriteArgs,
    token: &CancellationToken,
) -> Result<WriteResult, ToolFailure> {
    if text.len() > files.write_limit {
        let (size, limit) = (text.len(), files.write_limit);
        return Err(rejected(format!("the text has {size} bytes, expected at most {limit}")));
    }
    let not_a_file = || {
        rejected(format!(
            "`{}` is not the path of a file, expected a path such as `docs/plan.md`",
            shown(path)
        ))
    };
    let (Some(parent), Some(name)) = (Path::new(path).parent(), Path::new(path).file_name()) else {
        return Err(not_a_file());
    };
    // The name is not the end of a path such as `docs/` or `docs/.`, which names a folder.
    if !path.as_bytes().ends_with(name.as_encoded_bytes()) {
        return Err(not_a_file());
    }
    // The folder stays open from here on, and a single name cannot lead out of it.
    let folder = folder(&files.root, parent).map_err(|error| refused(path, &error))?;
    let existing = match folder.symlink_metadata(name) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(rejected(format!(
                "`{}` is a folder, a link or a device, expected a file or an unused path",
                shown(path)
            )));
        }
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(refused(path, &error)),
    };
    if token.is_cancelled() {
        return Err(cancelled());
    }
    let written = match (existing, overwrite) {
        (Some(_), false) => Err(io::ErrorKind::AlreadyExists.into()),
        (None, false) => create(&folder, Path::new(name), text),
        (existing, true) => replace(&folder, Path::new(name), text, existing),
    };
    match written {
        Ok(()) => Ok(WriteResult { size: text.len() }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(rejected(format!(
            "the file `{}` already exists; choose another name, or set `overwrite` to replace it",
            shown(path)
        ))),
        Err(error) => Err(refused(path, &error)),
    }
}

/// Opens a folder, and creates it and its parents if they do not exist.
fn folder(root: &Dir, path: &Path) -> io::Result<Dir> {
    if path.as_os_str().is_empty() {
        return root.try_clone();
    }
    root.create_dir_all(path)?;
    root.open_dir(path)
}

/// Creates a new file. Fails if the name is used, also by a symbolic link.
fn create(folder: &Dir, name: &Path, text: &str) -> io::Result<()> {
    let mut file = folder.open_with(name, OpenOptions::new().write(true).create_new(true))?;
    let written = file.write_all(text.as_bytes());
    if written.is_err() {
        // Do not leave a partial file. The first error is returned.
        let _ = folder.remove_file(name);
    }
    written
}

/// Replaces a file atomically by a new one. The old file is not written to, so that a link to it or another name of it keeps the
/// old content.
fn replace(folder: &Dir, name: &Path, text: &str, old: Option<Metadata>) -> io::Result<()> {
    let mut file = TempFile::new(folder)?;
    file.write_all(text.as_bytes())?;
    if let Some(metadata) = old {
        let permissions = metadata.permissions();
        // Remove the setuid, setgid and sticky bits.
        #[cfg(unix)]
        let permissions = Permissions::from_mode(permissions.mode() & 0o777);
        file.as_file().set_permissions(permissions)?;
    }
    file.replace(name)
}
