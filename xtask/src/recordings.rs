//! `cargo xtask recordings`: reads the answers of providers that the package of genai has for its own tests.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::End;
use crate::command::Invocation;
use crate::tool::target;

/// The package with the recordings.
const PACKAGE: &str = "genai";
const VERSION: &str = "0.7.2";

pub(crate) fn run() -> End {
    let folder = match recordings() {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("error: {error}");
            return End::Failed;
        }
    };
    let test =
        Invocation::cargo(&["test", "--package", "toolwright-model", "--test", "it", "recorded::"]);
    println!("== {test}");
    test.in_environment("TOOLWRIGHT_RECORDINGS", folder).run()
}

/// Downloads the package, and returns the folder of its recordings.
fn recordings() -> Result<PathBuf, String> {
    // A package outside of the workspace that depends on it, so that it is in no lock file of ours.
    let project = target().join("recordings");
    let manifest = format!(
        "[package]\nname = \"recordings\"\nedition = \"2024\"\n\n[dependencies]\n{PACKAGE} = \"={VERSION}\"\n\n[workspace]\n"
    );
    let write = || {
        fs::create_dir_all(project.join("src"))?;
        fs::write(project.join("src/lib.rs"), "")?;
        fs::write(project.join("Cargo.toml"), manifest)
    };
    write().map_err(|error| format!("cannot create {}: {error}", project.display()))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--format-version", "1", "--quiet"];
    let output = Command::new(cargo).args(arguments).current_dir(&project).output();
    let output = output.map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo cannot download {PACKAGE} {VERSION}:\n{printed}"));
    }
    let metadata = String::from_utf8_lossy(&output.stdout);
    let end = format!("{PACKAGE}-{VERSION}/Cargo.toml");
    let manifest = metadata.split('"').find(|word| word.ends_with(&end));
    let manifest = manifest.ok_or_else(|| format!("cargo did not say where {PACKAGE} is"))?;
    Ok(PathBuf::from(manifest).with_file_name("tests/data/yakbak"))
}
