//! Checks the rules of ARCHITECTURE.md that no other test checks, by reading the files of this repository.
//!
//! A rule is a function from files to complaints, so that its own test can give it files that break it.

mod crate_graph;
mod cycles;
mod dependencies;
mod module_rules;
mod names;
mod packages;
mod pages;
mod requirements;
mod text;
mod tree;

use tree::File;

/// Panics with the complaints of a rule about this repository.
fn check(rule: fn(&[File]) -> Vec<String>) {
    let complaints = rule(&tree::repository());
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn every_source_file_begins_with_a_doc_comment() {
    check(text::headers);
}

#[test]
fn no_hand_written_file_is_too_long_to_read() {
    check(text::lengths);
}

#[test]
fn module_names_are_specific() {
    check(text::names);
}

#[test]
fn white_space_is_regular() {
    check(text::whitespace);
}

#[test]
fn there_are_no_leftover_notes_or_debug_macros() {
    check(text::leftovers);
}

#[test]
fn there_are_no_absolute_paths_of_a_machine() {
    check(text::machine_paths);
}

#[test]
fn each_library_is_used_only_in_its_module() {
    check(module_rules::libraries);
}

#[test]
fn tests_check_for_the_programs_that_they_need() {
    check(module_rules::prerequisites);
}

#[test]
fn each_stage_of_the_compiler_uses_only_allowed_modules() {
    check(module_rules::stages);
}

#[test]
fn modules_import_each_other_without_cycles() {
    check(cycles::none);
}

#[test]
fn crates_depend_on_each_other_in_one_direction() {
    check(crate_graph::ours);
}

#[test]
fn generated_crates_depend_on_the_contract_and_on_providers() {
    check(crate_graph::generated);
}

#[test]
fn each_third_party_dependency_is_listed_with_its_version() {
    check(dependencies::listed);
}

#[test]
fn published_crates_are_complete_packages() {
    check(packages::whole);
}

#[test]
fn generated_consumers_define_nothing() {
    check(crate_graph::consumers);
}

#[test]
fn the_runtime_has_few_public_names() {
    check(names::public);
}

#[test]
fn examples_of_the_first_page_use_few_names() {
    check(names::examples);
}

#[test]
fn links_lead_somewhere() {
    check(pages::links);
}

#[test]
fn a_link_named_after_an_item_leads_to_a_file_with_the_item() {
    check(pages::items);
}

#[test]
fn excerpts_equal_the_lines_of_their_files() {
    check(pages::excerpts);
}

#[test]
fn decisions_are_numbered_listed_and_complete() {
    check(pages::decisions);
}

#[test]
fn every_page_is_linked_from_the_index() {
    check(pages::indexed);
}

#[test]
fn the_first_page_is_short() {
    check(pages::first_page);
}

#[test]
fn each_requirement_has_a_test() {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        requirements::update(&tree::repository());
    }
    check(requirements::proofs);
}

#[test]
fn the_changelog_has_an_unreleased_section() {
    check(pages::changelog);
}
