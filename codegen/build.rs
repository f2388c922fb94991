//! Tells one build of the generator from another: a number made of all its own source texts, so that what an earlier
//! build generated is not taken for what this one would.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use xxhash_rust::xxh3::Xxh3Default;

fn main() -> io::Result<()> {
    let mut files = Vec::new();
    for folder in ["src", "templates"] {
        println!("cargo::rerun-if-changed={folder}");
        list(Path::new(folder), &mut files)?;
    }
    files.sort();
    let mut hash = Xxh3Default::new();
    hash.update(env::var("CARGO_PKG_VERSION").unwrap_or_default().as_bytes());
    for file in files {
        // The same on every system, and wherever the sources are.
        hash.update(file.to_string_lossy().replace('\\', "/").as_bytes());
        hash.update(&fs::read(file)?);
    }
    println!("cargo::rustc-env=TOOLWRIGHT_GENERATOR={:032x}", hash.digest128());
    Ok(())
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
