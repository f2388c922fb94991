//! Tests of the record of the last run: damaged, forged and missing records never hide a changed file from the next run.

use std::fs::{self, File};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use toolwright_codegen::project::{Change, Mode, Project};
use xxhash_rust::xxh3::xxh3_128;

use crate::incremental::{Bench, RECORD, TAMPERED, rewrite};

#[test]
fn an_empty_record_is_written_again() {
    let bench = Bench::new();
    let record = bench.record();
    bench.folder.put(RECORD, "");
    assert!(bench.written().is_empty());
    assert_eq!(bench.record(), record);
}

/// A fresh clone has no record that lists the generated files, and schema files have no banner.
#[test]
fn without_a_record_files_that_are_no_longer_generated_are_set_aside() {
    let bench = Bench::new();
    fs::remove_dir_all(bench.folder.path(".toolwright")).unwrap();
    bench.edit(("drop_order:", "cancel_order:"), None, false);
    fs::remove_file(bench.folder.path("schema/alone.yaml")).unwrap();
    let written = bench.change();
    let set_aside = written.set_aside.unwrap();
    for path in [
        "shop/tools/orders/schema/drop_order.args.json",
        "alone/tools/words/schema/spell.args.json",
    ] {
        assert!(written.removed.iter().any(|removed| removed == path), "{path}");
        assert!(
            set_aside.folder.join(path).is_file(),
            "{path}: no record proves that it was generated"
        );
    }
    assert_eq!(set_aside.files, written.removed);
    assert!(bench.project.generate(Mode::Check).unwrap().is_up_to_date());
}

/// A fresh clone has the output but no record.
#[test]
fn without_a_record_all_files_are_compared() {
    let bench = Bench::new();
    let path = "gen/shop/service/src/types.rs";
    let good = bench.folder.read(path);
    fs::remove_dir_all(bench.folder.path(".toolwright")).unwrap();
    rewrite(&bench.folder.path(path), TAMPERED);
    assert!(!bench.project.generate(Mode::Check).unwrap().is_up_to_date());
    assert!(!bench.folder.path(".toolwright").exists(), "comparing leaves no record");
    assert_eq!(bench.written(), ["shop/service/src/types.rs"]);
    assert_eq!(bench.folder.read(path), good);
    assert_eq!(bench.folder.read(".toolwright/.gitignore"), "*\n");
}

/// The lines of the record are valid, but the hash at its end does not match.
#[test]
fn a_damaged_record_is_ignored() {
    let bench = Bench::new();
    let (text, record) = (bench.folder.read(RECORD), bench.record());
    // The record now claims that the changed schema was compiled already.
    bench.edit(("An order.", "One order."), None, false);
    let line = record
        .iter()
        .find(|line| line.ends_with(" schema/shop.yaml") || line.ends_with("/schema/shop.yaml"));
    let hash = line.unwrap().split(' ').next().unwrap();
    let schema = fs::read(bench.folder.path("schema/shop.yaml")).unwrap();
    bench.folder.put(RECORD, text.replace(hash, &format!("{:x}", xxh3_128(&schema))));
    assert!(bench.written().iter().any(|path| path == "shop/service/src/types.rs"));
}

/// An untrusted project may have a link at the path of the record.
#[cfg(unix)]
#[test]
fn no_record_is_read_or_written_through_a_link() {
    use std::os::unix::fs::symlink;
    for (link, target) in [
        (".toolwright", "elsewhere"),
        (RECORD, "../elsewhere/gen.record"),
        (".toolwright/.gitignore", "../elsewhere/mine"),
    ] {
        let bench = Bench::new();
        let link = bench.folder.path(link);
        fs::rename(bench.folder.path(".toolwright"), bench.folder.path("elsewhere")).unwrap();
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, &link).unwrap();
        let elsewhere = || -> Vec<String> {
            let list = bench.folder.list().into_iter();
            let files = list.filter(|path| path.starts_with("elsewhere/") && !path.ends_with('/'));
            files.map(|path| bench.folder.read(&path)).collect()
        };
        let before = elsewhere();
        // The record behind the link would claim that this file is unchanged.
        rewrite(&bench.folder.path("gen/shop/service/src/types.rs"), TAMPERED);
        assert_eq!(bench.written(), ["shop/service/src/types.rs"], "{link:?}");
        bench.edit(("Be kind.", "Be brief."), None, false);
        assert!(!bench.written().is_empty(), "{link:?}");
        assert_eq!(elsewhere(), before, "{link:?}");
        assert!(!bench.folder.path("elsewhere/mine").exists());
    }
}

/// Also if nothing changed.
#[test]
fn every_run_reports_files_that_were_not_generated() {
    let bench = Bench::new();
    let foreign = ["alone-x/a.txt", "alone/.b/c", "alone/service/src/types.rs~", "zz"];
    for path in foreign {
        bench.folder.put(&format!("gen/{path}"), "mine");
    }
    for _ in 0..2 {
        let Change::Written(written) = bench.run().unwrap().change else {
            panic!("nothing was compared");
        };
        assert_eq!(written.foreign, foreign);
        assert!(written.written.is_empty());
    }
    bench.folder.put("gen/alone-x/old.rs", "// @generated by toolwright\n");
    let written = bench.change();
    assert_eq!(written.removed, ["alone-x/old.rs"]);
    assert_eq!(written.set_aside.unwrap().files, ["alone-x/old.rs"]);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_output_is_rejected_even_if_nothing_changed() {
    let bench = Bench::new();
    let path = bench.folder.path("gen/alone/service/src/types.rs");
    let elsewhere = bench.folder.path("types.rs");
    fs::rename(&path, &elsewhere).unwrap();
    std::os::unix::fs::symlink(elsewhere, path).unwrap();
    let failure = bench.run().unwrap_err().to_string();
    assert!(failure.contains("types.rs is a symlink"), "{failure}");
}

/// The clock for file times ticks a few hundred times per second, and a script can be faster.
#[test]
fn an_edit_at_the_end_of_a_run_is_found() {
    let bench = Bench::new();
    let path = "gen/shop/service/src/types.rs";
    let good = bench.folder.read(path);
    for _ in 0..20 {
        bench.folder.put(path, TAMPERED);
        assert_eq!(bench.written(), ["shop/service/src/types.rs"]);
        assert_eq!(bench.folder.read(path), good);
    }
}

/// A run waits for the next tick of the clock for file times before it writes the record, so the next run can trust it.
#[test]
fn files_that_a_run_wrote_are_not_compared_by_the_next_run() {
    let bench = Bench::new();
    let record = bench.folder.path(RECORD);
    for edit in [("Be kind.", "Be brief."), ("An order.", "One order.")] {
        bench.edit(edit, None, false);
        assert!(!bench.written().is_empty());
        let age = || fs::metadata(&record).unwrap().modified().unwrap();
        let before = age();
        assert!(bench.written().is_empty());
        assert_eq!(age(), before, "{edit:?}");
    }
}

/// As after checking out another commit and going back: all files have new times, but no content changed.
#[test]
fn files_that_were_touched_are_compared_once() {
    let bench = Bench::new();
    for path in bench.generated() {
        bench.folder.put(&path, bench.folder.read(&path));
    }
    // Longer than a tick of the clock for file times.
    thread::sleep(Duration::from_millis(50));
    let record = bench.folder.read(RECORD);
    assert!(bench.written().is_empty());
    let again = bench.folder.read(RECORD);
    assert_ne!(again, record);
    assert!(bench.written().is_empty());
    assert_eq!(bench.folder.read(RECORD), again);
}

/// Attempts to change a generated file without the next run noticing.
const HIDING: [(&str, fn(&Bench, &std::path::Path)); 5] = [
    ("its time is restored", |_, path| rewrite(path, TAMPERED)),
    ("it is as long as before", |_, path| {
        rewrite(path, &fs::read_to_string(path).unwrap().replacen("pub", "pvb", 1));
    }),
    ("another file is moved to its place", |bench, path| {
        let other = bench.folder.path("other.rs");
        fs::write(&other, TAMPERED).unwrap();
        let time = fs::metadata(path).unwrap().modified().unwrap();
        File::options().write(true).open(&other).unwrap().set_modified(time).unwrap();
        fs::rename(other, path).unwrap();
    }),
    ("the record is touched", |bench, path| {
        fs::write(path, TAMPERED).unwrap();
        let record = File::options().write(true).open(bench.folder.path(RECORD)).unwrap();
        record.set_modified(SystemTime::now() + Duration::from_mins(1)).unwrap();
    }),
    ("the record has the hash of the changed file, as in an untrusted project", |bench, path| {
        rewrite(path, TAMPERED);
        let hash = format!("{:x}", xxh3_128(TAMPERED.as_bytes()));
        bench.forge(|lines| {
            let line = lines.iter_mut().find(|line| line.ends_with(" shop/service/src/types.rs"));
            let line = line.unwrap();
            let (_, rest) = line.split_once(' ').unwrap();
            *line = format!("{hash} {rest}");
        });
    }),
];

#[cfg(unix)]
#[test]
fn neither_times_nor_the_record_hide_a_changed_file() {
    for (how, hide) in HIDING {
        let bench = Bench::new();
        let path = "gen/shop/service/src/types.rs";
        let good = bench.folder.read(path);
        hide(&bench, &bench.folder.path(path));
        assert_ne!(bench.folder.read(path), good, "{how}");
        assert_eq!(bench.written(), ["shop/service/src/types.rs"], "{how}");
        assert_eq!(bench.folder.read(path), good, "{how}");
    }
}

/// A banner can be copied, and a record can be forged to list any file. Neither of them proves that a file was generated.
#[test]
fn only_files_with_the_recorded_content_are_deleted() {
    let mine = "// mine\n";
    for (path, text, is_listed, hash, stays) in [
        ("alone/mine.rs", mine, true, mine, true),
        ("alone/mine.rs", TAMPERED, false, "", false),
        ("alone/mine.rs", TAMPERED, true, "another", false),
        ("alone/service/src/types.rs", TAMPERED, false, "", false),
    ] {
        let bench = Bench::new();
        bench.folder.put(&format!("gen/{path}"), text);
        if is_listed {
            bench.forge(|lines| {
                lines.push(format!("{:x} 1 1 {path}", xxh3_128(hash.as_bytes())));
                lines.sort_by(|a, b| a.split(' ').nth(3).cmp(&b.split(' ').nth(3)));
            });
        }
        fs::remove_file(bench.folder.path("schema/alone.yaml")).unwrap();
        let written = bench.change();
        assert!(written.removed.iter().any(|path| path == "alone/service/src/lib.rs"));
        assert_eq!(bench.folder.path(&format!("gen/{path}")).exists(), stays, "{path}");
        if stays {
            assert_eq!((written.foreign, written.set_aside), (vec![path.to_owned()], None));
        } else {
            let set_aside = written.set_aside.unwrap();
            assert_eq!(set_aside.files, [path]);
            assert_eq!(fs::read_to_string(set_aside.folder.join(path)).unwrap(), text);
        }
    }
}

/// Hashing it would take much memory.
#[test]
fn a_file_of_more_than_64_mib_is_set_aside_whatever_the_record_says() {
    let bench = Bench::new();
    let path = bench.folder.path("gen/alone/mine.rs");
    let mut text = TAMPERED.as_bytes().to_vec();
    text.resize((64 << 20) + 2, 0);
    fs::write(&path, &text).unwrap();
    bench.forge(|lines| {
        lines.push(format!("{:x} 1 1 alone/mine.rs", xxh3_128(&text)));
        lines.sort_by(|a, b| a.split(' ').nth(3).cmp(&b.split(' ').nth(3)));
    });
    fs::remove_file(bench.folder.path("schema/alone.yaml")).unwrap();
    assert_eq!(bench.change().set_aside.unwrap().files, ["alone/mine.rs"]);
}

/// Code is read to find the files that it includes: once, not once for each file beside it. Otherwise this takes minutes.
#[test]
fn many_files_beside_large_code_take_little_time() {
    let bench = Bench::new();
    let path = "gen/shop/service/src/types.rs";
    let good = bench.folder.read(path);
    bench.folder.put(path, good.clone() + &"// A comment.\n".repeat(500_000));
    for number in 0..500 {
        bench.folder.put(&format!("gen/shop/service/schema/{number}"), "{}");
    }
    let began = Instant::now();
    assert_eq!(bench.change().foreign.len(), 500);
    assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
    assert_eq!(bench.folder.read(path), good);
}

/// A program with the same permissions can forge a record that hides a change from `gen`. `gen --check` ignores records.
#[cfg(unix)]
#[test]
fn a_forged_record_hides_drift_from_gen_but_not_from_check() {
    let bench = Bench::new();
    rewrite(&bench.folder.path("gen/shop/service/src/types.rs"), TAMPERED);
    bench.forge_stamp("shop/service/src/types.rs");
    assert!(bench.written().is_empty());
    let Change::Drift(drift) = bench.project.generate(Mode::Check).unwrap().change else {
        panic!("nothing was compared");
    };
    assert_eq!(drift.stale, ["shop/service/src/types.rs"]);
}

/// A user's file is at the path of a generated one, and the run has other work, too, or none.
#[test]
fn a_file_without_a_banner_is_never_replaced() {
    let path = "gen/shop/service/src/types.rs";
    for edit in [None, Some(("An order.", "One order.")), Some(("drop_order:", "cancel_order:"))] {
        let bench = Bench::new();
        bench.folder.put(path, "// mine\n");
        if let Some(edit) = edit {
            bench.edit(edit, None, false);
        }
        let failure = bench.run().unwrap_err().to_string();
        assert!(failure.contains("types.rs was not generated"), "{failure}");
        assert_eq!(bench.folder.read(path), "// mine\n");
    }
}

/// The environment variable with the project folder for a copy of this program.
const PROJECT: &str = "TOOLWRIGHT_TEST_PROJECT";

/// A rebuilt compiler may generate other files although its version is the same.
#[cfg(unix)]
#[test]
fn a_rebuilt_generator_does_not_trust_the_record() {
    if let Some(folder) = std::env::var_os(PROJECT) {
        let project = Project::open(folder.as_ref()).unwrap();
        return drop(project.generate(Mode::Write).unwrap());
    }
    let bench = Bench::new();
    let path = bench.folder.path("gen/shop/service/src/types.rs");
    let good = fs::read_to_string(&path).unwrap();
    rewrite(&path, TAMPERED);
    bench.forge_stamp("shop/service/src/types.rs");
    assert!(bench.written().is_empty(), "the same program trusts the record");
    let copy = bench.folder.path("rebuilt");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let name = "record::a_rebuilt_generator_does_not_trust_the_record";
    let mut again = Command::new(&copy);
    again.args([name, "--exact"]).env(PROJECT, bench.folder.path(""));
    assert!(again.output().unwrap().status.success());
    assert_eq!(fs::read_to_string(&path).unwrap(), good);
}
