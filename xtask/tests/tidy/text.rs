//! Checks the text of all files line by line: headers, lengths, names, white space, leftovers and paths.

use crate::tree::{File, word_in};

/// The maximum number of lines of a hand-written source file.
const MAX_LINES: usize = 600;

/// Module names that say nothing about their contents.
const EMPTY_NAMES: [&str; 8] =
    ["utils", "util", "helpers", "helper", "common", "misc", "manager", "data"];

/// Words that mean "not finished", in two halves so that this file does not contain them.
const LEFTOVERS: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("dbg", "!("),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
];

/// The beginnings of absolute paths, in two halves for the same reason.
const MACHINE_FOLDERS: [&str; 5] = [
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("C:", "\\"),
];

/// A hand-written file begins with `//!`; a generated one with its banner, then `//!`.
pub(crate) fn headers(files: &[File]) -> Vec<String> {
    let sources = files.iter().filter(|file| file.is_rust());
    sources.filter_map(missing_header).collect()
}

fn missing_header(file: &File) -> Option<String> {
    let mut lines = file.text.lines();
    let banner = !file.is_generated() || lines.next()?.starts_with("// @generated");
    if banner && lines.next().is_some_and(|line| line.starts_with("//! ")) {
        return None;
    }
    let rule = if file.is_generated() {
        "a generated file begins with its banner and a `//!` line; fix the emitter and generate again"
    } else {
        "a source file begins with `//!`; add a sentence on what the file does"
    };
    Some(format!("{}:1: {rule}", file.path))
}

/// No hand-written source is longer than [`MAX_LINES`].
pub(crate) fn lengths(files: &[File]) -> Vec<String> {
    let written = files.iter().filter(|file| file.is_rust() && !file.is_generated());
    let long = written.filter(|file| file.text.lines().count() > MAX_LINES);
    long.map(|file| {
        let lines = file.text.lines().count();
        format!("{}: {lines} lines, expected at most {MAX_LINES}; split it by idea", file.path)
    })
    .collect()
}

/// Module names are specific.
pub(crate) fn names(files: &[File]) -> Vec<String> {
    let written = files.iter().filter(|file| file.is_rust() && !file.is_generated());
    let parts = |file: &File| {
        file.path
            .trim_end_matches(".rs")
            .split('/')
            .find(|part| EMPTY_NAMES.contains(part))
            .map(|part| format!("{}: `{part}` says nothing; name it after its contents", file.path))
    };
    written.filter_map(parts).collect()
}

/// No tabs, no spaces at line ends, one line break at the end.
pub(crate) fn whitespace(files: &[File]) -> Vec<String> {
    let plain = files.iter().filter(|file| file.has_ending(&["rs", "toml", "md"]));
    plain.flat_map(irregular).collect()
}

fn irregular(file: &File) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in file.lines() {
        if line.contains('\t') {
            complaints.push(format!("{}:{number}: a tab; indent with spaces", file.path));
        }
        if line.ends_with(char::is_whitespace) {
            complaints.push(format!("{}:{number}: space at the end; remove it", file.path));
        }
    }
    if !file.text.ends_with('\n') || file.text.ends_with("\n\n") {
        complaints.push(format!("{}: expected one line break at the end", file.path));
    }
    complaints
}

/// No notes to oneself, no debugging left over.
pub(crate) fn leftovers(files: &[File]) -> Vec<String> {
    complain(files, &LEFTOVERS, |word| {
        format!("`{word}` is left over; finish it, or file an issue with the reason")
    })
}

/// No absolute path of a machine.
pub(crate) fn machine_paths(files: &[File]) -> Vec<String> {
    complain(files, &MACHINE_FOLDERS, |word| {
        format!("`{word}` is an absolute path; use a path relative to the repository")
    })
}

fn complain(files: &[File], words: &[&str], rule: impl Fn(&str) -> String) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| file.has_ending(&["rs", "toml", "md"])) {
        for (number, line) in file.lines() {
            let found = words.iter().find(|word| contains(line, word));
            complaints.extend(found.map(|word| format!("{}:{number}: {}", file.path, rule(word))));
        }
    }
    complaints
}

/// Returns whether a line contains a word as a whole. A text with other characters than letters need only be at the beginning of
/// a word.
fn contains(line: &str, word: &str) -> bool {
    if word.chars().all(char::is_alphabetic) {
        return word_in(line, word).is_some();
    }
    let outside = |c: char| !c.is_alphanumeric() && !['.', '_', '-'].contains(&c);
    line.match_indices(word).any(|(at, _)| at == 0 || line[..at].ends_with(outside))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of complaints of a rule about one file.
    fn complaints(rule: fn(&[File]) -> Vec<String>, path: &str, text: &str) -> usize {
        rule(&[File::new(path, text)]).len()
    }

    #[test]
    fn a_file_without_a_header_is_found() {
        for (path, text, expected) in [
            ("a/src/x.rs", "//! Holds x.\n", 0),
            ("a/src/x.rs", "use x;\n", 1),
            ("a/src/x.rs", "", 1),
            ("gen/a/src/x.rs", "// @generated by toolwright\n//! Holds x.\n", 0),
            ("gen/a/src/x.rs", "// @generated by toolwright\n\nuse x;\n", 1),
            ("gen/a/src/x.rs", "//! Holds x.\n", 1),
            ("a/page.md", "no header\n", 0),
        ] {
            assert_eq!(complaints(headers, path, text), expected, "{path}: {text:?}");
        }
    }

    #[test]
    fn a_long_file_is_found_unless_it_is_generated() {
        let long = "//! Long.\n".repeat(MAX_LINES + 1);
        assert_eq!(complaints(lengths, "a/src/x.rs", &long), 1);
        assert_eq!(complaints(lengths, "gen/a/src/x.rs", &long), 0);
    }

    #[test]
    fn an_empty_name_is_found() {
        assert_eq!(complaints(names, "a/src/utils.rs", ""), 1);
        assert_eq!(complaints(names, "a/src/common/mod.rs", ""), 1);
        assert_eq!(complaints(names, "a/src/naming.rs", ""), 0);
    }

    #[test]
    fn tabs_trailing_spaces_and_bad_ends_are_found() {
        for (text, expected) in
            [("a\n", 0), ("\ta\n", 1), ("a \n", 1), ("a", 1), ("a\n\n", 1), ("a\r\n", 0)]
        {
            assert_eq!(complaints(whitespace, "x.md", text), expected, "{text:?}");
        }
    }

    #[test]
    fn leftovers_are_found_but_not_names_that_contain_them() {
        for word in LEFTOVERS {
            assert_eq!(complaints(leftovers, "x.rs", &format!("// {word} later\n")), 1, "{word}");
        }
        assert_eq!(complaints(leftovers, "x.rs", "static UPDATE_TODOS: u8 = 1;\n"), 0);
    }

    #[test]
    fn absolute_paths_are_found_but_not_parts_of_other_paths() {
        for folder in MACHINE_FOLDERS {
            let text = format!("path = \"{folder}someone\"\n");
            assert_eq!(complaints(machine_paths, "x.toml", &text), 1, "{folder}");
        }
        let inside = format!("see example.org{}index\n", MACHINE_FOLDERS[0]);
        assert_eq!(complaints(machine_paths, "x.md", &inside), 0);
    }
}
