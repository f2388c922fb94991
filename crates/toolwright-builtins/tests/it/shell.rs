//! Tests of `shell`: arguments, environment, output, and the end of processes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use toolwright::FailureKind;
use toolwright_builtins::shell::{Shell, ShellBuilder};

use crate::call;

fn shell(folder: &TempDir) -> ShellBuilder {
    ["/bin/echo", "/bin/cat", "/bin/sh", "/usr/bin/env"]
        .into_iter()
        .fold(Shell::builder(folder.path()), ShellBuilder::with_program)
        // For the programs that `sh` starts.
        .with_variable("PATH", "/usr/bin:/bin")
}

fn script(script: &str) -> serde_json::Value {
    json!({ "program": "sh", "args": ["-c", script] })
}

/// Writes to the file `beat` in the background while it runs.
const BEAT: &str = "(while :; do echo x >> beat; sleep 0.02; done) &";

/// Returns whether the file `beat` was written to and is not written to any more.
async fn has_stopped_beating(folder: &Path) -> bool {
    let size = || fs::metadata(folder.join("beat")).map_or(0, |metadata| metadata.len());
    // Wait for a write in progress. After that, there must be no other.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let before = size();
    tokio::time::sleep(Duration::from_millis(500)).await;
    before > 0 && size() == before
}

#[tokio::test]
async fn r5_arguments_reach_a_program_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let shell = shell(&folder).build().unwrap().toolset();
    let args = [
        "; touch pwned",
        "$(touch pwned)",
        "`touch pwned`",
        "&& touch pwned",
        "| tee pwned",
        "> pwned",
        "*",
        "$HOME",
        "~",
        "a\nb",
    ];
    let ran =
        call(&shell, "run_program", json!({ "program": "echo", "args": args })).await.unwrap();
    assert_eq!(
        ran,
        json!({ "exit_code": 0, "stdout": format!("{}\n", args.join(" ")), "stderr": "" })
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let nul = call(&shell, "run_program", json!({ "program": "echo", "args": ["a\0b"] }))
        .await
        .unwrap_err();
    assert_eq!(
        nul.message,
        "an argument has a NUL character, which cannot be passed to a program; leave it out"
    );
}

#[tokio::test]
async fn r5_only_listed_programs_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tool"), "#!/bin/sh\ntouch pwned\n").unwrap();
    let shell = Shell::builder(folder.path()).with_program("/bin/echo").with_program("/bin/cat");
    let shell = shell.build().unwrap().toolset();
    for program in [
        "sh",
        "/bin/echo",
        "./echo",
        "../bin/echo",
        "echo ",
        "echo;sh",
        "ECHO",
        "tool",
        "./tool",
        "echo\0",
    ] {
        let failure = call(&shell, "run_program", json!({ "program": program })).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Denied, "{program}");
        assert_eq!(
            failure.message,
            format!(
                "`{}` may not be run, expected one of: cat, echo",
                program.replace('\0', "\u{fffd}")
            )
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn r5_rules_restrict_the_arguments_of_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let shell = shell(&folder).with_rule(|program, args| {
        if program == "echo" && args.iter().any(|arg| arg.starts_with('-')) {
            return Err("no options".to_owned());
        }
        Ok(())
    });
    let shell = shell.build().unwrap().toolset();
    call(&shell, "run_program", json!({ "program": "echo", "args": ["x"] })).await.unwrap();
    let failure = call(&shell, "run_program", json!({ "program": "echo", "args": ["-n"] }))
        .await
        .unwrap_err();
    assert_eq!(
        failure.to_string(),
        "denied: these arguments of `echo` are not allowed, expected no options"
    );
}

#[tokio::test]
async fn r5_a_program_gets_only_the_environment_that_was_set() {
    let folder = tempfile::tempdir().unwrap();
    assert!(std::env::var_os("PATH").is_some(), "there is something to leak");
    let shell =
        Shell::builder(folder.path()).with_program("/usr/bin/env").with_variable("LANG", "C");
    let ran = call(&shell.build().unwrap().toolset(), "run_program", json!({ "program": "env" }))
        .await
        .unwrap();
    assert_eq!(ran["stdout"], "LANG=C\n");
}

#[tokio::test]
async fn r5_a_program_has_no_input_and_runs_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "here").unwrap();
    let shell = shell(&folder).build().unwrap().toolset();
    let ran = call(&shell, "run_program", json!({ "program": "cat" })).await.unwrap();
    assert_eq!(ran, json!({ "exit_code": 0, "stdout": "", "stderr": "" }));
    let ran =
        call(&shell, "run_program", json!({ "program": "cat", "args": ["file"] })).await.unwrap();
    assert_eq!(ran["stdout"], "here");
}

#[tokio::test]
async fn r5_output_is_limited_and_the_exit_of_a_program_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let shell = shell(&folder).with_output_limit(10).build().unwrap().toolset();
    let long = script("head -c 1000000 /dev/zero | tr '\\0' x; echo failed >&2; exit 3");
    let ran = call(&shell, "run_program", long).await.unwrap();
    assert_eq!(
        ran,
        json!({ "exit_code": 3, "stdout": "xxxxxxxxxx", "stderr": "failed\n", "left_out": 999_990 })
    );
    let ran = call(&shell, "run_program", script("kill -9 $$")).await.unwrap();
    assert_eq!(ran, json!({ "exit_code": null, "signal": 9, "stdout": "", "stderr": "" }));
}

#[tokio::test]
async fn r5_a_program_over_its_time_limit_is_killed_with_its_child_processes() {
    let folder = tempfile::tempdir().unwrap();
    let shell =
        shell(&folder).with_time_limit(Duration::from_millis(500)).build().unwrap().toolset();
    let since = Instant::now();
    let failure = call(&shell, "run_program", script(&format!("{BEAT} echo begun; sleep 60")))
        .await
        .unwrap_err();
    assert!(since.elapsed() < Duration::from_secs(20));
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert_eq!(
        failure.message,
        "`sh` took longer than 0.5 seconds and was killed with its child processes; its output so far: begun\n"
    );
    assert!(has_stopped_beating(folder.path()).await);
}

#[tokio::test]
async fn r5_a_program_whose_call_is_cancelled_is_killed_with_its_child_processes() {
    let folder = tempfile::tempdir().unwrap();
    let shell = shell(&folder).build().unwrap().toolset();
    let running = call(&shell, "run_program", script(&format!("{BEAT} sleep 60")));
    let given_up = tokio::time::timeout(Duration::from_millis(500), running).await;
    assert!(given_up.is_err());
    assert!(has_stopped_beating(folder.path()).await);
}

#[tokio::test]
async fn r5_child_processes_end_with_their_program() {
    let folder = tempfile::tempdir().unwrap();
    let shell = shell(&folder).build().unwrap().toolset();
    let since = Instant::now();
    let ran =
        call(&shell, "run_program", script(&format!("{BEAT} sleep 0.2; echo done"))).await.unwrap();
    assert_eq!(ran, json!({ "exit_code": 0, "stdout": "done\n", "stderr": "" }));
    assert!(since.elapsed() < Duration::from_secs(20), "its pipes are not waited for");
    assert!(has_stopped_beating(folder.path()).await);
}

/// Such a process is not killed. Although it keeps the pipes open, the call ends.
#[tokio::test]
async fn r5_a_process_that_leaves_the_group_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let shell = shell(&folder).build().unwrap().toolset();
    let since = Instant::now();
    let ran = call(&shell, "run_program", script("setsid sleep 20 & sleep 0.3; echo done"))
        .await
        .unwrap();
    assert_eq!(ran, json!({ "exit_code": 0, "stdout": "done\n", "stderr": "" }));
    assert!(since.elapsed() < Duration::from_secs(10));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn r5_a_folder_that_is_replaced_by_a_link_is_left_alone() {
    let outer = tempfile::tempdir().unwrap();
    let [folder, moved, elsewhere] =
        ["folder", "moved", "elsewhere"].map(|name| outer.path().join(name));
    fs::create_dir(&folder).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("secret"), "elsewhere").unwrap();
    let shell = Shell::builder(&folder).with_program("/bin/sh").build().unwrap().toolset();
    fs::rename(&folder, &moved).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    let ran = call(&shell, "run_program", script("echo x > made; pwd")).await.unwrap();
    assert_eq!(ran["stdout"], format!("{}\n", moved.display()), "{ran}");
    assert!(moved.join("made").exists() && !elsewhere.join("made").exists());
}

/// R5: a call could replace it.
#[test]
fn r5_a_program_in_the_folder_is_refused() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::copy("/bin/echo", folder.join("tool")).unwrap();
    symlink("/bin/echo", folder.join("link")).unwrap();
    symlink(folder.join("tool"), outer.path().join("outside")).unwrap();
    symlink(&folder, outer.path().join("again")).unwrap();
    let listed = [
        folder.join("tool"),
        folder.join("link"),
        outer.path().join("outside"),
        outer.path().join("again/tool"),
        outer.path().join("again/../folder/tool"),
    ];
    for path in listed {
        for folder in [&folder, &outer.path().join("again")] {
            let error = Shell::builder(folder).with_program(&path).build().unwrap_err();
            let expected = "where a call could replace it; expected a program outside of it";
            assert!(error.to_string().ends_with(expected), "{}: {error}", path.display());
        }
    }
}

/// R5: the program gets the name of the link as `argv[0]`.
#[tokio::test]
async fn r5_links_to_programs_are_resolved_when_the_shell_is_built() {
    let outer = tempfile::tempdir().unwrap();
    let (folder, link) = (tempfile::tempdir().unwrap(), outer.path().join("shell"));
    symlink("/bin/sh", &link).unwrap();
    let shell = Shell::builder(folder.path()).with_program(&link).build().unwrap().toolset();
    fs::remove_file(&link).unwrap();
    symlink("/bin/false", &link).unwrap();
    let args = json!({ "program": "shell", "args": ["-c", "echo $0"] });
    let ran = call(&shell, "run_program", args).await.unwrap();
    assert_eq!(ran["stdout"], format!("{}\n", link.display()));
}

#[test]
fn running_programs_occupy_no_threads() {
    let mut tokio = tokio::runtime::Builder::new_current_thread();
    let tokio = tokio.enable_all().max_blocking_threads(1).build().unwrap();
    tokio.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let shell = shell(&folder).build().unwrap().toolset();
        let run = || call(&shell, "run_program", script("touch running; sleep 2; echo done"));
        let beside = async {
            while !folder.path().join("running").exists() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let since = Instant::now();
            tokio::task::spawn_blocking(|| ()).await.unwrap();
            since.elapsed()
        };
        let (first, second, waited) = tokio::join!(run(), run(), beside);
        assert!(waited < Duration::from_secs(1), "{waited:?}");
        for ran in [first, second] {
            assert_eq!(ran.unwrap()["stdout"], "done\n");
        }
    });
}
