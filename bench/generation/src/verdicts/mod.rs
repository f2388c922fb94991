//! `cargo xtask typify`: runs typify on the schemas of a JSON Schema test suite, and checks whether its types accept the valid
//! instances and reject the invalid ones. The files of the suite say which instances are valid.

mod project;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use project::Project;

/// The title that every root schema gets, so that typify generates a type for it.
const ROOT: &str = "Root";

/// Files of the suite that are skipped: they need schemas from elsewhere or vocabularies, or expect formats to be ignored.
const LEFT_OUT: [&str; 3] = ["format", "refRemote", "vocabulary"];

/// The numbers of schemas by result. A schema may count for both `accepts_invalid` and `rejects_valid`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All schemas.
    pub schemas: usize,
    /// typify returned an error.
    pub refused: usize,
    /// typify panicked, or its process died.
    pub panicked: usize,
    /// The generated code does not compile.
    pub uncompiled: usize,
    /// The types accept an invalid instance.
    pub accepts_invalid: usize,
    /// The types reject a valid instance.
    pub rejects_valid: usize,
    /// The types accept all valid instances and reject all invalid ones.
    pub right: usize,
}

#[derive(Deserialize)]
struct Group {
    schema: Value,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    data: Box<RawValue>,
    valid: bool,
}

/// Runs typify on all schemas in the files of a folder that are objects. `program` is the path of this program; the generated
/// code is compiled in `scratch` with the versions of the lock file `lock`.
///
/// # Errors
///
/// Returns an error if a file cannot be read or written, or if cargo cannot be started.
pub fn run(program: &Path, folder: &Path, scratch: &Path, lock: &Path) -> io::Result<Counts> {
    let mut counts = Counts::default();
    let mut project = Project::new(scratch, lock)?;
    let mut emitted = Vec::new();
    for group in groups(folder)? {
        let Value::Object(schema) = &group.schema else { continue };
        counts.schemas += 1;
        match emit(program, schema)? {
            Emitted::Code(code) => {
                project.add(emitted.len(), &code)?;
                emitted.push(group.tests);
            }
            Emitted::Refused => counts.refused += 1,
            Emitted::Panicked => counts.panicked += 1,
        }
    }
    let uncompiled = project.compile(emitted.len())?;
    counts.uncompiled = uncompiled.len();
    let rows = emitted.iter().enumerate().filter(|(module, _)| !uncompiled.contains(module));
    let rows: Vec<(usize, &Test)> =
        rows.flat_map(|(module, tests)| tests.iter().map(move |test| (module, test))).collect();
    let texts: Vec<(usize, &str)> =
        rows.iter().map(|(module, test)| (*module, test.data.get())).collect();
    let read = project.read(&texts)?;
    let wrong = |valid: bool| {
        let wrong = rows
            .iter()
            .zip(&read)
            .filter(move |((_, test), read)| test.valid == valid && **read != valid);
        wrong.map(|((module, _), _)| *module).collect::<BTreeSet<usize>>()
    };
    let (accepts_invalid, rejects_valid) = (wrong(false), wrong(true));
    counts.accepts_invalid = accepts_invalid.len();
    counts.rejects_valid = rejects_valid.len();
    let wrong = accepts_invalid.union(&rejects_valid).count();
    counts.right = emitted.len() - uncompiled.len() - wrong;
    Ok(counts)
}

/// Returns the groups in the files of a folder, in the order of the file names.
fn groups(folder: &Path) -> io::Result<Vec<Group>> {
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    paths.retain(|path| {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        path.extension().is_some_and(|kind| kind == "json") && !LEFT_OUT.contains(&name)
    });
    paths.sort();
    let mut groups = Vec::new();
    for path in paths {
        let found: Vec<Group> = serde_json::from_str(&fs::read_to_string(path)?)?;
        groups.extend(found);
    }
    Ok(groups)
}

enum Emitted {
    Code(String),
    Refused,
    Panicked,
}

/// The exit code of the child if typify returned an error. Any other failure is a panic or a crash.
const REFUSED: i32 = 3;

/// Runs typify in a separate process, which it may crash.
fn emit(program: &Path, schema: &Map<String, Value>) -> io::Result<Emitted> {
    let mut schema = schema.clone();
    // A title does not change which instances are valid.
    schema.insert("title".to_owned(), ROOT.into());
    let mut child = Command::new(program)
        .arg("emit")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let input = child.stdin.take().ok_or_else(|| io::Error::other("the input is piped"))?;
    { input }.write_all(Value::Object(schema).to_string().as_bytes())?;
    let output = child.wait_with_output()?;
    Ok(match output.status.code() {
        Some(0) => Emitted::Code(String::from_utf8(output.stdout).map_err(io::Error::other)?),
        Some(REFUSED) => Emitted::Refused,
        _ => Emitted::Panicked,
    })
}

/// Generates Rust with typify from a schema whose title is [`ROOT`], and adds a function that returns whether a text decodes.
///
/// # Errors
///
/// Returns an error if typify rejects the schema.
pub fn emitted(schema: &str) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let mut types = typify::TypeSpace::new(&typify::TypeSpaceSettings::default());
    let root = types.add_root_schema(serde_json::from_str(schema)?)?;
    let root = root.ok_or("there is no type for the root")?;
    let name = types.get_type(&root)?.ident().to_string();
    let code = prettyplease::unparse(&syn::parse2(types.to_stream())?);
    Ok(format!(
        "{code}\npub fn reads(text: &str) -> bool {{\n    ::serde_json::from_str::<{name}>(text).is_ok()\n}}\n"
    ))
}

/// The lines of the page before and after the part that the command writes.
const MARKS: [&str; 2] = ["<!-- written by `cargo xtask typify` -->\n", "<!-- end -->\n"];

/// Returns the page with a new table of rows and the day of the run.
///
/// # Errors
///
/// Returns an error if the page does not have both marks.
pub fn page(page: &str, day: &str, rows: &[String]) -> io::Result<String> {
    let [start, end] = MARKS;
    let parts =
        page.split_once(start).and_then(|(before, rest)| Some((before, rest.split_once(end)?.1)));
    let (before, after) = parts
        .ok_or_else(|| io::Error::other(format!("the page has no lines `{start}` and `{end}`")))?;
    let rows = rows.join("\n");
    Ok(format!(
        "{before}{start}\
         As of {day}, `cargo xtask typify` finds with typify 0.8:\n\n\
         | schemas | all | refused | panics | does not compile | accepts invalid | rejects valid | right |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n\
         {rows}\n{end}{after}"
    ))
}

impl Counts {
    /// Returns a row of the table on the page.
    pub fn row(&self, name: &str) -> String {
        let Self { schemas, refused, panicked, uncompiled, .. } = self;
        let Self { accepts_invalid, rejects_valid, right, .. } = self;
        format!(
            "| {name} | {schemas} | {refused} | {panicked} | {uncompiled} | {accepts_invalid} | {rejects_valid} | {right} |"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_replaces_the_old_one() {
        let [start, end] = MARKS;
        let old = format!("before\n{start}old\n{end}after\n");
        let new = page(&old, "2026-11-22", &[Counts::default().row("none")]).unwrap();
        assert!(new.starts_with(&format!("before\n{start}As of 2026-11-22, ")), "{new}");
        assert!(
            new.ends_with(&format!("| none | 0 | 0 | 0 | 0 | 0 | 0 | 0 |\n{end}after\n")),
            "{new}"
        );
        assert_eq!(page(&new, "2026-11-22", &[Counts::default().row("none")]).unwrap(), new);
        assert!(page("before\n", "2026-11-22", &[]).is_err());
    }
}
