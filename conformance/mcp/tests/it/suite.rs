//! The official conformance suite.

use std::fs;
use std::path::Path;

use toolwright_mcp_conformance::suite;

use crate::{PROGRAM, npm};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mcp-conformance.md");

/// G25: the suite's server is generated from a schema file. What fails or passes unexpectedly is named here.
#[test]
fn g25_the_suite_finds_what_is_expected_and_the_page_says_so() {
    let Some(npm) = npm() else { return };
    let report = suite::all(Path::new(PROGRAM), &npm).unwrap();
    let surprises = report.surprises();
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
    let written = fs::read_to_string(PAGE).unwrap();
    let date = written.lines().find_map(|line| line.strip_prefix(suite::DATED)?.split_once(','));
    let (date, _) = date.expect("the page says when it was made");
    assert!(
        report.page(date) == written,
        "docs/mcp-conformance.md is out of date; run `cargo xtask mcp-conformance`"
    );
}
