//! Chores that run tests for longer, or more exactly, than CI does. Never a test of their own: each is in its crate, and
//! takes from the environment how long it is to run.

use crate::End;
use crate::command::Invocation;

const PAGE: &str = "docs/hostile-input.md";

/// The fuzz targets: tests of the root package.
const TARGETS: [&str; 3] = ["compile", "names", "decode"];

pub(crate) fn hostile() -> End {
    let page = std::path::absolute(PAGE).unwrap_or_else(|_| PAGE.into());
    let tests = ["test", "--release", "--package", "toolwright-cli", "--test", "hostile", "size::"];
    run(&Invocation::cargo(&tests).in_environment("TOOLWRIGHT_SIZES_PAGE", page))
}

pub(crate) fn torture() -> End {
    let tests =
        ["test", "--release", "--package", "toolwright-cli", "--test", "hostile", "killed::"];
    let shown = ["--".to_owned(), "--nocapture".to_owned()];
    run(&Invocation::cargo(&tests).with(&shown).in_environment("TOOLWRIGHT_KILLS", "300"))
}

pub(crate) fn fuzz(seconds: u64) -> End {
    let milliseconds = seconds.saturating_mul(1000).to_string();
    for target in TARGETS {
        let tests = ["test", "--release", "--package", "toolwright-examples", "--test", "fuzz"];
        let one = [target, "--", "--exact", "--nocapture"].map(str::to_owned);
        let invocation = Invocation::cargo(&tests)
            .with(&one)
            .in_environment("BOLERO_RANDOM_TEST_TIME_MS", &milliseconds);
        if !matches!(run(&invocation), End::Done) {
            return End::Failed;
        }
    }
    End::Done
}

fn run(invocation: &Invocation) -> End {
    println!("== {invocation}");
    match invocation.succeeds() {
        Ok(true) => End::Done,
        Ok(false) => End::Failed,
        Err(error) => {
            eprintln!("error: cannot run `{invocation}`: {error}");
            End::Io
        }
    }
}
