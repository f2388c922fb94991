//! The types of the area `compile`: 100 tools with seven types each.

/// The number of tools.
const TOOLS: usize = 100;

/// A type. Its name is the same in the schema and in Rust.
pub(super) struct Type {
    pub(super) name: String,
    pub(super) body: Body,
}

pub(super) enum Body {
    Struct(Vec<Field>),
    Enum(Vec<String>),
}

pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
}

/// The type of a field.
pub(super) enum Kind {
    Text,
    /// A string or null.
    NullableText,
    Integer,
    Number,
    Flag,
    Texts,
    Named(String),
    List(String),
}

/// A tool. The names of its types end in the tool's number.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) args: String,
    pub(super) result: String,
}

pub(super) fn tools() -> Vec<Tool> {
    let tool = |number| Tool {
        name: format!("tool_{number}"),
        args: format!("Args{number}"),
        result: format!("Result{number}"),
    };
    (0..TOOLS).map(tool).collect()
}

/// Returns all types, tool by tool.
pub(super) fn types() -> Vec<Type> {
    (0..TOOLS).flat_map(types_of).collect()
}

fn types_of(tool: usize) -> [Type; 7] {
    let name = |base: &str| format!("{base}{tool}");
    let named = |base: &str| Kind::Named(name(base));
    let list = |base: &str| Kind::List(name(base));
    let structure = |base, fields| Type { name: name(base), body: Body::Struct(fields) };
    let choice = |base, values: usize| Type {
        name: name(base),
        body: Body::Enum(
            (0..values).map(|value| format!("{}_{value}", base.to_lowercase())).collect(),
        ),
    };
    [
        choice("Status", 5),
        choice("Mode", 3),
        structure(
            "Owner",
            vec![
                required("id", Kind::Integer),
                required("name", Kind::Text),
                optional("email", Kind::Text),
                optional("active", Kind::Flag),
            ],
        ),
        structure(
            "Filter",
            vec![
                optional("query", Kind::Text),
                optional("status", named("Status")),
                optional("labels", Kind::Texts),
                optional("limit", Kind::Integer),
                optional("cursor", Kind::NullableText),
            ],
        ),
        structure(
            "Item",
            vec![
                required("id", Kind::Integer),
                required("title", Kind::Text),
                required("status", named("Status")),
                required("owner", named("Owner")),
                optional("score", Kind::Number),
                optional("note", Kind::Text),
            ],
        ),
        structure(
            "Args",
            vec![
                required("mode", named("Mode")),
                required("target", Kind::Text),
                required("count", Kind::Integer),
                optional("filter", named("Filter")),
                optional("items", list("Item")),
                optional("weight", Kind::Number),
                optional("tags", Kind::Texts),
                optional("dry_run", Kind::Flag),
            ],
        ),
        structure(
            "Result",
            vec![
                required("items", list("Item")),
                required("total", Kind::Integer),
                optional("next", Kind::NullableText),
                optional("took", Kind::Number),
                optional("warnings", Kind::Texts),
                optional("complete", Kind::Flag),
            ],
        ),
    ]
}

fn required(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: true }
}

fn optional(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_seven_hundred_types() {
        assert_eq!((tools().len(), types().len()), (100, 700));
    }
}
