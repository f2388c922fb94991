//! Answers of providers by which a row recognizes kinds of errors.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use toolwright_dialect::Dialect;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    answer: Vec<Answer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    /// The repository and the number of the issue or pull request.
    source: String,
    date: String,
    dialect: String,
    kind: String,
    /// The words of the answer.
    error: String,
}

#[test]
fn each_kind_of_error_is_recognized_by_the_words_of_a_recorded_answer() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers.toml");
    let File { answer: answers } = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for Answer { source, date, dialect, kind, error } in &answers {
        let error = error.to_lowercase();
        let errors = Dialect::find(dialect).unwrap().errors();
        let found = errors.iter().filter(|(_, all)| all.iter().any(|words| error.contains(words)));
        assert_eq!(found.map(|(kind, _)| kind).collect::<Vec<_>>(), [kind], "{source}");
        assert!(date.len() == 10 && date.as_str() <= "2026-11-25", "{source}");
    }
    for row in Dialect::all() {
        for (kind, all) in row.errors() {
            assert!(["grammar_too_large", "strict_refused"].contains(&kind.as_str()), "{kind}");
            for words in all {
                let is_recorded = answers.iter().any(|answer| {
                    let is_of_row = [row.id(), row.inherits().unwrap_or_default()]
                        .contains(&answer.dialect.as_str());
                    is_of_row && answer.kind == *kind && answer.error.to_lowercase().contains(words)
                });
                assert!(is_recorded, "{}: `{words}` is in no recorded answer", row.id());
            }
        }
    }
}
