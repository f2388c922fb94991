//! Versions of toolsets.

/// Returns the three numbers of a version.
pub(crate) fn numbers(version: &str) -> Option<[u64; 3]> {
    let numbers = version.split('.').map(|number| match number {
        "0" => Some(0),
        number if number.starts_with(|first: char| !matches!(first, '1'..='9')) => None,
        number => number.parse().ok(),
    });
    numbers.collect::<Option<Vec<u64>>>()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::numbers;
    use crate::Lock;

    #[test]
    fn a_version_in_the_lock_that_is_not_three_numbers_is_an_error() {
        let lock = |version: &str| {
            let text = format!(
                r#"{{"lock": 1, "language": 1, "toolsets": {{"t": {{"service": "s", "version": "{version}"}}}}, "tools": {{}}, "names": {{}}}}"#
            );
            Lock::parse(&text)
        };
        assert_eq!(numbers("1.20.0"), Some([1, 20, 0]));
        let good = lock("1.20.0");
        assert!(good.is_ok(), "{good:?}");
        for version in ["", "1.2", "1.2.0-rc1", "01.2.0", "+1.2.0", "99999999999999999999.0.0"] {
            let error = lock(version).unwrap_err().to_string();
            let expected =
                format!("has the version `{version}` in the lock, expected three numbers");
            assert!(error.contains(&expected), "{version}: {error}");
        }
    }
}
