//! Where the schemas inside a schema stand: what `#/a/b` and `#name` lead to. Ids first and bodies
//! second, so that a reference may lead forward.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;

use toolwright::pointer::{escaped, unescaped};

use super::SchemaReader;
use crate::diagnostic::{files, schemas};
use crate::schema::{Node, NodeId, Shape};
use crate::source::Span;

/// How many bytes the pointers to all places of one schema may have.
const MAX_PLACES: usize = 16 << 20;

/// The schema that `#` means, and the places in it.
pub(super) struct Root {
    /// The schema itself.
    pub(super) node: NodeId,
    /// The places that have been read or referred to.
    places: BTreeMap<Rc<str>, Placed>,
    /// The length of all pointers.
    bytes: usize,
    /// References to places, as written.
    wanted: Vec<(String, Span)>,
    /// The nodes that `$anchor` names.
    anchors: BTreeMap<String, NodeId>,
    /// References to anchors: the name, the node that stands in for its place until all is read.
    wanted_anchors: Vec<(String, Span, NodeId)>,
}

/// A place in a schema.
struct Placed {
    node: NodeId,
    /// Whether a schema stands there; until one does, only references know of it.
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

    /// The schemas under its `$defs`, as one refers to them.
    fn definitions(&self) -> Vec<String> {
        let read = self.places.iter().filter(|(_, place)| place.is_read);
        let known = read.filter(|(pointer, _)| pointer.starts_with("/$defs/"));
        known.map(|(pointer, _)| format!("#{pointer}")).collect()
    }
}

/// The JSON Pointer (RFC 6901) of a place behind a keyword.
pub(super) fn below(pointer: &str, keyword: &str, key: Option<&str>) -> Rc<str> {
    match key {
        None => format!("{pointer}/{keyword}").into(),
        Some(key) => format!("{pointer}/{keyword}/{}", escaped(key)).into(),
    }
}

impl SchemaReader<'_> {
    /// The node of a place where a schema stands, which is read next.
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

    /// The node that `#name` leads to, read or not.
    pub(super) fn referred_anchor(&mut self, name: &str, span: Span, root: &mut Root) -> NodeId {
        let id = self.schemas.reserve(span);
        root.wanted_anchors.push((name.to_owned(), span, id));
        id
    }

    /// Records what `$anchor` names.
    pub(super) fn anchored(&mut self, name: &str, id: NodeId, root: &mut Root) {
        root.anchors.insert(name.to_owned(), id);
        self.name_definition(id, name);
    }

    fn name_definition(&mut self, id: NodeId, name: &str) {
        let node = self.schemas[id].clone();
        if node.definition.is_none() {
            let definition = Some(name.to_owned()).filter(|name| !name.is_empty());
            self.schemas.set(id, Node { definition, ..node });
        }
    }

    /// Settles references; reports those that lead to no schema.
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
                self.schemas.mark_invalid(stand_in);
            }
        }
        if targets.is_empty() {
            return;
        }
        for id in self.schemas.ids() {
            let node = &self.schemas[id];
            if let Shape::Local(stand_in) = node.shape
                && let Some(&target) = targets.get(&stand_in)
            {
                let node = Node { shape: Shape::Local(target), ..node.clone() };
                self.schemas.set(id, node);
            }
        }
    }
}
