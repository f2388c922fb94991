//! Whose values a rule beside the types sees whole, so that nothing of them may be rounded or filled in.

use std::collections::BTreeSet;

use crate::naming::{Scope, TypeNames};
use crate::schema::{NodeId, Schemas, parts};

/// The nodes that `is_judge` picks, and all that their types hold. This stops where a type belongs to a crate that is planned
/// without the judge's file: no crate depends on those who use it.
pub(super) fn judged(
    schemas: &Schemas,
    names: &TypeNames,
    is_judge: impl Fn(NodeId) -> bool,
) -> BTreeSet<NodeId> {
    let source = |node: NodeId| schemas[node].span.source;
    let of_services = names.all().filter_map(|name| match name.scope {
        Scope::Service(service) => Some((service, source(name.node))),
        Scope::Toolset(_) => None,
    });
    let files: BTreeSet<_> = of_services.collect();
    let reaches = |from: NodeId, node: NodeId| match names.get(node).map(|name| name.scope) {
        Some(Scope::Service(service)) => files.contains(&(service, source(from))),
        Some(Scope::Toolset(_)) | None => true,
    };
    let (mut judged, mut known) = (BTreeSet::new(), BTreeSet::new());
    for judge in typed(schemas, names).into_iter().filter(|node| is_judge(*node)) {
        let mut waiting = vec![judge];
        while let Some(node) = waiting.pop() {
            if known.insert((source(judge), node)) {
                judged.insert(node);
                waiting
                    .extend(parts(schemas, node).into_iter().filter(|part| reaches(judge, *part)));
            }
        }
    }
    judged
}

/// The nodes that types are made of, not those that only say what is refused.
fn typed(schemas: &Schemas, names: &TypeNames) -> BTreeSet<NodeId> {
    let (mut typed, mut waiting) = (BTreeSet::new(), Vec::new());
    waiting.extend(names.all().map(|name| name.node));
    while let Some(node) = waiting.pop() {
        if typed.insert(node) {
            waiting.extend(parts(schemas, node));
        }
    }
    typed
}
