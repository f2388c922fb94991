//! Tests how `import mcp` writes and updates files. A case is a folder with `flags` (the first names a list in `lists/`),
//! `before.yaml` if the file exists, and the expected `after.yaml` and `output`. `UPDATE_EXPECT=1` writes expectations.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::expect::expect;
use super::{text, toolwright};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import").join(name)
}

fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder("cases")).unwrap();
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

/// A case in a temporary folder.
struct Case {
    place: tempfile::TempDir,
    flags: Vec<String>,
}

impl Case {
    fn of(case: &Path) -> Self {
        let place = tempfile::tempdir().unwrap();
        for list in fs::read_dir(folder("lists")).unwrap() {
            let list = list.unwrap();
            fs::copy(list.path(), place.path().join(list.file_name())).unwrap();
        }
        if let Ok(before) = fs::read(case.join("before.yaml")) {
            fs::write(place.path().join("pages.yaml"), before).unwrap();
        }
        let flags = fs::read_to_string(case.join("flags")).unwrap();
        let flags = flags.split_whitespace().map(|flag| flag.replace('"', ""));
        Self { place, flags: flags.collect() }
    }

    /// Runs the import, and returns its output and its exit code.
    fn run(&self) -> (String, Option<i32>) {
        let mut arguments = "import mcp --toolset pages --service wiki -o pages.yaml --tools-json"
            .split(' ')
            .collect::<Vec<_>>();
        arguments.extend(self.flags.iter().map(String::as_str));
        let output = toolwright(self.place.path(), &arguments);
        let mut printed = format!("exit code {}\n", output.status.code().unwrap());
        for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            if !bytes.is_empty() {
                write!(printed, "--- {stream}\n{}", text(bytes)).unwrap();
            }
        }
        (printed, output.status.code())
    }

    fn file(&self) -> Option<String> {
        fs::read_to_string(self.place.path().join("pages.yaml")).ok()
    }
}

#[test]
fn imports_update_files_and_keep_edits() {
    let mut wrong = Vec::new();
    for path in cases() {
        let case = Case::of(&path);
        let before = case.file();
        let (printed, code) = case.run();
        expect(&path.join("output"), &printed, &mut wrong);
        if code == Some(0) {
            expect(&path.join("after.yaml"), &case.file().unwrap(), &mut wrong);
            let check = toolwright(case.place.path(), &["check", "pages.yaml"]);
            assert_eq!(check.status.code(), Some(0), "{}: {}", path.display(), text(&check.stderr));
            let (again, code) = case.run();
            assert_eq!(code, Some(0), "{}: {again}", path.display());
            let is_still = again.contains(", no change: ") || again.contains(" is up to date");
            assert!(is_still, "{}: {again}", path.display());
        } else {
            assert_eq!(case.file(), before, "{}: something was written", path.display());
        }
        let left = fs::read_dir(case.place.path()).unwrap();
        let left = left
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
        assert_eq!(left.count(), 0, "{}: a file was left behind", path.display());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
