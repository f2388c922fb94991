//! Checks which modules use which libraries and modules: the "Invariant" sentences of ARCHITECTURE.md as tables. The
//! dependencies of crates are checked in `crate_graph`.

use crate::tree::{File, word_in};

/// A word that only some files of a folder may use.
struct Rule {
    word: &'static str,
    under: &'static str,
    allowed: &'static [&'static str],
    reason: &'static str,
}

const COMPILER: &str = "codegen/src/";
const IMPORT: &str = "crates/toolwright-import/src/";
const CONTRACT: &str = "crates/toolwright/src/";
const AGENTS: &str = "crates/toolwright-agents/src/";
const RUNTIME: &str = "crates/toolwright-runtime/src/";
const MCP: &str = "crates/toolwright-mcp/src/";
const MODEL: &str = "crates/toolwright-model/src/";
const WIRES: &str = "crates/toolwright-model/src/wire/";
const HTTP: &str = "crates/toolwright-http/src/";

/// Words are whole names, so `fs` is the module and not the end of `refs`.
const RULES: &[Rule] = &[
    rule("fs", COMPILER, &["codegen/src/disk/"], "only `disk` touches the file system"),
    rule("rustix", COMPILER, &["codegen/src/disk/"], "only `disk` touches the file system"),
    rule("saphyr_parser", COMPILER, &["codegen/src/yaml/"], "only `yaml` uses the YAML parser"),
    rule("quote", COMPILER, &["codegen/src/emit/"], "only `emit` makes tokens"),
    rule("Printer", COMPILER, &["codegen/src/emit/"], "only `emit::print` formats Rust"),
    rule(
        "proc_macro2",
        COMPILER,
        &["codegen/src/emit/tests/"],
        "tokens are our own; tests compare",
    ),
    rule(
        "prettyplease",
        COMPILER,
        &["codegen/src/emit/tests/"],
        "`emit::printer` prints Rust; tests compare",
    ),
    rule(
        "askama",
        COMPILER,
        &["codegen/src/emit/templates.rs"],
        "only `emit::templates` fills templates",
    ),
    rule(
        "annotate_snippets",
        COMPILER,
        &["codegen/src/render/human.rs"],
        "only `render` draws findings",
    ),
    rule(
        "minijinja",
        COMPILER,
        &["codegen/src/lower/templates.rs"],
        "run-time templates are parsed in one place",
    ),
    rule("schemars", COMPILER, &["codegen/src/syntax/"], "schemars only describes the language"),
    rule(
        "println",
        COMPILER,
        &["codegen/src/builder.rs"],
        "the compiler prints nothing; its callers do",
    ),
    rule(
        "eprint",
        COMPILER,
        &["codegen/src/builder.rs"],
        "the compiler prints nothing; its callers do",
    ),
    rule(
        "HashMap",
        COMPILER,
        &["codegen/src/yaml/build.rs"],
        "no unordered map where its order could reach output",
    ),
    rule("HashSet", COMPILER, &[], "no unordered set where its order could reach output"),
    rule(
        "SystemTime",
        COMPILER,
        &["codegen/src/disk/"],
        "output depends only on the input; only `disk` reads the times of files",
    ),
    rule("Instant", COMPILER, &[], "output depends only on the input"),
    rule("fs", IMPORT, &[], "the importer takes text and returns text"),
    rule("println", IMPORT, &[], "libraries print nothing"),
    rule("HashMap", IMPORT, &[], "no unordered map where its order could reach output"),
    rule("HashSet", IMPORT, &[], "no unordered set where its order could reach output"),
    rule(
        "regex_lite",
        CONTRACT,
        &["crates/toolwright/src/pattern/"],
        "a pattern means the same in every position",
    ),
    rule(
        "regex_syntax",
        CONTRACT,
        &["crates/toolwright/src/pattern/property.rs"],
        "only its tables are used",
    ),
    rule("fs", CONTRACT, &[], "the contract crate does no IO"),
    rule("TcpStream", CONTRACT, &[], "the contract crate does no IO"),
    rule("UdpSocket", CONTRACT, &[], "the contract crate does no IO"),
    rule("tokio", CONTRACT, &[], "the contract crate needs no runtime"),
    rule("println", CONTRACT, &[], "libraries print nothing"),
    rule(
        "fs",
        RUNTIME,
        &[
            "crates/toolwright-runtime/src/suspended/directory.rs",
            "crates/toolwright-runtime/src/remote/socket.rs",
        ],
        "the runtime does no IO except in the directory store and in its sockets",
    ),
    rule("rmcp", RUNTIME, &[], "only toolwright-mcp implements MCP"),
    rule("println", RUNTIME, &[], "libraries print nothing; events report instead"),
    rule(
        "fs",
        AGENTS,
        &["crates/toolwright-agents/src/folder.rs"],
        "only `folder` touches the disk",
    ),
    rule("println", AGENTS, &[], "libraries print nothing"),
    rule("fs", HTTP, &[], "credentials and addresses come from the caller"),
    rule("println", HTTP, &[], "libraries print nothing"),
    rule("fs", MODEL, &[], "keys and addresses come from the caller"),
    rule("println", MODEL, &[], "libraries print nothing"),
    rule("reqwest", WIRES, &[], "wires do no IO"),
    rule("tokio", WIRES, &[], "wires do no IO"),
    rule("println", MCP, &[], "standard output is for the protocol only"),
];

const fn rule(
    word: &'static str,
    under: &'static str,
    allowed: &'static [&'static str],
    reason: &'static str,
) -> Rule {
    Rule { word, under, allowed, reason }
}

/// The modules that each module of the compiler may name by `crate::`, besides itself.
const STAGES: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("prose", &[]),
    ("files", &[]),
    ("json", &[]),
    ("parallel", &[]),
    ("components", &[]),
    ("diagnostic", &["prose", "source"]),
    ("yaml", &["diagnostic", "json", "source"]),
    ("schema", &["diagnostic", "json", "prose", "source", "yaml"]),
    ("model", &["schema", "source"]),
    ("naming", &["components", "diagnostic", "model", "prose", "schema", "source"]),
    ("boxes", &["components", "naming", "schema"]),
    ("dialects", &["diagnostic", "json", "model", "schema", "source"]),
    ("options", &["dialects", "naming", "source"]),
    ("syntax", &["diagnostic", "json", "options", "parallel", "schema", "source", "yaml"]),
    (
        "lower",
        &[
            "boxes",
            "diagnostic",
            "json",
            "model",
            "naming",
            "options",
            "prose",
            "schema",
            "source",
            "syntax",
            "yaml",
        ],
    ),
    ("values", &["json", "schema"]),
    ("plan", &["boxes", "json", "model", "naming", "options", "prose", "schema", "values"]),
    ("emit", &["files", "json", "model", "naming", "options", "parallel", "plan", "prose"]),
    ("disk", &["diagnostic", "files", "parallel", "prose", "source"]),
    ("render", &["diagnostic", "prose", "source"]),
    ("config", &["diagnostic", "dialects", "naming", "options", "source"]),
    ("incremental", &["diagnostic", "parallel", "source", "syntax", "yaml"]),
    (
        "project",
        &[
            "config",
            "diagnostic",
            "dialects",
            "disk",
            "emit",
            "files",
            "incremental",
            "json",
            "lower",
            "model",
            "options",
            "plan",
            "render",
            "schema",
            "source",
            "syntax",
        ],
    ),
    ("builder", &["diagnostic", "disk", "options", "project", "render", "source"]),
];

/// Each library is used only in its module.
pub(crate) fn libraries(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        for rule in RULES.iter().filter(|rule| rule.forbids(&file.path)) {
            complaints.extend(uses(file, rule.word).map(|number| {
                let Rule { word, reason, .. } = rule;
                format!("{}:{number}: `{word}` is used, but {reason}; {}", file.path, rule.advice())
            }));
        }
    }
    complaints
}

impl Rule {
    fn forbids(&self, path: &str) -> bool {
        path.starts_with(self.under) && !self.allowed.iter().any(|place| path.starts_with(place))
    }

    fn advice(&self) -> String {
        match self.allowed {
            [] => "move the work to the caller".to_owned(),
            places => format!("move the work to {}", places.join(" or ")),
        }
    }
}

/// The numbers of the lines that name a library or a module, in a path, a macro or a `use`.
fn uses<'a>(file: &'a File, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_type = word.starts_with(char::is_uppercase);
    file.code().filter_map(move |(number, line)| {
        let after = word_in(line, word)?;
        let import = line.trim_start().starts_with("use ");
        (is_type || import || after.starts_with("::") || after.starts_with('!')).then_some(number)
    })
}

/// Programs and files that a machine may not have, as tests name them.
const MAY_BE_MISSING: [&str; 7] = [
    "\"git\"",
    "\"node\"",
    "\"npm\"",
    "\"npx\"",
    "\"python3\"",
    "\"unshare\"",
    concat!("shared/", "corpus"),
];

/// A test that needs such a program or file uses `toolwright_prerequisites`, so that it can be skipped.
pub(crate) fn prerequisites(files: &[File]) -> Vec<String> {
    let tests =
        files.iter().filter(|file| file.is_rust() && format!("/{}", file.path).contains("/tests/"));
    let silent = tests.filter(|file| !file.text.contains("toolwright_prerequisites"));
    let complaints = silent.flat_map(|file| {
        let named = file.code().filter_map(|(number, line)| {
            let starts = line.contains("Command::new(") || line.contains("const ");
            let word = MAY_BE_MISSING.iter().find(|word| line.contains(**word))?;
            (starts || !word.starts_with('"')).then_some((number, word))
        });
        named.map(|(number, word)| {
            format!(
                "{}:{number}: {word} may be missing; ask `toolwright_prerequisites`, and return if it is",
                file.path
            )
        })
    });
    complaints.collect()
}

/// A module of the compiler uses only the modules before it. Tests may use all of them.
pub(crate) fn stages(files: &[File]) -> Vec<String> {
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("/tests.rs");
    let compiler = files
        .iter()
        .filter(|file| file.is_rust() && file.path.starts_with(COMPILER) && !is_test(&file.path));
    compiler.flat_map(wrong_stages).collect()
}

fn wrong_stages(file: &File) -> Vec<String> {
    let module = file.path[COMPILER.len()..].trim_end_matches(".rs").split('/').next();
    let allowed_of = |module| STAGES.iter().find(|(stage, _)| *stage == module);
    let Some((stage, allowed)) = allowed_of(module.unwrap_or_default()) else {
        let is_root = module == Some("lib");
        let unknown = format!(
            "{}: this module is in no table; add it to `STAGES` in xtask/tests/tidy/module_rules.rs",
            file.path
        );
        return (!is_root).then_some(unknown).into_iter().collect();
    };
    let mut complaints = Vec::new();
    for (number, line) in file.code() {
        let named = line.split("crate::").skip(1).map(|rest| {
            rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
        });
        for other in named.filter(|other| other != stage && allowed_of(other).is_some()) {
            if !allowed.contains(&other) {
                complaints.push(format!(
                    "{}:{number}: `{stage}` uses `{other}`, expected only {allowed:?}; pass in what it needs, or change \
                     `STAGES` and ARCHITECTURE.md together",
                    file.path
                ));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(rule: fn(&[File]) -> Vec<String>, path: &str, text: &str) -> Vec<String> {
        rule(&[File::new(path, text)])
    }

    #[test]
    fn a_library_outside_its_module_is_found() {
        for (path, text, expected) in [
            ("codegen/src/disk/tree.rs", "use std::fs;\n", 0),
            ("codegen/src/emit/mod.rs", "use std::fs;\n", 1),
            ("codegen/src/emit/mod.rs", "use std::{fmt, fs};\n", 1),
            ("codegen/src/emit/mod.rs", "let text = std::fs::read(path);\n", 1),
            ("codegen/src/emit/mod.rs", "// std::fs is not used here\n", 0),
            ("codegen/src/lower/mod.rs", "prettyplease::unparse(&file)\n", 1),
            ("codegen/src/lower/mod.rs", "println!(\"seen\");\n", 1),
            ("codegen/src/plan/mod.rs", "let seen: HashMap<String, u8>;\n", 1),
            ("codegen/src/render/mod.rs", "fn quote(text: &str) {}\n", 0),
            ("crates/toolwright/src/call.rs", "use tokio::sync::mpsc;\n", 1),
        ] {
            assert_eq!(complaints(libraries, path, text).len(), expected, "{path}: {text}");
        }
    }

    #[test]
    fn a_complaint_names_the_rule_and_the_fix() {
        let found = complaints(libraries, "codegen/src/emit/mod.rs", "\nuse std::fs;\n");
        assert_eq!(
            found,
            ["codegen/src/emit/mod.rs:2: `fs` is used, but only `disk` touches the file system; \
              move the work to codegen/src/disk/"]
        );
    }

    #[test]
    fn a_test_without_its_prerequisites_is_found() {
        let corpus = concat!("root.join(\"../shared/", "corpus\")\n");
        let asks = "use toolwright_prerequisites::has;\nCommand::new(\"git\")\n";
        for (path, text, expected) in [
            ("tests/it/a.rs", "Command::new(\"git\").arg(\"init\")\n", 1),
            ("crates/a/tests/b.rs", "ServerCommand::new(\"python3\")\n", 1),
            ("crates/a/tests/b.rs", "const PYTHON: &str = \"python3\";\n", 1),
            ("crates/a/tests/b.rs", corpus, 1),
            ("crates/a/tests/b.rs", "assert_eq!(origin.server, \"git\");\n", 0),
            ("crates/a/tests/b.rs", "Command::new(\"sh\")\n", 0),
            ("crates/a/tests/b.rs", asks, 0),
            ("crates/a/src/b.rs", "Command::new(\"git\")\n", 0),
        ] {
            assert_eq!(complaints(prerequisites, path, text).len(), expected, "{path}: {text}");
        }
    }

    #[test]
    fn a_stage_that_uses_a_later_one_is_found() {
        for (path, text, expected) in [
            ("codegen/src/plan/mod.rs", "use crate::model::Project;\n", 0),
            ("codegen/src/plan/types.rs", "use crate::plan::Crate;\n", 0),
            ("codegen/src/plan/mod.rs", "use crate::diagnostic::Report;\n", 1),
            ("codegen/src/emit/mod.rs", "use crate::schema::Shape;\n", 1),
            ("codegen/src/yaml/mod.rs", "fn lower(to: &crate::lower::Project) {}\n", 1),
            ("codegen/src/files.rs", "use crate::disk;\n", 1),
            ("codegen/src/project/mod.rs", "use crate::disk;\n", 0),
            ("codegen/src/disk/mod.rs", "use crate::project;\n", 1),
            ("codegen/src/parallel.rs", "use crate::source;\n", 1),
            ("codegen/src/new/mod.rs", "", 1),
            ("codegen/src/lib.rs", "use crate::emit;\n", 0),
            ("codegen/src/emit/tests/mod.rs", "use crate::disk;\n", 0),
        ] {
            assert_eq!(complaints(stages, path, text).len(), expected, "{path}: {text}");
        }
    }
}
