//! `toolwright gen --watch`: generates again whenever the schema, the configuration or a generated file changes. A schema
//! with mistakes leaves the output folder as it is.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime};

use notify::event::ModifyKind;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use toolwright_codegen::disk::Written;
use toolwright_codegen::project::{
    CONFIG_FILE, Change, Failure, Generated, Mode, Project, normalize_lexically,
};

use crate::exit::Exit;
use crate::generate::{self, Folders};
use crate::{print, progress};

/// How long nothing must have changed before a run, because editors save in several steps and a checkout changes many files.
const QUIET_PERIOD: Duration = Duration::from_millis(60);

/// How long continuous changes can delay a run.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// Runs until it is interrupted. An interruption at any time is safe, because the output is replaced in one step.
pub(crate) fn run(folders: &Folders) -> Exit {
    let mut had_errors = false;
    loop {
        let project = folders.open();
        // Watch the input before it is read, so that no change is missed.
        let mut watcher = match ProjectWatcher::new(project.as_ref().ok()) {
            Ok(watcher) => watcher,
            Err(error) => {
                print::err(&format!("gen: cannot watch the schema: {error}\n"));
                return Exit::Io;
            }
        };
        clear();
        let start = SystemTime::now();
        let result =
            project.and_then(|project| progress::with_timer(|| project.generate(Mode::Write)));
        had_errors = report(&result, had_errors);
        // Watch the output after it is written, because writing must not start another run.
        match result.map(|generated| watcher.watch_output(generated, start)) {
            Ok(Ok(false)) => continue,
            Ok(Ok(true)) | Err(_) => {}
            Ok(Err(error)) => print::err(&format!(
                "gen: cannot watch the output, so only the next run restores files that are changed there: {error}\n"
            )),
        }
        print::err("gen: watching for changes; interrupt to stop\n");
        if !watcher.wait() {
            print::err("gen: the system no longer reports changes\n");
            return Exit::Io;
        }
    }
}

/// Prints the report of a run, and returns whether it had errors.
fn report(result: &Result<Generated, Failure>, had_errors: bool) -> bool {
    match result {
        Ok(generated) => {
            if had_errors {
                print::out("gen: all errors are fixed\n");
            }
            generate::report(generated);
        }
        Err(failure) => {
            generate::report_failure("gen", failure);
        }
    }
    result.is_err()
}

/// Clears a terminal, so that it shows only the last run.
fn clear() {
    if io::stderr().is_terminal() && io::stdout().is_terminal() {
        print::out("\u{1b}[2J\u{1b}[3J\u{1b}[H");
    }
}

/// Watches the input and the output of a project.
struct ProjectWatcher {
    events: Receiver<(Watched, notify::Result<Event>)>,
    filter: EventFilter,
    _input: RecommendedWatcher,
    output: RecommendedWatcher,
}

/// The part of a project that an event is about.
#[derive(Clone, Copy)]
enum Watched {
    Input,
    Output,
}

/// Decides which events start a run.
struct EventFilter {
    /// The output folder. Absolute, like the paths of events.
    out: PathBuf,
    /// All generated files, relative to the output folder.
    generated: BTreeSet<String>,
    /// The files that configure the project. Absolute, too.
    configuration: Vec<PathBuf>,
}

impl ProjectWatcher {
    /// Watches the input of a project, or only its configuration and the current folder if the project cannot be opened.
    fn new(project: Option<&Project>) -> notify::Result<Self> {
        let (sender, events) = mpsc::channel();
        let output = watcher(Watched::Output, sender.clone())?;
        let mut input = watcher(Watched::Input, sender)?;
        let root = project.map_or(Path::new(""), Project::root);
        input.watch(&absolute(root), RecursiveMode::NonRecursive)?;
        let configuration = Project::configuration_files(Path::new("."));
        let configuration: Vec<_> = configuration.iter().map(|file| absolute(file)).collect();
        // Before the schema: its folder may be one of these, and the last mode of a folder counts.
        for folder in configuration.iter().filter_map(|file| file.parent()) {
            input.watch(&existing_ancestor(folder), RecursiveMode::NonRecursive)?;
        }
        for schema in project.map(Project::schema).unwrap_or_default() {
            input.watch(&existing_ancestor(schema), RecursiveMode::Recursive)?;
            // Events of the parent show when the folder is replaced by another one.
            let parent = absolute(schema.parent().unwrap_or(root));
            input.watch(&existing_ancestor(&parent), RecursiveMode::NonRecursive)?;
        }
        let out = project.map_or(PathBuf::new(), |project| absolute(project.out()));
        let filter = EventFilter { out, generated: BTreeSet::new(), configuration };
        Ok(Self { events, filter, _input: input, output })
    }

    /// Watches the output of a run too. Returns false if a file was changed since the run read or wrote it.
    fn watch_output(&mut self, generated: Generated, start: SystemTime) -> notify::Result<bool> {
        let end = SystemTime::now();
        let watched = self.output.watch(&self.filter.out, RecursiveMode::Recursive);
        let Change::Written(Written { written, unchanged, .. }) = generated.change else {
            return watched.map(|()| true);
        };
        let is_current = written.iter().all(|path| self.filter.is_unchanged_since(path, end))
            && unchanged.iter().all(|path| self.filter.is_unchanged_since(path, start));
        self.filter.generated = written.into_iter().chain(unchanged).collect();
        if is_current { watched.map(|()| true) } else { Ok(false) }
    }

    /// Waits until something has changed and the changes have stopped. Returns false if events can no longer be received.
    fn wait(&self) -> bool {
        loop {
            match self.events.recv() {
                Ok((watched, event)) if self.filter.accepts(watched, &event) => break,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        let start = Instant::now();
        while start.elapsed() < MAX_DELAY {
            match self.events.recv_timeout(QUIET_PERIOD) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }
}

impl EventFilter {
    /// Returns whether an event starts a run. An error does, because events may have been lost.
    fn accepts(&self, watched: Watched, event: &notify::Result<Event>) -> bool {
        let Ok(event) = event else { return true };
        let mut paths = event.paths.iter();
        // Reading a file is an event too.
        !event.kind.is_access()
            && (event.need_rescan()
                || match watched {
                    Watched::Input => paths.any(|path| self.is_input(path, event)),
                    Watched::Output => {
                        !is_about_metadata(event) && paths.any(|path| self.is_output(path))
                    }
                })
    }

    /// Returns whether a generated file exists and was not modified after `time`. A modification time in the future is
    /// ignored.
    fn is_unchanged_since(&self, path: &str, time: SystemTime) -> bool {
        let found = fs::symlink_metadata(self.out.join(path)).and_then(|found| found.modified());
        found.is_ok_and(|modified| modified <= time || SystemTime::now() < modified)
    }

    /// Returns whether a path is a generated file, or a folder that contains one.
    fn is_output(&self, path: &Path) -> bool {
        let Ok(path) = path.strip_prefix(&self.out) else { return false };
        let names: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
        let path = names.join("/");
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let mut from = self.generated.range(prefix.clone()..);
        self.generated.contains(&path) || from.next().is_some_and(|next| next.starts_with(&prefix))
    }

    fn is_input(&self, path: &Path, event: &Event) -> bool {
        let is_output = !self.out.as_os_str().is_empty() && path.starts_with(&self.out);
        let is_hidden =
            path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with('.'));
        let kind = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let is_schema = kind.eq_ignore_ascii_case("yaml") || kind.eq_ignore_ascii_case("yml");
        let is_config = path.file_name() == Some(OsStr::new(CONFIG_FILE))
            || self.configuration.iter().any(|file| file == path);
        // A folder that was added or removed may contain schemas. What is written to is a file, perhaps the one with our output.
        let is_written = matches!(event.kind, EventKind::Modify(ModifyKind::Data(_)));
        let is_folder = kind.is_empty() && !is_written;
        !is_output && !is_hidden && (is_schema || is_config || is_folder)
    }
}

fn watcher(
    watched: Watched,
    sender: Sender<(Watched, notify::Result<Event>)>,
) -> notify::Result<RecommendedWatcher> {
    notify::recommended_watcher(move |event| {
        // After the receiver is dropped, events are not needed.
        let _ = sender.send((watched, event));
    })
}

/// Returns whether only the metadata of a file changed, such as its permissions or times.
fn is_about_metadata(event: &Event) -> bool {
    matches!(event.kind, EventKind::Modify(ModifyKind::Metadata(_)))
}

/// Returns an absolute path, like those of events.
fn absolute(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    normalize_lexically(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// Returns the path, or its nearest ancestor that exists.
fn existing_ancestor(path: &Path) -> PathBuf {
    let path = absolute(path);
    path.ancestors().find(|path| path.exists()).unwrap_or(&path).to_owned()
}
