//! Rules about any text of the repository, line by line. Never about what a file may use: see `walls`.

use crate::tree::{File, word_in};

/// Longer than this, a file holds more than one idea.
const MAX_LINES: usize = 600;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 8] =
    ["utils", "util", "helpers", "helper", "common", "misc", "manager", "data"];

/// Words that mean "not finished", in two halves so that this file does not hold them.
const LEFTOVERS: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("dbg", "!("),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
];

/// Where machines keep what is theirs, in two halves for the same reason.
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
        "a generated file begins with its banner and a `//!` line; mend the emitter and generate again"
    } else {
        "a source file begins with `//!`; say what lives here, and what never does"
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

/// No module is called after nothing in particular.
pub(crate) fn names(files: &[File]) -> Vec<String> {
    let written = files.iter().filter(|file| file.is_rust() && !file.is_generated());
    let parts = |file: &File| {
        file.path
            .trim_end_matches(".rs")
            .split('/')
            .find(|part| EMPTY_NAMES.contains(part))
            .map(|part| format!("{}: `{part}` says nothing; name it by what it holds", file.path))
    };
    written.filter_map(parts).collect()
}

/// No tabs, no spaces at line ends, one line break at the end.
pub(crate) fn whitespace(files: &[File]) -> Vec<String> {
    let plain = files.iter().filter(|file| file.has_ending(&["rs", "toml", "md"]));
    plain.flat_map(unplain).collect()
}

fn unplain(file: &File) -> Vec<String> {
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
        format!("`{word}` is left over; finish it, or file an issue and say why it waits")
    })
}

/// No path that exists on one machine only.
pub(crate) fn machine_paths(files: &[File]) -> Vec<String> {
    complain(files, &MACHINE_FOLDERS, |word| {
        format!("`{word}` is a folder of one machine; use a path relative to the repository")
    })
}

fn complain(files: &[File], words: &[&str], rule: impl Fn(&str) -> String) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| file.has_ending(&["rs", "toml", "md"])) {
        for (number, line) in file.lines() {
            let found = words.iter().find(|word| stands_in(line, word));
            complaints.extend(found.map(|word| format!("{}:{number}: {}", file.path, rule(word))));
        }
    }
    complaints
}

/// A word stands alone; anything else may have letters after it, and a path none before.
fn stands_in(line: &str, word: &str) -> bool {
    if word.chars().all(char::is_alphabetic) {
        return word_in(line, word).is_some();
    }
    let outside = |c: char| !c.is_alphanumeric() && !['.', '_', '-'].contains(&c);
    line.match_indices(word).any(|(at, _)| at == 0 || line[..at].ends_with(outside))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a rule complains about one file.
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
    fn leftovers_are_found_but_not_names_that_hold_them() {
        for word in LEFTOVERS {
            assert_eq!(complaints(leftovers, "x.rs", &format!("// {word} later\n")), 1, "{word}");
        }
        assert_eq!(complaints(leftovers, "x.rs", "static UPDATE_TODOS: u8 = 1;\n"), 0);
    }

    #[test]
    fn folders_of_a_machine_are_found_but_not_parts_of_others() {
        for folder in MACHINE_FOLDERS {
            let text = format!("path = \"{folder}someone\"\n");
            assert_eq!(complaints(machine_paths, "x.toml", &text), 1, "{folder}");
        }
        let inside = format!("see example.org{}index\n", MACHINE_FOLDERS[0]);
        assert_eq!(complaints(machine_paths, "x.md", &inside), 0);
    }
}
