//! Tests of the four formats with the same findings: two files, wide characters, a finding without a place.

use expect_test::{ExpectFile, expect_file};
use toolwright::untrusted::hidden;
use toolwright_codegen::diagnostic::{Diagnostic, Label, Severity};
use toolwright_codegen::diagnostic::{SourceId, Span};
use toolwright_codegen::render::{Format, render};
use toolwright_codegen::{Source, Sources};

fn sources() -> Sources {
    let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
    Sources::new(vec![
        source("schema/a b.yaml", "toolwright: 1\n# größe\ntools: { übung: 1 }\n"),
        source("schema/c.yaml", "tools:\n  übung: 2\n"),
    ])
}

/// Returns the first place of a word in a file.
fn find(sources: &Sources, path: &str, word: &str) -> Span {
    let (source, file): (SourceId, _) = sources.iter().find(|(_, file)| file.path == path).unwrap();
    let start = u32::try_from(file.text.find(word).unwrap()).unwrap();
    Span { source, start, end: start + u32::try_from(word.len()).unwrap() }
}

fn finding(code: &'static str, span: Option<Span>, message: &str) -> Diagnostic {
    Diagnostic {
        code,
        severity: Severity::Error,
        message: message.to_owned(),
        span,
        label: String::new(),
        labels: Vec::new(),
        help: None,
    }
}

fn findings(sources: &Sources) -> Vec<Diagnostic> {
    let (first, second) =
        (find(sources, "schema/a b.yaml", "übung"), find(sources, "schema/c.yaml", "übung"));
    let twice = "tool `übung` is declared twice, 100% sure";
    vec![
        Diagnostic {
            label: "declared again here".to_owned(),
            labels: vec![Label { span: first, message: "first declared here".to_owned() }],
            help: Some("rename one, or\nremove it".to_owned()),
            ..finding("duplicate-tool", Some(second), twice)
        },
        Diagnostic {
            severity: Severity::Warning,
            ..finding("unknown-format", Some(first), "an odd name")
        },
        finding("missing-schema", None, "there is no schema at schema"),
    ]
}

fn check(format: Format, expected: &ExpectFile) {
    let sources = sources();
    expected.assert_eq(&render(&findings(&sources), &sources, format));
}

#[test]
fn the_human_format_shows_both_places() {
    check(Format::Human { color: false }, &expect_file!["rendered/human.txt"]);
}

#[test]
fn the_json_format_has_one_object_per_line() {
    check(Format::Json, &expect_file!["rendered/json.jsonl"]);
}

#[test]
fn the_github_format_has_escaped_commands() {
    check(Format::Github, &expect_file!["rendered/github.txt"]);
}

#[test]
fn the_sarif_format_is_one_log() {
    check(Format::Sarif, &expect_file!["rendered/sarif.json"]);
}

/// The required properties of SARIF 2.1.0 (OASIS): a log (3.13), its runs (3.14), a tool's rules (3.19, 3.49), results
/// (3.27), locations (3.28 to 3.30).
#[test]
fn sarif_has_what_the_standard_requires() {
    let sources = sources();
    let text = render(&findings(&sources), &sources, Format::Sarif);
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let [run] = log["runs"].as_array().unwrap().as_slice() else { panic!("one run") };
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "toolwright");
    let rules = driver["rules"].as_array().unwrap();
    let levels = ["none", "note", "warning", "error"];
    for rule in rules {
        assert!(!rule["shortDescription"]["text"].as_str().unwrap().is_empty());
        assert!(levels.contains(&rule["defaultConfiguration"]["level"].as_str().unwrap()));
    }
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    for result in results {
        let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[rule]["id"], result["ruleId"]);
        assert!(levels.contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let related = result["relatedLocations"].as_array().unwrap();
        for place in result["locations"].as_array().unwrap().iter().chain(related) {
            let place = &place["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().unwrap();
            assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri}");
            let count = |key: &str| place["region"][key].as_u64().unwrap();
            assert!(count("startLine") > 0 && count("startColumn") > 0);
            assert!(
                (count("startLine"), count("startColumn"))
                    <= (count("endLine"), count("endColumn"))
            );
        }
    }
}

#[test]
fn an_absolute_path_is_a_file_uri() {
    let file = Source { path: "/a b/ü.yaml".to_owned(), text: "x".to_owned() };
    let sources = Sources::new(vec![file]);
    let (source, _) = sources.iter().next().unwrap();
    let found = finding("unknown-key", Some(Span { source, start: 0, end: 1 }), "odd");
    let text = render(&[found], &sources, Format::Sarif);
    assert!(text.contains("\"file:///a%20b/%C3%BC.yaml\""), "{text}");
}

#[test]
fn without_findings_only_sarif_is_not_empty() {
    let none = |format| render(&[], &Sources::default(), format);
    for format in [Format::Human { color: true }, Format::Json, Format::Github] {
        assert_eq!(none(format), "");
    }
    let log: serde_json::Value = serde_json::from_str(&none(Format::Sarif)).unwrap();
    assert_eq!(log["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn control_characters_in_a_message_are_escaped() {
    let sources = sources();
    let found = finding("odd", None, "name \u{1b}]0;owned\u{7} found");
    let text = render(&[found], &sources, Format::Human { color: false });
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
}

#[test]
fn a_span_past_the_end_of_a_file_does_not_panic() {
    let sources = sources();
    let source = find(&sources, "schema/c.yaml", "tools").source;
    let found = finding("odd", Some(Span { source, start: 900, end: 901 }), "cut off");
    for format in [Format::Human { color: false }, Format::Json, Format::Github, Format::Sarif] {
        assert!(render(std::slice::from_ref(&found), &sources, format).contains("cut off"));
    }
}

#[test]
fn carets_are_below_their_word_if_hidden_characters_precede_it() {
    let text = "a: \u{9b}31m\u{9d}\u{e0041} word\n".to_owned();
    let sources = Sources::new(vec![Source { path: "schema/a.yaml".to_owned(), text }]);
    let found = finding("odd", Some(find(&sources, "schema/a.yaml", "word")), "odd");
    let text = render(&[found], &sources, Format::Human { color: false });
    let mut lines = text.lines().skip_while(|line| !line.contains("word"));
    let (line, below) =
        (lines.next().expect("a line with the word"), lines.next().expect("a line with carets"));
    assert!(line.ends_with("a: \u{fffd}31m\u{fffd}\u{fffd} word"), "{text}");
    let column = |line: &str, of: char| line.chars().position(|c| c == of);
    assert_eq!(column(line, 'w'), column(below, '^'), "{text}");
    assert_eq!(below.matches('^').count(), 4, "{text}");
}

/// An attacker may put a command for the log of a build into the name or the text of a file.
#[test]
fn no_format_lets_a_name_or_a_text_begin_a_line_or_control_a_terminal() {
    let hostile = "e\n::error::pwn\r\u{1b}[31m\u{9b}\u{202e}\u{e0041}\u{2800}";
    let path = format!("schema/{hostile}.yaml");
    let texts = [
        "a: 1\nb: 2\n".to_owned(),
        format!("a: \"{}\"\n", "x".repeat(5000)),
        "a: \u{e0041}\u{9b}31m\u{9d}\n".to_owned(),
    ];
    for text in texts {
        let sources = Sources::new(vec![Source { path: path.clone(), text }]);
        let source = sources.iter().next().unwrap().0;
        let span = Span { source, start: 0, end: 1 };
        let found = Diagnostic {
            label: hostile.to_owned(),
            labels: vec![Label { span, message: hostile.to_owned() }],
            help: Some(hostile.to_owned()),
            ..finding("odd", Some(span), hostile)
        };
        for format in [Format::Human { color: false }, Format::Json, Format::Github, Format::Sarif]
        {
            let text = render(std::slice::from_ref(&found), &sources, format);
            let is_control = |c: char| c.is_control() && c != '\n';
            assert!(!text.contains(is_control), "{format:?}: {text:?}");
            assert_eq!(hidden(&text).next(), None, "{format:?}: {text:?}");
            let forged = text.lines().find(|line| line.trim_start().starts_with("::error::pwn"));
            assert_eq!(forged, None, "{format:?}: {text:?}");
        }
        let text = render(&[found], &sources, Format::Github);
        let file = "file=schema/e%0A%3A%3Aerror%3A%3Apwn%0D\\u{1b}[31m\\u{9b}\\u{202e}\\u{e0041}\\u{2800}.yaml,";
        assert!(text.contains(file), "{text}");
    }
}
