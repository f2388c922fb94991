//! Tests of `cargo xtask typify`: it distinguishes all results, and the counts in docs/decisions/0001 are up to date.

use std::fs;
use std::path::{Path, PathBuf};

use toolwright_generation_bench::verdicts::{Counts, run};

/// A schema for each result, in the format of the suite.
const RESULTS: &str = r#"[
    { "description": "right", "schema": { "type": "object", "required": ["a"], "properties": { "a": { "type": "string" } } },
      "tests": [{ "description": "", "data": { "a": "b" }, "valid": true }, { "description": "", "data": {}, "valid": false }] },
    { "description": "a range is dropped", "schema": { "type": "array", "items": { "type": "string" }, "minItems": 2 },
      "tests": [{ "description": "", "data": ["a"], "valid": false }, { "description": "", "data": ["a", "b"], "valid": true }] },
    { "description": "refused", "schema": { "type": "no such type" },
      "tests": [{ "description": "", "data": 1, "valid": true }] },
    { "description": "no object, so not counted", "schema": true, "tests": [] }
]"#;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn counted(folder: &Path) -> Counts {
    let program = Path::new(env!("CARGO_BIN_EXE_toolwright-generation-bench"));
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("typify-verdicts");
    run(program, folder, &scratch, &repository().join("Cargo.lock")).unwrap()
}

/// This is one test, since both parts compile in the same folder.
#[test]
fn results_are_counted_and_the_page_has_the_counts_of_the_schemas_in_the_repository() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("results.json"), RESULTS).unwrap();
    let found = counted(folder.path());
    let expected =
        Counts { schemas: 3, refused: 1, accepts_invalid: 1, right: 1, ..Counts::default() };
    assert_eq!(found, expected);

    let found = counted(&repository().join("conformance/json-schema/cases/suite"));
    let page = fs::read_to_string(repository().join("docs/decisions/0001-own-type-emitter.md"));
    let row = found.row("kept in this repository");
    assert!(page.unwrap().contains(&row), "{row} is not on the page; run `cargo xtask typify`");
}
