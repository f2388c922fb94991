//! What a `$ref` may name: types of services, `#`, and `#/$defs/X`. Nothing is ever fetched.

use std::collections::BTreeMap;

use super::{Root, SchemaReader};
use crate::diagnostic::Diagnostic;
use crate::model::{ServiceId, TypeId};
use crate::nearest;
use crate::schema::Shape;
use crate::source::Span;
use crate::yaml::Node;

/// The types of all services by name.
#[derive(Debug, Default)]
pub(crate) struct TypeNames {
    /// Services by name.
    pub services: BTreeMap<String, ServiceId>,
    /// Types by service and name.
    pub types: BTreeMap<(ServiceId, String), TypeId>,
}

impl TypeNames {
    /// The type that `Name` or `service.Name` means to a service, or the words of an error: what is
    /// wrong, and advice.
    fn resolve(&self, name: &str, home: ServiceId) -> Result<TypeId, (String, String)> {
        let (service, bare) = match name.split_once('.') {
            None => (home, name),
            Some((service, bare)) => (self.service(service)?, bare),
        };
        self.types.get(&(service, bare.to_owned())).copied().ok_or_else(|| {
            let owned = self.types.keys().filter(|(owner, _)| *owner == service);
            let advice = nearest::advice(bare, owned.map(|(_, name)| name.as_str()), "types there");
            (format!("no type is named `{name}`"), advice)
        })
    }

    fn service(&self, name: &str) -> Result<ServiceId, (String, String)> {
        self.services.get(name).copied().ok_or_else(|| {
            let known = self.services.keys().map(String::as_str);
            let advice = nearest::advice(name, known, "services");
            (format!("no service is named `{name}`"), advice)
        })
    }

    /// The type that a name means, for whoever does not report.
    pub(crate) fn find(&self, name: &str, home: ServiceId) -> Option<TypeId> {
        self.resolve(name, home).ok()
    }
}

/// Whether a definition's name can stand in a `$ref` as it is.
pub(super) fn is_definition_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    !name.is_empty() && name.chars().all(plain)
}

impl SchemaReader<'_> {
    /// Reads `$ref`.
    pub(super) fn reference(&mut self, text: &Node, root: &Root) -> Shape {
        let Some(node) = text.get("$ref") else { return Shape::Any };
        let Some(target) = node.as_str() else {
            self.expected("the name of a type", node);
            return Shape::Any;
        };
        match target.strip_prefix('#') {
            Some("") => Shape::Local(root.node),
            Some(pointer) => self.local(pointer, node.span, root),
            None => self.named(target, node.span),
        }
    }

    fn local(&mut self, pointer: &str, span: Span, root: &Root) -> Shape {
        let Some(name) = pointer.strip_prefix("/$defs/").filter(|name| is_definition_name(name))
        else {
            let message = format!("the reference `#{pointer}` is not supported yet");
            let finding = Diagnostic::error("unsupported-reference", span, message)
                .help("`#` and `#/$defs/Name` may stand here, or the name of a type");
            self.report.add(finding);
            return Shape::Any;
        };
        if let Some(&id) = root.definitions.get(name) {
            return Shape::Local(id);
        }
        let known = root.definitions.keys().map(String::as_str);
        let advice = nearest::advice(name, known, "definitions of this schema");
        let message = format!("`$defs` has no `{name}`");
        self.report.add(Diagnostic::error("unknown-definition", span, message).help(advice));
        Shape::Any
    }

    /// Reads the name of a type.
    pub(super) fn named(&mut self, name: &str, span: Span) -> Shape {
        if name.contains([':', '/']) {
            let message = format!("the reference `{name}` leads elsewhere, and nothing is fetched");
            let finding = Diagnostic::error("unsupported-reference", span, message)
                .help("write the schema under `types` and refer to it by name");
            self.report.add(finding);
            return Shape::Any;
        }
        match self.names.resolve(name, self.service) {
            Ok(id) => Shape::Named(id),
            Err((message, advice)) => {
                self.report.add(Diagnostic::error("unknown-type", span, message).help(advice));
                Shape::Any
            }
        }
    }
}
