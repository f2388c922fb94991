//! Generators that are npm packages. They are installed into the target folder in the versions of `peers/package.json`, and
//! left out if that fails.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use toolwright_prerequisites::Npm;

use super::library::files;

/// The folder of `package.json`, which pins the versions.
const PINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");

/// The version of BAML, which its input has to contain.
pub const BAML_VERSION: &str = "0.226.2";

/// The npm packages, if they could be installed.
pub struct Peers {
    npm: Option<Npm>,
}

impl Peers {
    /// Installs the packages if needed. If that fails, also returns the reason.
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

    /// Returns the command for all definitions of all documents in one run. A run for each toolset would take longer, since
    /// each starts node and loads quicktype.
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
    fn versions_in_names_are_those_of_the_npm_package() {
        for wanted in
            [format!("\"@boundaryml/baml\": \"{BAML_VERSION}\""), "\"quicktype\": \"26.".into()]
        {
            assert!(PACKAGE.contains(&wanted), "{wanted}");
        }
        assert_eq!(Generator::Quicktype.name(), "quicktype 26");
        assert!(BAML_VERSION.starts_with(Generator::Baml.name().trim_start_matches("BAML ")));
    }
}
