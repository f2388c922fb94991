//! Output folders with obstacles, and full disks. The error names the cause, and nothing changes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use toolwright_prerequisites::{Prerequisite, has};

use crate::child::{Limits, toolwright};
use crate::project::{generator, schema, shell, tree};

const LIMITS: Limits = Limits { cpu_seconds: 20, megabytes: 1024 };

fn fifo(path: &Path) {
    let made = shell(path.parent().unwrap(), "mkfifo -- \"$1\"").arg(path).status().unwrap();
    assert!(made.success());
}

/// The obstacle, the function that creates it, the output folder, and a part of the expected error.
type Obstacle = (&'static str, fn(&Path), &'static str, &'static str);

const OBSTACLES: &[Obstacle] = &[
    ("the folder is a link", |at| symlink("elsewhere", at.join("gen")).unwrap(), "gen", "symlink"),
    (
        "the folder is a link to nothing",
        |at| symlink("nowhere", at.join("gen")).unwrap(),
        "gen",
        "symlink",
    ),
    (
        "the folder is a link to itself",
        |at| symlink("gen", at.join("gen")).unwrap(),
        "gen",
        "symlink",
    ),
    (
        "its parent is a link",
        |at| symlink("elsewhere", at.join("link")).unwrap(),
        "link/gen",
        "symlink",
    ),
    (
        "its parent's parent is a link",
        |at| symlink("elsewhere", at.join("link")).unwrap(),
        "link/a/gen",
        "symlink",
    ),
    (
        "its parent is a link out",
        |at| symlink("..", at.join("link")).unwrap(),
        "link/gen",
        "symlink",
    ),
    (
        "a file in it is a link",
        |at| in_gen(at, |out| symlink("../elsewhere/mine", out.join("x.rs")).unwrap()),
        "gen",
        "symlink",
    ),
    (
        "a generated file is a link",
        |at| {
            in_gen(at, |out| {
                fs::remove_file(out.join("a/tools/t/src/lib.rs")).unwrap();
                symlink("../../../../../elsewhere/mine", out.join("a/tools/t/src/lib.rs")).unwrap();
            });
        },
        "gen",
        "symlink",
    ),
    (
        "a folder in it is a link",
        |at| in_gen(at, |out| symlink("../elsewhere", out.join("a/b")).unwrap()),
        "gen",
        "symlink",
    ),
    (
        "its marker is a link",
        |at| {
            in_gen(at, |out| {
                fs::remove_file(out.join(".toolwright-output")).unwrap();
                symlink("../elsewhere/mine", out.join(".toolwright-output")).unwrap();
            });
        },
        "gen",
        "symlink",
    ),
    (
        "the lock is a link",
        |at| symlink("elsewhere/mine", at.join(".gen.toolwright-lock")).unwrap(),
        "gen",
        "symlink",
    ),
    ("the folder is a pipe", |at| fifo(&at.join("gen")), "gen", "not a folder"),
    ("the lock is a pipe", |at| fifo(&at.join(".gen.toolwright-lock")), "gen", "was not generated"),
    (
        "the lock is a folder",
        |at| fs::create_dir(at.join(".gen.toolwright-lock")).unwrap(),
        "gen",
        "was not generated",
    ),
    (
        "its marker is a pipe",
        |at| {
            in_gen(at, |out| {
                fs::remove_file(out.join(".toolwright-output")).unwrap();
                fifo(&out.join(".toolwright-output"));
            });
        },
        "gen",
        "was not generated",
    ),
    (
        "a generated file is a pipe",
        |at| {
            in_gen(at, |out| {
                fs::remove_file(out.join("a/tools/t/src/lib.rs")).unwrap();
                fifo(&out.join("a/tools/t/src/lib.rs"));
            });
        },
        "gen",
        "was not generated",
    ),
    ("its parent is a file", |_| (), "elsewhere/mine/gen", "elsewhere/mine"),
    ("its parent is a pipe", |at| fifo(&at.join("pipe")), "pipe/gen", "pipe"),
    ("the configuration is a pipe", |at| fifo(&at.join("toolwright.toml")), "gen", "regular file"),
];

/// Puts something into a generated folder.
fn in_gen(at: &Path, put: fn(&Path)) {
    assert!(generator(at, "one.yaml").output().unwrap().status.success());
    put(&at.join("gen"));
}

#[test]
fn an_obstacle_is_named_and_not_changed() {
    for (what, put, out, word) in OBSTACLES {
        let folder = project();
        put(folder.path());
        let before = tree(folder.path());
        let ended =
            toolwright(folder.path(), &["gen", "--schema", "other.yaml", "--out", out], LIMITS);
        assert_eq!(ended.status.code(), Some(3), "{what}: {} {}", ended.how(), ended.printed);
        assert!(ended.printed.contains(word), "{what}: {}", ended.printed);
        assert_eq!(tree(folder.path()), before, "{what}");
    }
}

#[test]
fn an_endless_device_is_not_read_as_a_list_or_an_api() {
    for arguments in [
        &["import", "mcp", "--toolset", "a", "--service", "a", "--tools-json", "/dev/zero"][..],
        &["import", "openapi", "/dev/zero", "--service", "a"],
    ] {
        let folder = project();
        let ended = toolwright(folder.path(), arguments, LIMITS);
        assert_eq!(
            ended.status.code(),
            Some(3),
            "{arguments:?}: {} {}",
            ended.how(),
            ended.printed
        );
        assert!(ended.printed.contains("more than 64 MiB"), "{arguments:?}: {}", ended.printed);
        assert!(ended.peak_megabytes < 200, "{arguments:?}: {} MB", ended.peak_megabytes);
    }
}

/// A pipe at a path that is not generated is kept like any other foreign file.
#[test]
fn a_foreign_pipe_is_kept() {
    let folder = project();
    in_gen(folder.path(), |out| fifo(&out.join("a/mine")));
    let before = tree(folder.path())[Path::new("gen/a/mine")].clone();
    let ended = toolwright(folder.path(), &["gen", "--schema", "other.yaml"], LIMITS);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.printed);
    assert_eq!(tree(folder.path())[Path::new("gen/a/mine")], before);
}

/// Creates two schemas, and a folder with a foreign file.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for word in ["one", "other"] {
        fs::write(folder.path().join(format!("{word}.yaml")), schema(3, word)).unwrap();
    }
    fs::write(folder.path().join("large.yaml"), schema(600, "large")).unwrap();
    fs::create_dir_all(folder.path().join("elsewhere/a")).unwrap();
    fs::write(folder.path().join("elsewhere/mine"), "mine").unwrap();
    folder
}

/// Mounts a small disk in a namespace of its own.
const IN_A_SMALL_DISK: &str = r#"
exec unshare --user --map-root-user --mount sh -c '
    mkdir disk && mount -t tmpfs -o size=OPTIONS tmpfs disk || exit 77
    cd disk
    "$0" gen --schema ../one.yaml || exit 78
    MOUNT
    find . | sort > /dev/shm/$$.list; find . -type f -exec cksum {} + | sort > /dev/shm/$$.before
    "$0" gen --schema ../large.yaml; code=$?
    find . -type f -exec cksum {} + | sort | cmp - /dev/shm/$$.before && find . | sort | cmp - /dev/shm/$$.list
    same=$?; rm /dev/shm/$$.*; [ $same = 0 ] && exit $code; exit 79
' "$0"
"#;

/// Runs the script, or records a skip and returns `None` if mounting is not allowed.
fn in_small_disk(options: &str, mount: &str) -> Option<Output> {
    if !has(&[Prerequisite::Mounts]) {
        return None;
    }
    let script = IN_A_SMALL_DISK.replace("OPTIONS", options).replace("MOUNT", mount);
    let folder = project();
    Some(shell(folder.path(), &script).output().unwrap())
}

#[test]
fn a_full_disk_is_an_error_and_the_old_tree_is_kept() {
    let Some(output) = in_small_disk("600k", ":") else { return };
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(printed.contains("No space left on device"), "{printed}");
}

#[test]
fn a_read_only_disk_is_an_error_and_the_old_tree_is_kept() {
    let Some(output) = in_small_disk("8m", "mount -o remount,ro tmpfs .") else { return };
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(printed.contains("Read-only file system"), "{printed}");
}

/// Works without namespaces: the size of files is limited.
#[test]
fn a_limit_of_file_sizes_is_an_error_and_the_old_tree_is_kept() {
    let folder = project();
    in_gen(folder.path(), |_| ());
    let before = tree(folder.path());
    // If the signal is ignored, the limit is an error of writing.
    let limited = "trap '' XFSZ; ulimit -f 4; exec \"$0\" gen --schema large.yaml";
    let output = shell(folder.path(), limited).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(printed.contains("File too large"), "{printed}");
    assert_eq!(tree(folder.path()), before);
}
