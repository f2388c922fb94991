//! `cargo xtask first-hour`: does what a new user does, with only the packages of `cargo xtask registry`: installs the command,
//! creates a project, tests it, edits its schema and generates again.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;
use std::{env, fs, io};

use crate::{End, registry};

pub(crate) fn run() -> End {
    let begun = Instant::now();
    let done = registry::create().and_then(|registry| {
        let user = User::new(&registry)?;
        let done = user.first_hour();
        // The folder of a failed run is kept for inspection.
        match &done {
            Ok(()) => fs::remove_dir_all(&user.folder).map_err(|error| error.to_string())?,
            Err(_) => eprintln!("\nnote: the project is in {}", user.folder.display()),
        }
        done
    });
    match done {
        Ok(()) => {
            println!("\nfirst-hour: everything worked, in {} s", begun.elapsed().as_secs());
            End::Done
        }
        Err(error) => {
            eprintln!("\nerror: {error}");
            End::Failed
        }
    }
}

/// The first messages of an MCP client.
const MESSAGES: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"first-hour","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
"#;

/// A user who has Rust and the registry.
struct User {
    /// The working folder, outside of this repository.
    folder: PathBuf,
}

impl User {
    fn new(registry: &Path) -> Result<Self, String> {
        let folder = env::temp_dir().join(format!("toolwright-first-hour-{}", std::process::id()));
        let config = fs::read_to_string(registry.join("config.toml"));
        let set_up = || -> io::Result<()> {
            fs::create_dir_all(folder.join("cargo"))?;
            fs::write(folder.join("cargo/config.toml"), config?)
        };
        set_up().map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        Ok(Self { folder })
    }

    fn first_hour(&self) -> Result<(), String> {
        self.succeeds(".", &["cargo", "install", "--debug", "toolwright-cli"])?;
        self.succeeds(".", &["toolwright", "init", "tracker", "--mcp", "--agent"])?;
        self.succeeds("tracker", &["cargo", "test"])?;
        self.call_server()?;
        self.succeeds("tracker", &["toolwright", "gen", "--check"])?;

        let schema = self.edit_description()?;
        if self.command("tracker", &["toolwright", "gen", "--check"])?.status.success() {
            return Err(format!(
                "`toolwright gen --check` does not notice that {schema} was edited"
            ));
        }
        self.succeeds("tracker", &["toolwright", "gen"])?;
        self.succeeds("tracker", &["toolwright", "gen", "--check"])?;
        self.succeeds("tracker", &["cargo", "test"])
    }

    /// Starts the MCP server of the project, and checks that it lists its tools.
    fn call_server(&self) -> Result<(), String> {
        let messages = self.folder.join("messages.jsonl");
        let asked = fs::write(&messages, MESSAGES).and_then(|()| fs::File::open(&messages));
        let asked = asked.map_err(|error| format!("{}: {error}", messages.display()))?;
        let server = self.output("tracker", &["cargo", "run", "--", "mcp"], asked.into())?;
        let answers = String::from_utf8_lossy(&server.stdout);
        if answers.contains("\"protocolVersion\"") && answers.contains("\"close_issue\"") {
            Ok(())
        } else {
            Err(format!("the MCP server does not list `close_issue`:\n{answers}"))
        }
    }

    /// Adds a word to the first description of the schema. Returns the path of its file.
    fn edit_description(&self) -> Result<String, String> {
        let folder = self.folder.join("tracker/schema");
        let edit = || -> io::Result<Option<String>> {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                let text = fs::read_to_string(&path)?;
                if text.contains("description: ") {
                    let edited = text.replacen("description: ", "description: Edited. ", 1);
                    fs::write(&path, edited)?;
                    return Ok(Some(path.display().to_string()));
                }
            }
            Ok(None)
        };
        let edited =
            edit().map_err(|error| format!("cannot edit {}: {error}", folder.display()))?;
        edited.ok_or_else(|| format!("no file in {} has a description", folder.display()))
    }

    /// Runs a command line in one of the user's folders. If it fails, the error has its output.
    fn succeeds(&self, folder: &str, line: &[&str]) -> Result<(), String> {
        let begun = Instant::now();
        let output = self.command(folder, line)?;
        if output.status.success() {
            println!("   {} s", begun.elapsed().as_secs());
            return Ok(());
        }
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed);
        Err(format!("`{}` failed ({}):\n{printed}", line.join(" "), output.status))
    }

    fn command(&self, folder: &str, line: &[&str]) -> Result<Output, String> {
        self.output(folder, line, Stdio::null())
    }

    fn output(&self, folder: &str, line: &[&str], input: Stdio) -> Result<Output, String> {
        println!("\n== {}", line.join(" "));
        let mut command = Command::new(self.program(line[0]));
        command.args(&line[1..]).current_dir(self.folder.join(folder)).stdin(input);
        // Cargo sets variables about this repository for the programs that it starts.
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("CARGO") {
                command.env_remove(name);
            }
        }
        command
            .env("CARGO_HOME", self.folder.join("cargo"))
            // The command and the project share dependencies.
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
        command.output().map_err(|error| format!("`{}` did not start: {error}", line.join(" ")))
    }

    /// The path of a program that cargo installed, otherwise the name alone.
    fn program(&self, name: &str) -> PathBuf {
        let file = format!("{name}{}", env::consts::EXE_SUFFIX);
        let installed = self.folder.join("cargo/bin").join(file);
        if installed.is_file() { installed } else { name.into() }
    }
}
