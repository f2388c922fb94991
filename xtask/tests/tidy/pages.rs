//! Checks the pages: their links and excerpts, the index, the decisions, the first page and the changelog.

use crate::tree::File;

const DECISIONS: &str = "docs/decisions/";

/// A line that begins so marks the code block below it as an excerpt of a file.
const EXCERPT: &str = "<!-- excerpt of ";

/// Links inside the repository lead to a file or a folder.
pub(crate) fn links(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for page in pages(files) {
        for (number, target) in targets(page) {
            if !exists(files, &resolve(page.folder(), target)) {
                let path = &page.path;
                complaints
                    .push(format!("{path}:{number}: `{target}` does not exist; fix the link"));
            }
        }
    }
    complaints
}

/// A link that is named after an item and leads to a Rust file leads to a file with the item.
pub(crate) fn items(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for page in pages(files) {
        for (number, line) in page.lines() {
            for (before, after) in line.match_indices("`](").map(|(at, _)| line.split_at(at)) {
                let item = before.rsplit("[`").next().unwrap_or_default();
                let target = after["`](".len()..].split([')', '#']).next().unwrap_or_default();
                let path = resolve(page.folder(), target);
                let Some(file) = files.iter().find(|file| file.path == path && file.is_rust())
                else {
                    continue;
                };
                // The name of the link is a path and not an item.
                if item.contains(['/', '.']) {
                    continue;
                }
                let name = item.rsplit("::").next().unwrap_or_default();
                if !has_word(&file.text, name) {
                    let page = &page.path;
                    complaints
                        .push(format!("{page}:{number}: {path} has no `{name}`; fix the link"));
                }
            }
        }
    }
    complaints
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .any(|found| found == word)
}

fn pages(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| file.has_ending(&["md"]) && !file.path.contains("/templates/"))
}

/// The targets of links to files, without their fragments.
fn targets(page: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut in_block = false;
    let prose = page.lines().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        in_block ^= fence;
        !fence && !in_block
    });
    prose.flat_map(|(number, line)| {
        let ends = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let files = ends.map(|target| target.split('#').next().unwrap_or_default());
        files
            .filter(|target| !target.is_empty() && !target.contains(':'))
            .map(move |target| (number, target))
    })
}

/// Resolves a path that is relative to a folder.
fn resolve(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn exists(files: &[File], path: &str) -> bool {
    let folder = format!("{path}/");
    path.is_empty() || files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
}

/// Excerpts equal the lines of their files. A line `…` stands for lines that are left out.
pub(crate) fn excerpts(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for page in pages(files) {
        let lines: Vec<&str> = page.text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let Some(path) = line.strip_prefix(EXCERPT) else { continue };
            let path = path.trim_end_matches("-->").trim();
            let block = lines[index + 1..].iter().skip(1).take_while(|line| **line != "```");
            let wrong = match files.iter().find(|file| file.path == path) {
                None => Some("the file does not exist".to_owned()),
                Some(file) => not_quoted(&file.text, &block.copied().collect::<Vec<_>>()),
            };
            complaints.extend(wrong.map(|wrong| {
                format!("{}:{}: excerpt of {path}: {wrong}; copy it again", page.path, index + 1)
            }));
        }
    }
    complaints
}

/// A message if the lines of a block are not in the text in this order.
fn not_quoted(text: &str, block: &[&str]) -> Option<String> {
    if block.is_empty() {
        return Some("there is no code block below".to_owned());
    }
    let mut rest: Vec<&str> = text.lines().collect();
    let pieces = block.split(|line| ["…", "// …", "# …"].contains(&line.trim()));
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        let Some(at) = rest.windows(piece.len()).position(|window| quotes(piece, window)) else {
            return Some(format!("the lines from `{}` on differ", piece[0].trim()));
        };
        rest.drain(..at + piece.len());
    }
    None
}

/// Returns whether quoted lines equal those of a file, without a common indentation.
fn quotes(piece: &[&str], window: &[&str]) -> bool {
    let indent = window[0].len().saturating_sub(piece[0].len());
    let (shift, _) = window[0].split_at_checked(indent).unwrap_or_default();
    shift.trim().is_empty()
        && piece.iter().zip(window).all(|(quoted, line)| {
            quoted == line || line.strip_prefix(shift).is_some_and(|rest| rest == *quoted)
        })
}

/// Each decision has its own number, is listed in the index, and has the three sections. Numbers may be missing, as changes with
/// decisions land in any order.
pub(crate) fn decisions(files: &[File]) -> Vec<String> {
    let index = files.iter().find(|file| file.path == format!("{DECISIONS}README.md"));
    let index = index.map_or("", |file| file.text.as_str());
    let records = files.iter().filter(|file| {
        file.path.starts_with(DECISIONS) && file.name().starts_with(|c: char| c.is_ascii_digit())
    });
    let (mut complaints, mut last) = (Vec::new(), String::new());
    for record in records {
        let name = record.name();
        let number = name.split_once('-').map_or(name, |(number, _)| number);
        let is_number = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || number == last {
            let expected = "expected a number of four digits that no other page has";
            complaints.push(format!("{}: {expected}", record.path));
        }
        number.clone_into(&mut last);
        if !index.contains(&format!("]({name})")) {
            complaints.push(format!("{}: add it to {DECISIONS}README.md", record.path));
        }
        for part in ["## Context", "## Decision", "## Consequences"] {
            if !record.text.lines().any(|line| line == part) {
                complaints.push(format!("{}: expected a section `{part}`", record.path));
            }
        }
    }
    complaints
}

/// Every page of docs/ is linked from docs/README.md, or from the README.md of its folder.
pub(crate) fn indexed(files: &[File]) -> Vec<String> {
    let is_linked = |page: &&File, index: &str| {
        let index = files.iter().find(|file| file.path == index);
        index.is_some_and(|index| {
            targets(index).any(|(_, target)| resolve(index.folder(), target) == page.path)
        })
    };
    let pages = pages(files).filter(|page| page.path.starts_with("docs/"));
    let lost = pages.filter(|page| {
        let own = format!("{}/README.md", page.folder());
        page.path != "docs/README.md"
            && !is_linked(page, "docs/README.md")
            && (page.path == own || !is_linked(page, &own))
    });
    lost.map(|page| format!("{}: link it from docs/README.md", page.path)).collect()
}

/// The first page can be read in five minutes.
pub(crate) fn first_page(files: &[File]) -> Vec<String> {
    let page = files.iter().find(|file| file.path == "README.md");
    let lines = page.map_or(0, |page| page.text.lines().count());
    let complaint = format!("README.md: has {lines} lines, expected 200 at most");
    if lines <= 200 { Vec::new() } else { vec![complaint] }
}

/// The changelog has a section for unreleased changes.
pub(crate) fn changelog(files: &[File]) -> Vec<String> {
    let page = files.iter().find(|file| file.path == "CHANGELOG.md");
    let found = page.is_some_and(|page| page.text.lines().any(|line| line == "## [Unreleased]"));
    let complaint =
        "CHANGELOG.md: expected a section `## [Unreleased]`; add it above the last release";
    if found { Vec::new() } else { vec![complaint.to_owned()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_link_is_found() {
        for (path, text, expected) in [
            ("README.md", "[a](docs/a.md) and [b](docs)", 0),
            ("README.md", "[a](docs/b.md)", 1),
            ("docs/a.md", "[up](../README.md#part) [here](a.md) [there](#part)", 0),
            ("docs/a.md", "[up](README.md)", 1),
            ("README.md", "[web](https://example.org/x)", 0),
            ("README.md", "```\n[code](nowhere)\n```\n[a](nowhere)", 1),
        ] {
            let others = [File::new("docs/a.md", ""), File::new("README.md", "")];
            let files: Vec<File> = others.into_iter().chain([File::new(path, text)]).collect();
            assert_eq!(links(&files).len(), expected, "{path}: {text}");
        }
    }

    #[test]
    fn a_link_to_a_missing_item_is_found() {
        for (text, expected) in [
            ("[`gives`](a.rs), [`a::gives`](a.rs)", 0),
            ("[`a.rs`](a.rs) and [gave](a.rs)", 0),
            ("[`gives`](a.rs) and [`give`](a.rs)", 1),
        ] {
            let files = [File::new("a.rs", "fn gives() {}"), File::new("a.md", text)];
            assert_eq!(items(&files).len(), expected, "{text}");
        }
    }

    #[test]
    fn an_excerpt_that_is_not_in_the_file_is_found() {
        let code = "one\ntwo\nthree\nfour\n    in\n      deeper\n";
        for (block, expected) in [
            ("two\nthree", 0),
            ("one\n…\nfour", 0),
            ("one\n    // …\nfour", 0),
            ("one\nthree", 1),
            ("four\n…\none", 1),
            ("five", 1),
            ("in\n  deeper", 0),
            ("in\ndeeper", 1),
        ] {
            let page = format!("<!-- excerpt of src/x.rs -->\n```rust\n{block}\n```\n");
            let files = [File::new("README.md", &page), File::new("src/x.rs", code)];
            assert_eq!(excerpts(&files).len(), expected, "{block}");
            assert_eq!(excerpts(&files[..1]).len(), 1, "the file is missing");
        }
    }

    #[test]
    fn a_decision_without_number_entry_or_section_is_found() {
        let whole = "# 1. A\n\n## Context\n\n## Decision\n\n## Consequences\n";
        for (name, text, expected) in [
            ("0001-a.md", whole, 0),
            ("0003-a.md", whole, 1),
            ("1-a.md", whole, 2),
            ("0001-b.md", whole, 1),
            ("0001-a.md", "## Context\n\n## Decision\n", 1),
        ] {
            let files = [
                File::new(&format!("{DECISIONS}{name}"), text),
                File::new(&format!("{DECISIONS}README.md"), "[1](0001-a.md)"),
            ];
            assert_eq!(decisions(&files).len(), expected, "{name}: {text:?}");
        }
        let index = File::new(&format!("{DECISIONS}README.md"), "[1](0001-a.md) [1](0001-b.md)");
        let [a, b] =
            ["0001-a.md", "0001-b.md"].map(|name| File::new(&format!("{DECISIONS}{name}"), whole));
        assert_eq!(decisions(&[a, b, index]).len(), 1, "one number for two");
    }

    #[test]
    fn a_page_that_no_index_links_is_found() {
        for (index, page, expected) in [
            ("[a](a.md)", "docs/a.md", 0),
            ("[a](guide/a.md)", "docs/guide/a.md", 0),
            ("[d](decisions/README.md)", "docs/decisions/README.md", 0),
            ("", "docs/a.md", 1),
            ("", "docs/decisions/README.md", 1),
            ("[b](b.md)", "docs/a.md", 1),
        ] {
            let files = [File::new("docs/README.md", index), File::new(page, "[a](a.md)")];
            assert_eq!(indexed(&files).len(), expected, "{index}: {page}");
        }
    }

    #[test]
    fn a_long_first_page_is_found() {
        assert_eq!(first_page(&[File::new("README.md", &"line\n".repeat(200))]), [""; 0]);
        assert_eq!(first_page(&[File::new("README.md", &"line\n".repeat(201))]).len(), 1);
    }

    #[test]
    fn a_changelog_without_an_unreleased_section_is_found() {
        assert_eq!(changelog(&[File::new("CHANGELOG.md", "## [Unreleased]\n")]), [""; 0]);
        assert_eq!(changelog(&[File::new("CHANGELOG.md", "## 0.1.0\n")]).len(), 1);
        assert_eq!(changelog(&[]).len(), 1);
    }
}
