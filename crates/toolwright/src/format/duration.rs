//! Spans of time (RFC 3339, appendix A). Nothing is computed with them: how long a month is, only the reader knows.

pub(super) fn is_duration(text: &str) -> bool {
    text.strip_prefix(['P', 'p']).is_some_and(|rest| is_weeks(rest) || is_date_and_time(rest))
}

/// `dur-week`: weeks stand alone.
fn is_weeks(text: &str) -> bool {
    is_units(text, "W")
}

/// `dur-date` or `dur-time`, or one after the other.
fn is_date_and_time(text: &str) -> bool {
    match text.split_once(['T', 't']) {
        Some((date, time)) => (date.is_empty() || is_units(date, "YMD")) && is_units(time, "HMS"),
        None => is_units(text, "YMD"),
    }
}

/// Whether the text is one or more numbers, each with its unit; no unit between the first and the last is left out.
fn is_units(text: &str, units: &str) -> bool {
    let Some((written, mut rest)) = unit(text) else { return false };
    let mut units = units.chars().skip_while(|unit| *unit != written);
    if units.next().is_none() {
        return false;
    }
    while let Some((written, after)) = unit(rest) {
        if units.next() != Some(written) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

/// One or more digits and the letter after them, and what follows. Letters may be small: texts in ABNF are of either
/// case (RFC 5234, section 2.3).
fn unit(text: &str) -> Option<(char, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let mut characters = rest.chars();
    let unit = characters.next().filter(|_| rest.len() < text.len())?;
    Some((unit.to_ascii_uppercase(), characters.as_str()))
}
