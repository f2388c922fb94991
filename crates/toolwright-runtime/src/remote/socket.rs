//! Sockets that only one user can connect to, from the first moment. Never serves one.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;

use tokio::net::UnixListener;
use toolwright::call::fresh_id;

/// Binds a Unix socket to which only this user can connect (mode 0600), whatever the umask of the process is. A socket that
/// a server left when it died is replaced.
///
/// # Errors
///
/// Something else is at the path, a server listens there already, or the folder cannot be written.
pub fn bind_unix(path: impl AsRef<Path>) -> io::Result<UnixListener> {
    let path = path.as_ref();
    refuse_taken(path)?;
    // Nobody else can look into this folder, so that the socket has its mode before others see it.
    let folder = path.with_file_name(format!(".{}", fresh_id("s")));
    DirBuilder::new().mode(0o700).create(&folder)?;
    let inner = folder.join("s");
    let bound = UnixListener::bind(&inner).and_then(|listener| {
        fs::set_permissions(&inner, Permissions::from_mode(0o600))?;
        fs::rename(&inner, path)?;
        Ok(listener)
    });
    if bound.is_err() {
        // It may not be there.
        let _ = fs::remove_file(&inner);
    }
    fs::remove_dir(&folder)?;
    bound
}

/// Fails unless nothing is at the path, or a socket on which nobody listens.
fn refuse_taken(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let taken = |what| {
        let message = format!("{what} is at {} already; choose another path", path.display());
        Err(io::Error::new(io::ErrorKind::AddrInUse, message))
    };
    if !found.file_type().is_socket() {
        return taken("a file that is no socket");
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        _ => taken("a server"),
    }
}
