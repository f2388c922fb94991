//! Repairs common mistakes in the schemas of real servers, one schema at a time and with a warning each. Valid keywords stay
//! as they are.

use std::collections::BTreeSet;

use super::keywords::{Entries, take};
use super::warnings::Subject;
use super::widen::{anything, is_mark, mark_wider};
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::keyword::{is_supported, is_unsupported};

/// Names of JSON's types in other languages.
const TYPE_WORDS: [(&str, &str); 13] = [
    ("int", "integer"),
    ("long", "integer"),
    ("float", "number"),
    ("double", "number"),
    ("decimal", "number"),
    ("str", "string"),
    ("text", "string"),
    ("bool", "boolean"),
    ("dict", "object"),
    ("map", "object"),
    ("list", "array"),
    ("tuple", "array"),
    ("none", "null"),
];

const TYPES: [&str; 7] = ["null", "boolean", "string", "integer", "number", "array", "object"];

/// Repairs one schema whose subschemas have been repaired.
pub(super) fn repair(schema: Json, pointer: &str, subject: &mut Subject<'_>) -> Json {
    let entries = match schema {
        Json::Object(entries) => entries,
        Json::Boolean(_) => return schema,
        other => {
            let message = format!("{other} is not a schema, so any value is accepted");
            subject.warn(pointer, message);
            return anything();
        }
    };
    let mut repair = Repair { pointer, subject, is_wider: false };
    let entries = repair.example(entries).into_iter();
    let mut entries: Entries =
        entries.filter_map(|(key, value)| repair.entry(key, value)).collect();
    if repair.is_wider {
        mark_wider(&mut entries);
    }
    Json::Object(entries)
}

struct Repair<'a, 'b> {
    pointer: &'a str,
    subject: &'a mut Subject<'b>,
    /// True if the repaired schema accepts more than the original.
    is_wider: bool,
}

impl Repair<'_, '_> {
    fn warn(&mut self, message: impl Into<String>) {
        self.subject.warn(self.pointer, message);
    }

    /// Translates OpenAPI's `example` to `examples`.
    fn example(&mut self, mut entries: Entries) -> Entries {
        let has_examples = entries.iter().any(|(key, _)| key == "examples");
        if !has_examples && let Some(value) = take(&mut entries, "example") {
            self.warn("`example` is not a keyword, so it became `examples`");
            entries.push(("examples".to_owned(), Json::Array(vec![value])));
        }
        entries
    }

    fn entry(&mut self, key: String, value: Json) -> Option<(String, Json)> {
        if is_mark(&key) {
            return Some((key, value));
        }
        if !is_supported(&key) {
            let changes = ["$dynamicRef", "$recursiveRef"].contains(&key.as_str());
            self.is_wider |= changes;
            self.warn(if is_unsupported(&key) {
                format!("`{key}` is not supported and was left out of a schema")
            } else {
                format!(
                    "`{key}` is not a keyword of JSON Schema 2020-12 and was left out of a schema"
                )
            });
            return None;
        }
        let repaired = match (key.as_str(), value) {
            ("type", value) => {
                let types = self.types(value);
                self.is_wider |= types.is_none();
                types?
            }
            ("required", Json::Array(names)) => self.required(names),
            ("enum", Json::Array(values)) => Json::Array(self.distinct("enum", values)),
            ("examples", value) => self.examples(value),
            ("pattern", Json::String(pattern)) => Json::String(self.pattern(pattern)),
            ("patternProperties", Json::Object(mut entries)) => {
                let mut taken: BTreeSet<String> =
                    entries.iter().map(|(key, _)| key.clone()).collect();
                for (key, _) in &mut entries {
                    // A pattern that would become another one of the object stays as it is.
                    if taken.insert(ecma(key)) {
                        *key = self.pattern(std::mem::take(key));
                    }
                }
                Json::Object(entries)
            }
            (_, value) => value,
        };
        Some((key, repaired))
    }

    fn required(&mut self, mut names: Vec<Json>) -> Json {
        let count = names.len();
        names.retain(|name| matches!(name, Json::String(_)));
        if names.len() < count {
            self.is_wider = true;
            self.warn("entries of `required` that are not strings were left out");
        }
        Json::Array(self.distinct("required", names))
    }

    /// Translates Python's syntax of regular expressions to that of ECMA-262.
    fn pattern(&mut self, pattern: String) -> String {
        let repaired = ecma(&pattern);
        if repaired != pattern {
            self.warn(format!("the pattern {pattern} became {repaired}, as ECMA-262 writes it"));
        }
        repaired
    }

    fn types(&mut self, value: Json) -> Option<Json> {
        match value {
            Json::String(word) => self.type_word(word),
            Json::Array(words) => {
                let count = words.len();
                let words = words.into_iter().filter_map(|word| match word {
                    Json::String(word) => self.type_word(word),
                    _ => self.no_type(&word),
                });
                let words: Vec<Json> = words.collect();
                // An unknown word may mean any type.
                let is_known = words.len() == count && count > 0;
                is_known.then(|| Json::Array(self.distinct("type", words)))
            }
            other => self.no_type(&other),
        }
    }

    fn type_word(&mut self, word: String) -> Option<Json> {
        if TYPES.contains(&word.as_str()) {
            return Some(Json::String(word));
        }
        let lower = word.to_ascii_lowercase();
        let meant = TYPE_WORDS.iter().find(|(other, _)| *other == lower).map(|(_, ours)| *ours);
        let Some(meant) = meant.or_else(|| TYPES.into_iter().find(|known| *known == lower)) else {
            return self.no_type(&Json::String(word));
        };
        self.warn(format!("the type `{word}` became `{meant}`"));
        Some(Json::string(meant))
    }

    fn no_type(&mut self, value: &Json) -> Option<Json> {
        self.warn(format!("{value} is not a type, so it was left out"));
        None
    }

    fn distinct(&mut self, key: &str, values: Vec<Json>) -> Vec<Json> {
        let mut known = BTreeSet::new();
        let mut distinct = Vec::new();
        for value in values {
            if known.insert(value.to_string()) {
                distinct.push(value);
            } else {
                self.warn(format!("a repeated value of `{key}` was left out"));
            }
        }
        distinct
    }

    fn examples(&mut self, value: Json) -> Json {
        if matches!(value, Json::Array(_)) {
            return value;
        }
        self.warn("`examples` that are not a list were put into one");
        Json::Array(vec![value])
    }
}

/// Translates `\A`, `\Z`, leading flags and named groups to ECMA-262, except in character classes. The names of groups are left
/// out, as nothing refers to them.
fn ecma(pattern: &str) -> String {
    let mut flags = String::new();
    let mut rest = pattern;
    while let Some((more, after)) = leading_flags(rest) {
        // ECMA-262 refuses a flag that is repeated.
        for flag in more.chars() {
            if !flags.contains(flag) {
                flags.push(flag);
            }
        }
        rest = after;
    }
    // Where `^` and `$` may match at lines, the ends of the text need groups of their own.
    let is_multiline = pattern.split("(?").skip(1).any(|group| {
        let mut flags = group.chars().take_while(|flag| "ims".contains(*flag));
        flags.any(|flag| flag == 'm')
    });
    let (start, end) = if is_multiline { ("(?-m:^)", "(?-m:$)") } else { ("^", "$") };
    let mut out = String::new();
    let mut is_in_class = false;
    while let Some(c) = rest.chars().next() {
        let (taken, text) = match c {
            _ if rest.starts_with("\\A") && !is_in_class => (2, start),
            _ if rest.starts_with("\\Z") && !is_in_class => (2, end),
            '\\' => {
                let end = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                (end, &rest[..end])
            }
            _ if rest.starts_with("(?P<") && !is_in_class => {
                (rest.find('>').map_or(rest.len(), |at| at + 1), "(")
            }
            c => {
                is_in_class = c == '[' || (is_in_class && c != ']');
                (c.len_utf8(), &rest[..c.len_utf8()])
            }
        };
        out.push_str(text);
        rest = &rest[taken..];
    }
    if flags.is_empty() { out } else { format!("(?{flags}:{out})") }
}

/// Splits flags for the whole pattern, such as `(?i)`, from its beginning.
fn leading_flags(pattern: &str) -> Option<(&str, &str)> {
    let (flags, rest) = pattern.strip_prefix("(?")?.split_once(')')?;
    let is_known = !flags.is_empty() && flags.chars().all(|flag| "ims".contains(flag));
    is_known.then_some((flags, rest))
}

#[cfg(test)]
mod tests {
    use super::ecma;

    #[test]
    fn python_patterns_are_translated_to_ecma_262() {
        let cases = [
            (r"\A\d+\Z", r"^\d+$"),
            (r"\\Z\\\Z", r"\\Z\\$"),
            ("(?P<year>[0-9]{4})-é(?:x)", "([0-9]{4})-é(?:x)"),
            ("(?P<open", "("),
            (r"(?i)^a\Z", "(?i:^a$)"),
            ("(?i)", "(?i:)"),
            (r"(?m)\Aa\Z|^b$", "(?m:(?-m:^)a(?-m:$)|^b$)"),
            (r"(?im:\Aa)\Z", "(?im:(?-m:^)a)(?-m:$)"),
            ("(?:i)a", "(?:i)a"),
            ("a\\", "a\\"),
            (r"(?i)(?si)a", "(?is:a)"),
        ];
        for (python, expected) in cases {
            assert_eq!(ecma(python), expected);
        }
    }

    #[test]
    fn character_classes_of_patterns_stay_as_they_are() {
        for pattern in ["^[(?P<>]+$", r"[\]\A(?P<a>]", "[[(?P<a>]", "(a|[^(?P<]"] {
            assert_eq!(ecma(pattern), pattern);
        }
        assert_eq!(ecma(r"[\A](?P<a>b)\Z"), r"[\A](b)$");
    }

    #[test]
    fn any_number_of_leading_flags_is_translated() {
        let pattern = "(?i)".repeat(100_000) + "a";
        assert_eq!(ecma(&pattern), "(?i:a)");
    }
}
