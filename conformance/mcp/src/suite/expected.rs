//! Reads the lists of expected failures. The suite reads the same files; here each entry also needs a reason.

use std::io;

use super::run::Role;

/// The expected failures of one revision.
#[derive(Debug, Default)]
pub(super) struct Expected {
    entries: Vec<Entry>,
}

/// A scenario, or one check of it.
#[derive(Debug)]
pub(super) struct Entry {
    role: Role,
    pub(super) scenario: String,
    pub(super) check: Option<String>,
    pub(super) reason: String,
}

impl Expected {
    /// Reads `server:` and `client:` with `- scenario # reason` or `- scenario:check # reason` below them.
    ///
    /// # Errors
    ///
    /// Returns an error for any other line, and for an entry without a reason.
    pub(super) fn read(text: &str) -> io::Result<Self> {
        let mut role = None;
        let mut entries = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match (line, role) {
                ("server:", _) => role = Some(Role::Server),
                ("client:", _) => role = Some(Role::Client),
                (line, Some(role)) => {
                    entries.push(Entry::read(line, role).ok_or_else(|| wrong(line))?);
                }
                (line, None) => return Err(wrong(line)),
            }
        }
        Ok(Self { entries })
    }

    /// The entries for one scenario.
    pub(super) fn of<'a>(
        &'a self,
        role: Role,
        scenario: &'a str,
    ) -> impl Iterator<Item = &'a Entry> {
        self.on(role).filter(move |entry| entry.scenario == scenario)
    }

    /// The entries for the server or the client.
    pub(super) fn on(&self, role: Role) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.role == role)
    }
}

impl Entry {
    fn read(line: &str, role: Role) -> Option<Self> {
        let (name, reason) = line.trim().strip_prefix("- ")?.split_once(" # ")?;
        let (scenario, check) = match name.split_once(':') {
            Some((scenario, check)) => (scenario, Some(check.to_owned())),
            None => (name, None),
        };
        Some(Self { role, scenario: scenario.to_owned(), check, reason: reason.to_owned() })
    }

    /// The name of the scenario, and of the check if there is one, as in the file.
    pub(super) fn name(&self) -> String {
        self.check
            .as_ref()
            .map_or_else(|| self.scenario.clone(), |check| format!("{}:{check}", self.scenario))
    }
}

fn wrong(line: &str) -> io::Error {
    io::Error::other(format!(
        "found `{line}`, expected `server:`, `client:` or `  - scenario # reason`; add a reason to each entry"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_a_scenario_or_a_check_of_it_and_a_reason() {
        let expected =
            Expected::read("# words\nserver:\n  - ping # none\n  - a:b # one\n").unwrap();
        let names: Vec<String> = expected.on(Role::Server).map(Entry::name).collect();
        assert_eq!(names, ["ping", "a:b"]);
        assert_eq!(expected.of(Role::Server, "a").next().unwrap().reason, "one");
        assert_eq!(expected.on(Role::Client).count(), 0);
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        for text in ["server:\n  - ping\n", "- ping # none\n", "servers:\n"] {
            assert!(Expected::read(text).is_err(), "{text}");
        }
    }
}
