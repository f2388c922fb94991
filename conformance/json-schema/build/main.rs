//! Compiles every schema of the corpora into `OUT_DIR` and records the outcome of each. A refusal or panic of the compiler does
//! not fail the build; the tests report it.

mod projects;
#[path = "../src/record.rs"]
#[expect(unreachable_pub, reason = "the crate itself publishes this file")]
mod record;
mod servers;
mod suite;
mod yaml_text;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use projects::Projects;
use record::{Area, Record};

/// The corpora, relative to this package's folder. They are not part of the repository.
const CORPORA: &str = "../../../shared/corpus";

fn main() -> Result<(), Box<dyn Error>> {
    let mut projects = Projects::new(PathBuf::from(env::var("OUT_DIR")?).join("projects"))?;
    let kept = Path::new("cases");
    let corpora = Path::new(CORPORA);
    // Cargo reruns this script at every build while a folder is missing, so corpora that appear later are found.
    for folder in [kept, corpora] {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    let mut record = Record { has_corpora: corpora.is_dir(), sources: Vec::new() };
    record.sources.extend(suite::compile(&kept.join("suite"), Area::Kept, &mut projects)?);
    record.sources.extend(servers::compile(kept, Area::Kept, &mut projects)?);
    if record.has_corpora {
        let suite = corpora.join("json-schema-test-suite/tests/draft2020-12");
        record.sources.extend(suite::compile(&suite, Area::Suite, &mut projects)?);
        record.sources.extend(servers::compile(corpora, Area::Servers, &mut projects)?);
    } else {
        println!("cargo::warning={CORPORA} does not exist: only the cases of this package are run");
    }
    projects.finish()?;
    let path = PathBuf::from(env::var("OUT_DIR")?).join("record.json");
    fs::write(path, serde_json::to_string(&record)?)?;
    Ok(())
}

/// The files below a folder with this extension, sorted by path; none if there is no such folder.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, extension)?);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
