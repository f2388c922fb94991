//! Checks the dependencies between crates in their manifests.

use crate::tree::File;

/// The crates of this repository that a crate may depend on. Its tests may depend on all of them.
struct Allowed {
    folder: &'static str,
    ours: &'static [&'static str],
    /// True if it may depend on generated crates, as the examples do.
    generated: bool,
}

const OURS: &[Allowed] = &[
    allowed("", &["toolwright-codegen"]),
    // The compiler uses the data types and patterns of the contract, and checks projects against dialects.
    allowed("codegen", &["toolwright", "toolwright-dialect"]),
    allowed("crates/toolwright", &[]),
    allowed("crates/toolwright-macros", &[]),
    allowed("crates/toolwright-runtime", &["toolwright", "toolwright-macros"]),
    allowed("crates/toolwright-dialect", &["toolwright"]),
    // `ModelPlanner` is behind a feature.
    allowed("crates/toolwright-model", &["toolwright", "toolwright-dialect", "toolwright-runtime"]),
    allowed("crates/toolwright-model-stage", &["toolwright", "toolwright-dialect"]),
    allowed("crates/toolwright-agents", &["toolwright", "toolwright-runtime"]),
    allowed("crates/toolwright-chat", &["toolwright", "toolwright-runtime"]),
    allowed("crates/toolwright-builtins", &["toolwright", "toolwright-runtime"]),
    allowed("crates/toolwright-mcp", &["toolwright", "toolwright-runtime"]),
    allowed("crates/toolwright-nats", &["toolwright", "toolwright-runtime"]),
    allowed("crates/toolwright-genai", &["toolwright", "toolwright-dialect", "toolwright-model"]),
    allowed("crates/toolwright-async-openai", &["toolwright", "toolwright-dialect"]),
    allowed("crates/toolwright-rig", &["toolwright", "toolwright-dialect", "toolwright-runtime"]),
    allowed("crates/toolwright-restate", &["toolwright", "toolwright-runtime"]),
    allowed("crates/toolwright-http", &["toolwright"]),
    allowed("crates/toolwright-import", &["toolwright", "toolwright-codegen"]),
    allowed("crates/toolwright-lock", &["toolwright", "toolwright-codegen"]),
    // `import mcp` uses the MCP client: docs/decisions/0014.
    allowed(
        "crates/toolwright-cli",
        &[
            "toolwright",
            "toolwright-codegen",
            "toolwright-dialect",
            "toolwright-import",
            "toolwright-lock",
            "toolwright-mcp",
        ],
    ),
    allowed("bench/codecs", &["toolwright", "toolwright-codegen", "toolwright-runtime"]),
    allowed("bench/dialects", &["toolwright-dialect", "toolwright-prerequisites"]),
    allowed(
        "bench/models",
        &[
            "toolwright",
            "toolwright-dialect",
            "toolwright-model",
            "toolwright-model-stage",
            "toolwright-prerequisites",
            "toolwright-runtime",
        ],
    ),
    allowed("conformance/json-schema", &["toolwright", "toolwright-codegen", "toolwright-import"]),
    allowed(
        "conformance/judge",
        &["toolwright", "toolwright-codegen", "toolwright-import", "toolwright-prerequisites"],
    ),
    allowed("conformance/engines", &["toolwright-prerequisites"]),
    allowed(
        "bench/engines",
        &[
            "toolwright",
            "toolwright-engines",
            "toolwright-nats",
            "toolwright-prerequisites",
            "toolwright-restate",
            "toolwright-runtime",
        ],
    ),
    allowed("bench/soak", &["toolwright", "toolwright-runtime"]),
    allowed("examples/build-script", &["toolwright", "toolwright-codegen", "toolwright-runtime"]),
    allowed("examples/sqlite", &["toolwright", "toolwright-runtime"]),
    allowed(
        "examples/telemetry",
        &[
            "toolwright",
            "toolwright-dialect",
            "toolwright-model",
            "toolwright-nats",
            "toolwright-restate",
            "toolwright-runtime",
        ],
    ),
    allowed("bench/generation", &["toolwright-codegen", "toolwright-prerequisites"]),
    allowed(
        "bench/mcp",
        &["toolwright", "toolwright-codegen", "toolwright-mcp", "toolwright-prerequisites"],
    ),
    allowed("xtask/prerequisites", &[]),
    allowed("xtask", &["toolwright-codegen", "toolwright-prerequisites"]),
    Allowed {
        folder: "examples/demo",
        ours: &[
            "toolwright",
            "toolwright-engines",
            "toolwright-model",
            "toolwright-model-stage",
            "toolwright-nats",
            "toolwright-restate",
            "toolwright-runtime",
        ],
        generated: true,
    },
    Allowed {
        folder: "conformance/mcp",
        ours: &[
            "toolwright",
            "toolwright-codegen",
            "toolwright-mcp",
            "toolwright-prerequisites",
            "toolwright-runtime",
        ],
        generated: true,
    },
    Allowed { folder: "examples/serve", ours: &["toolwright", "toolwright-mcp"], generated: true },
];

/// The dependencies of the contract. Every user of generated code compiles them, so another one needs a decision.
const OF_THE_CONTRACT: [&str; 2] = ["regex-lite", "serde_core"];

/// The optional dependencies of the contract: docs/decisions/0005, 0008, 0020 and 0040.
const BEHIND_A_FEATURE: [&str; 9] = [
    "base64",
    "chrono",
    "jiff",
    "jsonschema",
    "regex-syntax",
    "serde_json",
    "sha2",
    "time",
    "uuid",
];

const fn allowed(folder: &'static str, ours: &'static [&'static str]) -> Allowed {
    Allowed { folder, ours, generated: false }
}

/// The kind of a generated crate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Service,
    Tools,
    Agent,
    Server,
    Http,
}

impl Kind {
    fn of(path: &str) -> Option<Self> {
        let mut parts = path.strip_prefix("gen/")?.split('/').skip(1);
        match parts.next()? {
            "service" => Some(Self::Service),
            "tools" => Some(Self::Tools),
            "agents" => Some(Self::Agent),
            "mcp" => Some(Self::Server),
            "http" => Some(Self::Http),
            _ => None,
        }
    }

    /// The crates of this repository that it may depend on.
    fn ours(self) -> &'static [&'static str] {
        match self {
            Self::Service | Self::Tools => &["toolwright"],
            Self::Agent => &["toolwright", "toolwright-runtime"],
            Self::Server => &["toolwright", "toolwright-mcp"],
            Self::Http => &["toolwright", "toolwright-http"],
        }
    }

    /// Returns whether it may depend on a generated crate of another kind: on providers, never on consumers.
    fn may_use(self, other: Self) -> bool {
        match self {
            Self::Service | Self::Http => other == Self::Service,
            Self::Tools | Self::Agent | Self::Server => {
                other == Self::Service || other == Self::Tools
            }
        }
    }
}

/// Hand-written crates depend on each other as in ARCHITECTURE.md.
pub(crate) fn ours(files: &[File]) -> Vec<String> {
    let generated = generated_packages(files);
    let written = manifests(files).filter(|file| !file.path.starts_with("gen/"));
    written.flat_map(|file| wrong_dependencies(file, &generated)).collect()
}

fn wrong_dependencies(file: &File, generated: &[(String, Kind)]) -> Vec<String> {
    let Some(crates) = OURS.iter().find(|crates| crates.folder == file.folder()) else {
        return vec![format!(
            "{}: this crate is not in the table of allowed dependencies; add it to xtask/tests/tidy/crate_graph.rs",
            file.path
        )];
    };
    let is_generated = |name: &str| generated.iter().any(|(package, _)| package == name);
    let is_wrong = |name: &&str| {
        let wrong_of_ours = name.starts_with("toolwright") && !crates.ours.contains(name);
        let allowed = OF_THE_CONTRACT.contains(name)
            || (BEHIND_A_FEATURE.contains(name) && is_optional(file, name));
        let too_much = crates.folder == "crates/toolwright" && !allowed;
        wrong_of_ours || too_much || (!crates.generated && is_generated(name))
    };
    let expected = if crates.folder == "crates/toolwright" {
        format!(
            "{}, and behind a feature {}",
            OF_THE_CONTRACT.join(", "),
            BEHIND_A_FEATURE.join(", ")
        )
    } else {
        format!("of ours only {:?}", crates.ours)
    };
    let complaint = |name: &str| {
        format!(
            "{}: depends on `{name}`, expected {expected}; reverse the dependency, or record a decision in docs/decisions/",
            file.path
        )
    };
    dependencies(file).into_iter().filter(is_wrong).map(complaint).collect()
}

/// Generated crates depend on the contract and their providers; consumers also on one other crate.
pub(crate) fn generated(files: &[File]) -> Vec<String> {
    let packages = generated_packages(files);
    let mut complaints = Vec::new();
    for file in manifests(files) {
        let Some(kind) = Kind::of(&file.path) else { continue };
        let provider = |name: &str| {
            packages.iter().any(|(package, other)| package == name && kind.may_use(*other))
        };
        for name in dependencies(file) {
            if !kind.ours().contains(&name) && !provider(name) {
                complaints.push(format!(
                    "{}: depends on `{name}`, expected {:?} and crates of providers; fix `plan`",
                    file.path,
                    kind.ours()
                ));
            }
        }
        complaints.extend(unwanted(file));
    }
    complaints
}

/// Generated crates have no build script, no macros and no doc tests, as these slow down every build of a user.
fn unwanted(file: &File) -> Vec<String> {
    let mut complaints = Vec::new();
    if file.lines().any(|(_, line)| line.starts_with("build =") || line.starts_with("proc-macro")) {
        complaints.push(format!("{}: a build script or macro crate; emit plain code", file.path));
    }
    if !file.lines().any(|(_, line)| line == "doctest = false") {
        complaints.push(format!("{}: expected `doctest = false`; fix the template", file.path));
    }
    complaints
}

/// Consumers have no types, codecs or schemas of their own; they use those of providers (G17).
pub(crate) fn consumers(files: &[File]) -> Vec<String> {
    let consumer = |file: &&File| {
        matches!(Kind::of(&file.path), Some(Kind::Agent | Kind::Server | Kind::Http))
    };
    let defines = |file: &&File| {
        ["types.rs", "codecs.rs", "transforms.rs"].contains(&file.name())
            || file.has_ending(&["json"])
    };
    let complaint = |file: &File| {
        format!("{}: a consumer has a definition; import it from its provider's crate", file.path)
    };
    files.iter().filter(consumer).filter(defines).map(complaint).collect()
}

pub(crate) fn manifests(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| file.name() == "Cargo.toml" && !file.path.contains("/templates/"))
}

fn generated_packages(files: &[File]) -> Vec<(String, Kind)> {
    let package = |file: &File| {
        let name = file.text.lines().find_map(|line| line.strip_prefix("name = "))?;
        Some((name.trim_matches('"').to_owned(), Kind::of(&file.path)?))
    };
    manifests(files).filter_map(package).collect()
}

/// The dependencies of a crate and of its build script.
pub(crate) fn dependencies(file: &File) -> Vec<&str> {
    let mut names = Vec::new();
    let mut inside = false;
    for (_, line) in file.lines() {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            inside = section.ends_with("dependencies")
                && !section.ends_with("dev-dependencies")
                && !section.starts_with("workspace");
            names.extend(section.strip_prefix("dependencies."));
        } else if inside && line.starts_with(char::is_alphanumeric) {
            names.extend(line.split(['.', ' ', '=']).next());
        }
    }
    names
}

/// Returns whether a dependency is optional.
fn is_optional(file: &File, name: &str) -> bool {
    file.lines().any(|(_, line)| {
        let rest = line.strip_prefix(name).unwrap_or_default();
        rest.starts_with([' ', '=']) && rest.contains("optional = true")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(path: &str, name: &str, dependencies: &str) -> File {
        let text =
            format!("[package]\nname = \"{name}\"\n\n[lib]\ndoctest = false\n\n{dependencies}");
        File::new(path, &text)
    }

    fn count(rule: fn(&[File]) -> Vec<String>, path: &str, dependencies: &str) -> usize {
        let known = [
            manifest("gen/a/service/Cargo.toml", "a-service", "[dependencies]\n"),
            manifest("gen/a/tools/b/Cargo.toml", "b-tools", "[dependencies]\n"),
            manifest("gen/a/agents/c/Cargo.toml", "a-c-agent", "[dependencies]\n"),
            manifest(path, "tried", dependencies),
        ];
        rule(&known).len()
    }

    #[test]
    fn a_dependency_in_the_wrong_direction_is_found() {
        for (path, dependencies, expected) in [
            ("xtask/Cargo.toml", "[dependencies]\nclap.workspace = true\n", 0),
            ("xtask/Cargo.toml", "[dependencies]\ntoolwright-mcp.workspace = true\n", 1),
            ("codegen/Cargo.toml", "[dependencies]\ntoolwright.workspace = true\n", 0),
            ("codegen/Cargo.toml", "[dependencies.toolwright-runtime]\nworkspace = true\n", 1),
            ("codegen/Cargo.toml", "[build-dependencies]\ntoolwright-mcp = \"1\"\n", 1),
            ("codegen/Cargo.toml", "[dev-dependencies]\ntoolwright-mcp.workspace = true\n", 0),
            ("crates/toolwright/Cargo.toml", "[dependencies]\nserde_json = \"1\"\n", 1),
            (
                "crates/toolwright/Cargo.toml",
                "[dependencies]\nserde_json = { optional = true }\n",
                0,
            ),
            ("crates/toolwright/Cargo.toml", "[dependencies]\nuuid = \"1\"\n", 1),
            ("crates/toolwright/Cargo.toml", "[dependencies]\nurl = { optional = true }\n", 1),
            ("crates/toolwright-runtime/Cargo.toml", "[dependencies]\nb-tools = {}\n", 1),
            ("examples/demo/Cargo.toml", "[dependencies]\nb-tools = {}\n", 0),
            ("crates/toolwright-new/Cargo.toml", "", 1),
        ] {
            assert_eq!(count(ours, path, dependencies), expected, "{path}: {dependencies}");
        }
    }

    #[test]
    fn a_generated_crate_with_another_dependency_is_found() {
        for (path, dependencies, expected) in [
            ("gen/x/tools/y/Cargo.toml", "[dependencies]\ntoolwright = {}\na-service = {}\n", 0),
            ("gen/x/tools/y/Cargo.toml", "[dependencies]\ntoolwright-runtime = {}\n", 1),
            ("gen/x/tools/y/Cargo.toml", "[dependencies]\na-c-agent = {}\n", 1),
            ("gen/x/tools/y/Cargo.toml", "[dependencies]\nserde = \"1\"\n", 1),
            ("gen/x/service/Cargo.toml", "[dependencies]\nb-tools = {}\n", 1),
            ("gen/x/agents/y/Cargo.toml", "[dependencies]\ntoolwright-runtime = {}\n", 0),
            ("gen/x/mcp/y/Cargo.toml", "[dependencies]\ntoolwright-runtime = {}\n", 1),
            ("gen/x/http/Cargo.toml", "[dependencies]\ntoolwright-http = {}\na-service = {}\n", 0),
            ("gen/x/http/Cargo.toml", "[dependencies]\nb-tools = {}\n", 1),
            ("gen/x/mcp/y/Cargo.toml", "[package]\nbuild = \"build.rs\"\n", 1),
        ] {
            assert_eq!(count(generated, path, dependencies), expected, "{path}: {dependencies}");
        }
        let tested = File::new("gen/x/mcp/y/Cargo.toml", "[package]\nname = \"y\"\n");
        assert_eq!(generated(&[tested]).len(), 1);
    }

    #[test]
    fn a_consumer_with_a_definition_is_found() {
        for (path, expected) in [
            ("gen/x/agents/y/src/types.rs", 1),
            ("gen/x/mcp/y/schema/add.args.json", 1),
            ("gen/x/agents/y/src/calls.rs", 0),
            ("gen/x/tools/y/src/types.rs", 0),
        ] {
            assert_eq!(consumers(&[File::new(path, "")]).len(), expected, "{path}");
        }
    }
}
