//! `cargo xtask ci`: the steps a change must pass, in the order that fails soonest, and what was skipped. Never changes
//! a file outside the target folder.

use toolwright_prerequisites::RECORD;

use crate::command::Invocation;
use crate::skipped::Skipped;
use crate::{End, generate};

/// Crates with examples in their docs; generated ones have none (`doctest = false`).
const DOC_TESTED: [&str; 4] =
    ["toolwright", "toolwright-codegen", "toolwright-runtime", "toolwright-mcp"];

/// What of the compiler a build script leaves out.
const FEATURES: [&str; 4] = ["language-schema", "patterns", "project", "reports"];

/// With `strict`, a run that skips anything fails, after all its steps.
pub(crate) fn run(strict: bool) -> End {
    let steps: [fn(&mut Skipped) -> Result<(), Failed>; 7] =
        [format, drift, lint, lint_features, test, doc_test, deny];
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
        Ok(words) => {
            println!("\nci: {words}");
            End::Done
        }
        Err(words) => {
            eprintln!("\nerror: {words}");
            End::Failed
        }
    }
}

/// What is said of a run at its end, and whether it passed.
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

fn lint(_: &mut Skipped) -> Result<(), Failed> {
    step(&Invocation::cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

/// The compiler as build scripts have it, and with each feature alone: with all of them, `lint` has seen it.
fn lint_features(_: &mut Skipped) -> Result<(), Failed> {
    let none = std::iter::once(Vec::new());
    let alone = FEATURES.iter().map(|feature| vec!["--features".to_owned(), (*feature).to_owned()]);
    none.chain(alone).try_for_each(|features| step(&lint_compiler(&features)))
}

fn lint_compiler(features: &[String]) -> Invocation {
    let compiler = ["clippy", "--package", "toolwright-codegen", "--no-default-features"];
    let denied = ["--", "-D", "warnings"].map(str::to_owned);
    Invocation::cargo(&compiler).with(features).with(&denied)
}

fn test(skipped: &mut Skipped) -> Result<(), Failed> {
    let nextest = Invocation::cargo(&["nextest", "run", "--workspace"]);
    let plain = Invocation::cargo(&["test", "--workspace", "--tests", "--bins"]);
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

fn deny(skipped: &mut Skipped) -> Result<(), Failed> {
    if !Invocation::cargo(&["deny", "--version"]).is_available() {
        skipped.step("cargo-deny is not installed: licenses, bans and sources were not checked");
        return Ok(());
    }
    step(&Invocation::cargo(&["deny", "check", "licenses", "bans", "sources"]))
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
    use super::{FEATURES, Failed, verdict};

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
    fn the_features_of_the_compiler_are_those_of_its_default() {
        let manifest = include_str!("../../../codegen/Cargo.toml");
        let expected = format!("default = {FEATURES:?}");
        assert!(manifest.lines().any(|line| line == expected), "{expected}");
        let section = manifest.split("[features]").nth(1).and_then(|rest| rest.split("\n[").next());
        let declared = section.unwrap_or_default().lines().filter(|line| line.contains(" = ["));
        assert_eq!(declared.count(), FEATURES.len() + 1);
    }
}
