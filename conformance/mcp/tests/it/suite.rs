//! Runs the official conformance suite.

use std::fs;
use std::path::Path;

use toolwright_mcp_conformance::suite;

use crate::{PROGRAM, npm};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mcp-conformance.md");

/// G25: the server of the suite is generated from a schema file.
#[test]
fn g25_the_suite_finds_only_expected_failures_and_the_page_is_up_to_date() {
    let Some(npm) = npm() else { return };
    let report = suite::all(Path::new(PROGRAM), &npm).unwrap();
    let surprises = report.surprises();
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
    let written = fs::read_to_string(PAGE).unwrap();
    let date = written.lines().find_map(|line| line.strip_prefix(suite::DATED)?.split_once(','));
    let (date, _) = date.expect("the page has a date");
    assert!(
        report.page(date) == written,
        "docs/mcp-conformance.md is out of date; run `cargo xtask mcp-conformance`"
    );
}
