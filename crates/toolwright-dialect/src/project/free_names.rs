//! Names that are free among those that are taken.

use std::collections::{HashMap, HashSet};

/// Names that are taken. Finding a free one takes about the same time however many are taken.
#[derive(Default)]
pub(super) struct FreeNames {
    taken: HashSet<String>,
    /// The last number after a name.
    numbers: HashMap<String, u32>,
}

impl FreeNames {
    /// Takes a name, or the name with the first number that makes it free.
    pub(super) fn take(&mut self, wanted: String) -> String {
        if self.taken.insert(wanted.clone()) {
            return wanted;
        }
        let number = self.numbers.entry(wanted.clone()).or_insert(1);
        loop {
            *number += 1;
            let name = format!("{wanted}_{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}
