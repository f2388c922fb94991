//! Parses templates and checks the fields that they use against the tool's schemas, so that they do not fail at run time.

use std::collections::BTreeSet;

use minijinja::machinery::{Instruction, get_compiled_template};
use minijinja::{Environment, ErrorKind, Template as Parsed};
use toolwright::http::Part;
use toolwright::spec::template;

use super::toolsets::WrittenTool;
use crate::diagnostic::{Report, templates as mistakes};
use crate::model::{MethodError, Project, Tool};
use crate::prose::advice;
use crate::schema::{Additional, NodeId, Schemas, Shape, as_object, resolved};
use crate::source::{Span, Spanned};
use crate::syntax::{self, Entries};

/// The fields of `tool` that a template can use.
const TOOL_FIELDS: [&str; 5] = ["name", "title", "description", "toolset", "service"];

/// Checks every template of every tool, and the messages of errors.
pub(super) fn check(
    project: &Project,
    methods: &[&syntax::Method],
    tools: &[WrittenTool<'_>],
    report: &mut Report,
) {
    for (method, text) in project.methods.iter().zip(methods) {
        let texts = text.errors.iter().flat_map(Entries::iter);
        for (error, (_, text)) in method.errors.iter().zip(texts) {
            if let Some(message) = &text.message {
                check_message(&project.schemas, error, message.span, report);
            }
        }
    }
    for (tool, written) in project.tools.iter().zip(tools) {
        if report.is_full() {
            return;
        }
        let approval = written.details.approval.iter();
        let approval = approval.flat_map(|text| text.prompt.iter().chain(&text.denied));
        let hints = written.details.hints.as_ref();
        for template in approval.chain(hints.and_then(|hints| hints.call.as_ref())) {
            check_template(&project.schemas, tool, template, false, report);
        }
        if let Some(template) = hints.and_then(|hints| hints.result.as_ref()) {
            check_template(&project.schemas, tool, template, true, report);
        }
    }
}

/// Checks that the message of an error only uses properties that are required and can be shown.
fn check_message(schemas: &Schemas, error: &MethodError, span: Span, report: &mut Report) {
    let object = match error.payload {
        Some(payload) if !schemas.is_valid(resolved(schemas, payload)) => return,
        Some(payload) => as_object(schemas, payload),
        None => None,
    };
    let properties = object.map_or(&[][..], |object| &object.properties);
    for part in &error.message {
        let Part::Property(name) = part else { continue };
        if report.is_full() {
            return;
        }
        let mut wrong = |reason: &str, advice: String| {
            report.add(mistakes::template_field(span, name, reason, advice));
        };
        let Some(property) = properties.iter().find(|property| property.name.value == *name) else {
            let known = properties.iter().map(|property| property.name.value.as_str());
            wrong(
                "the payload of this error has no such property",
                advice(name, known, "properties"),
            );
            continue;
        };
        let shape = &schemas[resolved(schemas, property.schema)].shape;
        let can_be_shown = matches!(
            shape,
            Shape::Boolean
                | Shape::String(_)
                | Shape::Integer(_)
                | Shape::Number(_)
                | Shape::Enum(_)
                | Shape::IntegerEnum(_)
                | Shape::Constants(_)
        );
        if !property.required {
            wrong("the payload does not require it", "require it, or leave it out here".to_owned());
        } else if !can_be_shown && schemas.is_valid(resolved(schemas, property.schema)) {
            let advice = "a message can use strings, numbers, booleans and enums".to_owned();
            wrong("it cannot be shown in a message", advice);
        }
    }
}

/// Checks one template, which can use `result` if `has_result`.
fn check_template(
    schemas: &Schemas,
    tool: &Tool,
    template: &Spanned<String>,
    has_result: bool,
    report: &mut Report,
) {
    let checked = template::check(&template.value);
    if let (Err(reason), true) = (&checked, template.value.len() > template::MAX_BYTES) {
        report.add(mistakes::bad_template(template.span, reason));
        return;
    }
    let environment = Environment::new();
    let parsed = match environment.template_from_str(&template.value) {
        Ok(parsed) => parsed,
        Err(error) => {
            report.add(mistakes::bad_template(template.span, &reason(&error)));
            return;
        }
    };
    let unknown = unknown_functions(&environment, &parsed);
    for (what, name) in &unknown {
        report.add(mistakes::template_filter(template.span, what, name));
    }
    if let Some(reason) = checked.err().filter(|_| unknown.is_empty()) {
        report.add(mistakes::bad_template(template.span, &reason));
    }
    let globals: BTreeSet<String> =
        environment.globals().map(|(name, _)| name.to_string()).collect();
    let used: BTreeSet<String> = parsed.undeclared_variables(true).into_iter().collect();
    for path in used.iter().filter(|path| !globals.contains(*path)) {
        if report.is_full() {
            return;
        }
        if let Err((message, help)) = check_path(schemas, tool, path, has_result) {
            report.add(mistakes::template_field(template.span, path, &message, help));
        }
    }
}

/// Returns the message of an error without the name of a file, because templates have none.
fn reason(error: &minijinja::Error) -> String {
    error.detail().map_or_else(|| error.kind().to_string(), str::to_owned)
}

/// Returns the unknown filters and tests of a template, which would fail at run time.
fn unknown_functions(
    environment: &Environment<'_>,
    template: &Parsed<'_, '_>,
) -> Vec<(&'static str, String)> {
    let instructions = &get_compiled_template(template).instructions;
    let mut unknown = BTreeSet::new();
    for instruction in (0..).map_while(|index| instructions.get(index)) {
        // A known filter may also fail, because it is called without a value.
        let mut state = environment.empty_state();
        match instruction {
            Instruction::ApplyFilter(name, ..) => {
                let tried = state.apply_filter(name, &[]);
                if tried.is_err_and(|error| error.kind() == ErrorKind::UnknownFilter) {
                    unknown.insert(("filter", (*name).to_owned()));
                }
            }
            Instruction::PerformTest(name, ..) => {
                let tried = state.perform_test(name, &[]);
                if tried.is_err_and(|error| error.kind() == ErrorKind::UnknownTest) {
                    unknown.insert(("test", (*name).to_owned()));
                }
            }
            _ => {}
        }
    }
    unknown.into_iter().collect()
}

/// A mistake in a variable, and advice.
type Wrong = (String, String);

fn check_path(schemas: &Schemas, tool: &Tool, path: &str, has_result: bool) -> Result<(), Wrong> {
    let mut fields = path.split('.');
    let root = fields.next().unwrap_or_default();
    let fields: Vec<&str> = fields.collect();
    match root {
        "args" => check_fields(schemas, tool.args, &fields, &mut Refused::new()),
        "result" if has_result => check_fields(schemas, tool.result, &fields, &mut Refused::new()),
        "tool" => match fields.first() {
            Some(field) if !TOOL_FIELDS.contains(field) => {
                let advice = advice(field, TOOL_FIELDS, "fields of `tool`");
                Err((format!("`tool` has no field `{field}`"), advice))
            }
            _ => Ok(()),
        },
        "result" => {
            let advice = "only `hints.result` is rendered after the call".to_owned();
            Err(("there is no result yet".to_owned(), advice))
        }
        _ => {
            let advice = "a template may use `args`, `tool` and, in `hints.result`, `result`";
            Err((format!("there is no `{root}`"), advice.to_owned()))
        }
    }
}

/// The schemas that lack a field, each with the number of fields that were left to check. Without it, choices that refer to each
/// other would be tried in all combinations.
type Refused = BTreeSet<(NodeId, usize)>;

/// Checks that at least one of several schemas has the fields.
fn check_any(
    schemas: &Schemas,
    mut choices: impl Iterator<Item = NodeId>,
    field: &str,
    fields: &[&str],
    refused: &mut Refused,
) -> Result<(), Wrong> {
    let has_fields = |schema| {
        if refused.contains(&(schema, fields.len())) {
            return false;
        }
        let has_fields = check_fields(schemas, schema, fields, refused).is_ok();
        if !has_fields {
            refused.insert((schema, fields.len()));
        }
        has_fields
    };
    if choices.any(has_fields) {
        return Ok(());
    }
    let advice = "name a field of one of them".to_owned();
    Err((format!("no variant has a field `{field}`"), advice))
}

/// Returns the node for values that are not null; nullable nodes may be nested.
fn not_null(schemas: &Schemas, node: NodeId) -> NodeId {
    let mut node = resolved(schemas, node);
    while let Shape::Nullable(inner) = schemas[node].shape {
        node = resolved(schemas, inner);
    }
    node
}

fn check_fields(
    schemas: &Schemas,
    node: NodeId,
    fields: &[&str],
    refused: &mut Refused,
) -> Result<(), Wrong> {
    let Some((field, rest)) = fields.split_first() else { return Ok(()) };
    let is_valid = |node| schemas.is_valid(node);
    if !is_valid(node) || !is_valid(not_null(schemas, node)) {
        return Ok(());
    }
    match &schemas[not_null(schemas, node)].shape {
        Shape::Object(object) => {
            let found = object.properties.iter().find(|property| property.name.value == *field);
            match (found, object.additional) {
                (Some(property), _) => check_fields(schemas, property.schema, rest, refused),
                (None, Additional::Typed(node)) => check_fields(schemas, node, rest, refused),
                (None, Additional::Open | Additional::Declared) => Ok(()),
                (None, Additional::Closed) => {
                    let known =
                        object.properties.iter().map(|property| property.name.value.as_str());
                    Err((format!("there is no field `{field}`"), advice(field, known, "fields")))
                }
            }
        }
        Shape::Array(array) if field.bytes().all(|byte| byte.is_ascii_digit()) => {
            check_fields(schemas, array.items, rest, refused)
        }
        Shape::Tuple(tuple) => {
            let place = field.parse::<usize>().ok();
            let after = tuple.rest.as_ref().map(|rest| &rest.items);
            let item = place.and_then(|place| tuple.places.get(place).or(after));
            let Some(&item) = item else {
                let advice = format!("its items are 0 to {}", tuple.places.len() - 1);
                return Err((format!("there is no item `{field}`"), advice));
            };
            check_fields(schemas, item, rest, refused)
        }
        Shape::Union(union) => {
            let variants = union.variants.iter().map(|variant| variant.schema);
            check_any(schemas, variants, field, fields, refused)
        }
        Shape::Overlapping(choice) => {
            check_any(schemas, choice.members.iter().copied(), field, fields, refused)
        }
        Shape::Any => Ok(()),
        _ => Err((
            format!("there is no `{field}`, because the value is not an object"),
            "use the value itself".to_owned(),
        )),
    }
}
