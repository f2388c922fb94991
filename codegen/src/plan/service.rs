//! The crate of a service: named types, the trait that a provider implements, the errors of its methods.

use std::collections::{BTreeMap, BTreeSet};

use toolwright::http::Part;

use super::types::Types;
use super::{Contents, Crate, Generated, LocatedType, Plans, docs};
use crate::model::{Method, MethodError, MethodId, ServiceId};
use crate::naming::{
    Identifier, Scope, TypeName, file_name, identifier, pascal, pascal_with, service_package,
    toolset_package,
};
use crate::prose::code;
use crate::schema::{Node, NodeId, Shape, as_object};

/// The contents of a service's crate.
#[derive(Debug)]
pub struct ServiceCrate<'a> {
    /// The service's name.
    pub service: String,
    /// Its types.
    pub types: Types,
    /// The trait's name.
    pub trait_name: Identifier,
    /// The name of its fake.
    pub fake_name: Identifier,
    /// The trait's doc lines.
    pub docs: Vec<String>,
    /// Its methods; a service without methods has no trait.
    pub methods: Vec<TraitMethod<'a>>,
}

/// One method of the trait.
#[derive(Debug)]
pub struct TraitMethod<'a> {
    /// The method.
    pub method: &'a Method,
    /// The function.
    pub function: Identifier,
    /// Its doc lines.
    pub docs: Vec<String>,
    /// Its payload.
    pub payload: LocatedType,
    /// Its result.
    pub result: LocatedType,
    /// The errors that it declares, if any.
    pub error: Option<ErrorEnum<'a>>,
}

/// The errors of one method.
#[derive(Debug)]
pub struct ErrorEnum<'a> {
    /// The enum's name.
    pub name: Identifier,
    /// Set if all payloads derive `Eq` and `Hash`.
    pub derives_eq: bool,
    /// Set if it is `#[non_exhaustive]`.
    pub is_non_exhaustive: bool,
    /// The declared errors.
    pub variants: Vec<ErrorVariant<'a>>,
}

/// One declared error.
#[derive(Debug)]
pub struct ErrorVariant<'a> {
    /// The declared error.
    pub error: &'a MethodError,
    /// The variant's name.
    pub name: Identifier,
    /// Its doc lines.
    pub docs: Vec<String>,
    /// Its message as a format string.
    pub format: String,
    /// The arguments of the format string.
    pub arguments: Vec<ErrorArgument>,
    /// Its content.
    pub holds: ErrorContent,
}

/// The content of an error.
#[derive(Debug)]
pub enum ErrorContent {
    /// Nothing.
    Nothing,
    /// Its payload.
    Payload(LocatedType),
    /// The message of an HTTP service, for an error that stands for a status.
    Message,
}

/// A field of a payload in the message of an error.
#[derive(Debug)]
pub struct ErrorArgument {
    /// The field.
    pub field: Identifier,
    /// The number of newtypes around the value.
    pub newtypes: usize,
    /// Set for a domain type, whose JSON form is put into the message.
    pub is_domain: bool,
}

impl<'a> Plans<'a> {
    /// Plans the crate of a service; returns `None` for a service without types and methods.
    pub(super) fn service(&self, id: ServiceId) -> Option<Crate<'a>> {
        let scope = Scope::Service(id);
        let service = &self.project[id];
        let methods: Vec<_> =
            self.project.methods_of(id).map(|method| self.method(method)).collect();
        if methods.is_empty() && self.names.of(scope).next().is_none() {
            return None;
        }
        let name = service.name.value.clone();
        let dir = format!("{}/service", file_name(&name));
        let used = self.used_by_service(id).into_iter();
        let generated = used.map(|owner| self.service_crate(owner)).collect();
        let imports = self.imports(&self.names.imported(self.project, id));
        let contains = match methods.as_slice() {
            [] => "Types",
            methods if methods.iter().all(|method| method.error.is_none()) => "Types and trait",
            _ => "Types, trait and errors",
        };
        let docs = docs::prose(service.description.as_deref().unwrap_or_default());
        let fallback = format!("The `{name}` service.");
        let contents = ServiceCrate {
            types: self.types(scope, imports),
            trait_name: pascal_with(&name, "Service"),
            fake_name: pascal_with(&format!("fake_{name}"), "Service"),
            docs: if docs.is_empty() { vec![fallback] } else { docs.clone() },
            methods,
            service: name.clone(),
        };
        Some(Crate {
            package: self.package(service_package(&name)),
            about: format!("{contains} of the {name} service"),
            docs,
            dependencies: self.dependencies(
                &dir,
                &["toolwright"],
                generated,
                &contents.types.extra_crates(),
            ),
            dir,
            options: self.options,
            tools: Vec::new(),
            contents: Contents::Service(contents),
        })
    }

    /// Returns the path of a service's trait, for the root of another generated crate.
    pub(super) fn trait_path(&self, id: ServiceId) -> String {
        let path = self.root_path(&self.service_crate(id).package);
        format!("{path}::service::{}", pascal_with(&self.project[id].name.value, "Service"))
    }

    /// Returns the path of the `types` module of a scope, for another generated crate.
    pub(super) fn types_path(&self, scope: Scope) -> String {
        format!("{}::types", self.path(&self.package_of(scope)))
    }

    pub(super) fn package_of(&self, scope: Scope) -> String {
        match scope {
            Scope::Service(id) => self.package(service_package(&self.project[id].name.value)),
            Scope::Toolset(id) => self.package(toolset_package(&self.project[id].name.value)),
        }
    }

    /// Returns a doc line for each named type that methods of a service use, by node.
    pub(super) fn purposes(&self, service: ServiceId) -> BTreeMap<NodeId, String> {
        let schemas = &self.project.schemas;
        let mut purposes = BTreeMap::new();
        for method in self.project.methods_of(service).map(|id| &self.project[id]) {
            for (role, node) in [("payload", method.payload), ("result", method.result)] {
                let Shape::Named(named) = schemas[node].shape else { continue };
                let purpose = format!("The {role} of {}.", code(&method.name.value));
                purposes
                    .entry(schemas[named].schema)
                    .and_modify(|known: &mut String| {
                        "A payload or a result of several methods.".clone_into(known);
                    })
                    .or_insert(purpose);
            }
        }
        purposes
    }

    pub(super) fn service_crate(&self, id: ServiceId) -> Generated {
        let name = &self.project[id].name.value;
        Generated {
            package: self.package(service_package(name)),
            dir: format!("{}/service", file_name(name)),
        }
    }

    /// Returns the other services whose types the types and methods of a service use.
    pub(super) fn used_by_service(&self, id: ServiceId) -> BTreeSet<ServiceId> {
        let roots = self
            .project
            .types_of(id)
            .map(|id| self.project.schemas[id].schema)
            .chain(self.project.methods_of(id).flat_map(|id| self.project[id].schemas()));
        let used = self.names.used_directly(&self.project.schemas, Scope::Service(id), roots);
        let owner = |name: &TypeName| match name.scope {
            Scope::Service(owner) => Some(owner),
            Scope::Toolset(_) => None,
        };
        used.into_iter().filter_map(owner).collect()
    }

    fn method(&self, id: MethodId) -> TraitMethod<'a> {
        let method = &self.project[id];
        let own = Scope::Service(method.service);
        let name = &method.name.value;
        let mut docs = method.description.as_deref().map(docs::prose).unwrap_or_default();
        if docs.is_empty() {
            docs.push(format!("The method `{name}`."));
        }
        TraitMethod {
            method,
            function: identifier(name),
            docs,
            payload: self.located_type(method.payload, Some(own)),
            result: self.located_type(method.result, Some(own)),
            error: (!method.errors.is_empty()).then(|| ErrorEnum {
                name: pascal_with(name, "Error"),
                // A later error may have a payload without these traits.
                derives_eq: !self.options.non_exhaustive
                    && method
                        .errors
                        .iter()
                        .filter_map(|error| error.payload)
                        .all(|payload| self.derives.get(payload).eq),
                is_non_exhaustive: self.options.non_exhaustive,
                variants: method.errors.iter().map(|error| self.error(error, own)).collect(),
            }),
        }
    }

    fn error(&self, error: &'a MethodError, own: Scope) -> ErrorVariant<'a> {
        let mut docs = error.description.as_deref().map(docs::prose).unwrap_or_default();
        if docs.is_empty() {
            docs.push(code(&error.template()));
        }
        let holds = match (error.payload, error.status) {
            (Some(payload), _) => ErrorContent::Payload(self.located_type(payload, Some(own))),
            (None, Some(_)) => ErrorContent::Message,
            (None, None) => ErrorContent::Nothing,
        };
        let (mut format, mut arguments) = (String::new(), Vec::new());
        for part in &error.message {
            match part {
                Part::Text(text) => {
                    format.push_str(&text.replace('{', "{{").replace('}', "}}"));
                }
                Part::Property(name) => {
                    format.push_str("{}");
                    arguments.push(self.error_argument(error.payload, name));
                }
            }
        }
        ErrorVariant { error, name: pascal(&error.name.value), docs, format, arguments, holds }
    }

    /// Returns the argument for a property of the payload.
    fn error_argument(&self, payload: Option<NodeId>, name: &str) -> ErrorArgument {
        let schemas = &self.project.schemas;
        let object = payload.and_then(|payload| as_object(schemas, payload));
        let mut properties = object.iter().flat_map(|object| &object.properties);
        let property = properties.find(|property| property.name.value == name);
        let (newtypes, is_domain) = property.map_or((0, false), |property| {
            let (newtypes, value) = self.newtypes(property.schema);
            (newtypes.len(), self.type_options.domain(value).is_some())
        });
        ErrorArgument { field: identifier(name), newtypes, is_domain }
    }

    /// Returns the newtypes around the value of a node, outermost first, and the node of the value. The latter is the first
    /// domain type, if there is one.
    pub(super) fn newtypes(&self, mut node: NodeId) -> (Vec<&TypeName>, NodeId) {
        let mut newtypes = Vec::new();
        while self.type_options.domain(node).is_none() {
            let Node { shape, assertions, .. } = &self.project.schemas[node];
            let target = match shape {
                Shape::Named(id) => Some(self.project.schemas[*id].schema),
                Shape::Local(target) if self.names.get(*target).is_some() => Some(*target),
                _ => None,
            };
            let is_enum =
                matches!(shape, Shape::Enum(_) | Shape::IntegerEnum(_) | Shape::Constants(_));
            let is_alias = target.is_some() && assertions.is_empty();
            newtypes.extend(self.names.get(node).filter(|_| !is_enum && !is_alias));
            let Some(target) = target else { break };
            node = target;
        }
        (newtypes, node)
    }
}
