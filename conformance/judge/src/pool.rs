//! The names, numbers, strings, patterns and formats for random schemas and payloads.

use std::sync::LazyLock;

use toolwright::{Value, value::Map};

/// Names of properties. The first ones are picked most often, so that schemas and payloads share names.
pub(crate) const NAMES: [&str; 18] = [
    "a", "b", "c", "d", "e", "kind", "foo", "type", "x y", "é", "fooBar", "a/b", "~", "", "0",
    "😀", "$ref", "foo1",
];

/// Numbers at the limits of doubles, 64-bit integers and decimals.
pub(crate) const NUMBERS: [&str; 44] = [
    "0",
    "1",
    "2",
    "3",
    "5",
    "10",
    "-1",
    "-2",
    "100",
    "0.5",
    "1.5",
    "-0.5",
    "0.1",
    "0.01",
    "0.3",
    "2.5",
    "-0",
    "-0.0",
    "1.0",
    "1e2",
    "1E+2",
    "10e-1",
    "7",
    "12",
    "0.10000000000000001",
    "0.30000000000000004",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "18446744073709551617",
    "12345678901234567890123",
    "12345678901234567890124",
    "3.141592653589793238462643",
    "1e21",
    "1e400",
    "-1e400",
    "1e-400",
    "1.7976931348623157e308",
];

/// Strings at the limits of lengths and character classes, and with line ends.
pub(crate) const STRINGS: [&str; 26] = [
    "", "a", "b", "c", "ab", "abc", "abcd", "foo", "A", "1", "42", " ", "a b", "é", "e\u{301}",
    "😀", "😀😀", "ß", "\u{2028}", "\r", "\n", "a\n", "\0", "\u{8}", "\u{feff}", "٣",
];

/// A pattern of a table that the oracle reads too.
pub(crate) struct Pattern {
    /// The pattern in the syntax of ECMA-262.
    pub(crate) ecma: String,
    /// Strings that match it or nearly do.
    pub(crate) samples: Vec<String>,
}

/// A format, with valid and invalid strings.
pub(crate) struct Format {
    pub(crate) name: String,
    pub(crate) literals: Vec<String>,
}

pub(crate) static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let rows = table(include_str!("../peers/patterns.json"));
    let rows = rows.as_array().unwrap_or_default().iter();
    rows.map(|row| Pattern {
        ecma: row.get("ecma").and_then(Value::as_str).unwrap_or_default().to_owned(),
        samples: strings(row.get("samples")),
    })
    .collect()
});

pub(crate) static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(|| {
    let formats = table(include_str!("../peers/formats.json"));
    let formats = formats.as_object().into_iter().flat_map(Map::iter);
    formats
        .map(|(name, table)| Format {
            name: name.to_owned(),
            literals: ["valid", "invalid"]
                .iter()
                .flat_map(|list| strings(table.get(list)))
                .collect(),
        })
        .collect()
});

fn table(text: &str) -> Value {
    text.parse().expect("the table is part of this package")
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
