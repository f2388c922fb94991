//! Finds where references lead (2020-12 core, sections 8.2 and 9).

use std::cell::Cell;
use std::collections::BTreeMap;

use toolwright::pointer::from_fragment;
use toolwright::schema::resolve;
use toolwright::value::{Map, Value};

use super::parts::visit;

/// The parts of a schema in which references are relative to a URI: the whole one, and those with an `$id`.
#[derive(Debug)]
pub(crate) struct Resources {
    /// The URI of each, by its pointer.
    uris: BTreeMap<String, String>,
    /// The pointer of the first one with a URI.
    pointers: BTreeMap<String, String>,
    /// The pointers of anchors, by the pointer of their resource and their name.
    anchors: BTreeMap<(String, String), String>,
    /// The bytes that URIs may still take.
    bytes: Cell<usize>,
}

/// The most bytes of all URIs of a schema together, as each begins with that of the resource around it.
const MOST_BYTES: usize = 4 << 20;

impl Resources {
    /// Finds those of a schema in the form of 2020-12.
    pub(super) fn of(root: &Value) -> Self {
        let mut all = Self {
            uris: BTreeMap::from([(String::new(), String::new())]),
            pointers: BTreeMap::new(),
            anchors: BTreeMap::new(),
            bytes: Cell::new(MOST_BYTES),
        };
        visit(root, &mut |node, at| all.add(node, at));
        all.pointers.entry(all.uris[""].clone()).or_default();
        all
    }

    fn add(&mut self, node: &Map<Value>, at: &str) {
        let text = |keyword: &str| node.get(keyword).and_then(Value::as_str);
        if let Some(uri) = text("$id").and_then(|id| self.resolved(id, at)) {
            let uri = uri.split('#').next().unwrap_or_default().to_owned();
            self.pointers.entry(uri.clone()).or_insert_with(|| at.to_owned());
            self.uris.insert(at.to_owned(), uri);
        }
        for name in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text) {
            let key = (self.around(at).to_owned(), name.to_owned());
            self.anchors.entry(key).or_insert_with(|| at.to_owned());
        }
    }

    /// Returns whether references have the same meaning at each place.
    pub(super) fn are_one(&self) -> bool {
        self.uris.len() == 1
    }

    /// The pointer of the innermost resource around a place.
    fn around<'a>(&self, at: &'a str) -> &'a str {
        let mut inner = at;
        while !self.are_one() && !self.uris.contains_key(inner) {
            inner = &inner[..inner.rfind('/').unwrap_or_default()];
        }
        if self.are_one() { "" } else { inner }
    }

    /// Resolves a URI reference at a place. `None` if the URIs take too many bytes.
    fn resolved(&self, reference: &str, at: &str) -> Option<String> {
        let base = &self.uris[self.around(at)];
        self.bytes.set(self.bytes.get().checked_sub(base.len() + reference.len())?);
        Some(resolve(base, reference))
    }

    /// The pointer of the target of a reference at a place. `None` if it leads out of the schema.
    pub(super) fn target(&self, reference: &str, at: &str) -> Option<String> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if document.is_empty() {
            self.around(at)
        } else {
            self.pointers.get(&self.resolved(document, at)?)?
        };
        let fragment = from_fragment(fragment)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            Some(format!("{resource}{fragment}"))
        } else {
            self.anchors.get(&(resource.to_owned(), fragment)).cloned()
        }
    }
}
