//! Tests of parsing and lowering on files: rejected schemas with the places of their mistakes, accepted schemas with their
//! tools, the worked examples and the schema for editors. `UPDATE_EXPECT=1 cargo test` writes expectations.

mod expect;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use expect::expect;
use toolwright_codegen::diagnostic::Span;
use toolwright_codegen::diagnostic::{Diagnostic, Report};
use toolwright_codegen::internal::Style;
use toolwright_codegen::internal::lower;
use toolwright_codegen::internal::model::{Implementation, Project, ToolId};
use toolwright_codegen::internal::schema::published;
use toolwright_codegen::internal::syntax;
use toolwright_codegen::options::Integers;
use toolwright_codegen::{Source, Sources};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// Splits a case into the files of its project. Each file begins with a line `### name`; a single file needs none.
fn split(name: &str, text: &str) -> Sources {
    let mut files = Vec::new();
    let mut parts = text.split("### ");
    let first = parts.next().unwrap_or_default();
    if !first.is_empty() {
        files.push(Source { path: name.to_owned(), text: first.to_owned() });
    }
    for part in parts {
        let (path, text) = part.split_once('\n').expect("a line break after the name");
        files.push(Source { path: path.trim().to_owned(), text: text.to_owned() });
    }
    Sources::new(files)
}

/// Parses and lowers a project; returns it with its findings, and whether any of them is an error.
fn analyze(sources: &Sources) -> (Project, Vec<Diagnostic>, bool) {
    let mut report = Report::default();
    let documents = syntax::parse(sources, &mut report);
    let project = lower(&documents, Integers::default(), &mut report).project;
    let failed = report.has_errors();
    (project, report.into_findings(), failed)
}

fn place(sources: &Sources, span: Option<Span>) -> String {
    let Some(span) = span else { return "-".to_owned() };
    let place = sources.line_column(span);
    format!("{}:{}:{}", sources.get(span.source).path, place.line, place.column)
}

fn print_findings(sources: &Sources, findings: &[Diagnostic]) -> String {
    let mut out = String::new();
    for finding in findings {
        let severity = format!("{:?}", finding.severity).to_lowercase();
        let at = place(sources, finding.span);
        let _ = writeln!(out, "{at} {severity}[{}]: {}", finding.code, finding.message);
        for label in &finding.labels {
            let _ = writeln!(out, "    {} {}", place(sources, Some(label.span)), label.message);
        }
        if let Some(help) = &finding.help {
            let _ = writeln!(out, "    help: {help}");
        }
    }
    out
}

fn print_project(project: &Project) -> String {
    let mut out = String::new();
    for id in ToolId::first(project.tools.len()) {
        let tool = &project[id];
        let toolset = &project[tool.toolset];
        let owner = &project[toolset.service].name.value;
        let by = match project.implementation(id) {
            Implementation::Method(method) => format!("method {}", project[method].name.value),
            Implementation::Agent(agent) => format!("agent {}", project[agent].name.value),
            Implementation::Mcp(server) => format!("mcp {server}"),
            Implementation::External => "external".to_owned(),
        };
        let name = &tool.name.value;
        let _ = writeln!(out, "{owner}/{}/{name}: {by}", toolset.name.value);
        if let Some(binding) = &tool.binding {
            let _ =
                writeln!(out, "  args {:?}, reshapes {}", binding.args, binding.reshapes_result);
        }
        let _ = writeln!(out, "  args {}", published(&project.schemas, tool.args, Style::Compact));
        let _ =
            writeln!(out, "  result {}", published(&project.schemas, tool.result, Style::Compact));
    }
    out
}

fn cases(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder exists");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut cases: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|kind| kind == "yaml")).collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

/// Runs every case of a folder.
fn check(folder: &str, should_fail: bool) {
    let mut wrong = Vec::new();
    for path in cases(folder) {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let sources = split(&name, &fs::read_to_string(&path).expect("readable"));
        let (project, findings, failed) = analyze(&sources);
        let mut found = print_findings(&sources, &findings);
        if !failed {
            found += &print_project(&project);
        }
        if failed != should_fail {
            wrong.push(format!("{name}: failed is {failed}\n{found}"));
        }
        expect(&path.with_extension("expect"), &found, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bad_schemas_are_rejected_at_the_right_place() {
    check("fail", true);
}

#[test]
fn mistakes_of_newcomers_are_reported_with_the_right_form() {
    check("slips", true);
}

#[test]
fn good_schemas_are_accepted() {
    check("ok", false);
}

/// Each type has its own definition in a published schema, even if the two cannot share a crate.
#[test]
fn types_of_two_services_with_one_name_have_two_definitions_in_a_published_schema() {
    let path = root().join("two_services.yaml");
    let sources = split("two_services.yaml", &fs::read_to_string(&path).expect("readable"));
    let (project, _, _) = analyze(&sources);
    let mut wrong = Vec::new();
    expect(&path.with_extension("expect"), &print_project(&project), &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn g32_the_worked_examples_are_accepted_without_a_warning() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema");
    let files = ["calculator.yaml", "planner.yaml", "todos.yaml"].map(|name| Source {
        path: format!("schema/{name}"),
        text: fs::read_to_string(folder.join(name)).expect("the example exists"),
    });
    let sources = Sources::new(files.into());
    let (project, findings, _) = analyze(&sources);
    assert_eq!(print_findings(&sources, &findings), "");
    let mut wrong = Vec::new();
    expect(&root().join("examples.expect"), &print_project(&project), &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_example_panics_when_it_is_cut_off_or_lacks_a_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema");
    for name in ["calculator.yaml", "planner.yaml", "todos.yaml"] {
        let text = fs::read_to_string(folder.join(name)).expect("the example exists");
        let cut = text.char_indices().step_by(7).map(|(at, _)| text[..at].to_owned());
        let lines: Vec<&str> = text.lines().collect();
        let without =
            (0..lines.len()).map(|at| [&lines[..at], &lines[at + 1..]].concat().join("\n"));
        for text in cut.chain(without) {
            analyze(&Sources::new(vec![Source { path: name.to_owned(), text }]));
        }
    }
}

#[test]
fn the_editors_schema_is_generated_from_the_declarations_of_the_parser() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/toolset.schema.json");
    let mut wrong = Vec::new();
    expect(&path, &toolwright_codegen::language_schema(), &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
