//! Tests of `toolwright.toml`: its keys, its mistakes, and the dependencies of generated manifests.

use std::fs;
use std::path::Path;

use toolwright_codegen::options::{Dependency, Integers};
use toolwright_codegen::project::{Config, Failure, Mode, Project};
use toolwright_codegen::{Source, Sources};

use crate::expect::expect;
use crate::folder::Folder;

/// Parses a configuration; returns the findings as `line:column message`.
fn parse(text: &str) -> Result<Config, Vec<String>> {
    let sources =
        Sources::new(vec![Source { path: "toolwright.toml".to_owned(), text: text.to_owned() }]);
    let (id, source) = sources.iter().next().unwrap();
    Config::parse(&source.text, id).map_err(|findings| {
        let line = |finding: toolwright_codegen::diagnostic::Diagnostic| {
            let at = sources.line_column(finding.span.unwrap());
            format!("{}:{} {}", at.line, at.column, finding.message)
        };
        findings.into_iter().map(line).collect()
    })
}

#[test]
fn every_part_has_a_default() {
    for text in ["", "[project]\n", "[crates]\n", "[project]\nschema = \"schema\"\nout = \"gen\"\n"]
    {
        let config = parse(text).unwrap();
        assert_eq!(
            (config.project.schema.as_path(), config.project.out.get_ref().as_path()),
            (Path::new("schema"), Path::new("gen"))
        );
        let options = config.options(Path::new("/p"), Path::new("/p/gen"));
        assert_eq!(options.toolwright, Dependency::of_version("0.1"));
        assert!(!options.workspace_lints);
    }
}

/// An untrusted project must not be able to write into folders with hooks or schemas.
#[test]
fn an_output_folder_with_other_content_is_rejected_before_anything_is_written() {
    for (out, at, expected) in [
        (".git", 2, "is in `.git`, which is not for output"),
        ("./x/../.GIT/hooks/", 2, "is in `.git`, which is not for output"),
        ("sub/.hg/gen", 2, "is in `.hg`, which is not for output"),
        (".toolwright", 2, "is in `.toolwright`, which is not for output"),
        ("schema", 2, "contains the schema PROJECT/schema"),
        (".", 2, "contains the schema PROJECT/schema"),
        ("..", 2, "contains the schema PROJECT/schema"),
    ] {
        let folder = Folder::new(&[
            ("p/schema/a.yaml", "toolwright: 1\nservice: a\n"),
            ("p/toolwright.toml", &format!("[project]\nout = {out:?}\n")),
        ]);
        let root = folder.path("p");
        let before = folder.list();
        let expected = expected.replace("PROJECT", &root.display().to_string());
        let project = Project::open(&root).unwrap();
        let named = Project::open(&root).unwrap().with_out(root.join(out));
        let rejected = [
            (project.generate(Mode::Write).err(), true),
            (project.check().err(), true),
            (named.generate(Mode::Write).err(), false),
        ];
        for (failure, has_place) in rejected {
            let Some(Failure::Rejected { sources, findings }) = failure else {
                panic!("{out}: {failure:?}")
            };
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert!(findings[0].message.ends_with(&expected), "{findings:?}");
            let line = findings[0].span.map(|span| sources.line_column(span).line);
            assert_eq!(line, has_place.then_some(at), "{out}");
            assert!(findings[0].help.is_some());
        }
        assert_eq!(folder.list(), before, "{out}");
    }
}

/// Even if the schema is elsewhere.
#[test]
fn an_output_folder_that_contains_the_project_is_rejected() {
    let config = "[project]\nschema = \"../schema\"\nout = \".\"\n";
    let folder = Folder::new(&[("schema/a.yaml", ""), ("p/toolwright.toml", config)]);
    let failure = Project::open(&folder.path("p")).unwrap().generate(Mode::Write).err();
    let Some(Failure::Rejected { findings, .. }) = failure else { panic!("{failure:?}") };
    assert!(findings[0].message.ends_with("contains the project"), "{findings:?}");
}

#[test]
fn paths_of_crates_are_relative_to_the_output_folder() {
    for (value, out, expected) in [
        ("{ version = \"1.2\" }", "/p/gen", Dependency::of_version("1.2")),
        ("\"1.2\"", "/p/gen", Dependency::of_version("1.2")),
        ("{ path = \"crates/t\" }", "/p/gen", Dependency::at("../crates/t")),
        ("{ path = \"./crates/../t\" }", "/p/a/b", Dependency::at("../../t")),
        ("{ path = \"../t\" }", "/p/gen", Dependency::at("../../t")),
        ("{ path = \"crates/t\" }", "/q/gen", Dependency::at("../../p/crates/t")),
        ("{ path = \"/opt/t\" }", "/p/gen", Dependency::at("/opt/t")),
    ] {
        let config = parse(&format!("[crates]\ntoolwright-mcp = {value}\n")).unwrap();
        assert_eq!(config.options(Path::new("/p"), Path::new(out)).mcp, expected, "{value} {out}");
    }
}

#[test]
fn integers_have_64_bits_by_default() {
    let integers =
        |text| parse(text).unwrap().options(Path::new("/p"), Path::new("/p/gen")).integers;
    assert_eq!(integers(""), Integers::Int64);
    assert_eq!(integers("[rust]\nintegers = \"exact\"\n"), Integers::Exact);
}

#[test]
fn mistakes_are_reported_at_their_place() {
    for (text, expected) in [
        ("[project]\nshema = \"s\"\n", "2:1 unknown field `shema`, expected `schema` or `out`"),
        ("[rust]\nintegers = \"i64\"\n", "2:12 unknown variant `i64`, expected `int64` or `exact`"),
        (
            "[nope]\n",
            "1:2 unknown field `nope`, expected one of `project`, `rust`, `package`, `crates`, `dialects`, `breaking`",
        ),
        ("[project]\nout = 1\n", "2:7 invalid type: integer `1`, expected path string"),
        (
            "[crates]\ntoolwright-mcp = 1.0\n",
            "2:18 invalid type: floating point `1.0`, expected a version such as `\"0.1\"`, or a table such as `{ path = \"…\" }`",
        ),
        (
            "[package]\nprefix = \"Acme \"\n",
            "2:10 expected a prefix of package names: a lower-case letter, then lower-case letters, digits, `-` and `_`",
        ),
        (
            "[package]\nversion = \"1\"\n",
            "2:11 expected a version of three numbers, such as `0.1.0`",
        ),
        (
            "[package]\nrust-version = \"1.50\"\n",
            "2:16 generated crates need a Rust that `toolwright` supports; expected `1.85` or later",
        ),
        (
            "[package]\nversion = \"1.0.0\"\npublish = true\n[crates]\ntoolwright = { path = \"t\" }\n",
            "5:14 published packages take this crate from a registry; expected `version = \"…\"` beside `path` or `git`",
        ),
        ("[package]\nlicense = true\n", "2:11 expected a string, or `{ workspace = true }`"),
        (
            "[package]\nversion = \"1.0.0\"\npublish = { workspace = false }\n",
            "3:11 expected true, false, a list of registries, or `{ workspace = true }`",
        ),
        (
            "[package]\npublish = true\n",
            "2:11 published packages require a version of each other; expected `version = \"…\"` beside `publish`",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err(), [expected]);
    }
    assert!(parse("[project\n").is_err());
    for place in [
        "{}",
        "{ path = \"t\", git = \"https://example.org/t\" }",
        "{ path = \"t\", rev = \"1\" }",
        "{ git = \"https://example.org/t\", tag = \"1\", branch = \"b\" }",
        "{ path = \"t\", registry = \"ours\" }",
        "{ version = \"1\", workspace = true }",
    ] {
        let text = format!("[crates]\ntoolwright = {place}\n");
        let found = parse(&text).unwrap_err();
        assert!(
            found[0].starts_with("2:14 expected exactly one location of the crate"),
            "{found:?}"
        );
    }
}

#[test]
fn all_wrong_keys_are_reported_in_one_run() {
    let text = "[project]\nshema = \"s\"\nout = 1\n[crates]\ntoolwright = { pat = \"t\" }\n[nope]\n\
                [rust.types.\"x.Y\"]\nderives = []\ntraits = [1]\n";
    let found = parse(text).unwrap_err();
    let starts = [
        "2:1 unknown field `shema`",
        "3:7 invalid type: integer `1`",
        "5:16 unknown field `pat`",
        "6:2 unknown field `nope`",
        "8:1 unknown field `derives`",
        "9:11 invalid type: integer `1`",
    ];
    assert_eq!(found.len(), starts.len(), "{found:?}");
    for (found, start) in found.iter().zip(starts) {
        assert!(found.starts_with(start), "{found}");
    }
    assert_eq!(parse("[project]\nout = \"o\n").unwrap_err().len(), 1);
}

/// Each generated crate has a copy of these texts, and file names have the prefix.
#[test]
fn texts_that_are_copied_are_limited() {
    let long = "x".repeat(1_023);
    let macros: Vec<String> = (0..33).map(|name| format!("\"a::M{name}\"")).collect();
    let features: Vec<String> = (0..300).map(|name| format!("\"f{name}\"")).collect();
    let macros = macros.join(", ");
    let cases = [
        format!("[package]\nlicense = \"{long}\""),
        format!("[package]\nprefix = \"a{long}-\""),
        format!("[crates]\ntoolwright = {{ path = \"a\", features = [{}] }}", features.join(", ")),
        format!("[crates]\ntoolwright = {{ path = \"aa{long}\" }}"),
        format!("[rust]\nderive = [{macros}]\ndependencies.a.path = \"a\""),
        format!("[rust]\nderive = [\"a::{long}\"]\ndependencies.a.path = \"a\""),
    ];
    let found = cases.map(|text| parse(&text).map(|_| ()).unwrap_err().join(", "));
    let copied = "found more than 1024 bytes, expected fewer, as each generated crate has a copy";
    let most = "expected at most 32, of 1024 bytes, as each type derives them";
    for (found, expected) in found.iter().zip([
        format!("2:11 {copied}"),
        "2:10 found more than 64 bytes, expected a shorter prefix, as file names have the names of packages".to_owned(),
        format!("2:14 {copied}"),
        format!("2:14 {copied}"),
        format!("2:11 found 33 macros, {most}"),
        format!("2:11 found macros of 1026 bytes, {most}"),
    ]) {
        assert_eq!(*found, expected);
    }
}

#[test]
fn all_mistakes_in_derives_are_reported_in_one_run() {
    let found = parse(
        r#"[rust]
derive = ["no path", "Clone", "::std::hash::Hash", "JsonSchema", "crate::Mine", "a::B", "a_b::C", "::a_b::C", "a-b::C"]
[rust.types."x.Y"]
derive = ["a_b::C", "a_b::D", "a_b::D", "a_b::struct"]
[rust.dependencies]
a-b = { version = "1", path = "a", git = "b" }
unused = { version = "1" }
toolwright = { path = "t" }
"#,
    )
    .unwrap_err();
    assert_eq!(
        found,
        [
            "2:11 `no path` is not the path of a derive macro; expected one such as `sqlx::FromRow`",
            "2:22 `Clone` is derived by every generated type that can have it; leave it out",
            "2:31 `Hash` is derived by every generated type that can have it; leave it out",
            "2:52 `JsonSchema` names no crate; expected a path such as `sqlx::FromRow`",
            "2:66 `crate::Mine` is in the generated crate, which has no code of yours; expected a path into a crate under `[rust.dependencies]`, such as `sqlx::FromRow`",
            "2:81 `[rust.dependencies]` has no crate `a`; add `a = { version = \"…\" }` there",
            "2:99 `::a_b::C` is already derived; remove it",
            "2:111 `a-b::C` is not the path of a derive macro; expected one such as `sqlx::FromRow`",
            "4:11 `a_b::C` is already derived; remove it",
            "4:31 `a_b::D` is already derived; remove it",
            "4:41 `a_b::struct` is not the path of a derive macro; expected one such as `sqlx::FromRow`",
            "6:7 expected exactly one location of the crate: `{ path = \"…\" }`, `{ version = \"…\" }`, `{ git = \"…\" }` or `{ workspace = true }`",
            "7:1 nothing under `[rust]` uses `unused`; remove it",
            "8:1 every generated crate depends on `toolwright`; set its location under `[crates]`",
        ]
    );
}

#[test]
fn all_mistakes_in_domain_types_are_reported_in_one_run() {
    let found = parse(
        r#"[rust.types]
"x.A" = { type = "Money", traits = ["Copy", "Send"] }
"x.B" = { type = "crate::Money" }
"x.C" = { type = "money::Money<i64>" }
"x.D" = { type = "cash::Money", derive = ["money::Cash"] }
"x.E" = { traits = ["Copy"] }
"x.F" = {}
[rust.dependencies]
money = { version = "1" }
coins = { version = "1" }
"#,
    )
    .unwrap_err();
    assert_eq!(
        found,
        [
            "2:18 `Money` names no crate; expected a path such as `money::Money`",
            "2:45 `Send` is not a trait that generated types derive; expected some of `Copy`, `Eq`, `Hash`, `Ord`, `Default`",
            "3:18 `crate::Money` is in the generated crate, which has no code of yours; expected a path into a crate under \
             `[rust.dependencies]`, such as `money::Money`",
            "4:18 `money::Money<i64>` is not the path of a type; expected one such as `money::Money`",
            "5:18 `[rust.dependencies]` has no crate `cash`; add `cash = { version = \"…\" }` there",
            "5:43 a type of yours has its derives where it is defined; remove `derive` or `type`",
            "6:21 `traits` are those of a type of yours; expected `type` with its path beside them",
            "7:1 this type has no options; expected `derive`, or `type` with a type of yours to replace it",
            "10:1 nothing under `[rust]` uses `coins`; remove it",
        ]
    );
}

#[test]
fn manifests_have_the_keys_of_the_tables_package_and_crates() {
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("schema/notes.yaml", NOTES);
    put(
        "toolwright.toml",
        "[package]\nprefix = \"acme-\"\nversion = \"1.2.3\"\nlicense = \"MIT\"\npublish = [\"ours\"]\n\
         repository = { workspace = true }\n\
         [crates]\ntoolwright = { git = \"https://example.org/t\", tag = \"v1\", version = \"0.1\" }\n",
    );
    Project::open(folder.path()).unwrap().generate(Mode::Write).unwrap();
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    let manifest: toml::Table = read("gen/notes/tools/notes/Cargo.toml").parse().unwrap();
    let expected: toml::Table = r#"
        [package]
        name = "acme-notes-tools"
        description = "Specs, calls and executors of the notes toolset"
        version = "1.2.3"
        edition = "2024"
        publish = ["ours"]
        license = "MIT"
        repository = { workspace = true }
        rust-version = "1.85"
        [dependencies]
        acme-notes-service = { path = "../../../notes/service", version = "1.2.3" }
        toolwright = { git = "https://example.org/t", tag = "v1", version = "0.1" }
    "#
    .parse()
    .unwrap();
    assert_eq!(manifest["package"], expected["package"]);
    assert_eq!(manifest["dependencies"], expected["dependencies"]);
    assert!(read("gen/notes/tools/notes/src/lib.rs").contains("mod codecs;"));
    assert!(read("gen/notes/tools/notes/src/executor.rs").contains("acme_notes_service::"));
}

/// The guide has a table of keys below the heading of each table. The compiler's own copy is for `toolwright explain`.
#[test]
fn the_page_of_the_configuration_lists_every_key() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(folder.join("../docs/guide/configuration.md")).unwrap();
    let mut tables = Vec::new();
    for section in page.split("\n## `[").skip(1) {
        let (name, section) = section.split_once("]`\n").unwrap();
        let keys = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let mut listed: Vec<&str> = keys.collect();
        listed.sort_unstable();
        // The error for an unknown key quotes it, and then lists the known ones.
        let error = parse(&format!("[{name}]\nno = 1\n")).unwrap_err().remove(0);
        let mut read: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
        read.sort_unstable();
        assert_eq!(listed, read, "{name}");
        tables.push(name);
    }
    assert_eq!(tables.len(), 9, "{tables:?}");
    let mut wrong = Vec::new();
    expect(&folder.join("src/configuration.md"), &without_links(&page), &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Replaces links by their words, since their targets are relative to another folder.
fn without_links(page: &str) -> String {
    let (mut text, mut rest) = (String::new(), page);
    while let Some((before, after)) = rest.split_once("](") {
        let (before, words) = before.rsplit_once('[').unwrap();
        text.extend([before, words]);
        rest = after.split_once(')').unwrap().1;
    }
    text + rest
}

const NOTES: &str = "toolwright: 1
service: notes
types:
  Note: { type: object, properties: { text: { type: string } } }
methods:
  put_note:
    payload: { $ref: Note }
    result: { type: 'null' }
toolsets:
  notes:
    tools:
      put_note: { description: Puts a note., bind: put_note }
";
