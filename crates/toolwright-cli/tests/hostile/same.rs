//! Tests that the output depends only on the schema: not on the folder, time, user or machine.

use std::fs;
use std::path::Path;

use toolwright_prerequisites::{Prerequisite, has};

use crate::project::{Tree, shell, tree};

const RUNS: usize = 20;

/// Several schema files, because their order must not matter.
const FILES: [(&str, &str); 4] = [
    (
        "b.yaml",
        "toolwright: 1\nservice: b\ntypes:\n  Note: { type: object, properties: { text: { type: string, default: \"İ ß ǆ\" } } }\n",
    ),
    (
        "a.yaml",
        "toolwright: 1\nservice: a\ntoolsets:\n  find:\n    description: |\n      Several lines,\n      one below the other.\n    tools:\n      find_note: { description: Find., args: b.Note }\n      drop_note: { description: Drop. }\n",
    ),
    ("deep/c.yml", "toolwright: 1\nservice: b\nagents: { helper: { toolsets: [find] } }\n"),
    (
        "Z.yaml",
        "toolwright: 1\nservice: z\nmcp_servers: { desk: { version: '1', toolsets: [find] } }\n",
    ),
];

/// Picks a value by the number of the run.
fn pick<'a>(of: &[&'a str], run: usize) -> &'a str {
    of[run % of.len()]
}

fn lay_out(folder: &Path, run: usize) {
    // Each run creates the files in another order, in which many file systems then list them.
    for place in 0..FILES.len() {
        let (path, text) = FILES[(place * 3 + run) % FILES.len()];
        let text = match run % 3 {
            0 => text.to_owned(),
            1 => text.replace('\n', "\r\n"),
            _ => format!("\u{feff}{text}"),
        };
        let path = folder.join("schema").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn generated(run: usize, on_some_cores: bool) -> Tree {
    let around = tempfile::tempdir().unwrap();
    let folder = around.path().join(pick(&["a", "with space", "ünï", "x/y/z", "-rf"], run));
    fs::create_dir_all(&folder).unwrap();
    lay_out(&folder, run);
    let umask = pick(&["022", "077", "002", "000"], run);
    let cores = pick(&["taskset -c 0", "taskset -c 0,1"], run);
    let cores = if on_some_cores { cores } else { "" };
    let script = format!("umask {umask}; exec {cores} \"$0\" gen");
    let output = shell(&folder, &script)
        .env("LC_ALL", pick(&["C", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.EUC-JP"], run))
        .env("TZ", pick(&["UTC", "Asia/Kathmandu", "America/St_Johns"], run))
        .env("HOME", pick(&["/", "/nowhere"], run))
        .env("USER", pick(&["root", "somebody"], run))
        .env("SOURCE_DATE_EPOCH", run.to_string())
        .env("RAYON_NUM_THREADS", (run % 7 + 1).to_string())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut found = tree(&folder.join("gen"));
    // Only files are compared, because permissions of folders depend on the user.
    found.retain(|path, _| folder.join("gen").join(path).is_file());
    found
}

#[test]
fn twenty_runs_in_different_environments_give_the_same_bytes() {
    // Without `taskset`, the rest of the environment still differs.
    let on_some_cores = has(&[Prerequisite::Taskset]);
    let expected = generated(0, on_some_cores);
    assert!(expected.len() > 20);
    for run in 1..RUNS {
        assert!(generated(run, on_some_cores) == expected, "run {run} differs");
    }
}
