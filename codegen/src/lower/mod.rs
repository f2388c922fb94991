//! Documents to a [`Project`]: names resolved, owners found, every rule of the language checked. Never
//! makes a Rust name; it only asks [`crate::naming`] whether two of them would clash.
//!
//! Ids first and bodies second, so that everything may refer to everything.

mod binding;
mod budget;
mod claims;
mod consumers;
mod examples;
mod fitting;
mod methods;
mod owners;
mod paths;
mod routes;
mod services;
mod templates;
mod tools;
mod toolsets;
mod types;

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Report, names};
use crate::model::{MethodId, Project, ServiceId, ToolId, ToolsetId};
use crate::naming;
use crate::schema::read::{KnownTypes, Pending, SchemaReader};
use crate::schema::{Effort, NodeId};
use crate::source::{Span, Spanned};
use crate::syntax::{self, Document};
use crate::yaml;
use claims::Claims;
#[cfg(feature = "import")]
pub(crate) use paths::parts as path_parts;
#[cfg(feature = "import")]
pub(crate) use routes::header_mistake;
use toolsets::DeclaredToolset;

/// What documents mean.
#[derive(Debug)]
pub struct Lowered {
    /// What was declared.
    pub project: Project,
    /// What its schemas are called in Rust: looking for clashes has named them all.
    pub types: naming::TypeNames,
}

/// Gives documents their meaning. The project is fit for use only if nothing is an error.
pub fn lower(documents: &[Document], report: &mut Report) -> Lowered {
    let mut lowering = Lowering::new(documents, report);
    lowering.services();
    lowering.types();
    lowering.methods();
    lowering.agents();
    lowering.toolsets();
    lowering.tools();
    lowering.consumers();
    lowering.finish()
}

/// What is known so far.
struct Lowering<'a> {
    documents: &'a [Document],
    report: &'a mut Report,
    project: Project,
    /// The service of each document.
    homes: Vec<Option<ServiceId>>,
    names: KnownTypes,
    service_ids: BTreeMap<String, ServiceId>,
    claims: Claims,
    pending: Pending,
    /// What checking examples may still ask for.
    effort: Effort,
    /// How many properties bound tools have taken over.
    bound_properties: usize,
    methods: BTreeMap<(ServiceId, String), MethodId>,
    method_texts: Vec<&'a syntax::Method>,
    agents: Vec<DeclaredAgent<'a>>,
    /// Schemas that should describe objects and do not, where they are used, and as what.
    not_objects: Vec<(NodeId, Span, &'static str)>,
    /// What tools declare, to be compared with their methods once all is read.
    fittings: Vec<fitting::Pair>,
    toolsets: Vec<DeclaredToolset<'a>>,
    toolset_names: Names<ToolsetId>,
    tool_names: Names<ToolId>,
}

struct DeclaredAgent<'a> {
    service: ServiceId,
    name: &'a Spanned<String>,
    text: &'a syntax::Agent,
}

/// Global names: where each was first given, and what it names. A name whose bearer could not be
/// lowered is known all the same, so that one mistake is not reported again at every use.
struct Names<Id> {
    known: BTreeMap<String, (Span, Option<Id>)>,
}

impl<Id> Default for Names<Id> {
    fn default() -> Self {
        Self { known: BTreeMap::new() }
    }
}

impl<Id: Copy> Names<Id> {
    /// Gives a name, unless it is taken.
    fn give(&mut self, name: &Spanned<String>, id: Option<Id>) {
        self.known.entry(name.value.clone()).or_insert((name.span, id));
    }

    fn words(&self) -> Vec<&str> {
        self.known.keys().map(String::as_str).collect()
    }
}

impl<'a> Lowering<'a> {
    fn new(documents: &'a [Document], report: &'a mut Report) -> Self {
        Self {
            documents,
            report,
            project: Project::default(),
            homes: Vec::new(),
            names: KnownTypes::default(),
            service_ids: BTreeMap::new(),
            claims: Claims::default(),
            pending: Pending::default(),
            effort: Effort::default(),
            bound_properties: 0,
            methods: BTreeMap::new(),
            method_texts: Vec::new(),
            agents: Vec::new(),
            not_objects: Vec::new(),
            fittings: Vec::new(),
            toolsets: Vec::new(),
            toolset_names: Names::default(),
            tool_names: Names::default(),
        }
    }

    /// What can be checked when all is known. What is not sound is left out, and nothing is held against its users.
    fn finish(mut self) -> Lowered {
        std::mem::take(&mut self.pending).settle(&mut self.project.schemas, self.report);
        std::mem::take(&mut self.claims).report(self.report);
        self.report_not_objects();
        self.routes();
        self.fittings();
        self.examples();
        self.defaults();
        self.templates();
        let mut types = naming::TypeNames::default();
        if !self.has_bound_too_much() {
            types = naming::TypeNames::assign(&self.project);
            naming::check(&self.project, &types, self.report);
        }
        if !self.report.has_errors() {
            self.output();
        }
        Lowered { project: self.project, types }
    }

    /// Reports a name that breaks the grammar of names.
    fn check_name(&mut self, what: &str, name: &Spanned<String>) {
        if !naming::is_name(&name.value) {
            self.report.add(names::bad_name(name, what));
        }
    }

    /// As [`Self::check_name`], for a name that stands behind a key: one that is empty has been reported as such.
    fn check_given_name(&mut self, what: &str, name: &Spanned<String>) {
        if !name.value.is_empty() {
            self.check_name(what, name);
        }
    }

    /// Reports a name that nobody bears, unless its bearer may be what could not be read.
    fn unknown(
        &mut self,
        mistake: fn(&Spanned<String>, &[&str]) -> Diagnostic,
        name: &Spanned<String>,
        known: impl for<'s> FnOnce(&'s Self) -> Vec<&'s str>,
    ) {
        if !name.value.is_empty() && !self.report.misses_names() && !self.report.is_full() {
            let finding = mistake(name, &known(self));
            self.report.add(finding);
        }
    }

    /// Reads a type's name or an inline schema, as a service would mean it.
    fn schema(&mut self, service: ServiceId, text: &yaml::Node) -> NodeId {
        self.reader(service).schema_or_name(text)
    }

    fn reader(&mut self, service: ServiceId) -> SchemaReader<'_> {
        SchemaReader {
            schemas: &mut self.project.schemas,
            names: &self.names,
            service: &self.project.services[service.position()].name.value,
            pending: &mut self.pending,
            report: self.report,
            errors_below: 0,
        }
    }

    /// A schema of which nothing is known.
    fn unsound(&mut self, span: Span) -> NodeId {
        let id = self.project.schemas.reserve(span);
        self.project.schemas.distrust(id);
        id
    }
}

fn owned(text: Option<&Spanned<String>>) -> Option<String> {
    text.map(|text| text.value.clone())
}
