//! Names of remote tools to names of the language. Never touches anything else of a tool.

use std::collections::{BTreeMap, BTreeSet};

use super::warnings::Warnings;
use crate::naming::{self, MAX_NAME};

/// A name of the language for each remote name, in order. Those that are valid as they are come first
/// to their own, so that what a newcomer is called cannot change them.
pub(super) fn assign(remote: &[&str], warnings: &mut Warnings) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut tried = BTreeMap::new();
    let kept: Vec<bool> =
        remote.iter().map(|name| is_usable(name) && taken.insert(key(name))).collect();
    let names = remote.iter().zip(kept);
    names
        .map(|(name, kept)| {
            if kept { (*name).to_owned() } else { renamed(name, &mut taken, &mut tried, warnings) }
        })
        .collect()
}

fn is_usable(name: &str) -> bool {
    naming::is_name(name) && !naming::is_reserved_tool(name)
}

fn renamed(
    remote: &str,
    taken: &mut BTreeSet<String>,
    tried: &mut BTreeMap<String, u32>,
    warnings: &mut Warnings,
) -> String {
    let base = naming::snake(remote);
    let name = free(&base, taken, tried.entry(base.clone()).or_insert(1));
    if name != base {
        let message = format!("`{base}` is taken, reserved or too long, so this tool is `{name}`");
        warnings.at(remote, message);
    }
    name
}

/// The name itself, or the first numbered one, that is valid and becomes no Rust name twice.
/// The last number tried is known: many tools may be called alike.
fn free(base: &str, taken: &mut BTreeSet<String>, last: &mut u32) -> String {
    let numbers = *last..;
    let mut candidates = numbers.map(|number| {
        let suffix = if number == 1 { String::new() } else { format!("_{number}") };
        (number, shortened(base, MAX_NAME - suffix.len()) + &suffix)
    });
    let is_free =
        |(_, name): &(u32, String)| !naming::is_reserved_tool(name) && taken.insert(key(name));
    let (number, name) = candidates.find(is_free).unwrap_or_default();
    *last = number;
    name
}

fn shortened(name: &str, length: usize) -> String {
    name[..name.len().min(length)].trim_end_matches('_').to_owned()
}

/// What two names must not share.
fn key(name: &str) -> String {
    naming::pascal(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_gets_a_name_of_its_own_that_does_not_depend_on_its_neighbours() {
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
            let names = assign(remote, &mut Warnings::default());
            assert_eq!(names, expected);
            assert!(names.iter().all(|name| naming::is_name(name)), "{names:?}");
        }
    }
}
