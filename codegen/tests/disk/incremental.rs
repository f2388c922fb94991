//! Generation after changes: whatever was changed, a run that does no more than it must leaves the same bytes as a run
//! in full, which is what comparing looks at.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use proptest::sample::Index;
use toolwright_codegen::project::{Change, Failure, Generated, Mode, Project};

use crate::folder::Folder;

/// A project in which files need each other in every way there is.
const FILES: [(&str, &str); 8] = [
    (
        "base.yaml",
        "toolwright: 1
service: { name: base, description: What all share. }
types:
  Money: { type: object, required: [amount], properties: { amount: { type: integer, minimum: 0 } } }
",
    ),
    (
        "shop.yaml",
        "toolwright: 1
service: shop
types:
  Order: { type: object, description: An order., properties: { price: { $ref: base.Money }, note: { type: string } } }
methods:
  place: { description: Places it., payload: { type: object, properties: { order: { $ref: Order } } }, result: Order }
  count: { payload: { type: object }, result: { type: integer }, tool: { description: Counts orders. } }
",
    ),
    (
        "shop_tools.yaml",
        "toolwright: 1
service: shop
toolsets:
  orders:
    description: Orders.
    tools:
      place_order: { description: Place an order., bind: place, aliases: [order] }
      drop_order: { description: Drop an order., args: { type: object, properties: { id: { type: string } } } }
",
    ),
    (
        "loose.yaml",
        "toolwright: 1
toolsets:
  loose: { description: Owned by who is bound., tools: { quick_order: { description: Quick., bind: shop.place } } }
",
    ),
    (
        "remote.yaml",
        "toolwright: 1
service: shop
toolsets:
  forge: { description: Remote., mcp: { server: forge }, tools: { find: { description: Find., remote: find-it } } }
",
    ),
    (
        "agents.yaml",
        "toolwright: 1
service: desk
toolsets:
  planning: { description: Plans., tools: { plan: { description: Plan., result: base.Money } } }
agents:
  clerk: { description: Serves., instructions: Be kind., toolsets: [orders], tools: [count], exports: [planning] }
",
    ),
    (
        "servers.yaml",
        "toolwright: 1
service: desk
mcp_servers: { front: { version: 1.0.0, toolsets: [planning, orders] } }
",
    ),
    (
        "alone.yaml",
        "toolwright: 1
service: alone
types: { Word: { type: string, maxLength: 5, format: unheard-of } }
toolsets: { words: { tools: { spell: { description: Spell., result: Word } } } }
",
    ),
];

/// Words to put in the place of others, in one file or in all.
const EDITS: [(&str, &str); 18] = [
    ("minimum: 0", "minimum: 1"),
    ("An order.", "An order of a customer."),
    ("note: { type: string }", "note: { type: string, maxLength: 9 }, urgent: { type: boolean }"),
    ("Places it.", "Places one."),
    ("maxLength: 5", "maxLength: 6"),
    ("format: unheard-of", "format: uuid"),
    ("Be kind.", "Be brief."),
    ("Plan.", "Make a plan."),
    ("What all share.", "What everybody shares."),
    ("plan:", "plan_day:"),
    ("bind: place", "bind: shop.place"),
    ("aliases: [order]", "aliases: [order, buy]"),
    ("exports: [planning]", "exports: []"),
    ("toolsets: [planning, orders]", "toolsets: [planning]"),
    ("Money", "Coin"),
    ("remote: find-it", "remote: find-that"),
    ("service: desk", "service: bureau"),
    ("version: 1.0.0", "version: 1.0.1"),
];

/// What the last run was made of, for the next one.
const RECORD: &str = ".toolwright/gen.record";

/// The list of generated files.
const MANIFEST: &str = "gen/.toolwright-manifest";

#[derive(Clone, Debug)]
enum Step {
    /// Puts words in the place of others, or back.
    Edit { words: Index, file: Option<Index>, back: bool },
    /// Makes a schema file nonsense for one run.
    Break(Index),
    /// Takes a schema file away, or puts it back.
    Move(Index),
    /// Writes into a generated file.
    Tamper(Index),
    /// Takes a generated file away.
    Remove(Index),
    /// Damages the record or the list of generated files.
    Damage { file: Index, line: Index, cut: bool },
}

fn step() -> impl Strategy<Value = Step> {
    let any = any::<Index>;
    prop_oneof![
        8 => (any(), proptest::option::of(any()), proptest::bool::ANY)
            .prop_map(|(words, file, back)| Step::Edit { words, file, back }),
        1 => any().prop_map(Step::Break),
        1 => any().prop_map(Step::Move),
        1 => any().prop_map(Step::Tamper),
        1 => any().prop_map(Step::Remove),
        1 => (any(), any(), proptest::bool::ANY)
            .prop_map(|(file, line, cut)| Step::Damage { file, line, cut }),
    ]
}

struct Bench {
    folder: Folder,
    project: Project,
}

impl Bench {
    fn new() -> Self {
        let folder = Folder::new(&[]);
        for (name, text) in FILES {
            folder.put(&format!("schema/{name}"), text);
        }
        let project = Project::open(&folder.path("")).unwrap();
        let bench = Self { folder, project };
        bench.run().unwrap();
        bench
    }

    fn run(&self) -> Result<Generated, Failure> {
        self.project.generate(Mode::Write)
    }

    /// How many files a run wrote.
    fn written(&self) -> Vec<String> {
        match self.run().unwrap().change {
            Change::Written(written) => written.written,
            Change::Drift(_) => panic!("nothing was compared"),
        }
    }

    fn generated(&self) -> Vec<String> {
        let list = self.folder.list().into_iter();
        list.filter(|path| path.starts_with("gen/") && !path.ends_with('/')).collect()
    }

    fn take(&self, step: &Step) {
        match step {
            Step::Edit { words, file, back } => self.edit(*words.get(&EDITS), file.as_ref(), *back),
            Step::Break(file) => {
                let (name, _) = file.get(&FILES);
                let path = format!("schema/{name}");
                let Ok(text) = fs::read(self.folder.path(&path)) else { return };
                self.folder.put(&path, "toolwright: [");
                assert!(self.run().is_err());
                self.folder.put(&path, text);
            }
            Step::Move(file) => {
                let (name, text) = file.get(&FILES);
                let path = self.folder.path(&format!("schema/{name}"));
                if fs::remove_file(&path).is_err() {
                    fs::write(&path, text).unwrap();
                }
            }
            Step::Tamper(file) => {
                let path = self.folder.path(file.get::<String>(&self.generated()));
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, text + "// mine\n").unwrap();
                later(&path);
            }
            Step::Remove(file) => {
                fs::remove_file(self.folder.path(file.get::<String>(&self.generated()))).unwrap();
            }
            Step::Damage { file, line, cut } => {
                let path = self.folder.path(file.get::<&str>(&[RECORD, MANIFEST]));
                let Ok(text) = fs::read_to_string(&path) else { return };
                let mut lines: Vec<&str> = text.lines().collect();
                if lines.is_empty() {
                    return;
                }
                let at = line.index(lines.len());
                lines.remove(at);
                lines.truncate(if *cut { at } else { lines.len() });
                fs::write(&path, lines.join("\n")).unwrap();
            }
        }
    }

    fn edit(&self, (from, to): (&str, &str), only: Option<&Index>, back: bool) {
        let (from, to) = if back { (to, from) } else { (from, to) };
        let only = only.map(|file| file.get(&FILES).0);
        for (name, _) in FILES.iter().filter(|(name, _)| only.is_none_or(|only| only == *name)) {
            let path = self.folder.path(&format!("schema/{name}"));
            if let Ok(text) = fs::read_to_string(&path) {
                fs::write(&path, text.replace(from, to)).unwrap();
            }
        }
    }
}

/// Makes a file younger than whatever is written in the same tick of the clock.
fn later(path: &std::path::Path) {
    let time = SystemTime::now() + Duration::from_millis(20);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Changes a file and puts its age back, so that only those who read it notice.
fn rewrite(path: &std::path::Path, text: &str) {
    let time = fs::metadata(path).unwrap().modified().unwrap();
    fs::write(path, text).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_changed_the_output_is_that_of_a_run_in_full(steps in prop::collection::vec(step(), 1..16)) {
        let bench = Bench::new();
        for step in &steps {
            bench.take(step);
            match (bench.run(), bench.project.generate(Mode::Check)) {
                (Ok(written), Ok(compared)) => {
                    prop_assert!(compared.is_up_to_date(), "{step:?}: {}", compared.report("gen"));
                    prop_assert_eq!(written.size, compared.size, "{:?}", step);
                    let said = |run: &Generated| -> Vec<String> {
                        run.warnings.iter().map(|warning| warning.message.clone()).collect()
                    };
                    prop_assert_eq!(said(&written), said(&compared), "{:?}", step);
                }
                (Err(written), Err(compared)) => prop_assert_eq!(written.to_string(), compared.to_string()),
                (written, compared) => prop_assert!(false, "{step:?}: {written:?} {compared:?}"),
            }
        }
    }
}

#[test]
fn what_is_written_after_an_edit_is_what_it_changes() {
    for (edit, written) in [
        (("Be kind.", "Be brief."), &["desk/agents/clerk/src/specs.rs"][..]),
        (("version: 1.0.0", "version: 1.0.1"), &["desk/mcp/front/src/server.rs"]),
        (
            ("An order.", "One order."),
            &["shop/service/src/types.rs", "shop/tools/orders/schema/place_order.args.json"],
        ),
        (("toolsets: [planning, orders]", "toolsets: [ planning, orders ]"), &[]),
    ] {
        let bench = Bench::new();
        bench.edit(edit, None, false);
        let found = bench.written();
        assert!(
            written.iter().all(|path| found.iter().any(|found| found == path)),
            "{edit:?}: {found:?}"
        );
        assert!(bench.written().is_empty(), "{edit:?}");
    }
}

/// A file that stands alone is compiled alone: what is wrong with the disk under the others does not show.
#[test]
fn an_edit_reads_no_generated_file_of_other_crates() {
    let bench = Bench::new();
    let path = bench.folder.path("gen/base/service/src/types.rs");
    rewrite(&path, "// @generated by toolwright, but not this\n");
    bench.edit(("maxLength: 5", "maxLength: 6"), None, false);
    assert!(bench.written().iter().all(|path| path.starts_with("alone/")));
}

/// What was found in a file that did not change is told all the same.
#[test]
fn warnings_are_told_by_every_run() {
    let bench = Bench::new();
    for _ in 0..2 {
        assert_eq!(bench.run().unwrap().warnings.len(), 1);
    }
    bench.edit(("Be kind.", "Be brief."), None, false);
    let run = bench.run().unwrap();
    assert_eq!(run.warnings.len(), 1);
    let shown = run.render_warnings(toolwright_codegen::render::Format::Human { color: false });
    assert!(shown.contains("schema/alone.yaml:3:"), "{shown}");
}

/// Files that cannot say of themselves that they are generated are known by the list alone.
#[test]
fn a_line_that_the_list_lost_is_found_again() {
    let bench = Bench::new();
    let list = bench.folder.path("gen/.toolwright-manifest");
    let text = fs::read_to_string(&list).unwrap();
    let path = "shop/tools/orders/schema/place_order.args.json";
    for removes in [false, true] {
        fs::write(&list, text.replace(&format!("{path}\n"), "")).unwrap();
        if removes {
            fs::remove_file(bench.folder.path("gen").join(path)).unwrap();
        }
        bench.run().unwrap();
        assert_eq!(fs::read_to_string(&list).unwrap(), text);
        assert!(bench.project.generate(Mode::Check).unwrap().is_up_to_date());
    }
}

#[test]
fn a_record_or_a_list_that_lost_its_text_is_written_again() {
    let bench = Bench::new();
    let (record, list) = (bench.folder.read(RECORD), bench.folder.read(MANIFEST));
    for emptied in [&[RECORD][..], &[MANIFEST], &[RECORD, MANIFEST]] {
        for path in emptied {
            bench.folder.put(path, "");
        }
        let is_listed = !emptied.contains(&MANIFEST);
        assert_eq!(bench.written().is_empty(), is_listed, "{emptied:?}");
        assert!(bench.project.generate(Mode::Check).unwrap().is_up_to_date(), "{emptied:?}");
        assert!(bench.written().is_empty(), "{emptied:?}");
        assert_eq!(bench.folder.read(RECORD), record, "{emptied:?}");
        assert_eq!(bench.folder.read(MANIFEST), list, "{emptied:?}");
    }
}

/// What a fresh clone has: the output, and no record.
#[test]
fn without_a_record_everything_is_compared() {
    let bench = Bench::new();
    let path = "gen/shop/service/src/types.rs";
    let good = bench.folder.read(path);
    fs::remove_dir_all(bench.folder.path(".toolwright")).unwrap();
    rewrite(&bench.folder.path(path), "// mine\n");
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
    let text = bench.folder.read(RECORD);
    bench.folder.put(RECORD, &text[1..]);
    rewrite(&bench.folder.path("gen/shop/service/src/types.rs"), "// mine\n");
    assert_eq!(bench.written(), ["shop/service/src/types.rs"]);
    assert_eq!(bench.folder.read(RECORD), text);
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
        rewrite(&bench.folder.path("gen/shop/service/src/types.rs"), "// mine\n");
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
    let Change::Written(written) = bench.run().unwrap().change else {
        panic!("nothing was compared");
    };
    assert_eq!(written.removed, ["alone-x/old.rs"]);
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
        bench.folder.put(path, "// mine\n");
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
fn files_younger_than_the_record_are_compared_once() {
    let bench = Bench::new();
    let record = bench.folder.path(RECORD);
    let age = || fs::metadata(&record).unwrap().modified().unwrap();
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::options().write(true).open(&record).unwrap().set_modified(old).unwrap();
    assert!(bench.written().is_empty());
    assert!(
        age()
            > fs::metadata(bench.folder.path(MANIFEST)).unwrap().modified().unwrap()
                - Duration::from_millis(20)
    );
    let text = bench.folder.read(RECORD);
    bench.folder.put("gen/alone/service/src/types.rs", "// mine\n");
    assert_eq!(bench.written(), ["alone/service/src/types.rs"]);
    assert_eq!(bench.folder.read(RECORD), text);
}

#[test]
fn a_list_that_is_written_otherwise_is_written_again() {
    let bench = Bench::new();
    let text = bench.folder.read(MANIFEST);
    let (head, rest) = text.split_once('\n').unwrap();
    for other in [
        rest.to_owned(),
        text.trim_end().to_owned(),
        text.replace('\n', "\r\n"),
        format!("{head}\n# a remark\n{rest}"),
    ] {
        bench.folder.put(MANIFEST, &other);
        bench.run().unwrap();
        assert_eq!(bench.folder.read(MANIFEST), text, "{other}");
    }
}

/// The record may say that all is well; comparing reads every byte.
#[test]
fn a_record_cannot_hide_drift() {
    let bench = Bench::new();
    let path = bench.folder.path("gen/shop/service/src/types.rs");
    rewrite(&path, &fs::read_to_string(&path).unwrap().replacen("pub", "pvb", 1));
    let Change::Drift(drift) = bench.project.generate(Mode::Check).unwrap().change else {
        panic!("it was compared");
    };
    assert_eq!(drift.stale, ["shop/service/src/types.rs"]);
}
