//! Tests of merging generated files with git: branches that change different tools merge without a conflict, and the result
//! is right. If there is a conflict, generating again resolves it.

use std::fs;
use std::process::Command;

use toolwright_codegen::project::{Change, Mode, Project};
use toolwright_prerequisites::{Prerequisite, has};

use crate::folder::Folder;

const LETTERS: &str = "toolwright: 1
service: mail
types:
  Address: { type: string, maxLength: 99 }
toolsets:
  letters:
    description: Letters.
    tools:
      send_letter:
        description: Send a letter.
        args: { type: object, properties: { to: { $ref: Address }, text: { type: string } } }
      read_letter:
        description: Read a letter.
        args: { type: object, properties: { number: { type: integer } } }
      # Here is room for more.
      burn_letter:
        description: Burn a letter.
        args: { type: object, properties: { number: { type: integer } } }
      # The end.
";

const STAMPS: &str = "toolwright: 1
service: mail
toolsets:
  stamps:
    description: Stamps.
    tools:
      # The beginning.
      buy_stamp:
        description: Buy a stamp.
        args: { type: object, properties: { value: { type: integer } } }
      # Here is room for more.
";

const OFFICE: &str = "toolwright: 1
service: office
agents:
  boss: { description: Does both., instructions: Be quick., toolsets: [letters, stamps] }
  clerk: { description: Writes letters., instructions: Be kind., toolsets: [letters] }
  seller: { description: Sells stamps., instructions: Be quick., toolsets: [stamps] }
mcp_servers: { counter: { version: 1.0.0, toolsets: [letters, stamps] } }
";

const PARCELS: &str = "toolwright: 1
service: mail
toolsets:
  parcels: { description: Parcels., tools: { send_parcel: { description: Send a parcel. } } }
";

const OTHER_PARCELS: &str = "toolwright: 1
service: mail
toolsets:
  parcels: { description: All parcels., tools: { send_parcel: { description: Send one., args: { type: object } } } }
";

const POSTCARDS: &str = "toolwright: 1
service: mail
toolsets:
  postcards: { description: Postcards., tools: { send_postcard: { description: Send a postcard. } } }
";

const SEALS: &str = "toolwright: 1
service: mail
toolsets:
  seals: { description: Seals., tools: { break_seal: { description: Break a seal. } } }
";

/// A branch's change to one schema file: the text that it replaces, and the replacement. An empty text adds or removes the
/// file.
type Edit = (&'static str, &'static str, &'static str);

const PLACEHOLDER: &str = "# Here is room for more.";

const LEFT_AND_RIGHT: [(Edit, Edit); 7] = [
    // Tools of one toolset.
    (("letters", "Send a letter.", "Send one letter."), ("letters", "Read a letter.", "Read it.")),
    // Tools of two toolsets, and the arguments of one.
    (
        ("letters", "text: { type: string }", "text: { type: string, maxLength: 9 }"),
        ("stamps", "Buy a stamp.", "Buy one stamp."),
    ),
    // A new tool in each of two toolsets.
    (
        (
            "letters",
            PLACEHOLDER,
            "lose_letter: { description: Lose a letter., args: { type: object } }",
        ),
        (
            "stamps",
            PLACEHOLDER,
            "lick_stamp: { description: Lick a stamp., args: { type: object } }",
        ),
    ),
    // A new tool, and a renamed tool.
    (
        (
            "letters",
            PLACEHOLDER,
            "lose_letter: { description: Lose a letter., args: { type: object } }",
        ),
        ("stamps", "buy_stamp:", "get_stamp:"),
    ),
    // Two new toolsets.
    (("parcels", "", PARCELS), ("postcards", "", POSTCARDS)),
    // A new toolset, and a removed one.
    (("parcels", "", PARCELS), ("seals", SEALS, "")),
    // The last tool of a toolset, and the first of the next.
    (("letters", "Burn a letter.", "Burn it."), ("stamps", "Buy a stamp.", "Buy one stamp.")),
];

#[test]
fn branches_that_change_different_tools_merge_without_a_conflict() {
    if !has(&[Prerequisite::Git]) {
        return;
    }
    for (left, right) in LEFT_AND_RIGHT {
        let branches = Branches::new(left, right);
        branches.git(&["merge", "--quiet", "--no-edit", "left"]);
        let compared = branches.project.generate(Mode::Check).unwrap();
        assert!(compared.is_up_to_date(), "{}", compared.report("gen"));
        assert_eq!(branches.written(), [""; 0], "{left:?} {right:?}");
        let status = branches.git(&["status", "--porcelain", "--untracked-files=all"]);
        assert_eq!(status, "", "git tracks or ignores all files");
        let tracked = branches.git(&["ls-files"]);
        assert!(!tracked.contains(".record"), "{tracked}");
    }
}

/// The edits conflict in schema files and in generated files. Once the schema is resolved, generating resolves the output
/// folder, also without a record as in a fresh clone.
#[test]
fn conflicts_in_generated_files_are_resolved_by_generating_again() {
    if !has(&[Prerequisite::Git]) {
        return;
    }
    for (left, right, conflict) in [
        // The schema of an argument.
        (
            ("letters", "text: { type: string }", "text: { type: string, maxLength: 8 }"),
            ("letters", "text: { type: string }", "text: { type: string, maxLength: 9 }"),
            "mail/tools/letters/schema/send_letter.args.json",
        ),
        // New tools at the same place.
        (
            ("letters", PLACEHOLDER, "lose_letter: { description: Lose it. }"),
            ("letters", PLACEHOLDER, "lend_letter: { description: Lend it. }"),
            "mail/tools/letters/src/specs.rs",
        ),
        // A tool with two new names.
        (
            ("stamps", "buy_stamp:", "get_stamp:"),
            ("stamps", "buy_stamp:", "pay_stamp:"),
            "mail/tools/stamps/src/specs.rs",
        ),
        // A toolset that both branches add.
        (("parcels", "", PARCELS), ("parcels", "", OTHER_PARCELS), "mail/tools/parcels/README.md"),
        // New tools at the end of a toolset and at the beginning of the next, in the list of an agent that uses both.
        (
            ("letters", "# The end.", "eat_letter: { description: Eat it. }"),
            ("stamps", "# The beginning.", "lick_stamp: { description: Lick it. }"),
            "office/agents/boss/src/specs.rs",
        ),
    ] {
        for (style, has_record) in [("merge", true), ("diff3", false)] {
            let branches = Branches::new(left, right);
            let style = format!("merge.conflictStyle={style}");
            let merge = branches.command(&["-c", &style, "merge", "--quiet", "left"]).output();
            assert!(!merge.unwrap().status.success(), "{left:?} {right:?}");
            let conflicts = branches.git(&["diff", "--name-only", "--diff-filter=U"]);
            assert!(conflicts.contains(conflict), "{conflicts}");
            let (file, _, _) = right;
            branches.git(&["checkout", "--quiet", "--ours", &format!("schema/{file}.yaml")]);
            if !has_record {
                fs::remove_dir_all(branches.folder.path(".toolwright")).unwrap();
            }
            branches.written();
            let compared = branches.project.generate(Mode::Check).unwrap();
            assert!(compared.is_up_to_date(), "{style}: {}", compared.report("gen"));
        }
    }
}

/// A project in git with the branches `left` and `right`, of which `right` is checked out.
struct Branches {
    folder: Folder,
    project: Project,
}

impl Branches {
    fn new(left: Edit, right: Edit) -> Self {
        let folder = Folder::new(&[
            ("schema/letters.yaml", LETTERS),
            ("schema/stamps.yaml", STAMPS),
            ("schema/seals.yaml", SEALS),
            ("schema/office.yaml", OFFICE),
        ]);
        let project = Project::open(&folder.path("")).unwrap();
        let branches = Self { folder, project };
        branches.git(&["init", "--quiet", "--initial-branch", "main"]);
        branches.generate_and_commit("Start");
        for (branch, (file, from, to)) in [("left", left), ("right", right)] {
            branches.git(&["checkout", "--quiet", "-b", branch, "main"]);
            let path = format!("schema/{file}.yaml");
            if from.is_empty() {
                branches.folder.put(&path, to);
            } else {
                let text = branches.folder.read(&path);
                assert!(text.contains(from), "{from}");
                branches.folder.put(&path, text.replace(from, to));
            }
            if to.is_empty() {
                fs::remove_file(branches.folder.path(&path)).unwrap();
            }
            branches.generate_and_commit(branch);
        }
        branches
    }

    fn generate_and_commit(&self, message: &str) {
        self.written();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// Runs the generator; returns the files that it wrote.
    fn written(&self) -> Vec<String> {
        match self.project.generate(Mode::Write).unwrap().change {
            Change::Written(written) => written.written,
            Change::Drift(_) => panic!("nothing was compared"),
        }
    }

    /// Runs git; returns what it printed.
    fn git(&self, arguments: &[&str]) -> String {
        let done = self.command(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&done.stdout), text(&done.stderr));
        assert!(done.status.success(), "git {arguments:?}: {out}{err}");
        out
    }

    /// Returns a git command that ignores the user's configuration.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "test").env(format!("GIT_{role}_EMAIL"), "a@b");
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.current_dir(self.folder.path("")).args(arguments);
        command
    }
}
