//! Creates projects on disk and reads trees for comparisons.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns a schema. With another `word`, every generated file is different.
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

/// All paths below a folder: files with their texts, anything else with its type.
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

/// The command `toolwright gen` in a folder with a schema file.
pub(crate) fn generator(folder: &Path, schema: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.args(["gen", "--schema", schema]).current_dir(folder);
    command
}

/// The command of a shell in a folder, with the path of `toolwright` as `$0`.
pub(crate) fn shell(folder: &Path, script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_toolwright")]).current_dir(folder);
    command
}
