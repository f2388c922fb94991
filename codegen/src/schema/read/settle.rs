//! What can only be judged when every schema is read: references that lead nowhere, members that
//! accept `null`, tags of unions. Never reads text.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Report};
use crate::model::Project;
use crate::schema::{
    Json, Node, NodeId, Property, Shape, UnionShape, Variant, as_object, resolved,
};
use crate::source::{Span, Spanned};

/// Questions left open while reading.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(super) nulls: Vec<PendingNull>,
    pub(super) unions: Vec<PendingUnion>,
}

/// `anyOf` or `oneOf`, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// `oneOf`: no two members may accept one value.
    pub(super) exclusive: bool,
    pub(super) span: Span,
}

/// A choice of `null` and one other schema, which may itself accept `null`.
#[derive(Debug)]
pub(super) struct PendingNull {
    pub(super) node: NodeId,
    pub(super) inner: NodeId,
    pub(super) choice: Choice,
}

/// A choice among schemas that should be objects with a common tag.
#[derive(Debug)]
pub(super) struct PendingUnion {
    pub(super) node: NodeId,
    pub(super) variants: Vec<NodeId>,
    pub(super) choice: Choice,
}

impl Pending {
    /// Answers all questions.
    pub(crate) fn settle(self, project: &mut Project, report: &mut Report) {
        if find_endless(project, report) {
            return;
        }
        for null in &self.nulls {
            null.settle(project, report);
        }
        for union in &self.unions {
            union.settle(project, report);
        }
    }
}

impl PendingNull {
    fn settle(&self, project: &mut Project, report: &mut Report) {
        if !accepts_null(project, self.inner) {
            return;
        }
        if self.choice.exclusive {
            let message = "both members of this `oneOf` accept null, so together they refuse it";
            let finding = Diagnostic::error("null-twice", self.choice.span, message)
                .help("write `anyOf`, or leave the member `null` out");
            report.add(finding);
            return;
        }
        let shape = project.schemas[self.inner].shape.clone();
        let node = Node { shape, ..project.schemas[self.node].clone() };
        project.schemas.set(self.node, node);
    }
}

impl PendingUnion {
    fn settle(&self, project: &mut Project, report: &mut Report) {
        match self.shape(project) {
            Ok(union) => {
                let shape = Shape::Union(union);
                let node = Node { shape, ..project.schemas[self.node].clone() };
                project.schemas.set(self.node, node);
            }
            Err((span, message)) => {
                let finding = Diagnostic::error("unsupported-union", self.choice.span, message)
                    .also(span, "this member")
                    .help(
                        "members must be objects that share a required property, with a \
                         different constant string in each; or one schema and null",
                    );
                report.add(finding);
            }
        }
    }

    fn shape(&self, project: &Project) -> Result<UnionShape, (Span, &'static str)> {
        let mut objects = Vec::new();
        for &variant in &self.variants {
            let object = as_object(project, variant).ok_or_else(|| {
                let span = project.schemas[variant].span;
                (span, "a choice with a member that is not an object is not supported yet")
            })?;
            objects.push((variant, &object.properties));
        }
        let candidates = objects.first().map_or(&[][..], |(_, properties)| properties.as_slice());
        candidates.iter().find_map(|tag| tagged(project, &objects, &tag.name.value)).ok_or_else(
            || {
                let span = project.schemas[self.variants[0]].span;
                (span, "nothing tells the members of this choice apart")
            },
        )
    }
}

/// The union told apart by a property, where it is required in each and nowhere the same.
fn tagged(
    project: &Project,
    objects: &[(NodeId, &Vec<Property>)],
    tag: &str,
) -> Option<UnionShape> {
    let mut values = BTreeSet::new();
    let mut variants = Vec::new();
    for &(schema, properties) in objects {
        let property = properties.iter().find(|property| property.name.value == tag)?;
        let node = &project.schemas[property.schema];
        let Shape::Const(Json::String(value)) = &node.shape else { return None };
        if !property.required || !values.insert(value) {
            return None;
        }
        variants.push(Variant { tag: Spanned::new(value.clone(), node.span), schema });
    }
    Some(UnionShape { tag: tag.to_owned(), variants })
}

fn accepts_null(project: &Project, node: NodeId) -> bool {
    let shape = &project.schemas[resolved(project, node)].shape;
    matches!(shape, Shape::Any | Shape::Null | Shape::Nullable(_))
}

/// Reports chains of references that never reach an object or array; whether there are any.
fn find_endless(project: &Project, report: &mut Report) -> bool {
    let count = project.schemas.len();
    let mut settled = vec![false; count];
    let mut found = false;
    for start in project.schemas.ids() {
        let mut walked = BTreeSet::new();
        let mut at = Some(start);
        while let Some(node) = at {
            if settled[node.position()] {
                break;
            }
            if !walked.insert(node) {
                found = true;
                let message = "this schema refers to itself without an object or array between";
                let span = project.schemas[node].span;
                report.add(Diagnostic::error("endless-reference", span, message));
                break;
            }
            at = next(project, node);
        }
        for node in walked {
            settled[node.position()] = true;
        }
    }
    found
}

/// The node that has to accept a value for this one to accept it.
fn next(project: &Project, node: NodeId) -> Option<NodeId> {
    match project.schemas[node].shape {
        Shape::Named(name) => Some(project[name].schema),
        Shape::Local(target) => Some(target),
        Shape::Nullable(inner) => Some(inner),
        _ => None,
    }
}
