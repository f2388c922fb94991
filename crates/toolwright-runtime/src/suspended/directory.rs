//! A store of suspended runs in a directory, which processes can share. Files are created once and never changed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use toolwright::{BoxError, BoxFuture};

use super::{MAX_CLOCK_SKEW, SuspendedRunStore, random_id};
use crate::tools::digest;

/// A store of suspended runs in a directory, which processes can share. On Unix only its owner can read and write the files.
/// States are stored unencrypted. If the runtime has a [`SealKey`](super::SealKey), only the answered questions are stored.
///
/// A question is marked as answered by the creation of a file, which is atomic on local file systems and on NFS 3 and later.
#[derive(Clone, Debug)]
pub struct InDirectory(Arc<Folder>);

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    /// The time of the next removal of expired files.
    next_sweep: AtomicU64,
}

/// How often a process removes expired files, in milliseconds.
const SWEEP_INTERVAL: u64 = 60 * 1_000;
/// The most bytes of a file with a state.
const MAX_STATE: u64 = 256 << 20;
/// The prefixes of the names of files with states, and of those for answered questions.
const STATE: &str = "state";
const ANSWERED: &str = "taken";

impl InDirectory {
    /// Opens the store in a directory, and creates the directory if it does not exist. Its parent must exist.
    ///
    /// # Errors
    ///
    /// The path is not a directory and cannot be created, or other users could write to the directory or replace it, and so
    /// approve calls. This is the case if another user owns it, or an ancestor that is not root's; if its mode lets others write;
    /// or if the mode of an ancestor lets others write and has no sticky bit. Links on the way and their folders count as ancestors.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let metadata = fs::metadata(&path)?;
        if !metadata.is_dir() {
            return Err(ErrorKind::NotADirectory.into());
        }
        #[cfg(unix)]
        refuse_shared(&path)?;
        let path = fs::canonicalize(path)?;
        Ok(Self(Arc::new(Folder { path, next_sweep: AtomicU64::new(0) })))
    }

    /// Runs blocking work on a thread for it.
    fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder) -> io::Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, BoxError>> {
        let folder = Arc::clone(&self.0);
        let working = tokio::task::spawn_blocking(move || work(&folder));
        Box::pin(async move { Ok(working.await??) })
    }
}

/// Refuses a directory that other users may write to or replace.
#[cfg(unix)]
fn refuse_shared(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    const STICKY: u32 = 0o1000;
    const ROOT: u32 = 0;
    let refused = |why| Err(io::Error::new(ErrorKind::PermissionDenied, why));
    let metadata = fs::metadata(path)?;
    if metadata.mode() & 0o022 != 0 {
        return refused(format!(
            "other users may write to `{}`, expected only its owner; chmod it to 700",
            path.display()
        ));
    }
    // The owner of a new file is the user of this process.
    let created = path.join(format!("owner-{}", random_id()?));
    let user = File::create_new(&created)?.metadata().map(|metadata| metadata.uid());
    fs::remove_file(created)?;
    let (owner, user) = (metadata.uid(), user?);
    if owner != user {
        return refused(format!(
            "user {owner} owns `{}`, expected user {user} of this process; chown it",
            path.display()
        ));
    }
    for (parent, metadata) in &on_the_way(path)? {
        let (mode, owner) = (metadata.mode(), metadata.uid());
        // All links have a mode for everybody.
        if mode & 0o022 != 0 && mode & STICKY == 0 && !metadata.is_symlink() {
            return refused(format!(
                "other users may replace `{}`, as they may write to `{}`; chmod that to 755",
                path.display(),
                parent.display()
            ));
        }
        if owner != user && owner != ROOT {
            return refused(format!(
                "user {owner} may replace `{}`, as that user owns `{}`; expected user {user} of this process or root",
                path.display(),
                parent.display()
            ));
        }
    }
    Ok(())
}

/// Returns all folders in which the parts of a path are found, and all links among them, whose targets are followed.
#[cfg(unix)]
fn on_the_way(path: &Path) -> io::Result<Vec<(PathBuf, fs::Metadata)>> {
    const MAX_LINKS: usize = 40;
    let parts =
        |path: &Path| path.components().rev().map(|part| PathBuf::from(part.as_os_str())).collect();
    let mut open: Vec<PathBuf> = parts(&std::path::absolute(path)?);
    let (mut found, mut at, mut links) = (Vec::new(), PathBuf::new(), 0);
    while let Some(part) = open.pop() {
        if part.as_os_str() == ".." {
            at.pop();
            continue;
        }
        if at.has_root() {
            found.push((at.clone(), fs::metadata(&at)?));
        }
        let next = at.join(&part);
        let metadata = fs::symlink_metadata(&next)?;
        if !metadata.is_symlink() {
            at = next;
            continue;
        }
        open.extend(parts(&fs::read_link(&next)?));
        found.push((next, metadata));
        links += 1;
        if links > MAX_LINKS {
            return Err(io::Error::other(format!(
                "`{}` leads through more than {MAX_LINKS} links",
                path.display()
            )));
        }
    }
    Ok(found)
}

impl Folder {
    /// Returns the path of the file for an id. The id may have any characters.
    fn file(&self, kind: &str, id: &str) -> PathBuf {
        self.path.join(format!("{kind}-{}", digest([id])))
    }

    /// Writes a file that must not exist yet: its expiry, then its content.
    fn create(&self, path: &Path, expires_at: u64, content: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        let mut write = || {
            file.write_all(&expires_at.to_be_bytes())?;
            file.write_all(content)?;
            file.sync_all()?;
            self.sync()
        };
        // A partial file would mark the question as answered, although nothing runs.
        write().inspect_err(|_| drop(fs::remove_file(path)))
    }

    /// Makes new files durable.
    fn sync(&self) -> io::Result<()> {
        if cfg!(unix) { File::open(&self.path)?.sync_all() } else { Ok(()) }
    }

    fn put(&self, id: &str, state: &[u8], expires_at: u64) -> io::Result<()> {
        check_size(size_of::<u64>() + state.len())?;
        // An unfinished file has another name, so that it is not read.
        let unfinished = self.file("new", &random_id()?);
        self.create(&unfinished, expires_at, state)?;
        fs::rename(&unfinished, self.file(STATE, id))?;
        self.sync()
    }

    fn get(&self, id: &str) -> io::Result<Option<Vec<u8>>> {
        let path = self.file(STATE, id);
        let mut file = match open(&path) {
            Ok(file) => file.take(MAX_STATE + 1),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut expires_at = [0; size_of::<u64>()];
        file.read_exact(&mut expires_at).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => invalid(&path, "is cut off"),
            _ => error,
        })?;
        let mut state = Vec::new();
        file.read_to_end(&mut state)?;
        check_size(size_of_val(&expires_at) + state.len())?;
        Ok(Some(state))
    }

    fn mark_answered(&self, questions: &[(String, u64)]) -> io::Result<Option<String>> {
        for (index, (id, expires_at)) in questions.iter().enumerate() {
            match self.create(&self.file(ANSWERED, id), *expires_at, &[]) {
                Ok(()) => {}
                Err(error) => {
                    // Either all or none are marked, so undo the ones before.
                    for (id, _) in &questions[..index] {
                        fs::remove_file(self.file(ANSWERED, id))?;
                    }
                    let is_answered = error.kind() == ErrorKind::AlreadyExists;
                    return if is_answered { Ok(Some(id.clone())) } else { Err(error) };
                }
            }
        }
        Ok(None)
    }

    /// Removes expired files, at most once per interval.
    fn sweep(&self, now: u64) -> io::Result<()> {
        let relaxed = Ordering::Relaxed;
        let (next, later) = (self.next_sweep.load(relaxed), now.saturating_add(SWEEP_INTERVAL));
        if now < next || self.next_sweep.compare_exchange(next, later, relaxed, relaxed).is_err() {
            return Ok(());
        }
        for file in fs::read_dir(&self.path)? {
            let path = file?.path();
            if expiry(&path)
                .is_some_and(|expires_at| expires_at.saturating_add(MAX_CLOCK_SKEW) <= now)
            {
                // Another process may have removed the file.
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}

/// Opens a file of the store. Anything else in its place, such as a pipe, could keep the reader waiting.
fn open(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(invalid(path, "is not a file"))
    }
}

fn invalid(path: &Path, problem: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("`{}` {problem}", path.display()))
}

/// Refuses a file with a state that is too large.
fn check_size(bytes: usize) -> io::Result<()> {
    if bytes as u64 <= MAX_STATE {
        return Ok(());
    }
    let message = format!("a state has more than {MAX_STATE} bytes, expected fewer");
    Err(io::Error::new(ErrorKind::FileTooLarge, message))
}

/// Returns the expiry of a file; `None` if it is not a complete file of the store.
fn expiry(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    if !name.starts_with(STATE) && !name.starts_with(ANSWERED) && !name.starts_with("new-") {
        return None;
    }
    let mut expires_at = [0; size_of::<u64>()];
    open(path).ok()?.read_exact(&mut expires_at).ok()?;
    Some(u64::from_be_bytes(expires_at))
}

impl SuspendedRunStore for InDirectory {
    fn put<'a>(
        &'a self,
        id: &'a str,
        state: &'a [u8],
        expires_at: u64,
        now: u64,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let (id, state) = (id.to_owned(), state.to_owned());
        self.blocking(move |folder| {
            folder.sweep(now)?;
            folder.put(&id, &state, expires_at)
        })
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, BoxError>> {
        let id = id.to_owned();
        self.blocking(move |folder| folder.get(&id))
    }

    fn mark_answered<'a>(
        &'a self,
        questions: &'a [(&'a str, u64)],
        now: u64,
    ) -> BoxFuture<'a, Result<Option<String>, BoxError>> {
        let owned = questions.iter().map(|(id, expires_at)| ((*id).to_owned(), *expires_at));
        let mut questions: Vec<_> = owned.collect();
        // All processes use the same order, so that if two mark the same questions at once, one of them succeeds.
        questions.sort();
        self.blocking(move |folder| {
            folder.sweep(now)?;
            folder.mark_answered(&questions)
        })
    }
}
