//! Counts the public names of the runtime, and the names that the examples of its first page use.

use std::collections::BTreeSet;

use crate::tree::File;

/// The maximum number of public names of the runtime without features.
const MOST: usize = 74;

/// The maximum number of our names that the example under each heading of the first page may use.
const EXAMPLES: [(&str, usize); 3] =
    [("# Call a tool", 6), ("# Write a tool", 8), ("# Run an agent", 12)];

const SOURCE: &str = "crates/toolwright-runtime/src/";

/// Complains about a runtime that has too many public names.
pub(crate) fn public(files: &[File]) -> Vec<String> {
    let mut names = BTreeSet::new();
    collect(files, "lib", &mut names);
    let many = names.len() > MOST;
    let complaint = format!(
        "{SOURCE} has {} public names, at most {MOST}; make some private: {names:?}",
        names.len()
    );
    many.then_some(complaint).into_iter().collect()
}

/// Adds the public names of a module and its public submodules without features.
fn collect(files: &[File], module: &str, names: &mut BTreeSet<String>) {
    let paths = [format!("{SOURCE}{module}.rs"), format!("{SOURCE}{module}/mod.rs")];
    let Some(file) = files.iter().find(|file| paths.contains(&file.path)) else { return };
    let code: Vec<_> = file.code().map(|(_, line)| line).collect();
    let code = code.join("\n");
    // Items inside others are indented.
    let code = format!("\n{code}");
    let items: Vec<_> = code.split("\npub ").collect();
    for item in items.windows(2) {
        let &[before, item] = item else { continue };
        if before.lines().last().is_some_and(|line| line.starts_with("#[cfg(")) {
            continue;
        }
        let words = item.trim_start_matches("async ").trim_start_matches("const ");
        let (kind, rest) = words.split_once(' ').unwrap_or_default();
        match kind {
            "use" => names.extend(imported(rest)),
            "mod" => {
                let name = rest.split([';', ' ']).next().unwrap_or_default();
                let path =
                    if module == "lib" { name.to_owned() } else { format!("{module}/{name}") };
                collect(files, &path, names);
            }
            _ => names.extend(identifiers(rest).into_iter().next().map(str::to_owned)),
        }
    }
}

/// The names that a `use` imports; `rest` is the text after `use`.
fn imported(rest: &str) -> Vec<String> {
    let path = rest.split(';').next().unwrap_or_default();
    let list = path.rsplit_once('{').map_or(path, |(_, list)| list);
    let shown = |name: &str| {
        name.rsplit("::")
            .next()
            .unwrap_or_default()
            .rsplit(" as ")
            .next()
            .map(str::trim)
            .map(str::to_owned)
    };
    let names = list.trim_end_matches('}').split(',').filter_map(shown);
    names.filter(|name| !name.is_empty()).collect()
}

fn identifiers(text: &str) -> Vec<&str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.split(|letter| !is_part(letter)).filter(|word| !word.is_empty()).collect()
}

/// Complains about examples of the first page that use too many names of ours.
pub(crate) fn examples(files: &[File]) -> Vec<String> {
    let path = format!("{SOURCE}lib.rs");
    let Some(file) = files.iter().find(|file| file.path == path) else { return Vec::new() };
    let page: Vec<_> = file.text.lines().filter_map(|line| line.strip_prefix("//!")).collect();
    let page = page.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>();
    let page = page.join("\n");
    let example = |(heading, most): (&str, usize)| {
        let after = page.split_once(&format!("\n{heading}\n")).map(|(_, after)| after);
        let block =
            after.and_then(|after| Some(after.split_once("```\n")?.1.split_once("\n```")?.0));
        let Some(block) = block else {
            return Some(format!("{path}: no example under `{heading}`"));
        };
        // Hidden lines begin with `# `.
        let shown: Vec<_> = block.lines().filter(|line| !line.starts_with("# ")).collect();
        let used: BTreeSet<_> = shown
            .join("\n")
            .split("toolwright")
            .skip(1)
            .filter_map(|rest| rest.strip_prefix("_runtime").unwrap_or(rest).strip_prefix("::"))
            .flat_map(|rest| imported(rest.split([';', '(', ')', '<']).next().unwrap_or_default()))
            .collect();
        (used.is_empty() || used.len() > most).then(|| {
            format!(
                "{path}: the example under `{heading}` uses {} names, at most {most}: {used:?}",
                used.len()
            )
        })
    };
    EXAMPLES.into_iter().filter_map(example).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_for_every_kind_of_item() {
        let files = [
            File::new(
                "crates/toolwright-runtime/src/lib.rs",
                "mod a;\npub mod b;\npub use a::{\n    A, One as B,\n};\npub use a::c;\n#[cfg(feature = \"f\")]\npub use a::F;\npub(crate) use a::D;",
            ),
            File::new(
                "crates/toolwright-runtime/src/b/mod.rs",
                "pub struct E<T>(T);\npub async fn f() {}\nimpl E<u8> {\n    pub fn g() {}\n}\npub use x::A;",
            ),
        ];
        let mut names = BTreeSet::new();
        collect(&files, "lib", &mut names);
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["A", "B", "E", "c", "f"]);
    }

    #[test]
    fn an_example_that_is_missing_or_uses_too_many_names_is_found() {
        let page = |names: &str| {
            let text = format!(
                "//! # Call a tool\n//!\n//! ```\n//! use toolwright::{{{names}}};\n//! # Ok::<(), toolwright_runtime::Z>(())\n//! ```\n"
            );
            examples(&[File::new(
                "crates/toolwright-runtime/src/lib.rs",
                &format!("//! X.\n//!\n{text}"),
            )])
        };
        let missing = 2;
        assert_eq!(page("A, B, C, D, E, F").len(), missing);
        assert_eq!(page("A, B, C,\n//!     D, E, F, G").len(), missing + 1);
    }
}
