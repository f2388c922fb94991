//! Computes the digests of schemas and values that a file records to notice later changes. The MCP client computes the same
//! digests of the tools that a server lists at run time (`crates/toolwright-mcp/tests/digests/cases.json`).

use sha2::{Digest as _, Sha256};

use toolwright::Value;
use toolwright_codegen::internal::Json;

/// The number of hexadecimal digits that record a text. A collision only hides an edit, which the diff of the file still shows.
const SHORT: usize = 8;

/// The digest of a tool's schemas as its server lists them: of the canonical text of `{"inputSchema":…,"outputSchema":…}`,
/// without the schemas that are absent.
pub(super) fn schemas(args: Option<&Json>, result: Option<&Json>) -> String {
    let sides = [("inputSchema", args), ("outputSchema", result)];
    let sides = sides.into_iter().filter_map(|(key, side)| Some((key.to_owned(), side?.clone())));
    digits(&Json::Object(sides.collect()), usize::MAX)
}

/// The digest of one value.
pub(super) fn value(value: &Json) -> String {
    digits(value, SHORT)
}

/// The digest of a text, with all its digits.
pub(super) fn text(text: &str) -> String {
    hexadecimal(text, usize::MAX)
}

fn digits(value: &Json, count: usize) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    hexadecimal(&text, count)
}

fn hexadecimal(text: &str, count: usize) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).take(count).collect()
}

/// Writes the same text for equal values: keys sorted by bytes, no white space, strings as `serde_json` writes them, numbers
/// by their exact value.
fn write_canonical(value: &Json, out: &mut String) {
    match value {
        Json::Null | Json::Boolean(_) => out.push_str(&value.to_string()),
        Json::Number(text) => match text.parse() {
            Ok(Value::Number(number)) => out.push_str(&number.to_canonical()),
            _ => out.push_str(text),
        },
        Json::String(text) => out.push_str(&string(text)),
        Json::Array(items) => {
            let items = items.iter().map(|item| move |out: &mut String| write_canonical(item, out));
            write_between('[', items, ']', out);
        }
        Json::Object(entries) => {
            let mut entries: Vec<&(String, Json)> = entries.iter().collect();
            entries.sort_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
            let entries = entries.into_iter().map(|(key, value)| {
                move |out: &mut String| {
                    out.push_str(&string(key));
                    out.push(':');
                    write_canonical(value, out);
                }
            });
            write_between('{', entries, '}', out);
        }
    }
}

fn write_between<F: FnOnce(&mut String)>(
    open: char,
    parts: impl Iterator<Item = F>,
    close: char,
    out: &mut String,
) {
    out.push(open);
    for (index, write) in parts.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out);
    }
    out.push(close);
}

fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::schemas;
    use crate::json_text;
    use toolwright_codegen::internal::Json;

    #[test]
    fn digests_equal_those_of_the_mcp_client() {
        let cases = json_text::read(include_str!("../../toolwright-mcp/tests/digests/cases.json"));
        let Ok(Json::Array(cases)) = cases else { panic!("expected a list of cases") };
        assert!(!cases.is_empty());
        for case in &cases {
            let tool = case.get("tool").expect("a tool");
            let found = schemas(tool.get("inputSchema"), tool.get("outputSchema"));
            assert_eq!(Some(&Json::String(found)), case.get("digest"), "{case}");
        }
    }
}
