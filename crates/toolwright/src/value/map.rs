//! [`Map`], which keeps entries in the order of insertion.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::slice;
use std::vec;

/// A map from strings that keeps the order of insertion; keys are unique.
///
/// The entries are in a list: a lookup takes time proportional to their number, which for the small objects of tool
/// calls is faster than hashing. Two maps with the same entries in different orders are equal.
#[derive(Clone)]
pub struct Map<V> {
    entries: Vec<(String, V)>,
}

impl<V> Map<V> {
    /// Creates an empty map.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the value under a key.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns a mutable reference to the value under a key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut V> {
        self.entries.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns true if there is a value under a key.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Inserts a value under a key. If there was one, the new value takes its place and the old one is returned.
    pub fn insert(&mut self, key: impl Into<String>, value: V) -> Option<V> {
        let key = key.into();
        if let Some(old) = self.get_mut(&key) {
            return Some(std::mem::replace(old, value));
        }
        self.append(key, value);
        None
    }

    /// Removes and returns the value under a key; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        let index = self.entries.iter().position(|(name, _)| name == key)?;
        Some(self.entries.remove(index).1)
    }

    /// The entries in order.
    pub fn iter(&self) -> Iter<'_, V> {
        Iter(self.entries.iter())
    }

    /// The entries in order, with values that can be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut V)> {
        self.entries.iter_mut().map(|(key, value)| (key.as_str(), value))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// The values in order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Adds an entry without a lookup. The key must be new.
    pub(crate) fn append(&mut self, key: String, value: V) {
        self.entries.push((key, value));
    }

    fn sorted(&self) -> Vec<&(String, V)> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        entries
    }

    fn same_order(&self, other: &Self) -> bool {
        self.keys().eq(other.keys())
    }
}

impl<V> Default for Map<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: fmt::Debug> fmt::Debug for Map<V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.iter()).finish()
    }
}

impl<V: PartialEq> PartialEq for Map<V> {
    fn eq(&self, other: &Self) -> bool {
        if self.same_order(other) {
            return self.values().eq(other.values());
        }
        self.len() == other.len() && self.sorted() == other.sorted()
    }
}

impl<V: Eq> Eq for Map<V> {}

/// Hashes the entries in the order of their keys, so that equal maps have equal hashes in every order. All of them go to `state`,
/// which may have a secret key, so that different maps with equal hashes cannot be prepared.
impl<V: Hash> Hash for Map<V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.sorted().hash(state);
    }
}

impl<K: Into<String>, V> FromIterator<(K, V)> for Map<V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Into<String>, V, const COUNT: usize> From<[(K, V); COUNT]> for Map<V> {
    fn from(entries: [(K, V); COUNT]) -> Self {
        Self::from_iter(entries)
    }
}

impl<K: Into<String>, V> Extend<(K, V)> for Map<V> {
    /// Adds entries; a later value replaces an earlier one under the same key.
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        // Up to so many entries, a search for each new one is faster than an index.
        const SEARCHED: usize = 16;
        let added: Vec<(String, V)> =
            entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
        if self.entries.len() + added.len() <= SEARCHED {
            for (key, value) in added {
                self.insert(key, value);
            }
            return;
        }
        let mut places: HashMap<&str, usize> = self.keys().zip(0..).collect();
        let added_keys = added.iter().map(|(key, _)| key.as_str());
        let places: Vec<usize> = added_keys
            .map(|key| {
                let end = places.len();
                *places.entry(key).or_insert(end)
            })
            .collect();
        for ((key, value), place) in added.into_iter().zip(places) {
            match self.entries.get_mut(place) {
                Some((_, old)) => *old = value,
                None => self.entries.push((key, value)),
            }
        }
    }
}

/// The entries of a [`Map`], in order.
#[derive(Debug)]
pub struct Iter<'a, V>(slice::Iter<'a, (String, V)>);

impl<V> Clone for Iter<'_, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'a, V> Iterator for Iter<'a, V> {
    type Item = (&'a str, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<V> ExactSizeIterator for Iter<'_, V> {}

impl<'a, V> IntoIterator for &'a Map<V> {
    type Item = (&'a str, &'a V);
    type IntoIter = Iter<'a, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<V> IntoIterator for Map<V> {
    type Item = (String, V);
    type IntoIter = vec::IntoIter<(String, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}
