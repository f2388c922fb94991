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

use super::{Files, blocking, given_up, refused, spec};
use crate::{CHANGES, rejected};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Write {
    /// The file, such as `docs/plan.md`. Folders that are missing are made.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// The whole text of the file.
    text: String,
    /// Whether a file that is there already may be replaced.
    #[serde(default)]
    overwrite: bool,
}

#[derive(Serialize, JsonSchema)]
struct Written {
    /// The size of the file in bytes.
    size: usize,
}

pub(super) fn tool(files: &Files) -> FunctionTool {
    let files = files.clone();
    let about =
        "Write a text file: a new one, or with `overwrite` in the place of one that is there.";
    FunctionTool::new(spec("write_file", about, CHANGES), move |args: Write| {
        let files = files.clone();
        blocking(move |token| write(&files, &args, token))
    })
}

fn write(
    files: &Files,
    Write { path, text, overwrite }: &Write,
    token: &CancellationToken,
) -> Result<Written, ToolFailure> {
    if text.len() > files.write_limit {
        let (size, limit) = (text.len(), files.write_limit);
        return Err(rejected(format!("the text has {size} bytes, expected at most {limit}")));
    }
    let not_a_file =
        || rejected(format!("`{path}` names no file, expected a path such as `docs/plan.md`"));
    let (Some(parent), Some(name)) = (Path::new(path).parent(), Path::new(path).file_name()) else {
        return Err(not_a_file());
    };
    if path.ends_with('/') {
        return Err(not_a_file());
    }
    // From here on the folder is held open, and a single name cannot lead out of it.
    let folder = folder(&files.root, parent).map_err(|error| refused(path, &error))?;
    let there = match folder.symlink_metadata(name) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(rejected(format!(
                "`{path}` is a folder, a link or a device, expected a file or nothing"
            )));
        }
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(refused(path, &error)),
    };
    if token.is_cancelled() {
        return Err(given_up());
    }
    let written = match (there, overwrite) {
        (Some(_), false) => Err(io::ErrorKind::AlreadyExists.into()),
        (None, false) => create(&folder, Path::new(name), text),
        (there, true) => replace(&folder, Path::new(name), text, there),
    };
    match written {
        Ok(()) => Ok(Written { size: text.len() }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(rejected(format!(
            "there is a file `{path}` already; choose another name, or say `overwrite` to replace it"
        ))),
        Err(error) => Err(refused(path, &error)),
    }
}

/// The folder of a path, made where it is missing.
fn folder(root: &Dir, path: &Path) -> io::Result<Dir> {
    if path.as_os_str().is_empty() {
        return root.try_clone();
    }
    root.create_dir_all(path)?;
    root.open_dir(path)
}

/// Makes a file where there is nothing, not even a link.
fn create(folder: &Dir, name: &Path, text: &str) -> io::Result<()> {
    let mut file = folder.open_with(name, OpenOptions::new().write(true).create_new(true))?;
    let written = file.write_all(text.as_bytes());
    if written.is_err() {
        // What is half written is nothing; the first error says why.
        let _ = folder.remove_file(name);
    }
    written
}

/// Puts a new file into the place of whatever has the name, in one step. What was there is not written to, so a link or
/// another name of it leads to no change elsewhere.
fn replace(folder: &Dir, name: &Path, text: &str, there: Option<Metadata>) -> io::Result<()> {
    let mut file = TempFile::new(folder)?;
    file.write_all(text.as_bytes())?;
    if let Some(metadata) = there {
        let permissions = metadata.permissions();
        // Without the bits by which a program runs as its owner.
        #[cfg(unix)]
        let permissions = Permissions::from_mode(permissions.mode() & 0o777);
        file.as_file().set_permissions(permissions)?;
    }
    file.replace(name)
}
