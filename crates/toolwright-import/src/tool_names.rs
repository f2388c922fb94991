//! Assigns names of the language to remote tools.

use std::collections::{BTreeMap, BTreeSet};

use super::warnings::Warnings;
use toolwright_codegen::internal::naming::{self, MAX_NAME};

/// A tool that needs a name.
pub(super) struct Unnamed<'a> {
    /// Its name on the server.
    pub(super) remote: &'a str,
    /// The name that a flag or the file gives to it.
    pub(super) given: Option<&'a str>,
}

/// Assigns a name to each tool, in order. Given names and names that are valid as they are come first, so that a new tool
/// cannot change them.
pub(super) fn assign(tools: &[Unnamed<'_>], prefix: &str, warnings: &mut Warnings) -> Vec<String> {
    let mut taken: BTreeSet<String> = tools.iter().filter_map(|tool| tool.given).map(key).collect();
    let mut tried = BTreeMap::new();
    let plain = tools.iter().map(|tool| format!("{prefix}{}", tool.remote));
    let plain = plain.zip(tools).map(|(name, tool)| {
        let is_kept = tool.given.is_none() && is_usable(&name) && taken.insert(key(&name));
        is_kept.then_some(name)
    });
    let plain: Vec<Option<String>> = plain.collect();
    let named = tools.iter().zip(plain).map(|(tool, plain)| {
        let name = tool.given.map(str::to_owned).or(plain);
        name.unwrap_or_else(|| renamed(tool.remote, prefix, &mut taken, &mut tried, warnings))
    });
    named.collect()
}

fn is_usable(name: &str) -> bool {
    toolwright_codegen::is_name(name) && !naming::is_reserved_tool(name)
}

fn renamed(
    remote: &str,
    prefix: &str,
    taken: &mut BTreeSet<String>,
    tried: &mut BTreeMap<String, u32>,
    warnings: &mut Warnings,
) -> String {
    let base = format!("{prefix}{}", naming::snake(remote));
    let name = free(&base, taken, tried);
    if name != base {
        let message = format!("`{base}` is taken, reserved or too long, so this tool is `{name}`");
        warnings.at(remote, message);
    }
    name
}

/// The name, or the first one with a number, whose Rust name is free. `tried` has the last number of each name, so that many tools
/// with one name do not take quadratic time. Long names with the same beginning are one name there: they are equal once they are
/// shortened.
fn free(base: &str, taken: &mut BTreeSet<String>, tried: &mut BTreeMap<String, u32>) -> String {
    let mut is_free = |name: &str| !naming::is_reserved_tool(name) && taken.insert(key(name));
    let whole = shortened(base, MAX_NAME);
    if is_free(&whole) {
        return whole;
    }
    let last = tried.entry(shortened(base, MAX_NAME - "_9999".len())).or_insert(1);
    loop {
        *last += 1;
        let suffix = format!("_{last}");
        let name = shortened(base, MAX_NAME - suffix.len()) + &suffix;
        if is_free(&name) {
            return name;
        }
    }
}

fn shortened(name: &str, length: usize) -> String {
    name[..name.len().min(length)].trim_end_matches('_').to_owned()
}

/// The Rust name, by which names clash.
fn key(name: &str) -> String {
    naming::pascal(name).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_gets_a_name_of_its_own_that_does_not_depend_on_other_tools() {
        let long = "a-".repeat(40);
        let cases: [(&[&str], &[&str]); 8] = [
            (
                &["get_x", "search-issues", "getUserByID"],
                &["get_x", "search_issues", "get_user_by_id"],
            ),
            (&["getX", "get_x", "get-x"], &["get_x_2", "get_x", "get_x_3"]),
            (&["get_x_2", "get-x", "get_x"], &["get_x_2", "get_x_3", "get_x"]),
            (&["a2", "a_2"], &["a2", "a_2_2"]),
            (&["same", "same"], &["same", "same_2"]),
            (&["all", "1st", "", "日本"], &["all_2", "n_1st", "empty", "u65e5u672c"]),
            (&["a.b/c", "ns:tool"], &["a_b_c", "ns_tool"]),
            (&[&long, &long], &[&"a_".repeat(32)[..63], &("a_".repeat(31) + "2")]),
        ];
        for (remote, expected) in cases {
            let unnamed = |remote| Unnamed { remote, given: None };
            let tools: Vec<Unnamed<'_>> = remote.iter().copied().map(unnamed).collect();
            let names = assign(&tools, "", &mut Warnings::default());
            assert_eq!(names, expected);
            assert!(names.iter().all(|name| toolwright_codegen::is_name(name)), "{names:?}");
        }
    }

    #[test]
    fn names_that_are_equal_once_they_are_shortened_cost_no_more_than_their_number() {
        let stem = "n".repeat(65);
        let (mut taken, mut tried) = (BTreeSet::new(), BTreeMap::new());
        for number in 1..3_000 {
            let name = free(&format!("{stem}{number}"), &mut taken, &mut tried);
            // Each name was the first or second that was tried.
            let suffix = if number == 1 { "nn".to_owned() } else { format!("_{number}") };
            assert!(name.ends_with(&suffix) && name.len() == MAX_NAME, "{number}: {name}");
            assert_eq!((taken.len(), tried.len()), (number, usize::from(number > 1)));
        }
    }

    #[test]
    fn a_prefix_is_for_names_that_are_not_given() {
        let tools = [("search", None), ("getUser", Some("get_x")), ("get-x", None), ("1st", None)];
        let tools = tools.map(|(remote, given)| Unnamed { remote, given });
        let names = assign(&tools, "", &mut Warnings::default());
        assert_eq!(names, ["search", "get_x", "get_x_2", "n_1st"]);
        let names = assign(&tools, "hub_", &mut Warnings::default());
        assert_eq!(names, ["hub_search", "get_x", "hub_get_x", "hub_1st"]);
        assert!(names.iter().all(|name| toolwright_codegen::is_name(name)), "{names:?}");
    }
}
