//! Patterns against another engine, `regress`, which speaks ECMA-262 itself.

use super::{Pattern, translate};

/// Patterns that both engines take.
const PATTERNS: &[&str] = &[
    "",
    "a",
    "^a$",
    "^[a-z][a-z0-9]*(_[a-z0-9]+)*$",
    "a|b|",
    "^(?:ab)+$",
    "(?<year>\\d{4})-\\d{2}",
    "^\\d+$",
    "^\\D+$",
    "^\\w+$",
    "^\\W+$",
    "^\\s+$",
    "^\\S+$",
    "\\bfoo\\b",
    "\\Boo",
    "^.$",
    "^..$",
    "^[^]$",
    "[]",
    "^[^a-c]$",
    "^[\\s\\d]+$",
    "^[^\\s]+$",
    "^[\\w.-]+@[\\w.-]+$",
    "^[a\\-z]$",
    "^[&&]+$",
    "^[+--]$",
    "^[~~]$",
    "^[\\]]$",
    "^[[]$",
    "^\\/x\\/$",
    "\\x41",
    "\\u0041",
    "^\\u{1F600}$",
    "^\\uD83D\\uDE00$",
    "\\cJ",
    "\\0",
    "^a{2}$",
    "^a{2,}$",
    "^a{0,2}$",
    "^a+?b??$",
    "^[\\b]$",
    "\\t|\\n|\\v|\\f|\\r",
    "^(a|ab)(c|bcd)(d*)$",
    "(a*)*b",
    "^[-a]$",
    "^[a-]$",
    "^(?:)$",
    "é",
    "^[À-ÿ]+$",
    "^[\\u0000-\\uFFFF]$",
    "^[^\\n]*$",
    "#",
    " x",
    "^\\$\\{[a-z]+\\}$",
    "^[^\\W_]+$",
    "^[\\D\\d]$",
    "\\B",
    "\\b",
    "(^|b)a",
    "(?:^a)?b",
    "[\\[\\]{}()*+?.,\\\\^$|#]",
    "x{0}",
    "^(?:a{2}){2}$",
    "$",
    "^",
    "a$|^b",
    "^[!-~]+$",
    "\\.\\*\\+\\?",
];

const STRINGS: &[&str] = &[
    "",
    "a",
    "b",
    "c",
    "A",
    "aa",
    "aaa",
    "ab",
    "abcd",
    "aaaa",
    "foo",
    "a foo b",
    "fooo",
    "a_b1",
    "a__b",
    "2024-05",
    "12",
    "٣",
    "é",
    "e\u{301}",
    "À",
    "ß",
    "😀",
    "\n",
    "a\n",
    "\na",
    "\r",
    "\u{2028}",
    "\u{a0}",
    "\u{feff}",
    "\u{85}",
    "\u{180e}",
    "\t \u{b}\u{c}",
    "&",
    "&&",
    "-",
    "--",
    "~",
    "]",
    "[",
    "/x/",
    "\u{0}",
    "\u{8}",
    "\u{1f}",
    "x@y.z",
    "${abc}",
    "^",
    "$",
    ".*+?",
    "#",
    " x",
    "b\na",
    "K",
    "ſ",
    "_",
    "\u{ffff}",
    "\u{10ffff}",
    "\u{200b}",
    "日本",
];

#[test]
fn a_translated_pattern_finds_what_ecma_262_finds() {
    for ecma in PATTERNS {
        let ours = Pattern::new(ecma).unwrap_or_else(|error| panic!("{ecma}: {error}"));
        let theirs = regress::Regex::with_flags(ecma, "u").expect("valid ECMA-262");
        for text in STRINGS {
            assert_eq!(ours.is_match(text), Ok(theirs.find(text).is_some()), "{ecma} on {text:?}");
        }
    }
}

#[test]
fn what_has_no_equal_is_refused_with_its_place() {
    let cases = [
        ("a(?=b)", "looking around"),
        ("(?<!a)b", "looking around"),
        ("(a)\\1", "references"),
        ("\\k<a>", "references"),
        ("\\p{L}", "Unicode properties"),
        ("(?i:a)", "flags"),
        ("a{", "counts nothing"),
        ("a{x}", "counts nothing"),
        ("}", "`}` has to be written"),
        ("]", "`]` has to be written"),
        ("*a", "`*` has to be written"),
        ("a**", "`*` has to be written"),
        ("^*", "an assertion"),
        ("(a", "without its `)`"),
        ("a)", "`)` without"),
        ("[a", "without its `]`"),
        ("[z-a]", "a range"),
        ("[\\d-z]", "a range"),
        ("\\", "nothing after"),
        ("\\_", "means nothing"),
        ("a{3,2}", "more often"),
        ("\\uD800", "surrogate"),
        ("\\u{110000}", "no code point"),
        ("(?<a>x)(?<a>y)", "name of another"),
        ("a{99999}", "more than"),
        ("\\01", "means nothing"),
    ];
    for (ecma, expected) in cases {
        let message = translate(ecma).expect_err(ecma).to_string();
        assert!(message.contains(expected), "{ecma}: {message}");
        assert!(message.contains(" at character "), "{ecma}: {message}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("{}{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(translate(&deep).is_err());
}
