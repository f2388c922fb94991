//! The parameters that are keys of security schemes.

use std::collections::BTreeSet;

use super::references::Root;
use super::{entries, text};

/// The name by which parameters of a place are compared. Those of headers ignore case.
pub(super) fn parameter_key(name: &str, place: &str) -> String {
    if place == "header" { name.to_ascii_lowercase() } else { name.to_owned() }
}

/// The places and names of the keys of a document's security schemes.
pub(super) fn credentials(root: &Root) -> BTreeSet<(String, String)> {
    let components = root.get("components");
    let schemes = components.map_or(&[][..], |components| entries(components, "securitySchemes"));
    let keys = schemes.iter().filter_map(|(_, scheme)| {
        let scheme = root.follow(scheme).unwrap_or(scheme);
        let (place, name) = (text(scheme, "in")?, text(scheme, "name")?);
        let is_key = text(scheme, "type") == Some("apiKey");
        is_key.then(|| (place.to_owned(), parameter_key(name, place)))
    });
    keys.collect()
}
