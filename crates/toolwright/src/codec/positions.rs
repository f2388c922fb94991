//! Finds names and integers in the lists of a schema.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// The length up to which a list is always searched.
pub(super) const SHORT: usize = 16;

/// The most values of longer lists that are compared with searched ones. Further searches use an index of each list.
const MAX_COMPARED: usize = 1 << 16;

/// The lists that the values of one payload were searched in. An index is only cheaper if a list is searched often.
pub(super) struct Positions<K> {
    compared: usize,
    /// The first position of each value, by the address and the length of a list: the items of an array have the same.
    indexes: HashMap<(usize, usize), HashMap<K, usize>>,
}

impl<K> Default for Positions<K> {
    fn default() -> Self {
        Self { compared: 0, indexes: HashMap::new() }
    }
}

impl<K: Eq + Hash> Positions<K> {
    /// Returns the first position of a value in a list, whose entries have the values that `value` returns.
    pub(super) fn of<T, Q: Eq + Hash + ?Sized>(
        &mut self,
        searched: &Q,
        list: &'static [T],
        value: impl Fn(&'static T) -> K,
    ) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        if list.len() > SHORT {
            self.compared = self.compared.saturating_add(list.len());
        }
        if list.len() <= SHORT || self.compared <= MAX_COMPARED {
            return list.iter().position(|entry| value(entry).borrow() == searched);
        }
        let index = self.indexes.entry((list.as_ptr().addr(), list.len())).or_insert_with(|| {
            let entries = list.iter().enumerate().rev();
            entries.map(|(position, entry)| (value(entry), position)).collect()
        });
        index.get(searched).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_long_list_that_is_searched_often_is_indexed_once() {
        let list: &'static [u64] = (0..2_000).chain([7]).collect::<Vec<_>>().leak();
        let (mut positions, compared) = (Positions::default(), Cell::new(0));
        for searched in 0..10_000 {
            let found = positions.of(&searched, list, |entry| {
                compared.set(compared.get() + 1);
                *entry
            });
            assert_eq!(found, usize::try_from(searched).ok().filter(|found| *found < 2_000));
        }
        assert!(compared.get() < MAX_COMPARED + list.len(), "{} comparisons", compared.get());
    }
}
