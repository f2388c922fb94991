//! Imports from running servers: real ones, which are installed into the target folder, and scripts that behave badly.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::{text, toolwright};

/// A server with the fault that its argument names.
const SCRIPT: &str = include_str!("servers/script.py");

fn pinned(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/servers").join(file)
}

/// Installs what a pinned file names, once for every version of that file.
fn installed(file: &str, install: impl FnOnce(&Path)) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file.replace('.', "-"));
    let pinned = fs::read(pinned(file)).unwrap();
    let is_current = fs::read(folder.join("done")).is_ok_and(|known| known == pinned);
    if !is_current {
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(file), &pinned).unwrap();
        install(&folder);
        fs::write(folder.join("done"), pinned).unwrap();
    }
    folder
}

fn run(program: impl AsRef<OsStr>, arguments: &[&str], folder: &Path) {
    let name = program.as_ref().display().to_string();
    let status = Command::new(program).args(arguments).current_dir(folder).status();
    let status = status.unwrap_or_else(|error| panic!("{name} could not be started: {error}"));
    assert!(status.success(), "{name} could not install what {} names", folder.display());
}

/// The npm package's server, as a command.
fn everything() -> Vec<String> {
    let folder = installed("package.json", |folder| {
        let flags = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"];
        run("npm", &flags, folder);
    });
    let script = folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    vec!["node".to_owned(), script.display().to_string()]
}

/// The Python package's server, as a command.
fn time() -> Vec<String> {
    let folder = installed("requirements.txt", |folder| {
        run("python3", &["-m", "venv", "venv"], folder);
        run(folder.join("venv/bin/pip"), &["install", "--quiet", "-r", "requirements.txt"], folder);
    });
    vec![
        folder.join("venv/bin/mcp-server-time").display().to_string(),
        "--local-timezone=UTC".to_owned(),
    ]
}

/// Imports twice from one server; the file, and what was said.
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
    let (file, said) = import_twice(&everything());
    for part in
        ["name: mcp-servers/everything", "protocol: ", "remote: get-sum", "date: \"2026-11-22\""]
    {
        assert!(file.contains(part), "no {part} in {file}");
    }
    assert!(said.starts_with("import: ") && !said.contains(" 0 tools"), "{said}");
}

#[test]
fn a_server_written_in_python_is_imported_from_its_command() {
    let (file, said) = import_twice(&time());
    for part in ["name: mcp-time", "get_current_time:", "convert_time:", "date: \"2026-11-22\""] {
        assert!(file.contains(part), "no {part} in {file}");
    }
    assert!(said.starts_with("import: 2 tools"), "{said}");
}

/// What is said about a server that cannot be imported from.
fn failure(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("server.py"), SCRIPT).unwrap();
    let start = "import mcp --toolset live --service live -o live.yaml".split(' ');
    let started = Instant::now();
    let output =
        toolwright(folder.path(), &start.chain(arguments.iter().copied()).collect::<Vec<_>>());
    let said = text(&output.stderr).to_owned();
    assert!(
        started.elapsed() < Duration::from_mins(3),
        "{arguments:?} took {:?}",
        started.elapsed()
    );
    assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
    assert!(!folder.path().join("live.yaml").exists(), "{arguments:?}");
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
    said
}

#[test]
fn a_server_that_fails_is_told_with_a_reason() {
    let cases: [(&[&str], &[&str]); 8] = [
        (
            &["--", "no-such-command-anywhere"],
            &["`no-such-command-anywhere`", "could not be started"],
        ),
        (
            &["--", "python3", "server.py", "exits"],
            &["could not be reached", "last words on standard error", "  no configuration"],
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
        let said = failure(arguments);
        for part in parts {
            assert!(said.contains(part), "{arguments:?}: no {part:?} in {said}");
        }
        assert!(said.contains("nothing was written"), "{said}");
        assert!(!said.contains('\u{1b}'), "a server steers the terminal: {said:?}");
    }
}

#[test]
fn a_token_that_is_not_there_is_told_before_the_server_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "import mcp --toolset live --service live --url http://127.0.0.1:9 --bearer-env TOOLWRIGHT_NO_TOKEN";
    let output = toolwright(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("`TOOLWRIGHT_NO_TOKEN` holds no token"));
}
