//! Imports from running servers: real ones, which are installed into the target folder, and scripts with faults.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use toolwright_prerequisites::{Npm, Prerequisite, PyPi, has, or_skip};

use super::{text, toolwright};

/// A server whose argument names its fault.
const SCRIPT: &str = include_str!("servers/script.py");

fn pinned(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/servers").join(file)
}

/// The folder in which packages of a registry are installed.
fn installed(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("import").join(kind)
}

/// Returns the command of the npm package's server, or records a skip and returns `None` if it cannot be installed.
fn everything() -> Option<Vec<String>> {
    let npm = or_skip(Npm::install(&pinned(""), &installed("npm")))?;
    let script = npm.file("@modelcontextprotocol/server-everything/dist/index.js");
    Some(vec!["node".to_owned(), script.display().to_string()])
}

/// Like [`everything`] for the Python package's server.
fn time() -> Option<Vec<String>> {
    let pypi = or_skip(PyPi::install(&pinned(""), &installed("pypi")))?;
    let program = pypi.program("mcp-server-time").display().to_string();
    Some(vec![program, "--local-timezone=UTC".to_owned()])
}

/// Imports twice from a server, and returns the file and the output.
fn import_twice(server: &[String]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let import = || {
        let mut arguments: Vec<&str> =
            "import mcp --toolset live --service live --timeout 2m --date 2026-11-22 -o live.yaml --"
                .split(' ')
                .collect();
        arguments.extend(server.iter().map(String::as_str));
        toolwright(folder.path(), &arguments)
    };
    let output = import();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let file = fs::read_to_string(folder.path().join("live.yaml")).unwrap();
    let check = toolwright(folder.path(), &["check", "live.yaml"]);
    assert_eq!(check.status.code(), Some(0), "{}", text(&check.stderr));
    let again = import();
    assert!(text(&again.stdout).contains("no change: live.yaml"), "{}", text(&again.stdout));
    (file, text(&output.stdout).to_owned())
}

#[test]
fn a_server_written_in_typescript_is_imported_from_its_command() {
    let Some(server) = everything() else { return };
    let (file, printed) = import_twice(&server);
    for part in
        ["name: mcp-servers/everything", "protocol: ", "remote: get-sum", "date: \"2026-11-22\""]
    {
        assert!(file.contains(part), "no {part} in {file}");
    }
    assert!(printed.starts_with("import: ") && !printed.contains(" 0 tools"), "{printed}");
}

#[test]
fn a_server_written_in_python_is_imported_from_its_command() {
    let Some(server) = time() else { return };
    let (file, printed) = import_twice(&server);
    for part in ["name: mcp-time", "get_current_time:", "convert_time:", "date: \"2026-11-22\""] {
        assert!(file.contains(part), "no {part} in {file}");
    }
    assert!(printed.starts_with("import: 2 tools"), "{printed}");
}

/// Returns the message of an import that fails.
fn failure(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("server.py"), SCRIPT).unwrap();
    let start = "import mcp --toolset live --service live -o live.yaml".split(' ');
    let started = Instant::now();
    let output =
        toolwright(folder.path(), &start.chain(arguments.iter().copied()).collect::<Vec<_>>());
    let printed = text(&output.stderr).to_owned();
    assert!(
        started.elapsed() < Duration::from_mins(3),
        "{arguments:?} took {:?}",
        started.elapsed()
    );
    assert_eq!(output.status.code(), Some(3), "{arguments:?}: {printed}");
    assert!(!folder.path().join("live.yaml").exists(), "{arguments:?}");
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
    printed
}

#[test]
fn a_failing_server_is_reported_with_a_reason() {
    if !has(&[Prerequisite::Python]) {
        return;
    }
    let cases: [(&[&str], &[&str]); 8] = [
        (
            &["--", "no-such-command-anywhere"],
            &["`no-such-command-anywhere`", "could not be started"],
        ),
        (
            &["--", "python3", "server.py", "exits"],
            &["could not be reached", "last lines of its standard error", "  no configuration"],
        ),
        (&["--timeout", "4s", "--", "python3", "server.py", "silent"], &["did not answer within"]),
        (&["--timeout", "4s", "--", "python3", "server.py", "greets"], &["did not answer within"]),
        (
            &["--timeout", "30s", "--", "python3", "server.py", "toolless"],
            &["-32601", "no such method"],
        ),
        (
            &["--timeout", "30s", "--", "python3", "server.py", "endless"],
            &["the list of tools has more than"],
        ),
        (
            &["--timeout", "30s", "--", "python3", "server.py", "huge"],
            &["more than 16777216 bytes"],
        ),
        (
            &["--url", "http://127.0.0.1:9/mcp"],
            &["`http://127.0.0.1:9/mcp`", "could not be reached"],
        ),
    ];
    for (arguments, parts) in cases {
        let printed = failure(arguments);
        for part in parts {
            assert!(printed.contains(part), "{arguments:?}: no {part:?} in {printed}");
        }
        assert!(printed.contains("nothing was written"), "{printed}");
        assert!(!printed.contains('\u{1b}'), "a server steers the terminal: {printed:?}");
    }
}

/// A value in place of the name is not shown.
#[test]
fn a_variable_that_is_not_set_is_reported_before_connecting_and_without_its_name() {
    for (options, expected) in [
        ("--url http://127.0.0.1:9 --bearer-env s3cret", "variable of --bearer-env is empty"),
        ("--env PATH --env KEY=s3cret -- true", "the name of --env number 2; set it"),
    ] {
        for command in ["import mcp --toolset live --service live", "lock remote live"] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("schema")).unwrap();
            std::fs::write(folder.path().join("schema/a.yaml"), "toolwright: 1\n").unwrap();
            let arguments = format!("{command} {options}");
            let output = toolwright(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
            let printed = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{printed}");
            assert!(printed.contains(expected), "{printed}");
            assert!(!printed.contains("s3cret"), "{printed}");
        }
    }
}

/// An HTTP server that ends with the test.
struct Guarded(Child, String);

impl Guarded {
    fn start() -> Self {
        let mut server = Command::new("python3")
            .arg(pinned("guarded.py"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is there");
        let mut port = String::new();
        BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut port).unwrap();
        let url = format!("http://127.0.0.1:{}/mcp", port.trim());
        Self(server, url)
    }

    /// Imports with a token, and returns the output.
    fn import(&self, token: &str) -> Output {
        let flags = ["--header", "X-Team: tools", "--bearer-env", "TOOLWRIGHT_TRIED_TOKEN"];
        Command::new(env!("CARGO_BIN_EXE_toolwright"))
            .args(["import", "mcp", "--toolset", "live", "--service", "live", "--url", &self.1])
            .args(flags)
            .env("TOOLWRIGHT_TRIED_TOKEN", token)
            .output()
            .unwrap()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).expect("the server was ours to end");
    }
}

#[test]
fn all_pages_of_an_http_server_are_requested_with_token_and_headers() {
    if !has(&[Prerequisite::Python]) {
        return;
    }
    let server = Guarded::start();
    let output = server.import("open sesame");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let file = text(&output.stdout);
    let parts = [
        "      first: {",
        "      second: {",
        "from: { name: guarded, version: \"3\", protocol: \"2025-11-25\" }",
    ];
    for part in parts {
        assert!(file.contains(part), "no {part} in {file}");
    }
    let refused = server.import("a wrong token");
    assert_eq!(refused.status.code(), Some(3));
    let printed = text(&refused.stderr);
    assert!(printed.contains("401") && !printed.contains("a wrong token"), "{printed}");
}
