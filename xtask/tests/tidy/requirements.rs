//! Each requirement of docs/requirements.md names the tests that prove it, and the tests name the requirement.

use std::collections::BTreeMap;

use crate::tree::File;

const PAGE: &str = "docs/requirements.md";

/// The page lists every test of every requirement.
pub(crate) fn proofs(files: &[File]) -> Vec<String> {
    compare(files).1
}

/// Writes the lists of tests into the page.
pub(crate) fn update(files: &[File]) {
    crate::tree::write(PAGE, &compare(files).0);
}

/// Returns the page with the current lists of tests, and the complaints about the existing page.
fn compare(files: &[File]) -> (String, Vec<String>) {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        let missing = format!("{PAGE} is missing; it lists the requirements and their proofs");
        return (String::new(), vec![missing]);
    };
    let mut tests = tests(files);
    let mut complaints = Vec::new();
    let mut lines = Vec::new();
    for (number, line) in page.lines() {
        let Some((id, sentence)) = row(line) else {
            lines.push(line.to_owned());
            continue;
        };
        let proofs = tests.remove(id).unwrap_or_default();
        if proofs.is_empty() {
            complaints.push(format!(
                "{PAGE}:{number}: no test proves {id}; begin its name or its docs with the id"
            ));
        }
        let expected = format!("| {id} | {sentence} | {} |", proofs.join(", "));
        if line != expected {
            complaints.push(format!(
                "{PAGE}:{number}: the tests of {id} changed; UPDATE_EXPECT=1 updates the list"
            ));
        }
        lines.push(expected);
    }
    complaints.extend(tests.into_iter().map(|(id, tests)| {
        format!("{} prove {id}, which is not a requirement in {PAGE}", tests.join(", "))
    }));
    (lines.join("\n") + "\n", complaints)
}

/// The id and the sentence of a requirement's row.
fn row(line: &str) -> Option<(&str, &str)> {
    let mut cells = line.strip_prefix("| ")?.splitn(3, " | ");
    let (id, sentence) = (cells.next()?, cells.next()?);
    is_id(id).then_some((id, sentence))
}

/// The tests by the ids of requirements at the beginning of their names or docs, each as a link to its file.
fn tests(files: &[File]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let rust = files.iter().filter(|file| file.is_rust() && !file.is_generated());
    for file in rust.filter(|file| !file.path.starts_with("xtask/")) {
        let (mut docs, mut is_test) = ("", false);
        for (_, line) in file.lines() {
            let line = line.trim();
            if let Some(text) = line.strip_prefix("/// ") {
                docs = if docs.is_empty() { text } else { docs };
            } else if line.starts_with("#[") {
                is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
            } else {
                if let (true, Some(name)) = (is_test, name(line)) {
                    let ids = docs.split(':').next().unwrap_or_default().split(", ");
                    let of_docs = ids.filter(|id| is_id(id)).map(str::to_owned);
                    let of_name = name.split('_').map(str::to_uppercase);
                    let mut ids: Vec<_> =
                        of_docs.chain(of_name.take_while(|id| is_id(id))).collect();
                    ids.sort_unstable();
                    ids.dedup();
                    for id in ids {
                        let proof = format!("[`{name}`](../{})", file.path);
                        found.entry(id).or_default().push(proof);
                    }
                }
                (docs, is_test) = ("", false);
            }
        }
    }
    found
}

/// The name of the function that begins on a line.
fn name(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("fn ")?;
    rest.split(['(', '<']).next()
}

/// Returns whether a text is an id: a letter of the five groups and a number.
fn is_id(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|letter| "GRIHP".contains(letter))
        && !letters.as_str().is_empty()
        && letters.all(|letter| letter.is_ascii_digit())
}

#[test]
fn a_requirement_without_a_test_and_a_test_without_a_requirement_are_found() {
    let page = "| G1 | A sentence. | [`g1_holds`](../a.rs) |\n| G2 | Another. |  |\n";
    let test = "/// G1, H3: it holds.\n#[test]\nfn g1_holds() {}\n";
    let complaints = proofs(&[File::new(PAGE, page), File::new("a.rs", test)]);
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    assert!(complaints[0].contains("no test proves G2"));
    assert!(complaints[1].contains("prove H3"));
}
