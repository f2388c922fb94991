//! Turns texts of a schema into doc lines and lines of a README. Markup and control characters are escaped, so doc tests, links and
//! bidirectional text cannot come from a schema.

use toolwright::untrusted::line;

use super::limits::{DependentKeys, ItemLimits, NumberLimit, PropertyLimits, StringLimits};
use super::types::{Presence, TupleUse, TypeUse};
use crate::prose::code;
use crate::schema::Annotations;

/// The maximal length of a doc line to which facts are appended.
const MAX_LINE: usize = 90;

/// The most bytes of a description in a README. Each agent and server has a README with all its tools.
#[cfg(any(test, feature = "project"))]
const MAX_SUMMARY: usize = 300;

/// Returns the doc lines of a type, field or variant: the description in the schema, or else the fallback, followed by facts
/// that the type does not express.
pub(super) fn described(
    annotations: &Annotations,
    fallback: Option<String>,
    facts: Vec<String>,
) -> Vec<String> {
    let mut lines = own(annotations);
    if lines.is_empty() {
        lines.extend(fallback);
    }
    let facts = facts.join(" ");
    match lines.last_mut() {
        _ if facts.is_empty() => {}
        // After a sentence, the facts continue the paragraph, on the same line if they fit.
        Some(last) if last.ends_with(['.', '!', '?']) => {
            if last.chars().count() + facts.chars().count() < MAX_LINE {
                last.push(' ');
                last.push_str(&facts);
            } else {
                lines.push(facts);
            }
        }
        Some(_) => lines.extend([String::new(), facts]),
        None => lines.push(facts),
    }
    lines
}

/// Returns the description of a schema, or else its title.
fn own(annotations: &Annotations) -> Vec<String> {
    let own = annotations.description.as_deref().or(annotations.title.as_deref());
    own.map(prose).unwrap_or_default()
}

/// Returns the doc line of a variant for one kind of JSON value.
pub(super) fn of_kind(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'i', 'o']) { "An" } else { "A" };
    format!("{article} {kind}.")
}

/// Returns facts that a type does not express: its limits and whether it is deprecated.
pub(super) fn facts(annotations: &Annotations, ty: &TypeUse) -> impl Iterator<Item = String> {
    let deprecated = annotations.deprecated.then(|| "Deprecated.".to_owned());
    limits(ty).into_iter().chain(deprecated)
}

/// Returns a sentence about the default of a field.
pub(super) fn default(annotations: &Annotations, presence: &Presence) -> Option<String> {
    let value = code(&annotations.default.as_ref()?.to_string());
    match presence {
        Presence::Required => None,
        Presence::Optional => Some(format!("An absent value means {value}.")),
        Presence::Default(_) => Some(format!("Default: {value}.")),
    }
}

/// Returns the limits of a type as sentences.
pub(super) fn limits(ty: &TypeUse) -> Option<String> {
    match ty {
        TypeUse::String(limits) | TypeUse::Contract(_, limits) | TypeUse::Formatted(_, limits) => {
            string_limits(limits)
        }
        TypeUse::Integer(_, limits) | TypeUse::BigInteger(limits) => {
            let bound = |bound: Option<i128>| bound.map(|bound| bound.to_string());
            between(bound(limits.min), bound(limits.max), "")
        }
        TypeUse::Number(limits) | TypeUse::ExactNumber(limits) => {
            let lower = limits.lower.map(|NumberLimit { value, is_exclusive }| {
                format!("{} {value}", if is_exclusive { "more than" } else { "at least" })
            });
            let upper = limits.upper.map(|NumberLimit { value, is_exclusive }| {
                format!("{} {value}", if is_exclusive { "less than" } else { "at most" })
            });
            let parts: Vec<_> = lower.into_iter().chain(upper).collect();
            (!parts.is_empty()).then(|| sentence(&parts.join(" and ")))
        }
        TypeUse::List(_, limits @ ItemLimits { unique, .. }) => {
            let count = item_count(limits);
            let differ = unique.then(|| sentence("no two items are equal"));
            let both = count.iter().chain(&differ).map(String::as_str).collect::<Vec<_>>();
            (!both.is_empty()).then(|| both.join(" "))
        }
        TypeUse::Tuple(TupleUse { optional, rest, count, .. })
            if !optional.is_empty() || rest.is_some() =>
        {
            item_count(count)
        }
        TypeUse::Map(_, limits) => property_limits(limits),
        TypeUse::Nullable(inner) | TypeUse::Checked(inner, _) => limits(inner),
        _ => None,
    }
}

/// Returns the limits of an object's keys as sentences.
pub(super) fn property_limits(limits: &PropertyLimits) -> Option<String> {
    let PropertyLimits { min, max, names, dependent } = limits;
    let count = between(min.map(|min| min.to_string()), max.map(|max| max.to_string()), " keys");
    let names = string_limits(names).map(|limits| format!("Each key: {limits}"));
    let dependent = dependent.iter().map(|DependentKeys { key, needed }| {
        let needed: Vec<_> = needed.iter().map(|key| code(key)).collect();
        format!("{} requires {}.", code(key), needed.join(" and "))
    });
    let parts: Vec<_> = count.into_iter().chain(names).chain(dependent).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn item_count(ItemLimits { min, max, .. }: &ItemLimits) -> Option<String> {
    between(min.map(|min| min.to_string()), max.map(|max| max.to_string()), " items")
}

fn string_limits(limits: &StringLimits) -> Option<String> {
    let length = between(
        limits.min.map(|min| min.to_string()),
        limits.max.map(|max| max.to_string()),
        " characters",
    );
    let pattern =
        limits.pattern.as_ref().map(|pattern| format!("Matches {}.", code(&pattern.ecma)));
    let parts: Vec<_> = length.into_iter().chain(pattern).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn between(min: Option<String>, max: Option<String>, plural: &str) -> Option<String> {
    let unit = |count: &str| {
        if count == "1" { plural.strip_suffix('s').unwrap_or(plural) } else { plural }
    };
    match (min, max) {
        (Some(min), Some(max)) if min == max => {
            Some(sentence(&format!("exactly {min}{}", unit(&min))))
        }
        (Some(min), Some(max)) => Some(sentence(&format!("{min} to {max}{}", unit(&max)))),
        (Some(min), None) => Some(sentence(&format!("at least {min}{}", unit(&min)))),
        (None, Some(max)) => Some(sentence(&format!("at most {max}{}", unit(&max)))),
        (None, None) => None,
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), chars.as_str()))
}

/// Splits prose into doc lines without indentation and without blank lines around it, and escapes markup.
pub(super) fn prose(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(|text| literal(text.trim())).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let blank = lines.iter().take_while(|line| line.is_empty()).count();
    lines.drain(..blank);
    lines.dedup_by(|a, b| a.is_empty() && b.is_empty());
    lines
}

/// Returns the beginning of a text, for a README, as part of a line of Markdown.
#[cfg(any(test, feature = "project"))]
pub(crate) fn summary(text: &str) -> String {
    let mut found = String::new();
    for word in text.split_whitespace() {
        if !found.is_empty() {
            found.push(' ');
        }
        found.push_str(&word[..word.ceil_char_boundary(MAX_SUMMARY + 1)]);
        if found.len() > MAX_SUMMARY {
            found.truncate(found.floor_char_boundary(MAX_SUMMARY));
            found.push('…');
            break;
        }
    }
    literal(&found)
}

/// Escapes the Markdown characters of a line, except in inline code. `_` is not escaped, so `snake_case` stays readable.
fn literal(text: &str) -> String {
    let has_code = !text.contains("``") && text.matches('`').count().is_multiple_of(2);
    let mut in_code = false;
    let mut out = String::with_capacity(text.len());
    let line = line(text, usize::MAX);
    let mut rest = line.as_str();
    while let Some(c) = rest.chars().next() {
        if !in_code && let Some(address) = address(rest) {
            out.extend(["<", address, ">"]);
            rest = &rest[address.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if c == '`' && has_code {
            in_code = !in_code;
        } else if !in_code
            && (matches!(c, '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~')
                || (c == '&' && continues_reference(rest)))
        {
            out.push('\\');
        }
        out.push(c);
    }
    let marker = out.starts_with(['#', '-', '+', '=', ':'])
        || out.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['.', ')']);
    if marker && let Some(at) = out.find(|c: char| c.is_ascii_punctuation()) {
        out.insert(at, '\\');
    }
    out
}

/// Returns whether a text after `&` makes it a character reference (CommonMark 0.31, section 2.5), which may stand for a hidden
/// character.
fn continues_reference(rest: &str) -> bool {
    let rest = rest.strip_prefix('#').unwrap_or(rest);
    let after = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    after.len() < rest.len() && after.starts_with(';')
}

/// Returns the web address at the beginning of a text, without punctuation at its end and character references. Rustdoc warns of
/// one that is not a link.
fn address(text: &str) -> Option<&str> {
    let scheme = ["https://", "http://"].into_iter().find(|scheme| text.starts_with(scheme))?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&'()+,;=%".contains(c);
    let ends = |(at, c): &(usize, char)| {
        !is_part(*c) || (*c == '&' && continues_reference(&text[at + 1..]))
    };
    let end = text.char_indices().find(ends).map_or(text.len(), |(at, _)| at);
    let is_cut = text[end..].starts_with('…');
    let address = text[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', ')']);
    (address.len() > scheme.len() && !is_cut).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_description_stays_text() {
        let table = [
            ("plain text, `a<b>` and snake_case", "plain text, `a<b>` and snake_case"),
            ("one ` alone", "one \\` alone"),
            ("```\nlet x;", "\\`\\`\\`|let x;"),
            ("    indented", "indented"),
            ("- a\n1. b\n# c", "\\- a|1\\. b|\\# c"),
            ("see [x](y) <b>", "see \\[x\\](y) \\<b\\>"),
            ("\n\na\n\n\nb\n", "a||b"),
            ("left\u{202e}right\u{0}", "left\u{fffd}right\u{fffd}"),
            ("see https://a.b/c_d, or (http://e.f).", "see <https://a.b/c_d>, or (<http://e.f>)."),
            ("`https://a.b`, https://*", "`https://a.b`, https://\\*"),
            ("x &#x202e;y &#8238; &rlm;", "x \\&#x202e;y \\&#8238; \\&rlm;"),
            ("a & b; a&b, `&lt;` &; &#;", "a & b; a&b, `&lt;` &; &#;"),
            ("https://a.b?c=1&d=2&rlm;e", "<https://a.b?c=1&d=2>\\&rlm;e"),
        ];
        for (text, expected) in table {
            assert_eq!(prose(text).join("|"), expected, "{text:?}");
        }
    }

    #[test]
    fn a_description_in_a_readme_is_short_and_has_no_markup() {
        let table = [
            ("Adds two\n  numbers.", "Adds two numbers."),
            ("![a](b) <img> [c]", "!\\[a\\](b) \\<img\\> \\[c\\]"),
            ("left\u{202e}right", "left\u{fffd}right"),
        ];
        for (text, expected) in table {
            assert_eq!(summary(text), expected, "{text:?}");
        }
        let whole = "a".repeat(MAX_SUMMARY);
        assert_eq!(summary(&whole), whole);
        assert_eq!(summary(&format!("{whole} b")), format!("{whole}…"));
        let cut = format!("https://{}", &whole[8..]);
        assert_eq!(summary(&format!("{cut}b")), format!("{cut}…"));
        assert_eq!(summary(&"é".repeat(900_000)), format!("{}…", "é".repeat(MAX_SUMMARY / 2)));
    }
}
