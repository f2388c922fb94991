//! Finds the nodes whose values are validated as a part of a larger value. Rounding such a value or filling in a default could
//! change the result of the validation.

use std::collections::BTreeSet;

use crate::naming::{Scope, TypeNames};
use crate::schema::{NodeId, Schemas, parts, reached};

/// Returns the nodes that `is_validated` picks and all nodes below them. From a picked node, the search enters types of a
/// service only if the file of the node declares types of that service: a crate is planned from the files that declare it,
/// so files that only use its types must not change it.
pub(super) fn validated(
    schemas: &Schemas,
    names: &TypeNames,
    is_validated: impl Fn(NodeId) -> bool,
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
    let (mut validated, mut known) = (BTreeSet::new(), BTreeSet::new());
    for root in typed(schemas, names).into_iter().filter(|node| is_validated(*node)) {
        let mut waiting = vec![root];
        while let Some(node) = waiting.pop() {
            if known.insert((source(root), node)) {
                validated.insert(node);
                waiting
                    .extend(parts(schemas, node).into_iter().filter(|part| reaches(root, *part)));
            }
        }
    }
    validated
}

/// Returns the nodes that are part of a type, without those that occur only in assertions.
fn typed(schemas: &Schemas, names: &TypeNames) -> BTreeSet<NodeId> {
    reached(schemas, names.all().map(|name| name.node))
}
