//! Reads and writes which server listed the tools and when, as far as that is known. The caller gives the date.

use toolwright::remote::Provenance;
use toolwright::untrusted::line;
use toolwright_codegen::internal::Json;

use super::keywords::{Entries, take};

/// The most bytes of the name and the version of a server that are kept.
const LONGEST: usize = 256;

/// Takes `serverInfo` and `protocolVersion`, which the answer to `initialize` has, from the entries beside a list of tools.
pub(super) fn saved(entries: &mut Entries) -> Provenance<String> {
    let mut info = match entries.iter().find(|(key, _)| key == "serverInfo") {
        Some((_, Json::Object(info))) => info.clone(),
        _ => {
            return Provenance {
                protocol: text(entries, "protocolVersion"),
                ..Provenance::UNKNOWN
            };
        }
    };
    take(entries, "serverInfo");
    Provenance {
        name: text(&mut info, "name"),
        version: text(&mut info, "version"),
        protocol: text(entries, "protocolVersion"),
        date: None,
    }
}

/// Reads the `from` of a file.
pub(super) fn written(from: Option<&Json>) -> Provenance<String> {
    let mut entries = match from {
        Some(Json::Object(entries)) => entries.clone(),
        _ => Vec::new(),
    };
    let [name, version, protocol, date] =
        ["name", "version", "protocol", "date"].map(|key| text(&mut entries, key));
    Provenance { name, version, protocol, date }
}

/// Writes the `from` of a file; `None` if nothing is known.
pub(super) fn json(from: Provenance<String>) -> Option<Json> {
    let known = [
        ("name", from.name),
        ("version", from.version),
        ("protocol", from.protocol),
        ("date", from.date),
    ];
    let known = known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    let known = known.map(|(key, value)| (key, Json::String(line(&value, LONGEST))));
    let known: Entries = known.collect();
    (!known.is_empty()).then_some(Json::Object(known))
}

/// Takes a text that is not blank.
fn text(entries: &mut Entries, key: &str) -> Option<String> {
    let is_text = |value: &Json| matches!(value, Json::String(text) if !text.trim().is_empty());
    if !entries.iter().any(|(name, value)| name == key && is_text(value)) {
        return None;
    }
    match take(entries, key) {
        Some(Json::String(text)) => Some(text),
        _ => None,
    }
}

/// Returns whether a text is a valid date in the form `YYYY-MM-DD` (RFC 3339, `full-date`).
pub fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |part: &str, digits: usize| {
        let is_plain = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u32>().ok().filter(|_| is_plain)
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2))
    else {
        return false;
    };
    (1..=days(year, month)).contains(&day)
}

/// The number of days of a month; 0 if there is no such month.
fn days(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{Json, LONGEST, Provenance, is_date, json};

    #[test]
    fn a_long_name_of_a_server_is_cut() {
        let name = Some(format!("a\n{}", "n".repeat(1000)));
        let Some(Json::Object(entries)) = json(Provenance { name, ..Provenance::UNKNOWN }) else {
            panic!("it has a name");
        };
        let [(_, Json::String(name))] = entries.as_slice() else { panic!("{entries:?}") };
        assert!(name.starts_with("a nnn") && name.len() <= LONGEST + "…".len(), "{name}");
    }

    #[test]
    fn only_days_of_the_calendar_are_dates() {
        for day in ["2026-11-22", "2024-02-29", "2000-02-29", "0001-01-31"] {
            assert!(is_date(day), "{day}");
        }
        for text in [
            "",
            "2026-11-31",
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-1-1",
            "2026-11-22T00:00:00Z",
            "22-11-2026",
            "+026-11-22",
            "2026-11-00",
            "today",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }
}
