//! Generators that are npm packages: installed into the target folder by the command, in the versions that
//! `peers/package.json` names. What cannot be installed is left out, never waited for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use super::library::files;

const PACKAGE: &str = include_str!("../../peers/package.json");

/// The version of BAML, which its input has to name.
pub const BAML_VERSION: &str = "0.226.2";

/// Where the packages are.
#[derive(Debug)]
pub struct Peers {
    modules: PathBuf,
}

impl Peers {
    /// Installs what is not there yet, and says what cannot be.
    pub fn install(folder: &Path) -> (Self, Option<String>) {
        let peers = Self { modules: folder.join("node_modules") };
        (peers, install(folder).err().map(|error| error.to_string()))
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
        let script = self.modules.join(path);
        script.exists().then(|| script.into_os_string())
    }
}

fn install(folder: &Path) -> io::Result<()> {
    let installed = folder.join("node_modules/.installed");
    if fs::read_to_string(&installed).is_ok_and(|known| known == PACKAGE) {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    fs::write(folder.join("package.json"), PACKAGE)?;
    let status = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"])
        .arg("--silent")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match status {
        // Written last: what was interrupted is not taken for installed.
        Ok(status) if status.success() => fs::write(installed, PACKAGE),
        Ok(status) => Err(io::Error::other(format!("npm ended with {status}"))),
        Err(error) => Err(io::Error::new(error.kind(), format!("cannot run npm: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::{BAML_VERSION, PACKAGE};
    use crate::generators::Generator;

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
