//! Reads what is expected to fail, and why: files the suite reads too, with a reason behind each entry. Knows no results.

use std::io;

use super::run::Leg;

/// What one revision is expected to fail at.
#[derive(Debug, Default)]
pub(super) struct Expected {
    entries: Vec<Entry>,
}

/// A scenario, or one check of it.
#[derive(Debug)]
pub(super) struct Entry {
    leg: Leg,
    pub(super) scenario: String,
    pub(super) check: Option<String>,
    pub(super) reason: String,
}

impl Expected {
    /// Reads `server:` and `client:` with `- scenario # reason` or `- scenario:check # reason` below them.
    ///
    /// # Errors
    ///
    /// A line that is none of these, or gives no reason.
    pub(super) fn read(text: &str) -> io::Result<Self> {
        let mut leg = None;
        let mut entries = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match (line, leg) {
                ("server:", _) => leg = Some(Leg::Server),
                ("client:", _) => leg = Some(Leg::Client),
                (line, Some(leg)) => {
                    entries.push(Entry::read(line, leg).ok_or_else(|| wrong(line))?);
                }
                (line, None) => return Err(wrong(line)),
            }
        }
        Ok(Self { entries })
    }

    /// What concerns one scenario.
    pub(super) fn of<'a>(&'a self, leg: Leg, scenario: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.on(leg).filter(move |entry| entry.scenario == scenario)
    }

    /// What concerns one side.
    pub(super) fn on(&self, leg: Leg) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.leg == leg)
    }
}

impl Entry {
    fn read(line: &str, leg: Leg) -> Option<Self> {
        let (name, reason) = line.trim().strip_prefix("- ")?.split_once(" # ")?;
        let (scenario, check) = match name.split_once(':') {
            Some((scenario, check)) => (scenario, Some(check.to_owned())),
            None => (name, None),
        };
        Some(Self { leg, scenario: scenario.to_owned(), check, reason: reason.to_owned() })
    }

    /// As it is written in the file.
    pub(super) fn name(&self) -> String {
        self.check
            .as_ref()
            .map_or_else(|| self.scenario.clone(), |check| format!("{}:{check}", self.scenario))
    }
}

fn wrong(line: &str) -> io::Error {
    io::Error::other(format!(
        "found `{line}`, expected `server:`, `client:` or `  - scenario # reason`; give each entry its reason"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_a_scenario_or_a_check_of_it_and_a_reason() {
        let expected =
            Expected::read("# words\nserver:\n  - ping # none\n  - a:b # one\n").unwrap();
        let names: Vec<String> = expected.on(Leg::Server).map(Entry::name).collect();
        assert_eq!(names, ["ping", "a:b"]);
        assert_eq!(expected.of(Leg::Server, "a").next().unwrap().reason, "one");
        assert_eq!(expected.on(Leg::Client).count(), 0);
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        for text in ["server:\n  - ping\n", "- ping # none\n", "servers:\n"] {
            assert!(Expected::read(text).is_err(), "{text}");
        }
    }
}
