//! What a compilation gives: texts by path. Never touches the disk: [`crate::disk`] does.

use std::collections::BTreeMap;

/// Generated files: paths relative to the output folder, with `/` between their parts, to texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    texts: BTreeMap<String, String>,
}

impl Files {
    /// Adds a file.
    ///
    /// # Panics
    ///
    /// When the path is taken: two crates would overwrite each other, which the naming check
    /// excludes.
    pub fn add(&mut self, path: String, text: String) {
        let earlier = self.texts.insert(path.clone(), text);
        assert!(earlier.is_none(), "two generated files at {path}");
    }

    /// The files in path order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The text of one file.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
