//! Programs of a list, run without a shell between: a program, its arguments, and nothing that either could mean to an
//! interpreter.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::oneshot;
use toolwright::spec::{ToolAnnotations, ToolsetInfo};
use toolwright::{FailureKind, Recovery, Scope, ToolFailure, ToolSpec};
use toolwright_runtime::tools::{IntoSource, Json};
use toolwright_runtime::{FunctionTool, Source, Toolset};

use crate::rejected;

static SHELL: ToolsetInfo = ToolsetInfo {
    name: "shell",
    description: "Programs of this machine that may be run.",
    service: "toolwright",
};

/// Nothing here knows the effects of a program.
const RUNS: ToolAnnotations = ToolAnnotations {
    read_only: Some(false),
    destructive: Some(true),
    idempotent: Some(false),
    open_world: Some(true),
};

/// How long output is read on after a program has ended, where something that it started keeps its pipes open.
const LATE_OUTPUT: Duration = Duration::from_millis(200);

/// How long the end of a program that was killed is waited for.
const END: Duration = Duration::from_secs(1);

type Rule = Arc<dyn Fn(&str, &[String]) -> Result<(), String> + Send + Sync>;

/// Programs that may be run in a folder, as the tool `run_program`.
///
/// A program gets the arguments of the call as they are, an environment that holds what was set here and nothing else, no
/// input, and its own process group, which is killed when the program ends, when its time is up and when the call is given
/// up.
///
/// What a program can reach, a call can reach. List no program that a tool can overwrite. List programs that are harmless with
/// any arguments, restrict the arguments of others with [`ShellBuilder::with_rule`], and have people approve the rest. Programs
/// follow links, which no rule sees: give them a folder into which nobody else can put any.
///
/// ```
/// use toolwright::spec::Approval;
/// use toolwright_builtins::shell::Shell;
/// use toolwright_runtime::{Registry, Toolset};
///
/// let folder = tempfile::tempdir()?;
/// let shell = Shell::builder(folder.path())
///     .with_program("/bin/ls")
///     .with_program("/bin/cat")
///     .with_rule(|_, args| {
///         let leads_out = args.iter().any(|arg| arg.contains('/') || arg == "..");
///         if leads_out { Err("names in this folder".to_owned()) } else { Ok(()) }
///     })
///     .build()?;
/// let registry = Registry::new();
/// registry.register_toolset("shell", move |_| {
///     shell.toolset().requiring_approval(Approval::default(), |_| true)
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Shell {
    folder: PathBuf,
    /// The programs by their names.
    programs: BTreeMap<String, Program>,
    environment: BTreeMap<OsString, OsString>,
    rules: Vec<Rule>,
    time_limit: Duration,
    output_limit: usize,
}

/// A program as it was listed, and the file that was there.
#[derive(Clone, Debug)]
struct Program {
    listed: PathBuf,
    /// Without links.
    file: PathBuf,
}

/// Makes a [`Shell`].
#[derive(Clone)]
pub struct ShellBuilder {
    shell: Shell,
    listed: Vec<PathBuf>,
}

impl fmt::Debug for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of the environment may be secrets.
        f.debug_struct("Shell")
            .field("folder", &self.folder)
            .field("programs", &self.programs)
            .field("environment", &self.environment.keys())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ShellBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShellBuilder")
            .field("shell", &self.shell)
            .field("listed", &self.listed)
            .finish()
    }
}

impl Shell {
    /// No program yet, to be run in a folder.
    pub fn builder(folder: impl Into<PathBuf>) -> ShellBuilder {
        let shell = Self {
            folder: folder.into(),
            programs: BTreeMap::new(),
            environment: BTreeMap::new(),
            rules: Vec::new(),
            time_limit: Duration::from_mins(1),
            output_limit: 50_000,
        };
        ShellBuilder { shell, listed: Vec::new() }
    }

    /// A factory of toolsets, to be registered.
    pub fn source(self) -> Source {
        (move |_: Scope| self.toolset()).into_source()
    }

    /// A toolset, for factories of your own.
    pub fn toolset(&self) -> impl Toolset + use<> {
        let names: Vec<_> = self.programs.keys().map(String::as_str).collect();
        let mut spec = ToolSpec::new("run_program").in_toolset(&SHELL).with_annotations(RUNS);
        spec.set_description(format!(
            "Run a program without a shell: no pipes, globs or variables, no input. It may take {} seconds. The programs are: {}.",
            self.time_limit.as_secs_f64(),
            names.join(", ")
        ));
        let shell = Arc::new(self.clone());
        FunctionTool::new(spec, move |call: Run| {
            let shell = Arc::clone(&shell);
            async move { shell.run(&call).await.map(Json) }
        })
    }
}

impl ShellBuilder {
    /// Allows a program, by its absolute path. Calls name it by the last part of that. A link is followed once, when the shell
    /// is built.
    #[must_use]
    pub fn with_program(mut self, path: impl Into<PathBuf>) -> Self {
        self.listed.push(path.into());
        self
    }

    /// Adds a rule that sees each program's name and arguments, and says in an error what it expected instead.
    #[must_use]
    pub fn with_rule(
        mut self,
        rule: impl Fn(&str, &[String]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.shell.rules.push(Arc::new(rule));
        self
    }

    /// Sets a variable of the environment of all programs, which is empty otherwise.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.shell.environment.insert(name.into(), value.into());
        self
    }

    /// Sets how long a program may run; a minute if not set.
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.shell.time_limit = limit;
        self
    }

    /// Sets how many bytes of output and of error output are kept, each; 50,000 if not set.
    #[must_use]
    pub fn with_output_limit(mut self, bytes: usize) -> Self {
        self.shell.output_limit = bytes;
        self
    }

    /// The shell.
    ///
    /// # Errors
    ///
    /// The folder is none; a program's path is not absolute, leads to no file or leads below the folder, where calls could
    /// replace it; two programs have one name.
    pub fn build(self) -> io::Result<Shell> {
        let mut shell = self.shell;
        let invalid = |words: String| io::Error::new(io::ErrorKind::InvalidInput, words);
        let Some(folder) = shell.folder.canonicalize().ok().filter(|folder| folder.is_dir()) else {
            return Err(invalid(format!("`{}` is no folder", shell.folder.display())));
        };
        shell.folder = folder;
        for listed in self.listed {
            let name = listed.file_name().and_then(|name| name.to_str()).map(str::to_owned);
            let file = listed.canonicalize().ok().filter(|file| file.is_file());
            let (Some(name), Some(file), true) = (name, file, listed.is_absolute()) else {
                let path = listed.display();
                return Err(invalid(format!("`{path}` is no program, expected its absolute path")));
            };
            let path = listed.display().to_string();
            if [&listed, &file].iter().any(|path| path.starts_with(&shell.folder)) {
                let folder = shell.folder.display();
                return Err(invalid(format!(
                    "`{path}` is in the folder `{folder}`, where a call could replace it, expected a program outside"
                )));
            }
            if let Some(other) = shell.programs.insert(name, Program { listed, file }) {
                let (one, other) = (other.listed.display(), path);
                return Err(invalid(format!("`{one}` and `{other}` have one name; leave one out")));
            }
        }
        Ok(shell)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Run {
    /// The program's name.
    #[schemars(length(min = 1, max = 255))]
    program: String,
    /// Its arguments, one by one and unquoted.
    #[serde(default)]
    #[schemars(length(max = 1000), inner(length(max = 100_000)))]
    args: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Ran {
    /// The exit status of the program; 0 is success. Null if a signal ended it.
    exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    stdout: String,
    stderr: String,
    /// How many bytes of output were left out at the end of both, together.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Shell {
    async fn run(&self, Run { program, args }: &Run) -> Result<Ran, ToolFailure> {
        let found = self.program_of(program, args)?;
        let child_signals =
            unix::signal(SignalKind::child()).map_err(|error| ToolFailure::internal(&error))?;
        let mut child = self.command(found, args).spawn().map_err(|error| {
            rejected(format!("`{program}` cannot be started: {error}"))
                .with_detail(found.file.display().to_string())
        })?;
        let mut output = Output::new(self.output_limit);
        let mut errors = Output::new(self.output_limit);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let group = Group::of(&child);
        let (ending, ended) = oneshot::channel::<()>();
        let running = async {
            let ended = tokio::time::timeout(self.time_limit, exited(group.0, child_signals)).await;
            // Whatever the program has started and left running ends here, also if this future is dropped.
            drop((group, ending));
            ended.is_ok()
        };
        let reading = async {
            let all = async { tokio::join!(output.fill(stdout), errors.fill(stderr)) };
            let late = async {
                // The sender is dropped, which is an error and the sign that was waited for.
                let _ = ended.await;
                tokio::time::sleep(LATE_OUTPUT).await;
            };
            tokio::select! { _ = all => {}, () = late => {} }
        };
        let (in_time, ()) = tokio::join!(running, reading);
        // A program that runs as another user may not be killed.
        let status = tokio::time::timeout(END, child.wait()).await;
        let left_out = output.left_out + errors.left_out;
        let (stdout, stderr) = (output.into_text(), errors.into_text());
        let Some(status) = status.as_ref().ok().filter(|_| in_time) else {
            let seconds = self.time_limit.as_secs_f64();
            let end = match status {
                Ok(_) => "was killed, with all it had started",
                Err(_) => "cannot be killed",
            };
            return Err(ToolFailure::new(
                FailureKind::Timeout,
                format!(
                    "`{program}` took longer than {seconds} seconds and {end}; its output until then: {}{}",
                    excerpt(&stdout),
                    excerpt(&stderr)
                ),
                Recovery::Replan,
            ));
        };
        let status = status.as_ref().map_err(|error| ToolFailure::internal(error))?;
        Ok(Ran { exit_code: status.code(), signal: status.signal(), stdout, stderr, left_out })
    }

    /// A program that is listed, if the rules have nothing against the arguments.
    fn program_of(&self, program: &str, args: &[String]) -> Result<&Program, ToolFailure> {
        let denied = |message| ToolFailure::new(FailureKind::Denied, message, Recovery::Replan);
        let Some(found) = self.programs.get(program) else {
            let names: Vec<_> = self.programs.keys().map(String::as_str).collect();
            return Err(denied(format!(
                "`{program}` may not be run, expected one of: {}",
                names.join(", ")
            )));
        };
        if args.iter().any(|arg| arg.contains('\0')) {
            return Err(rejected(
                "an argument holds a NUL character, which no program can be given",
            ));
        }
        for rule in &self.rules {
            rule(program, args).map_err(|expected| {
                denied(format!(
                    "these arguments of `{program}` are not allowed, expected {expected}"
                ))
            })?;
        }
        Ok(found)
    }

    fn command(&self, program: &Program, args: &[String]) -> Command {
        let mut command = Command::new(&program.file);
        command
            // Some programs are several, and go by this.
            .arg0(&program.listed)
            .args(args)
            .current_dir(&self.folder)
            .env_clear()
            .envs(&self.environment)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command
    }
}

/// The process group of a child, which is killed when this is dropped. The child has to be waited for only after that:
/// until then its id, which is the group's, is nobody else's.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // An error says that nothing is left of the group.
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        }
    }
}

/// Waits until a child has exited, and leaves it to be waited for. No thread is blocked meanwhile: the signals say when to look,
/// which were asked for before the child was started.
async fn exited(pid: Option<Pid>, mut child_signals: unix::Signal) {
    let Some(pid) = pid else { return };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while let Ok(None) = rustix::process::waitid(WaitId::Pid(pid), options) {
        child_signals.recv().await;
    }
}

/// The beginning of what a program writes.
struct Output {
    kept: Vec<u8>,
    limit: usize,
    left_out: u64,
}

impl Output {
    fn new(limit: usize) -> Self {
        Self { kept: Vec::new(), limit, left_out: 0 }
    }

    /// Reads to the end: a program whose output nobody takes would wait for ever.
    async fn fill(&mut self, pipe: Option<impl AsyncRead + Unpin>) {
        let Some(mut pipe) = pipe else { return };
        let mut buffer = vec![0; 8192];
        // A pipe that breaks is one that has ended.
        while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
            let kept = read.min(self.limit - self.kept.len());
            self.kept.extend_from_slice(&buffer[..kept]);
            self.left_out += (read - kept) as u64;
        }
    }

    fn into_text(self) -> String {
        String::from_utf8_lossy(&self.kept).into_owned()
    }
}

/// The end of a text, short enough for a message.
fn excerpt(text: &str) -> &str {
    let start = text.len().saturating_sub(1000);
    &text[text.ceil_char_boundary(start)..]
}
