//! docs/rules.md has the rules as the code knows them. `UPDATE_EXPECT=1` writes it.

use std::fs;
use std::path::Path;

use toolwright_lock::{Classes, Rule};

const HEAD: &str = "# Rules

Each kind of change that `toolwright diff` reports, and what it means to whom: see [Changing tools](contract.md). A rule is listed twice
if that depends on the schema around the change. [A test](../crates/toolwright-lock/tests/it/rules.rs) writes this page from
[`rules.rs`](../crates/toolwright-lock/src/rules.rs). A change that is `major or minor` for Rust is minor if both versions have the option
[`non_exhaustive`](contract.md#rust); a new tool is minor if it needs no new method. `major or patch` is a patch if a limit or a default
has another value, and did not come or go; another order, if that of required properties is the same.

| rule | change | caller | model | reader | implementer | trust | rust |
|---|---|---|---|---|---|---|---|
";

#[test]
fn the_page_of_rules_lists_every_rule() {
    let row = |rule: &Rule| {
        let Classes { caller, model, reader, implementer, trust, .. } = rule.classes;
        let (Rule { id, summary, .. }, rust) = (rule, rule.rust());
        format!(
            "| `{id}` | {summary} | {caller} | {model} | {reader} | {implementer} | {trust} | {rust} |\n"
        )
    };
    let expected = HEAD.to_owned() + &Rule::all().map(row).collect::<String>();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    let found = fs::read_to_string(&page).unwrap_or_default();
    if found != expected && std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&page, &expected).expect("the page can be written");
    }
    assert!(found == expected, "docs/rules.md is out of date; run with UPDATE_EXPECT=1");
}
