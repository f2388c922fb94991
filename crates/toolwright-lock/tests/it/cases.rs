//! Pairs of schemas in tests/cases, each with the findings and classes that somebody else expected of them, from the definitions
//! alone. `UPDATE_EXPECT=1` writes what is found.

use std::fs;
use std::path::{Path, PathBuf};

use toolwright_codegen::project::Project;
use toolwright_codegen::{Source, Sources};
use toolwright_lock::{Classes, Lock, diff};

/// Returns the lock of a schema file.
pub(crate) fn lock(text: &str) -> Lock {
    let project = Project::open(&std::env::temp_dir()).expect("a folder without a project");
    let source = Source { path: "tools.yaml".to_owned(), text: text.to_owned() };
    let found = project.model_of(Sources::new(vec![source]));
    Lock::of(&found.unwrap_or_else(|failure| panic!("{failure:?}\n{text}")))
}

pub(crate) fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let entries = fs::read_dir(folder).expect("the folder exists");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    files
}

/// Returns both versions of a case, and what is expected of them.
pub(crate) fn versions<'a>(file: &Path, text: &'a str) -> (Lock, Lock, &'a str) {
    let parts: Vec<&str> = text.split("\n### ").collect();
    let [_, old, new, expected] = parts[..] else { panic!("{}", file.display()) };
    let part = |name: &str, part: &'a str| {
        part.strip_prefix(name).unwrap_or_else(|| panic!("{}", file.display()))
    };
    (lock(part("old\n", old)), lock(part("new\n", new)), part("expect\n", expected))
}

fn shown(classes: Classes) -> String {
    let Classes { caller, model, reader, implementer, trust, .. } = classes;
    format!("caller={caller} model={model} reader={reader} implementer={implementer} trust={trust}")
}

#[test]
fn each_pair_has_the_expected_findings_and_classes() {
    let mut wrong = Vec::new();
    for file in files() {
        let text = fs::read_to_string(&file).expect("readable");
        let (old, new, expected) = versions(&file, &text);
        let found = diff(&old, &new).expect("the schemas can be read");
        let mut lines: Vec<String> = found
            .findings
            .iter()
            .map(|finding| {
                format!("{} {} {}", finding.rule.id, finding.tool, shown(finding.classes))
            })
            .collect();
        lines.push(format!("classes {}", shown(found.classes)));
        let lines = lines.join("\n");
        if lines == expected.trim_end() {
            continue;
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            let before = &text[..text.len() - expected.len()];
            fs::write(&file, format!("{before}{lines}\n")).expect("the case can be written");
        }
        let name = file.file_stem().unwrap_or_default().display();
        let marked = |sign: &str, text: &str| {
            format!("{sign}{}", text.trim_end().replace('\n', &format!("\n{sign}")))
        };
        wrong.push(format!("{name}\n{}\n{}\n", marked("-", expected), marked("+", &lines)));
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// The digest of a spec, which a server publishes, has to be that of the lock.
#[test]
fn a_result_of_null_in_an_example_is_not_a_missing_one() {
    let models = [("", None), (", result: null", Some("null"))].map(|(result, expected)| {
        let mut lock = lock(&format!(
            "toolwright: 1
service: lights
methods:
  reset:
    payload: {{ type: object, properties: {{ }} }}
    result: {{ type: \"null\" }}
    tool:
      description: Reset a lamp.
      examples: [{{ args: {{ }}{result} }}]
"
        ));
        let read = Lock::parse(&lock.to_text()).expect("a lock");
        assert_eq!(diff(&lock, &read).expect("the schemas can be read").findings.len(), 0);
        let tool = &read.tools["reset"];
        let mut spec = toolwright::ToolSpec::new("reset");
        spec.set_description("Reset a lamp.");
        spec.set_args_schema(tool.args.get().to_owned());
        spec.set_examples([("{}", expected)]);
        let digests = tool.digests.as_ref().expect("a lock has digests");
        assert_eq!(digests.model, format!("sha256:{}", toolwright::digests::model(&spec)));
        digests.model.clone()
    });
    assert_ne!(models[0], models[1]);
}
