//! Where the schemas inside a schema stand: what `#/a/b` and `#name` lead to. Ids first and bodies
//! second, so that a reference may lead forward.

use std::collections::{BTreeMap, BTreeSet};

use super::{SchemaReader, reserve};
use crate::diagnostic::{files, schemas};
use crate::schema::{Node, NodeId, Shape};
use crate::source::Span;

/// How many bytes the pointers to all places of one schema may have.
const MAX_PLACES: usize = 16 << 20;

/// The schema that `#` means, and the places in it.
pub(super) struct Root {
    /// The schema itself.
    pub(super) node: NodeId,
    /// The node of each place that has been read or referred to.
    places: BTreeMap<String, NodeId>,
    /// The length of all pointers.
    bytes: usize,
    /// The places that have been read.
    pub(super) filled: BTreeSet<String>,
    /// References to places, as written.
    wanted: Vec<(String, Span)>,
    /// What `$anchor` names.
    anchors: BTreeMap<String, NodeId>,
    /// References to anchors: the name, the node that stands in for its place until all is read.
    wanted_anchors: Vec<(String, Span, NodeId)>,
}

impl Root {
    pub(super) fn new(node: NodeId) -> Self {
        Self {
            node,
            places: BTreeMap::from([(String::new(), node)]),
            bytes: 0,
            filled: BTreeSet::new(),
            wanted: Vec::new(),
            anchors: BTreeMap::new(),
            wanted_anchors: Vec::new(),
        }
    }
}

/// The JSON Pointer (RFC 6901) of a place behind a keyword.
pub(super) fn below(pointer: &str, keyword: &str, key: Option<&str>) -> String {
    let key = key.map(|key| format!("/{}", key.replace('~', "~0").replace('/', "~1")));
    format!("{pointer}/{keyword}{}", key.unwrap_or_default())
}

impl SchemaReader<'_> {
    /// The node of a place.
    pub(super) fn place(&mut self, pointer: &str, span: Span, root: &mut Root) -> NodeId {
        if let Some(&id) = root.places.get(pointer) {
            let node = self.project.schemas[id].clone();
            self.project.schemas.set(id, Node { span, ..node });
            return id;
        }
        let id = reserve(self.project, span);
        root.places.insert(pointer.to_owned(), id);
        id
    }

    /// Whether the places of a schema have grown longer than memory should hold, which is then reported once: the place
    /// of each schema has the keys of all around it.
    pub(super) fn is_too_deep(&mut self, pointer: &str, span: Span, root: &mut Root) -> bool {
        let before = root.bytes;
        root.bytes += pointer.len();
        let is_over = root.bytes > MAX_PLACES;
        if is_over && before <= MAX_PLACES {
            let total = MAX_PLACES >> 20;
            let message =
                format!("the pointers to all places of this schema have more than {total} MiB");
            let advice = "shorten the keys around, or make types of what is inside";
            self.report.add(files::over_budget(span, message, advice));
        }
        is_over
    }

    /// The node that `#/a/b` leads to, read or not.
    pub(super) fn referred(&mut self, pointer: &str, span: Span, root: &mut Root) -> NodeId {
        root.wanted.push((pointer.to_owned(), span));
        let id = match root.places.get(pointer) {
            Some(&id) => id,
            None => self.place(pointer, span, root),
        };
        let name = pointer.rsplit('/').next().unwrap_or_default();
        self.name_definition(id, &name.replace("~1", "/").replace("~0", "~"));
        id
    }

    /// The node that `#name` leads to, read or not.
    pub(super) fn referred_anchor(&mut self, name: &str, span: Span, root: &mut Root) -> NodeId {
        let id = reserve(self.project, span);
        root.wanted_anchors.push((name.to_owned(), span, id));
        id
    }

    /// Records what `$anchor` names.
    pub(super) fn anchored(&mut self, name: &str, id: NodeId, root: &mut Root) {
        root.anchors.insert(name.to_owned(), id);
        self.name_definition(id, name);
    }

    fn name_definition(&mut self, id: NodeId, name: &str) {
        let node = self.project.schemas[id].clone();
        if node.definition.is_none() {
            let definition = Some(name.to_owned()).filter(|name| !name.is_empty());
            self.project.schemas.set(id, Node { definition, ..node });
        }
    }

    /// Settles references; reports those that lead to no schema.
    pub(super) fn settle_places(&mut self, root: Root) {
        let known = root.filled.iter().filter(|place| place.starts_with("/$defs/"));
        let known: Vec<String> = known.map(|place| format!("#{place}")).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        for (pointer, span) in &root.wanted {
            if !root.filled.contains(pointer) {
                if !self.report.is_full() {
                    self.report.add(schemas::unknown_reference(*span, pointer, &known));
                }
                if let Some(&id) = root.places.get(pointer) {
                    self.project.schemas.distrust(id);
                }
            }
        }
        self.settle_anchors(&root.anchors, root.wanted_anchors);
    }

    /// Leads references to anchors where the anchors stand.
    fn settle_anchors(
        &mut self,
        anchors: &BTreeMap<String, NodeId>,
        wanted: Vec<(String, Span, NodeId)>,
    ) {
        let mut targets = BTreeMap::new();
        for (name, span, stand_in) in wanted {
            if let Some(&target) = anchors.get(&name) {
                targets.insert(stand_in, target);
            } else {
                self.report.add(schemas::unknown_anchor(span, &name));
                self.project.schemas.distrust(stand_in);
            }
        }
        if targets.is_empty() {
            return;
        }
        for id in self.project.schemas.ids() {
            let node = &self.project.schemas[id];
            if let Shape::Local(stand_in) = node.shape
                && let Some(&target) = targets.get(&stand_in)
            {
                let node = Node { shape: Shape::Local(target), ..node.clone() };
                self.project.schemas.set(id, node);
            }
        }
    }
}
