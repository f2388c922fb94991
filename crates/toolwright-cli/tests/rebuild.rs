//! Tests which crates cargo recompiles after a change of a schema: those generated from it and their dependents.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

const MANIFEST: &str = r#"
[workspace]
resolver = "3"
members = ["app", "gen/*/service", "gen/*/tools/*"]
"#;

const APP: &str = r#"
[package]
name = "app"
edition = "2024"
[dependencies]
orders-tools = { path = "../gen/shop/tools/orders" }
"#;

const BASE: &str = "toolwright: 1
service: base
types: { Money: { type: object, properties: { amount: { type: integer, minimum: 0 } } } }
";

const SHOP: &str = "toolwright: 1
service: shop
methods: { place: { payload: { type: object, properties: { price: { $ref: base.Money } } } } }
toolsets: { orders: { tools: { place_order: { description: Place it., bind: place } } } }
";

const DESK: &str = "toolwright: 1
service: desk
types: { Note: { type: string, maxLength: 9 } }
toolsets: { notes: { tools: { write_note: { description: Write it., result: Note } } } }
";

fn put(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn generate(folder: &Path) {
    let output = Command::new(env!("CARGO_BIN_EXE_toolwright"))
        .arg("gen")
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles everything, and returns the packages of the workspace that were not up to date.
fn compile(folder: &Path) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["check", "--workspace", "--message-format", "json"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let messages =
        text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let here = fs::canonicalize(folder).unwrap();
    messages
        .filter(|message| message["reason"] == "compiler-artifact" && message["fresh"] == false)
        .filter(|message| {
            message["manifest_path"].as_str().is_some_and(|path| Path::new(path).starts_with(&here))
        })
        .map(|message| message["target"]["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn an_edit_recompiles_its_crates_and_their_dependents() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolwright").canonicalize().unwrap();
    put(folder, "toolwright.toml", &format!("[crates]\ntoolwright = {{ path = {ours:?} }}\n"));
    put(folder, "Cargo.toml", MANIFEST);
    put(folder, "app/Cargo.toml", APP);
    put(folder, "app/src/lib.rs", "pub use orders_tools::specs::ALL;\n");
    let mut schemas = [("base", BASE), ("shop", SHOP), ("desk", DESK)]
        .map(|(name, text)| (name, text.to_owned()));
    for (name, text) in &schemas {
        put(folder, &format!("schema/{name}.yaml"), text);
    }
    generate(folder);
    assert_eq!(compile(folder).len(), 6);

    let edits: [(usize, &str, &str, &[&str]); 5] = [
        (1, "service: shop", "service: shop # a remark", &[]),
        (1, "Place it.", "Place one.", &["app", "orders_tools"]),
        (2, "maxLength: 9", "maxLength: 8", &["desk_service", "notes_tools"]),
        (2, "Write it.", "Write one.", &["notes_tools"]),
        (0, "minimum: 0", "minimum: 1", &["app", "base_service", "orders_tools", "shop_service"]),
    ];
    for (schema, from, to, expected) in edits {
        let (name, text) = &mut schemas[schema];
        *text = text.replace(from, to);
        put(folder, &format!("schema/{name}.yaml"), text);
        generate(folder);
        let compiled = compile(folder);
        assert_eq!(compiled.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{from}");
    }
}
