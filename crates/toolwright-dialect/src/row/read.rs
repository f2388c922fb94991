//! Reads rows from TOML, and checks them.

use std::collections::BTreeSet;

use regex_lite::RegexBuilder;
use serde::Deserialize;
use toml::{Table, Value};
use toolwright::issue::suggestion;

use super::{Dialect, DialectError, Tokens};

/// A file of rows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    dialect: Vec<Table>,
}

/// The most rows with those that are compiled in. Each row is compared with those before it.
const MAX_ROWS: usize = 500;

/// The most bytes of a row with what it inherits, which each row has a copy of.
const MAX_BYTES: usize = 64 << 10;

/// The bytes of a value in memory, besides those of its text.
const VALUE_BYTES: usize = 64;

/// The most bytes of a compiled grammar.
const MAX_GRAMMAR: usize = 1 << 17;

/// Keys that belong to one row alone.
const NOT_INHERITED: [&str; 9] =
    ["id", "title", "asof", "inherits", "plain", "confidence", "evidence", "note", "profile_level"];

/// Reads the rows of a file; `known` gains their whole tables.
pub(super) fn read(text: &str, known: &mut Vec<Table>) -> Result<Vec<Dialect>, DialectError> {
    let file: File = toml::from_str(text).map_err(|error| {
        let line =
            text[..error.span().unwrap_or_default().start.min(text.len())].matches('\n').count();
        DialectError(format!("line {}: {}", line + 1, error.message()))
    })?;
    let (rows, total) = (file.dialect.len(), known.len() + file.dialect.len());
    if total > MAX_ROWS {
        let most = MAX_ROWS - known.len();
        return Err(DialectError(format!("found {rows} dialects, expected at most {most}")));
    }
    let (mut rows, mut grammars) = (Vec::new(), BTreeSet::new());
    for own in file.dialect {
        let id = own.get("id").and_then(Value::as_str).unwrap_or("without an id").to_owned();
        let wrong = |what: String| DialectError(format!("dialect `{id}`: {what}"));
        let table = with_inherited(own, known).map_err(&wrong)?;
        if bytes(&table) > MAX_BYTES {
            let most = MAX_BYTES >> 10;
            return Err(wrong(format!(
                "it has more than {most} KiB with what it inherits; shorten its lists and texts"
            )));
        }
        let mut row = parsed(&table).map_err(&wrong)?;
        check(&row).map_err(&wrong)?;
        check_grammars(&row, &mut grammars).map_err(&wrong)?;
        let is_same =
            |other: &Table| ["id", "asof"].iter().all(|key| other.get(*key) == table.get(*key));
        if known.iter().any(is_same) {
            let month = &row.asof;
            return Err(wrong(format!(
                "there is already a row of {month}; change its `id` or `asof`"
            )));
        }
        row.sibling =
            row.plain.as_deref().map(|plain| sibling(plain, known)).transpose().map_err(&wrong)?;
        known.push(table);
        rows.push(row);
    }
    Ok(rows)
}

fn parsed(table: &Table) -> Result<Dialect, String> {
    let row = table.clone().try_into();
    let row: Dialect = row.map_err(|error: toml::de::Error| error.message().to_owned())?;
    Ok(Dialect { table: table.clone(), ..row })
}

/// Returns the bytes of a table in memory, about.
fn bytes(table: &Table) -> usize {
    fn of(value: &Value) -> usize {
        VALUE_BYTES
            + match value {
                Value::String(text) => text.len(),
                Value::Array(values) => values.iter().map(of).sum(),
                Value::Table(table) => bytes(table),
                _ => 0,
            }
    }
    table.iter().map(|(key, value)| VALUE_BYTES + key.len() + of(value)).sum()
}

/// Returns the row that `plain` names.
fn sibling(plain: &str, known: &[Table]) -> Result<Box<Dialect>, String> {
    let Some(table) = newest(plain, known) else {
        return Err(format!(
            "found `plain = \"{plain}\"`, expected the id of a row above this one"
        ));
    };
    parsed(table).map(Box::new)
}

fn newest<'a>(id: &str, known: &'a [Table]) -> Option<&'a Table> {
    let text = |table: &'a Table, key: &str| table.get(key).and_then(Value::as_str);
    let rows = known.iter().filter(|table| text(table, "id") == Some(id));
    rows.max_by_key(|table| text(table, "asof"))
}

fn with_inherited(own: Table, known: &[Table]) -> Result<Table, String> {
    let Some(parent) = own.get("inherits").and_then(Value::as_str) else { return Ok(own) };
    let Some(parent) = newest(parent, known) else {
        let ids = known.iter().filter_map(|table| table.get("id")?.as_str());
        let help = suggestion(parent, ids, "there is");
        return Err(format!(
            "found `inherits = \"{parent}\"`, expected a row above this one; {help}"
        ));
    };
    let mut table = parent.clone();
    table.retain(|key, _| !NOT_INHERITED.contains(&key));
    table.extend(own);
    Ok(table)
}

/// Checks the grammars of a row but for those that are `known` from another row, which it mostly inherits.
fn check_grammars(row: &Dialect, known: &mut BTreeSet<String>) -> Result<(), String> {
    let grammars = [Some(&row.name), row.property_key.as_ref(), row.call_id.as_ref()];
    for grammar in grammars.into_iter().flatten() {
        if known.insert(grammar.clone()) {
            RegexBuilder::new(grammar).size_limit(MAX_GRAMMAR).build().map_err(|error| {
                format!("the grammar `{grammar}` is not a regular expression: {error}")
            })?;
        }
    }
    Ok(())
}

/// Checks the rules that no type expresses.
fn check(row: &Dialect) -> Result<(), String> {
    let is_id = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if row.id.is_empty()
        || !row.id.bytes().all(is_id)
        || ["args", "result"].contains(&row.id.as_str())
    {
        return Err(
            "its `id` is not a name, expected lower-case letters, digits and `-`".to_owned()
        );
    }
    if row.evidence.is_empty() {
        return Err("`evidence` is empty, expected a source for the row".to_owned());
    }
    let month = row.asof.split_once('-').filter(|(year, month)| {
        let digits = |text: &str, count| {
            text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        digits(year, 4) && digits(month, 2) && ("01"..="12").contains(month)
    });
    if month.is_none() {
        return Err(format!("found `asof = \"{}\"`, expected a month such as 2026-09", row.asof));
    }
    let Tokens { low, factor, high, .. } = row.tokens;
    if ![low, factor, high].iter().all(|factor| factor.is_finite() && *factor >= 0.0) {
        return Err(format!(
            "found `tokens` with the factors {low}, {factor} and {high}, expected numbers from 0"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a file with a row whose `type_list_kinds` has so many members, and a row that inherits it.
    fn file(members: usize) -> String {
        let row = |id: &str, parent: &str| {
            format!(
                "[[dialect]]\nid = \"{id}\"\nasof = \"2026-01\"\ninherits = \"{parent}\"\nconfidence = \"D\"\nevidence = [\"D\"]\n"
            )
        };
        let kinds = vec!["\"null\""; members].join(", ");
        let large = row("large", "openai-chat-strict") + &format!("type_list_kinds = [{kinds}]\n");
        large + &row("small", "large")
    }

    #[test]
    fn a_row_with_more_than_64_kib_is_refused() {
        assert_eq!(Dialect::from_toml(&file(100)).unwrap().len(), 2);
        let error = Dialect::from_toml(&file(1_000)).unwrap_err().to_string();
        assert!(error.starts_with("dialect `large`: it has more than 64 KiB"), "{error}");
    }

    #[test]
    fn a_built_in_row_uses_less_than_half_of_what_is_allowed() {
        for row in Dialect::all() {
            let bytes = bytes(&row.table);
            assert!(bytes < MAX_BYTES / 2, "{}: {bytes}", row.id());
        }
    }

    #[test]
    fn a_grammar_that_takes_much_memory_is_refused() {
        let row = file(1).replace("confidence", "name = \"a{1000}{1000}\"\nconfidence");
        let error = Dialect::from_toml(&row).unwrap_err().to_string();
        assert!(error.contains("is not a regular expression"), "{error}");
    }
}
