//! Records the places of schemas inside a root schema, and resolves `#/a/b` and `#name`. Nodes are reserved before they are
//! read, so that references may point forward.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;

use toolwright::pointer::{escaped, unescaped};

use super::SchemaReader;
use crate::diagnostic::{files, schemas};
use crate::schema::{Node, NodeId, Shape};
use crate::source::Span;

/// The most bytes in the pointers to all places of a root schema.
const MAX_POINTERS: usize = 16 << 20;

/// A root schema, to which `#` refers, and the places in it.
pub(super) struct Root {
    /// The schema itself.
    pub(super) node: NodeId,
    /// The places that have been read or referred to.
    places: BTreeMap<Rc<str>, Placed>,
    /// The total length of all pointers.
    bytes: usize,
    /// References to places, as written.
    wanted: Vec<(String, Span)>,
    /// The nodes with an `$anchor`, and where it is written.
    anchors: BTreeMap<String, (NodeId, Span)>,
    /// References to anchors: the name, the span, and the node that refers to it.
    pub(super) wanted_anchors: Vec<(String, Span, NodeId)>,
}

/// A place in a schema.
struct Placed {
    node: NodeId,
    /// True if its schema has been read; before that, there are only references to it.
    is_read: bool,
}

impl Root {
    pub(super) fn new(node: NodeId) -> Self {
        Self {
            node,
            places: BTreeMap::from([(Rc::from(""), Placed { node, is_read: true })]),
            bytes: 0,
            wanted: Vec::new(),
            anchors: BTreeMap::new(),
            wanted_anchors: Vec::new(),
        }
    }

    /// Returns references to the schemas under its `$defs`.
    fn definitions(&self) -> Vec<String> {
        let read = self.places.iter().filter(|(_, place)| place.is_read);
        let known = read.filter(|(pointer, _)| pointer.starts_with("/$defs/"));
        known.map(|(pointer, _)| format!("#{pointer}")).collect()
    }
}

/// Returns the JSON Pointer (RFC 6901) of a schema in the value of a keyword.
pub(super) fn below(pointer: &str, keyword: &str, key: Option<&str>) -> Rc<str> {
    match key {
        None => format!("{pointer}/{keyword}").into(),
        Some(key) => format!("{pointer}/{keyword}/{}", escaped(key)).into(),
    }
}

impl SchemaReader<'_> {
    /// Returns the node of a place whose schema is read next.
    pub(super) fn place(&mut self, pointer: &Rc<str>, span: Span, root: &mut Root) -> NodeId {
        match root.places.entry(Rc::clone(pointer)) {
            Entry::Vacant(place) => {
                let node = self.schemas.reserve(span);
                place.insert(Placed { node, is_read: true });
                node
            }
            Entry::Occupied(mut place) => {
                let Placed { node: id, is_read } = place.get_mut();
                *is_read = true;
                let node = self.schemas[*id].clone();
                self.schemas.set(*id, Node { span, ..node });
                *id
            }
        }
    }

    /// Returns whether the pointers to the places of a root schema are too long, and reports this once. The pointer to a
    /// schema contains the keys of all schemas around it.
    pub(super) fn is_too_deep(&mut self, pointer: &str, span: Span, root: &mut Root) -> bool {
        let before = root.bytes;
        root.bytes += pointer.len();
        let is_over = root.bytes > MAX_POINTERS;
        if is_over && before <= MAX_POINTERS {
            let total = MAX_POINTERS >> 20;
            let message =
                format!("the pointers to all places of this schema have more than {total} MiB");
            let advice = "shorten the keys, or move inner schemas into named types";
            self.report.add(files::over_budget(span, message, advice));
        }
        is_over
    }

    /// Returns the node to which `#/a/b` refers, even if it has not been read yet.
    pub(super) fn referred(&mut self, pointer: &str, span: Span, root: &mut Root) -> NodeId {
        root.wanted.push((pointer.to_owned(), span));
        let known = root.places.get(pointer).map(|place| place.node);
        let id = known.unwrap_or_else(|| {
            let node = self.schemas.reserve(span);
            root.places.insert(Rc::from(pointer), Placed { node, is_read: false });
            node
        });
        let name = pointer.rsplit('/').next().unwrap_or_default();
        self.name_definition(id, &unescaped(name));
        id
    }

    /// Records an `$anchor`, or reports that another schema of this root has it.
    pub(super) fn anchored(&mut self, name: &str, id: NodeId, span: Span, root: &mut Root) {
        match root.anchors.entry(name.to_owned()) {
            Entry::Vacant(place) => {
                place.insert((id, span));
            }
            Entry::Occupied(place) => {
                self.report.add(schemas::repeated_anchor(name, vec![place.get().1, span]));
            }
        }
        self.name_definition(id, name);
    }

    fn name_definition(&mut self, id: NodeId, name: &str) {
        let node = self.schemas[id].clone();
        if node.definition.is_none() {
            let definition = Some(name.to_owned()).filter(|name| !name.is_empty());
            self.schemas.set(id, Node { definition, ..node });
        }
    }

    /// Resolves references after the root has been read, and reports those without a target.
    pub(super) fn settle_places(&mut self, root: Root) {
        for (pointer, span) in &root.wanted {
            let Some(place) = root.places.get(pointer.as_str()) else { continue };
            if !place.is_read {
                let name = pointer.rsplit('/').next().map(unescaped).unwrap_or_default();
                if self.names.find(&name, self.service).is_some() {
                    self.report.add(schemas::type_by_pointer(*span, pointer, &name));
                } else if !self.report.is_full() {
                    let known = root.definitions();
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    self.report.add(schemas::unknown_reference(*span, pointer, &known));
                }
                self.schemas.mark_invalid(place.node);
            }
        }
        for (name, span, id) in root.wanted_anchors {
            if let Some(&(target, _)) = root.anchors.get(&name) {
                let node = self.schemas[id].clone();
                self.schemas.set(id, Node { shape: Shape::Local(target), ..node });
            } else {
                self.report.add(schemas::unknown_anchor(span, &name));
                self.schemas.mark_invalid(id);
            }
        }
    }
}
