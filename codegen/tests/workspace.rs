//! Generated crates in a workspace of their user's, beside crates that they depend on and that depend on them, built by cargo.

use std::fs;
use std::path::Path;
use std::process::Command;

use toolwright_codegen::project::{Mode, Project};

const CODEGEN: &str = env!("CARGO_MANIFEST_DIR");

/// A workspace with the crates of a folder below it and the generated ones.
struct Workspace(tempfile::TempDir);

impl Workspace {
    fn new(files: &[(&str, &str)]) -> Self {
        let workspace = Self(tempfile::tempdir().unwrap());
        let manifest = format!(
            "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\", \"gen/*/service\", \"gen/*/tools/*\"]\n\
             [workspace.dependencies]\ntoolwright = {{ path = \"{CODEGEN}/../crates/toolwright\" }}\n"
        );
        workspace.put("Cargo.toml", &manifest);
        for (path, text) in files {
            workspace.put(path, text);
        }
        let lock = workspace.0.path().join("Cargo.lock");
        fs::copy(Path::new(CODEGEN).join("../Cargo.lock"), lock).unwrap();
        workspace
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Generates, and runs the tests of all crates.
    fn test(&self) {
        Project::open(self.0.path()).unwrap().generate(Mode::Write).unwrap();
        let output = Command::new(env!("CARGO"))
            .args(["test", "--quiet", "--offline", "--workspace"])
            .current_dir(self.0.path())
            .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("workspace"))
            .env("RUSTFLAGS", "-Dwarnings")
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    }
}

/// A macro of the user's: whatever derives it has a method `mark`.
const MARKS: &str = r#"
use proc_macro::{TokenStream, TokenTree};

#[proc_macro_derive(Marked)]
pub fn marked(item: TokenStream) -> TokenStream {
    let mut tokens = item.into_iter().skip_while(|token| {
        !matches!(token, TokenTree::Ident(word) if ["struct", "enum"].contains(&&*word.to_string()))
    });
    let name = tokens.nth(1).unwrap();
    format!("impl {name} {{ pub fn mark() -> &'static str {{ \"{name}\" }} }}").parse().unwrap()
}
"#;

#[test]
fn generated_types_derive_macros_of_other_crates() {
    let workspace = Workspace::new(&[
        (
            "toolwright.toml",
            "[rust]\nderive = [\"marks::Marked\"]\n[rust.dependencies]\nmarks = { path = \"crates/marks\" }\n\
             [crates]\ntoolwright = { workspace = true }\n",
        ),
        (
            "schema/desk.yaml",
            "toolwright: 1
service: desk
types:
  Title: { type: string, maxLength: 9 }
  Note: { type: object, properties: { title: { $ref: Title }, kind: { enum: [a, b] }, at: { anyOf: [{ type: string },
    { type: object, properties: { year: { type: integer } } }] }, done: { const: true } } }
toolsets: { notes: { tools: { put_note: { description: Puts a note., args: Note } } } }
",
        ),
        (
            "crates/marks/Cargo.toml",
            "[package]\nname = \"marks\"\nedition = \"2024\"\n[lib]\nproc-macro = true\n",
        ),
        ("crates/marks/src/lib.rs", MARKS),
        (
            "crates/user/Cargo.toml",
            "[package]\nname = \"user\"\nedition = \"2024\"\n[dependencies]\ndesk-service = { path = \"../../gen/desk/service\" }\n",
        ),
        (
            "crates/user/src/lib.rs",
            "#[test]
fn types_are_marked() {
    use desk_service::types::{Note, NoteAt, NoteKind, Title};
    assert_eq!([Note::mark(), NoteAt::mark(), NoteKind::mark(), Title::mark()], [\"Note\", \"NoteAt\", \"NoteKind\", \"Title\"]);
}
",
        ),
    ]);
    workspace.test();
}
