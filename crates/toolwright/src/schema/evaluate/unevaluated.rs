//! Finds the children of a value that no keyword has evaluated, for `unevaluatedItems` and `unevaluatedProperties`
//! (2020-12 core, section 11).

use std::collections::HashSet;
use std::sync::Arc;

use super::{Evaluation, MAX_NESTING};
use crate::schema::cache::MAX_CACHED;
use crate::schema::document::{Content, Document};
use crate::schema::keyword::{Keyword, NodeId};

/// The children of one value, with true for each that a keyword has evaluated so far.
struct Children<'d> {
    document: &'d Document<'d>,
    value: usize,
    is_array: bool,
    evaluated: Vec<bool>,
    /// The visited schemas by scope in a lenient evaluation, which includes schemas that the value does not fit. Such a
    /// schema may refer back to itself for the same value.
    visited: Option<HashSet<(NodeId, usize)>>,
}

impl<'d> Children<'d> {
    fn of(document: &'d Document<'d>, value: usize) -> Self {
        Self {
            document,
            value,
            is_array: matches!(document.content(value), Content::Array(_)),
            evaluated: vec![false; document.children(value).count()],
            visited: None,
        }
    }
}

impl Evaluation<'_> {
    /// Returns the children of a value that no other keyword of a node has evaluated. If `lenient`, schemas that the
    /// value does not fit are treated as if it fits them.
    pub(in crate::schema) fn unevaluated(
        &mut self,
        document: &Document<'_>,
        keyword: &Keyword,
        node: NodeId,
        value: usize,
        lenient: bool,
    ) -> Vec<usize> {
        let is_about_value = matches!(
            (keyword, document.content(value)),
            (Keyword::UnevaluatedItems(_), Content::Array(_))
                | (Keyword::UnevaluatedProperties(_), Content::Object(_))
        );
        if !is_about_value {
            return Vec::new();
        }
        let evaluated = if lenient {
            let visited = Some(HashSet::from([(node, self.scope_number)]));
            let mut children = Children { visited, ..Children::of(document, value) };
            self.mark(node, &mut children);
            Arc::from(children.evaluated)
        } else {
            self.evaluated_by(node, document, value)
        };
        let children = document.children(value).zip(evaluated.iter());
        children.filter(|(_, evaluated)| !**evaluated).map(|(child, _)| child).collect()
    }

    /// Returns the children of a value that are evaluated by a node which it fits, without the node's own
    /// `unevaluated…`. They only depend on the node, the value and the scope, so they are cached.
    fn evaluated_by(&mut self, node: NodeId, document: &Document<'_>, value: usize) -> Arc<[bool]> {
        let outer = self.enter(self.schema.nodes[node].resource);
        let key = self.key(node, value);
        let known = self.evaluated.get(&key).cloned();
        let evaluated = known.unwrap_or_else(|| {
            let mut children = Children::of(document, value);
            self.mark(node, &mut children);
            let evaluated: Arc<[bool]> = Arc::from(children.evaluated);
            if self.spend(evaluated.len()) && self.evaluated.len() < MAX_CACHED / 4 {
                self.evaluated.insert(key, Arc::clone(&evaluated));
            }
            evaluated
        });
        self.leave(outer);
        evaluated
    }

    /// Marks the children that a node evaluates.
    fn mark(&mut self, node: NodeId, children: &mut Children<'_>) {
        let body = &self.schema.nodes[node];
        if !self.spend(children.evaluated.len() + body.keywords.len()) {
            return;
        }
        if self.nesting == MAX_NESTING {
            // A lenient evaluation only affects messages, so it may be incomplete.
            if children.visited.is_none() {
                (self.is_too_deep, self.steps) = (true, 0);
            }
            return;
        }
        self.nesting += 1;
        let Children { document, value, is_array, .. } = *children;
        let outer = self.enter(body.resource);
        for keyword in &body.keywords {
            match keyword {
                Keyword::PrefixItems(schemas) if is_array => {
                    children
                        .evaluated
                        .iter_mut()
                        .take(schemas.len())
                        .for_each(|child| *child = true);
                }
                Keyword::Items(..) if is_array => children.evaluated.fill(true),
                Keyword::Contains(contains) if is_array && contains.evaluates => {
                    for (place, child) in document.children(value).enumerate() {
                        children.evaluated[place] |= self.fits(document, contains.schema, child);
                    }
                }
                Keyword::Properties(properties) if !is_array => {
                    for (place, entry) in document.children(value).enumerate() {
                        let schemas = self.schemas_of(properties, document.key(entry));
                        children.evaluated[place] |= !schemas.is_empty();
                    }
                }
                Keyword::AllOf(schemas) | Keyword::AnyOf(schemas) | Keyword::OneOf(schemas) => {
                    for schema in schemas {
                        self.mark_if_it_fits(*schema, children);
                    }
                }
                Keyword::If { condition, then, otherwise } => {
                    let fits = self.fits(document, *condition, value);
                    if fits {
                        self.mark_if_it_fits(*condition, children);
                    }
                    if let Some(branch) = if fits { then } else { otherwise } {
                        self.mark_if_it_fits(*branch, children);
                    }
                }
                Keyword::DependentSchemas(schemas) if !is_array => {
                    for entry in document.children(value) {
                        if let Some(schema) = schemas.get(document.key(entry)) {
                            self.mark_if_it_fits(*schema, children);
                        }
                    }
                }
                Keyword::Ref(schema) => self.mark_if_it_fits(*schema, children),
                Keyword::DynamicRef(schema, anchor) => {
                    let schema = self.dynamic(anchor).unwrap_or(*schema);
                    self.mark_if_it_fits(schema, children);
                }
                _ => {}
            }
        }
        self.leave(outer);
        self.nesting -= 1;
    }

    fn mark_if_it_fits(&mut self, node: NodeId, children: &mut Children<'_>) {
        let Children { document, value, is_array, .. } = *children;
        let counts = match &mut children.visited {
            Some(visited) => visited.insert((node, self.scope_number)),
            None => self.fits(document, node, value),
        };
        if !counts {
            return;
        }
        let body = &self.schema.nodes[node];
        let evaluates_all = body.keywords.iter().any(|keyword| match keyword {
            Keyword::UnevaluatedItems(_) => is_array,
            Keyword::UnevaluatedProperties(_) => !is_array,
            _ => false,
        });
        if evaluates_all {
            children.evaluated.fill(true);
        } else if body.uses > 1 && children.visited.is_none() {
            let also = self.evaluated_by(node, document, value);
            self.spend(also.len());
            children
                .evaluated
                .iter_mut()
                .zip(also.iter())
                .for_each(|(child, also)| *child |= *also);
        } else {
            self.mark(node, children);
        }
    }
}
