//! Tests that skips are printed and recorded. The test binary starts itself with an empty `PATH`, like a machine without the
//! programs.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use toolwright_prerequisites::{
    NotInstalled, Npm, Prerequisite, PyPi, RECORD, Skip, has, or_skip, read, skip,
};

/// Set in the process that [`child`] starts.
const IN_CHILD: &str = "TOOLWRIGHT_SKIPS_CHILD";

const PROGRAMS: [Prerequisite; 6] = [
    Prerequisite::Git,
    Prerequisite::Mounts,
    Prerequisite::Node,
    Prerequisite::Python,
    Prerequisite::Taskset,
    Prerequisite::Venv,
];

/// Runs one test of this binary with an empty `PATH`. Returns the recorded skips and the standard error.
fn child(test: &str) -> (Vec<Skip>, String) {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("skipped");
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", test])
        .env("PATH", folder.path())
        .env(IN_CHILD, folder.path())
        .env(RECORD, &record)
        .env("CARGO_PKG_NAME", "tried")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}{}", String::from_utf8_lossy(&output.stdout));
    (read(&record).unwrap(), stderr)
}

#[test]
fn every_missing_program_is_recorded_with_its_test_and_printed() {
    const NAME: &str = "every_missing_program_is_recorded_with_its_test_and_printed";
    if env::var_os(IN_CHILD).is_some() {
        assert!(!has(&PROGRAMS));
        return;
    }
    let (skips, stderr) = child(NAME);
    let mut reasons = PROGRAMS.map(Prerequisite::reason);
    reasons.sort_unstable();
    assert_eq!(skips.iter().map(|skip| skip.reason.as_str()).collect::<Vec<_>>(), reasons);
    assert!(skips.iter().all(|skip| skip.package == "tried" && skip.test == NAME), "{skips:?}");
    // The harness hides the captured output of a passing test, but not this.
    for reason in reasons {
        assert!(stderr.contains(&format!("skipped: {NAME}: {reason}\n")), "{stderr}");
    }
}

#[test]
fn packages_that_cannot_be_installed_here_are_a_skip() {
    const NAME: &str = "packages_that_cannot_be_installed_here_are_a_skip";
    if let Some(folder) = env::var_os(IN_CHILD) {
        let folder = Path::new(&folder);
        assert!(or_skip(Npm::install(folder, folder)).is_none());
        assert!(or_skip(PyPi::install(folder, folder)).is_none());
        return;
    }
    let (skips, _) = child(NAME);
    let reasons: Vec<&str> = skips.iter().map(|skip| skip.reason.as_str()).collect();
    assert_eq!(reasons, [Prerequisite::Node.reason(), Prerequisite::Venv.reason()]);
}

/// Missing files of versions are a mistake of the test.
#[test]
fn other_errors_of_an_installation_are_not_a_skip() {
    if !has(&[Prerequisite::Node]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let installed = Npm::install(&folder.path().join("no/pins"), &folder.path().join("packages"));
    assert!(matches!(installed, Err(NotInstalled::Failed(_))));
}

#[test]
fn a_test_with_all_its_prerequisites_records_no_skip() {
    const NAME: &str = "a_test_with_all_its_prerequisites_records_no_skip";
    if env::var_os(IN_CHILD).is_some() {
        assert!(has(&[]));
        return;
    }
    assert_eq!(child(NAME).0, []);
}

#[test]
fn a_reason_is_listed_once_for_each_test() {
    const NAME: &str = "a_reason_is_listed_once_for_each_test";
    if env::var_os(IN_CHILD).is_some() {
        skip("no moon");
        skip("no moon");
        return;
    }
    let (skips, _) = child(NAME);
    let expected = Skip { reason: "no moon".into(), package: "tried".into(), test: NAME.into() };
    assert_eq!(skips, [expected]);
}

#[test]
fn a_malformed_record_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("skipped");
    fs::write(&record, "no tabs\n").unwrap();
    let error = read(&record).unwrap_err().to_string();
    assert_eq!(error, "found `no tabs`, expected a reason, a package and a test");
}
