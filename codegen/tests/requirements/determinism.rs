//! The output does not depend on the order of files or on line endings, and large projects compile.

use toolwright_codegen::Files;

use crate::project::{generated, generated_from, refusals, sources};

const PROJECT: &str = "### b.yaml
service: b
types:
  Note:
    description: |
      Several lines,
      one below the other.
    type: object
    properties: { text: { type: string, default: \"a\" } }
agents: { helper: { toolsets: [a_tools], exports: [b_tools] } }
### a.yaml
service: a
toolsets:
  a_tools:
    tools:
      find: { description: Find., args: b.Note }
      drop: { description: Drop. }
### c.yaml
service: b
toolsets:
  b_tools: { tools: { plan: { description: Plan., result: Note } } }
";

fn texts(files: &Files) -> Vec<(&str, &str)> {
    files.iter().collect()
}

#[test]
fn the_order_of_files_does_not_matter() {
    let expected = generated(PROJECT);
    let mut files = sources(PROJECT);
    for _ in 0..files.len() {
        files.rotate_left(1);
        assert_eq!(texts(&generated_from(files.clone())), texts(&expected));
    }
    files.reverse();
    assert_eq!(texts(&generated_from(files)), texts(&expected));
}

#[test]
fn line_endings_and_a_byte_order_mark_do_not_matter() {
    let expected = generated(PROJECT);
    let mut files = sources(PROJECT);
    for file in &mut files {
        file.text = format!("\u{feff}{}", file.text.replace('\n', "\r\n"));
    }
    assert_eq!(texts(&generated_from(files)), texts(&expected));
}

#[test]
fn no_generated_line_ends_in_a_carriage_return_or_a_space() {
    for (path, text) in generated(PROJECT).iter() {
        assert!(text.ends_with('\n'), "{path}");
        for line in text.lines() {
            assert_eq!(line, line.trim_end(), "{path}");
        }
    }
}

#[test]
fn a_thousand_tools_are_compiled() {
    let tool = |toolset: u32, tool: u32| {
        format!(
            "      tool_{toolset}_{tool}:\n        description: Does it.\n        args:\n          type: object\n          \
             properties: {{ a: {{ type: string }}, b: {{ type: array, items: {{ type: object }} }} }}\n"
        )
    };
    let toolset = |set: u32| {
        let tools: String = (0..20).map(|number| tool(set, number)).collect();
        format!("  set_{set}:\n    tools:\n{tools}")
    };
    let toolsets: String = (0..50).map(toolset).collect();
    let text = format!("### a.yaml\nservice: a\ntoolsets:\n{toolsets}");
    let files = generated(&text);
    assert_eq!(files.iter().filter(|(path, _)| path.ends_with(".args.json")).count(), 1000);
}

/// Recursion would overflow the small stack of a test thread.
#[test]
fn a_chain_of_a_thousand_names_compiles_and_one_of_a_thousand_objects_is_refused() {
    let chain = |link: fn(&str) -> String| {
        let links =
            (1..1000).map(|number| format!("  T{number}: {}\n", link(&format!("T{}", number - 1))));
        let types: String = links.collect();
        format!(
            "### a.yaml\nservice: a\ntypes:\n  T0: {{ type: string }}\n{types}\
             toolsets: {{ t: {{ tools: {{ x: {{ description: X., result: T999 }} }} }} }}\n"
        )
    };
    generated(&chain(|target| format!("{{ $ref: {target} }}")));
    let refused = refusals(&chain(|target| {
        format!("{{ type: object, required: [a], properties: {{ a: {{ $ref: {target} }} }} }}")
    }));
    let place = "{ type: object, required: [a], properties: { a: { $ref: T95 } } }";
    let message = "the types in this schema are 97 levels deep, expected at most 96";
    assert_eq!(refused, [format!("too-many-levels: {message} @ a.yaml:{place}")]);
}
