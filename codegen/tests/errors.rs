//! Every diagnostic code has a smallest case in `codegen/tests/cases/errors`, named after the code, with its rendering beside
//! it. `UPDATE_EXPECT=1` writes renderings.

mod expect;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use expect::expect;
use toolwright_codegen::diagnostic::{Code, Diagnostic, Group, Severity, groups};
use toolwright_codegen::options::Layout;
use toolwright_codegen::project::{Checked, Failure, Mode, Project};
use toolwright_codegen::render::{Format, render};
use toolwright_codegen::{Options, Source, Sources, compile};

/// The beginning of the index of docs/mistakes/.
const INDEX: &str = "# Mistakes

Every kind of mistake that `toolwright check` or a build script reports, in the order of the stages that find them. Each has a
stable code that programs may match on. `toolwright explain CODE` prints its section: the rule, the reason for it, and the
smallest schema that breaks it. A test writes these pages from the texts in
[`codegen/src/diagnostic/`](../../codegen/src/diagnostic/mod.rs) and the cases in
[`codegen/tests/cases/errors/`](../../codegen/tests/cases/errors).
";

/// Cases that cannot be files of a repository, such as links and huge files. Each run creates them.
const CREATED: [(&str, fn(&Path)); 7] = [
    ("too-large", too_large),
    ("not-a-file", socket),
    ("linked-folder", link),
    ("linked-out", link_out),
    ("costly-schema", costly),
    ("too-many-properties", wide),
    (TOO_MANY, too_many),
];

/// The only code that occurs only together with others.
const TOO_MANY: &str = "too-many-findings";

fn too_many(folder: &Path) {
    let file = fs::File::create(folder.join("too_many.yaml")).expect("a new file");
    let mut file = std::io::BufWriter::new(file);
    writeln!(file, "toolwright: 1").expect("the file can be written");
    for number in 0..2001 {
        writeln!(file, "unknown_{number}: 0").expect("the file can be written");
    }
}

fn costly(folder: &Path) {
    let types = (0..80).map(|level| {
        let next = if level < 79 { format!("{{ $ref: T{} }}", level + 1) } else { "{}".to_owned() };
        format!("  T{level}: {{ type: object, required: [a], not: {{ required: [z] }}, properties: {{ a: {next} }} }}\n")
    });
    let types: String = types.collect();
    let text = format!(
        "toolwright: 1\nservice: notes\ntypes:\n{types}toolsets:\n  notes:\n    tools:\n      get_note:\n        \
         description: Get a note.\n        args: {{ $ref: T0 }}\n"
    );
    fs::write(folder.join("notes.yaml"), text).expect("a new file");
}

fn wide(folder: &Path) {
    let properties: Vec<String> = (0..2001).map(|number| format!("p{number}: {{}}")).collect();
    let properties = properties.join("\n      ");
    let text = format!(
        "toolwright: 1\nservice: notes\ntypes:\n  Note:\n    type: object\n    properties:\n      {properties}\n"
    );
    fs::write(folder.join("notes.yaml"), text).expect("a new file");
}

fn too_large(folder: &Path) {
    let file = fs::File::create(folder.join("huge.yaml")).expect("a new file");
    file.set_len((64 << 20) + 1).expect("a sparse file takes no space");
}

fn socket(folder: &Path) {
    std::os::unix::net::UnixListener::bind(folder.join("null.yaml")).expect("a new socket");
}

fn link(folder: &Path) {
    fs::write(folder.join("notes.yaml"), "toolwright: 1\n").expect("a new file");
    std::os::unix::fs::symlink(".", folder.join("loop")).expect("a new link");
}

fn link_out(folder: &Path) {
    std::os::unix::fs::symlink("/etc/passwd", folder.join("users.yaml")).expect("a new link");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/errors")
}

/// Returns the codes that have a case, with the file or folder of each.
fn cases() -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(root()).expect("the folder exists");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let cases =
        paths.filter(|path| path.is_dir() || path.extension().is_some_and(|kind| kind == "yaml"));
    let code = |path: &PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
    cases.map(|path| (code(&path), path)).collect()
}

/// Checks a case; returns the findings and the sources.
fn run(path: &Path) -> (Vec<Diagnostic>, Sources) {
    let has_project = path.join("toolwright.toml").exists();
    let failure = if has_project {
        match Project::open(path).and_then(|project| Ok((project.check()?, project))) {
            Ok((Checked { sources, warnings }, _)) if !warnings.is_empty() => {
                return (warnings, sources);
            }
            Ok((_, project)) => project.generate(Mode::Check).err(),
            Err(failure) => Some(failure),
        }
    } else {
        let project = Project::open(&std::env::temp_dir()).expect("a folder without a project");
        match project.with_schema(vec![path.to_owned()]).check() {
            Ok(Checked { sources, warnings }) if warnings.is_empty() => {
                return (findings_of_build(&sources), sources);
            }
            Ok(Checked { sources, warnings }) => return (warnings, sources),
            Err(failure) => Some(failure),
        }
    };
    match failure {
        Some(Failure::Rejected { sources, findings }) => (findings, sources),
        other => panic!("{}: expected findings, found {other:?}", path.display()),
    }
}

/// Returns the findings of a build script.
fn findings_of_build(sources: &Sources) -> Vec<Diagnostic> {
    let found = compile(sources, &Options::of(Layout::Modules));
    found.map_or_else(|findings| findings, |compiled| compiled.warnings)
}

/// Adds to `wrong` if a case has other codes than its name, or another rendering than the file beside it.
fn check(code: &str, path: &Path, shown_root: &Path, wrong: &mut Vec<String>) {
    let (mut findings, sources) = run(path);
    if code == TOO_MANY {
        findings.retain(|finding| finding.code == TOO_MANY);
    }
    let codes: BTreeSet<&str> = findings.iter().map(|finding| finding.code).collect();
    let text = render(&findings, &sources, Format::Human { color: false });
    let text = text.replace(&format!("{}/", shown_root.display()), "");
    if codes != BTreeSet::from([code]) {
        wrong.push(format!("{code}: found {codes:?}\n{text}"));
    }
    expect(&root().join(format!("{code}.txt")), &text, wrong);
}

#[test]
fn each_smallest_case_has_only_its_code_and_the_expected_rendering() {
    let mut wrong = Vec::new();
    for (code, path) in cases() {
        check(&code, &path, &root(), &mut wrong);
    }
    for (code, create) in CREATED {
        let folder = tempfile::tempdir().expect("a new folder");
        let path = folder.path().join(code);
        fs::create_dir(&path).expect("a new folder");
        create(&path);
        check(code, &path, folder.path(), &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the file name of a group's page.
fn page(group: &Group) -> String {
    group.title.to_lowercase().replace(", ", "-").replace(' ', "-") + ".md"
}

/// docs/mistakes/ has an index and a page for each group, with the text of `toolwright explain` and the rendering of the
/// smallest case for each code.
#[test]
fn the_pages_of_mistakes_have_the_texts_of_explain() {
    let section = |code: &Code| {
        let shown = fs::read_to_string(root().join(format!("{}.txt", code.name)));
        let shown = shown.expect("every code has a rendering");
        format!(
            "\n## {}\n\n{}\n```text\n{}\n```\n",
            code.name,
            code.explanation(),
            shown.trim_end()
        )
    };
    let mut pages = BTreeMap::new();
    let mut index = INDEX.to_owned();
    for group in groups() {
        let file = page(&group);
        let sections: String = group.codes.iter().map(section).collect();
        let rows = group.codes.iter().map(|code| {
            let anchor = code.name.to_lowercase();
            format!("- [`{}`]({file}#{anchor}): {}\n", code.name, code.summary())
        });
        index.extend([format!("\n## [{}]({file})\n\n", group.title)].into_iter().chain(rows));
        pages.insert(file, format!("# Mistakes: {}\n{sections}", group.title));
    }
    pages.insert("README.md".to_owned(), index);

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mistakes");
    let mut wrong = Vec::new();
    for (file, text) in &pages {
        expect(&folder.join(file), text, &mut wrong);
    }
    for entry in fs::read_dir(&folder).expect("the folder exists") {
        let file = entry.expect("readable").file_name().to_string_lossy().into_owned();
        if !pages.contains_key(&file) {
            wrong.push(format!("docs/mistakes/{file} belongs to no group; remove it"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Mistakes that may follow from another mistake, which keeps a definition from being read. They are not reported beside it.
const CONSEQUENCES: [&str; 5] =
    ["unknown-type", "unknown-method", "unknown-toolset", "unknown-tool", "no-owner"];

/// Mistakes that keep definitions from being read.
const HIDING: [&str; 5] =
    ["yaml-syntax", "yaml-documents", "yaml-alias", "yaml-budget", "missing-service"];

/// Any two smallest cases as two files of one project have both mistakes and no other.
#[test]
fn no_mistake_hides_or_causes_another() {
    let files: Vec<(String, String)> = cases()
        .into_iter()
        .filter(|(_, path)| path.is_file())
        .map(|(code, path)| (code, fs::read_to_string(path).expect("readable")))
        .collect();
    let mut wrong = Vec::new();
    for (first, text) in &files {
        for (second, other) in &files {
            let renamed = other.replace("note", "mail").replace("Note", "Mail");
            let found = codes(&[text, &renamed]);
            let all = BTreeSet::from([first.as_str(), second.as_str()]);
            let hides = all.iter().any(|code| HIDING.contains(code));
            let is_excused = |code: &&str| hides && CONSEQUENCES.contains(code);
            let missing: Vec<&&str> =
                all.iter().filter(|code| !found.contains(**code) && !is_excused(code)).collect();
            // Two tools of one project cannot both have the name that is not allowed.
            let is_name_twice = first == second && first == "search-name";
            let is_caused = |code: &&&str| {
                !(all.contains(**code) || (is_name_twice && **code == "duplicate-tool"))
            };
            let more: Vec<&&str> = found.iter().filter(is_caused).collect();
            if !missing.is_empty() || !more.is_empty() {
                wrong.push(format!("{first} beside {second}: {missing:?} hidden, {more:?} caused"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_a_package_without_the_feature_patterns_is_warned_that_it_needs_it() {
    let text = fs::read_to_string(root().join("needs-tables.yaml")).expect("the case exists");
    let sources = Sources::new(vec![Source { path: "notes.yaml".to_owned(), text }]);
    let modules = Options::of(Layout::Modules);
    let warnings = |options: &Options| {
        let compiled = compile(&sources, options).expect("there are only warnings");
        compiled.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>()
    };
    assert_eq!(warnings(&modules), ["needs-tables"]);
    assert_eq!(warnings(&Options { has_patterns: true, ..modules }), [""; 0]);
    assert_eq!(warnings(&Options::of(Layout::Crates)), [""; 0]);
    assert_eq!(toolwright_codegen::check(&sources), Ok(Vec::new()));
}

fn codes(texts: &[&str]) -> BTreeSet<&'static str> {
    let files = texts
        .iter()
        .enumerate()
        .map(|(index, text)| Source { path: format!("{index}.yaml"), text: (*text).to_owned() });
    findings_of_build(&Sources::new(files.collect())).iter().map(|finding| finding.code).collect()
}

#[test]
fn every_code_has_a_case_and_every_rendering_a_code() {
    let known: BTreeSet<String> = Code::all().map(|code| code.name.to_owned()).collect();
    let mut shown: BTreeSet<String> = cases().into_iter().map(|(code, _)| code).collect();
    shown.extend(CREATED.map(|(code, _)| code.to_owned()));
    assert_eq!(known, shown, "each code has one case, named after it");
    let entries = fs::read_dir(root()).expect("the folder exists");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let texts = paths.filter(|path| path.extension().is_some_and(|kind| kind == "txt"));
    let rendered: BTreeSet<String> = texts
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert_eq!(known, rendered);
}

#[test]
fn codes_are_unique_and_explained_and_kebab_case_but_for_numbered_ones_of_dialects() {
    let mut seen = BTreeSet::new();
    for code in Code::all() {
        let is_kebab = code.name.split('-').all(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        });
        let is_numbered =
            code.name.strip_prefix("TWD").is_some_and(|number| number.parse::<u16>().is_ok());
        assert!((is_kebab || is_numbered) && seen.insert(code.name), "{}", code.name);
        assert!(code.summary().ends_with('.'), "{}: {}", code.name, code.summary());
        let sections = code.explanation().split("\n\n").count();
        assert!(sections > 1, "{}: expected a summary, then why and what to do", code.name);
    }
    assert!(Code::all().any(|code| code.severity == Severity::Warning));
}

#[test]
fn no_number_of_warnings_hides_an_error() {
    let warned = |n| {
        format!(
            "  T{n}: {{ type: object, properties: {{ a: {{ type: string, format: f{n} }} }} }}\n"
        )
    };
    let types: String = (0..2100).map(warned).collect();
    let text = format!("toolwright: 1\nservice: {{ name: s, description: S. }}\ntypes:\n{types}");
    for (rest, code) in [
        ("  Z: { type: object, properties: { q: { $ref: Nope } } }\n", "unknown-type"),
        ("  Z: { type: object, properties: { q: { $ref: '#/$defs/x' } } }\n", "unknown-reference"),
        ("agents:\n  a: { description: A., instructions: I., tools: [nope] }\n", "unknown-tool"),
    ] {
        let path = "a.yaml".to_owned();
        let sources = Sources::new(vec![Source { path, text: format!("{text}{rest}") }]);
        let findings = toolwright_codegen::check(&sources).expect_err(code);
        assert!(findings.iter().any(|finding| finding.code == code), "{code}");
    }
}
