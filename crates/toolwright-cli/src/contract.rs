//! `toolwright lock`, `diff` and `breaking`: what the tools promised, what changed, and whom that breaks.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::{io, thread};

use clap::{Subcommand, ValueEnum};
use toolwright::format::DateTime;
use toolwright_codegen::disk;
use toolwright_codegen::internal::model::Project as Model;
use toolwright_codegen::internal::with_line_feeds;
use toolwright_codegen::project::{Failure, Project};
use toolwright_codegen::{Source, Sources};
use toolwright_lock::{
    Difference, Exception, Format, LOCK_FILE, Lock, LockedServer, Policy, Rule, Viewpoint, diff,
    diff_listings, render,
};

use crate::exit::Exit;
use crate::import::flags::{self, ConnectionArgs, ListArgs};
use crate::import::list;
use crate::print;
use crate::revision::Revision;

/// The format of a report on changes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Human,
    Json,
    Sarif,
    Github,
    Markdown,
}

/// Whose breakage counts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum For {
    /// Code and stored calls with the old arguments.
    Caller,
    /// Prompts, transcripts and evaluations with the old words.
    Model,
    /// Code that reads results with the old types.
    Reader,
    /// Code that answers calls, written for the old payloads and the old trait.
    Implementer,
    /// Code compiled against the generated crates.
    Rust,
}

/// The listings that `lock` pins.
#[derive(Subcommand)]
pub(crate) enum LockCommand {
    /// Record every tool that a remote MCP server lists in toolwright.lock, or compare the list with the record.
    ///
    /// With --check, exits with 1 if anything but order and white space changed.
    #[command(
        override_usage = "toolwright lock remote <SERVER> [--check] (--tools-json <FILE> | --url <URL> | -- <CMD>...)"
    )]
    Remote {
        /// The name of the server in the project.
        #[arg(value_parser = flags::name)]
        server: String,
        /// Write nothing; show the changes and exit with 1 if there are any.
        #[arg(long)]
        check: bool,
        #[command(flatten)]
        list: ListArgs,
        #[command(flatten)]
        connection: ConnectionArgs,
    },
}

/// Why a command cannot go on.
enum Stop {
    Project(Failure),
    Rejected(String),
    Io(String),
}

type Stopped<T> = Result<T, Stop>;

/// Writes the lock of a new project.
pub(crate) fn lock_of(folder: &Path) -> Exit {
    let run = || -> Stopped<Exit> {
        let project = Project::open(folder)?;
        let text = locked(&project, &project.model()?).to_text();
        write(&project.root().join(LOCK_FILE), &text)
    };
    end("lock", run())
}

/// Writes the lock of the project, or compares it.
pub(crate) fn lock(check: bool) -> Exit {
    let run = || -> Stopped<Exit> {
        let project = open()?;
        let path = project.root().join(LOCK_FILE);
        let (old, model) = both(|| read(&path), || Ok(project.model()?));
        let (old, model) = (old?, model?);
        let new = locked(&project, &model);
        let mut new = match &old {
            Some((_, old)) => new.after(old).map_err(|error| Stop::Rejected(error.to_string()))?,
            None => new,
        };
        let tools = count(new.tools.len());
        let text = new.to_text();
        match old {
            Some((old, _)) if old == text => print::out(&format!("lock: {tools}, up to date\n")),
            Some((_, old)) if check => {
                let found = difference(&old, &new)?;
                if found.findings.is_empty() {
                    print::out("no tool changed, but versions, digests, names or the layout did\n");
                } else {
                    print::out(&render(&found, None, Format::Human));
                }
                print::err(&format!(
                    "lock: {LOCK_FILE} is not up to date; run `toolwright lock`, and review its changes\n"
                ));
                return Ok(Exit::Rejected);
            }
            None if check => {
                print::err(&format!(
                    "lock: there is no {LOCK_FILE}; run `toolwright lock`, and commit it\n"
                ));
                return Ok(Exit::Rejected);
            }
            _ => {
                write(&path, &text)?;
                print::out(&format!("lock: {tools}, written\n"));
            }
        }
        Ok(Exit::Success)
    };
    end("lock", run())
}

/// Pins the listing of a remote server, or compares it.
pub(crate) fn lock_remote(command: &LockCommand) -> Exit {
    let LockCommand::Remote { server, check, list, connection } = command;
    let run = || -> Stopped<Exit> {
        let project = open()?;
        let path = project.root().join(LOCK_FILE);
        // Pinning again replaces a listing that somebody edited.
        let current = || -> Stopped<Lock> {
            match read_text(&path)? {
                Some(text) => parse(&text, LOCK_FILE),
                None => Ok(locked(&project, &project.model()?)),
            }
        };
        let before = current()?;
        if *check {
            checked(&before)?;
        }
        let found = list::load(list, connection).map_err(|(exit, message)| match exit {
            Exit::Io => Stop::Io(message),
            _ => Stop::Rejected(message),
        })?;
        let name = [found.from.name, found.from.version].into_iter().flatten();
        let name = Some(name.collect::<Vec<_>>().join(" ")).filter(|name| !name.is_empty());
        let listed = LockedServer::of(&found.json, name);
        let mut listed =
            listed.map_err(|error| Stop::Rejected(format!("{}: {error}", found.source)))?;
        for warning in toolwright_import::suspicions(&found.json) {
            print::err_line(&format!("warning: {warning}"));
        }
        // Another process may have pinned another server meanwhile.
        let mut lock = if *check { before } else { current()? };
        let pinned = lock.remote.get(server);
        if *check {
            let Some(pinned) = pinned else {
                let advice = format!(
                    "`{server}` is not pinned; run `toolwright lock remote` without --check"
                );
                return Err(Stop::Rejected(advice));
            };
            let changes = diff_listings(server, pinned, &listed);
            print::out(&render(&changes, None, Format::Human));
            let is_same = changes.findings.is_empty();
            return Ok(if is_same { Exit::Success } else { Exit::Rejected });
        }
        if let Some(pinned) = pinned {
            print::out(&render(&diff_listings(server, pinned, &listed), None, Format::Human));
            listed.keep_texts_of(pinned);
        }
        let tools = count(listed.listed.len());
        lock.remote.insert(server.clone(), listed);
        write(&path, &lock.to_text())?;
        print::out(&format!("lock: {tools} of {server}, written\n"));
        Ok(Exit::Success)
    };
    end("lock", run())
}

fn count(tools: usize) -> String {
    if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") }
}

fn write(path: &Path, text: &str) -> Stopped<Exit> {
    let most = disk::MAX_TEXT_MIB;
    if text.len() as u64 > u64::from(most) << 20 {
        let message = format!(
            "the lock would have more than {most} MiB, which no command reads; use fewer tools, or split the types that they share"
        );
        return Err(Stop::Io(message));
    }
    disk::write_text(path, text).map_err(|error| Stop::Io(error.to_string()))?;
    Ok(Exit::Success)
}

/// Prints what changed between two versions.
pub(crate) fn changes(
    old: Option<&str>,
    new: Option<&str>,
    format: ReportFormat,
    stored_results: bool,
) -> Exit {
    let compared = || -> Stopped<Exit> {
        let old = old.unwrap_or(LOCK_FILE);
        let (old, new) = match new {
            Some(new) => {
                let (old, new) = both(|| version(old), || version(new));
                (old?, new?)
            }
            None => with_current(&open()?, old)?,
        };
        let mut found = difference(&old, &new)?;
        if stored_results {
            found = found.with_stored_results();
        }
        print::out(&render(&found, None, format.into()));
        Ok(Exit::Success)
    };
    end("diff", compared())
}

/// Reports the changes that the versions of the toolsets do not announce.
pub(crate) fn breaking(against: Option<&str>, viewpoints: &[For], format: ReportFormat) -> Exit {
    let compared = || -> Stopped<Exit> {
        let project = open()?;
        let mut policy = policy(&project)?;
        if !viewpoints.is_empty() {
            policy.viewpoints = viewpoints.iter().map(|viewpoint| (*viewpoint).into()).collect();
        }
        let now = DateTime::now().to_string();
        let expired = policy.expired(now.get(..10).unwrap_or(&now));
        if let Some(Exception { rule, until, .. }) = expired.first() {
            return Err(Stop::Rejected(format!(
                "the exception for {rule} in toolwright.toml ended on {until}; remove it, or set another date"
            )));
        }
        let (old, new) = with_current(&project, against.unwrap_or(LOCK_FILE))?;
        let found = difference(&old, &new)?;
        let broken = policy.breaking(&found, &old, &new);
        match format {
            ReportFormat::Human if broken.is_empty() => {
                let count = found.findings.len();
                let changes = if count == 1 { "change" } else { "changes" };
                print::out(&format!(
                    "breaking: {count} {changes}, none above what the versions announce\n"
                ));
            }
            _ => print::out(&render(&found, Some(&broken), format.into())),
        }
        if broken.is_empty() {
            return Ok(Exit::Success);
        }
        print::err(
            "breaking: a new `version` of the toolset announces such changes; `[breaking]` in toolwright.toml may allow single ones\n",
        );
        Ok(Exit::Rejected)
    };
    end("breaking", compared())
}

/// Runs two functions at the same time, the first one on another thread.
fn both<A: Send, B>(
    one: impl FnOnce() -> Stopped<A> + Send,
    other: impl FnOnce() -> Stopped<B>,
) -> (Stopped<A>, Stopped<B>) {
    thread::scope(|scope| {
        // Nested schemas need as large a stack as on the main thread.
        let one = thread::Builder::new().stack_size(8 << 20).spawn_scoped(scope, one);
        let other = other();
        let one = one.map_err(|error| Stop::Io(format!("cannot start a thread: {error}")));
        (one.and_then(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic))), other)
    })
}

fn end(command: &str, result: Stopped<Exit>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(Stop::Project(failure)) => {
            print::err(&failure.render(print::human()));
            print::err(&format!("{command}: {failure}\n"));
            Exit::from(&failure)
        }
        Err(Stop::Rejected(message)) => {
            print::err_line(&format!("{command}: {message}"));
            Exit::Rejected
        }
        Err(Stop::Io(message)) => {
            print::err_line(&format!("{command}: {message}"));
            Exit::Io
        }
    }
}

fn open() -> Stopped<Project> {
    Ok(Project::open(Path::new("."))?)
}

/// Returns the lock of a model, with the options of the project now.
fn locked(project: &Project, model: &Model) -> Lock {
    Lock::of(model).with_non_exhaustive(project.is_non_exhaustive())
}

fn difference(old: &Lock, new: &Lock) -> Stopped<Difference> {
    diff(old, new).map_err(|error| Stop::Rejected(error.to_string()))
}

/// Returns a version of the tools, and the tools as they are now, with the listings that are pinned now.
fn with_current(project: &Project, old: &str) -> Stopped<(Lock, Lock)> {
    let path = project.root().join(LOCK_FILE);
    let read = || {
        if old == LOCK_FILE {
            let old = existing(&path)?;
            let pinned = old.remote.clone();
            return Ok((old, pinned));
        }
        let old = version(old)?;
        let pinned = read(&path)?.map(|(_, lock)| lock.remote);
        Ok((old, pinned.unwrap_or_default()))
    };
    let (old, model) = both(read, || Ok(project.model()?));
    let (old, pinned) = old?;
    let mut new = locked(project, &model?);
    new.remote = pinned;
    Ok((old, new))
}

/// Returns what the configuration allows.
fn policy(project: &Project) -> Stopped<Policy> {
    let viewpoints = Viewpoint::ALL.map(Viewpoint::as_str);
    let mut rules: Vec<&str> = Rule::all().map(|rule| rule.id).collect();
    rules.dedup();
    let table = project.breaking(&viewpoints, &rules)?;
    let mut policy = Policy::default();
    if !table.r#for.is_empty() {
        let is_listed = |viewpoint: &Viewpoint| {
            table.r#for.iter().any(|word| word.as_ref() == viewpoint.as_str())
        };
        policy.viewpoints = Viewpoint::ALL.into_iter().filter(is_listed).collect();
    }
    policy.exceptions = table
        .ignore
        .iter()
        .map(|ignored| Exception {
            rule: ignored.rule.as_ref().clone(),
            tool: ignored.tool.clone(),
            until: ignored.until.as_ref().clone(),
            because: ignored.because.as_ref().clone(),
        })
        .collect();
    Ok(policy)
}

/// Returns a version of the tools: a lock, a schema file or a folder of them, or a revision of the repository as `git:REV`.
fn version(name: &str) -> Stopped<Lock> {
    if let Some(revision) = name.strip_prefix("git:") {
        return of_revision(revision);
    }
    let path = if name == LOCK_FILE { open()?.root().join(name) } else { PathBuf::from(name) };
    if path.is_dir() || is_schema(&path) {
        let project = open()?.with_schema(vec![path]);
        return Ok(locked(&project, &project.model()?));
    }
    existing(&path)
}

fn is_schema(file: &Path) -> bool {
    file.extension().is_some_and(|kind| kind == "yaml" || kind == "yml")
}

/// Reads a lock.
fn existing(path: &Path) -> Stopped<Lock> {
    let lock = read(path)?.map(|(_, lock)| lock);
    lock.ok_or_else(|| {
        let path = path.display();
        Stop::Io(format!("there is no {path}; `toolwright lock` writes the lock of a project"))
    })
}

/// Reads a lock, if the file exists. The text has the line ends of a lock that was written.
fn read(path: &Path) -> Stopped<Option<(String, Lock)>> {
    let Some(text) = read_text(path)? else { return Ok(None) };
    let text = with_line_feeds(&text).into_owned();
    let lock = parse(&text, &path.display().to_string())?;
    checked(&lock)?;
    Ok(Some((text, lock)))
}

fn read_text(path: &Path) -> Stopped<Option<String>> {
    // Somebody may name a pipe, but no checkout may have one in place of its lock, nor a link out of it.
    let is_named = path.file_name().is_some_and(|name| name != LOCK_FILE);
    let text = if is_named { disk::read_text(path) } else { disk::read_own(path) };
    text.map_err(|error| Stop::Io(error.to_string()))
}

fn checked(lock: &Lock) -> Stopped<()> {
    lock.check().map_err(|error| Stop::Rejected(error.to_string()))
}

fn parse(text: &str, name: &str) -> Stopped<Lock> {
    Lock::parse(text).map_err(|error| Stop::Rejected(format!("{name}: {error}")))
}

/// Returns the lock of a revision, or else of its schema.
fn of_revision(name: &str) -> Stopped<Lock> {
    let project = open()?;
    let root = if project.root().as_os_str().is_empty() { Path::new(".") } else { project.root() };
    let failed = |error: io::Error| Stop::Io(format!("cannot read {name} with git: {error}"));
    let Some(revision) = Revision::find(root, name).map_err(failed)? else {
        return Err(Stop::Io(format!(
            "there is no revision `{name}` in the git repository of {}",
            root.display()
        )));
    };
    let mut reader = revision.reader().map_err(failed)?;
    if let Some(file) = revision.files(LOCK_FILE).map_err(failed)?.first() {
        let text = reader.read(file, disk::MAX_TEXT_MIB).map_err(failed)?;
        let lock = parse(&text, &format!("{LOCK_FILE} of {name}"))?;
        checked(&lock)?;
        return Ok(lock);
    }
    let (mut sources, mut bytes) = (Vec::new(), 0);
    for schema in project.schema() {
        let folder = schema.strip_prefix(project.root()).unwrap_or(schema);
        for file in revision.files(&folder.to_string_lossy()).map_err(failed)? {
            let is_hidden = file.path.split('/').any(|part| part.starts_with('.'));
            if is_hidden || !is_schema(Path::new(&file.path)) {
                continue;
            }
            let text = reader.read(&file, disk::MAX_TEXT_MIB).map_err(failed)?;
            bytes += text.len() as u64;
            if bytes > u64::from(disk::MAX_TEXT_MIB) << 20 {
                return Err(Stop::Rejected(format!(
                    "the schema of {name} has more than {} MiB",
                    disk::MAX_TEXT_MIB
                )));
            }
            sources.push(Source { path: file.path, text });
        }
    }
    if sources.is_empty() {
        print::err_line(&format!(
            "note: {name} has no {LOCK_FILE}, and no schema where it is now, so every tool counts as new"
        ));
    }
    Ok(locked(&project, &project.model_of(Sources::new(sources))?))
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Project(failure)
    }
}

impl From<For> for Viewpoint {
    fn from(viewpoint: For) -> Self {
        match viewpoint {
            For::Caller => Self::Caller,
            For::Model => Self::Model,
            For::Reader => Self::Reader,
            For::Implementer => Self::Implementer,
            For::Rust => Self::Rust,
        }
    }
}

impl From<ReportFormat> for Format {
    fn from(format: ReportFormat) -> Self {
        match format {
            ReportFormat::Human => Self::Human,
            ReportFormat::Json => Self::Json,
            ReportFormat::Sarif => Self::Sarif,
            ReportFormat::Github => Self::Github,
            ReportFormat::Markdown => Self::Markdown,
        }
    }
}
