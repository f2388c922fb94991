//! Suspended runs in a directory, for processes that share it. Every file is created once and never changed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use toolwright::{BoxError, BoxFuture};

use super::{MAX_CLOCK_SKEW, SuspendedRuns, random_id};
use crate::tools::digest;

/// Suspended runs in a directory that processes share. On Unix nobody but its owner can read or write its files. States
/// are there in the clear unless the runtime has a [`SealKey`](super::SealKey): then no state is kept at all, only which
/// questions were taken.
///
/// A question is taken by the creation of a file, which is atomic on local file systems and on NFS from version 3 on.
#[derive(Clone, Debug)]
pub struct InDirectory(Arc<Folder>);

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    /// When expired files are next looked for.
    next_sweep: AtomicU64,
}

/// How often a process looks for expired files, in milliseconds.
const SWEEP_EVERY: u64 = 60 * 1_000;
const STATE: &str = "state";
const TAKEN: &str = "taken";

impl InDirectory {
    /// The store in a directory, which is made if it is not there; its parent has to be.
    ///
    /// # Errors
    ///
    /// A path that is no directory and cannot become one, or a directory that others may write to: whoever can, approves.
    /// Others may also write to a directory that another user owns, and replace one whose ancestor anybody but its owner may
    /// write to, unless that ancestor has the sticky bit.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        #[cfg_attr(not(unix), expect(unused_mut, reason = "modes are a matter of Unix"))]
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
        let path = fs::canonicalize(path)?;
        #[cfg(unix)]
        refuse_shared(&path)?;
        Ok(Self(Arc::new(Folder { path, next_sweep: AtomicU64::new(0) })))
    }

    /// Runs on a thread that may block.
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
    let refused = |why| Err(io::Error::new(ErrorKind::PermissionDenied, why));
    let metadata = fs::metadata(path)?;
    if metadata.mode() & 0o022 != 0 {
        return refused(format!(
            "others may write to `{}`, expected its owner alone; chmod it to 700",
            path.display()
        ));
    }
    for parent in path.ancestors().skip(1) {
        let mode = fs::metadata(parent)?.mode();
        if mode & 0o022 != 0 && mode & STICKY == 0 {
            return refused(format!(
                "others may replace `{}`, as they may write to `{}`; chmod that to 755",
                path.display(),
                parent.display()
            ));
        }
    }
    // What this process creates is owned by its user.
    let created = path.join(format!("owner-{}", random_id()?));
    let user = File::create_new(&created)?.metadata().map(|metadata| metadata.uid());
    fs::remove_file(created)?;
    let (owner, user) = (metadata.uid(), user?);
    if owner != user {
        return refused(format!(
            "user {owner} owns `{}`, expected user {user}, who runs this process; chown it",
            path.display()
        ));
    }
    Ok(())
}

impl Folder {
    /// The file of an id, whatever that consists of.
    fn file(&self, kind: &str, id: &str) -> PathBuf {
        self.path.join(format!("{kind}-{}", digest([id])))
    }

    /// Writes a file that must not be there yet: when it expires, then what it holds.
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
        // Half a file would take a question for good, though nothing runs.
        write().inspect_err(|_| drop(fs::remove_file(path)))
    }

    /// Makes what was created outlast a loss of power.
    fn sync(&self) -> io::Result<()> {
        if cfg!(unix) { File::open(&self.path)?.sync_all() } else { Ok(()) }
    }

    fn put(&self, id: &str, state: &[u8], expires_at: u64) -> io::Result<()> {
        // A state that is half written has another name, so that nobody reads it.
        let unfinished = self.file("new", &random_id()?);
        self.create(&unfinished, expires_at, state)?;
        fs::rename(&unfinished, self.file(STATE, id))?;
        self.sync()
    }

    fn get(&self, id: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.file(STATE, id)) {
            Ok(content) => Ok(content.get(size_of::<u64>()..).map(<[u8]>::to_vec)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn take(&self, questions: &[(String, u64)]) -> io::Result<Option<String>> {
        for (place, (id, expires_at)) in questions.iter().enumerate() {
            match self.create(&self.file(TAKEN, id), *expires_at, &[]) {
                Ok(()) => {}
                Err(error) => {
                    // One that was taken before keeps the others from being taken.
                    for (id, _) in &questions[..place] {
                        fs::remove_file(self.file(TAKEN, id))?;
                    }
                    let is_taken = error.kind() == ErrorKind::AlreadyExists;
                    return if is_taken { Ok(Some(id.clone())) } else { Err(error) };
                }
            }
        }
        Ok(None)
    }

    /// Removes what has expired, at most once a minute.
    fn sweep(&self, now: u64) -> io::Result<()> {
        let relaxed = Ordering::Relaxed;
        let (next, later) = (self.next_sweep.load(relaxed), now.saturating_add(SWEEP_EVERY));
        if now < next || self.next_sweep.compare_exchange(next, later, relaxed, relaxed).is_err() {
            return Ok(());
        }
        for file in fs::read_dir(&self.path)? {
            let path = file?.path();
            if expiry(&path)
                .is_some_and(|expires_at| expires_at.saturating_add(MAX_CLOCK_SKEW) <= now)
            {
                // Another process may have removed it.
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}

/// When a file of the store expires. None for what is unfinished, or no file of it.
fn expiry(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    if !name.starts_with(STATE) && !name.starts_with(TAKEN) && !name.starts_with("new-") {
        return None;
    }
    let mut expires_at = [0; size_of::<u64>()];
    io::Read::read_exact(&mut File::open(path).ok()?, &mut expires_at).ok()?;
    Some(u64::from_be_bytes(expires_at))
}

impl SuspendedRuns for InDirectory {
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

    fn take<'a>(
        &'a self,
        questions: &'a [(&'a str, u64)],
        now: u64,
    ) -> BoxFuture<'a, Result<Option<String>, BoxError>> {
        let owned = questions.iter().map(|(id, expires_at)| ((*id).to_owned(), *expires_at));
        let mut questions: Vec<_> = owned.collect();
        // In one order for all, so that of two who take the same questions at once, one takes them all.
        questions.sort();
        self.blocking(move |folder| {
            folder.sweep(now)?;
            folder.take(&questions)
        })
    }
}
