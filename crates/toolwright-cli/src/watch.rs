//! `toolwright gen --watch`: generates whenever the schema, the configuration or what was generated changes, and tells
//! what came of it. Every run is one of `toolwright gen`, so the output folder holds what the last good schema gives,
//! whatever is saved meanwhile.

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
        let mut watch = match Watch::begin(project.as_ref().ok()) {
            Ok(watch) => watch,
            Err(error) => {
                print::err(&format!("gen: cannot watch the schema: {error}\n"));
                return End::Io;
            }
        };
        clear();
        let began = SystemTime::now();
        let done = project.and_then(|project| progress::shown(|| project.generate(Mode::Write)));
        had_errors = tell(&done, had_errors);
        // Watched after it was written, as that asks for no other run.
        match done.map(|generated| watch.output(generated, began)) {
            Ok(Ok(false)) => continue,
            Ok(Ok(true)) | Err(_) => {}
            Ok(Err(error)) => print::err(&format!(
                "gen: cannot watch the output, so what is changed there is restored by the next run only: {error}\n"
            )),
        }
        print::err("gen: watching for changes; interrupt to stop\n");
        if !watch.wait() {
            print::err("gen: the system ceased to tell of changes\n");
            return End::Io;
        }
    }
}

/// Tells what came of a run; whether there were errors.
fn tell(done: &Result<Generated, Failure>, had_errors: bool) -> bool {
    match done {
        Ok(generated) => {
            if had_errors {
                print::out("gen: no errors any more\n");
            }
            generate::done(generated);
        }
        Err(failure) => {
            generate::failed("gen", failure);
        }
    }
    done.is_err()
}

/// What was told of the last run goes; in a pipe it stays, since nothing there can be taken back.
fn clear() {
    if io::stderr().is_terminal() && io::stdout().is_terminal() {
        print::out("\u{1b}[2J\u{1b}[3J\u{1b}[H");
    }
}

/// Changes of the files a project is made from, and of those that are made from it.
struct Watch {
    changes: Receiver<(Part, notify::Result<Event>)>,
    interest: Interest,
    _input: RecommendedWatcher,
    output: RecommendedWatcher,
}

/// What somebody watches.
#[derive(Clone, Copy)]
enum Part {
    Input,
    Output,
}

/// What a change has to be about.
struct Interest {
    /// Absolute, as events give paths.
    out: PathBuf,
    /// Every generated file, relative to that.
    generated: BTreeSet<String>,
}

impl Watch {
    /// Watches what a project is made from; the current folder, while there is none.
    fn begin(project: Option<&Project>) -> notify::Result<Self> {
        let (sender, changes) = mpsc::channel();
        let output = watcher(Part::Output, sender.clone())?;
        let mut input = watcher(Part::Input, sender)?;
        let root = project.map_or(Path::new(""), Project::root);
        input.watch(&folder(root), RecursiveMode::NonRecursive)?;
        for schema in project.map(Project::schema).unwrap_or_default() {
            input.watch(&nearest(schema), RecursiveMode::Recursive)?;
            // A folder that is moved away and made anew is another one to the system.
            input.watch(
                &nearest(&folder(schema.parent().unwrap_or(root))),
                RecursiveMode::NonRecursive,
            )?;
        }
        let out = project.map_or(PathBuf::new(), |project| folder(project.out()));
        let interest = Interest { out, generated: BTreeSet::new() };
        Ok(Self { changes, interest, _input: input, output })
    }

    /// Watches what a run has left as well; whether it is still there, since the run looked at it before.
    fn output(&mut self, generated: Generated, began: SystemTime) -> notify::Result<bool> {
        let ended = SystemTime::now();
        let watched = self.output.watch(&self.interest.out, RecursiveMode::Recursive);
        let Change::Written(Written { written, unchanged, .. }) = generated.change else {
            return watched.map(|()| true);
        };
        let is_whole = written.iter().all(|path| self.interest.is_left(path, ended))
            && unchanged.iter().all(|path| self.interest.is_left(path, began));
        self.interest.generated = written.into_iter().chain(unchanged).collect();
        if is_whole { watched.map(|()| true) } else { Ok(false) }
    }

    /// Waits until something changed and nothing changes any more; false if that will never be known.
    fn wait(&self) -> bool {
        loop {
            match self.changes.recv() {
                Ok((part, change)) if self.interest.has(part, &change) => break,
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
    /// Whether a change asks for a run. An error means that changes may have been missed.
    fn has(&self, part: Part, change: &notify::Result<Event>) -> bool {
        let Ok(event) = change else { return true };
        let mut paths = event.paths.iter();
        // Reading is an event too.
        !event.kind.is_access()
            && (event.need_rescan()
                || match part {
                    Part::Input => paths.any(|path| self.has_input(path)),
                    Part::Output => {
                        !is_about_metadata(event) && paths.any(|path| self.has_output(path))
                    }
                })
    }

    /// Whether a generated file is there, and as old as it may be. What is of the future cannot be told to be new.
    fn is_left(&self, path: &str, last: SystemTime) -> bool {
        let found = fs::symlink_metadata(self.out.join(path)).and_then(|found| found.modified());
        found.is_ok_and(|modified| modified <= last || SystemTime::now() < modified)
    }

    /// Whether a path is that of a generated file, or of a folder with some.
    fn has_output(&self, path: &Path) -> bool {
        let Ok(path) = path.strip_prefix(&self.out) else { return false };
        let names: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
        let path = names.join("/");
        let inside = if path.is_empty() { String::new() } else { format!("{path}/") };
        let mut from = self.generated.range(inside.clone()..);
        self.generated.contains(&path) || from.next().is_some_and(|next| next.starts_with(&inside))
    }

    fn has_input(&self, path: &Path) -> bool {
        let is_output = !self.out.as_os_str().is_empty() && path.starts_with(&self.out);
        let is_hidden =
            path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with('.'));
        let kind = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let is_schema = kind.eq_ignore_ascii_case("yaml") || kind.eq_ignore_ascii_case("yml");
        let is_config = path.file_name() == Some(OsStr::new(CONFIG_FILE));
        // A folder that came or went may have had schemas in it.
        let is_folder = kind.is_empty();
        !is_output && !is_hidden && (is_schema || is_config || is_folder)
    }
}

fn watcher(
    part: Part,
    sender: Sender<(Part, notify::Result<Event>)>,
) -> notify::Result<RecommendedWatcher> {
    notify::recommended_watcher(move |event| {
        // Once nobody waits any more, nobody misses it.
        let _ = sender.send((part, event));
    })
}

/// Whether a file still says what it did: its rights or its age changed, or how many names it has.
fn is_about_metadata(event: &Event) -> bool {
    matches!(event.kind, EventKind::Modify(ModifyKind::Metadata(_)))
}

/// A path as events tell of it: from the root of the file system.
fn folder(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    normalize_lexically(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// The path itself, or what is there of the way to it.
fn nearest(path: &Path) -> PathBuf {
    let path = folder(path);
    path.ancestors().find(|path| path.exists()).unwrap_or(&path).to_owned()
}
