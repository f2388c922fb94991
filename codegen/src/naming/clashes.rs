//! Finds different names that become equal in Rust. Lowering has already reported names that are equal as written.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Scope, TypeName, TypeNames, agent_package, http_package, identifier, mcp_package, pascal,
    pascal_with, screaming, service_package, spec_static, toolset_package,
};
use crate::components::components;
use crate::diagnostic::{Report, clashes};
use crate::model::{
    Agent, McpServer, Method, MethodError, Project, Service, ServiceId, Toolset, ToolsetId,
};
use crate::schema::{NodeId, Property, Shape, Variant};
use crate::source::Span;

/// Type names that generated code needs for itself.
const RESERVED_TYPES: &[&str] = &[
    "Box", "Default", "Err", "Integer", "Into", "Map", "None", "Nullable", "Ok", "Option",
    "Result", "Self", "Some", "String", "Value", "Vec",
];

/// Names that the `specs` module needs for itself, so that the types of tools cannot have them.
const RESERVED_MARKERS: &[&str] = &["Duration", "Iterator", "None", "Some", "ToolSpec"];

/// The statics that list a toolset's specs and describe it.
const OF_TOOLSET: [&str; 2] = ["ALL", "TOOLSET"];

/// The static in `specs` that describes the remote MCP server of a toolset.
const ORIGIN: &str = "REMOTE";

/// Methods that every Rust value has, and that would be called instead.
const RESERVED_METHODS: &[&str] = &["into", "try_into"];

/// Returns whether generated code needs a type of this name for itself.
pub fn is_reserved_type(name: &str) -> bool {
    RESERVED_TYPES.contains(&name)
}

/// Returns whether generated code needs an item for itself that a tool of this name would become, in any kind of toolset.
pub fn is_reserved_tool(name: &str) -> bool {
    OF_TOOLSET.into_iter().chain([ORIGIN]).any(|used| used == screaming(name).as_str())
        || RESERVED_MARKERS.contains(&pascal(name).as_str())
}

/// Reports every clash of names in Rust.
pub fn check(project: &Project, types: &TypeNames, report: &mut Report) {
    let named =
        project.schemas.types().iter().map(|named| (named.schema, named.name.span)).collect();
    let mut check = Check { report, reported: BTreeSet::new(), named };
    let mut crates = Namespace::new("crate", &[]);
    for (package, written, span) in packages(project) {
        crates.add(package, written, span);
    }
    crates.report(&mut check);
    for service in ServiceId::first(project.services.len()) {
        methods(project, service, &mut check);
        type_scope(project, types, Scope::Service(service), &mut check);
    }
    for toolset in ToolsetId::first(project.toolsets.len()) {
        tools(project, toolset, &mut check);
        type_scope(project, types, Scope::Toolset(toolset), &mut check);
    }
    crate_circles(project, types, report);
}

/// Reports clashes, but each set of places only once: clashing tools have clashing types, and types that clash in their
/// service clash again in every toolset that uses them.
struct Check<'a> {
    report: &'a mut Report,
    reported: BTreeSet<Vec<Span>>,
    /// The span of the name of each named schema.
    named: BTreeMap<NodeId, Span>,
}

impl Check<'_> {
    /// Returns the span of a type's name, or else of its schema.
    fn place(&self, project: &Project, node: NodeId) -> Span {
        self.named.get(&node).copied().unwrap_or(project.schemas[node].span)
    }
}

/// A namespace in Rust.
struct Namespace {
    what: &'static str,
    /// The original names of each Rust name, with their spans.
    originals: BTreeMap<String, Vec<(Span, String)>>,
    reserved: BTreeSet<&'static str>,
}

impl Namespace {
    fn new(what: &'static str, reserved: &[&'static str]) -> Self {
        let reserved = reserved.iter().copied().collect();
        Self { what, originals: BTreeMap::new(), reserved }
    }

    fn add(&mut self, rust: impl Into<String>, written: String, span: Span) {
        self.originals.entry(rust.into()).or_default().push((span, written));
    }

    fn report(self, check: &mut Check<'_>) {
        for (rust, mut originals) in self.originals {
            if self.reserved.contains(rust.as_str()) {
                for (span, written) in &originals {
                    check.report.add(clashes::reserved_name(*span, written, self.what, &rust));
                }
                continue;
            }
            if originals.len() == 1 {
                continue;
            }
            // Lowering has already reported names that are equal as written.
            originals.sort();
            let mut seen = BTreeSet::new();
            originals.retain(|(_, written)| seen.insert(written.clone()));
            let places = originals.iter().map(|(span, _)| *span).collect();
            if originals.len() > 1 && check.reported.insert(places) {
                check.report.add(clashes::name_clash(self.what, &rust, originals));
            }
        }
    }
}

/// Returns the packages of a project, with what they are made for and its span.
pub fn packages(project: &Project) -> Vec<(String, String, Span)> {
    let mut packages = Vec::new();
    let mut add = |package: String, written: String, span| packages.push((package, written, span));
    for service in ServiceId::first(project.services.len()) {
        let Service { name, .. } = &project[service];
        add(service_package(&name.value), format!("service `{}`", name.value), name.span);
        if project.methods_of(service).any(|method| project[method].http.is_some()) {
            let written = format!("HTTP client of service `{}`", name.value);
            add(http_package(&name.value), written, name.span);
        }
    }
    for Toolset { name, .. } in &project.toolsets {
        add(toolset_package(&name.value), format!("toolset `{}`", name.value), name.span);
    }
    for Agent { service, name, .. } in &project.agents {
        let service = &project[*service].name.value;
        let written = format!("agent `{}` of `{service}`", name.value);
        add(agent_package(service, &name.value), written, name.span);
    }
    for McpServer { service, name, .. } in &project.servers {
        let service = &project[*service].name.value;
        let written = format!("MCP server `{}` of `{service}`", name.value);
        add(mcp_package(service, &name.value), written, name.span);
    }
    packages
}

/// Checks the items of `specs`: a static and a type for every tool. `get_1` and `get1`, for instance, become one type.
fn tools(project: &Project, toolset: ToolsetId, check: &mut Check<'_>) {
    let origin = project[toolset].mcp.is_some().then_some(ORIGIN);
    let statics = OF_TOOLSET.into_iter().chain(origin);
    let reserved: Vec<&str> = RESERVED_MARKERS.iter().copied().chain(statics).collect();
    let mut items = Namespace::new("item of `specs`", &reserved);
    for &tool in &project[toolset].tools {
        let name = &project[tool].name;
        let written = format!("tool `{}`", name.value);
        items.add(pascal(&name.value), written.clone(), name.span);
        items.add(spec_static(&name.value), written, name.span);
    }
    items.report(check);
}

fn type_scope(project: &Project, types: &TypeNames, scope: Scope, check: &mut Check<'_>) {
    let foreign = match scope {
        Scope::Toolset(toolset) => types.foreign(project, toolset),
        Scope::Service(service) => types.imported(project, service),
    };
    type_names(project, types, scope, &foreign, check);
    for name in types.of(scope) {
        members(project, name, check);
    }
}

fn type_names(
    project: &Project,
    types: &TypeNames,
    scope: Scope,
    foreign: &[&TypeName],
    check: &mut Check<'_>,
) {
    // This is the usual case: all names differ and none is reserved.
    let mut taken: BTreeSet<&str> = RESERVED_TYPES.iter().copied().collect();
    let mut all = types.of(scope).chain(foreign.iter().copied());
    if all.all(|name| taken.insert(&name.name)) {
        return;
    }
    let mut names = Namespace::new("type", RESERVED_TYPES);
    for name in types.of(scope) {
        names.add(name.name.clone(), described(name), check.place(project, name.node));
    }
    // Reserved names have been reported for their service.
    for name in foreign.iter().filter(|name| !is_reserved_type(&name.name)) {
        let whose = match name.scope {
            Scope::Service(service) => format!("service `{}`", project[service].name.value),
            Scope::Toolset(toolset) => format!("toolset `{}`", project[toolset].name.value),
        };
        let written = format!("{} of the {whose}", described(name));
        names.add(name.name.clone(), written, check.place(project, name.node));
    }
    names.report(check);
}

/// Checks the fields or variants of one type.
fn members(project: &Project, owner: &TypeName, check: &mut Check<'_>) {
    let (schemas, node, owner) = (&project.schemas, owner.node, &owner.name);
    match &schemas[node].shape {
        Shape::Object(object) => {
            // This is the usual case: all fields differ.
            let mut taken = BTreeSet::new();
            if object.fields(schemas).all(|field| taken.insert(identifier(&field.name.value))) {
                return;
            }
            let mut fields = Namespace::new("field", &[]);
            for Property { name, .. } in object.fields(schemas) {
                let written = format!("property `{}` of `{owner}`", name.value);
                fields.add(identifier(&name.value), written, name.span);
            }
            fields.report(check);
        }
        Shape::Union(union) => {
            let mut variants = Namespace::new("variant", &[]);
            for Variant { tag, .. } in &union.variants {
                let written = format!("value `{}` of `{owner}`", tag.value);
                variants.add(pascal(&tag.value), written, tag.span);
            }
            variants.report(check);
        }
        _ => {}
    }
}

/// Checks the functions of a service's trait, and their errors.
fn methods(project: &Project, service: ServiceId, check: &mut Check<'_>) {
    let mut functions = Namespace::new("function", RESERVED_METHODS);
    let mut types = Namespace::new("error type", &["BoxError"]);
    for id in project.methods_of(service) {
        let Method { name, errors, .. } = &project[id];
        let written = format!("method `{}`", name.value);
        functions.add(name.value.clone(), written.clone(), name.span);
        types.add(pascal_with(&name.value, "Error"), written, name.span);
        let mut variants = Namespace::new("variant", &[]);
        for MethodError { name: error, .. } in errors {
            let written = format!("error `{}` of method `{}`", error.value, name.value);
            variants.add(pascal(&error.value), written, error.span);
        }
        variants.report(check);
    }
    functions.report(check);
    types.report(check);
}

/// Describes a type, as part of a sentence.
fn described(name: &TypeName) -> String {
    let Some(origin) = &name.origin else { return format!("the type `{}`", name.name) };
    let mut chars = origin.trim_end_matches('.').chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().to_string() + chars.as_str())
}

/// Reports services that use each other's types: their crates would depend on each other, which cargo does not allow.
fn crate_circles(project: &Project, types: &TypeNames, report: &mut Report) {
    let services: Vec<ServiceId> = ServiceId::first(project.services.len()).collect();
    // For each service, the other services whose types it uses, each with the span of such a type.
    let mut uses: Vec<Vec<(usize, Span)>> = Vec::new();
    let mut edges: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &service in &services {
        let own = project.types_of(service).map(|id| project.schemas[id].schema);
        let of_methods = project.methods_of(service).flat_map(|id| project[id].schemas());
        let nodes = own.chain(of_methods);
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        for name in types.used_directly(&project.schemas, Scope::Service(service), nodes) {
            if let Scope::Service(other) = name.scope
                && seen.insert(other.position())
            {
                found.push((other.position(), project.schemas[name.node].span));
            }
        }
        edges.insert(service.position(), seen.into_iter().collect());
        uses.push(found);
    }
    let nodes: Vec<usize> = (0..uses.len()).collect();
    let circles = components(&nodes, &edges);
    for (start, direct) in uses.iter().enumerate() {
        for &(next, span) in direct {
            // Each circle is reported once, at its first service.
            if next > start && circles[&next] == circles[&start] {
                let (a, b) = (&project[services[start]].name, &project[services[next]].name);
                report.add(clashes::crate_circle(a, b, span));
            }
        }
    }
}
