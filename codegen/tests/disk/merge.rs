//! Branches that change different tools merge without a conflict in the output folder, and what they merge to is right.

use std::path::Path;
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
";

const STAMPS: &str = "toolwright: 1
service: mail
toolsets:
  stamps:
    description: Stamps.
    tools:
      # Here is room for more.
      buy_stamp:
        description: Buy a stamp.
        args: { type: object, properties: { value: { type: integer } } }
";

const OFFICE: &str = "toolwright: 1
service: office
agents:
  clerk: { description: Writes letters., instructions: Be kind., toolsets: [letters] }
  seller: { description: Sells stamps., instructions: Be quick., toolsets: [stamps] }
mcp_servers: { counter: { version: 1.0.0, toolsets: [letters, stamps] } }
";

/// What a branch does to one schema file: the words it replaces, and by which.
type Edit = (&'static str, &'static str, &'static str);

const ROOM: &str = "# Here is room for more.";

const LEFT_AND_RIGHT: [(Edit, Edit); 4] = [
    // Tools of one toolset.
    (("letters", "Send a letter.", "Send one letter."), ("letters", "Burn a letter.", "Burn it.")),
    // Tools of two toolsets, and the arguments of one.
    (
        ("letters", "text: { type: string }", "text: { type: string, maxLength: 9 }"),
        ("stamps", "Buy a stamp.", "Buy one stamp."),
    ),
    // A new tool in each of two toolsets.
    (
        ("letters", ROOM, "lose_letter: { description: Lose a letter., args: { type: object } }"),
        ("stamps", ROOM, "lick_stamp: { description: Lick a stamp., args: { type: object } }"),
    ),
    // A tool that is new, another that is gone.
    (
        ("letters", ROOM, "lose_letter: { description: Lose a letter., args: { type: object } }"),
        ("stamps", "buy_stamp:", "get_stamp:"),
    ),
];

#[test]
fn branches_that_change_different_tools_merge_without_a_conflict() {
    if !has(&[Prerequisite::Git]) {
        return;
    }
    for (left, right) in LEFT_AND_RIGHT {
        let folder = Folder::new(&[
            ("schema/letters.yaml", LETTERS),
            ("schema/stamps.yaml", STAMPS),
            ("schema/office.yaml", OFFICE),
        ]);
        let project = Project::open(&folder.path("")).unwrap();
        let git = |arguments: &[&str]| git(&folder.path(""), arguments);
        let generate_and_commit = |what: &str| {
            project.generate(Mode::Write).unwrap();
            git(&["add", "--all"]);
            git(&["commit", "--quiet", "--message", what]);
        };
        git(&["init", "--quiet", "--initial-branch", "main"]);
        generate_and_commit("Start");
        for (branch, (file, from, to)) in [("left", left), ("right", right)] {
            git(&["checkout", "--quiet", "-b", branch, "main"]);
            let path = format!("schema/{file}.yaml");
            let text = folder.read(&path);
            assert!(text.contains(from), "{from}");
            folder.put(&path, text.replace(from, to));
            generate_and_commit(branch);
        }
        git(&["merge", "--quiet", "--no-edit", "left"]);
        let compared = project.generate(Mode::Check).unwrap();
        assert!(compared.is_up_to_date(), "{}", compared.report("gen"));
        let Change::Written(written) = project.generate(Mode::Write).unwrap().change else {
            panic!("nothing was compared");
        };
        assert_eq!(written.written, [""; 0], "{left:?} {right:?}");
        let status = git(&["status", "--porcelain", "--untracked-files=all"]);
        assert_eq!(status, "", "nothing is left that git does not know or ignore");
        let tracked = git(&["ls-files"]);
        assert!(!tracked.contains(".record"), "{tracked}");
    }
}

/// Runs git in a folder without the settings of who runs the tests; returns what it printed.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "test").env(format!("GIT_{who}_EMAIL"), "test@test");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let done = command.current_dir(folder).args(arguments).output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (said(&done.stdout), said(&done.stderr));
    assert!(done.status.success(), "git {arguments:?}: {out}{err}");
    out
}
