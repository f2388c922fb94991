//! Runs the command line of the MCP Inspector on every generated server of this repository, in both eras of the protocol.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolwright_prerequisites::Npm;

use crate::{INSTALLED, PROGRAM, npm, printed, served};

const INSPECTOR: &str = "@modelcontextprotocol/inspector/clients/cli/build/index.js";
const ERAS: [&str; 2] = ["legacy", "modern"];

/// Runs the Inspector. Returns its exit code, standard output and standard error.
fn inspect(npm: &Npm, server: &[&str], era: &str, rest: &[&str]) -> (Option<i32>, String, String) {
    let output = npm
        .program(INSPECTOR)
        .args(server)
        .args(["--protocol-era", era])
        .args(rest)
        // By default it creates its catalog of servers in the home folder.
        .env("MCP_CATALOG_PATH", Path::new(INSTALLED).join("catalog.json"))
        .output()
        .unwrap();
    let (out, err) = printed(&output);
    (output.status.code(), out, err)
}

/// Lists a server's tools strictly, and calls one with valid and with invalid arguments.
fn check_server(npm: &Npm, server: &[&str], tool: &str, args: &str, wrong: &str) {
    for era in ERAS {
        let context = format!("{server:?} {era}");
        let (code, out, err) = inspect(npm, server, era, &["--method", "tools/list", "--strict"]);
        assert_eq!(code, Some(0), "{context}: {out}{err}");
        let listed: Value = serde_json::from_str(&out).expect("a list in JSON");
        let tools = listed["tools"].as_array().unwrap();
        assert!(tools.iter().any(|listed| listed["name"] == tool), "{context}: {out}");
        let call = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json"];
        let (code, out, err) = inspect(npm, server, era, &[&call[..], &[args]].concat());
        assert_eq!(code, Some(0), "{context}: {out}{err}");
        let result: Value = serde_json::from_str(&out).expect("a result in JSON");
        assert!(result["structuredContent"].is_object(), "{context}: {out}");
        let (code, out, err) = inspect(npm, server, era, &[&call[..], &[wrong]].concat());
        assert_eq!(code, Some(IS_ERROR), "{context}: {out}{err}");
    }
}

/// The Inspector's exit code for a result with `isError`.
const IS_ERROR: i32 = 5;

/// Checks a server on stdio and over HTTP.
fn check_both_transports(server: &str, tool: &str, args: &str, wrong: &str) {
    let Some(npm) = npm() else { return };
    check_server(&npm, &[PROGRAM, "serve", server], tool, args, wrong);
    let process = served(server);
    check_server(&npm, &[process.url()], tool, args, wrong);
}

#[test]
fn the_inspector_finds_nothing_wrong_with_the_fixtures() {
    let (args, wrong) = (r#"{"text":"two words"}"#, r#"{"text":""}"#);
    check_both_transports("fixtures", "measure_text", args, wrong);
}

#[test]
fn the_inspector_finds_nothing_wrong_with_calc() {
    check_both_transports("calc", "add", r#"{"a":2,"b":40}"#, r#"{"a":2}"#);
}

#[test]
fn the_inspector_finds_nothing_wrong_with_planner() {
    check_both_transports("planner", "plan_session", r#"{"goal":"rest"}"#, r#"{"goal":1}"#);
}

/// Fails when a server is added to `gen/`, so that it gets a test above.
#[test]
fn every_generated_server_has_an_inspector_test() {
    let generated = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gen");
    let folders = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten();
    let servers = folders(generated).flat_map(|service| folders(service.path().join("mcp")));
    let mut servers: Vec<_> = servers.map(|server| server.file_name()).collect();
    servers.sort();
    assert_eq!(servers, ["calc", "planner"]);
}
