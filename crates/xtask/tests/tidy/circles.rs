//! Checks that the modules of each crate import each other without cycles.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::File;

/// The top-level modules of a crate, each with the modules it imports.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Complains about modules that import themselves through others.
pub(crate) fn none(files: &[File]) -> Vec<String> {
    let root = |file: &File| Some(file.path.split_once("/src/")?.0.to_owned() + "/src/");
    let roots: BTreeSet<String> =
        files.iter().filter(|file| file.is_rust()).filter_map(root).collect();
    let circle = |root: &String| {
        let graph = graph(files, root);
        let on_circle: Vec<&String> =
            graph.keys().filter(|module| leads_back(&graph, module)).collect();
        (!on_circle.is_empty()).then(|| {
            format!("{root}: {on_circle:?} lead in a circle; move what both need below them")
        })
    };
    roots.iter().filter_map(circle).collect()
}

fn leads_back(graph: &Graph, module: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![module];
    while let Some(next) = open.pop() {
        for named in graph.get(next).into_iter().flatten() {
            if named == module {
                return true;
            }
            if seen.insert(named) {
                open.push(named);
            }
        }
    }
    false
}

fn graph(files: &[File], root: &str) -> Graph {
    let mut graph = Graph::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let Some(path) = file.path.strip_prefix(root) else { continue };
        let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let module = path.split('/').next().unwrap_or_default();
        if module == "lib" || path.ends_with("tests") {
            continue;
        }
        let up = "super::".repeat(path.split('/').count());
        graph.entry(module.to_owned()).or_default().extend(named(file, &up));
    }
    let modules: BTreeSet<String> = graph.keys().cloned().collect();
    for (module, named) in &mut graph {
        named.retain(|other| other != module && modules.contains(other));
    }
    graph
}

/// Returns the names that follow `crate::`, or as many `super::` as reach the root of the crate.
fn named(file: &File, up: &str) -> BTreeSet<String> {
    let text = file.code().map(|(_, line)| line).collect::<Vec<_>>().join("\n");
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let below = text.replace(&format!("super::{up}"), "");
    let behind_crate = text.split("crate::").skip(1);
    let behind_up = below.split(up).skip(1);
    let names = behind_crate.chain(behind_up).flat_map(|rest| match rest.strip_prefix('{') {
        Some(list) => list.split('}').next().unwrap_or_default().split(',').collect(),
        None => vec![rest],
    });
    let is_end = |c: char| !c.is_alphanumeric() && c != '_';
    names.filter_map(|name| name.trim().split(is_end).next()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_however_a_module_is_named() {
        for (a, b, expected) in [
            ("use crate::b::B;", "", 0),
            ("use crate::b::B;", "use crate::a::A;", 1),
            ("use super::b::B;", "use super::a::A;", 1),
            ("use super::{b, c};", "fn b(a: crate::a::A) {}", 1),
            ("use crate::b::B;", "// crate::a", 0),
            ("use crate::b::B;", "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}", 0),
            ("use super::super::b::B;", "use super::a::A;", 0),
        ] {
            let files = [File::new("codegen/src/a.rs", a), File::new("codegen/src/b/mod.rs", b)];
            assert_eq!(none(&files).len(), expected, "{a} {b}");
        }
        let deep = [
            File::new("codegen/src/a/x.rs", "use super::super::b::B;"),
            File::new("codegen/src/b.rs", "use crate::a;"),
        ];
        assert_eq!(none(&deep).len(), 1);
    }
}
