//! `diff` and `breaking` with revisions of git repositories.

use std::fs;
use std::process::Command;

use toolwright_prerequisites::{Prerequisite, has};

use crate::{Project, text};

/// A checkout may contain a folder that git takes for a bare repository, with a configuration that names programs.
#[test]
fn no_program_of_a_checkout_runs() {
    if !has(&[Prerequisite::Git]) {
        return;
    }
    let project = Project::new();
    for folder in ["objects", "refs"] {
        fs::create_dir(project.path(folder)).unwrap();
    }
    let commit = "1111111111111111111111111111111111111111";
    let config = format!(
        "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tpartialclone = o\n\
         [remote \"o\"]\n\turl = \"ext::touch {}\"\n\tpromisor = true\n[protocol \"ext\"]\n\tallow = always\n",
        project.path("ran").display()
    );
    project.write("HEAD", "ref: refs/heads/main\n");
    project.write("packed-refs", &format!("{commit} refs/heads/main\n"));
    project.write("config", &config);
    for revision in ["git:main", "git:HEAD", &format!("git:{commit}")] {
        let (shown, code) = project.run(&["breaking", "--against", revision]);
        assert_eq!(code, 3, "{shown}");
        assert!(!project.path("ran").exists(), "{revision}");
    }
    // Neither does one run in a repository whose own configuration names it.
    fs::create_dir(project.path(".git")).unwrap();
    for name in ["HEAD", "packed-refs", "objects", "refs"] {
        fs::rename(project.path(name), project.path(".git").join(name)).unwrap();
    }
    project.write(".git/config", &config.replace("bare = true", "bare = false"));
    assert_eq!(project.run(&["diff", "git:main"]).1, 3);
    // Git runs this one when it reads the index.
    fs::remove_dir_all(project.path(".git")).unwrap();
    project.git(&["init", "--quiet"]);
    project.git(&["add", "toolwright.lock"]);
    let program = format!("touch {}; false", project.path("ran").display());
    project.git(&["config", "core.fsmonitor", &program]);
    assert_eq!(project.run(&["diff", "git::toolwright.lock"]).1, 3);
    assert!(!project.path("ran").exists());
}

#[test]
fn files_of_a_revision_have_the_limits_of_other_files() {
    if !has(&[Prerequisite::Git]) {
        return;
    }
    let project = Project::new();
    project.git(&["init", "--quiet"]);
    project.write("toolwright.lock", &" ".repeat((64 << 20) + 1));
    project.commit(&["--all"], "Blanks");
    let (shown, code) = project.run(&["diff", "git:HEAD"]);
    assert!(code == 3 && shown.contains("more than 64 MiB"), "{shown}");
    project.git(&["rm", "--quiet", "-r", "--cached", "toolwright.lock"]);
    // Equal files take no room in a repository.
    for number in 0..70 {
        let words = "# words\n".repeat(1 << 17);
        project.write(&format!("schema/{number}.yaml"), &format!("{words}toolwright: 1\n"));
    }
    project.commit(&["schema"], "Many");
    fs::remove_dir_all(project.path("schema")).unwrap();
    fs::create_dir(project.path("schema")).unwrap();
    let (shown, code) = project.run(&["diff", "git:HEAD", "schema"]);
    assert!(code == 1 && shown.contains("more than 64 MiB"), "{code} {shown}");
}

/// A partial clone lacks objects. That a revision has no lock must not follow from that.
#[test]
fn a_revision_that_is_not_complete_is_an_error() {
    if !has(&[Prerequisite::Git]) {
        return;
    }
    let project = Project::new();
    project.git(&["init", "--quiet"]);
    project.commit(&["--all"], "With a lock");
    for missing in ["HEAD:toolwright.lock", "HEAD^{tree}"] {
        let output = Command::new("git")
            .args(["rev-parse", missing])
            .current_dir(project.0.path())
            .output()
            .unwrap();
        let object = text(&output);
        let (folder, rest) = object.trim().split_at(2);
        fs::remove_file(project.path(&format!(".git/objects/{folder}/{rest}"))).unwrap();
        let (shown, code) = project.run(&["breaking", "--against", "git:HEAD"]);
        assert_eq!(code, 3, "{missing}: {shown}");
        assert!(shown.contains("this repository"), "{shown}");
    }
}

/// The folder of the schema is an empty path then.
#[test]
fn a_project_that_is_its_schema_folder_is_compared_from_a_folder_below() {
    if !has(&[Prerequisite::Git]) {
        return;
    }
    let project = Project::new();
    project.git(&["init", "--quiet"]);
    project.write("toolwright.toml", "[project]\nschema = \".\"\n");
    project.commit(&["toolwright.toml", "schema"], "Without a lock");
    let output = Command::new(env!("CARGO_BIN_EXE_toolwright"))
        .args(["breaking", "--against", "git:HEAD"])
        .current_dir(project.path("schema"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}
