//! Compiles the files of the JSON Schema suite as projects. Each group becomes a type and a tool.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::projects::{self, Projects};
use crate::record::{Area, Case, Outcome, Row, Side, Source};
use crate::{files, yaml_text};

/// The formats that the schema language checks. All others are annotations.
const CHECKED: [&str; 12] = [
    "date-time",
    "date",
    "uuid",
    "ipv4",
    "ipv6",
    "uri",
    "email",
    "hostname",
    "time",
    "duration",
    "regex",
    "json-pointer",
];

/// The default dialect of the schema language.
const DIALECT: &str = "\"https://json-schema.org/draft/2020-12/schema\"";

#[derive(Deserialize)]
struct Group {
    description: String,
    schema: Box<RawValue>,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    description: String,
    data: Box<RawValue>,
    valid: bool,
}

/// Compiles every file of a folder: each group alone, then all accepted groups together.
pub(crate) fn compile(
    folder: &Path,
    area: Area,
    projects: &mut Projects,
) -> Result<Vec<Source>, Box<dyn Error>> {
    let mut sources = Vec::new();
    for path in files(folder, "json")? {
        let name = path.strip_prefix(folder)?.with_extension("").display().to_string();
        let groups: Vec<Group> = serde_json::from_str(&fs::read_to_string(&path)?)?;
        sources.push(source(area, name, &groups, projects)?);
    }
    Ok(sources)
}

fn source(
    area: Area,
    name: String,
    groups: &[Group],
    projects: &mut Projects,
) -> Result<Source, Box<dyn Error>> {
    let toolset = snake(&name);
    let module = format!("{}_{toolset}", if area == Area::Kept { "kept" } else { "suite" });
    let numbered = groups.iter().enumerate();
    let cases: Vec<_> =
        numbered.map(|(index, group)| case(&name, &toolset, index, group)).collect();
    let accepted: Vec<_> = cases.iter().filter(|case| case.outcome == Outcome::Accepted).collect();
    let mut together = None;
    if !accepted.is_empty() {
        let members: Vec<_> =
            accepted.iter().map(|case| (case.tool.as_str(), case.schema.as_str())).collect();
        match projects::generate(&format!("{name}.yaml"), project(&toolset, &members)) {
            Ok(files) => projects.add(&module, &toolset, &files)?,
            Err(outcome) => together = Some(outcome.to_string()),
        }
    }
    Ok(Source { area, name, module, together, cases })
}

fn case(file: &str, toolset: &str, index: usize, group: &Group) -> Case {
    let tool = format!("{toolset}_{index:03}");
    let schema = group.schema.get().to_owned();
    eprintln!("{file}: {}", group.description);
    let text = project(toolset, &[(&tool, &schema)]);
    let outcome = projects::outcome(projects::generate(&format!("{file}.yaml"), text));
    let rows = group.tests.iter().map(|test| row(file, &group.schema, test)).collect();
    Case { title: group.description.clone(), tool, schema, outcome, rows }
}

/// The row of a test. For formats, the decision of the schema language replaces the file's verdict.
fn row(file: &str, schema: &RawValue, test: &Test) -> Row {
    let valid = decided(file, schema, test).unwrap_or(test.valid);
    Row {
        title: test.description.clone(),
        side: Side::Both,
        json: test.data.get().to_owned(),
        valid,
        decided: valid != test.valid,
    }
}

fn decided(file: &str, schema: &RawValue, test: &Test) -> Option<bool> {
    let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(schema.get()).ok()?;
    let format: String = serde_json::from_str(members.get("format")?.get()).ok()?;
    let is_checked = CHECKED.contains(&format.as_str());
    match file {
        "format" if test.description.ends_with("is only an annotation by default") => {
            Some(!is_checked)
        }
        _ if file.starts_with("optional/format/") && !is_checked => Some(true),
        _ => None,
    }
}

/// A schema file in which each schema is a type, which is the result and a property of the arguments of a tool. As it is a type,
/// `#` refers to it.
fn project(toolset: &str, members: &[(&str, &str)]) -> String {
    let (mut types, mut tools) = (String::new(), String::new());
    for (tool, schema) in members {
        let name = camel(tool);
        // Writing to a string does not fail.
        _ = writeln!(types, "  {name}: {}", yaml_text::flow(&without_dialect(schema)));
        _ = write!(
            tools,
            "      {tool}:
        description: Takes and returns a value.
        args:
          type: object
          required: [value]
          properties: {{ value: {{ $ref: {name} }} }}
          additionalProperties: false
        result: {name}
"
        );
    }
    format!(
        "toolwright: 1
service: conformance
integers: exact
types:
{types}toolsets:
  {toolset}:
    description: Groups of one file.
    tools:
{tools}"
    )
}

/// Leaves out a `$schema` that names the default dialect. The compiler refuses other dialects.
fn without_dialect(schema: &str) -> String {
    let members = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(schema);
    let Ok(mut members) = members else { return schema.to_owned() };
    if members.get("$schema").is_some_and(|dialect| dialect.get() == DIALECT) {
        members.remove("$schema");
    }
    serde_json::to_string(&members).unwrap_or_else(|_| schema.to_owned())
}

/// Turns `optional/format/date-time` into `optional_format_date_time`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(if character.is_ascii_alphanumeric() {
            character.to_ascii_lowercase()
        } else {
            '_'
        });
    }
    snake
}

/// Turns `all_of_003` into `AllOf003`.
fn camel(name: &str) -> String {
    name.split('_')
        .flat_map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            [first.to_ascii_uppercase(), rest.to_owned()]
        })
        .collect()
}
