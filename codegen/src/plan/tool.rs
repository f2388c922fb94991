//! The plan of a tool: its names, its types, and the parts of its spec that are not in the model.

use std::cell::LazyCell;
use std::sync::Arc;

use toolwright::schema::Schema;
use toolwright::spec::Implementation;

use super::roots::RootType;
use super::types::SchemaFile;
use super::{Plans, docs};
use crate::json::Style;
use crate::model::{self, Deprecation, ServiceId, Tool, ToolId};
use crate::naming::{Identifier, file_name, identifier, pascal, spec_static};
#[cfg(feature = "project")]
use crate::options::Layout;
use crate::schema::{NodeId, published, sample};
#[cfg(feature = "project")]
use crate::values::rows;

/// The plan of one tool.
#[derive(Debug)]
pub struct ToolPlan<'a> {
    /// The tool.
    pub tool: &'a Tool,
    /// The type that implements `toolwright::Tool`.
    pub marker: Identifier,
    /// The static that holds its spec.
    pub constant: Identifier,
    /// The function that builds a call.
    pub function: Identifier,
    /// Its description, as doc lines.
    pub docs: Vec<String>,
    /// The type of its arguments.
    pub args: RootType,
    /// The type of its result.
    pub result: RootType,
    /// Its implementation.
    pub implementation: Implementation,
    /// Valid arguments, generated from their schema; `None` if the tool has an example.
    pub args_sample: Option<String>,
    /// The name of the tool that replaces it.
    pub replacement: Option<&'a str>,
    /// The deprecation of the function that builds a call, if the tool is deprecated.
    pub deprecated: Option<DeprecatedCall<'a>>,
    /// Its arguments' schema.
    pub args_schema: SchemaFile,
    /// Its result's schema.
    pub result_schema: SchemaFile,
    /// Its definition for each provider dialect of the project, if the project asks for them.
    pub definitions: Vec<SchemaFile>,
    /// The rows that hold its codecs to its schemas, if the project asks for them.
    pub vectors: Option<SchemaFile>,
}

/// The deprecation of a function that builds a call, as Rust's attribute has it.
#[derive(Debug)]
pub struct DeprecatedCall<'a> {
    /// The version that deprecated the tool, if it has three numbers, as lints expect.
    pub since: Option<&'a str>,
    /// Any other version, the tool to use instead, and the last day.
    pub note: Option<String>,
}

impl<'a> Plans<'a> {
    pub(super) fn tool(&self, id: ToolId) -> ToolPlan<'a> {
        let project = self.project;
        let tool = &project[id];
        let name = &tool.name.value;
        let schema = |side: &str, node: NodeId| SchemaFile {
            name: format!("{}.{side}.json", file_name(name)),
            text: published(&project.schemas, node, Style::Pretty),
        };
        let mut docs = docs::prose(&tool.description);
        match docs.first_mut() {
            Some(first) => *first = format!("`{name}`: {first}"),
            None => docs.push(format!("`{name}`")),
        }
        let service = |id: ServiceId| project[id].name.value.clone().into();
        let implementation = match project.implementation(id) {
            model::Implementation::Method(method) => Implementation::Method {
                service: service(project[method].service),
                method: project[method].name.value.clone().into(),
            },
            model::Implementation::Agent(agent) => Implementation::Agent {
                service: service(project[agent].service),
                agent: project[agent].name.value.clone().into(),
            },
            model::Implementation::Mcp(server) => {
                Implementation::Mcp { server: server.to_owned().into() }
            }
            model::Implementation::External => Implementation::External,
        };
        let replacement = tool.deprecated.as_ref().and_then(|why| why.replacement);
        let replacement = replacement.map(|id| &*project[id].name.value);
        let args_schema = schema("args", tool.args);
        let result_schema = schema("result", tool.result);
        // A schema that cannot be compiled is reported elsewhere.
        let compiled = LazyCell::new(|| Schema::new(&args_schema.text).ok().map(Arc::new));
        let made = if tool.examples.is_empty() { compiled.as_ref() } else { None };
        let made = made.and_then(|compiled| sample(&project.schemas, tool.args, compiled));
        let args_sample = made.map(|args| args.to_string());
        let texts = [&*args_schema.text, &*result_schema.text];
        let vectors = vectors(self, tool, || compiled.clone(), texts);
        ToolPlan {
            tool,
            marker: pascal(name),
            constant: spec_static(name),
            function: identifier(name),
            docs,
            args: self.root_type(tool.args),
            result: self.root_type(tool.result),
            implementation,
            args_sample,
            replacement,
            deprecated: tool.deprecated.as_ref().map(|why| deprecated(why, replacement)),
            definitions: definitions(self, tool, &args_schema.text),
            vectors,
            args_schema,
            result_schema,
        }
    }
}

/// Returns the definition of a tool for each target of the project, if it asks for them.
#[cfg(feature = "project")]
fn definitions(plans: &Plans<'_>, tool: &Tool, args: &str) -> Vec<SchemaFile> {
    let Some(dialects) = &plans.options.dialects else { return Vec::new() };
    let mut definitions: Vec<SchemaFile> = Vec::new();
    for form in dialects.forms(tool, args) {
        let name = format!("{}.{}.json", file_name(&tool.name.value), form.row.id());
        // Two targets may be the two rows of one endpoint.
        if definitions.iter().all(|definition| definition.name != name) {
            definitions.push(SchemaFile { name, text: form.definition() });
        }
    }
    definitions
}

#[cfg(not(feature = "project"))]
fn definitions(_: &Plans<'_>, _: &Tool, _: &str) -> Vec<SchemaFile> {
    Vec::new()
}

fn deprecated<'a>(why: &'a Deprecation, replacement: Option<&str>) -> DeprecatedCall<'a> {
    let is_version = |text: &str| {
        // Semantic Versioning 2.0.0, section 2. Parsing would also take a sign.
        let is_number =
            |part: &str| part.parse::<u64>().is_ok_and(|number| number.to_string() == part);
        text.split('.').count() == 3 && text.split('.').all(is_number)
    };
    let since = why.since.as_deref();
    let notes = [
        since.filter(|since| !is_version(since)).map(|since| format!("since {since}")),
        replacement.map(|tool| format!("use `{tool}` instead")),
        why.until.as_ref().map(|day| format!("it may be gone after {day}")),
    ];
    let note = notes.into_iter().flatten().collect::<Vec<_>>().join("; ");
    DeprecatedCall {
        since: since.filter(|since| is_version(since)),
        note: (!note.is_empty()).then_some(note),
    }
}

/// Returns the rows for the arguments and the result of a tool, if the project asks for them.
#[cfg(feature = "project")]
fn vectors(
    plans: &Plans<'_>,
    tool: &Tool,
    of_args: impl FnOnce() -> Option<Arc<Schema>>,
    [args, result]: [&str; 2],
) -> Option<SchemaFile> {
    if !plans.options.vectors || plans.options.layout != Layout::Crates {
        return None;
    }
    let schemas = &plans.project.schemas;
    let calls: Vec<&str> = tool.examples.iter().map(|example| &*example.args).collect();
    let results: Vec<&str> =
        tool.examples.iter().filter_map(|example| example.result.as_deref()).collect();
    let of_result = Schema::new(result).ok().map(Arc::new);
    let sides = [
        (of_args(), tool.args, args, "args", &calls),
        (of_result, tool.result, result, "result", &results),
    ];
    let mut text = String::new();
    for (compiled, node, published, of, examples) in sides {
        let Some(compiled) = compiled else { continue };
        text.push_str(&rows(schemas, node, &compiled, published.len(), of, examples));
    }
    Some(SchemaFile { name: format!("{}.jsonl", file_name(&tool.name.value)), text })
}

#[cfg(not(feature = "project"))]
fn vectors(
    _: &Plans<'_>,
    _: &Tool,
    _: impl FnOnce() -> Option<Arc<Schema>>,
    _: [&str; 2],
) -> Option<SchemaFile> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_version_of_three_numbers_is_one_for_lints() {
        let table = [
            ("1.2.3", true),
            ("0.10.0", true),
            ("01.2.3", false),
            ("+1.2.3", false),
            ("1.2.00", false),
            ("1.2", false),
            ("1.2.3.4", false),
            ("1..3", false),
        ];
        for (since, is_version) in table {
            let why = Deprecation { since: Some(since.to_owned()), replacement: None, until: None };
            let DeprecatedCall { since: found, note } = deprecated(&why, None);
            assert_eq!((found.is_some(), note.is_none()), (is_version, is_version), "{since}");
        }
    }
}
