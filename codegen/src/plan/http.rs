//! The crate of a service's HTTP client, which implements the service's trait and sends each call as the HTTP operation of
//! its method.

use std::collections::BTreeSet;

use super::{Contents, Crate, LocatedType, Plans, RootType};
use crate::model::{Method, MethodId, Route, ServiceId};
use crate::naming::{
    Identifier, Scope, file_name, http_package, identifier, pascal_with, screaming,
};

/// The contents of the crate of an HTTP client.
#[derive(Debug)]
pub struct HttpCrate<'a> {
    /// The service's name.
    pub service: String,
    /// The client's name.
    pub name: Identifier,
    /// The path of the service's crate.
    pub service_path: String,
    /// The trait's name.
    pub trait_name: Identifier,
    /// Its methods in declared order.
    pub methods: Vec<HttpMethod<'a>>,
}

/// One method.
#[derive(Debug)]
pub struct HttpMethod<'a> {
    /// The method.
    pub method: &'a Method,
    /// Its HTTP route.
    pub route: &'a Route,
    /// The function.
    pub function: Identifier,
    /// The static that holds its operation.
    pub constant: Identifier,
    /// Its payload.
    pub payload: LocatedType,
    /// Its result.
    pub result: LocatedType,
    /// The enum of its errors, if it declares any.
    pub error: Option<Identifier>,
}

impl HttpMethod<'_> {
    /// Returns whether its payload or result is a type of its service.
    pub fn names_types(&self) -> bool {
        self.payload.is_local() || self.result.is_local()
    }

    /// Returns whether the body of a response is ignored.
    pub fn gives_nothing(&self) -> bool {
        self.result.ty == RootType::Unit
    }
}

impl<'a> Plans<'a> {
    /// Plans the crate of a service's HTTP client; returns `None` if no method has an HTTP route.
    pub(super) fn http(&self, id: ServiceId) -> Option<Crate<'a>> {
        let methods: Vec<HttpMethod<'_>> =
            self.project.methods_of(id).filter_map(|method| self.http_method(method)).collect();
        if methods.is_empty() {
            return None;
        }
        let service = self.project[id].name.value.clone();
        let dir = format!("{}/http", file_name(&service));
        let mut generated = vec![self.service_crate(id)];
        generated
            .extend(self.used_by_service(id).into_iter().map(|owner| self.service_crate(owner)));
        let service_path = self.path(&self.service_crate(id).package);
        Some(Crate {
            package: self.package(http_package(&service)),
            about: format!("Calls the {service} service over HTTP"),
            docs: Vec::new(),
            dependencies: self.dependencies(
                &dir,
                &["toolwright", "toolwright-http"],
                generated,
                &BTreeSet::new(),
            ),
            dir,
            options: self.options,
            tools: Vec::new(),
            contents: Contents::Http(HttpCrate {
                name: pascal_with(&service, "Http"),
                trait_name: pascal_with(&service, "Service"),
                service,
                service_path,
                methods,
            }),
        })
    }

    fn http_method(&self, id: MethodId) -> Option<HttpMethod<'a>> {
        let method = &self.project[id];
        let own = Some(Scope::Service(method.service));
        let name = &method.name.value;
        Some(HttpMethod {
            method,
            route: method.http.as_ref()?,
            function: identifier(name),
            constant: screaming(name),
            payload: self.located_type(method.payload, own),
            result: self.located_type(method.result, own),
            error: (!method.errors.is_empty()).then(|| pascal_with(name, "Error")),
        })
    }
}
