//! Answers that providers gave to others: the recordings in the package of genai. `cargo xtask recordings` downloads it and sets
//! the variable. `UPDATE_EXPECT=1` writes what is read.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use toolwright_model::{ChatOptions, Wire};

use crate::answers::read_in_pieces;

/// The recordings, by the folder of their provider. Those of other APIs are left out.
const PROVIDERS: [(&str, Wire); 9] = [
    ("aihubmix", Wire::OpenAiChat(ChatOptions::OTHERS)),
    ("anthropic", Wire::Anthropic),
    ("bedrock", Wire::Bedrock),
    ("gemini", Wire::Gemini),
    ("github_copilot", Wire::OpenAiChat(ChatOptions::OTHERS)),
    ("mistral", Wire::OpenAiChat(ChatOptions::OTHERS)),
    ("open_router", Wire::OpenAiChat(ChatOptions::OTHERS)),
    ("openai", Wire::OpenAiChat(ChatOptions::OPENAI)),
    ("openai_resp", Wire::OpenAiResponses),
];

/// The most characters of a line that are compared.
const LINE: usize = 160;

#[test]
fn recorded_answers_of_providers_are_read() {
    let Some(folder) = std::env::var_os("TOOLWRIGHT_RECORDINGS") else { return };
    let mut found = String::new();
    for (provider, wire) in PROVIDERS {
        let mut paths = Vec::new();
        collect(&Path::new(&folder).join(provider), &mut paths);
        assert!(!paths.is_empty(), "there are no recordings of {provider}");
        for path in paths {
            let name = path.strip_prefix(&folder).unwrap().display();
            writeln!(found, "# {name}").unwrap();
            for line in read_in_pieces(wire, &fs::read(&path).unwrap()).lines() {
                found.extend(line.chars().take(LINE).chain(['\n']));
            }
        }
    }
    expect_file!["../recorded.txt"].assert_eq(&found);
}

/// Collects the files of a folder, in order.
fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap();
    let mut entries: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { collect(&path, paths) } else { paths.push(path) }
    }
}
