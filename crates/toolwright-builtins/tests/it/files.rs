//! Tests of `files`: reading, searching and writing, and attempts to leave the folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::{FailureKind, Recovery};
use toolwright_builtins::files::Files;

use crate::call;

/// A folder, and a secret file outside of it.
struct Place {
    outer: TempDir,
}

impl Place {
    fn new() -> Self {
        let outer = tempfile::tempdir().unwrap();
        fs::create_dir_all(outer.path().join("root/sub")).unwrap();
        fs::create_dir(outer.path().join("outside")).unwrap();
        fs::write(outer.path().join("outside/secret"), "outside").unwrap();
        Self { outer }
    }

    fn root(&self) -> std::path::PathBuf {
        self.outer.path().join("root")
    }

    fn secret(&self) -> String {
        fs::read_to_string(self.outer.path().join("outside/secret")).unwrap()
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.root().join(path), bytes).unwrap();
    }

    fn files(&self) -> Files {
        Files::below(self.root()).unwrap().with_writing()
    }
}

#[tokio::test]
async fn r5_a_file_can_be_read_in_parts() {
    let place = Place::new();
    let text = "dies ist groß, 中文, 🦀\n".repeat(40) + &"é".repeat(100);
    place.write("text", &text);
    for limit in [7, 64, 1000, 10_000] {
        let files = place.files().with_read_limit(limit).toolset();
        let (mut read, mut offset) = (String::new(), json!(0));
        while offset.is_number() {
            let piece = call(&files, "read_file", json!({ "path": "text", "offset": offset }))
                .await
                .unwrap();
            let piece_text = piece["text"].as_str().unwrap();
            assert!(!piece_text.is_empty() && piece_text.len() <= limit, "{limit}: {piece}");
            assert_eq!(piece["size"], text.len());
            read.push_str(piece_text);
            offset = piece["next_offset"].clone();
        }
        assert_eq!(read, text, "{limit}");
    }
    let files = place.files().toolset();
    let beyond = call(&files, "read_file", json!({ "path": "text", "offset": 1_u64 << 40 }))
        .await
        .unwrap_err();
    assert!(beyond.message.ends_with("and not 1099511627776"), "{beyond}");
}

#[tokio::test]
async fn r5_a_binary_file_is_refused() {
    let place = Place::new();
    for (name, bytes) in [("nul", &b"ab\0c"[..]), ("latin", b"caf\xe9"), ("cut", b"caf\xc3")] {
        place.write(name, bytes);
        let failure =
            call(&place.files().toolset(), "read_file", json!({ "path": name })).await.unwrap_err();
        assert!(failure.message.contains("is binary or not in UTF-8"), "{name}: {failure}");
    }
}

/// A file of a terabyte is not loaded or searched.
#[tokio::test]
async fn r5_a_huge_file_is_read_up_to_the_limit() {
    let place = Place::new();
    place.write("huge", "hello\n");
    let file = fs::OpenOptions::new().write(true).open(place.root().join("huge")).unwrap();
    file.set_len(1 << 40).unwrap();
    let since = Instant::now();
    let files = place.files().with_read_limit(6).toolset();
    let read = call(&files, "read_file", json!({ "path": "huge" })).await.unwrap();
    assert_eq!(read, json!({ "text": "hello\n", "size": 1_u64 << 40, "next_offset": 6 }));
    let found = call(&files, "search_files", json!({ "pattern": "hello" })).await.unwrap();
    let none = json!({ "matches": [], "is_cut_off": false, "skipped": 1, "skipped_lines": 0 });
    assert_eq!(found, none);
    assert!(since.elapsed() < Duration::from_secs(20));
}

/// Calls with a path, for each tool.
fn calls(path: &str) -> [(&'static str, Value); 5] {
    [
        ("read_file", json!({ "path": path })),
        ("list_files", json!({ "path": path, "recursive": true })),
        ("search_files", json!({ "path": path, "pattern": "outside" })),
        ("write_file", json!({ "path": path, "text": "changed", "overwrite": true })),
        ("write_file", json!({ "path": path, "text": "changed" })),
    ]
}

/// R5: with `..`, absolute paths and links in any part of a path, nothing outside is read or changed.
#[tokio::test]
async fn r5_no_path_leads_out_of_the_folder() {
    let place = Place::new();
    let outside = place.outer.path().join("outside");
    for (target, link) in [
        (outside.join("secret").as_path(), "absolute_file"),
        (&outside, "absolute_folder"),
        (Path::new("../outside/secret"), "relative_file"),
        (Path::new("../outside"), "relative_folder"),
        (Path::new("relative_folder"), "twice"),
        (Path::new("sub/../../outside"), "through"),
        (Path::new("/proc/self/root"), "magic"),
    ] {
        symlink(target, place.root().join(link)).unwrap();
    }
    let absolute = outside.join("secret");
    let files = place.files().toolset();
    let paths = [
        "../outside/secret",
        "sub/../../outside/secret",
        "../root/../outside/secret",
        "/etc/passwd",
        "//etc/passwd",
        absolute.to_str().unwrap(),
        "absolute_file",
        "relative_file",
        "absolute_folder/secret",
        "relative_folder/secret",
        "twice/secret",
        "through/secret",
        "through/new",
        "relative_folder/new/file",
        "magic/etc/passwd",
        "..",
        "../outside",
        "relative_folder",
        "sub/../..",
        "/",
        "absolute_folder",
        "./../outside",
    ];
    for path in paths {
        for (tool, args) in calls(path) {
            let outcome = call(&files, tool, args).await;
            let failure = outcome.expect_err(&format!("{tool} {path}"));
            assert!(
                matches!(failure.kind, FailureKind::Denied | FailureKind::DomainRejection),
                "{tool} {path}: {failure}"
            );
            let place = place.outer.path().to_str().unwrap();
            assert!(path.contains(place) || !failure.message.contains(place), "{failure}");
        }
        assert_eq!(place.secret(), "outside", "{path}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "{path}");
    }
    // Links are listed as links and not followed.
    let listed = call(&files, "list_files", json!({ "recursive": true })).await.unwrap();
    assert!(!listed.to_string().contains("secret"), "{listed}");
    let found = call(&files, "search_files", json!({ "pattern": "outside" })).await.unwrap();
    assert_eq!(found["matches"], json!([]));
}

#[tokio::test]
async fn r5_a_path_out_of_the_folder_is_denied_with_a_clear_message() {
    let failure =
        call(&Place::new().files().toolset(), "read_file", json!({ "path": "../outside/secret" }))
            .await
            .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Denied);
    assert_eq!(
        failure.message,
        "`../outside/secret` leads out of the folder, expected a path that stays below it"
    );
}

#[tokio::test]
async fn links_within_the_folder_are_followed() {
    let place = Place::new();
    place.write("sub/file", "inside");
    symlink("sub/file", place.root().join("link")).unwrap();
    let read =
        call(&place.files().toolset(), "read_file", json!({ "path": "link" })).await.unwrap();
    assert_eq!(read["text"], "inside");
}

/// R5: a folder is replaced by a link to the outside during calls.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn r5_a_link_created_during_a_call_does_not_lead_out_of_the_folder() {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{RenameFlags, renameat_with};

    let place = Place::new();
    let root = place.root();
    place.write("sub/secret", "inside");
    symlink(place.outer.path().join("outside"), root.join("link")).unwrap();
    let done = AtomicBool::new(false);
    let swap = || {
        let (sub, link) = (root.join("sub"), root.join("link"));
        while !done.load(Ordering::Relaxed) {
            renameat_with(CWD, &sub, CWD, &link, RenameFlags::EXCHANGE).unwrap();
        }
    };
    let files = place.files().toolset();
    let attack = async {
        let (mut read, mut refused) = (0, 0);
        let until = Instant::now() + Duration::from_secs(20);
        while (read < 200 || refused < 200) && Instant::now() < until {
            match call(&files, "read_file", json!({ "path": "sub/secret" })).await {
                Ok(text) => {
                    assert_ne!(text["text"], "outside");
                    read += 1;
                }
                Err(_) => refused += 1,
            }
            let args = json!({ "path": "sub/secret", "text": "inside", "overwrite": true });
            let _ = call(&files, "write_file", args).await;
            let found =
                call(&files, "search_files", json!({ "path": "sub", "pattern": "outside" })).await;
            assert!(found.is_err() || found.is_ok_and(|found| found["matches"] == json!([])));
        }
        (read, refused)
    };
    let (read, refused) = std::thread::scope(|threads| {
        threads.spawn(swap);
        let counts =
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(attack));
        done.store(true, Ordering::Relaxed);
        counts
    });
    assert_eq!(place.secret(), "outside");
    assert!(read > 0 && refused > 0, "both occurred: {read} reads, {refused} refusals");
}

#[tokio::test]
async fn r5_pipes_and_sockets_are_refused_without_waiting() {
    let place = Place::new();
    mknodat(CWD, place.root().join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _listener = UnixListener::bind(place.root().join("socket")).unwrap();
    let files = place.files().toolset();
    for path in ["pipe", "socket"] {
        for (tool, args) in calls(path) {
            let outcome =
                tokio::time::timeout(Duration::from_secs(10), call(&files, tool, args)).await;
            assert!(outcome.unwrap().is_err(), "{tool} {path}");
        }
    }
    let all = tokio::time::timeout(
        Duration::from_secs(10),
        call(&files, "search_files", json!({ "pattern": "x" })),
    );
    assert_eq!(all.await.unwrap().unwrap()["matches"], json!([]));
    let listed = call(&files, "list_files", json!({})).await.unwrap();
    let kinds: Vec<_> =
        listed["entries"].as_array().unwrap().iter().map(|entry| &entry["kind"]).collect();
    assert_eq!(kinds, ["other", "other", "folder"]);
}

/// R5: a hard link, which may be outside of the folder, keeps the old text.
#[tokio::test]
async fn r5_replacing_a_file_does_not_change_its_hard_links() {
    let place = Place::new();
    fs::hard_link(place.outer.path().join("outside/secret"), place.root().join("hard")).unwrap();
    let args = json!({ "path": "hard", "text": "changed", "overwrite": true });
    call(&place.files().toolset(), "write_file", args).await.unwrap();
    assert_eq!(place.secret(), "outside");
    assert_eq!(fs::read_to_string(place.root().join("hard")).unwrap(), "changed");
}

#[tokio::test]
async fn r5_files_are_written_in_new_folders_and_replaced_only_on_request() {
    let place = Place::new();
    let files = place.files().with_write_limit(10).toolset();
    let write = |path: &str, text: &str, overwrite: bool| {
        let args = json!({ "path": path, "text": text, "overwrite": overwrite });
        call(&files, "write_file", args)
    };
    assert_eq!(write("a/b/new", "one", false).await.unwrap(), json!({ "size": 3 }));
    let path = place.root().join("a/b/new");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let refused = write("a/b/new", "two", false).await.unwrap_err();
    assert_eq!(
        refused.message,
        "the file `a/b/new` already exists; choose another name, or set `overwrite` to replace it"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    write("a/b/new", "two", true).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    let refused = write("big", "12345678901", true).await.unwrap_err();
    assert_eq!(refused.message, "the text has 11 bytes, expected at most 10");
    for path in ["sub", "sub/", ".", "new/", "a/b/new/below"] {
        assert!(write(path, "x", true).await.is_err(), "{path}");
    }
    let names: Vec<_> = fs::read_dir(place.root().join("a/b")).unwrap().collect();
    assert_eq!(names.len(), 1, "no temporary file is left");
}

#[tokio::test]
async fn r5_a_listing_is_sorted_and_limited() {
    let place = Place::new();
    place.write("b", "12");
    place.write("sub/c", "");
    place.write("a", "");
    let files = place.files();
    let listed = call(&files.toolset(), "list_files", json!({ "recursive": true })).await.unwrap();
    let file = |path: &str, size: u64| json!({ "path": path, "kind": "file", "size": size });
    let entries =
        json!([file("a", 0), file("b", 2), { "path": "sub", "kind": "folder" }, file("sub/c", 0)]);
    assert_eq!(listed, json!({ "entries": entries, "is_cut_off": false }));
    let listed = call(&files.toolset(), "list_files", json!({ "path": "sub" })).await.unwrap();
    assert_eq!(listed["entries"], json!([file("sub/c", 0)]));
    let few = files.with_listing_limit(2).toolset();
    let listed = call(&few, "list_files", json!({})).await.unwrap();
    assert_eq!(listed, json!({ "entries": [file("a", 0), file("b", 2)], "is_cut_off": true }));
}

/// The folder has more entries than a call visits, and one of them is a folder.
#[tokio::test]
async fn r5_a_folder_of_too_many_entries_is_listed_and_searched_in_part() {
    let place = Place::new();
    place.write("sub/file", "needle");
    for n in 0..100_001 {
        symlink("nowhere", place.root().join(n.to_string())).unwrap();
    }
    let files = place.files().toolset();
    let listing = call(&files, "list_files", json!({})).await.unwrap();
    assert_eq!(listing["entries"].as_array().unwrap().len(), 1000);
    assert_eq!(listing["is_cut_off"], true);
    let found = call(&files, "search_files", json!({ "pattern": "needle" })).await.unwrap();
    assert_eq!(found["is_cut_off"], true);
    let found = json!({ "pattern": "needle", "path": "sub" });
    let found = call(&files, "search_files", found).await.unwrap();
    assert_eq!(found["matches"].as_array().unwrap().len(), 1, "{found}");
}

#[tokio::test]
async fn r5_lines_are_found_by_text_and_by_regular_expression() {
    let place = Place::new();
    place.write("a.rs", "one\ntwo (2)\nOne\n");
    place.write("sub/b.txt", "one");
    place.write("binary", b"one\0");
    let files = place.files();
    let found = async |args: Value| {
        let found = call(&files.toolset(), "search_files", args).await.unwrap();
        let place = |one: &Value| {
            format!("{}:{}@{}", one["path"].as_str().unwrap(), one["line"], one["offset"])
        };
        let places: Vec<_> = found["matches"].as_array().unwrap().iter().map(place).collect();
        places.join(" ")
    };
    assert_eq!(found(json!({ "pattern": "one" })).await, "a.rs:1@0 sub/b.txt:1@0");
    assert_eq!(found(json!({ "pattern": "two (2)" })).await, "a.rs:2@4");
    assert_eq!(found(json!({ "pattern": "(.*)" })).await, "");
    assert_eq!(
        found(json!({ "pattern": "^O?ne|o \\(", "is_regex": true })).await,
        "a.rs:2@4 a.rs:3@12"
    );
    assert_eq!(
        found(json!({ "pattern": "ONE", "ignore_case": true, "file_names": "*.rs" })).await,
        "a.rs:1@0 a.rs:3@12"
    );
    assert_eq!(found(json!({ "pattern": "one", "path": "sub" })).await, "sub/b.txt:1@0");
    assert_eq!(found(json!({ "pattern": "one", "path": "a.rs" })).await, "a.rs:1@0");
    let few = files.clone().with_listing_limit(1).toolset();
    let cut = call(&few, "search_files", json!({ "pattern": "one" })).await.unwrap();
    assert_eq!((&cut["matches"].as_array().unwrap().len(), &cut["is_cut_off"]), (&1, &json!(true)));
}

/// R5: an expression that is slow in other engines is fast, and an invalid one is refused.
#[tokio::test]
async fn r5_regular_expressions_are_limited() {
    let place = Place::new();
    place.write("a", "a".repeat(9_000) + "b");
    let files = place.files().toolset();
    let since = Instant::now();
    let args = json!({ "pattern": "^(a|a)*(a+)+$", "is_regex": true });
    assert_eq!(call(&files, "search_files", args).await.unwrap()["matches"], json!([]));
    assert!(since.elapsed() < Duration::from_secs(20));
    for pattern in ["(", r"\w{1000}{1000}", "[01]*1[01]{9000}x"] {
        let args = json!({ "pattern": pattern, "is_regex": true });
        let failure = call(&files, "search_files", args).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::InvalidCall);
        assert!(matches!(failure.recovery, Recovery::CorrectCall(_)), "{failure}");
    }
}

#[tokio::test]
async fn r5_common_regular_expressions_are_accepted() {
    let place = Place::new();
    place.write("a", "pub fn größe_42() -> Result<u64> {\n");
    let files = place.files().toolset();
    for pattern in [r"\bfn\s+\w+\(\)\s*->\s*\w+<\w+>", r"(?:pub\s+)?fn [\w\d]{1,5}", r"\p{L}+_\d+"]
    {
        for ignore_case in [false, true] {
            let args = json!({ "pattern": pattern, "is_regex": true, "ignore_case": ignore_case });
            let found = call(&files, "search_files", args).await.unwrap();
            assert_eq!(found["matches"].as_array().unwrap().len(), 1, "{pattern}");
        }
    }
}

/// R5: such lines are still searched for plain text.
#[tokio::test]
async fn r5_lines_too_long_for_a_regular_expression_are_counted() {
    let place = Place::new();
    place.write("a", "a".repeat(10_001) + "b\nab");
    let files = place.files().toolset();
    for (is_regex, matches, skipped) in [(true, 1, 1), (false, 2, 0)] {
        let args = json!({ "pattern": "ab", "is_regex": is_regex });
        let found = call(&files, "search_files", args).await.unwrap();
        assert_eq!(found["matches"].as_array().unwrap().len(), matches);
        assert_eq!(found["skipped_lines"], skipped);
    }
}

/// R5: each line takes the longest possible time, and the tokio runtime waits for its threads when it is dropped.
#[test]
fn r5_a_search_ends_soon_after_it_is_cancelled() {
    let place = Place::new();
    // All parts of the text differ, so that the regex engine cannot reuse cached states.
    let mut state = 1_u64;
    let mut bit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if state >> 63 == 0 { b'0' } else { b'1' }
    };
    let line = |_| (0..9_000).map(|_| bit()).chain([b'\n']).collect::<Vec<_>>();
    place.write("a", (0..400).flat_map(line).collect::<Vec<_>>());
    // One line, and a text that it nearly has at each character.
    let letter = "\u{10428}";
    place.write("b", format!("{}x", letter.repeat(998)).repeat(900));
    let files = place.files().toolset();
    for args in [
        json!({ "path": "a", "pattern": "[01]*1[01]{300}x", "is_regex": true }),
        json!({ "path": "b", "pattern": letter.repeat(999) + "y", "ignore_case": true }),
    ] {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let since = Instant::now();
        let search = async {
            tokio::time::timeout(Duration::from_millis(100), call(&files, "search_files", args))
                .await
        };
        assert!(runtime.block_on(search).is_err(), "it was under way");
        drop(runtime);
        assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
    }
}

/// R5: long lines are searched in parts, which overlap.
#[tokio::test]
async fn r5_a_text_is_found_wherever_it_is_in_a_long_line() {
    let place = Place::new();
    let files = place.files().toolset();
    let text = "\u{10428}".repeat(1_000);
    for before in [0, 5_999, 6_000, 6_001, 12_001] {
        place.write("a", "a".repeat(before) + &text + &"a".repeat(6_000));
        let args = json!({ "pattern": text, "ignore_case": true });
        let found = call(&files, "search_files", args).await.unwrap();
        assert_eq!(found["matches"].as_array().unwrap().len(), 1, "{before} bytes before");
    }
}

/// R5: the write waits for a thread when it is cancelled.
#[test]
fn r5_a_write_that_is_cancelled_before_it_begins_changes_nothing() {
    let place = Place::new();
    let files = place.files().toolset();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let busy = tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(300)));
        let args = json!({ "path": "new/late", "text": "x", "overwrite": true });
        let write = call(&files, "write_file", args);
        assert!(tokio::time::timeout(Duration::from_millis(50), write).await.is_err());
        busy.await.unwrap();
        // When this runs, the only thread has already processed the write.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    });
    assert!(!place.root().join("new").exists());
}

#[tokio::test]
async fn a_path_that_names_a_folder_is_not_written() {
    let place = Place::new();
    let files = place.files().toolset();
    for path in ["notes/", "notes/.", "notes//", "notes/./", ".", ".."] {
        let args = json!({ "path": path, "text": "new" });
        let refused = call(&files, "write_file", args).await.unwrap_err();
        assert!(refused.message.contains("is not the path of a file"), "{path}: {refused}");
    }
    assert!(!place.root().join("notes").exists());
}

#[tokio::test]
async fn r5_a_replaced_file_has_no_setuid_and_setgid_bits() {
    let place = Place::new();
    place.write("run", "one");
    let path = place.root().join("run");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o6755)).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o6755);
    let args = json!({ "path": "run", "text": "two", "overwrite": true });
    call(&place.files().toolset(), "write_file", args).await.unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o755);
}

#[tokio::test]
async fn a_path_in_a_failure_is_one_visible_line() {
    let place = Place::new();
    place.write("a\u{202e}\r\nb", b"\0");
    let files = place.files().toolset();
    for path in ["missing\u{202e}\r\nx", "a\u{202e}\r\nb", "sub\u{202e}\n/", "../\u{202e}\r\n"] {
        for (tool, args) in calls(path) {
            let Err(failure) = call(&files, tool, args).await else { continue };
            let is_clear = !failure.message.contains(['\u{202e}', '\r', '\n']);
            assert!(is_clear && failure.message.contains('\u{fffd}'), "{tool}: {failure:?}");
        }
    }
}
