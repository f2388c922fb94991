//! What ARCHITECTURE.md promises and nothing else would notice: kept by reading this repository's files. Never runs
//! or compiles anything, and needs no dependency.
//!
//! A rule is a function from files to complaints, so that each is also tried on files that break it.

mod arrows;
mod circles;
mod dependencies;
mod names;
mod packages;
mod pages;
mod requirements;
mod text;
mod tree;
mod walls;

use tree::File;

fn holds(rule: fn(&[File]) -> Vec<String>) {
    let complaints = rule(&tree::repository());
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn every_source_file_begins_by_saying_what_lives_in_it() {
    holds(text::headers);
}

#[test]
fn no_hand_written_file_is_too_long_to_read() {
    holds(text::lengths);
}

#[test]
fn module_names_say_what_is_inside() {
    holds(text::names);
}

#[test]
fn text_is_plain() {
    holds(text::whitespace);
}

#[test]
fn nothing_is_left_unfinished() {
    holds(text::leftovers);
}

#[test]
fn nothing_names_a_folder_of_one_machine() {
    holds(text::machine_paths);
}

#[test]
fn each_library_is_used_in_its_place_alone() {
    holds(walls::libraries);
}

#[test]
fn tests_ask_for_what_a_machine_may_lack() {
    holds(walls::prerequisites);
}

#[test]
fn each_stage_of_the_compiler_knows_only_what_it_may() {
    holds(walls::stages);
}

#[test]
fn no_module_leads_back_to_itself() {
    holds(circles::none);
}

#[test]
fn crates_depend_one_way() {
    holds(arrows::ours);
}

#[test]
fn generated_crates_depend_on_the_contract_and_on_providers() {
    holds(arrows::generated);
}

#[test]
fn each_crate_of_others_is_listed_with_its_reason() {
    holds(dependencies::listed);
}

#[test]
fn published_crates_are_whole_packages() {
    holds(packages::whole);
}

#[test]
fn generated_consumers_define_nothing() {
    holds(arrows::consumers);
}

#[test]
fn the_runtime_has_few_public_names() {
    holds(names::public);
}

#[test]
fn examples_of_the_first_page_use_few_names() {
    holds(names::examples);
}

#[test]
fn links_lead_somewhere() {
    holds(pages::links);
}

#[test]
fn links_named_by_an_item_lead_to_it() {
    holds(pages::items);
}

#[test]
fn excerpts_are_what_the_files_say() {
    holds(pages::excerpts);
}

#[test]
fn decisions_are_numbered_listed_and_whole() {
    holds(pages::decisions);
}

#[test]
fn every_page_is_linked_from_the_index() {
    holds(pages::indexed);
}

#[test]
fn the_first_page_is_short() {
    holds(pages::first_page);
}

#[test]
fn each_requirement_has_a_test() {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        requirements::update(&tree::repository());
    }
    holds(requirements::proofs);
}

#[test]
fn the_changelog_has_a_place_for_the_next_change() {
    holds(pages::changelog);
}
