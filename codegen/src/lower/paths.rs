//! Paths of requests as parts. Never whether a property in one exists.

use crate::model::Part;

/// What stands in a segment as it is (RFC 3986, 3.3), letters and digits aside; `%` begins an escape.
const PLAIN: &str = "-._~!$&'()*+,;=:@/";

/// Returns the parts of a path.
///
/// # Errors
///
/// What is wrong with the path, as the rest of a sentence about it.
pub fn parts(text: &str) -> Result<Vec<Part>, String> {
    if !text.starts_with('/') {
        return Err("does not begin with `/`".to_owned());
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (part, after) = part(rest)?;
        parts.push(part);
        rest = after;
    }
    check_segments(text)?;
    Ok(parts)
}

fn part(rest: &str) -> Result<(Part, &str), String> {
    let Some(inside) = rest.strip_prefix('{') else {
        let end = rest.find('{').unwrap_or(rest.len());
        check_plain(&rest[..end])?;
        return Ok((Part::Text(rest[..end].to_owned()), &rest[end..]));
    };
    let (name, after) = inside.split_once('}').ok_or("has a `{` without its `}`")?;
    if name.is_empty() || name.contains('{') {
        return Err("has braces without the name of a property between them".to_owned());
    }
    Ok((Part::Property(name.to_owned()), after))
}

fn check_plain(text: &str) -> Result<(), String> {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_escape = |hex: &str| hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        let taken = match c {
            '%' if rest.get(1..3).is_some_and(is_escape) => 3,
            '%' => return Err("has a `%` without two digits behind it".to_owned()),
            '?' | '#' => return Err(format!("has a `{c}`, which ends it")),
            c if c.is_ascii_alphanumeric() || PLAIN.contains(c) => 1,
            c => return Err(format!("has `{}`, which no path may have", c.escape_debug())),
        };
        rest = &rest[taken..];
    }
    Ok(())
}

fn check_segments(text: &str) -> Result<(), String> {
    let is_step = |segment: &str| {
        let plain = segment.to_ascii_lowercase().replace("%2e", ".");
        plain == "." || plain == ".."
    };
    match text.split('/').find(|segment| is_step(segment)) {
        Some(segment) => Err(format!("has `{segment}` as a segment, which leads elsewhere")),
        None => Ok(()),
    }
}
