//! Compares patterns with `regress`, which also implements ECMA-262, and with the algorithm of ECMA-262.

mod specification;

use proptest::prelude::*;

use super::{Engine, Pattern, TooCostly, parse, translate};

/// Patterns that both engines support.
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
    "^[^\\ud800-\\udfff]+$",
    "^[\\ud7ff-\\ue000]$",
    "\\ud800|a",
    "\\ud800\\u0041",
    "[\\udc00]",
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
    "^(?!x).*$",
    "^(?!.*\\s).+$",
    "^(?=.*[a-z])(?=.*\\d).{2,}$",
    "a(?=b)",
    "a(?!b)",
    "(?<=a)b",
    "(?<!a)b",
    "(?<=^|-)a",
    "(?<=\\b[a-z]{3}) ",
    "(?<=(a+))b",
    "(?<=\\1(a))a",
    "(?=(a+))\\1b",
    "(?=(a+))a*b\\1",
    "(?!(a)\\1)a",
    "(?:(?!--)[^])*$",
    "^(a)?\\1b?$",
    "\\1(a)",
    "(a\\1)b",
    "^(?:(a)|(b))+\\1\\2$",
    "^(?:(a)|b)*\\1$",
    "(z)((a+)?(b+)?(c))*",
    "^(?<one>[ab])\\k<one>$",
    "\\k<one>(?<one>a)",
    "^(a*?)\\1$",
    "^(?:a{2,3}){1,2}(?=$)",
    "^(?:|a){2}(?<!b)$",
    "^(?:a?)*?(?!b)",
    "(?i:FOO)",
    "^(?i:[a-c])$",
    "^(?i:[^a-c])$",
    "^(?i:k|s)$",
    "^(?i:\\w)$",
    "^(?i:\\W)$",
    "^(?i:[\\w])(?-i:\\w)?$",
    "(?i:a(?-i:b))",
    "^(?s:.)$",
    "^(?s:.(?-s:.))$",
    "(?m:^a$)",
    "(?m:^)b",
    "(?ms:a$.^b)",
    "(?:a|b)+(?=\\n|$)",
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
fn translated_patterns_match_as_in_ecma_262() {
    for ecma in PATTERNS {
        let ours = Pattern::new(ecma).unwrap_or_else(|error| panic!("{ecma}: {error}"));
        let theirs = regress::Regex::with_flags(ecma, "u").expect("valid ECMA-262");
        for text in STRINGS {
            assert_eq!(ours.is_match(text), Ok(theirs.find(text).is_some()), "{ecma} on {text:?}");
        }
    }
}

#[test]
fn invalid_patterns_are_refused_with_their_position() {
    let cases = [
        ("a{", "without a count"),
        ("a{x}", "without a count"),
        ("}", "`}` has to be written"),
        ("]", "`]` has to be written"),
        ("*a", "`*` has to be written"),
        ("a**", "`*` has to be written"),
        ("^*", "an assertion"),
        ("(?=a)*", "an assertion"),
        ("(?<!a)?", "an assertion"),
        ("(a", "without its `)`"),
        ("(?=a", "without its `)`"),
        ("a)", "`)` without"),
        ("[a", "without its `]`"),
        ("[z-a]", "an invalid range"),
        ("[\\d-z]", "an invalid range"),
        ("[\\p{L}-z]", "feature or range"),
        ("\\", "nothing after"),
        ("\\_", "is not an escape"),
        ("a{3,2}", "minimum exceeds"),
        ("\\u{110000}", "not a code point"),
        ("(?<a>x)(?<a>y)", "same name"),
        ("(?<>x)", "no name"),
        ("(?<a", "no `>`"),
        ("(?<a-b>x)", "letters, digits"),
        ("a{99999}", "more than"),
        ("\\01", "is not an escape"),
        ("(a)\\2", "does not exist"),
        ("\\k<a>", "no group has the name"),
        ("\\ka", "without the name"),
        ("\\p", "without a property"),
        ("\\pL", "without a property"),
        ("\\p{L", "without its `}`"),
        ("\\p{Greek}", "has no Unicode property"),
        ("\\p{lu}", "has no Unicode property"),
        ("\\p{Script=Nowhere}", "has no Unicode property"),
        ("(?i)a", "flags without a group"),
        ("(?x:a)", "expected a group"),
        ("(?ii:a)", "expected a group"),
        ("(?i-i:a)", "expected a group"),
        ("(?-:a)", "expected a group"),
        ("(?P<a>b)", "expected a group"),
        ("(?>a)", "expected a group"),
    ];
    for (ecma, expected) in cases {
        let error = translate(ecma).expect_err(ecma);
        let message = error.to_string();
        let expected = match expected {
            "feature or range" if cfg!(feature = "patterns") => "an invalid range",
            "feature or range" => "the Unicode tables",
            expected => expected,
        };
        assert!(message.contains(expected), "{ecma}: {message}");
        assert!(message.contains(" at character "), "{ecma}: {message}");
        assert!(error.offset() <= ecma.chars().count(), "{ecma}: {error:?}");
        if !ecma.contains("\\p") {
            assert!(
                regress::Regex::with_flags(ecma, "u").is_err() || LIMITS.contains(&ecma),
                "{ecma}"
            );
        }
    }
}

/// Patterns that are refused by a limit, or by a rule that is newer than the edition that JSON Schema refers to.
const LIMITS: [&str; 2] = ["a{99999}", "\\uD800"];

#[test]
fn flags_without_a_group_are_refused_with_a_correction() {
    let error = translate("(?i)^get$").unwrap_err();
    assert_eq!(
        error.help(),
        Some("write `(?i:…)` around the part of the pattern to which they apply")
    );
    assert!(Pattern::new("(?i:^get$)").unwrap().is_match("GeT").unwrap());
}

#[test]
fn only_patterns_that_need_it_use_backtracking() {
    for linear in ["^[a-z]+$", "(a)(?<b>c)", "(?i:abc|d)+", "(?s:.*)", "\\bx\\b", "(?i:[^k])"] {
        assert_eq!(translate(linear).unwrap().engine, Engine::Linear, "{linear}");
    }
    for other in ["a(?=b)", "(?<!a)b", "(a)\\1", "(?m:^a)", "(?i:\\ba)"] {
        let translated = translate(other).unwrap();
        assert_eq!(translated.engine, Engine::Backtracking, "{other}");
        assert_eq!(translated.regex, other);
    }
}

/// Without a limit, each of these matches would practically not end.
#[test]
fn a_match_ends_after_a_limit_of_steps() {
    let bombs = [
        ("^(?=(a+)+$)", "a".repeat(60) + "!"),
        ("^(?:(a|aa)+)(?!.)", "a".repeat(60) + "!"),
        ("(?=(a+)+$)b", "a".repeat(60) + "!"),
        ("^(a*)(a*)(a*)(a*)(a*)\\1\\2\\3\\4\\5b", "a".repeat(400)),
        ("^.*.*.*.*.*(?<=x)y", "x".repeat(400)),
        ("(?:(?:a?){50}){50}(?!a)b", "a".repeat(50)),
        ("(?=[a-z]*!)x", "x".repeat(100_000)),
        ("(?<=^(?:a|aa)*)!", format!("b{}!", "a".repeat(60))),
    ];
    for (bomb, text) in bombs {
        let steps = 1_000_000 + 30 * text.len() as u64;
        let found = Pattern::new(bomb).unwrap().is_match(&text);
        assert_eq!(found, Err(TooCostly { limit: steps }), "{bomb}");
    }
}

#[test]
fn each_eight_runs_of_a_pattern_are_a_step() {
    for (runs, steps) in [(1, 1), (8, 2), (8000, 1001)] {
        let mut left = 2000;
        let pattern = Pattern::new(&format!("^{}$", "a".repeat(runs))).unwrap();
        assert_eq!(pattern.is_match_within("", &mut left), Ok(false));
        assert_eq!(2000 - left, steps, "{runs}");
    }
}

/// The error comes before the rest of the class is read.
#[test]
fn a_class_is_read_up_to_a_limit() {
    let class = |part: &str| format!("[{}]", part.repeat(1_000_000));
    for part in ["a", "a-b", "\\w", "\\s\\W"] {
        let error = translate(&class(part)).unwrap_err();
        assert!(error.offset() < 2_000_000, "{part}: {error}");
        assert!(error.message().starts_with("more than 20000 steps"), "{error}");
    }
}

#[test]
fn long_texts_are_matched_within_the_limit() {
    let text = "0123456789 abcdefghij ".repeat(20_000);
    for (ecma, expected) in [
        ("^(?!x).*$", true),
        ("^(?=.*[a-z])(?=.*\\d)[^]*$", true),
        ("^(?:(?!--)[^])*$", true),
        ("(?<=j )0123", true),
        ("(?<!.)x", false),
        ("([a-j])\\1", false),
    ] {
        assert_eq!(Pattern::new(ecma).unwrap().is_match(&text), Ok(expected), "{ecma}");
    }
}

/// Patterns with all features of the backtracking engine, valid or not, with `loops` levels of nested loops.
fn patterns(loops: usize) -> impl Strategy<Value = String> {
    const ATOMS: &[&str] = &[
        "a", "b", "k", "K", "s", "1", " ", ".", "\\d", "\\w", "\\W", "\\s", "\\S", "[ab]", "[^a]",
        "[a-k]", "[^\\w]", "^", "$", "\\b", "\\B", "\\1", "\\2", "\\k<n>", "\\n", "",
    ];
    let atom = proptest::sample::select(ATOMS).prop_map(str::to_owned).boxed();
    (0..loops).fold(combined(atom), |part, _| combined(repeated(part)))
}

/// Combines parts as groups, sequences and choices.
fn combined(part: BoxedStrategy<String>) -> BoxedStrategy<String> {
    const GROUPS: &[&str] = &[
        "(", "(", "(", "(?:", "(?<n>", "(?=", "(?!", "(?<=", "(?<!", "(?i:", "(?-i:", "(?s:",
        "(?m:", "(?im-s:",
    ];
    let nested = part.prop_recursive(2, 8, 3, |inner| {
        let group = (proptest::sample::select(GROUPS), inner.clone());
        prop_oneof![
            3 => group.prop_map(|(open, inner)| format!("{open}{inner})")),
            3 => proptest::collection::vec(inner.clone(), 2..4).prop_map(|parts| parts.concat()),
            1 => proptest::collection::vec(inner, 2..4).prop_map(|parts| parts.join("|")),
        ]
    });
    nested.boxed()
}

/// Adds quantifiers to a part.
fn repeated(part: BoxedStrategy<String>) -> BoxedStrategy<String> {
    const QUANTIFIERS: &[&str] =
        &["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}"];
    let open = proptest::sample::select(&["(?:", "("][..]);
    let loops = (open, part.clone(), proptest::sample::select(QUANTIFIERS));
    let loops = loops.prop_map(|(open, part, quantifier)| format!("{open}{part}){quantifier}"));
    prop_oneof![part, loops].boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// `regress` 0.12 has bugs with loops that are nested three levels deep and with groups that refer to themselves.
    /// So it is only compared on whether a pattern is valid.
    #[test]
    fn random_patterns_match_what_ecma_262_matches(
        ecma in patterns(3),
        texts in proptest::collection::vec("[abkKs1_ \n\u{17f}\u{212a}é😀]{0,7}", 6),
    ) {
        let ours = Pattern::new(&ecma);
        if cfg!(not(feature = "patterns")) && ours.is_err() {
            return Ok(());
        }
        // ECMA-262 2025 lets groups of different choices share a name, which is refused here.
        if ecma.matches("(?<n>").count() < 2 {
            let theirs = regress::Regex::with_flags(&ecma, "u");
            prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{} is {:?}", ecma, ours);
        }
        let (Ok(ours), Ok(tree)) = (ours, parse(&ecma)) else { return Ok(()) };
        for text in texts {
            let Some(found) = specification::is_match(&tree, &text) else { continue };
            prop_assert_eq!(ours.is_match(&text), Ok(found), "{} on {:?}", ecma, text);
        }
    }
}

#[cfg(feature = "patterns")]
mod with_tables {
    use super::*;

    #[test]
    fn properties_match_as_in_ecma_262() {
        let patterns = [
            "^\\p{L}+$",
            "^[\\p{L}\\p{N}_-]+$",
            "^\\P{L}$",
            "^[^\\p{L}\\d]$",
            "^\\p{Lu}\\p{Ll}*$",
            "^\\p{Script=Greek}+$",
            "^\\p{sc=Cyrl}+$",
            "^\\p{scx=Deva}$",
            "^\\p{gc=Decimal_Number}$",
            "^\\p{Emoji_Presentation}$",
            "^\\p{ASCII}*$",
            "^\\p{Any}$",
            "^\\p{Cs}$",
            "^\\P{Cs}$",
            "^\\p{White_Space}$",
            "^(?i:\\p{Lu})$",
            "^(?i:\\P{Lu})$",
            "^(?i:[^\\p{Lu}])$",
            "^(?i:é|ß|σ)+$",
            "^(?i:[à-ÿ])+$",
            "^(?i:(é)\\1)$",
            "(?=\\p{Lu})É",
            "(?i:\\bſ\\b)|\\bſ\\b",
            "(?i:\\Bſ)",
            "(?<=\\p{P})a",
        ];
        let texts = [
            "é", "É", "éÉ", "ß", "ẞ", "σ", "ς", "Σ", "Ω", "ж", "Ж", "Жж", "٣", "3", "ि", "।", "😀",
            "-a", "ǅ", "\u{85}",
        ];
        for ecma in patterns {
            let ours = Pattern::new(ecma).unwrap_or_else(|error| panic!("{ecma}: {error}"));
            let theirs = regress::Regex::with_flags(ecma, "u").expect(ecma);
            for text in STRINGS.iter().chain(&texts) {
                assert_eq!(
                    ours.is_match(text),
                    Ok(theirs.find(text).is_some()),
                    "{ecma} on {text:?}"
                );
            }
        }
    }

    #[test]
    fn reading_properties_and_folding_case_are_limited_also_where_few_ranges_are_left() {
        for part in [
            "\\p{L}",
            "\\p{Cs}",
            "[^\\p{L}\\P{L}]",
            "(?i:[\\0-\\u{10ffff}])",
            "(?i:[^\\0-\\u{10ffff}])",
        ] {
            let error = translate(&part.repeat(20_001)).unwrap_err();
            assert!(error.message().starts_with("more than 20000 steps"), "{error}");
            assert!(translate(&part.repeat(50)).is_ok());
        }
        let class = format!("[^{}]", "\\p{L}\\P{L}".repeat(20_000));
        assert!(translate(&class).unwrap_err().offset() < 6000);
    }

    #[test]
    fn each_letter_that_a_reference_compares_is_a_step() {
        let pattern = Pattern::new("^(?i:(.{1000})(?:.(?=\\1))*)").unwrap();
        let text = format!("{}{}", "Ä".repeat(1000), "ä".repeat(10_000));
        let limit = 1_000_000 + 30 * text.len() as u64;
        assert_eq!(pattern.is_match(&text), Err(TooCostly { limit }));
    }

    #[test]
    fn properties_do_not_need_backtracking() {
        for ecma in ["^[\\p{L}\\p{N} '-]{1,100}$", "(?i:\\P{Lu})", "(?i:é)"] {
            let translated = translate(ecma).unwrap();
            assert_eq!(
                (translated.engine, translated.needs_tables),
                (Engine::Linear, true),
                "{ecma}"
            );
            Pattern::from_translated(&translated).unwrap();
        }
        assert!(!translate("(?i:a)(?=b)").unwrap().needs_tables);
    }
}

#[cfg(not(feature = "patterns"))]
#[test]
fn patterns_that_need_the_tables_are_refused_with_the_feature() {
    for ecma in ["\\p{L}", "[^\\P{Lu}]", "(?i:é)", "(?i:[à-ÿ])", "(?i:(a)\\1)"] {
        let error = Pattern::new(ecma).expect_err(ecma);
        assert!(error.help().is_some_and(|help| help.contains("feature `patterns`")), "{error:?}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("{}{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(translate(&deep).is_err());
}
