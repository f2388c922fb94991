//! Selects the tools of a server that a file takes, and their names. Flags come first, then what the file has.

use std::collections::{BTreeMap, BTreeSet};

use wildmatch::WildMatch;

use super::existing::Existing;
use super::update_report::UpdateReport;
use toolwright_codegen::internal::advice;
use toolwright_codegen::internal::naming;

/// What somebody asked for. The default is: every tool, by its own name.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Names on the server, or patterns with `*` and `?`: no other tool is taken that the file does not have.
    pub only: Vec<String>,
    /// Names or patterns of tools that are not taken.
    pub except: Vec<String>,
    /// Names or patterns of tools to take that the file left out before.
    pub add: Vec<String>,
    /// Whether tools that are new on the server are taken into a file that is there.
    pub add_new: bool,
    /// Whether tools that are gone from the server are taken out of the file.
    pub remove_gone: bool,
    /// Names on the server, and what the tools are to be called.
    pub renames: Vec<(String, String)>,
    /// What the names of tools begin with, where no other name is asked for.
    pub prefix: String,
}

/// What came of it.
pub(super) struct Picked {
    /// For each listed tool: whether it is taken.
    pub(super) taken: Vec<bool>,
    /// For each listed tool: the name it is to have, where that is settled.
    pub(super) names: Vec<Option<String>>,
}

impl Selection {
    /// What is wrong with it whatever a server lists.
    ///
    /// # Errors
    ///
    /// The first mistake, in words.
    pub fn check(&self) -> Result<(), String> {
        let first = format!("{}x", self.prefix);
        if !self.prefix.is_empty() && !toolwright_codegen::is_name(&first) {
            return Err(format!(
                "`{}` cannot begin a name; expected a prefix such as `git_`: small letters, digits, and single `_` \
                 between them",
                self.prefix
            ));
        }
        let mut remotes = BTreeSet::new();
        let mut locals = BTreeMap::new();
        for (remote, local) in &self.renames {
            if !toolwright_codegen::is_name(local) || naming::is_reserved_tool(local) {
                return Err(format!(
                    "`{local}` is no name for a tool, or reserved; expected one such as `find_pages`: small letters, \
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

    /// Picks among the tools that a server lists; what is new and what is missing is told.
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
                "`--add` takes tools into a file that is there; say `--only` for a new one"
                    .to_owned(),
            );
        }
        wrong
    }

    /// Whether a tool is taken; what that says about the server and the file is told.
    fn takes(&self, name: &str, existing: Option<&Existing>, report: &mut UpdateReport) -> bool {
        let selected = self.only.is_empty() || any(&self.only, name);
        let excepted = any(&self.except, name);
        let Some(existing) = existing else { return selected && !excepted };
        let is_named = any(&self.only, name) || any(&self.add, name) || self.add_new;
        let name_owned = || name.to_owned();
        if existing.local_name(name).is_some() {
            report.dropped.extend(excepted.then(name_owned));
            report.unselected.extend((!selected && !excepted).then(name_owned));
            return !excepted;
        }
        if existing.knows(name) {
            let back = any(&self.add, name) && !excepted;
            report.back.extend(back.then(name_owned));
            return back;
        }
        let takes = is_named && !excepted;
        let known = if takes { &mut report.added } else { &mut report.left_out };
        known.push(name_owned());
        takes
    }

    /// The name that a flag gives, or the one that the file has.
    fn name(&self, remote: &str, existing: Option<&Existing>) -> Option<String> {
        let asked = self.renames.iter().find(|(renamed, _)| renamed == remote);
        let found = || existing?.local_name(remote).map(str::to_owned);
        asked.map(|(_, local)| local.clone()).or_else(found)
    }

    /// Tools that would have one name, of which a flag asked for at least one.
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

/// A name is matched by itself, whatever characters are in it.
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
