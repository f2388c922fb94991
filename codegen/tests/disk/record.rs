//! The record that a run leaves for the next one: what it may say without being believed, and what is found without it.

use std::fs::{self, File};
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

use toolwright_codegen::project::{Change, Mode, Project};
use xxhash_rust::xxh3::xxh3_128;

use crate::incremental::{Bench, RECORD, TAMPERED, rewrite};

#[test]
fn a_record_that_lost_its_text_is_written_again() {
    let bench = Bench::new();
    let record = bench.record();
    bench.folder.put(RECORD, "");
    assert!(bench.written().is_empty());
    assert_eq!(bench.record(), record);
}

/// A fresh clone has no record that lists them, and schemas cannot say of themselves that they are generated.
#[test]
fn without_a_record_what_is_no_longer_generated_goes_all_the_same() {
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
        assert!(set_aside.folder.join(path).is_file(), "{path}: nothing proves that it is ours");
    }
    assert_eq!(set_aside.files, written.removed);
    assert!(bench.project.generate(Mode::Check).unwrap().is_up_to_date());
}

/// What a fresh clone has: the output, and no record.
#[test]
fn without_a_record_everything_is_compared() {
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

/// A record whose lines can still be read, but not with the hash at its end.
#[test]
fn a_damaged_record_is_not_trusted() {
    let bench = Bench::new();
    let (text, record) = (bench.folder.read(RECORD), bench.record());
    // As if the schema had been this one already.
    bench.edit(("An order.", "One order."), None, false);
    let line = record
        .iter()
        .find(|line| line.ends_with(" schema/shop.yaml") || line.ends_with("/schema/shop.yaml"));
    let hash = line.unwrap().split(' ').next().unwrap();
    let schema = fs::read(bench.folder.path("schema/shop.yaml")).unwrap();
    bench.folder.put(RECORD, text.replace(hash, &format!("{:x}", xxh3_128(&schema))));
    assert!(bench.written().iter().any(|path| path == "shop/service/src/types.rs"));
}

/// A project may come from a stranger, with links where the record is to be.
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
        // It would say that nothing has to be looked at.
        rewrite(&bench.folder.path("gen/shop/service/src/types.rs"), TAMPERED);
        assert_eq!(bench.written(), ["shop/service/src/types.rs"], "{link:?}");
        bench.edit(("Be kind.", "Be brief."), None, false);
        assert!(!bench.written().is_empty(), "{link:?}");
        assert_eq!(elsewhere(), before, "{link:?}");
        assert!(!bench.folder.path("elsewhere/mine").exists());
    }
}

/// Nothing changed, and still all of the folder is looked at.
#[test]
fn what_stands_beside_generated_files_is_told_by_every_run() {
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
fn a_link_among_the_output_is_refused_though_nothing_changed() {
    let bench = Bench::new();
    let path = bench.folder.path("gen/alone/service/src/types.rs");
    let elsewhere = bench.folder.path("types.rs");
    fs::rename(&path, &elsewhere).unwrap();
    std::os::unix::fs::symlink(elsewhere, path).unwrap();
    let failure = bench.run().unwrap_err().to_string();
    assert!(failure.contains("types.rs is a symlink"), "{failure}");
}

/// The clock of files ticks a few hundred times a second, and a script is faster.
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

/// Every run writes the record after everything else, as late as it takes to tell the two apart.
#[test]
fn what_a_run_wrote_is_not_looked_at_again() {
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

/// As after a checkout of another commit and back: every file may have been changed, and none was.
#[test]
fn files_that_were_touched_are_compared_once() {
    let bench = Bench::new();
    for path in bench.generated() {
        bench.folder.put(&path, bench.folder.read(&path));
    }
    // Longer than a tick of the clock of files.
    thread::sleep(Duration::from_millis(50));
    let record = bench.folder.read(RECORD);
    assert!(bench.written().is_empty());
    let again = bench.folder.read(RECORD);
    assert_ne!(again, record);
    assert!(bench.written().is_empty());
    assert_eq!(bench.folder.read(RECORD), again);
}

/// What somebody may do to a generated file, or to the record, so that a run does not look at the file.
const HIDING: [(&str, fn(&Bench, &std::path::Path)); 5] = [
    ("its time is put back", |_, path| rewrite(path, TAMPERED)),
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
    (
        "the record has the hash of what it says now, as in a project that somebody sent",
        |bench, path| {
            rewrite(path, TAMPERED);
            let hash = format!("{:x}", xxh3_128(TAMPERED.as_bytes()));
            bench.forge(|lines| {
                let line =
                    lines.iter_mut().find(|line| line.ends_with(" shop/service/src/types.rs"));
                let line = line.unwrap();
                let (_, rest) = line.split_once(' ').unwrap();
                *line = format!("{hash} {rest}");
            });
        },
    ),
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

/// A banner can be copied, and a record can be made to list anything. Each alone, and both, prove nothing.
#[test]
fn nothing_is_deleted_that_is_not_as_a_run_left_it() {
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

/// Who may write whatever we may, with the same knowledge, cannot be kept from making a record; comparing asks none.
#[cfg(unix)]
#[test]
fn a_record_made_to_measure_hides_drift_from_gen_and_not_from_check() {
    let bench = Bench::new();
    rewrite(&bench.folder.path("gen/shop/service/src/types.rs"), TAMPERED);
    bench.forge_stamp("shop/service/src/types.rs");
    assert!(bench.written().is_empty());
    let Change::Drift(drift) = bench.project.generate(Mode::Check).unwrap().change else {
        panic!("it was compared");
    };
    assert_eq!(drift.stale, ["shop/service/src/types.rs"]);
}

/// Somebody put a file of theirs in the place of a generated one, and the run has something else to do.
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

/// Names the folder that a copy of this program generates in.
const PROJECT: &str = "TOOLWRIGHT_TEST_PROJECT";

/// A compiler that was built again may generate something else, though its version is the same.
#[cfg(unix)]
#[test]
fn a_generator_that_was_built_again_does_not_trust_the_record() {
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
    let copy = bench.folder.path("built again");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let name = "record::a_generator_that_was_built_again_does_not_trust_the_record";
    let mut again = Command::new(&copy);
    again.args([name, "--exact"]).env(PROJECT, bench.folder.path(""));
    assert!(again.output().unwrap().status.success());
    assert_eq!(fs::read_to_string(&path).unwrap(), good);
}
