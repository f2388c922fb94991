//! Tests new projects in folders outside of this repository: they build without warnings, do what their README says, and
//! find the toolwright crates in a checkout, a git repository and a registry.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use toolwright_prerequisites::Prerequisite;

const TOOLWRIGHT: &str = env!("CARGO_BIN_EXE_toolwright");

/// The command for a program in a folder, with `toolwright` on `PATH` and without cargo's environment variables.
fn program(name: &str, folder: &Path) -> Command {
    let here = Path::new(TOOLWRIGHT).parent().unwrap();
    let path = format!("{}:{}", here.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(name);
    command.current_dir(folder).env("PATH", path).env_remove("CARGO_MANIFEST_DIR");
    command.stdin(Stdio::null());
    command
}

fn init(folder: &Path, arguments: &[&str]) -> Output {
    program(TOOLWRIGHT, folder).arg("init").args(arguments).output().unwrap()
}

/// The command for a line of shell. All projects share their builds and use the packages of this repository.
fn shell(folder: &Path, line: &str) -> Command {
    let mut command = program("sh", folder);
    command
        .args(["-c", line])
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("init"))
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("RUSTFLAGS", "-Dwarnings");
    command
}

/// Returns the output of a command that gets this input and must succeed.
fn answer(command: &mut Command, input: &str) -> String {
    let (stdin, stdout, stderr) = (Stdio::piped(), Stdio::piped(), Stdio::piped());
    let mut child = command.stdin(stdin).stdout(stdout).stderr(stderr).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", text(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned()
}

fn replace(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{}", path.display());
    fs::write(path, text.replace(from, to)).unwrap();
}

/// Creates a project with this name and these flags and the crates of this checkout, checks its format, and returns its folder.
fn project(folder: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = program(TOOLWRIGHT, folder);
    command.args(["init", name, "--toolwright"]).arg(checkout).args(flags);
    let output = command.env("CARGO_NET_OFFLINE", "true").output().unwrap();
    assert!(output.status.success(), "{flags:?}\n{}", text(&output));
    let end = format!("init: {name} is ready; read its README.md for the next steps\n");
    assert!(text(&output).ends_with(&end));
    let project = folder.join(name);
    answer(&mut shell(&project, "cargo fmt --check"), "");
    project
}

/// The commands in the README of a project. Panics if they are not those of its parts.
fn commands(tracker: &Path, parts: &[&str]) -> Vec<String> {
    let readme = fs::read_to_string(tracker.join("README.md")).unwrap();
    let block = readme.split("```").nth(1).unwrap().trim();
    let command = |line: &str| line.split(" #").next().unwrap().trim().to_owned();
    let commands: Vec<String> = block.lines().map(command).collect();
    let has = |word: &str| commands.iter().any(|command| command.contains(word));
    assert!(has("cargo test"), "{block}");
    assert_eq!(has("toolwright gen"), !parts.contains(&"--build-rs"), "{block}");
    assert_eq!(has("-- mcp --http"), parts.contains(&"--mcp"), "{block}");
    assert_eq!(has("-- chat"), parts.contains(&"--agent"), "{block}");
    assert_eq!(has("-- worker"), parts.contains(&"--restate"), "{block}");
    commands
}

/// This is one test, because all projects are built into the same folder.
#[test]
fn a_new_project_of_any_parts_does_what_its_readme_says() {
    fetch();
    for parts in [
        &[][..],
        &["--build-rs"],
        &["--mcp", "--agent"],
        &["--build-rs", "--mcp", "--agent", "--restate"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let tracker = project(folder.path(), "tracker", parts);
        for command in commands(&tracker, parts) {
            match command.strip_suffix("127.0.0.1:8080") {
                Some(serve) => serves_http(&tracker, &format!("{serve}127.0.0.1:0")),
                None if command.ends_with("-- mcp") => serves_stdio(&tracker, &command),
                None if command.contains("-- worker ") => {
                    let (address, server) = serving(&tracker, &command.replace(":9080", ":0"), "");
                    assert!(TcpStream::connect(address).is_ok());
                    drop(server);
                }
                None if command.contains("-- chat ") => asks_before_it_closes(&tracker, &command),
                // `--build-rs` alone has the same tests, and fewer dependencies to compile for them.
                None if command.starts_with("cargo test") && parts.len() > 2 => {}
                None => drop(answer(&mut shell(&tracker, &command), "")),
            }
        }
        if parts == ["--mcp", "--agent"] {
            an_edit_reaches_code_and_tests(&tracker);
        }
    }
    // A part alone has other imports and dependencies, but no other code. It also depends on the crates of the other part, by
    // a name that its code does not use: with the same features of all dependencies, cargo compiles nothing again.
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    for (part, others) in [
        (
            "--mcp",
            "agents = { package = 'toolwright-agents', path = 'CRATES/toolwright-agents' }\n\
             chat = { package = 'toolwright-chat', path = 'CRATES/toolwright-chat' }\n\
             model = { package = 'toolwright-model', path = 'CRATES/toolwright-model', features = ['planner', 'tls'] }\n\
             runtime = { package = 'toolwright-runtime', path = 'CRATES/toolwright-runtime' }\n",
        ),
        (
            "--agent",
            "mcp = { package = 'toolwright-mcp', path = 'CRATES/toolwright-mcp', features = ['http-server'] }\n",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let tracker = project(folder.path(), "tracker", &[part]);
        commands(&tracker, &[part]);
        let others = others.replace("CRATES", &crates.display().to_string());
        let dependencies = format!("[dependencies]\n{others}");
        replace(&tracker.join("Cargo.toml"), "[dependencies]\n", &dependencies);
        answer(&mut shell(&tracker, "cargo test --no-run"), "");
    }
}

/// Downloads the packages of every platform, which cargo needs without a network.
fn fetch() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    answer(program("cargo", &checkout).args(["fetch", "--quiet", "--locked"]), "");
}

/// Names that sort before and after other crates, and the longest one that a package can have.
#[test]
fn a_new_project_of_any_name_is_formatted() {
    fetch();
    for name in ["a", "zebra", &"x".repeat(64)] {
        for parts in [&["--build-rs", "--mcp", "--agent", "--restate"][..], &["--mcp", "--agent"]] {
            let folder = tempfile::tempdir().unwrap();
            project(folder.path(), name, parts);
        }
    }
}

fn serves_stdio(tracker: &Path, command: &str) {
    let messages = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"find_issues","arguments":{}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"close_issue","arguments":{"id":1}}}
"#;
    let answers = answer(&mut shell(tracker, command), messages);
    let answers: Vec<Value> =
        answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let result = |id: i64| &answers.iter().find(|answer| answer["id"] == id).unwrap()["result"];
    assert_eq!(result(1)["serverInfo"]["name"], "tracker");
    let names: Vec<_> =
        result(2)["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["create_issue", "find_issues", "close_issue"]);
    let issues = &result(3)["structuredContent"]["issues"];
    assert_eq!(issues[0]["title"], "Oil the door");
    // The server has no approver.
    assert_eq!(result(4)["isError"], true);
}

/// A server, which is killed when this is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Starts a server, and returns the address that it says, before `path`.
fn serving(tracker: &Path, command: &str, path: &str) -> (String, Server) {
    // The shell becomes cargo, which becomes the server, so killing one process ends the server.
    let mut command = shell(tracker, &format!("exec {command}"));
    let mut server = Server(command.stderr(Stdio::piped()).spawn().unwrap());
    let lines = BufReader::new(server.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let address = lines.filter_map(|line| {
        let (_, address) = line.split_once("serving at http://")?;
        Some(address.strip_suffix(path)?.to_owned())
    });
    ({ address }.next().expect("it says where it serves"), server)
}

fn serves_http(tracker: &Path, command: &str) {
    let (address, server) = serving(tracker, command, "/mcp");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut response = String::new();
    BufReader::new(stream).take(4096).read_to_string(&mut response).unwrap();
    drop(server);
    assert!(response.contains(r#""serverInfo":{"name":"tracker""#), "{response}");
}

fn asks_before_it_closes(tracker: &Path, command: &str) {
    for (reply, closed) in [("y", 1), ("n", 0)] {
        let input = format!("Close this: Oil the door\n{reply}\n");
        let answer = answer(&mut shell(tracker, command), &input);
        assert!(answer.contains("Close issue 1? [y/N"), "{answer}");
        assert!(answer.contains(&format!("issues closed: {closed}\n")), "{answer}");
    }
    let command =
        command.replace("cargo run --", "MODEL=openai/gpt-5 OPENAI_API_KEY= cargo run --");
    let output = shell(tracker, &command).output().unwrap();
    assert!(text(&output).contains("set the variable `OPENAI_API_KEY`"), "{}", text(&output));
    let chat = answer(&mut shell(tracker, "toolwright chat triager"), "Hello\n");
    assert!(chat.contains("no open issue has such a title\n"), "{chat}");
}

/// Lowers the maximum length of titles, which makes the project's tests fail.
fn an_edit_reaches_code_and_tests(tracker: &Path) {
    answer(&mut shell(tracker, "toolwright gen --check"), "");
    replace(&tracker.join("schema/issues.yaml"), "maxLength: 120", "maxLength: 8");
    let drift = shell(tracker, "toolwright gen --check").output().unwrap();
    assert_eq!(drift.status.code(), Some(1), "{}", text(&drift));
    assert!(text(&drift).contains("codecs.rs"), "{}", text(&drift));
    answer(&mut shell(tracker, "toolwright gen"), "");
    let tests = shell(tracker, "cargo test").output().unwrap();
    assert!(!tests.status.success());
    assert!(text(&tests).contains("has 12 characters, at most 8 allowed"), "{}", text(&tests));
}

#[test]
fn the_schema_is_found_by_editors_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    project(folder.path(), "tracker", &[]);
    let schema = folder.path().join("tracker/schema");
    let issues = fs::read_to_string(schema.join("issues.yaml")).unwrap();
    let line = issues.lines().next().unwrap();
    let named = line.strip_prefix("# yaml-language-server: $schema=").unwrap();
    let printed = program(TOOLWRIGHT, folder.path()).arg("schema").output().unwrap().stdout;
    assert_eq!(fs::read(schema.join(named)).unwrap(), printed);
}

#[test]
fn a_package_has_the_name_of_its_folder_if_it_can() {
    let checkout = format!("{}/../..", env!("CARGO_MANIFEST_DIR"));
    for (folder, package) in [
        ("My-App", "my-app"),
        ("shop_2", "shop_2"),
        ("9x", "tracker"),
        ("async", "tracker"),
        ("test", "tracker"),
        ("deps", "tracker"),
        ("examples", "tracker"),
        ("incremental", "tracker"),
        ("issues-tools", "tracker"),
        ("\u{fc}ber", "tracker"),
    ] {
        let parent = tempfile::tempdir().unwrap();
        let output = init(parent.path(), &[folder, "--toolwright", &checkout]);
        assert!(output.status.success(), "{}", text(&output));
        let manifest = fs::read_to_string(parent.path().join(folder).join("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("name = \"{package}\"\n")), "{manifest}");
        let tests = fs::read_to_string(parent.path().join(folder).join("tests/tools.rs")).unwrap();
        let import = format!("use {}::Tracker;", package.replace('-', "_"));
        assert!(tests.contains(&import), "{tests}");
    }
}

#[test]
fn a_folder_that_is_not_empty_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine"), "").unwrap();
    let output = init(folder.path(), &["."]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output).contains("not empty"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Creates a folder in which cargo takes packages only from `vendor`: `tokio`, and the toolwright crates if
/// `has_toolwright`. All are empty. A checkout of the toolwright crates is in `odd "name"`.
fn offline(has_toolwright: bool) -> tempfile::TempDir {
    // In the folder of the program, because hard links need the same file system.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let package = |path: &str, name: &str, version: &str, features: &str| {
        let head =
            format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2024\"\n");
        put(&format!("{path}/Cargo.toml"), &format!("{head}[features]\n{features}"));
        put(&format!("{path}/src/lib.rs"), "");
        put(&format!("{path}/.cargo-checksum.json"), r#"{"files":{}}"#);
    };
    put(
        ".cargo/config.toml",
        "[source.crates-io]\nreplace-with = \"vendor\"\n[source.vendor]\ndirectory = \"vendor\"\n",
    );
    package(
        "vendor/tokio",
        "tokio",
        "1.0.0",
        "macros = []\nnet = []\nrt-multi-thread = []\nsync = []\n",
    );
    for name in [
        "toolwright",
        "toolwright-agents",
        "toolwright-chat",
        "toolwright-mcp",
        "toolwright-model",
        "toolwright-model-stage",
        "toolwright-runtime",
    ] {
        let crates = ["odd \"name\"/crates", "vendor"];
        for place in &crates[..if has_toolwright { 2 } else { 1 }] {
            let features = "http-server = []\nplanner = []\ntesting = []\ntls = []\n";
            package(&format!("{place}/{name}"), name, "0.1.0", features);
        }
    }
    folder
}

/// Runs `toolwright init` in that folder.
fn init_offline(folder: &tempfile::TempDir, program_path: &str, arguments: &[&str]) -> Output {
    let mut command = program(program_path, folder.path());
    command.env("CARGO_HOME", folder.path().join("home"));
    command.args(["init", "tracker", "--mcp", "--agent"]).args(arguments).output().unwrap()
}

fn is_ready(output: &Output) -> bool {
    assert_eq!(output.status.success(), text(output).contains("ready"), "{}", text(output));
    output.status.success()
}

#[test]
fn a_checkout_on_the_command_line_is_used() {
    let folder = offline(false);
    let output = init_offline(&folder, TOOLWRIGHT, &["--toolwright", "odd \"name\""]);
    assert!(is_ready(&output), "{}", text(&output));
    let tracker = folder.path().join("tracker");
    let configuration = fs::read_to_string(tracker.join("toolwright.toml")).unwrap();
    assert!(configuration.contains("/odd \"name\"/crates/toolwright-mcp' }"), "{configuration}");
    assert!(!tracker.join(".github").exists(), "no other machine has that folder");
}

#[test]
fn a_version_is_taken_from_the_registry() {
    let folder = offline(true);
    let output = init_offline(&folder, TOOLWRIGHT, &["--version", "0.1"]);
    assert!(is_ready(&output), "{}", text(&output));
    let tracker = folder.path().join("tracker");
    let lock = fs::read_to_string(tracker.join("Cargo.lock")).unwrap();
    assert!(
        lock.contains("name = \"toolwright-mcp\"\nversion = \"0.1.0\"\nsource = \"registry+"),
        "{lock}"
    );
    let workflow = fs::read_to_string(tracker.join(".github/workflows/ci.yml")).unwrap();
    assert!(
        workflow.contains("cargo install --locked toolwright-cli --version '0.1'\n"),
        "{workflow}"
    );
    assert!(workflow.contains("toolwright gen --check\n"), "{workflow}");
}

#[test]
fn a_project_whose_crates_cannot_be_found_is_not_ready() {
    let folder = offline(false);
    let output = init_offline(&folder, TOOLWRIGHT, &["--version", "0.1"]);
    assert!(!is_ready(&output), "{}", text(&output));
    assert_eq!(output.status.code(), Some(1));
    for printed in ["no matching package named `toolwright", "--git URL --rev REV"] {
        assert!(text(&output).contains(printed), "{}", text(&output));
    }
    assert!(folder.path().join("tracker/gen/issues/service/Cargo.toml").exists());
}

#[test]
fn a_git_repository_on_the_command_line_or_of_the_installation_is_used() {
    if !toolwright_prerequisites::has(&[Prerequisite::Git]) {
        return;
    }
    let folder = offline(false);
    let checkout = folder.path().join("odd \"name\"");
    let git = |line: &str| answer(&mut shell(&checkout, &format!("git {line}")), "");
    git("init --quiet && git add .");
    git("-c user.name=a -c user.email=a@example.org commit --quiet --message all");
    let rev = git("rev-parse HEAD").trim().to_owned();
    fs::rename(&checkout, folder.path().join("repository")).unwrap();
    let url = format!("file://{}/repository", folder.path().display());
    let expected = format!("toolwright-mcp = {{ git = \"{url}\", rev = \"{rev}\"");

    let record = format!(
        "[v1]\n\"toolwright-cli 0.1.0 (git+{url}?branch=main#{rev})\" = [\"toolwright\"]\n"
    );
    let installed = folder.path().join("home/bin/toolwright");
    fs::create_dir_all(installed.parent().unwrap()).unwrap();
    fs::write(folder.path().join("home/.crates.toml"), record).unwrap();
    fs::hard_link(TOOLWRIGHT, &installed).unwrap();

    for (program, arguments) in
        [(TOOLWRIGHT, &["--git", &*url, "--rev", &*rev][..]), (installed.to_str().unwrap(), &[])]
    {
        let output = init_offline(&folder, program, arguments);
        assert!(is_ready(&output), "{}", text(&output));
        let tracker = folder.path().join("tracker");
        for file in ["Cargo.toml", "toolwright.toml"] {
            let text = fs::read_to_string(tracker.join(file)).unwrap();
            assert!(text.contains(&expected), "{text}");
        }
        fs::remove_dir_all(tracker).unwrap();
    }
}
