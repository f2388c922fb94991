//! Patterns that are sequences of runs of ASCII characters, which are matched without backtracking.
//!
//! Other patterns are left to another engine: those with alternatives, groups, classes beyond ASCII, or runs that may
//! need to backtrack.

/// The runs of a pattern, in order, which match the whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Runs(Vec<Run>);

/// A run of characters of one set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    /// A bit for each ASCII character.
    set: u128,
    least: usize,
    most: usize,
}

impl Runs {
    /// Parses a regular expression, if it has only runs between `^` and `$`.
    pub(super) fn parse(regex: &str) -> Option<Self> {
        let mut rest = regex.strip_prefix('^')?.strip_suffix('$')?.as_bytes();
        let mut runs = Vec::new();
        while !rest.is_empty() {
            let (set, after) = set(rest)?;
            let ((least, most), after) = count(after)?;
            if most > 0 {
                runs.push(Run { set, least, most });
            }
            rest = after;
        }
        Some(Self(runs)).filter(Self::is_greedy)
    }

    /// The number of runs.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if greedy matching is always right: a run of variable length has no character in common with those
    /// that may follow it.
    fn is_greedy(&self) -> bool {
        let rest_of = |index: usize| self.0.get(index + 1..).unwrap_or_default();
        self.0
            .iter()
            .enumerate()
            .all(|(index, run)| run.least == run.most || followers(rest_of(index)) & run.set == 0)
    }

    /// Returns true if the runs match the whole text.
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        let mut rest = text;
        for run in &self.0 {
            let found = rest.iter().take(run.most).take_while(|byte| contains(run.set, **byte));
            let length = found.count();
            if length < run.least {
                return false;
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        rest.is_empty()
    }
}

/// Returns the characters that these runs may begin with: those of all runs up to the first that is not optional.
fn followers(runs: &[Run]) -> u128 {
    let optional = runs.iter().take_while(|run| run.least == 0).count();
    runs.iter().take(optional + 1).fold(0, |sets, run| sets | run.set)
}

#[inline]
fn contains(set: u128, byte: u8) -> bool {
    byte < 128 && set >> byte & 1 == 1
}

/// Parses a set of characters and returns it with the rest of the text.
fn set(regex: &[u8]) -> Option<(u128, &[u8])> {
    match regex {
        [b'[', b'^', ..] => None,
        [b'[', class @ ..] => class_set(class),
        _ => {
            let (byte, rest) = literal(regex)?;
            Some((1 << byte, rest))
        }
    }
}

/// Parses a class after its opening bracket.
fn class_set(class: &[u8]) -> Option<(u128, &[u8])> {
    let (mut set, mut rest) = (0, class);
    loop {
        if let [b']', after @ ..] = rest {
            return Some((set, after)).filter(|_| set != 0);
        }
        let (first, after) = literal(rest)?;
        let (last, after) = match after {
            [b'-', b']', ..] => (first, after),
            [b'-', range @ ..] => literal(range)?,
            _ => (first, after),
        };
        set |= (first..=last).fold(0, |set, byte| set | 1 << byte);
        rest = after;
    }
}

/// The characters with a special meaning in a pattern or in a class.
const SPECIAL: &[u8] = br"\^$.|?*+()[]{}&~";

/// Parses one literal character. Characters with a special meaning, here or in a class, are left to another engine.
fn literal(regex: &[u8]) -> Option<(u8, &[u8])> {
    match regex {
        [b'\\', byte, rest @ ..] if byte.is_ascii_punctuation() => Some((*byte, rest)),
        [byte @ b' '..=b'~', rest @ ..] if !SPECIAL.contains(byte) => Some((*byte, rest)),
        _ => None,
    }
}

/// Parses a quantifier and returns minimum and maximum with the rest of the text.
fn count(regex: &[u8]) -> Option<((usize, usize), &[u8])> {
    let (count, rest) = match regex {
        [b'?', rest @ ..] => ((0, 1), rest),
        [b'*', rest @ ..] => ((0, usize::MAX), rest),
        [b'+', rest @ ..] => ((1, usize::MAX), rest),
        [b'{', rest @ ..] => bounds(rest)?,
        rest => ((1, 1), rest),
    };
    // A second quantifier makes the first lazy.
    let lazy = matches!(rest, [b'?' | b'*' | b'+' | b'{', ..]);
    if lazy { None } else { Some((count, rest)) }
}

/// `n}`, `n,}` or `n,m}`.
fn bounds(regex: &[u8]) -> Option<((usize, usize), &[u8])> {
    let end = regex.iter().position(|byte| *byte == b'}')?;
    let (bounds, rest) = regex.split_at_checked(end)?;
    let bounds = std::str::from_utf8(bounds).ok()?;
    let (least, most) = bounds.split_once(',').unwrap_or((bounds, bounds));
    let least = least.parse().ok()?;
    let most = if most.is_empty() { usize::MAX } else { most.parse().ok()? };
    Some(((least, most), rest.get(1..)?)).filter(|_| least <= most)
}

#[cfg(test)]
mod tests {
    use regex_lite::Regex;

    use super::*;

    const SUPPORTED: [&str; 9] = [
        "^[A-Z]{2,8}-[0-9]{1,6}$",
        "^[a-f0-9]{4}$",
        "^a?b*c+$",
        "^[a-z][a-z0-9_-]*$",
        r"^v[0-9]+\.[0-9]+\.[0-9]+$",
        "^$",
        "^#[0-9A-Fa-f]{6}$",
        "^[-a]{2,}$",
        r"^[\-\]a]?x$",
    ];

    const UNSUPPORTED: [&str; 14] = [
        "abc",
        "^abc",
        "^a|b$",
        "^(ab)$",
        "^[^a]$",
        "^.$",
        r"^\d$",
        "^é$",
        "^a*a$",
        "^a?b?a$",
        "^a+?$",
        "^[[:alpha:]]$",
        "^[a&&b]$",
        "^a{2$",
    ];

    #[test]
    fn runs_match_what_the_regular_expression_matches() {
        let texts = "AB-1 ABCDEFGHI-1 A-1 AB-1234567 ab12 ab1 b abc bbcc c aabc x v1.2.3 v1.2 é ab- a -- -a ]x -x \
                     #00ff7A #00ff7 a_b-9 9a";
        for pattern in SUPPORTED {
            let (runs, regex) = (Runs::parse(pattern).unwrap(), Regex::new(pattern).unwrap());
            for text in texts.split(' ').chain(["", "AB-1\n", "\n"]) {
                let expected = regex.is_match(text);
                assert_eq!(runs.is_match(text.as_bytes()), expected, "{pattern} on {text:?}");
            }
        }
    }

    #[test]
    fn runs_of_nothing_are_left_out() {
        assert_eq!(Runs::parse("^a{0}b[cd]{0,0}$"), Runs::parse("^b$"));
        assert_eq!(Runs::parse(&format!("^{}$", "a{0}".repeat(9999))).unwrap().len(), 0);
    }

    #[test]
    fn other_patterns_are_left_to_another_engine() {
        for pattern in UNSUPPORTED {
            assert_eq!(Runs::parse(pattern), None, "{pattern}");
        }
    }
}
