//! Checks that options about types name types that a project has.

use crate::diagnostic::{Diagnostic, names};
use crate::model::Project;
use crate::options::TypeOptions;
use crate::prose::advice;
use crate::schema::Shape;

/// Returns what is wrong with options about types; their places are in `toolwright.toml`.
pub(crate) fn check_types(project: &Project, options: &[TypeOptions]) -> Vec<Diagnostic> {
    options.iter().filter_map(|options| check_type(project, options)).collect()
}

fn check_type(
    project: &Project,
    TypeOptions { name, span, .. }: &TypeOptions,
) -> Option<Diagnostic> {
    let Some(id) = project.named_type(name) else {
        let types = project.named_types().map(|(name, _)| name).collect::<Vec<_>>();
        let words = format!("no type is named `{name}`; expected `service.Type`");
        let advice = advice(name, types.iter().map(String::as_str), "named types");
        return Some(names::unknown_type(*span, words, advice));
    };
    let schema = &project.schemas[project.schemas[id].schema];
    let is_alias =
        matches!(schema.shape, Shape::Named(_) | Shape::Local(_)) && schema.assertions.is_empty();
    is_alias.then(|| names::derive_on_alias(*span, name))
}
