//! Names of tools and ids of calls on the wire.

use std::collections::{BTreeMap, HashMap, HashSet};

use sha2::{Digest, Sha256};

use crate::row::Dialect;

/// Returns the name of a tool on the wire. Characters outside the dialect's grammar become `_`, a first character outside it
/// gets `t_` before it, and a name that is too long is cut and ends with a digest of the whole. Two names may become equal:
/// [`place`](crate::place()) reports that.
pub fn wire_name(name: &str, dialect: &Dialect) -> String {
    if dialect.takes_name(name) {
        return name.to_owned();
    }
    let mut known = BTreeMap::new();
    let mut fits = |letter: char| {
        *known.entry(letter).or_insert_with(|| dialect.takes_name(&format!("a{letter}")))
    };
    let mut wire: String =
        name.chars().map(|letter| if fits(letter) { letter } else { '_' }).collect();
    let starts = wire.chars().next().is_some_and(|first| dialect.takes_name(&first.to_string()));
    if !starts {
        wire.insert_str(0, "t_");
    }
    if dialect.takes_name(&wire) {
        return wire;
    }
    let digest = digest(name);
    let suffix =
        format!("_{:08x}", u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]));
    let mut end = longest(dialect).saturating_sub(suffix.len()).min(wire.len());
    while !wire.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{suffix}", &wire[..end])
}

/// Returns the most characters of a name, at most 256. A grammar that takes a length takes each shorter one.
fn longest(dialect: &Dialect) -> usize {
    let (mut longest, mut too_long) = (1, 257);
    while too_long - longest > 1 {
        let length = usize::midpoint(longest, too_long);
        if dialect.takes_name(&"a".repeat(length)) {
            longest = length;
        } else {
            too_long = length;
        }
    }
    // A grammar that takes no such name has no known limit.
    if dialect.takes_name(&"a".repeat(longest)) { longest } else { 64 }
}

/// Returns the id of a call on the wire: itself where the dialect takes it, else nine base-36 digits of a digest of the id
/// and `attempt`. Ids of one request that become equal need another attempt, see [`wire_call_ids`].
fn wire_call_id(id: &str, dialect: &Dialect, attempt: u8) -> String {
    if attempt == 0 && dialect.takes_call_id(id) {
        return id.to_owned();
    }
    let mut bytes = id.as_bytes().to_vec();
    bytes.extend((attempt > 0).then_some(attempt));
    let digest = digest_of(&bytes);
    let mut number = u64::from_be_bytes(digest[..8].try_into().unwrap_or_default());
    let mut digits = String::new();
    for _ in 0..9 {
        let digit = u32::try_from(number % 36).unwrap_or_default();
        digits.extend(char::from_digit(digit, 36));
        number /= 36;
    }
    digits
}

/// Returns the ids of the calls of one request on the wire, one for each. Different ids stay different.
pub fn wire_call_ids<'a>(ids: impl IntoIterator<Item = &'a str>, dialect: &Dialect) -> Vec<String> {
    let mut given: HashMap<&str, String> = HashMap::new();
    let mut taken: HashSet<String> = HashSet::new();
    let wire = |id| {
        let wire = given.entry(id).or_insert_with(|| {
            let mut tried = (0..=u8::MAX).map(|attempt| wire_call_id(id, dialect, attempt));
            tried.find(|wire| taken.insert(wire.clone())).unwrap_or_else(|| id.to_owned())
        });
        wire.clone()
    };
    ids.into_iter().map(wire).collect()
}

fn digest(text: &str) -> [u8; 32] {
    digest_of(text.as_bytes())
}

fn digest_of(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
