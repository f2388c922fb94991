//! Generators that are npm packages: installed into the target folder by the command, in the versions that
//! `peers/package.json` names. What cannot be installed is left out, never waited for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use toolwright_prerequisites::Npm;

use super::library::files;

/// Where the packages are pinned.
const PINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");

/// The version of BAML, which its input has to name.
pub const BAML_VERSION: &str = "0.226.2";

/// The packages, where they could be installed.
pub struct Peers {
    npm: Option<Npm>,
}

impl Peers {
    /// Installs what is not there yet, and says what cannot be.
    pub fn install(folder: &Path) -> (Self, Option<String>) {
        match Npm::install(Path::new(PINS), folder) {
            Ok(npm) => (Self { npm: Some(npm) }, None),
            Err(error) => (Self { npm: None }, Some(error.to_string())),
        }
    }

    pub(super) fn baml(&self, input: &Path) -> Option<Vec<OsString>> {
        let script = self.script("@boundaryml/baml/cli.js")?;
        let words = ["node".into(), script, "generate".into(), "--from".into(), input.into()];
        Some(words.into())
    }

    /// All documents in one run, every definition of each: runs a toolset take longer, as each starts node and reads
    /// quicktype.
    pub(super) fn quicktype(&self, input: &Path, out: &Path) -> io::Result<Option<Vec<OsString>>> {
        let Some(script) = self.script("quicktype/dist/index.js") else { return Ok(None) };
        fs::create_dir_all(out)?;
        let mut words: Vec<OsString> = vec!["node".into(), script, "--out".into()];
        words.push(out.join("types.rs").into());
        words.extend(["--lang", "rust", "--src-lang", "schema"].map(OsString::from));
        for mut document in files(input)?.into_iter().map(PathBuf::into_os_string) {
            document.push("#/definitions/");
            words.push(document);
        }
        Ok(Some(words))
    }

    fn script(&self, path: &str) -> Option<OsString> {
        self.npm.as_ref().map(|npm| npm.file(path).into_os_string())
    }
}

#[cfg(test)]
mod tests {
    use super::BAML_VERSION;
    use crate::generators::Generator;

    const PACKAGE: &str = include_str!("../../peers/package.json");

    #[test]
    fn versions_are_those_of_the_package() {
        for wanted in
            [format!("\"@boundaryml/baml\": \"{BAML_VERSION}\""), "\"quicktype\": \"26.".into()]
        {
            assert!(PACKAGE.contains(&wanted), "{wanted}");
        }
        assert_eq!(Generator::Quicktype.name(), "quicktype 26");
        assert!(BAML_VERSION.starts_with(Generator::Baml.name().trim_start_matches("BAML ")));
    }
}
