//! Reads rows from TOML, and checks them.

use regex_lite::Regex;
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
    let mut rows = Vec::new();
    for own in file.dialect {
        let id = own.get("id").and_then(Value::as_str).unwrap_or("without an id").to_owned();
        let wrong = |what: String| DialectError(format!("dialect `{id}`: {what}"));
        let table = with_inherited(own, known).map_err(&wrong)?;
        let mut row = parsed(&table).map_err(&wrong)?;
        check(&row).map_err(&wrong)?;
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
    known.iter().rfind(|table| table.get("id").and_then(Value::as_str) == Some(id))
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

/// Checks the rules that no type expresses.
fn check(row: &Dialect) -> Result<(), String> {
    let grammars = [Some(&row.name), row.property_key.as_ref(), row.call_id.as_ref()];
    for grammar in grammars.into_iter().flatten() {
        Regex::new(grammar).map_err(|error| {
            format!("the grammar `{grammar}` is not a regular expression: {error}")
        })?;
    }
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
