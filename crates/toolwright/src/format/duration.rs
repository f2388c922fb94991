//! Durations (RFC 3339, appendix A). They are checked but not converted, since the length of a month varies.

pub(super) fn is_duration(text: &str) -> bool {
    text.strip_prefix(['P', 'p']).is_some_and(|rest| is_weeks(rest) || is_date_and_time(rest))
}

/// `dur-week`: weeks cannot be combined with other units.
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

/// Returns true if the text is one or more numbers, each with its unit, without gaps between the first and the last
/// unit.
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

/// Parses one or more digits and a letter, and returns the letter in uppercase and the rest of the text. Letters of
/// either case are allowed, as in ABNF (RFC 5234, section 2.3).
fn unit(text: &str) -> Option<(char, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let mut characters = rest.chars();
    let unit = characters.next().filter(|_| rest.len() < text.len())?;
    Some((unit.to_ascii_uppercase(), characters.as_str()))
}
