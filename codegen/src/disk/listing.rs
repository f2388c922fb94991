//! Lists a folder without the cost of a path or a metadata lookup for each entry. Links are not followed.

use std::fs::Metadata;
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) use system::for_each_entry;

/// Metadata that differs once a file has changed. Every change to a file updates its `ctime`, and unlike the modification
/// time, programs cannot set it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) inode: u64,
    /// The `ctime` in nanoseconds since 1970.
    pub(super) changed: i64,
}

impl Stamp {
    #[cfg(unix)]
    pub(super) fn of(found: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self { inode: found.ino(), changed: nanoseconds(found.ctime(), found.ctime_nsec()) }
    }

    /// On systems where the standard library has no `ctime`, this uses the modification time.
    #[cfg(not(unix))]
    pub(super) fn of(found: &Metadata) -> Self {
        Self { inode: 0, changed: found.modified().map_or(i64::MAX, Self::time) }
    }

    /// Converts a time to nanoseconds since 1970.
    pub(super) fn time(time: SystemTime) -> i64 {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    }
}

#[cfg(unix)]
fn nanoseconds(seconds: i64, subsecond: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(subsecond)
}

/// The kind of an entry in a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    Folder,
    File,
    /// A link, a pipe or a device.
    Other,
}

/// Linux looks names up in an open folder, which is faster than resolving a whole path for each.
#[cfg(target_os = "linux")]
mod system {
    use std::ffi::{CStr, OsStr};
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd as _, BorrowedFd};
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, Stat, openat, statat};

    use super::{EntryKind, Stamp, nanoseconds};

    /// The size of the buffer in bytes: enough for a hundred names, and for one of any length that file systems allow.
    const BUFFER_SIZE: usize = 8 << 10;

    /// An entry of a folder.
    pub(in crate::disk) struct Entry<'a> {
        folder: BorrowedFd<'a>,
        name: &'a CStr,
        kind: FileType,
    }

    /// Calls a function with each entry of a folder, in no particular order.
    pub(in crate::disk) fn for_each_entry<E: From<io::Error>>(
        folder: &Path,
        mut visit: impl FnMut(&Entry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(CWD, folder, flags, Mode::empty()).map_err(io::Error::from)?;
        let mut buffer = [MaybeUninit::uninit(); BUFFER_SIZE];
        let mut entries = RawDir::new(&folder, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(io::Error::from)?;
            let name = entry.file_name();
            if name != c"." && name != c".." {
                visit(&Entry { folder: folder.as_fd(), name, kind: entry.file_type() })?;
            }
        }
        Ok(())
    }

    impl Entry<'_> {
        /// Returns its name.
        pub(in crate::disk) fn name(&self) -> &OsStr {
            OsStr::from_bytes(self.name.to_bytes())
        }

        /// Returns its kind.
        pub(in crate::disk) fn kind(&self) -> io::Result<EntryKind> {
            let kind = match self.kind {
                // Not every file system has kinds in its lists.
                FileType::Unknown => FileType::from_raw_mode(self.stat()?.st_mode),
                kind => kind,
            };
            Ok(match kind {
                FileType::Directory => EntryKind::Folder,
                FileType::RegularFile => EntryKind::File,
                _ => EntryKind::Other,
            })
        }

        /// Returns its stamp.
        pub(in crate::disk) fn stamp(&self) -> io::Result<Stamp> {
            let found = self.stat()?;
            let subsecond = i64::try_from(found.st_ctime_nsec).map_err(io::Error::other)?;
            Ok(Stamp { inode: found.st_ino, changed: nanoseconds(found.st_ctime, subsecond) })
        }

        fn stat(&self) -> io::Result<Stat> {
            Ok(statat(self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW)?)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::ffi::{OsStr, OsString};
    use std::fs::{self, DirEntry};
    use std::io;
    use std::path::Path;

    use super::{EntryKind, Stamp};

    /// An entry of a folder.
    pub(in crate::disk) struct Entry<'a> {
        entry: &'a DirEntry,
        name: OsString,
    }

    /// Calls a function with each entry of a folder, in no particular order.
    pub(in crate::disk) fn for_each_entry<E: From<io::Error>>(
        folder: &Path,
        mut visit: impl FnMut(&Entry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            visit(&Entry { name: entry.file_name(), entry: &entry })?;
        }
        Ok(())
    }

    impl Entry<'_> {
        /// Returns its name.
        pub(in crate::disk) fn name(&self) -> &OsStr {
            &self.name
        }

        /// Returns its kind.
        pub(in crate::disk) fn kind(&self) -> io::Result<EntryKind> {
            let kind = self.entry.file_type()?;
            Ok(match (kind.is_dir(), kind.is_file()) {
                (true, _) => EntryKind::Folder,
                (_, true) => EntryKind::File,
                _ => EntryKind::Other,
            })
        }

        /// Returns its stamp.
        pub(in crate::disk) fn stamp(&self) -> io::Result<Stamp> {
            Ok(Stamp::of(&self.entry.metadata()?))
        }
    }
}
