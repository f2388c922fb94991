//! Reads JSON Schema 2020-12 text into [`Schemas`](super::Schemas) nodes. Every keyword is honored or refused; none is
//! silently ignored.
//!
//! A schema has one *form*: a reference, a choice, a constant, an enumeration or a type. The form turns
//! its own keywords into a shape, which becomes a type; every other keyword becomes an assertion, which
//! a validator checks.

mod annotations;
mod assertions;
mod merge;
mod object;
mod places;
mod references;
mod scalar;
mod schema_form;
mod settle;
mod tags;
mod union;

use std::collections::BTreeSet;

use toolwright::value::Kind;

use super::{Annotations, Assertion, Keyword, Node, NodeId, Operand, Schemas, Shape};
use crate::diagnostic::{Report, form};
use crate::source::{SourceId, Span};
use crate::yaml::{self, Value};
use places::Root;
use schema_form::{Form, is_tuple};

pub(crate) use references::KnownTypes;
pub(crate) use settle::Pending;

/// Reads schemas into nodes.
pub(crate) struct SchemaReader<'a> {
    /// Receives the nodes.
    pub schemas: &'a mut Schemas,
    /// The types that a `$ref` may name.
    pub names: &'a KnownTypes,
    /// The service whose types need no prefix.
    pub service: &'a str,
    /// The files whose unbounded integers have any size.
    pub exact_integers: &'a BTreeSet<SourceId>,
    /// Decisions that need all schemas to be read.
    pub pending: &'a mut Pending,
    /// Receives the mistakes.
    pub report: &'a mut Report,
    /// The number of errors inside the subschemas of the current node.
    pub errors_below: usize,
}

/// A schema that is being read.
#[derive(Clone, Copy)]
struct Place<'t> {
    id: NodeId,
    text: &'t yaml::Node,
    /// Its place in the root schema, as a JSON Pointer.
    pointer: &'t str,
}

impl SchemaReader<'_> {
    /// Reads a root schema, or the name of a type.
    pub(crate) fn schema_or_name(&mut self, text: &yaml::Node) -> NodeId {
        let id = self.schemas.reserve(text.span);
        match text.as_str() {
            Some(name) => {
                let shape = self.named(id, name, text.span);
                self.set(id, shape, Vec::new(), Annotations::NONE);
            }
            None => self.root(id, text),
        }
        id
    }

    /// Reads a root schema into a reserved node.
    pub(crate) fn root(&mut self, id: NodeId, text: &yaml::Node) {
        if matches!(text.value, Value::Null) {
            // The wrong value has already been reported.
            self.schemas.mark_invalid(id);
            return;
        }
        let mut root = Root::new(id);
        self.fill(Place { id, text, pointer: "" }, &mut root);
        self.settle_places(root);
    }

    /// Reads a schema inside another, in the value of a keyword; `key` is its key or index if the value has several schemas.
    fn subschema(
        &mut self,
        text: &yaml::Node,
        within: Place<'_>,
        keyword: Keyword,
        key: Option<&str>,
        root: &mut Root,
    ) -> NodeId {
        let pointer = places::below(within.pointer, keyword.word(), key);
        if self.is_too_deep(&pointer, text.span, root) {
            return self.schemas.reserve(text.span);
        }
        let id = self.place(&pointer, text.span, root);
        self.fill(Place { id, text, pointer: &pointer }, root);
        id
    }

    /// Reads a node, and marks it as invalid if it has errors outside its subschemas.
    fn fill(&mut self, place: Place<'_>, root: &mut Root) {
        let errors = self.report.errors();
        let errors_beside = std::mem::take(&mut self.errors_below);
        self.read(place, root);
        let found = self.report.errors() - errors;
        if found > self.errors_below {
            self.schemas.mark_invalid(place.id);
        }
        self.errors_below = errors_beside + found;
    }

    fn read(&mut self, place: Place<'_>, root: &mut Root) {
        let Place { id, text, .. } = place;
        match &text.value {
            Value::Boolean(true) => {}
            Value::Boolean(false) => {
                let everything = self.schemas.reserve(text.span);
                let nothing =
                    Assertion { keyword: Keyword::Not, operand: Operand::Schema(everything) };
                self.set(id, Shape::Any, vec![nothing], Annotations::NONE);
            }
            Value::Mapping(entries) => {
                let annotations = self.annotations(place, root);
                let kinds = self.kinds(text);
                let form = Form::of(text, kinds.as_deref());
                let shape = self.shape(form, kinds.as_deref(), place, root);
                let mut assertions = self.assertions(entries, form, kinds.as_deref(), place, root);
                if form == Form::Typed(Kind::Object) {
                    assertions.extend(self.pattern_of_names(text));
                }
                if let (Form::Typed(_), Shape::Nullable(inner)) = (form, &shape) {
                    let beside = assertions.extract_if(.., |assertion| belongs_to_inner(assertion));
                    let node = self.schemas[*inner].clone();
                    self.schemas.set(*inner, Node { assertions: beside.collect(), ..node });
                }
                if assertions.iter().any(|assertion| assertion.keyword == Keyword::AllOf) {
                    self.pending.open.push(id);
                }
                self.set(id, shape, assertions, annotations);
            }
            Value::String(name) => self.report.add(form::bare_name(text.span, name)),
            _ => self.expected("a schema", text),
        }
    }

    fn shape(
        &mut self,
        form: Form,
        kinds: Option<&[Kind]>,
        place: Place<'_>,
        root: &mut Root,
    ) -> Shape {
        match form {
            Form::Reference => self.reference(place.id, place.text, root),
            Form::Choice(keyword) => self.choice(place, keyword, root),
            Form::Constant => self.constant(place.text),
            Form::Enumeration => self.enumeration(place.text),
            Form::Typed(kind) => {
                let nullable = kinds.is_some_and(|kinds| kinds.len() == 2);
                self.typed(kind, nullable, place, root)
            }
            Form::Kinds => self.several_kinds(kinds.unwrap_or_default(), place.text),
            Form::Wrapper => self.wrapped(place, root),
            Form::Anything => Shape::Any,
        }
    }

    fn typed(&mut self, kind: Kind, nullable: bool, place: Place<'_>, root: &mut Root) -> Shape {
        let text = place.text;
        let shape = match kind {
            Kind::Null => Shape::Null,
            Kind::Boolean => Shape::Boolean,
            Kind::String => Shape::String(self.string_rules(text)),
            Kind::Integer => Shape::Integer(self.number_rules(text, true)),
            Kind::Number => Shape::Number(self.number_rules(text, false)),
            Kind::Array if is_tuple(text) => self.tuple(place, root),
            Kind::Array => Shape::Array(self.array(place, root)),
            Kind::Object => Shape::Object(self.object(place, root)),
        };
        if nullable { self.nullable(shape, text.span) } else { shape }
    }

    fn nullable(&mut self, shape: Shape, span: Span) -> Shape {
        let inner = self.schemas.reserve(span);
        self.set(inner, shape, Vec::new(), Annotations::NONE);
        Shape::Nullable(inner)
    }

    fn set(
        &mut self,
        id: NodeId,
        shape: Shape,
        assertions: Vec<Assertion>,
        annotations: Annotations,
    ) {
        let node = self.schemas[id].clone();
        let annotations = annotations.into();
        self.schemas.set(id, Node { shape, assertions, annotations, ..node });
    }

    fn expected(&mut self, expected: &str, found: &yaml::Node) {
        self.report.add(found.unexpected(expected));
    }
}

/// Returns whether an assertion of a nullable array or object belongs to the inner node: it depends on the keywords there, or
/// it is about keys.
fn belongs_to_inner(assertion: &Assertion) -> bool {
    matches!(
        assertion.keyword,
        Keyword::AdditionalProperties
            | Keyword::Contains
            | Keyword::DependentRequired
            | Keyword::Items
            | Keyword::MaxContains
            | Keyword::MaxProperties
            | Keyword::MinContains
            | Keyword::MinProperties
            | Keyword::PatternProperties
            | Keyword::PrefixItems
            | Keyword::PropertyNames
    )
}
