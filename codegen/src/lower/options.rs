//! Checks the options of types: whether the types exist, and whether they can have these options.

use crate::diagnostic::{Diagnostic, names};
use crate::model::Project;
use crate::naming::is_map;
use crate::options::TypeOptions;
use crate::prose::advice;
use crate::schema::{Additional, NodeId, Schemas, Shape, aliased};

/// Returns the mistakes in options of types, with spans in `toolwright.toml`.
pub(crate) fn check_types<'o>(
    project: &Project,
    options: impl Iterator<Item = &'o TypeOptions>,
) -> Vec<Diagnostic> {
    options.filter_map(|options| check_type(project, options)).collect()
}

fn check_type(project: &Project, options: &TypeOptions) -> Option<Diagnostic> {
    let TypeOptions { name, span, domain, .. } = options;
    let Some(id) = project.named_type(name) else {
        let types = project.named_types().map(|(name, _)| name).collect::<Vec<_>>();
        let message = format!("no type is named `{name}`; expected `service.Type`");
        let advice = advice(name, types.iter().map(String::as_str), "named types");
        return Some(names::unknown_type(*span, message, advice));
    };
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
    let root = roots(project)
        .find(|(root, _)| aliased(&project.schemas, *root).any(|aliased| aliased == node));
    root.map(|(_, what)| {
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

/// Returns the schemas of methods and tools, with a description of each.
fn roots(project: &Project) -> impl Iterator<Item = (NodeId, String)> {
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
    methods.chain(tools)
}
