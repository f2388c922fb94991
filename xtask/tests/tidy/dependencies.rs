//! Checks that docs/dependencies.md lists the third-party dependencies of the published crates.

use crate::crate_graph::{dependencies, manifests};
use crate::tree::File;

const PAGE: &str = "docs/dependencies.md";

/// Each third-party dependency of a published crate has a row with its version, and there are no other rows.
pub(crate) fn listed(files: &[File]) -> Vec<String> {
    let text =
        |path: &str| files.iter().find(|file| file.path == path).map_or("", |file| &file.text);
    let published = manifests(files).filter(|file| {
        let is_named = file.lines().any(|(_, line)| line.starts_with("name = "));
        is_named && !file.lines().any(|(_, line)| line == "publish = false")
    });
    let mut named: Vec<&str> = published.flat_map(dependencies).collect();
    named.retain(|name| !name.starts_with("toolwright"));
    named.sort_unstable();
    named.dedup();
    let rows: Vec<(&str, &str)> = text(PAGE).lines().filter_map(row).collect();
    let mut complaints = Vec::new();
    for name in &named {
        let required = requirement(text("Cargo.toml"), name).unwrap_or("none");
        match rows.iter().find(|(listed, _)| listed == name) {
            None => complaints.push(format!(
                "{PAGE}: no row for `{name}`; add one with its version, what it is for and who maintains it"
            )),
            Some((_, version)) if *version != required => complaints.push(format!(
                "{PAGE}: `{name}` {version}, expected {required} as in Cargo.toml; review its changes and update the row"
            )),
            Some(_) => {}
        }
    }
    let left = rows.iter().filter(|(listed, _)| !named.contains(listed));
    complaints.extend(left.map(|(listed, _)| {
        format!("{PAGE}: `{listed}` is a dependency of no published crate; remove its row")
    }));
    complaints
}

/// The crate and the version in a row.
fn row(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("| `")?.split_once("` | ")?;
    Some((name, rest.split_once(" |")?.0))
}

/// The version that the workspace requires.
fn requirement<'t>(manifest: &'t str, name: &str) -> Option<&'t str> {
    let section = manifest.split_once("[workspace.dependencies]")?.1;
    let mut lines = section.lines().take_while(|line| !line.starts_with('['));
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
    let version = value.split_once("version = ").map_or(value, |(_, version)| version);
    version.strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_without_its_row_and_a_row_without_its_dependency_are_found() {
        let workspace =
            "[workspace.dependencies]\na = \"1.2\"\nb = { version = \"3\", features = [] }\n";
        for (rows, dependencies, publish, expected) in [
            ("| `a` | 1.2 | x | y |", "a.workspace = true", "", 0),
            ("| `a` | 1.2 | x | y |\n| `b` | 3 | x | y |", "a = {}\nb = {}", "", 0),
            ("| `a` | 1.1 | x | y |", "a = {}", "", 1),
            ("| `a` | 1.2 | x | y |", "a = {}\nb = {}", "", 1),
            ("| `a` | 1.2 | x | y |", "", "", 1),
            ("", "b = {}", "publish = false\n", 0),
            ("", "toolwright-runtime = {}", "", 0),
        ] {
            let crate_of_ours =
                format!("[package]\nname = \"x\"\n{publish}\n[dependencies]\n{dependencies}\n");
            let files = [
                File::new("Cargo.toml", workspace),
                File::new("crates/x/Cargo.toml", &crate_of_ours),
                File::new(PAGE, rows),
            ];
            assert_eq!(listed(&files).len(), expected, "{rows}: {dependencies}");
        }
    }
}
