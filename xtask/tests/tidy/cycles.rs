//! Checks that the modules of each folder of each crate import each other without cycles.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::File;

/// The path of a module from the root of its crate.
type Path = Vec<String>;

/// The modules of a crate, each with its code.
type Modules = BTreeMap<Path, String>;

/// The modules of one folder, each with the others that it or its submodules import.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Complains about modules that import themselves through others of their folder.
pub(crate) fn none(files: &[File]) -> Vec<String> {
    let root = |file: &File| Some(file.path.split_once("/src/")?.0.to_owned() + "/src/");
    let roots: BTreeSet<String> =
        files.iter().filter(|file| file.is_rust()).filter_map(root).collect();
    let found = roots.iter().flat_map(|root| {
        let found = cycles(&modules(files, root));
        found.into_iter().map(move |(folder, cycle)| {
            let folder = folder.join("/");
            format!("{root}{folder}: {cycle:?} import each other; move what both need to a module below them")
        })
    });
    found.collect()
}

/// The modules of a crate, without their tests and without the code that they generate.
fn modules(files: &[File], root: &str) -> Modules {
    let mut modules = Modules::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let Some(path) = file.path.strip_prefix(root) else { continue };
        let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let is_root = ["lib", "main"].contains(&path);
        let path: Path = path.split('/').filter(|_| !is_root).map(str::to_owned).collect();
        if path.iter().any(|part| part == "tests") {
            continue;
        }
        let text = file.code().map(|(_, line)| line).collect::<Vec<_>>().join("\n");
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        modules.insert(path, without_quotes(text));
    }
    modules
}

/// A text without the contents of `quote!` and `push!`, which are generated code.
fn without_quotes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = ["quote!", "push!"].iter().filter_map(|name| rest.find(name)).min() {
        out.push_str(&rest[..at]);
        let mut depth = 0;
        let end = rest[at..].find(|c| {
            depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
            depth == 0 && ")]}".contains(c)
        });
        rest = end.map_or("", |end| &rest[at + end..]);
    }
    out + rest
}

/// The cycles of each folder, each as the list of its modules.
fn cycles(modules: &Modules) -> Vec<(Path, Vec<String>)> {
    let mut graphs: BTreeMap<Path, Graph> = BTreeMap::new();
    for (module, code) in modules {
        for imported in imported(modules, module, code) {
            // At the first step where their paths differ, the one imports the other.
            let shared = module.iter().zip(&imported).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (module.get(shared), imported.get(shared)) {
                let graph = graphs.entry(module[..shared].to_vec()).or_default();
                graph.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    let mut cycles = Vec::new();
    for (folder, graph) in &graphs {
        let mut known = BTreeSet::new();
        for module in graph.keys() {
            let reached = reached(graph, module);
            if reached.contains(module) && !known.contains(module) {
                let leads_back = |other: &&String| self::reached(graph, other).contains(module);
                let cycle: Vec<String> = reached.iter().filter(leads_back).cloned().collect();
                known.extend(cycle.iter().cloned());
                cycles.push((folder.clone(), cycle));
            }
        }
    }
    cycles
}

/// The modules that a module reaches.
fn reached(graph: &Graph, module: &str) -> BTreeSet<String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![module]);
    while let Some(next) = open.pop() {
        for named in graph.get(next).into_iter().flatten() {
            if seen.insert(named.clone()) {
                open.push(named);
            }
        }
    }
    seen
}

/// The modules that the code of a module names by `crate::` or `super::`.
fn imported(modules: &Modules, module: &Path, code: &str) -> BTreeSet<Path> {
    let mut found = BTreeSet::new();
    for (start, from) in starts(module, code) {
        for path in paths(&code[start..]) {
            let path = [from, &path].concat();
            // The longest prefix that is a module. If it reexports the name, the module that it takes the name from.
            let known = (0..=path.len()).rev().find(|&end| modules.contains_key(&path[..end]));
            let Some(end) = known else { continue };
            let (owner, name) = (&path[..end], path.get(end));
            let origin = name.and_then(|name| origin(modules, owner, name));
            found.insert(origin.unwrap_or_else(|| owner.to_vec()));
        }
    }
    found
}

/// The offsets after `crate::` and `super::` in the code of a module, each with the module that the path is relative to.
fn starts<'a>(module: &'a [String], code: &str) -> Vec<(usize, &'a [String])> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut starts = Vec::new();
    for word in ["crate::", "super::"] {
        for (at, _) in code.match_indices(word).filter(|(at, _)| !code[..*at].ends_with(is_part)) {
            let ups = code[at..].split("::").take_while(|part| *part == "super").count();
            let start = at + if ups == 0 { word.len() } else { ups * word.len() };
            let depth = if ups == 0 { Some(0) } else { module.len().checked_sub(ups) };
            starts.extend(depth.map(|depth| (start, &module[..depth])));
        }
    }
    starts
}

/// The path at the beginning of a text, or the paths of a tree in braces.
fn paths(text: &str) -> Vec<Path> {
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if let Some(tree) = text.strip_prefix('{') {
        return items(tree).into_iter().flat_map(paths).collect();
    }
    match text[name.len()..].strip_prefix("::") {
        Some(rest) if !name.is_empty() => {
            paths(rest).into_iter().map(|path| [vec![name.clone()], path].concat()).collect()
        }
        _ => vec![vec![name]],
    }
}

/// The items of a tree of imports, up to its closing brace.
fn items(tree: &str) -> Vec<&str> {
    let (mut depth, mut from, mut items) = (0, 0, Vec::new());
    for (at, c) in tree.char_indices() {
        let is_end = c == '}' && depth == 0;
        if (c == ',' && depth == 0) || is_end {
            items.push(tree[from..at].trim_start());
            from = at + 1;
        }
        if is_end {
            break;
        }
        depth += i32::from(c == '{') - i32::from(c == '}');
    }
    items.retain(|item| !item.is_empty());
    items
}

/// The submodule from which a module imports a name, if there is one.
fn origin(modules: &Modules, module: &[String], name: &str) -> Option<Path> {
    let code = &modules[module];
    let uses = code.match_indices("use ").map(|(at, word)| &code[at + word.len()..]);
    let path = uses.flat_map(paths).find(|path| path.last().is_some_and(|last| last == name))?;
    let inner = [module, &path[..1]].concat();
    (path.len() > 1 && modules.contains_key(&inner)).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_found_for_every_form_of_import() {
        for (a, b, expected) in [
            ("use crate::b::B;", "", 0),
            ("use crate::b::B;", "use crate::a::A;", 1),
            ("use super::b::B;", "use super::a::A;", 1),
            ("use super::{b, c};", "fn b(a: crate::a::A) {}", 1),
            ("use super::{c::{self, C}, b};", "use crate::{a::A, c};", 1),
            ("use crate::b::B;", "// crate::a", 0),
            ("use crate::b::B;", "quote!(use super::a::A;)", 0),
            ("use crate::b::B;", "quote!(f(x)) + super::a::A", 1),
            ("use crate::b::B;", "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}", 0),
            ("use super::super::b::B;", "use super::a::A;", 0),
            // A name that the root reexports belongs to the submodule.
            ("use crate::B;", "use crate::a::A;", 1),
            ("use crate::Root;", "use crate::a::A;", 0),
        ] {
            let root = "mod a;\npub use a::A;\npub use b::{B, C};\nstruct Root;";
            for (folder, head) in [("codegen/src", "crate::"), ("codegen/src/inner", "super::")] {
                let file = |name: &str, text: &str| {
                    let path = format!("{folder}/{name}").replace("src/mod", "src/lib");
                    File::new(&path, &text.replace("crate::", head))
                };
                let files = [file("mod.rs", root), file("a.rs", a), file("b/mod.rs", b)];
                assert_eq!(none(&files).len(), expected, "{folder}: {a} {b}");
            }
        }
        let deep = [
            File::new("codegen/src/a.rs", "mod x;"),
            File::new("codegen/src/a/x.rs", "use super::super::b::B;"),
            File::new("codegen/src/b.rs", "use crate::a;"),
        ];
        assert_eq!(none(&deep).len(), 1);
    }
}
