//! Formats days as dates.

/// The date of a day, counted from 1970-01-01, as in RFC 3339.
pub(crate) fn of_day(mut day: u64) -> String {
    let mut year = 1970;
    while day >= days_of_year(year) {
        day -= days_of_year(year);
        year += 1;
    }
    let mut month = 1;
    while day >= days_of_month(year, month) {
        day -= days_of_month(year, month);
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", day + 1)
}

fn days_of_year(year: u64) -> u64 {
    (1..=12).map(|month| days_of_month(year, month)).sum()
}

fn days_of_month(year: u64, month: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::of_day;

    #[test]
    fn days_become_dates() {
        for (day, date) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_777, "2026-11-20"),
        ] {
            assert_eq!(of_day(day), date, "day {day}");
        }
    }
}
