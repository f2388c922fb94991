//! Checks the options of types: whether the types exist, and whether they can have these options.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, MAX_SUGGESTIONS, clashes, names};
use crate::model::Project;
use crate::naming::{self, is_map, library};
use crate::options::{Layout, Options, TypeOptions};
use crate::prose::advice;
use crate::schema::{Additional, NodeId, Schemas, Shape, TypeId, aliased};
use crate::source::Span;

/// The crates of toolwright that generated crates may depend on.
const OWN_CRATES: [&str; 4] =
    ["toolwright", "toolwright-runtime", "toolwright-mcp", "toolwright-http"];

/// Returns the packages that have the name of one that generated crates depend on.
pub(crate) fn check_packages(project: &Project, options: &Options) -> Vec<Diagnostic> {
    if options.layout == Layout::Modules {
        return Vec::new();
    }
    let others = options.dependencies.iter().map(|(package, _)| package.as_str());
    let others: BTreeSet<String> = OWN_CRATES.into_iter().chain(others).map(library).collect();
    let prefix = &options.package.prefix;
    let reserved = |(package, written, span): (String, String, Span)| {
        let package = format!("{prefix}{package}");
        let is_taken = others.contains(&library(&package));
        is_taken.then(|| clashes::reserved_name(span, &written, "crate", &package))
    };
    naming::packages(project).into_iter().filter_map(reserved).collect()
}

/// Returns the mistakes in options of types, with spans in `toolwright.toml`. Options of unknown types are only mistakes if
/// `has_all_types`.
pub(crate) fn check_types(
    project: &Project,
    options: &[TypeOptions],
    has_all_types: bool,
) -> Vec<Diagnostic> {
    if options.is_empty() {
        return Vec::new();
    }
    let types = project.named_types();
    let has_domain = options.iter().any(|options| options.domain.is_some());
    let roots = if has_domain { roots(project) } else { BTreeMap::new() };
    let (mut mistakes, mut unknown) = (Vec::new(), 0);
    for options in options {
        match types.get(&options.name) {
            Some(&id) => mistakes.extend(check_type(project, id, options, &roots)),
            None if has_all_types => {
                unknown += 1;
                let advice = if unknown <= MAX_SUGGESTIONS {
                    advice(&options.name, types.keys().map(String::as_str), "named types")
                } else {
                    format!("the project has {} named types", types.len())
                };
                let message =
                    format!("no type is named `{}`; expected `service.Type`", options.name);
                mistakes.push(names::unknown_type(options.span, message, advice));
            }
            None => {}
        }
    }
    mistakes
}

fn check_type(
    project: &Project,
    id: TypeId,
    options: &TypeOptions,
    roots: &BTreeMap<NodeId, String>,
) -> Option<Diagnostic> {
    let TypeOptions { name, span, domain, .. } = options;
    let node = project.schemas[id].schema;
    let is_alias = aliased(&project.schemas, node).nth(1).is_some();
    if domain.is_none() {
        return is_alias.then(|| names::derive_on_alias(*span, name));
    }
    if is_alias {
        let message =
            format!("`{name}` is an alias of another type, so no type of yours can replace it");
        return Some(names::unfit_domain_type(*span, message, "name the type that it refers to"));
    }
    if !is_plain(&project.schemas, node) {
        let message = format!("no type of yours can replace `{name}`, because of its schema");
        return Some(names::unfit_domain_type(*span, message, REPLACEABLE));
    }
    roots.get(&node).map(|what| {
        let message =
            format!("`{name}` is the whole of {what}; a type of yours can only be a part of it");
        let advice = "make that an object with a property of this type";
        names::unfit_domain_type(*span, message, advice)
    })
}

const REPLACEABLE: &str = "a type of yours can replace a string, a number, a boolean or any value, with or without limits, \
                           or a list or map of these; keep the generated type, and convert it in the service";

/// Returns whether the type of a node, and of everything in it, comes from Rust or the contract.
fn is_plain(schemas: &Schemas, node: NodeId) -> bool {
    match &schemas[node].shape {
        Shape::Any | Shape::Boolean | Shape::String(_) | Shape::Integer(_) | Shape::Number(_) => {
            true
        }
        Shape::Array(array) => is_plain(schemas, array.items),
        Shape::Object(object) if is_map(object) => match object.additional {
            Additional::Typed(value) => is_plain(schemas, value),
            Additional::Closed | Additional::Open | Additional::Declared => true,
        },
        _ => false,
    }
}

/// Returns the schemas of methods and tools, and those that these refer to, each with a description of the first one.
fn roots(project: &Project) -> BTreeMap<NodeId, String> {
    let methods = project.methods.iter().flat_map(|method| {
        let name = &method.name.value;
        let payload = (method.payload, format!("the payload of `{name}`"));
        let result = (method.result, format!("the result of `{name}`"));
        let errors = method.errors.iter().filter_map(move |error| {
            let of = format!("the payload of `{}`, an error of `{name}`", error.name.value);
            Some((error.payload?, of))
        });
        [payload, result].into_iter().chain(errors)
    });
    let tools = project.tools.iter().flat_map(|tool| {
        let name = &tool.name.value;
        [
            (tool.args, format!("the arguments of `{name}`")),
            (tool.result, format!("the result of `{name}`")),
        ]
    });
    let mut roots = BTreeMap::new();
    for (root, what) in methods.chain(tools) {
        // A schema that is known was followed before.
        for node in aliased(&project.schemas, root) {
            let Entry::Vacant(place) = roots.entry(node) else { break };
            place.insert(what.clone());
        }
    }
    roots
}
