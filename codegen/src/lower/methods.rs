//! The operations of services. Never the tools made of them.

use super::claims::Kind;
use super::{Lowering, owned};
use crate::diagnostic::schemas;
use crate::model::{Method, MethodError, MethodId, Recovery, ServiceId};
use crate::schema::{Additional, Node, NodeId, ObjectShape, Shape, as_object, resolved};
use crate::source::{Span, Spanned};
use crate::syntax::{self, Document, Entries};

impl<'a> Lowering<'a> {
    /// Lowers every method.
    pub(super) fn methods(&mut self) {
        let documents: &'a [Document] = self.documents;
        for (position, document) in documents.iter().enumerate() {
            let (Some(service), Some(methods)) = (self.homes[position], &document.methods) else {
                continue;
            };
            for (name, text) in methods.iter() {
                self.method(service, name, text);
            }
        }
    }

    fn method(&mut self, service: ServiceId, name: &Spanned<String>, text: &'a syntax::Method) {
        self.check_name("a method", name);
        let id = MethodId::at(self.project.methods.len());
        self.claims.give(Kind::Method, Some(service), name);
        self.methods.entry((service, name.value.clone())).or_insert(id);
        let payload = match &text.payload {
            Some(payload) => self.object_schema(service, &payload.0, "a payload"),
            None => self.empty_object(name.span),
        };
        let result = match &text.result {
            Some(result) => self.schema(service, &result.0),
            None => self.plain(name.span, Shape::Null),
        };
        let errors =
            text.errors.as_ref().map_or_else(Vec::new, |errors| self.method_errors(errors));
        let description = owned(text.description.as_ref());
        let name = name.clone();
        let http = None;
        let method = Method { service, name, description, payload, result, errors, http };
        self.project.methods.push(method);
        self.project.services[service.position()].methods.push(id);
        self.method_texts.push(text);
    }

    fn method_errors(&mut self, errors: &Entries<syntax::MethodError>) -> Vec<MethodError> {
        let mut lowered = Vec::new();
        for (name, text) in errors.iter() {
            self.check_name("an error", name);
            lowered.push(MethodError {
                name: name.clone(),
                description: text.description.value.clone(),
                recovery: text.recovery.map_or(Recovery::Replan, |word| word.0),
                status: text.status.map(|status| status.0),
            });
        }
        lowered
    }

    /// Reads a schema that has to describe an object.
    pub(super) fn object_schema(
        &mut self,
        service: ServiceId,
        text: &crate::yaml::Node,
        what: &'static str,
    ) -> NodeId {
        let node = self.schema(service, text);
        if as_object(&self.project.schemas, node).is_none() {
            self.not_objects.push((node, text.span, what));
        }
        node
    }

    /// Reports what should describe an object and does not, once it is known which schemas are sound.
    pub(super) fn report_not_objects(&mut self) {
        for (node, span, what) in std::mem::take(&mut self.not_objects) {
            let plain = resolved(&self.project.schemas, node);
            if self.project.schemas.is_sound(plain) && self.project.schemas.is_sound(node) {
                self.report.add(schemas::not_an_object(span, what));
                self.project.schemas.distrust(node);
            }
        }
    }

    /// An object without properties.
    pub(super) fn empty_object(&mut self, span: Span) -> NodeId {
        let object = ObjectShape { properties: Vec::new(), additional: Additional::Closed };
        self.plain(span, Shape::Object(object))
    }

    /// A schema that nobody wrote down.
    pub(super) fn plain(&mut self, span: Span, shape: Shape) -> NodeId {
        self.project.schemas.add(Node::new(span, shape))
    }
}
