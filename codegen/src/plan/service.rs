//! A service's crate: named types, the trait its provider implements, the errors its methods declare.

use super::types::{Import, Types};
use super::{Contents, Crate, Generated, LocatedType, Planner, docs};
use crate::model::{Method, MethodError, MethodId, ServiceId};
use crate::naming::{Identifier, Scope, identifier, pascal, pascal_with, service_package};

/// What a service's crate holds.
#[derive(Debug)]
pub struct ServiceCrate<'a> {
    /// The service's name.
    pub service: String,
    /// Its types.
    pub types: Types,
    /// The trait's name.
    pub trait_name: Identifier,
    /// The trait's doc lines.
    pub docs: Vec<String>,
    /// Its methods; without any there is no trait.
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
    /// What it takes.
    pub payload: LocatedType,
    /// What it gives.
    pub result: LocatedType,
    /// How it fails.
    pub error: ErrorEnum<'a>,
}

/// The errors of one method.
#[derive(Debug)]
pub struct ErrorEnum<'a> {
    /// The enum's name.
    pub name: Identifier,
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
}

impl ErrorVariant<'_> {
    /// Whether it holds what a foreign service said: one that stands for a status does.
    pub fn is_reported(&self) -> bool {
        self.error.status.is_some()
    }
}

impl<'a> Planner<'a> {
    /// A service's crate; none for a service without types and methods.
    pub(super) fn service(self, id: ServiceId) -> Option<Crate<'a>> {
        let scope = Scope::Service(id);
        let service = &self.project[id];
        let methods: Vec<_> =
            self.project.methods_of(id).map(|method| self.method(method)).collect();
        if methods.is_empty() && self.names.of(scope).next().is_none() {
            return None;
        }
        let name = service.name.value.clone();
        let foreign = self.foreign_to_service(id);
        let dir = format!("{name}/service");
        let generated = foreign.iter().map(|(other, _)| self.service_crate(*other)).collect();
        let imports = foreign
            .into_iter()
            .map(|(other, names)| Import { module: self.types_path(Scope::Service(other)), names })
            .collect();
        let docs = service.description.as_deref().map(docs::prose).unwrap_or_default();
        let fallback = format!("What a provider of the `{name}` service implements.");
        let contents = ServiceCrate {
            types: self.types(scope, imports),
            trait_name: pascal_with(&name, "Service"),
            docs: if docs.is_empty() { vec![fallback] } else { docs },
            methods,
            service: name.clone(),
        };
        Some(Crate {
            package: service_package(&name),
            about: format!("Types, trait and errors of the {name} service"),
            dependencies: self.dependencies(&dir, &["toolwright"], generated),
            dir,
            needs_patterns: contents.types.needs_tables(),
            workspace_lints: self.options.workspace_lints,
            tools: Vec::new(),
            contents: Contents::Service(contents),
        })
    }

    /// The `types` module of a scope, as another generated crate names it.
    pub(super) fn types_path(self, scope: Scope) -> String {
        format!("{}::types", self.path(&self.package_of(scope)))
    }

    pub(super) fn package_of(self, scope: Scope) -> String {
        match scope {
            Scope::Service(id) => service_package(&self.project[id].name.value),
            Scope::Toolset(id) => crate::naming::toolset_package(&self.project[id].name.value),
        }
    }

    pub(super) fn service_crate(self, id: ServiceId) -> Generated {
        let name = &self.project[id].name.value;
        Generated { package: service_package(name), dir: format!("{name}/service") }
    }

    /// The types of other services that a service's own types and methods use.
    pub(super) fn foreign_to_service(self, id: ServiceId) -> Vec<(ServiceId, Vec<Identifier>)> {
        let roots = self.project.types_of(id).map(|id| self.project.schemas[id].schema).chain(
            self.project
                .methods_of(id)
                .flat_map(|id| [self.project[id].payload, self.project[id].result]),
        );
        let mut imports: Vec<(ServiceId, Vec<Identifier>)> = Vec::new();
        for name in self.names.used_directly(&self.project.schemas, Scope::Service(id), roots) {
            let Scope::Service(owner) = name.scope else { continue };
            match imports.iter_mut().find(|(known, _)| *known == owner) {
                Some((_, names)) => names.push(name.name.clone()),
                None => imports.push((owner, vec![name.name.clone()])),
            }
        }
        imports
    }

    fn method(self, id: MethodId) -> TraitMethod<'a> {
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
            error: ErrorEnum {
                name: pascal_with(name, "Error"),
                variants: method.errors.iter().map(error_variant).collect(),
            },
        }
    }
}

fn error_variant(error: &MethodError) -> ErrorVariant<'_> {
    let code = &error.name.value;
    let mut docs = docs::prose(&error.description);
    if docs.is_empty() {
        docs.push(format!("`{code}`"));
    }
    ErrorVariant { error, name: pascal(code), docs }
}
