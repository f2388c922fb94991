//! `cargo xtask semver`: compares the class for Rust that `toolwright diff` predicts with the verdict of cargo-semver-checks on the crates
//! that are generated before and after each of some changes.

mod cases;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fmt, fs};

use cases::{CASES, SHOP};
use toolwright_codegen::project::{Mode, Project};

use crate::End;
use crate::command::Invocation;
use crate::tool::{CARGO_SEMVER_CHECKS, target};

/// The generated packages, with the names of their libraries.
const PACKAGES: [(&str, &str); 2] =
    [("shop-service", "shop_service"), ("shop-tools", "shop_tools")];

/// Why a prediction may be minor where cargo-semver-checks finds a patch.
const NEW_ITEMS: &str = "cargo-semver-checks does not report new items";

/// The kind of version that has to announce a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Patch,
    Minor,
    Major,
}

pub(crate) fn run() -> End {
    // Installs it.
    if let Err(reason) = CARGO_SEMVER_CHECKS.with(&[]) {
        println!("skipped: {reason}");
        return End::Done;
    }
    match compare() {
        Ok(wrong) if wrong.is_empty() => {
            println!("semver: no prediction is less severe than cargo-semver-checks");
            End::Done
        }
        Ok(wrong) => {
            eprintln!("\nerror: {}", wrong.join("\nerror: "));
            End::Failed
        }
        Err(error) => {
            eprintln!("error: {error}");
            End::Io
        }
    }
}

/// Prints both classes of each change. Returns the mistakes.
fn compare() -> Result<Vec<String>, String> {
    let command = ["build", "--quiet", "--package", "toolwright-cli"];
    if !Invocation::cargo(&command).succeeds().map_err(context("cargo"))? {
        return Err("the command `toolwright` cannot be built".to_owned());
    }
    let folder = std::path::absolute(target().join("semver")).map_err(context("target"))?;
    let mut before = Vec::new();
    for non_exhaustive in [false, true] {
        before.push(version(
            &folder.join(format!("before-{non_exhaustive}")),
            SHOP,
            non_exhaustive,
        )?);
    }
    let mut wrong = Vec::new();
    println!("{:<54} {:<9} found", "change", "predicted");
    for case in CASES {
        for &(was, is) in case.options() {
            let name = match (was, is) {
                (false, false) => case.name.to_owned(),
                (true, true) => format!("{}, non_exhaustive", case.name),
                (false, true) => format!("{}, non_exhaustive turned on", case.name),
                (true, false) => format!("{}, non_exhaustive turned off", case.name),
            };
            let after = version(&folder.join("after"), &case.after(), is)?;
            let old = &before[usize::from(was)];
            let (predicted, found) = (predicted(old, &after)?, found(old, &after)?);
            let reason = match (predicted, found) {
                (Class::Minor, Class::Patch) => Some(NEW_ITEMS),
                _ => case.stricter.filter(|_| predicted > found),
            };
            println!("{name:<54} {predicted:<9} {found:<7} {}", reason.unwrap_or_default());
            if predicted < found {
                wrong.push(format!("{name}: predicted {predicted}, found {found}"));
            } else if predicted > found && reason.is_none() {
                wrong.push(format!(
                    "{name}: predicted {predicted}, found {found}, without a reason to be stricter"
                ));
            }
        }
    }
    Ok(wrong)
}

/// Generates the crates of a schema into a folder, with its lock and the descriptions of their APIs.
fn version(folder: &Path, schema: &str, non_exhaustive: bool) -> Result<PathBuf, String> {
    let repository = env::current_dir().map_err(context("."))?;
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(context(folder.display()))?;
    }
    let crates = repository.join("crates/toolwright").display().to_string();
    let files = [
        ("schema/shop.yaml", schema.to_owned()),
        (
            "toolwright.toml",
            format!(
                "[crates]\ntoolwright = {{ path = {crates:?} }}\nnon_exhaustive = {non_exhaustive}\n"
            ),
        ),
        (
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"gen/*/service\", \"gen/*/tools/*\"]\n"
                .to_owned(),
        ),
    ];
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(context(path.display()))?;
        fs::write(&path, text).map_err(context(path.display()))?;
    }
    fs::copy("Cargo.lock", folder.join("Cargo.lock")).map_err(context("Cargo.lock"))?;
    let generated = Project::open(folder).and_then(|project| project.generate(Mode::Write));
    generated.map_err(|failure| format!("{}: {failure:?}", folder.display()))?;
    output(toolwright().args(["lock"]).current_dir(folder))?;
    // Shared, so that `toolwright` is compiled once.
    let build = folder.with_file_name("build");
    for (package, library) in PACKAGES {
        let mut rustdoc = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        rustdoc.args(["rustdoc", "--quiet", "--offline", "--lib", "--package", package, "--"]);
        // The flags that cargo-semver-checks passes. The format is unstable.
        rustdoc.args(["-Zunstable-options", "--output-format=json", "--document-private-items"]);
        rustdoc
            .args(["--cap-lints=allow"])
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_DIR", &build);
        output(rustdoc.current_dir(folder))?;
        let file = format!("{library}.json");
        fs::copy(build.join("doc").join(&file), folder.join(&file)).map_err(context(&file))?;
    }
    Ok(folder.to_owned())
}

/// Returns the class for Rust in the last line of `toolwright diff`.
fn predicted(old: &Path, new: &Path) -> Result<Class, String> {
    let mut diff = toolwright();
    diff.arg("diff").arg(old.join("toolwright.lock")).arg(new.join("toolwright.lock"));
    let output = output(diff.args(["--format", "json"]).current_dir(new))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let class = printed
        .rsplit_once("\"rust\":\"")
        .map(|(_, class)| class.trim_end_matches(['"', '}', '\n']));
    match class {
        Some("none" | "patch") => Ok(Class::Patch),
        Some("minor") => Ok(Class::Minor),
        Some("major") => Ok(Class::Major),
        _ => Err(format!("`toolwright diff` has no class for Rust: {printed}")),
    }
}

/// Returns the highest verdict on the packages.
fn found(old: &Path, new: &Path) -> Result<Class, String> {
    let mut highest = Class::Patch;
    for (_, library) in PACKAGES {
        let file = |folder: &Path| folder.join(format!("{library}.json")).display().to_string();
        let (old, new) = (file(old), file(new));
        // As for a patch, so that it reports everything that needs more.
        let arguments = [
            "semver-checks",
            "--baseline-rustdoc",
            &old,
            "--current-rustdoc",
            &new,
            "--release-type",
            "patch",
        ];
        let output = CARGO_SEMVER_CHECKS
            .with(&arguments)?
            .output()
            .map_err(context("cargo-semver-checks"))?;
        let printed =
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let class = if printed.contains("semver requires new major version") {
            Class::Major
        } else if printed.contains("semver requires new minor version") {
            Class::Minor
        } else if printed.contains("no semver update required") {
            Class::Patch
        } else {
            return Err(format!("cargo-semver-checks has no verdict on {new}: {printed}"));
        };
        highest = highest.max(class);
    }
    Ok(highest)
}

fn toolwright() -> Command {
    let program = target().join("debug").join(format!("toolwright{}", env::consts::EXE_SUFFIX));
    Command::new(std::path::absolute(&program).unwrap_or(program))
}

/// Returns the output of a command that succeeds.
fn output(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(context(format!("{command:?}")))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)))
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        })
    }
}

fn context<E: std::fmt::Display>(of: impl std::fmt::Display) -> impl FnOnce(E) -> String {
    move |error| format!("{of}: {error}")
}
