//! Tests that the generated codecs agree with the corpora on every instance.

use toolwright_conformance::record::{Area, Row};
use toolwright_conformance::{Judged, judge, record};
use toolwright_prerequisites::{Prerequisite, has};

/// The files of this package whose schemas the compiler must refuse.
const REFUSED: [&str; 1] = ["refused"];

#[test]
fn every_kept_schema_is_accepted_or_refused_as_expected() {
    let record = record();
    for judged in judge(&record, Area::Kept) {
        let cases = judged.source.cases.len();
        let expected = if REFUSED.contains(&judged.source.name.as_str()) { cases } else { 0 };
        assert_eq!(judged.refused.len(), expected, "{}: {:#?}", judged.source.name, judged.refused);
    }
}

#[test]
fn every_kept_instance_is_judged_right() {
    all_agree(Area::Kept);
}

#[test]
fn every_instance_of_the_suite_is_judged_right() {
    if has(&[Prerequisite::Corpora]) {
        all_agree(Area::Suite);
    }
}

#[test]
fn every_instance_of_the_real_servers_is_judged_right() {
    if has(&[Prerequisite::Corpora]) {
        all_agree(Area::Servers);
    }
}

#[test]
fn every_real_tool_is_accepted() {
    if !has(&[Prerequisite::Corpora]) {
        return;
    }
    let record = record();
    let judged = judge(&record, Area::Servers);
    let refused: Vec<_> = judged.iter().flat_map(|server| &server.refused).collect();
    let lines = refused
        .iter()
        .map(|refusal| format!("{}: {}: {}\n", refusal.case.title, refusal.code, refusal.message));
    assert!(
        refused.is_empty(),
        "{} tools are refused:\n{}",
        refused.len(),
        lines.collect::<String>()
    );
}

/// The compiler fetches nothing, and does not know the meaning of other vocabularies.
#[test]
fn remote_references_and_foreign_dialects_are_refused() {
    if !has(&[Prerequisite::Corpora]) {
        return;
    }
    let record = record();
    for judged in judge(&record, Area::Suite) {
        if ["refRemote", "vocabulary"].contains(&judged.source.name.as_str()) {
            assert_eq!(judged.refused.len(), judged.source.cases.len(), "{}", judged.source.name);
        }
    }
}

/// Tests the harness itself.
#[test]
fn a_wrong_expectation_is_a_disagreement() {
    let mut record = record();
    let sources = record.sources.iter_mut().filter(|source| source.area == Area::Kept);
    for Row { valid, .. } in
        sources.flat_map(|source| &mut source.cases).flat_map(|case| &mut case.rows)
    {
        *valid = !*valid;
    }
    for judged in judge(&record, Area::Kept) {
        assert_eq!(judged.disagreed.len() + judged.refused_rows(), judged.rows());
    }
}

fn all_agree(area: Area) {
    let record = record();
    let judged = judge(&record, area);
    assert!(!judged.is_empty(), "there is nothing to judge");
    let failures = judged.iter().map(failures).collect::<String>();
    assert!(failures.is_empty(), "\n{failures}");
}

fn failures(judged: &Judged<'_>) -> String {
    let broken = judged.broken.iter().map(|broken| format!("broken: {broken}\n"));
    let disagreed = judged.disagreed.iter().map(|row| format!("disagreed: {row}"));
    broken.chain(disagreed).collect()
}
