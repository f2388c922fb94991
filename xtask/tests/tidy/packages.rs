//! Checks that published crates are complete packages. `cargo publish --workspace --dry-run` checks that they compile.

use crate::crate_graph::manifests;
use crate::tree::File;

/// The keys in the manifest of a published crate.
const KEYS: [&str; 5] = ["description = ", "license", "keywords = ", "categories = ", "include"];

/// The files beside the manifest.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Published crates are products with the keys and files that registries show, and cargo packages all their folders.
pub(crate) fn whole(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for manifest in manifests(files) {
        let says = |key: &str| manifest.lines().any(|(_, line)| line.starts_with(key));
        if !says("name = ") || says("publish = false") {
            continue;
        }
        let (path, folder) = (&manifest.path, manifest.folder());
        if folder != "codegen" && !folder.starts_with("crates/") {
            complaints.push(format!("{path}: this is not a product; expected `publish = false`"));
        }
        for key in KEYS.iter().filter(|key| !says(key)) {
            let key = key.trim_end_matches(" = ");
            complaints.push(format!("{path}: a published crate has a key `{key}`; add it"));
        }
        let file = |name: &str| files.iter().find(|file| file.path == format!("{folder}/{name}"));
        for name in FILES.iter().filter(|name| file(name).is_none()) {
            complaints.push(format!("{folder}/{name}: a published crate has this file; add it"));
        }
        let tests_readme = |library: &File| library.text.contains("include_str!(\"../README.md\")");
        if file("src/lib.rs").is_some_and(|library| !tests_readme(library)) {
            let library = format!("{folder}/src/lib.rs");
            complaints.push(format!("{library}: expected its README.md as a doc test; include it"));
        }
        let below = format!("{folder}/");
        let nested = files.iter().filter(|file| {
            file.path != *path && file.path.starts_with(&below) && file.name() == "Cargo.toml"
        });
        complaints.extend(nested.filter(|file| !file.path.contains("/tests/")).map(|file| {
            format!("{}: cargo leaves this folder out of the package; rename the file", file.path)
        }));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incomplete_package_is_found() {
        let manifest = "[package]\nname = \"x\"\ndescription = \"X\"\nlicense.workspace = true\nkeywords = []\n\
                        categories = []\ninclude.workspace = true\n";
        let whole_package = || {
            let others = FILES.map(|name| File::new(&format!("crates/x/{name}"), ""));
            let library = "#[doc = include_str!(\"../README.md\")]";
            let mut files = vec![
                File::new("crates/x/Cargo.toml", manifest),
                File::new("crates/x/src/lib.rs", library),
            ];
            files.extend(others);
            files
        };
        assert_eq!(whole(&whole_package()), [""; 0]);
        for missing in 1..5 {
            let mut files = whole_package();
            files[missing] = File::new(&files[missing].path.replace("crates/x/", "other/"), "");
            let is_library = missing == 1;
            assert_eq!(whole(&files).len(), usize::from(!is_library), "{missing}");
        }
        for (path, text, expected) in [
            ("crates/x/src/lib.rs", "", 1),
            ("crates/x/templates/new/Cargo.toml", "", 1),
            ("crates/x/tests/new/Cargo.toml", "", 0),
            ("bench/y/Cargo.toml", "[package]\nname = \"y\"\npublish = false\n", 0),
            ("bench/y/Cargo.toml", "[package]\nname = \"y\"\n", 9),
        ] {
            let mut files = whole_package();
            files.retain(|file| file.path != path);
            files.push(File::new(path, text));
            assert_eq!(whole(&files).len(), expected, "{path}: {text}");
        }
    }
}
