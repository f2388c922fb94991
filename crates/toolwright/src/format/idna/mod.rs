//! Internationalized labels of host names (RFC 5890 to 5892): checks the decoded text of punycode labels.
//!
//! It checks the hyphens, the code points and their context, and that a label does not begin with a mark. It does not
//! check the direction of the text (RFC 5893) and its normal form, for which the standard library has no data.

mod context;
mod punycode;
mod tables;

use crate::unicode::is_mark;

/// Returns the text after the prefix of a punycode label, if the label has the prefix.
pub(super) fn punycode(label: &str) -> Option<&str> {
    let (prefix, rest) = label.split_at_checked("xn--".len())?;
    prefix.eq_ignore_ascii_case("xn--").then_some(rest)
}

/// Returns true if punycode, without its prefix, is an A-label: it decodes to a U-label (RFC 5890, section 2.3.2.1).
pub(super) fn is_a_label(punycode: &str) -> bool {
    punycode::decode(&punycode.to_ascii_lowercase()).is_some_and(|label| is_u_label(&label))
}

/// RFC 5891, sections 4.2.2, 4.2.3 and 5.4.
fn is_u_label(label: &[char]) -> bool {
    let has_prefix_hyphens = label.get(2..4).is_some_and(|hyphens| hyphens == ['-', '-']);
    label.iter().any(|c| !c.is_ascii())
        && !label.starts_with(&['-'])
        && !label.ends_with(&['-'])
        && !has_prefix_hyphens
        && !label.first().is_some_and(|first| is_mark(*first))
        && (0..label.len()).all(|place| context::is_allowed(label, place))
}
