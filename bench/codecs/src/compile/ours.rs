//! toolwright in the area `compile`: a schema of the types, the crates generated from it, and a program that uses them.

use std::fmt::Write as _;
use std::path::Path;

use toolwright_codegen::options::{Dependency, Options};
use toolwright_codegen::{Compiled, Source, Sources, compile};

use super::shapes::{Body, Field, Kind, Tool, Type, tools, types};
use super::workspace::{Candidate, File, release_profile};

/// The generated crates and a binary that decodes and encodes every root.
pub(super) fn candidate(repository: &Path) -> Candidate {
    let contract = repository.join("crates/toolwright").display().to_string();
    let Compiled { files, .. } = generate(Dependency::at(contract.clone()));
    let mut all: Vec<File> = files
        .iter()
        .map(|(path, text)| File { path: format!("gen/{path}"), text: text.to_owned() })
        .collect();
    all.push(File { path: "Cargo.toml".to_owned(), text: workspace(&contract) });
    all.push(File { path: "src/main.rs".to_owned(), text: main() });
    Candidate { name: "ours", library: "bench-service", files: all }
}

fn generate(toolwright: Dependency) -> Compiled {
    let sources =
        Sources::new(vec![Source { path: "schema/bench.yaml".to_owned(), text: schema() }]);
    match compile(&sources, &Options { toolwright, ..Options::default() }) {
        Ok(compiled) => compiled,
        Err(findings) => panic!("the schema has mistakes: {:?}", findings.first()),
    }
}

fn schema() -> String {
    let mut text = "toolwright: 1\nservice: bench\ntypes:\n".to_owned();
    for ty in &types() {
        write_type(&mut text, ty);
    }
    text += "toolsets:\n  everything:\n    description: Every tool.\n    tools:\n";
    for Tool { name, args, result } in tools() {
        let _ = writeln!(
            text,
            "      {name}: {{ description: A tool., args: {args}, result: {result} }}"
        );
    }
    text
}

fn write_type(text: &mut String, Type { name, body }: &Type) {
    let _ = match body {
        Body::Enum(values) => {
            writeln!(text, "  {name}: {{ type: string, enum: [{}] }}", values.join(", "))
        }
        Body::Struct(fields) => {
            let required: Vec<&str> =
                fields.iter().filter(|field| field.required).map(|field| field.name).collect();
            let properties: Vec<String> = fields.iter().map(property).collect();
            writeln!(
                text,
                "  {name}: {{ type: object, required: [{}], additionalProperties: false, properties: {{ {} }} }}",
                required.join(", "),
                properties.join(", ")
            )
        }
    };
}

fn property(field: &Field) -> String {
    format!("{}: {}", field.name, schema_of(&field.kind))
}

fn schema_of(kind: &Kind) -> String {
    match kind {
        Kind::Text => "{ type: string, minLength: 1, maxLength: 200 }".to_owned(),
        Kind::NullableText => {
            "{ anyOf: [{ type: string, maxLength: 200 }, { type: \"null\" }] }".to_owned()
        }
        Kind::Integer => "{ type: integer, minimum: 0, maximum: 1000000 }".to_owned(),
        Kind::Number => "{ type: number, minimum: 0 }".to_owned(),
        Kind::Flag => "{ type: boolean }".to_owned(),
        Kind::Texts => {
            "{ type: array, maxItems: 50, items: { type: string, maxLength: 80 } }".to_owned()
        }
        Kind::Named(name) => format!("{{ $ref: {name} }}"),
        Kind::List(name) => format!("{{ type: array, maxItems: 100, items: {{ $ref: {name} }} }}"),
    }
}

fn workspace(contract: &str) -> String {
    format!(
        "[workspace]\nmembers = [\"gen/bench/service\", \"gen/bench/tools/*\"]\n\n\
         [package]\nname = \"program\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nbench-service = {{ path = \"gen/bench/service\" }}\n\
         toolwright = {{ path = {contract:?} }}\n\n{}",
        release_profile()
    )
}

fn main() -> String {
    let mut text = "use bench_service::types::*;\nuse toolwright::codec;\n\n\
        fn round<T: codec::Decode + codec::Encode>(json: &[u8]) -> usize {\n    \
        codec::from_json::<T>(json).ok().and_then(|value| codec::to_json(&value).ok()).map_or(0, |text| text.len())\n}\n\n"
        .to_owned();
    text += &super::workspace::calls_of_every_root();
    text
}
