//! Selects the tools of a server to import, and their names. Flags take precedence over the file.

use std::collections::{BTreeMap, BTreeSet};

use wildmatch::WildMatch;

use super::existing::Existing;
use super::update_report::UpdateReport;
use toolwright_codegen::internal::advice;
use toolwright_codegen::internal::naming;

/// The tools to import, and their names. The default selects every tool under its own name.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Names on the server, or patterns with `*` and `?`. Only these tools are imported, and those that the file has. Empty for
    /// all tools.
    pub only: Vec<String>,
    /// Names or patterns of tools that are not imported.
    pub except: Vec<String>,
    /// Names or patterns of tools to add to an existing file that left them out.
    pub add: Vec<String>,
    /// True if tools that are new on the server are added to an existing file.
    pub add_new: bool,
    /// True if tools that the server no longer lists are removed from the file.
    pub remove_gone: bool,
    /// Pairs of a name on the server and the tool's new name.
    pub renames: Vec<(String, String)>,
    /// A prefix for the names of tools that are not renamed.
    pub prefix: String,
}

/// The selected tools.
pub(super) struct Picked {
    /// For each listed tool: whether it is imported.
    pub(super) taken: Vec<bool>,
    /// For each listed tool: its name, if a flag or the file gives one.
    pub(super) names: Vec<Option<String>>,
}

impl Selection {
    /// Checks the prefix and the renames, which do not depend on the server's tools.
    ///
    /// # Errors
    ///
    /// Returns a message about the first mistake.
    pub fn check(&self) -> Result<(), String> {
        let first = format!("{}x", self.prefix);
        if !self.prefix.is_empty() && !toolwright_codegen::is_name(&first) {
            return Err(format!(
                "`{}` cannot begin a name; expected a prefix such as `git_`: lowercase letters, digits, and single `_` \
                 between them",
                self.prefix
            ));
        }
        let mut remotes = BTreeSet::new();
        let mut locals = BTreeMap::new();
        for (remote, local) in &self.renames {
            if !toolwright_codegen::is_name(local) || naming::is_reserved_tool(local) {
                return Err(format!(
                    "`{local}` is reserved or not a name for a tool; expected one such as `find_pages`: lowercase letters, \
                     digits, and single `_` between them"
                ));
            }
            if !remotes.insert(remote) {
                return Err(format!("the tool `{remote}` is renamed twice; keep one of the names"));
            }
            if let Some(other) = locals.insert(naming::pascal(local), remote) {
                return Err(two_to_one(other, remote, local));
            }
        }
        Ok(())
    }

    /// Selects among the tools that a server lists. Reports new tools and those that are left out.
    pub(super) fn pick(
        &self,
        listed: &[&str],
        existing: Option<&Existing>,
        report: &mut UpdateReport,
    ) -> Result<Picked, Vec<String>> {
        let mut wrong = self.unmatched(listed, existing.is_some());
        let taken: Vec<bool> =
            listed.iter().map(|name| self.takes(name, existing, report)).collect();
        let is_taken =
            |name: &str| listed.iter().zip(&taken).any(|(known, taken)| *taken && *known == name);
        for (remote, _) in &self.renames {
            if !listed.contains(&remote.as_str()) {
                wrong.push(unknown("--rename", remote, listed));
            } else if !is_taken(remote) {
                wrong.push(format!("`--rename {remote}=…`: this tool is not selected"));
            }
        }
        if wrong.is_empty() && !taken.contains(&true) {
            wrong.push(format!(
                "no tool is selected; the server has {}",
                if listed.is_empty() { "none".to_owned() } else { quoted(listed) }
            ));
        }
        let names: Vec<Option<String>> =
            listed.iter().map(|name| self.name(name, existing)).collect();
        wrong.extend(self.clashes(listed, &taken, &names));
        if wrong.is_empty() { Ok(Picked { taken, names }) } else { Err(wrong) }
    }

    fn unmatched(&self, listed: &[&str], has_file: bool) -> Vec<String> {
        let flags = [("--only", &self.only), ("--except", &self.except), ("--add", &self.add)];
        let patterns = flags.iter().flat_map(|(flag, all)| all.iter().map(move |one| (flag, one)));
        let unmatched = patterns.filter(|(_, one)| !listed.iter().any(|name| matches(one, name)));
        let mut wrong: Vec<String> =
            unmatched.map(|(flag, pattern)| unknown(flag, pattern, listed)).collect();
        if !has_file && !self.add.is_empty() {
            wrong.push(
                "`--add` adds tools to an existing file; use `--only` for a new one".to_owned(),
            );
        }
        wrong
    }

    /// Returns whether a tool is imported. Reports the reason if that is a change.
    fn takes(&self, name: &str, existing: Option<&Existing>, report: &mut UpdateReport) -> bool {
        let selected = self.only.is_empty() || any(&self.only, name);
        let excepted = any(&self.except, name);
        let Some(existing) = existing else { return selected && !excepted };
        let is_named = any(&self.only, name) || any(&self.add, name) || self.add_new;
        let name_owned = || name.to_owned();
        if existing.local_name(name).is_some() {
            report.excepted.extend(excepted.then(name_owned));
            report.unselected.extend((!selected && !excepted).then(name_owned));
            return !excepted;
        }
        if existing.knows(name) {
            let is_added = any(&self.add, name) && !excepted;
            report.taken_again.extend(is_added.then(name_owned));
            return is_added;
        }
        let takes = is_named && !excepted;
        let known = if takes { &mut report.added } else { &mut report.left_out };
        known.push(name_owned());
        takes
    }

    /// The name that a flag or the file gives to a tool.
    fn name(&self, remote: &str, existing: Option<&Existing>) -> Option<String> {
        let asked = self.renames.iter().find(|(renamed, _)| renamed == remote);
        let found = || existing?.local_name(remote).map(str::to_owned);
        asked.map(|(_, local)| local.clone()).or_else(found)
    }

    /// Reports tools that would have the same name because of `--rename`.
    fn clashes(&self, listed: &[&str], taken: &[bool], names: &[Option<String>]) -> Vec<String> {
        let mut wrong = Vec::new();
        for (remote, local) in &self.renames {
            for ((other, name), _) in
                listed.iter().zip(names).zip(taken).filter(|(_, taken)| **taken)
            {
                let plain = format!("{}{other}", self.prefix);
                let name = name.as_ref().unwrap_or(&plain);
                let is_same = toolwright_codegen::is_name(name)
                    && naming::pascal(name) == naming::pascal(local);
                if is_same && other != remote {
                    wrong.push(two_to_one(remote, other, local));
                }
            }
        }
        wrong
    }
}

fn two_to_one(one: &str, other: &str, local: &str) -> String {
    format!(
        "the tools `{one}` and `{other}` would both be `{local}`; give one of them another name"
    )
}

fn any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

/// Returns whether a name matches a pattern. A name matches itself even if it has `*` or `?` in it.
fn matches(pattern: &str, name: &str) -> bool {
    pattern == name || WildMatch::new(pattern).matches(name)
}

fn unknown(flag: &str, pattern: &str, listed: &[&str]) -> String {
    let advice = advice(pattern, listed.iter().copied(), "the server has");
    format!("`{flag} {pattern}` matches no tool of the server; {advice}")
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
