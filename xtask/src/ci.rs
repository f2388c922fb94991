//! `cargo xtask ci`: runs the checks that a change must pass, the fastest first, and lists what was skipped. It writes only to
//! the target folder.

use toolwright_prerequisites::{Prerequisite, RECORD};

use crate::command::Invocation;
use crate::skipped::Skipped;
use crate::tool::{CARGO_DENY, CARGO_SEMVER_CHECKS};
use crate::{End, generate, msrv, semver, start};

/// The crates with examples in their docs. Generated crates have none (`doctest = false`).
const DOC_TESTED: [&str; 19] = [
    "toolwright",
    "toolwright-agents",
    "toolwright-async-openai",
    "toolwright-builtins",
    "toolwright-chat",
    "toolwright-dialect",
    "toolwright-codegen",
    "toolwright-genai",
    "toolwright-http",
    "toolwright-import",
    "toolwright-lock",
    "toolwright-macros",
    "toolwright-mcp",
    "toolwright-model",
    "toolwright-model-stage",
    "toolwright-nats",
    "toolwright-restate",
    "toolwright-rig",
    "toolwright-runtime",
];

/// The features of the contract.
const CONTRACT_FEATURES: [&str; 9] =
    ["patterns", "redaction", "digests", "index", "testing", "chrono", "jiff", "time", "uuid"];

/// The features of the built-in toolsets.
const BUILTIN_FEATURES: [&str; 4] = ["files", "shell", "fetch", "tls"];

/// The wires of models, their client and their planner.
const MODEL_FEATURES: [&str; 8] = [
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "bedrock",
    "client",
    "planner",
    "sigv4",
];

/// The feature of the command with the MCP client, which its tests need.
const CLIENT: &str = "toolwright-cli/mcp";

/// The features of the compiler, which build scripts turn off.
const COMPILER_FEATURES: [&str; 4] = ["language-schema", "patterns", "project", "reports"];

/// Runs all steps. With `strict`, the run fails at its end if anything was skipped.
pub(crate) fn run(strict: bool) -> End {
    let steps: [fn(&mut Skipped) -> Result<(), Failed>; 11] = [
        format,
        drift,
        lint,
        lint_features,
        engines,
        test,
        lock,
        doc_test,
        oldest_rust,
        semver,
        deny,
    ];
    let ended = Skipped::begin().and_then(|mut skipped| {
        let ended = steps.iter().try_for_each(|step| step(&mut skipped));
        Ok((ended, skipped.list()?))
    });
    let (ended, skipped) = match ended {
        Ok(ended) => ended,
        Err(error) => {
            eprintln!("\nerror: cannot keep the record of skips: {error}");
            return End::Io;
        }
    };
    if !skipped.is_empty() {
        print!("\nskipped:\n{skipped}");
    }
    match verdict(ended, skipped.is_empty(), strict) {
        Ok(message) => {
            println!("\nci: {message}");
            End::Done
        }
        Err(message) => {
            eprintln!("\nerror: {message}");
            End::Failed
        }
    }
}

/// The last message of a run, and whether the run passed.
fn verdict(
    ended: Result<(), Failed>,
    nothing_skipped: bool,
    strict: bool,
) -> Result<&'static str, String> {
    match ended {
        Err(Failed { step }) => Err(format!("ci stopped at `{step}`")),
        Ok(()) if nothing_skipped => Ok("everything passed, nothing was skipped"),
        Ok(()) if strict => {
            Err("everything that ran passed, but `--strict` allows no skip".to_owned())
        }
        Ok(()) => Ok("everything that ran passed"),
    }
}

struct Failed {
    step: String,
}

fn format(_: &mut Skipped) -> Result<(), Failed> {
    step(&Invocation::cargo(&["fmt", "--all", "--check"]))
}

fn drift(_: &mut Skipped) -> Result<(), Failed> {
    let name = "cargo xtask gen --check";
    heading(name);
    match generate::run(true) {
        End::Done => Ok(()),
        _ => Err(Failed { step: name.to_owned() }),
    }
}

/// Compares the tools of this repository with toolwright.lock.
fn lock(_: &mut Skipped) -> Result<(), Failed> {
    step(&Invocation::cargo(&[
        "run",
        "--quiet",
        "--package",
        "toolwright-cli",
        "--",
        "lock",
        "--check",
    ]))
}

fn lint(_: &mut Skipped) -> Result<(), Failed> {
    let lint = Invocation::cargo(&["clippy", "--workspace", "--all-targets", "--features", CLIENT]);
    step(&lint.with(&["--", "-D", "warnings"].map(str::to_owned)))
}

/// Lints the contract, the built-in toolsets, the compiler and models without features and with each feature alone, and the
/// stage and the command without features. The step `lint` has all features, as the tests of the workspace turn them on.
fn lint_features(_: &mut Skipped) -> Result<(), Failed> {
    lint_each_alone("toolwright", &CONTRACT_FEATURES)?;
    lint_each_alone("toolwright-builtins", &BUILTIN_FEATURES)?;
    lint_each_alone("toolwright-codegen", &COMPILER_FEATURES)?;
    lint_each_alone("toolwright-model", &MODEL_FEATURES)?;
    lint_each_alone("toolwright-model-stage", &[])?;
    lint_each_alone("toolwright-cli", &["tokens"])
}

fn lint_each_alone(package: &str, features: &[&str]) -> Result<(), Failed> {
    let none = std::iter::once(Vec::new());
    let alone = features.iter().map(|feature| vec!["--features".to_owned(), (*feature).to_owned()]);
    none.chain(alone).try_for_each(|features| {
        let lint = Invocation::cargo(&["clippy", "--package", package, "--no-default-features"]);
        let denied = ["--", "-D", "warnings"].map(str::to_owned);
        step(&lint.with(&features).with(&denied))
    })
}

/// Installs the servers that tests of remote toolsets start. Without them, these tests are skipped.
fn engines(skipped: &mut Skipped) -> Result<(), Failed> {
    let needed = [Prerequisite::Node, Prerequisite::Venv];
    if let Some(missing) = needed.iter().find(|needed| !needed.is_there()) {
        skipped.step(&format!("{}: NATS and Restate were not installed", missing.reason()));
        return Ok(());
    }
    let install = start::engines(true);
    heading(&install.to_string());
    match install.succeeds() {
        Ok(true) => {}
        Ok(false) => skipped.step(&format!("`{install}` failed: see its message")),
        Err(error) => return Err(Failed { step: format!("{install} ({error})") }),
    }
    Ok(())
}

fn test(skipped: &mut Skipped) -> Result<(), Failed> {
    let nextest = Invocation::cargo(&["nextest", "run", "--workspace", "--features", CLIENT]);
    let plain = ["test", "--workspace", "--tests", "--bins", "--features", CLIENT];
    let plain = Invocation::cargo(&plain);
    let installed = Invocation::cargo(&["nextest", "--version"]).is_available();
    if !installed {
        println!("\nnote: cargo-nextest is not installed, so `cargo test` runs the tests");
    }
    let tests = if installed { nextest } else { plain };
    step(&tests.in_environment(RECORD, skipped.record()))
}

fn doc_test(_: &mut Skipped) -> Result<(), Failed> {
    let packages = DOC_TESTED.iter().flat_map(|name| ["--package".to_owned(), (*name).to_owned()]);
    step(&Invocation::cargo(&["test", "--doc"]).with(&packages.collect::<Vec<_>>()))
}

fn oldest_rust(skipped: &mut Skipped) -> Result<(), Failed> {
    match msrv::check(None) {
        Ok(check) => step(&check),
        Err(reason) => {
            skipped.step(&reason);
            Ok(())
        }
    }
}

/// Compares predicted changes of the Rust API with cargo-semver-checks, if it is installed: building it takes minutes.
fn semver(skipped: &mut Skipped) -> Result<(), Failed> {
    if !CARGO_SEMVER_CHECKS.is_installed() {
        skipped.step("cargo-semver-checks is not installed: `cargo xtask semver` installs it and compares predicted changes of the Rust API");
        return Ok(());
    }
    let name = "cargo xtask semver";
    heading(name);
    match semver::run() {
        End::Done => Ok(()),
        _ => Err(Failed { step: name.to_owned() }),
    }
}

fn deny(skipped: &mut Skipped) -> Result<(), Failed> {
    let check = ["--workspace", "check", "--hide-inclusion-graph"];
    let invocation = |more: &[&str]| CARGO_DENY.with(&[&check, more].concat());
    match invocation(&["licenses", "bans", "sources"]) {
        Ok(deny) => step(&deny)?,
        Err(error) => {
            skipped
                .step(&format!("{error}: licenses, bans, sources and advisories were not checked"));
            return Ok(());
        }
    }
    let fetched = CARGO_DENY.with(&["fetch", "db"]).is_ok_and(|fetch| fetch.is_available());
    match invocation(&["advisories"]) {
        Ok(deny) if fetched => step(&deny),
        _ => {
            skipped
                .step("the database of RustSec could not be fetched: advisories were not checked");
            Ok(())
        }
    }
}

fn step(invocation: &Invocation) -> Result<(), Failed> {
    heading(&invocation.to_string());
    match invocation.succeeds() {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failed { step: invocation.to_string() }),
        Err(error) => Err(Failed { step: format!("{invocation} ({error})") }),
    }
}

fn heading(command: &str) {
    println!("\n== {command}");
}

#[cfg(test)]
mod tests {
    use super::{BUILTIN_FEATURES, COMPILER_FEATURES, CONTRACT_FEATURES, Failed, verdict};

    #[test]
    fn a_skip_fails_a_strict_run_alone_and_a_failed_step_every_run() {
        for (nothing_skipped, strict, passes) in
            [(true, true, true), (true, false, true), (false, false, true), (false, true, false)]
        {
            let judged = verdict(Ok(()), nothing_skipped, strict);
            assert_eq!(judged.is_ok(), passes, "{nothing_skipped} {strict}: {judged:?}");
            let failed = Failed { step: "cargo fmt".to_owned() };
            assert!(verdict(Err(failed), nothing_skipped, strict).is_err());
        }
    }

    #[test]
    fn every_feature_that_is_linted_alone_is_declared_and_the_reverse() {
        let compiler = include_str!("../../codegen/Cargo.toml");
        assert_eq!(declared(compiler), [&["default"], &COMPILER_FEATURES[..]].concat());
        let expected = format!("default = {COMPILER_FEATURES:?}");
        assert!(compiler.lines().any(|line| line == expected), "{expected}");
        let contract = include_str!("../../crates/toolwright/Cargo.toml");
        assert_eq!(declared(contract), CONTRACT_FEATURES);
        let builtins = include_str!("../../crates/toolwright-builtins/Cargo.toml");
        assert_eq!(declared(builtins), BUILTIN_FEATURES);
    }

    /// The names in the section `[features]` of a manifest.
    fn declared(manifest: &str) -> Vec<&str> {
        let section = manifest.split("[features]").nth(1).and_then(|rest| rest.split("\n[").next());
        let lines = section.unwrap_or_default().lines();
        lines.filter_map(|line| Some(line.split_once(" = [")?.0)).collect()
    }
}
