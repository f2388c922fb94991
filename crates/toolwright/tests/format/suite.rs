//! The rows of the official suite for the formats that are checked.

use serde_json::Value;
use toolwright::format::Format;

/// The files of `suite/`.
const FILES: [(&str, &str); 13] = [
    ("date-time", include_str!("suite/date-time.json")),
    ("date", include_str!("suite/date.json")),
    ("duration", include_str!("suite/duration.json")),
    ("ecmascript-regex", include_str!("suite/ecmascript-regex.json")),
    ("email", include_str!("suite/email.json")),
    ("hostname", include_str!("suite/hostname.json")),
    ("ipv4", include_str!("suite/ipv4.json")),
    ("ipv6", include_str!("suite/ipv6.json")),
    ("json-pointer", include_str!("suite/json-pointer.json")),
    ("regex", include_str!("suite/regex.json")),
    ("time", include_str!("suite/time.json")),
    ("uri", include_str!("suite/uri.json")),
    ("uuid", include_str!("suite/uuid.json")),
];

/// Returns the rows of one file that have strings: the format, the string, true if it is valid, and the description.
fn rows(json: &str) -> Vec<(Format, String, bool, String)> {
    let groups: Vec<Value> = serde_json::from_str(json).unwrap();
    let mut rows = Vec::new();
    for group in &groups {
        let format = Format::from_name(group["schema"]["format"].as_str().unwrap()).unwrap();
        for test in group["tests"].as_array().unwrap() {
            if let Some(text) = test["data"].as_str() {
                let about = test["description"].to_string();
                rows.push((format, text.to_owned(), test["valid"] == true, about));
            }
        }
    }
    rows
}

#[test]
fn texts_are_checked_as_in_the_official_suite() {
    let mut disagreed = Vec::new();
    for (file, json) in FILES {
        for (format, text, valid, about) in rows(json) {
            if format.is_valid(&text) != valid {
                disagreed.push(format!("{file}: {text:?} should be {valid}: {about}"));
            }
        }
    }
    assert!(disagreed.is_empty(), "{}", disagreed.join("\n"));
}

#[test]
fn every_format_has_rows_of_the_official_suite() {
    for format in Format::ALL {
        let is_its_file =
            |(file, json): &&(&str, &str)| *file == format.name() && !rows(json).is_empty();
        assert!(FILES.iter().any(|file| is_its_file(&file)), "{format}");
    }
}
