//! Tests of edits to YAML texts.

use super::*;

fn root(text: &str) -> Node {
    let sources = Sources::new(vec![Source { path: String::new(), text: text.to_owned() }]);
    let mut report = Report::default();
    let (id, source) = sources.iter().next().expect("a file");
    let root = yaml::parse(id, &source.text, &mut report).expect("YAML");
    assert!(!report.has_errors());
    root
}

fn patched(old: &str, new: &str) -> Patched {
    patch(old, &root(old), &root(new).to_json(), &[])
}

#[test]
fn unchanged_parts_keep_their_layout_and_comments() {
    let cases = [
        ("a: 1 # one\nb: 2\n", "a: 2\nb: 2\n", "a: 2 # one\nb: 2\n"),
        ("# top\na: 1\n\n# two\nb: 2\nc: 3\n", "a: 1\nc: 3", "# top\na: 1\n\nc: 3\n"),
        ("a: 1\n\nb: 2\n\nc: 3\n", "a: 1\nc: 3", "a: 1\n\nc: 3\n"),
        (
            "x:\n    a: 1 # far\n    b: 2\n",
            "x: {a: 1, m: 5, b: 2}",
            "x:\n    a: 1 # far\n    m: 5\n    b: 2\n",
        ),
        ("x:\n  # a\n  a: 1\n  b: 2\n", "x: {m: 1, b: 2}", "x:\n  m: 1\n  b: 2\n"),
        ("x:\n  b: 2\n", "x: {m: 1, b: 2}", "x:\n  m: 1\n  b: 2\n"),
        ("a: 'it''s' # one\nb: 2\n", "a: x\nb: 2", "a: x # one\nb: 2\n"),
        ("a: [it's, \"]\", '}'] # one\n", "a: [b]", "a: [b] # one\n"),
        ("a: { b: [\n  1, # ]\n  2] } # one\nc: 1\n", "a: 1\nc: 1", "a: 1 # one\nc: 1\n"),
        ("x: {a: 1} # flow\n", "x: {a: 2}", "# flow\nx:\n  a: 2\n"),
        (
            "x:\n  y: 1 # why\n",
            "x: {y: {z: {z: {z: {z: 1}}}}}",
            "x:\n  # why\n  y:\n    z:\n      z: { z: { z: 1 } }\n",
        ),
        (
            "l:\n  - a: 1 # one\n    b: 2\n  - c\n",
            "l: [{a: 1, b: 3}, c]",
            "l:\n  - a: 1 # one\n    b: 3\n  - c\n",
        ),
        ("l:\n  - a: 1\n    b: 2 # two\n", "l: [{b: 2}]", "l:\n  - b: 2 # two\n"),
        ("l:\n  - a: 1\n", "l: [{m: 0, a: 1}]", "l:\n  - m: 0\n    a: 1\n"),
        ("a: |\n  # text\n  more\n# comment\nb: 1\n", "b: 1", "# comment\nb: 1\n"),
        (
            "a: |\n  text\n\n# comment\nb: 1\n",
            "a: \"text\\n\"\nm: 2\nb: 1",
            "a: |\n  text\n\nm: 2\n\n# comment\nb: 1\n",
        ),
        ("a: >-\n  long\n  text\nb: 1\n", "a: short\nb: 1", "a: short\nb: 1\n"),
        ("a:\nb: 1\n", "a: x\nb: 1", "a: x\nb: 1\n"),
        ("a: 1\r\nb:\r\n  c: 1\r\n", "a: 1\nb: {c: 1, d: 2}", "a: 1\r\nb:\r\n  c: 1\r\n  d: 2\r\n"),
        ("a: \"ä\" # ö\nb: 1", "a: ü\nb: 1\nc: 2", "a: ü # ö\nb: 1\n\nc: 2"),
        ("\"a b\": 1\n'c:': 2\n", "\"a b\": 3\n'c:': 4\n", "\"a b\": 3\n'c:': 4\n"),
        ("b: 1\na: 2\n", "a: 2\nb: 1.0", "b: 1\na: 2\n"),
    ];
    for (old, new, expected) in cases {
        let found = patched(old, new);
        assert_eq!((found.text.as_str(), found.is_rewritten), (expected, false), "{old:?} {new:?}");
    }
}

#[test]
fn a_text_that_cannot_be_edited_in_place_is_rewritten() {
    let cases = [
        ("x: &a\n  b: 1\ny: *a\n", "x: {b: 2}\ny: {b: 1}"),
        ("{a: 1, b: 2} # all\n", "a: 1\nb: 3"),
        ("a: |+\n  text\n\n\nb: 1\n", "a: \"text\\n\\n\\n\"\nm: 2\nb: 1"),
    ];
    for (old, new) in cases {
        let found = patched(old, new);
        assert!(
            is_same_value(&root(&found.text).to_json(), &root(new).to_json()),
            "{}",
            found.text
        );
    }
}

#[test]
fn a_renamed_entry_keeps_its_place_and_comments() {
    let old = "t:\n  # first\n  a: { x: 1 } # one\n  b: 2\n";
    let path = ["t", "a"].map(str::to_owned).to_vec();
    let new = root("t: { z: { x: 1 }, b: 2 }").to_json();
    let found = patch(old, &root(old), &new, &[(path, "z".to_owned())]);
    assert_eq!(found.text, "t:\n  # first\n  z: { x: 1 } # one\n  b: 2\n");
}
