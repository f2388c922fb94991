//! `cargo xtask sbom`: writes a bill of materials for each published crate to `target/sbom`. cargo-cyclonedx writes one beside
//! the manifest of every crate of the workspace; this task moves those of published crates and removes the others.

use std::path::Path;
use std::{fs, io};

use crate::End;
use crate::tool::{CARGO_CYCLONEDX, target};

/// The name of the files that the program writes.
const NAME: &str = "toolwright-sbom";

pub(crate) fn run() -> End {
    let what = ["--format", "json", "--spec-version", "1.5", "--all-features", "--target", "all"];
    let arguments = [&["cyclonedx", "--quiet", "--override-filename", NAME], &what[..]].concat();
    let written = match CARGO_CYCLONEDX.with(&arguments).map(|cyclonedx| cyclonedx.succeeds()) {
        Ok(Ok(true)) => collect(Path::new("."), &target().join("sbom")),
        Ok(Ok(false)) => return End::Failed,
        Ok(Err(error)) => Err(error),
        Err(error) => {
            eprintln!("error: {error}");
            return End::Io;
        }
    };
    match written {
        Ok(count) => {
            println!("sbom: {count} files in {}", target().join("sbom").display());
            End::Done
        }
        Err(error) => {
            eprintln!("error: cannot collect the files of cargo-cyclonedx: {error}");
            End::Io
        }
    }
}

/// Moves the files of published crates to a folder. Returns their number.
fn collect(root: &Path, to: &Path) -> io::Result<usize> {
    fs::create_dir_all(to)?;
    let here = std::path::absolute(Path::new("."))?.display().to_string();
    let mut count = 0;
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_ours = !name.to_string_lossy().starts_with('.') && name != "target";
            if entry.file_type()?.is_dir() && is_ours {
                folders.push(folder.join(name));
            }
        }
        let file = folder.join(format!("{NAME}.json"));
        let Ok(text) = fs::read_to_string(&file) else { continue };
        fs::remove_file(&file)?;
        let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
        if let Some(name) = published(&manifest) {
            // The ids of packages contain their folders on this machine.
            let text = text.replace(&here, "");
            fs::write(to.join(format!("{name}.cdx.json")), text)?;
            count += 1;
        }
    }
    Ok(count)
}

/// The name of a crate, if it is published.
pub(crate) fn published(manifest: &str) -> Option<&str> {
    let is_kept = manifest.lines().any(|line| line == "publish = false");
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = "))?;
    (!is_kept).then_some(name.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bills_of_published_crates_are_kept_and_those_of_others_removed() {
        let folder = target().join("sbom-test");
        let _ = fs::remove_dir_all(&folder);
        for (path, publish) in [("a/one", ""), ("a/two", "publish = false\n")] {
            let folder = folder.join(path);
            fs::create_dir_all(&folder).unwrap();
            let manifest = format!("[package]\nname = \"{}\"\n{publish}", &path[2..]);
            fs::write(folder.join("Cargo.toml"), manifest).unwrap();
            fs::write(folder.join(format!("{NAME}.json")), "{}").unwrap();
        }
        let to = folder.join("bills");
        assert_eq!(collect(&folder, &to).unwrap(), 1);
        let left = |path: &str| folder.join(path).exists();
        assert!(left("bills/one.cdx.json") && !left("bills/two.cdx.json"));
        assert!(!left("a/one/toolwright-sbom.json") && !left("a/two/toolwright-sbom.json"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
