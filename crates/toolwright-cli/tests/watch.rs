//! Tests `toolwright gen --watch` while files are edited.

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

const SCHEMA: &str = include_str!("greeter.yaml");

/// Longer than a run takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

struct Watching {
    folder: tempfile::TempDir,
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn begin(files: &[(&str, &str)]) -> Self {
        Self::begin_in("", files)
    }

    /// Starts the command in a folder of these files.
    fn begin_in(subfolder: &str, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            put(&folder.path().join(path), text);
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolwright"))
            .args(["gen", "--watch"])
            .current_dir(folder.path().join(subfolder))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        for stream in [Box::new(out) as Box<dyn Read + Send>, Box::new(err)] {
            let sender = sender.clone();
            thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let _ = sender.send(line);
                }
            });
        }
        Self { folder, child, lines }
    }

    /// Waits for a line and for the end of its report. Returns all lines until then.
    fn until(&self, part: &str) -> Vec<String> {
        let mut lines = Vec::new();
        let has =
            |lines: &[String], part: &str| lines.iter().any(|line: &String| line.contains(part));
        while !(has(&lines, part) && has(&lines, "watching for changes")) {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => lines.push(line),
                Err(error) => panic!("no `{part}`, {error}: {lines:#?}"),
            }
        }
        lines
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn every_change_is_generated_also_after_an_invalid_one() {
    let watching = Watching::begin(&[("schema/greeter.yaml", SCHEMA)]);
    watching.until("0 unchanged");
    let schema = watching.path("schema/greeter.yaml");
    let types = watching.path("gen/greeter/service/src/service.rs");
    let good = fs::read_to_string(&types).unwrap();

    put(&schema, "toolwright: [");
    let told = watching.until("nothing was written");
    assert!(told.iter().any(|line| line.contains("error[yaml-syntax]")), "{told:#?}");
    assert_eq!(fs::read_to_string(&types).unwrap(), good);

    put(&schema, SCHEMA);
    watching.until("all errors are fixed");

    // Editors save a new file and move it over the old one.
    let saved = watching.path("schema/.greeter.yaml.swp");
    put(&saved, &format!("{SCHEMA}# a remark\n"));
    fs::rename(&saved, &schema).unwrap();
    watching.until("0 written");
}

/// Also if the project could not be opened before, and from a folder below that of the project.
#[test]
fn changes_of_the_configuration_and_of_dialects_are_noticed() {
    const ROW: &str = "[[dialect]]\nid = \"acme\"\nasof = \"2026-01\"\ninherits = \"openai-chat-strict\"\n\
        confidence = \"D\"\nevidence = [\"D\"]\n";
    let config = "[dialects]\nfiles = [\"rows/acme.toml\"]\ntargets = [\"acme\"]\n";
    let files =
        [("schema/greeter.yaml", SCHEMA), ("toolwright.toml", config), ("rows/acme.toml", "[")];
    let watching = Watching::begin_in("schema", &files);
    watching.until("nothing was written");
    put(&watching.path("rows/acme.toml"), ROW);
    watching.until("all errors are fixed");
    put(&watching.path("rows/acme.toml"), &ROW.replace("acme", "other"));
    watching.until("nothing was written");
    put(&watching.path("toolwright.toml"), &config.replace("[\"acme\"]", "[\"other\"]"));
    watching.until("all errors are fixed");
}

#[test]
fn added_and_removed_files_folders_and_configurations_are_noticed() {
    let watching = Watching::begin(&[("schema/greeter.yaml", SCHEMA)]);
    watching.until("0 unchanged");

    put(
        &watching.path("schema/deep/other.yaml"),
        "toolwright: 1\nservice: other\ntypes: { A: { type: string } }\n",
    );
    watching.until("3 crates");
    assert!(watching.path("gen/other/service").exists());

    fs::rename(watching.path("schema"), watching.path("away")).unwrap();
    watching.until("missing-schema");
    put(&watching.path("toolwright.toml"), "[project]\nschema = \"away\"\n");
    watching.until("all errors are fixed");

    fs::remove_dir_all(watching.path("away/deep")).unwrap();
    watching.until("removed");
    assert!(!watching.path("gen/other").exists());
}

#[test]
fn changed_output_is_restored_and_a_run_does_not_start_another() {
    let watching = Watching::begin(&[("schema/greeter.yaml", SCHEMA)]);
    watching.until("0 unchanged");
    let types = watching.path("gen/greeter/service/src/service.rs");
    let good = fs::read_to_string(&types).unwrap();

    fs::remove_file(&types).unwrap();
    watching.until("1 written");
    assert_eq!(fs::read_to_string(&types).unwrap(), good);

    put(&types, &format!("{good}// mine\n"));
    watching.until("1 written");
    assert_eq!(fs::read_to_string(&types).unwrap(), good);

    fs::rename(watching.path("gen"), watching.path("away")).unwrap();
    watching.until("0 unchanged");
    assert_eq!(fs::read_to_string(&types).unwrap(), good);

    // Changes of foreign files do not start a run.
    let foreign = watching.path("gen/greeter/notes.txt");
    put(&foreign, "mine");
    assert_eq!(watching.lines.recv_timeout(Duration::from_secs(1)).ok(), None);
    fs::remove_file(foreign).unwrap();

    // Writing to a file beside the schemas, such as a log, does not either.
    let log = watching.path("log");
    put(&log, "");
    watching.until("0 written");
    fs::write(&log, "gen: 1 crate").unwrap();
    let line = watching.lines.recv_timeout(Duration::from_secs(1));
    assert!(line.is_err(), "{line:?}");
}

#[test]
fn output_into_a_pipe_has_no_terminal_sequences() {
    let watching = Watching::begin(&[("schema/greeter.yaml", SCHEMA)]);
    let told = watching.until("0 unchanged");
    assert!(told.iter().all(|line| !line.contains(['\u{1b}', '\r'])), "{told:?}");
}
