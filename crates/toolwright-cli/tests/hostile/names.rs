//! Malicious names: each is refused or becomes a safe name, and nothing is written outside the output folder. The cases
//! are the lines of `names.txt`, each with kinds and a name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::child::{Ended, Limits, toolwright};

const LIMITS: Limits = Limits { cpu_seconds: 20, megabytes: 1024 };

/// The kinds of names.
const KINDS: &[(&str, fn(&str) -> Place)] = &[
    ("service", |name| schema(&format!("service: {name}\n{TYPES}{TOOLSET}"))),
    ("owner", |name| schema(&format!("service: {{ name: {name} }}\n{TYPES}{TOOLSET}"))),
    ("toolset", |name| {
        schema(&format!(
            "service: a\ntoolsets: {{ {name}: {{ tools: {{ x: {{ description: X. }} }} }} }}\n"
        ))
    }),
    ("tool", |name| {
        schema(&format!(
            "service: a\ntoolsets: {{ t: {{ tools: {{ {name}: {{ description: X. }} }} }} }}\n"
        ))
    }),
    ("alias", |name| {
        schema(&format!(
            "service: a\ntoolsets: {{ t: {{ tools: {{ x: {{ description: X., aliases: [{name}] }} }} }} }}\n"
        ))
    }),
    ("method", |name| schema(&format!("service: a\nmethods: {{ {name}: {{}} }}\n{TOOLSET}"))),
    ("error", |name| {
        schema(&format!(
            "service: a\nmethods: {{ m: {{ errors: {{ {name}: {{ description: E. }} }} }} }}\n{TOOLSET}"
        ))
    }),
    ("agent", |name| {
        schema(&format!("service: a\n{TOOLSET}agents: {{ {name}: {{ toolsets: [t] }} }}\n"))
    }),
    ("server", |name| {
        schema(&format!(
            "service: a\n{TOOLSET}mcp_servers: {{ {name}: {{ version: '1', toolsets: [t] }} }}\n"
        ))
    }),
    ("type", |name| {
        schema(&format!("service: a\ntypes: {{ {name}: {{ type: object }} }}\n{TOOLSET}"))
    }),
    ("field", |name| {
        schema(&format!(
            "service: a\ntoolsets: {{ t: {{ tools: {{ x: {{ description: X., args: {{ type: object, required: [{name}], properties: {{ {name}: {{ type: object, properties: {{ in: {{ type: string, enum: [a] }} }} }} }} }} }} }} }} }}\n"
        ))
    }),
    ("value", |name| {
        schema(&format!(
            "service: a\ntoolsets: {{ t: {{ tools: {{ x: {{ description: X., result: {{ type: string, enum: [{name}, other] }} }} }} }} }}\n"
        ))
    }),
    ("definition", |name| {
        schema(&format!(
            "service: a\ntoolsets: {{ t: {{ tools: {{ x: {{ description: X., args: {{ type: object, $defs: {{ {name}: {{ type: string }} }} }} }} }} }} }}\n"
        ))
    }),
    ("backing", |name| {
        schema(&format!(
            "service: a\ntoolsets: {{ t: {{ mcp: {{ server: {name} }}, tools: {{ x: {{ description: X. }} }} }} }}\n"
        ))
    }),
    ("remote", |name| {
        schema(&format!(
            "service: a\ntoolsets: {{ t: {{ mcp: {{ server: far }}, tools: {{ x: {{ description: X., remote: {name} }} }} }} }}\n"
        ))
    }),
    ("injected", |name| {
        schema(&format!(
            "service: a\nmethods: {{ m: {{ payload: {{ type: object, required: [{name}], properties: {{ {name}: {{ type: string }} }} }} }} }}\ntoolsets: {{ t: {{ tools: {{ x: {{ description: X., bind: m, inject: {{ {name}: run_id }} }} }} }} }}\n"
        ))
    }),
    ("reference", |name| {
        schema(&format!("service: a\ntypes: {{ A: {{ $ref: {name} }} }}\n{TOOLSET}"))
    }),
    ("file", file),
    ("out", out),
    ("config-out", |name| configured(&format!("[project]\nout = {name}\n"))),
    ("config-schema", |name| configured(&format!("[project]\nschema = {name}\n"))),
    ("config-crate", |name| configured(&format!("[crates]\ntoolwright = {{ path = {name} }}\n"))),
    ("config-version", |name| {
        configured(&format!("[crates]\ntoolwright = {{ version = {name} }}\n"))
    }),
];

const TYPES: &str = "types: { A: { type: object, properties: { b: { type: string } } } }\n";
const TOOLSET: &str = "toolsets: { t: { tools: { x: { description: X. } } } }\n";

/// A project with a malicious name in one position.
struct Place {
    schema: String,
    schema_file: String,
    config: String,
    /// The argument of `--out`.
    out: Option<String>,
}

fn schema(text: &str) -> Place {
    Place {
        schema: format!("toolwright: 1\n{text}"),
        schema_file: "a.yaml".to_owned(),
        config: String::new(),
        out: None,
    }
}

fn file(name: &str) -> Place {
    Place { schema_file: decoded(name), ..schema(&format!("service: a\n{TOOLSET}")) }
}

fn out(name: &str) -> Place {
    Place { out: Some(decoded(name)), ..schema(&format!("service: a\n{TOOLSET}")) }
}

fn configured(config: &str) -> Place {
    Place { config: config.to_owned(), ..schema(&format!("service: a\n{TOOLSET}")) }
}

fn decoded(name: &str) -> String {
    serde_json::from_str(name).expect("names are written as JSON strings")
}

/// A kind, the expected result, and a name as a JSON string, which is also valid YAML and TOML.
struct Case {
    line: usize,
    kind: &'static str,
    make: fn(&str) -> Place,
    expected: String,
    name: String,
}

/// Parses the cases. Each line has kinds, the expected result and the name.
fn cases() -> Vec<Case> {
    let text = include_str!("names.txt");
    let numbered =
        text.lines().zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let of_line = |(line, number): (&str, usize)| {
        let mut parts = line.splitn(3, ' ');
        let mut part = || parts.next().expect("three parts").to_owned();
        let (kinds, expected, name) = (part(), part(), part());
        let names = |kind: &&&str| kinds.split(',').any(|named| named == **kind);
        let known = KINDS.iter().filter(move |(kind, _)| names(&kind));
        let cases: Vec<Case> = known
            .map(|(kind, make)| Case {
                line: number,
                kind,
                make: *make,
                expected: expected.clone(),
                name: name.replace("{300}", &"a".repeat(300)).replace("{64}", &"a".repeat(64)),
            })
            .collect();
        assert!(!cases.is_empty(), "line {number}: no such kind");
        cases
    };
    numbered.flat_map(of_line).collect()
}

#[test]
fn no_name_writes_outside_the_output_folder() {
    let mut complaints = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 120, "{} cases", cases.len());
    for case in &cases {
        complaints.extend(case.complaint());
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

impl Case {
    fn complaint(&self) -> Option<String> {
        let place = (self.make)(&self.name);
        // Three levels deep, so that files outside of the project are found even after several `..`.
        let around = tempfile::tempdir().unwrap();
        let project = around.path().join("one/two/project");
        if let Err(error) = lay_out(&project, &place) {
            // The file system does not support this name.
            return (self.expected != "unwritable").then(|| format!("line {}: {error}", self.line));
        }
        let before = everything(around.path());
        let out = place.out.as_deref();
        let arguments = [Some("gen"), out.map(|_| "--out"), out];
        let arguments: Vec<&str> = arguments.into_iter().flatten().collect();
        let ended = toolwright(&project, &arguments, LIMITS);
        let new: Vec<PathBuf> = changes(&before, &everything(around.path())).into_iter().collect();
        self.judge(&ended, &new)
    }

    fn judge(&self, ended: &Ended, new: &[PathBuf]) -> Option<String> {
        let Self { line, kind, name, expected, .. } = self;
        let allowed = match *expected {
            ref folder if folder.starts_with("in:") => {
                Path::new("one/two/project").join(&folder[3..])
            }
            _ => PathBuf::from("one/two/project/gen"),
        };
        let record = allowed.with_file_name(".toolwright");
        let is_stray = |path: &&PathBuf| !path.starts_with(&allowed) && !path.starts_with(&record);
        let strays: Vec<_> = new.iter().filter(is_stray).collect();
        let is_expected = match expected.as_str() {
            "ok" => ended.status.code() == Some(0),
            folder if folder.starts_with("in:") => ended.status.code() == Some(0),
            code => {
                let refused = ended.status.code().is_some_and(|code| [1, 2, 3].contains(&code));
                refused && new.is_empty() && ended.printed.contains(code)
            }
        };
        let shown: String = name.chars().take(60).collect();
        (!strays.is_empty() || !is_expected).then(|| {
            let how = ended.how();
            format!(
                "line {line}, {kind} {shown}: expected {expected}, found {how}, {strays:?}\n{}",
                ended.printed
            )
        })
    }
}

fn lay_out(project: &Path, place: &Place) -> std::io::Result<()> {
    fs::create_dir_all(project.join("schema"))?;
    fs::write(project.join("toolwright.toml"), &place.config)?;
    fs::write(project.join("schema").join(&place.schema_file), &place.schema)
}

/// Returns all paths below a folder, with the texts of files.
fn everything(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let text = path.is_file().then(|| fs::read(&path).unwrap());
            if path.is_dir() {
                open.push(path.clone());
            }
            found.insert(path.strip_prefix(root).unwrap().to_owned(), text);
        }
    }
    found
}

/// Returns the paths that were added, removed or changed.
fn changes(
    before: &BTreeMap<PathBuf, Option<Vec<u8>>>,
    after: &BTreeMap<PathBuf, Option<Vec<u8>>>,
) -> Vec<PathBuf> {
    let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
    let paths: std::collections::BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    paths.into_iter().filter(differs).cloned().collect()
}
