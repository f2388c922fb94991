//! Tests projects that are short to describe and expensive to process, with the configurations and locks that make them so.

use std::fs;

use crate::child::{Limits, toolwright};

/// The limits of a child process. Those of a development build only detect hangs, because it is slower and may run on a
/// shared machine.
const LIMITS: Limits = if cfg!(debug_assertions) {
    Limits { cpu_seconds: 60, megabytes: 1024 }
} else {
    Limits { cpu_seconds: 5, megabytes: 512 }
};

/// A project, a command, and what it prints.
struct Case {
    name: &'static str,
    /// The names and the texts of the project's files.
    files: fn() -> Vec<(&'static str, String)>,
    command: &'static str,
    code: i32,
    printed: &'static str,
}

const CASES: &[Case] = &[
    Case {
        name: "a chain of 10,000 references, the last one first",
        files: || {
            vec![("a.yaml", format!("{HEAD}types:\n  T0: {{type: number}}\n{}", references()))]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
    Case {
        name: "1,000 agents with a tool that is described by 900 kB",
        files: || {
            let tool = format!("      f: {{description: '{}'}}\n", "<".repeat(900_000));
            vec![("a.yaml", tools(&tool) + &agents(1_000))]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
    Case {
        name: "470 dialects that inherit a list of 75,000 words",
        files: || {
            let kinds = format!("type_list_kinds = [{}]\n", "\"a\",".repeat(75_000));
            let large = row("large", "openai-chat-strict", &kinds);
            let rows = lines(470, |n| row(&format!("r{n}"), "large", ""));
            let dialects = "[dialects]\nfiles = [\"rows.toml\"]\n";
            vec![
                ("a.yaml", HEAD.to_owned()),
                ("rows.toml", large + &rows),
                ("toolwright.toml", format!("{PROJECT}{dialects}")),
            ]
        },
        command: "check",
        code: 1,
        printed: "dialect `large`: it has more than 64 KiB with what it inherits",
    },
    Case {
        name: "a policy with a reason of 900 kB for 2,000 tools",
        files: || {
            let tool = |n| format!("      f{n}: {{description: d.}}\n");
            let dialects = format!(
                "[dialects]\ntargets = [\"openai-chat-strict\"]\n[dialects.policy]\nbecause = \"{}\"\n",
                "x".repeat(900_000)
            );
            vec![
                ("a.yaml", tools(&lines(2_000, tool))),
                ("toolwright.toml", format!("{PROJECT}{dialects}")),
            ]
        },
        command: "check",
        code: 0,
        printed: "check: ",
    },
];

const HEAD: &str = "toolwright: 1\nservice: a\n";

const PROJECT: &str = "[project]\nschema = \"a.yaml\"\n";

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

fn references() -> String {
    lines(9_999, |n| format!("  T{}: {{$ref: T{n}}}\n", n + 1))
}

fn tools(lines: &str) -> String {
    format!("{HEAD}toolsets:\n  t:\n    tools:\n{lines}")
}

fn agents(count: usize) -> String {
    format!("agents:\n{}", lines(count, |n| format!("  a{n}: {{toolsets: [t]}}\n")))
}

/// A dialect of a project.
fn row(id: &str, parent: &str, more: &str) -> String {
    format!(
        "[[dialect]]\nid = \"{id}\"\nasof = \"2026-01\"\ninherits = \"{parent}\"\nconfidence = \"D\"\nevidence = [\"D\"]\n{more}"
    )
}

#[test]
fn every_costly_project_is_processed_or_refused() {
    let mut complaints = Vec::new();
    for Case { name, files, command, code, printed } in CASES {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("toolwright.toml", PROJECT);
        for (name, text) in files() {
            write(name, &text);
        }
        let ended = toolwright(folder.path(), &[command], LIMITS);
        if ended.status.code() != Some(*code) || !ended.printed.contains(printed) {
            let found: String = ended.printed.chars().take(300).collect();
            complaints.push(format!("{name}: {}: {found}", ended.how()));
        }
    }
    assert_eq!(complaints, Vec::<String>::new(), "{}", complaints.join("\n\n"));
}
