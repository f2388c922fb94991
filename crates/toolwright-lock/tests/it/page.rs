//! The tables in docs/contract.md that tests write. `UPDATE_EXPECT=1` writes them.

use std::fs;
use std::path::Path;

/// Checks the table below the line `<!-- NAME -->`.
pub(crate) fn check(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/contract.md");
    let page = fs::read_to_string(&path).expect("the page exists");
    let marker = format!("<!-- {name} -->\n\n");
    let (before, rest) = page.split_once(&marker).unwrap_or_else(|| panic!("no line {marker}"));
    let end = rest.find("\n\n").map_or(rest.len(), |end| end + 1);
    let expected = format!("{before}{marker}{table}{}", &rest[end..]);
    if page != expected && std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &expected).expect("the page can be written");
    }
    assert!(
        page == expected,
        "the table `{name}` of docs/contract.md is out of date; run with UPDATE_EXPECT=1"
    );
}
