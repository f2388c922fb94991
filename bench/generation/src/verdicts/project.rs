//! A package with a module of generated code for each schema. It is compiled without the modules that do not compile, and run
//! on instances.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use serde_json::Value;

/// The manifest, with the dependencies of the generated code.
const MANIFEST: &str = "[package]
name = \"verdicts\"
version = \"0.0.0\"
edition = \"2021\"

[workspace]

[dependencies]
chrono = { version = \"0.4\", features = [\"serde\"] }
regress = \"0.12\"
serde = { version = \"1\", features = [\"derive\"] }
serde_json = \"1\"
uuid = { version = \"1\", features = [\"serde\"] }

[profile.dev]
debug = false
";

/// Reads lines with a module and a text, and prints for each whether the text decodes.
const MAIN: &str = "
fn main() {
    for line in std::io::stdin().lines() {
        let line = line.expect(\"standard input is text\");
        let (module, text) = line.split_once(' ').expect(\"a module and a text\");
        println!(\"{}\", reads(module, text));
    }
}
";

pub(super) struct Project {
    folder: PathBuf,
}

impl Project {
    /// Creates the package in a folder, and keeps an earlier target folder there.
    pub(super) fn new(folder: &Path, lock: &Path) -> io::Result<Self> {
        let source = folder.join("src");
        if source.exists() {
            fs::remove_dir_all(&source)?;
        }
        fs::create_dir_all(&source)?;
        fs::write(folder.join("Cargo.toml"), MANIFEST)?;
        fs::copy(lock, folder.join("Cargo.lock"))?;
        Ok(Self { folder: folder.to_owned() })
    }

    pub(super) fn add(&mut self, module: usize, code: &str) -> io::Result<()> {
        fs::write(self.folder.join(format!("src/m{module}.rs")), code)
    }

    /// Compiles the package without the modules that do not compile, and returns those. The compiler does not report all errors
    /// at once, so this repeats until there are none.
    pub(super) fn compile(&self, modules: usize) -> io::Result<BTreeSet<usize>> {
        let mut uncompiled = BTreeSet::new();
        loop {
            let kept = (0..modules).filter(|module| !uncompiled.contains(module));
            fs::write(self.folder.join("src/main.rs"), main(kept))?;
            let output = self.cargo(&["build", "--message-format", "json"]).output()?;
            if output.status.success() {
                return Ok(uncompiled);
            }
            let before = uncompiled.len();
            let messages = String::from_utf8_lossy(&output.stdout);
            uncompiled.extend(messages.lines().filter_map(broken_module));
            if uncompiled.len() == before {
                let printed = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(io::Error::other(format!("the error is in no module: {printed}")));
            }
        }
    }

    /// Returns for each text whether it decodes with its module.
    pub(super) fn read(&self, texts: &[(usize, &str)]) -> io::Result<Vec<bool>> {
        let mut lines = String::new();
        for (module, text) in texts {
            // In JSON, line breaks occur only between tokens.
            let _ = writeln!(lines, "{module} {}", text.replace(['\n', '\r'], " "));
        }
        let mut child = self
            .cargo(&["run", "--quiet"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let mut input = child.stdin.take().ok_or_else(|| io::Error::other("the input is piped"))?;
        let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
        let output = child.wait_with_output()?;
        writer.join().map_err(|_| io::Error::other("the writer panicked"))??;
        let read: Vec<bool> =
            String::from_utf8_lossy(&output.stdout).lines().map(|line| line == "true").collect();
        if output.status.success() && read.len() == texts.len() {
            return Ok(read);
        }
        let (found, expected) = (read.len(), texts.len());
        Err(io::Error::other(format!("the program ended after {found} of {expected} texts")))
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).current_dir(&self.folder);
        command.env("CARGO_TARGET_DIR", self.folder.join("target")).env("RUSTFLAGS", "-A warnings");
        command
    }
}

fn main(modules: impl Iterator<Item = usize>) -> String {
    let (mut declared, mut arms) = (String::new(), String::new());
    for module in modules {
        let _ = writeln!(declared, "mod m{module};");
        let _ = writeln!(arms, "        \"{module}\" => m{module}::reads(text),");
    }
    format!(
        "{declared}{MAIN}\nfn reads(module: &str, text: &str) -> bool {{\n    match module {{\n{arms}        \
         _ => panic!(\"no such module\"),\n    }}\n}}\n"
    )
}

/// Returns the module of a compiler error.
fn broken_module(line: &str) -> Option<usize> {
    let message: Value = serde_json::from_str(line).ok()?;
    let message = message.get("message").filter(|message| message["level"] == "error")?;
    let spans = message["spans"].as_array()?;
    let span = spans.iter().find(|span| span["is_primary"] == true)?;
    span["file_name"].as_str()?.strip_prefix("src/m")?.strip_suffix(".rs")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_with_an_error_is_broken() {
        let line = |level: &str, file: &str| {
            format!(
                r#"{{"message":{{"level":"{level}","spans":[{{"is_primary":true,"file_name":"{file}"}}]}}}}"#
            )
        };
        assert_eq!(broken_module(&line("error", "src/m17.rs")), Some(17));
        assert_eq!(broken_module(&line("warning", "src/m17.rs")), None);
        assert_eq!(broken_module(&line("error", "src/main.rs")), None);
        assert_eq!(broken_module("{}"), None);
    }
}
