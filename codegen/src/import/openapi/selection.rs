//! Which operations are taken, and under which names. Never changes one.

use std::collections::BTreeSet;

use super::NotAnApi;
use super::api::Operation;
use crate::nearest::nearest;

/// Which operations are taken, by their name in the document or here; all, where nothing is said.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// These alone.
    pub only: Vec<String>,
    /// All but these.
    pub except: Vec<String>,
    /// Those with one of these tags.
    pub tags: Vec<String>,
    /// New names: what an operation is called, and what it is to be called.
    pub rename: Vec<(String, String)>,
}

impl Selection {
    /// The operations that are wanted, with the names they get.
    pub(super) fn choose<'a>(
        &self,
        operations: &[Operation<'a>],
        names: Vec<String>,
    ) -> Result<Vec<(String, Operation<'a>)>, NotAnApi> {
        let known: Vec<(String, Operation<'a>)> =
            names.into_iter().zip(operations.iter().copied()).collect();
        let renamed = self.rename.iter().map(|(from, _)| from);
        for name in self.only.iter().chain(&self.except).chain(renamed) {
            check(name, &known)?;
        }
        self.check_tags(operations)?;
        let chosen = known.into_iter().filter(|one| self.takes(one));
        let chosen: Vec<_> =
            chosen.map(|(name, operation)| (self.name(name, &operation), operation)).collect();
        let mut seen = BTreeSet::new();
        match chosen.iter().find(|(name, _)| !seen.insert(name.clone())) {
            Some((name, _)) => {
                Err(NotAnApi::new(format!("two operations would be named `{name}`")))
            }
            None if chosen.is_empty() => Err(NotAnApi::new("no operation is selected")),
            None => Ok(chosen),
        }
    }

    fn takes(&self, one: &(String, Operation<'_>)) -> bool {
        let is_in = |list: &[String]| list.iter().any(|name| is_called(one, name));
        let tags = one.1.tags();
        (self.only.is_empty() || is_in(&self.only))
            && !is_in(&self.except)
            && (self.tags.is_empty() || self.tags.iter().any(|tag| tags.contains(&tag.as_str())))
    }

    fn name(&self, name: String, operation: &Operation<'_>) -> String {
        let one = (name, *operation);
        let new = self.rename.iter().find(|(from, _)| is_called(&one, from));
        new.map_or(one.0, |(_, to)| to.clone())
    }

    fn check_tags(&self, operations: &[Operation<'_>]) -> Result<(), NotAnApi> {
        let known: BTreeSet<&str> = operations.iter().flat_map(Operation::tags).collect();
        match self.tags.iter().find(|tag| !known.contains(tag.as_str())) {
            Some(tag) => Err(unknown("tag", tag, known.into_iter())),
            None => Ok(()),
        }
    }
}

fn is_called(one: &(String, Operation<'_>), name: &str) -> bool {
    one.0 == name || one.1.id() == Some(name)
}

fn check(name: &str, known: &[(String, Operation<'_>)]) -> Result<(), NotAnApi> {
    if known.iter().any(|one| is_called(one, name)) {
        return Ok(());
    }
    Err(unknown("operation", name, known.iter().map(|(name, _)| name.as_str())))
}

fn unknown<'k>(what: &str, name: &str, known: impl Iterator<Item = &'k str>) -> NotAnApi {
    let hint =
        nearest(name, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    NotAnApi::new(format!("the document has no {what} `{name}`{hint}"))
}
