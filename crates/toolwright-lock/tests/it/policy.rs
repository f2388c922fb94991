//! Which changes the versions of toolsets allow.

use toolwright_lock::{Policy, Viewpoint, diff};

use crate::cases::lock;

/// The toolset `alpha` with the tool `find`, and `beta` with a tool that is called as the other toolset.
const OLD: &str = "toolwright: 1
service: desk
toolsets:
  alpha: { version: 1.0.0, tools: { find: { description: Finds. } } }
  beta: { version: 1.0.0, tools: { alpha: { description: Begins. } } }
";

/// Returns the changes above what the versions allow, for a viewpoint.
fn breaking(new: &str, viewpoint: Viewpoint, turns_on: bool) -> Vec<String> {
    let (old, new) = (lock(OLD), lock(new).with_non_exhaustive(turns_on));
    let found = diff(&old, &new).expect("the schemas can be read");
    let policy = Policy { viewpoints: vec![viewpoint], ..Policy::default() };
    let name = |finding: &toolwright_lock::Finding| format!("{} {}", finding.rule.id, finding.tool);
    policy.breaking(&found, &old, &new).iter().map(|breaking| name(breaking.finding)).collect()
}

#[test]
fn a_tool_that_moves_is_bound_by_the_versions_of_both_toolsets() {
    const ARGS: &str =
        "args: { type: object, required: [x], properties: { x: { type: integer } } }";
    let find = "find: { description: Finds. }";
    let gone = OLD.replace(find, "other: { description: Does. }");
    let in_new = |tool: &str| format!("{gone}  gamma: {{ version: 1.0.0, tools: {{ {tool} }} }}\n");
    let in_beta = |tool: &str| {
        let beta = format!("beta: {{ version: 2.0.0, tools: {{ {tool}, ");
        gone.replace("beta: { version: 1.0.0, tools: { ", &beta)
    };
    let moved = format!("find: {{ description: Finds., {ARGS} }}");
    let renamed = format!("search: {{ description: Finds., aliases: [find], {ARGS} }}");
    for new in [in_new(&moved), in_beta(&moved), in_new(&renamed), in_beta(&renamed)] {
        let found = breaking(&new, Viewpoint::Caller, false);
        assert!(found.iter().any(|found| found.starts_with("ARG_REQUIRED_ADDED ")), "{found:?}");
        // Version 2.0.0 of the toolset that it leaves announces it.
        let raised = new.replace("alpha: { version: 1.0.0", "alpha: { version: 2.0.0");
        assert_eq!(breaking(&raised, Viewpoint::Caller, false), [""; 0]);
    }
}

#[test]
fn a_new_toolset_does_not_allow_that_its_tool_has_the_name_of_another() {
    let with_alias = "find: { description: Finds., aliases: [look] }";
    let old = OLD.replace("find: { description: Finds. }", with_alias);
    for (gone, in_new) in [
        ("find: { description: Finds. }", "look: { description: Asks. }"),
        ("find: { description: Finds. }", "ask: { description: Asks., aliases: [look] }"),
        ("other: { description: Does. }", "find: { description: Asks., args: { type: object } }"),
    ] {
        let new = old.replace(with_alias, gone);
        let new = format!("{new}  gamma: {{ version: 1.0.0, tools: {{ {in_new} }} }}\n");
        let found = |new: &str| {
            let (old, new) = (lock(&old), lock(new));
            let found = diff(&old, &new).expect("the schemas can be read");
            let breaking = Policy::default().breaking(&found, &old, &new);
            let of = |rule: &str| breaking.iter().any(|breaking| breaking.finding.rule.id == rule);
            let is_reused = found.findings.iter().any(|finding| finding.rule.id == "NAME_REUSED");
            (is_reused, of("NAME_REUSED"))
        };
        if gone.starts_with("other") {
            // A tool of the same name in another toolset has moved.
            assert_eq!(found(&new), (false, false));
            continue;
        }
        assert_eq!(found(&new), (true, true), "{new}");
        let raised = new.replace("alpha: { version: 1.0.0", "alpha: { version: 2.0.0");
        assert_eq!(found(&raised), (true, false), "{raised}");
    }
}

#[test]
fn a_toolset_is_not_confused_with_a_tool_of_its_name() {
    for (toolset, expected) in [("alpha", "beta"), ("beta", "alpha")] {
        let version = |number| format!("{toolset}: {{ version: {number}");
        let new = OLD.replace(&version("1.0.0"), &version("2.0.0"));
        let found = breaking(&new, Viewpoint::Rust, true);
        assert_eq!(found, [format!("NON_EXHAUSTIVE_CHANGED {expected}")]);
    }
}
