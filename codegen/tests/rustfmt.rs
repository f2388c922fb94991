//! Generated code is laid out as rustfmt does it. Never about what the code says.

use std::path::{Path, PathBuf};
use std::process::Command;

use toolwright_codegen::compile;
use toolwright_codegen::disk::read_sources;
use toolwright_codegen::options::Options;

/// The files that schemas become, written below a folder.
fn generate(schema: &str, folder: &Path) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = read_sources(&[root.join(schema)]).expect("the schemas are readable");
    let compiled = compile(&read.sources, &Options::default()).expect("the schemas are right");
    // A crate's root declares its modules in an order of its own.
    let is_module = |path: &str| path.contains("/src/") && !path.ends_with("/lib.rs");
    let modules = compiled.files.iter().filter(|(path, _)| is_module(path));
    modules.map(|(path, text)| written(&folder.join(path), text)).collect()
}

fn written(path: &Path, text: &str) -> PathBuf {
    std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a new folder");
    std::fs::write(path, text).expect("a new file");
    path.to_owned()
}

#[test]
fn rustfmt_finds_nothing_to_change() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for schema in ["schema", "tests/codecs", "tests/real"] {
        let files = generate(schema, &folder.path().join(schema));
        assert!(files.len() > 10, "{schema}: {}", files.len());
        let found = Command::new("rustfmt")
            .args(["--check", "--edition", "2024", "--config", "use_small_heuristics=Max"])
            .args(files)
            .output()
            .expect("rustfmt is part of the toolchain");
        assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stdout));
    }
}
