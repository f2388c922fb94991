//! Tasks that run tests longer or with more input than CI. The tests are in their crates, and read the size of the run from
//! environment variables.

use std::path::Path;

use crate::End;
use crate::command::Invocation;

const PAGE: &str = "docs/hostile-input.md";

pub(crate) fn hostile() -> End {
    let page = std::path::absolute(PAGE).unwrap_or_else(|_| PAGE.into());
    let tests = ["test", "--release", "--package", "toolwright-cli", "--test", "hostile", "--"];
    // CPU time is compared and limited, so nothing runs beside.
    let tests = Invocation::cargo(&tests).with(&["--test-threads=1".to_owned()]);
    let sizes = tests.clone().with(&["size::".to_owned()]);
    match run(&sizes.in_environment("TOOLWRIGHT_SIZES_PAGE", page)) {
        End::Done => {}
        end => return end,
    }
    let others = ["costs::", "words::"].map(str::to_owned);
    run(&tests.with(&others).in_environment("TOOLWRIGHT_ALL_TEXTS", "1"))
}

pub(crate) fn dialects(peers: bool) -> End {
    let module = if peers { "peers::" } else { "corpus::" };
    let tests = ["test", "--release", "--package", "toolwright-dialect", "--test", "it", module];
    run(&Invocation::cargo(&tests)
        .in_environment("TOOLWRIGHT_EVERY_TOOL", "1")
        .in_environment("UPDATE_EXPECT", "1"))
}

pub(crate) fn contract_peers() -> End {
    let tests = ["test", "--package", "toolwright-lock", "--test", "it", "peers::"];
    run(&Invocation::cargo(&tests)
        .in_environment("TOOLWRIGHT_PEERS", "1")
        .in_environment("UPDATE_EXPECT", "1"))
}

pub(crate) fn corpus(lists: &Path) -> End {
    let lists = std::path::absolute(lists).unwrap_or_else(|_| lists.to_owned());
    let tests = ["test", "--package", "toolwright-import", "--test", "lists", "mutated::"];
    let mutated = Invocation::cargo(&tests)
        .in_environment("TOOLWRIGHT_LISTS", &lists)
        .in_environment("TOOLWRIGHT_MUTANTS", "500");
    // The schemas of the official suite, if they are beside the lists.
    let suite = lists.with_file_name("json-schema-test-suite").join("tests/draft2020-12");
    let mutated = if suite.is_dir() {
        mutated.in_environment("TOOLWRIGHT_SCHEMAS", suite)
    } else {
        println!(
            "corpus: {} does not exist, so no schemas of the suite are tried",
            suite.display()
        );
        mutated
    };
    let tests = ["test", "--package", "toolwright-import", "--test", "suspicions"];
    let suspicions = Invocation::cargo(&tests).in_environment("TOOLWRIGHT_LISTS", &lists);
    let tests = ["test", "--package", "toolwright-cli", "--test", "import", "corpus::"];
    let imported = Invocation::cargo(&tests).in_environment("TOOLWRIGHT_LISTS", &lists);
    for tests in [mutated, suspicions, imported] {
        match run(&tests) {
            End::Done => {}
            end => return end,
        }
    }
    End::Done
}

pub(crate) fn torture() -> End {
    let tests =
        ["test", "--release", "--package", "toolwright-cli", "--test", "hostile", "killed::"];
    let shown = ["--".to_owned(), "--nocapture".to_owned()];
    run(&Invocation::cargo(&tests).with(&shown).in_environment("TOOLWRIGHT_KILLS", "300"))
}

pub(crate) fn fuzz(seconds: u64) -> End {
    // A development build also finds overflows, and is usually built already.
    let tests = ["test", "--package", "toolwright-examples", "--test", "it", "fuzz::"];
    // One target after the other, so that each has all processors.
    let shown = ["--", "--nocapture", "--test-threads", "1"].map(str::to_owned);
    let seconds = seconds.to_string();
    run(&Invocation::cargo(&tests).with(&shown).in_environment("TOOLWRIGHT_FUZZ_SECONDS", seconds))
}

/// Fails if a mutant survives that .cargo/mutants.toml does not list.
pub(crate) fn mutants(files: &[String]) -> End {
    let package = ["mutants", "--package", "toolwright-runtime", "--all-features"];
    let tests = ["--test-tool", "nextest", "--timeout", "600", "--output", "target"];
    let places = ["run", "approval", "tools"];
    let places = places.map(|place| format!("crates/toolwright-runtime/src/{place}/**"));
    let files = if files.is_empty() { places.as_slice() } else { files };
    let chosen: Vec<_> =
        files.iter().flat_map(|file| ["--file".to_owned(), file.clone()]).collect();
    let invocation = Invocation::cargo(&package).with(&tests.map(str::to_owned)).with(&chosen);
    // Without debug information, linking is faster.
    let invocation = invocation.in_environment("CARGO_PROFILE_DEV_DEBUG", "0");
    // The profile in .config/nextest.toml ends tests that hang; the time limit above is for builds.
    run(&invocation.in_environment("NEXTEST_PROFILE", "mutants"))
}

fn run(invocation: &Invocation) -> End {
    println!("== {invocation}");
    invocation.run()
}
