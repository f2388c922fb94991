//! Tests of the options for additional derive macros, in `toolwright.toml` and in build scripts.

use toolwright_codegen::diagnostic::Diagnostic;
use toolwright_codegen::options::{RustPath, TypeOptions};
use toolwright_codegen::project::{Change, Failure, Generated, Mode, Project};
use toolwright_codegen::render::Format;
use toolwright_codegen::{Build, Options, Source, Sources, compile};

use crate::folder::Folder;

const DESK: &str = "toolwright: 1
service: desk
types:
  Note: { type: object, required: [title], properties: { title: { type: string }, kind: { enum: [a, b] } } }
  Memo: { $ref: Note }
methods:
  put_note: { payload: { type: object, properties: { note: { $ref: Note } } }, result: Note }
toolsets: { notes: { tools: { put_note: { description: Puts a note., bind: put_note } } } }
";

/// A service whose only type is an alias, which derives nothing.
const CLOCK: &str = "toolwright: 1
service: clock
types: { Now: { $ref: desk.Note } }
";

const CONFIG: &str = "[rust]
derive = [\"::serde_x::Shown\"]
[rust.types.\"desk.Note\"]
derive = [\"sql::FromRow\"]
[rust.dependencies]
serde-x = { path = \"serde-x\" }
sql = { version = \"0.8\", features = [\"postgres\"], default-features = false }
[crates]
toolwright = { workspace = true, features = [\"serde\"] }
";

fn project(config: &str) -> Folder {
    Folder::new(&[
        ("schema/desk.yaml", DESK),
        ("schema/clock.yaml", CLOCK),
        ("toolwright.toml", config),
    ])
}

fn generate(folder: &Folder) -> Result<Generated, Failure> {
    Project::open(&folder.path("")).unwrap().generate(Mode::Write)
}

#[test]
fn types_derive_the_macros_of_the_configuration_and_manifests_name_their_crates() {
    let folder = project(CONFIG);
    generate(&folder).unwrap();
    let types = folder.read("gen/desk/service/src/types.rs");
    let derives: Vec<&str> =
        types.split("#[derive(").skip(1).filter_map(|rest| rest.split(")]").next()).collect();
    let plain = "Clone, Debug, Default, PartialEq, Eq, Hash";
    let expected = [
        format!("{plain}, ::serde_x::Shown, sql::FromRow"),
        "Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde_x::Shown".to_owned(),
        format!("{plain}, ::serde_x::Shown"),
    ];
    let normalized = |text: &str| {
        let words = text.split([' ', '\n', ',']).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(derives.iter().copied().map(normalized).collect::<Vec<_>>(), expected, "{types}");

    let dependencies = |path: &str| {
        let manifest: toml::Table = folder.read(path).parse().unwrap();
        manifest["dependencies"].to_string()
    };
    let toolwright = r#"toolwright = { workspace = true, features = ["serde"] }"#;
    let serde = r#"serde-x = { path = "../../../serde-x" }"#;
    let sql = r#"sql = { version = "0.8", default-features = false, features = ["postgres"] }"#;
    for (path, expected) in [
        ("gen/desk/service/Cargo.toml", format!("{toolwright}\n{serde}\n{sql}")),
        (
            "gen/clock/service/Cargo.toml",
            format!("{toolwright}\ndesk-service = {{ path = \"../../desk/service\" }}"),
        ),
        (
            "gen/desk/tools/notes/Cargo.toml",
            format!("{toolwright}\ndesk-service = {{ path = \"../../../desk/service\" }}"),
        ),
    ] {
        let expected: toml::Table = expected.parse().unwrap();
        assert_eq!(dependencies(path), toml::Value::from(expected).to_string(), "{path}");
    }
}

#[test]
fn the_next_run_applies_a_change_of_the_configuration() {
    let folder = project(CONFIG);
    generate(&folder).unwrap();
    let second = generate(&folder).unwrap();
    assert!(matches!(&second.change, Change::Written(written) if written.written.is_empty()));
    folder.put("toolwright.toml", CONFIG.replace("sql::FromRow", "sql::Row"));
    let third = generate(&folder).unwrap();
    let Change::Written(written) = &third.change else { panic!("nothing was compared") };
    assert_eq!(written.written, ["desk/service/src/types.rs"]);
    assert!(folder.read("gen/desk/service/src/types.rs").contains("sql::Row"));

    // A run on a part of the schema ignores options for other types.
    let whole = Project::open(&folder.path("")).unwrap();
    let part = whole.with_schema(vec![folder.path("schema/desk.yaml")]);
    let config = CONFIG.replace("desk.Note", "attic.Note");
    folder.put("toolwright.toml", config);
    part.check().unwrap();
    Project::open(&folder.path(""))
        .unwrap()
        .with_schema(vec![folder.path("schema/desk.yaml")])
        .check()
        .unwrap();
}

#[test]
fn unknown_types_are_reported_at_their_place_in_the_configuration() {
    for (name, line, help) in [
        (
            "desk.Nota",
            "no type is named `desk.Nota`; expected `service.Type`",
            "did you mean `desk.Note`? named types: ",
        ),
        ("Note", "no type is named `Note`; expected `service.Type`", "named types: "),
        (
            "desk.Memo",
            "`desk.Memo` is an alias of another type, so it derives nothing",
            "name the type that it refers to",
        ),
    ] {
        let folder = project(&CONFIG.replace("desk.Note", name));
        let opened = Project::open(&folder.path("")).unwrap();
        for failure in [
            opened.check().map(drop).unwrap_err(),
            generate(&folder).map(drop).unwrap_err(),
            opened.generate(Mode::Check).map(drop).unwrap_err(),
        ] {
            let shown = failure.render(Format::Human { color: false });
            assert!(shown.contains(line) && shown.contains(help), "{shown}");
            assert!(shown.contains("toolwright.toml:3:13"), "{shown}");
        }
    }
}

#[test]
fn a_build_script_adds_derive_macros() {
    let folder = project("");
    let build = || Build::new(folder.path("schema")).out_dir(folder.path("out"));
    build()
        .derive("crate::marks::Shown")
        .derive_on("desk.Note", "sql::FromRow")
        .derive_on("desk.Note", "sql::Row")
        .generate()
        .unwrap();
    let types = folder.read("out/desk/service/src/types.rs");
    let derives = types.split("#[derive(").nth(1).unwrap();
    let words: Vec<&str> = derives.split_whitespace().collect();
    assert!(
        words.join(" ").starts_with("Clone, Debug, Default, PartialEq, Eq, Hash, crate::marks::Shown, sql::FromRow, sql::Row"),
        "{types}"
    );
    for (build, message) in [
        (
            build().derive("std::clone::Clone"),
            "`Clone` is derived by every generated type that can have it; leave it out",
        ),
        (build().derive_on("desk.Nota", "sql::Row"), "the toolset schema has 1 error; see above"),
        (
            build().derive("a::B").derive("a::B"),
            "`a::B` is already derived; remove the second call",
        ),
    ] {
        assert_eq!(build.generate().unwrap_err().to_string(), message);
    }
}

#[test]
fn compile_rejects_options_for_unknown_types() {
    let source = Source { path: "desk.yaml".to_owned(), text: DESK.to_owned() };
    let derive = vec![RustPath::of_derive("sql::Row").unwrap()];
    let types =
        vec![TypeOptions { name: "desk.Nota".to_owned(), span: None, derive, domain: None }];
    let compiled = compile(&Sources::new(vec![source]), &Options { types, ..Options::default() });
    let codes = |findings: Vec<Diagnostic>| -> Vec<&str> {
        findings.into_iter().map(|finding| finding.code).collect()
    };
    assert_eq!(compiled.map(drop).map_err(codes), Err(vec!["unknown-type"]));
}
