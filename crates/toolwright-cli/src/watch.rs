//! `toolwright gen --watch`: generates whenever the schema or the configuration changes, and tells what came of it.
//! Every run is one of `toolwright gen`, so the output folder holds what the last good schema gives, whatever is saved
//! meanwhile.

use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use toolwright_codegen::config;
use toolwright_codegen::project::{Failure, Mode, Project};

use crate::end::End;
use crate::generate::{self, Places};
use crate::{print, progress};

/// How long nothing may change before a run: editors save a file in several steps, and a checkout changes many.
const QUIET: Duration = Duration::from_millis(60);

/// How long a run may be put off by changes that do not cease.
const LONGEST: Duration = Duration::from_secs(2);

/// Runs until it is interrupted, which can be at any time: what is written is exchanged in one step.
pub(crate) fn run(places: &Places) -> End {
    let mut had_errors = false;
    loop {
        let project = places.open();
        // Watched before it is read, so that no change falls between the two.
        let watch = match Watch::begin(project.as_ref().ok()) {
            Ok(watch) => watch,
            Err(error) => {
                print::err(&format!("gen: cannot watch the schema: {error}\n"));
                return End::Io;
            }
        };
        clear();
        had_errors = tell(project, had_errors);
        print::err("gen: watching for changes; interrupt to stop\n");
        if !watch.wait() {
            print::err("gen: the system ceased to tell of changes\n");
            return End::Io;
        }
    }
}

/// Generates and tells what came of it; whether there were errors.
fn tell(project: Result<Project, Failure>, had_errors: bool) -> bool {
    match project.and_then(|project| progress::shown(|| project.generate(Mode::Write))) {
        Ok(generated) => {
            if had_errors {
                print::out("gen: no errors any more\n");
            }
            generate::done(&generated);
            false
        }
        Err(failure) => {
            generate::failed("gen", &failure);
            true
        }
    }
}

/// What was told of the last run goes; in a pipe it stays, since nothing there can be taken back.
fn clear() {
    if io::stderr().is_terminal() && io::stdout().is_terminal() {
        print::out("\u{1b}[2J\u{1b}[3J\u{1b}[H");
    }
}

/// Changes of the files a project is made from.
struct Watch {
    changes: Receiver<notify::Result<Event>>,
    interest: Interest,
    _watcher: RecommendedWatcher,
}

/// What a change has to be about.
struct Interest {
    /// Absolute, as events give paths.
    out: PathBuf,
}

impl Watch {
    /// Watches what a project is made from; the current folder, while there is none.
    fn begin(project: Option<&Project>) -> notify::Result<Self> {
        let (sender, changes) = mpsc::channel();
        let mut watcher = notify::recommended_watcher(sender)?;
        let root = project.map_or(Path::new(""), Project::root);
        watcher.watch(&folder(root), RecursiveMode::NonRecursive)?;
        for schema in project.map(Project::schema).unwrap_or_default() {
            watcher.watch(&nearest(schema), RecursiveMode::Recursive)?;
            // A folder that is moved away and made anew is another one to the system.
            watcher.watch(
                &nearest(&folder(schema.parent().unwrap_or(root))),
                RecursiveMode::NonRecursive,
            )?;
        }
        let out = project.map_or(PathBuf::new(), |project| folder(project.out()));
        Ok(Self { changes, interest: Interest { out }, _watcher: watcher })
    }

    /// Waits until something changed and nothing changes any more; false if that will never be known.
    fn wait(&self) -> bool {
        loop {
            match self.changes.recv() {
                Ok(change) if self.interest.has(&change) => break,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        let began = Instant::now();
        while began.elapsed() < LONGEST {
            match self.changes.recv_timeout(QUIET) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }
}

impl Interest {
    /// Whether a change may change what is generated. An error means that changes may have been missed.
    fn has(&self, change: &notify::Result<Event>) -> bool {
        let Ok(event) = change else { return true };
        // Reading the schema is an event too.
        !event.kind.is_access()
            && (event.need_rescan() || event.paths.iter().any(|path| self.has_path(path)))
    }

    fn has_path(&self, path: &Path) -> bool {
        let is_output = !self.out.as_os_str().is_empty() && path.starts_with(&self.out);
        let is_hidden =
            path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with('.'));
        let kind = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let is_schema = kind.eq_ignore_ascii_case("yaml") || kind.eq_ignore_ascii_case("yml");
        let is_config = path.file_name() == Some(OsStr::new(config::FILE));
        // A folder that came or went may have had schemas in it.
        let is_folder = kind.is_empty();
        !is_output && !is_hidden && (is_schema || is_config || is_folder)
    }
}

/// A path as events tell of it: from the root of the file system.
fn folder(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    config::plain(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// The path itself, or what is there of the way to it.
fn nearest(path: &Path) -> PathBuf {
    let path = folder(path);
    path.ancestors().find(|path| path.exists()).unwrap_or(&path).to_owned()
}
