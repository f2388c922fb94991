//! Finds names that differ in the language but not in Rust (G13). Never looks at names that are equal
//! as written: lowering has refused those.

use std::collections::BTreeMap;

use super::{
    Scope, TypeName, TypeNames, agent_package, identifier, mcp_package, pascal, screaming,
    service_package, toolset_package,
};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::{MethodId, Project, ServiceId, ToolsetId};
use crate::schema::{ObjectShape, Shape};
use crate::source::{Span, Spanned};

/// Type names that generated code needs for itself.
const RESERVED_TYPES: &[&str] = &[
    "Box", "Decode", "Encode", "Err", "Integer", "Items", "Length", "Map", "None", "Nullable",
    "Ok", "Option", "Pattern", "Range", "Reader", "Result", "Self", "Some", "String", "Value",
    "Vec", "Writer",
];

/// Tool names whose statics the `specs` module needs for itself.
const RESERVED_TOOLS: &[&str] = &["all"];

/// Reports every clash between names as they become Rust.
pub fn check(project: &Project, report: &mut Report) {
    let types = TypeNames::assign(project);
    packages(project, report);
    tools(project, report);
    for service in ServiceId::first(project.services.len()) {
        type_scope(project, &types, Scope::Service(service), report);
    }
    for toolset in ToolsetId::first(project.toolsets.len()) {
        type_scope(project, &types, Scope::Toolset(toolset), report);
    }
    for method in MethodId::first(project.methods.len()) {
        method_errors(project, method, report);
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

/// Tool names are unique as written, and the grammar has one case only, so only names that the `specs`
/// module has already can clash.
fn tools(project: &Project, report: &mut Report) {
    for tool in &project.tools {
        let name = &tool.name;
        if RESERVED_TOOLS.contains(&name.value.as_str()) {
            let mut statics =
                Namespace::new("static").reserving(&screaming(&name.value), name.span);
            statics.claim(
                screaming(&name.value),
                &format!("tool `{}`", name.value),
                name.span,
                report,
            );
        }
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
        Shape::Enum(values) => variants(values.iter(), &name.name, report),
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

fn method_errors(project: &Project, id: MethodId, report: &mut Report) {
    let method = &project[id];
    for error in &method.errors {
        let mut variants = Namespace::new("variant").reserving("Internal", error.name.span);
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
