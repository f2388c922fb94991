//! Opens regular files. Somebody may exchange them for links, pipes or devices at any moment, so an open file is checked, not
//! its path.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// An attempt to open a file in one of several folders.
pub(super) enum Opened {
    /// The file.
    File(File),
    /// A link leads to a file outside of the folders.
    Outside,
    /// It is no regular file.
    Special,
}

/// Opens a regular file that lies in one of these folders once links are followed. The folders are [real](fs::canonicalize)
/// paths.
pub(super) fn open_within(path: &Path, folders: &[PathBuf]) -> io::Result<Opened> {
    let Some(file) = open_regular(path)? else { return Ok(Opened::Special) };
    let place = place(&file, path)?;
    let is_inside = folders.iter().any(|folder| place.starts_with(folder));
    Ok(if is_inside { Opened::File(file) } else { Opened::Outside })
}

/// Opens a regular file. Returns `None` for a pipe, which could block, and for a device, which could be endless.
pub(super) fn open_regular(path: &Path) -> io::Result<Option<File>> {
    // Opening a device can have an effect.
    if !metadata(path)?.is_file() {
        return Ok(None);
    }
    let file = open(path)?;
    Ok(file.metadata()?.is_file().then_some(file))
}

/// Returns the metadata of the file that a path leads to.
pub(super) fn metadata(path: &Path) -> io::Result<Metadata> {
    fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if path.is_symlink() => {
            io::Error::other("it is a symlink to nothing")
        }
        _ => error,
    })
}

/// Returns the real path of a file or folder, or `None` if its path is a link to a place outside of a folder.
pub(super) fn real_path(path: &Path, folder: &Path) -> io::Result<Option<PathBuf>> {
    let real = fs::canonicalize(path)?;
    let is_link = !is_same(&fs::symlink_metadata(path)?, &fs::symlink_metadata(&real)?);
    Ok((!is_link || real.starts_with(folder)).then_some(real))
}

/// Opens a file for reading, without waiting for the other end of a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?.into())
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Returns the real path of an open file: Linux knows it, and elsewhere its path has to lead to the same file as before.
fn place(file: &File, path: &Path) -> io::Result<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;

        if let Ok(place) = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())) {
            return Ok(place);
        }
    }
    let place = fs::canonicalize(path)?;
    if !is_same(&fs::symlink_metadata(&place)?, &file.metadata()?) {
        return Err(io::Error::other("it was exchanged while it was read"));
    }
    Ok(place)
}

/// Returns whether the first one, which may be that of a link, belongs to the same file as the second one.
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;

        (one.dev(), one.ino()) == (other.dev(), other.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = other;
        !one.is_symlink()
    }
}
