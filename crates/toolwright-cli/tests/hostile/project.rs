//! Projects on disk for tests of what is written, and trees as they are compared. Never judges one.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A schema whose output differs in every file from that of another word.
pub(crate) fn schema(tools: usize, word: &str) -> String {
    let tool = |number: usize| {
        format!(
            "      tool_{number}:\n        description: {word} {number}.\n        args: {{ type: object, properties: \
             {{ {word}: {{ type: string }} }} }}\n"
        )
    };
    let tools: String = (0..tools).fold(String::new(), |text, number| text + &tool(number));
    format!(
        "toolwright: 1\nservice: a\ntoolsets:\n  t:\n    description: {word}.\n    tools:\n{tools}"
    )
}

/// What stands below a folder: files with their texts, anything else with what it is.
pub(crate) type Tree = BTreeMap<PathBuf, Vec<u8>>;

pub(crate) fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap();
            let text = if kind.is_file() {
                fs::read(&path).unwrap()
            } else {
                format!("{:o}", kind.mode()).into_bytes()
            };
            if kind.is_dir() {
                open.push(path.clone());
            }
            found.insert(path.strip_prefix(root).unwrap().to_owned(), text);
        }
    }
    found
}

/// `toolwright gen` in a folder, from a schema file beside.
pub(crate) fn generator(folder: &Path, schema: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.args(["gen", "--schema", schema]).current_dir(folder);
    command
}

/// A shell in a folder, which has the command as `$0`.
pub(crate) fn shell(folder: &Path, script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_toolwright")]).current_dir(folder);
    command
}
