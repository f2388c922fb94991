//! Finds names that differ in the language but not in Rust (G13). Says nothing of names that are equal
//! as written: lowering has refused those.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Scope, TypeName, TypeNames, agent_package, http_package, identifier, mcp_package, pascal,
    pascal_with, screaming, service_package, spec_static, toolset_package,
};
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

/// Names that the `specs` module needs for itself, as types of tools.
const RESERVED_MARKERS: &[&str] = &["Duration", "Iterator", "None", "Some", "ToolSpec"];

/// The statics that list a toolset's specs and describe it.
const OF_TOOLSET: [&str; 2] = ["ALL", "TOOLSET"];

/// The static that tells of the MCP server a toolset stands for, in `specs`.
const ORIGIN: &str = "REMOTE";

/// Methods that every Rust value has by its own right, and that calls would reach instead.
const RESERVED_METHODS: &[&str] = &["into", "try_into"];

/// Whether generated code needs a type of this name for itself.
pub fn is_reserved_type(name: &str) -> bool {
    RESERVED_TYPES.contains(&name)
}

/// Whether generated code needs what a tool of this name would become, in the toolset of an MCP server too.
pub fn is_reserved_tool(name: &str) -> bool {
    OF_TOOLSET.into_iter().chain([ORIGIN]).any(|used| used == screaming(name).as_str())
        || RESERVED_MARKERS.contains(&pascal(name).as_str())
}

/// Reports every clash between names as they become Rust.
pub fn check(project: &Project, types: &TypeNames, report: &mut Report) {
    let named =
        project.schemas.types().iter().map(|named| (named.schema, named.name.span)).collect();
    let mut check = Check { report, told: BTreeSet::new(), named };
    packages(project, &mut check);
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

/// Where clashes are reported, and the places that have been told: tools that clash make types that clash, and types
/// that clash in their service clash again in every toolset that reaches them.
struct Check<'a> {
    report: &'a mut Report,
    told: BTreeSet<Vec<Span>>,
    /// Where each schema that has a name of its own is named.
    named: BTreeMap<NodeId, Span>,
}

impl Check<'_> {
    /// Where a type is named, or its schema written.
    fn place(&self, project: &Project, node: NodeId) -> Span {
        self.named.get(&node).copied().unwrap_or(project.schemas[node].span)
    }
}

/// One namespace: what each name became, and where it was written.
struct Namespace {
    what: &'static str,
    claims: BTreeMap<String, Vec<(Span, String)>>,
    reserved: BTreeSet<&'static str>,
}

impl Namespace {
    fn new(what: &'static str, reserved: &[&'static str]) -> Self {
        let reserved = reserved.iter().copied().collect();
        Self { what, claims: BTreeMap::new(), reserved }
    }

    fn claim(&mut self, rust: impl Into<String>, written: String, span: Span) {
        self.claims.entry(rust.into()).or_default().push((span, written));
    }

    fn report(self, check: &mut Check<'_>) {
        for (rust, mut claims) in self.claims {
            if self.reserved.contains(rust.as_str()) {
                for (span, written) in &claims {
                    check.report.add(clashes::reserved_name(*span, written, self.what, &rust));
                }
                continue;
            }
            if claims.len() == 1 {
                continue;
            }
            // Of names that are equal as written, lowering has reported that one is given twice.
            claims.sort();
            let mut seen = BTreeSet::new();
            claims.retain(|(_, written)| seen.insert(written.clone()));
            let places = claims.iter().map(|(span, _)| *span).collect();
            if claims.len() > 1 && check.told.insert(places) {
                check.report.add(clashes::name_clash(self.what, &rust, claims));
            }
        }
    }
}

fn packages(project: &Project, check: &mut Check<'_>) {
    let mut packages = Namespace::new("crate", &[]);
    for Service { name, .. } in &project.services {
        let written = format!("service `{}`", name.value);
        packages.claim(service_package(&name.value), written, name.span);
        let written = format!("HTTP client of service `{}`", name.value);
        packages.claim(http_package(&name.value), written, name.span);
    }
    for Toolset { name, .. } in &project.toolsets {
        let written = format!("toolset `{}`", name.value);
        packages.claim(toolset_package(&name.value), written, name.span);
    }
    for Agent { service, name, .. } in &project.agents {
        let service = &project[*service].name.value;
        let written = format!("agent `{}` of `{service}`", name.value);
        packages.claim(agent_package(service, &name.value), written, name.span);
    }
    for McpServer { service, name, .. } in &project.servers {
        let service = &project[*service].name.value;
        let written = format!("MCP server `{}` of `{service}`", name.value);
        packages.claim(mcp_package(service, &name.value), written, name.span);
    }
    packages.report(check);
}

/// The items of `specs`: a static and a type for every tool. Names that differ as written may be one
/// here, as `get_1` and `get1` are.
fn tools(project: &Project, toolset: ToolsetId, check: &mut Check<'_>) {
    let origin = project[toolset].mcp.is_some().then_some(ORIGIN);
    let statics = OF_TOOLSET.into_iter().chain(origin);
    let reserved: Vec<&str> = RESERVED_MARKERS.iter().copied().chain(statics).collect();
    let mut items = Namespace::new("item of `specs`", &reserved);
    for &tool in &project[toolset].tools {
        let name = &project[tool].name;
        let written = format!("tool `{}`", name.value);
        items.claim(pascal(&name.value), written.clone(), name.span);
        items.claim(spec_static(&name.value), written, name.span);
    }
    items.report(check);
}

fn type_scope(project: &Project, types: &TypeNames, scope: Scope, check: &mut Check<'_>) {
    let foreign = match scope {
        Scope::Toolset(toolset) => types.foreign(project, toolset),
        Scope::Service(_) => Vec::new(),
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
    // Nearly always all of them differ and none is reserved, and then nothing is to be said.
    let mut taken: BTreeSet<&str> = RESERVED_TYPES.iter().copied().collect();
    let mut all = types.of(scope).chain(foreign.iter().copied());
    if all.all(|name| taken.insert(&name.name)) {
        return;
    }
    let mut names = Namespace::new("type", RESERVED_TYPES);
    for name in types.of(scope) {
        names.claim(name.name.clone(), written(name), check.place(project, name.node));
    }
    // Its service has reported a name that is reserved.
    for name in foreign.iter().filter(|name| !is_reserved_type(&name.name)) {
        let whose = match name.scope {
            Scope::Service(service) => format!("service `{}`", project[service].name.value),
            Scope::Toolset(toolset) => format!("toolset `{}`", project[toolset].name.value),
        };
        let written = format!("{} of the {whose}", written(name));
        names.claim(name.name.clone(), written, check.place(project, name.node));
    }
    names.report(check);
}

/// The fields or variants of one type.
fn members(project: &Project, owner: &TypeName, check: &mut Check<'_>) {
    let (schemas, node, owner) = (&project.schemas, owner.node, &owner.name);
    match &schemas[node].shape {
        Shape::Object(object) => {
            // Nearly always all of them differ, and then nothing is to be said.
            let mut taken = BTreeSet::new();
            if object.fields(schemas).all(|field| taken.insert(identifier(&field.name.value))) {
                return;
            }
            let mut fields = Namespace::new("field", &[]);
            for Property { name, .. } in object.fields(schemas) {
                let written = format!("property `{}` of `{owner}`", name.value);
                fields.claim(identifier(&name.value), written, name.span);
            }
            fields.report(check);
        }
        Shape::Union(union) => {
            let mut variants = Namespace::new("variant", &[]);
            for Variant { tag, .. } in &union.variants {
                let written = format!("value `{}` of `{owner}`", tag.value);
                variants.claim(pascal(&tag.value), written, tag.span);
            }
            variants.report(check);
        }
        _ => {}
    }
}

/// The functions of a service's trait, and the errors they return.
fn methods(project: &Project, service: ServiceId, check: &mut Check<'_>) {
    let mut functions = Namespace::new("function", RESERVED_METHODS);
    let mut types = Namespace::new("error type", &["BoxError"]);
    for id in project.methods_of(service) {
        let Method { name, errors, .. } = &project[id];
        let written = format!("method `{}`", name.value);
        functions.claim(name.value.clone(), written.clone(), name.span);
        types.claim(pascal_with(&name.value, "Error"), written, name.span);
        let mut variants = Namespace::new("variant", &[]);
        for MethodError { name: error, .. } in errors {
            let written = format!("error `{}` of method `{}`", error.value, name.value);
            variants.claim(pascal(&error.value), written, error.span);
        }
        variants.report(check);
    }
    functions.report(check);
    types.report(check);
}

/// What a type is, as part of a sentence.
fn written(name: &TypeName) -> String {
    let Some(origin) = &name.origin else { return format!("the type `{}`", name.name) };
    let mut chars = origin.trim_end_matches('.').chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().to_string() + chars.as_str())
}

/// Services whose types use each other's would be crates that depend on each other, which cargo refuses.
fn crate_circles(project: &Project, types: &TypeNames, report: &mut Report) {
    let services: Vec<ServiceId> = ServiceId::first(project.services.len()).collect();
    // For each service the others whose types its own types and methods use, with such a type.
    let mut uses: Vec<Vec<(usize, Span)>> = Vec::new();
    for &service in &services {
        let own = project.types_of(service).map(|id| project.schemas[id].schema);
        let of_methods = project.methods_of(service).flat_map(|id| project[id].schemas());
        let nodes = own.chain(of_methods);
        let mut found: Vec<(usize, Span)> = Vec::new();
        for name in types.used_directly(&project.schemas, Scope::Service(service), nodes) {
            if let Scope::Service(other) = name.scope
                && found.iter().all(|(known, _)| *known != other.position())
            {
                found.push((other.position(), project.schemas[name.node].span));
            }
        }
        uses.push(found);
    }
    for (start, direct) in uses.iter().enumerate() {
        for &(next, span) in direct {
            // Each circle is told once, from its first service.
            if next > start && reaches(&uses, next, start) {
                let (a, b) = (&project[services[start]].name, &project[services[next]].name);
                report.add(clashes::crate_circle(a, b, span));
            }
        }
    }
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
