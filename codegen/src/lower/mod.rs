//! Turns documents into a [`Project`]: resolves names, finds the owners of toolsets, and checks every rule of the
//! language. [`crate::naming`] checks for clashes of Rust names.
//!
//! Each step is a function that takes the results of earlier steps. Ids are assigned before bodies are lowered, so that
//! definitions may refer to each other in any order.

mod binding;
mod compatibility;
mod compiler_limits;
mod consumers;
mod duplicates;
mod examples;
mod http;
mod methods;
mod options;
mod output_limits;
mod schemas;
mod services;
mod templates;
mod tools;
mod toolsets;

use crate::diagnostic::{Diagnostic, Report, names};
use crate::model::{Project, Service, ToolId};
use crate::naming;
use crate::options::Integers;
use crate::schema::Budget;
use crate::source::Spanned;
use crate::syntax::{Document, Word};
pub use http::{header_mistake, path_parts};
use methods::Methods;
pub(crate) use options::{check_packages, check_types};
use services::{DeclaredService, Services};
use toolsets::Toolsets;

/// The result of lowering.
#[derive(Debug)]
pub struct Lowered {
    /// The project.
    pub project: Project,
    /// The Rust names of its types; the check for clashes needs them, too.
    pub types: naming::TypeNames,
}

/// The meaning of the name of a tool.
#[derive(Clone, Copy)]
enum ToolName {
    /// A tool, or none if the owner of its toolset is unknown, which has been reported.
    Tool(Option<ToolId>),
    /// An alias of a tool.
    Alias,
}

/// Everything that the documents declare, by name.
#[derive(Clone, Copy)]
struct Declared<'a> {
    services: &'a Services<'a>,
    methods: &'a Methods<'a>,
    toolsets: &'a Toolsets<'a>,
}

/// Lowers documents to a project; `integers` is the default for documents without the key. The project may only be used if
/// the report has no errors.
pub fn lower(documents: &[Document], integers: Integers, report: &mut Report) -> Lowered {
    let services = services::services(documents, report);
    let is_exact = |document: &&Document| {
        document.integers.map_or(integers, |Word(integers)| integers) == Integers::Exact
    };
    let exact = documents.iter().filter(is_exact).map(|document| document.span.source);
    let (mut reading, types) = schemas::types(&services, exact.collect(), report);
    let methods = methods::methods(&services, &mut reading, report);
    // Lowering tools needs the properties of payloads.
    reading.settle(report);
    let agents = consumers::declared_agents(&services, report);
    let written = toolsets::written(&services, &methods);
    let owners = toolsets::owners(&services, &methods, &agents, &written, report);
    let toolsets = toolsets::toolsets(&services, &agents, &written, &owners, report);
    let declared = Declared { services: &services, methods: &methods, toolsets: &toolsets };
    let tools = tools::tools(declared, &mut reading, report);
    let agents = consumers::agents(declared, &agents, report);
    let servers = consumers::servers(declared, report);
    duplicates::report(&services, &written, report);

    let schemas = reading.settled(report);
    // Invalid definitions have been reported; the checks skip them and their users.
    let budget = Budget::of(output_limits::size(documents));
    let accepted = examples::check(&schemas, &tools.list, &toolsets.tools, budget, report);
    let (method_texts, tool_texts) = (methods.texts, toolsets.tools);
    let of_services = services.list.into_iter().zip(types).zip(methods.of_services);
    let services = of_services.map(|((service, types), methods)| {
        let DeclaredService { name, description } = service;
        Service { name: name.clone(), description, types, methods }
    });
    let project = Project {
        schemas: schemas.with_accepted(accepted),
        services: services.collect(),
        methods: methods.list,
        toolsets: toolsets.list,
        tools: tools.list,
        agents,
        servers,
    };

    http::check(&project, &method_texts, report);
    compatibility::check(&project.schemas, &tools.handovers, report);
    templates::check(&project, &method_texts, &tool_texts, report);
    let mut types = naming::TypeNames::default();
    if !tools.binds_too_much && !output_limits::reach_too_much(&project, documents, report) {
        types = naming::TypeNames::assign(&project);
        naming::check(&project, &types, report);
        compiler_limits::check(&project.schemas, &types, report);
    }
    if !report.has_errors() {
        output_limits::check_output(&project, &types, documents, report);
    }
    Lowered { project, types }
}

/// Reports a malformed name.
fn check_name(what: &str, name: &Spanned<String>, report: &mut Report) {
    if !naming::is_name(&name.value) {
        report.add(names::bad_name(name, what));
    }
}

/// Reports an unknown name, unless a file that could not be read may define it.
fn report_unknown<'n>(
    mistake: fn(&Spanned<String>, &[&str]) -> Diagnostic,
    name: &Spanned<String>,
    known: impl Iterator<Item = &'n str>,
    report: &mut Report,
) {
    if !name.value.is_empty() && !report.has_unread_definitions() && !report.is_full() {
        report.add(mistake(name, &known.collect::<Vec<_>>()));
    }
}

fn owned<T: From<String>>(text: Option<&Spanned<String>>) -> Option<T> {
    text.map(|text| text.value.clone().into())
}
