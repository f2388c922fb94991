//! Finds names that differ in the language but not in Rust (G13). Says nothing of names that are equal
//! as written: lowering has refused those.

use std::collections::BTreeMap;

use super::{
    Scope, TypeName, TypeNames, agent_package, identifier, mcp_package, pascal, pascal_part,
    screaming, service_package, spec_static, toolset_package,
};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::{MethodId, Project, ServiceId, ToolsetId};
use crate::schema::{ObjectShape, Shape};
use crate::source::{Span, Spanned};

/// Type names that generated code needs for itself.
const RESERVED_TYPES: &[&str] = &[
    "Box",
    "Decode",
    "Encode",
    "Err",
    "Integer",
    "Into",
    "Items",
    "Kind",
    "Length",
    "Map",
    "None",
    "Nullable",
    "Ok",
    "Option",
    "Pattern",
    "Range",
    "Reader",
    "Result",
    "Self",
    "Some",
    "String",
    "Value",
    "Validator",
    "Vec",
    "Writer",
];

/// Names that the `specs` module needs for itself, as types of tools.
const RESERVED_MARKERS: &[&str] = &["Duration", "Iterator", "None", "Some", "ToolSpec"];

/// The static that lists a toolset's specs.
const SPECS_OF_ALL: &str = "ALL";

/// Methods that every Rust value has by its own right, and that calls would reach instead.
const RESERVED_METHODS: &[&str] = &["into", "try_into"];

/// Whether generated code needs a type of this name for itself.
pub fn is_reserved_type(name: &str) -> bool {
    RESERVED_TYPES.contains(&name)
}

/// Whether generated code needs what a tool of this name would become.
pub fn is_reserved_tool(name: &str) -> bool {
    screaming(name) == SPECS_OF_ALL || RESERVED_MARKERS.contains(&pascal(name).as_str())
}

/// Reports every clash between names as they become Rust.
pub fn check(project: &Project, report: &mut Report) {
    let types = TypeNames::assign(project);
    packages(project, report);
    crate_circles(project, &types, report);
    for service in ServiceId::first(project.services.len()) {
        type_scope(project, &types, Scope::Service(service), report);
        methods(project, service, report);
    }
    for toolset in ToolsetId::first(project.toolsets.len()) {
        type_scope(project, &types, Scope::Toolset(toolset), report);
        tools(project, toolset, report);
    }
}

/// One namespace: what became of each name, and where it was written.
struct Namespace {
    what: &'static str,
    taken: BTreeMap<String, (String, Span)>,
}

impl Namespace {
    fn new(what: &'static str) -> Self {
        Self { what, taken: BTreeMap::new() }
    }

    /// Keeps a name from being claimed; `span` is only there to fill the place.
    fn reserving(mut self, name: &str, span: Span) -> Self {
        self.taken.insert(name.to_owned(), (String::new(), span));
        self
    }

    fn claim(&mut self, rust: String, written: &str, span: Span, report: &mut Report) {
        let Some((first, first_span)) = self.taken.get(&rust) else {
            self.taken.insert(rust, (written.to_owned(), span));
            return;
        };
        if first == written && report.has_errors() {
            // Lowering has reported that one name is given twice.
            return;
        }
        let what = self.what;
        report.add(if first.is_empty() {
            Diagnostic::error(
                "reserved-name",
                span,
                format!(
                    "{written} becomes the {what} `{rust}`, which generated code needs for itself"
                ),
            )
            .help("choose another name")
        } else {
            Diagnostic::error(
                "name-clash",
                span,
                format!("{first} and {written} both become the {what} `{rust}`"),
            )
            .labelled("the second")
            .also(*first_span, "the first")
            .help("rename one of them")
        });
    }
}

fn packages(project: &Project, report: &mut Report) {
    let mut packages = Namespace::new("crate");
    for service in &project.services {
        let name = &service.name;
        packages.claim(
            service_package(&name.value),
            &format!("service `{}`", name.value),
            name.span,
            report,
        );
    }
    for toolset in &project.toolsets {
        let name = &toolset.name;
        packages.claim(
            toolset_package(&name.value),
            &format!("toolset `{}`", name.value),
            name.span,
            report,
        );
    }
    for agent in &project.agents {
        let package = agent_package(&project[agent.service].name.value, &agent.name.value);
        packages.claim(package, &format!("agent `{}`", agent.name.value), agent.name.span, report);
    }
    for server in &project.servers {
        let package = mcp_package(&project[server.service].name.value, &server.name.value);
        packages.claim(
            package,
            &format!("MCP server `{}`", server.name.value),
            server.name.span,
            report,
        );
    }
}

/// The items of `specs`: a static and a type for every tool. Names that differ as written may be one
/// here, as `get_1` and `get1` are.
fn tools(project: &Project, toolset: ToolsetId, report: &mut Report) {
    let mut items = Namespace::new("item of `specs`");
    for &tool in &project[toolset].tools {
        let name = &project[tool].name;
        let written = format!("tool `{}`", name.value);
        let marker = pascal(&name.value);
        if RESERVED_MARKERS.contains(&marker.as_str()) {
            items = items.reserving(&marker, name.span);
        }
        if screaming(&name.value) == SPECS_OF_ALL {
            items = items.reserving(SPECS_OF_ALL, name.span);
        }
        items.claim(marker, &written, name.span, report);
        items.claim(spec_static(&name.value), &written, name.span, report);
    }
}

fn type_scope(project: &Project, types: &TypeNames, scope: Scope, report: &mut Report) {
    let mut names = Namespace::new("type");
    let foreign = match scope {
        Scope::Service(_) => Vec::new(),
        Scope::Toolset(toolset) => types.foreign(project, toolset),
    };
    for name in foreign.into_iter().chain(types.of(scope)) {
        let span = project.schemas[name.node].span;
        let written = written(&name.origin);
        if RESERVED_TYPES.contains(&name.name.as_str()) {
            names = names.reserving(&name.name, span);
        }
        names.claim(name.name.clone(), &written, span, report);
    }
    for name in types.of(scope) {
        members(project, name, report);
    }
}

/// The fields or variants of one type.
fn members(project: &Project, name: &TypeName, report: &mut Report) {
    match &project.schemas[name.node].shape {
        Shape::Object(object) => fields(project, object, &name.name, report),
        Shape::Union(union) => {
            variants(union.variants.iter().map(|variant| &variant.tag), &name.name, report);
        }
        _ => {}
    }
}

fn fields(project: &Project, object: &ObjectShape, owner: &str, report: &mut Report) {
    let mut fields = Namespace::new("field");
    for property in object.fields(&project.schemas) {
        let written = format!("property `{}` of `{owner}`", property.name.value);
        fields.claim(identifier(&property.name.value), &written, property.name.span, report);
    }
}

fn variants<'a>(
    values: impl Iterator<Item = &'a Spanned<String>>,
    owner: &str,
    report: &mut Report,
) {
    let mut variants = Namespace::new("variant");
    for value in values {
        let written = format!("value `{}` of `{owner}`", value.value);
        variants.claim(pascal(&value.value), &written, value.span, report);
    }
}

/// The functions of a service's trait, and the errors they return.
fn methods(project: &Project, service: ServiceId, report: &mut Report) {
    let mut types = Namespace::new("error type");
    for id in project.methods_of(service) {
        let name = &project[id].name;
        let written = format!("method `{}`", name.value);
        if RESERVED_METHODS.contains(&name.value.as_str()) {
            let mut functions = Namespace::new("function").reserving(&name.value, name.span);
            functions.claim(name.value.clone(), &written, name.span, report);
        }
        let error = format!("{}Error", pascal_part(&name.value));
        if error == "BoxError" {
            types = types.reserving(&error, name.span);
        }
        types.claim(error, &written, name.span, report);
        method_errors(project, id, report);
    }
}

fn method_errors(project: &Project, id: MethodId, report: &mut Report) {
    let method = &project[id];
    let mut variants = Namespace::new("variant").reserving("Internal", method.name.span);
    for error in &method.errors {
        let written = format!("error `{}` of method `{}`", error.name.value, method.name.value);
        variants.claim(pascal(&error.name.value), &written, error.name.span, report);
    }
}

/// An origin as part of a sentence.
fn written(origin: &str) -> String {
    let text = origin.trim_end_matches('.');
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().to_string() + chars.as_str())
}

/// Services whose types use each other's would be crates that depend on each other, which cargo refuses.
fn crate_circles(project: &Project, types: &TypeNames, report: &mut Report) {
    let services: Vec<ServiceId> = ServiceId::first(project.services.len()).collect();
    let uses: Vec<Vec<(usize, Span)>> =
        services.iter().map(|&service| used_services(project, types, service)).collect();
    for (start, direct) in uses.iter().enumerate() {
        for &(next, span) in direct {
            // Each circle is told once, from its first service.
            if next > start && reaches(&uses, next, start) {
                let (a, b) = (&project[services[start]].name, &project[services[next]].name);
                let message = format!(
                    "the types of the services `{}` and `{}` use each other, so neither crate can be built first",
                    a.value, b.value
                );
                let finding = Diagnostic::error("crate-circle", a.span, message)
                    .also(b.span, "the other service")
                    .also(span, "a type that the first one uses")
                    .help("declare the types that both need in one of them, or in a third service");
                report.add(finding);
            }
        }
    }
}

/// The other services whose types a service's own types and methods use, with such a type.
fn used_services(project: &Project, types: &TypeNames, service: ServiceId) -> Vec<(usize, Span)> {
    let own = project.types_of(service).map(|id| project[id].schema);
    let of_methods =
        project.methods_of(service).flat_map(|id| [project[id].payload, project[id].result]);
    let used = types.used_directly(project, Scope::Service(service), own.chain(of_methods));
    let mut found: Vec<(usize, Span)> = Vec::new();
    for name in used {
        if let Scope::Service(other) = name.scope
            && found.iter().all(|(known, _)| *known != other.position())
        {
            found.push((other.position(), project.schemas[name.node].span));
        }
    }
    found
}

fn reaches(uses: &[Vec<(usize, Span)>], from: usize, to: usize) -> bool {
    let (mut seen, mut open) = (vec![false; uses.len()], vec![from]);
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            open.extend(uses[at].iter().map(|(next, _)| *next));
        }
    }
    false
}
