//! Binds Unix sockets to which only the user of this process can connect.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;

use tokio::net::UnixListener;
use toolwright::call::fresh_id;

/// Binds a Unix socket to which only the user of this process can connect (mode 0600, regardless of the umask). Replaces a
/// socket on which no server listens. Of servers that bind one path in the same moment, several may succeed, and clients
/// reach the last one.
///
/// # Errors
///
/// Another file is at the path, a server already listens there, or the folder is not writable.
pub fn bind_unix(path: impl AsRef<Path>) -> io::Result<UnixListener> {
    let path = path.as_ref();
    check_free(path)?;
    // No other user can access this folder, so that the mode is set before the socket is visible to others.
    let folder = path.with_file_name(format!(".{}", fresh_id("s")));
    DirBuilder::new().mode(0o700).create(&folder)?;
    let inner = folder.join("s");
    let bound = UnixListener::bind(&inner).and_then(|listener| {
        fs::set_permissions(&inner, Permissions::from_mode(0o600))?;
        fs::rename(&inner, path)?;
        Ok(listener)
    });
    if bound.is_err() {
        // The file may not exist.
        let _ = fs::remove_file(&inner);
    }
    fs::remove_dir(&folder)?;
    bound
}

/// Checks that there is no file at the path, except for a socket on which no server listens.
fn check_free(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let in_use = |what| {
        let message = format!("there is {what} at {}; choose another path", path.display());
        Err(io::Error::new(io::ErrorKind::AddrInUse, message))
    };
    if !found.file_type().is_socket() {
        return in_use("a file that is not a socket");
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        _ => in_use("a server"),
    }
}
