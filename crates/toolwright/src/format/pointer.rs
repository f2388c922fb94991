//! The format of JSON Pointers (RFC 6901, sections 3 and 5).

pub(super) fn is_pointer(text: &str) -> bool {
    let is_escape = |rest: &str| rest.starts_with(['0', '1']);
    (text.is_empty() || text.starts_with('/')) && text.split('~').skip(1).all(is_escape)
}
