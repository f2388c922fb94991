//! Generated files in memory; [`crate::disk`] writes them.

use std::collections::BTreeMap;

/// The texts of generated files by path. Paths are relative to the output folder, with `/` between their parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    texts: BTreeMap<String, String>,
}

impl Files {
    /// Adds a file.
    ///
    /// # Panics
    ///
    /// Panics if there is a file with this path. The check of names makes sure that crates have different paths.
    pub fn add(&mut self, path: String, text: String) {
        let earlier = self.texts.insert(path.clone(), text);
        assert!(earlier.is_none(), "two generated files at {path}");
    }

    /// Returns the files in path order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Returns the text of one file.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
