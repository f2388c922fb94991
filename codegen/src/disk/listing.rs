//! What stands in a folder, with no path made and nothing looked up for what nobody asks about. Never follows a link,
//! never reads a file.

use std::fs::Metadata;
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) use system::each;

/// Tells a file from what it was before. Whatever is done to a file gives it another time of change, and no program can set
/// that, unlike the time of modification.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) inode: u64,
    /// In nanoseconds since 1970.
    pub(super) changed: i64,
}

impl Stamp {
    #[cfg(unix)]
    pub(super) fn of(found: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self { inode: found.ino(), changed: nanoseconds(found.ctime(), found.ctime_nsec()) }
    }

    /// Where the standard library does not tell that time, the time of modification has to do.
    #[cfg(not(unix))]
    pub(super) fn of(found: &Metadata) -> Self {
        Self { inode: 0, changed: found.modified().map_or(i64::MAX, Self::time) }
    }

    /// A time as a stamp has it.
    pub(super) fn time(time: SystemTime) -> i64 {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    }
}

#[cfg(unix)]
fn nanoseconds(seconds: i64, part: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(part)
}

/// What something in a folder is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    File,
    /// A link, a pipe, a device.
    Other,
}

/// Where names can be looked up in a folder that is open, the way to it is not gone again for each of them.
#[cfg(target_os = "linux")]
mod system {
    use std::ffi::{CStr, OsStr};
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd as _, BorrowedFd};
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, Stat, openat, statat};

    use super::{Kind, Stamp, nanoseconds};

    /// Room for a hundred names, and for one that is longer than any file system allows.
    const ROOM: usize = 8 << 10;

    /// Something in a folder.
    pub(in crate::disk) struct Entry<'a> {
        folder: BorrowedFd<'a>,
        name: &'a CStr,
        kind: FileType,
    }

    /// Visits what a folder holds directly, in no order.
    pub(in crate::disk) fn each<E: From<io::Error>>(
        folder: &Path,
        mut visit: impl FnMut(&Entry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(CWD, folder, flags, Mode::empty()).map_err(io::Error::from)?;
        let mut room = [MaybeUninit::uninit(); ROOM];
        let mut entries = RawDir::new(&folder, &mut room);
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
        /// Its name.
        pub(in crate::disk) fn name(&self) -> &OsStr {
            OsStr::from_bytes(self.name.to_bytes())
        }

        /// Returns the kind of entry that it is.
        pub(in crate::disk) fn kind(&self) -> io::Result<Kind> {
            let kind = match self.kind {
                // Not every file system tells in its list.
                FileType::Unknown => FileType::from_raw_mode(self.look()?.st_mode),
                kind => kind,
            };
            Ok(match kind {
                FileType::Directory => Kind::Folder,
                FileType::RegularFile => Kind::File,
                _ => Kind::Other,
            })
        }

        /// Returns its stamp, which is another once the file has changed.
        pub(in crate::disk) fn stamp(&self) -> io::Result<Stamp> {
            let found = self.look()?;
            let part = i64::try_from(found.st_ctime_nsec).map_err(io::Error::other)?;
            Ok(Stamp { inode: found.st_ino, changed: nanoseconds(found.st_ctime, part) })
        }

        fn look(&self) -> io::Result<Stat> {
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

    use super::{Kind, Stamp};

    /// Something in a folder.
    pub(in crate::disk) struct Entry<'a> {
        entry: &'a DirEntry,
        name: OsString,
    }

    /// Visits what a folder holds directly, in no order.
    pub(in crate::disk) fn each<E: From<io::Error>>(
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
        /// Its name.
        pub(in crate::disk) fn name(&self) -> &OsStr {
            &self.name
        }

        /// Returns the kind of entry that it is.
        pub(in crate::disk) fn kind(&self) -> io::Result<Kind> {
            let kind = self.entry.file_type()?;
            Ok(match (kind.is_dir(), kind.is_file()) {
                (true, _) => Kind::Folder,
                (_, true) => Kind::File,
                _ => Kind::Other,
            })
        }

        /// Returns its stamp, which is another once the file has changed.
        pub(in crate::disk) fn stamp(&self) -> io::Result<Stamp> {
            Ok(Stamp::of(&self.entry.metadata()?))
        }
    }
}
