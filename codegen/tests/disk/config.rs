//! `toolwright.toml`: what it may say, and how generated manifests find crates.

use std::path::Path;

use toolwright_codegen::project::Config;
use toolwright_codegen::{Dependency, Integers, Source, Sources};

/// The findings as `line:column message`.
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
            (config.project.schema.as_path(), config.project.out.as_path()),
            (Path::new("schema"), Path::new("gen"))
        );
        let options = config.options(Path::new("/p"), Path::new("/p/gen"));
        assert_eq!(options.toolwright, Dependency::Version("0.1".to_owned()));
        assert!(!options.workspace_lints);
    }
}

#[test]
fn crates_are_found_from_the_output_folder() {
    for (value, out, expected) in [
        ("{ version = \"1.2\" }", "/p/gen", Dependency::Version("1.2".to_owned())),
        ("{ path = \"crates/t\" }", "/p/gen", Dependency::Path("../crates/t".to_owned())),
        ("{ path = \"./crates/../t\" }", "/p/a/b", Dependency::Path("../../t".to_owned())),
        ("{ path = \"../t\" }", "/p/gen", Dependency::Path("../../t".to_owned())),
        ("{ path = \"crates/t\" }", "/q/gen", Dependency::Path("../../p/crates/t".to_owned())),
        ("{ path = \"/opt/t\" }", "/p/gen", Dependency::Path("/opt/t".to_owned())),
    ] {
        let config = parse(&format!("[crates]\ntoolwright-mcp = {value}\n")).unwrap();
        assert_eq!(config.options(Path::new("/p"), Path::new(out)).mcp, expected, "{value} {out}");
    }
}

#[test]
fn integers_are_of_64_bits_unless_said_otherwise() {
    let integers =
        |text| parse(text).unwrap().options(Path::new("/p"), Path::new("/p/gen")).integers;
    assert_eq!(integers(""), Integers::Int64);
    assert_eq!(integers("[rust]\nintegers = \"exact\"\n"), Integers::Exact);
}

#[test]
fn what_is_wrong_is_shown_at_its_place() {
    for (text, expected) in [
        ("[project]\nshema = \"s\"\n", "2:1 unknown field `shema`, expected `schema` or `out`"),
        ("[rust]\nintegers = \"i64\"\n", "2:12 unknown variant `i64`, expected `int64` or `exact`"),
        ("[nope]\n", "1:2 unknown field `nope`, expected one of `project`, `rust`, `crates`"),
        ("[project]\nout = 1\n", "2:7 invalid type: integer `1`, expected path string"),
        (
            "[crates]\ntoolwright-mcp = \"1.0\"\n",
            "2:18 invalid type: string \"1.0\", expected a table, `{ version = \"…\" }` or `{ path = \"…\" }`",
        ),
        (
            "[crates]\ntoolwright = {}\n",
            "2:14 a crate is found by either a path or a version; expected exactly one of the two",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err(), [expected]);
    }
    assert!(parse("[project\n").is_err());
}
