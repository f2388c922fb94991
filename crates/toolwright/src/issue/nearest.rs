//! Finds the known word that is closest to an unknown one, for "did you mean".

/// Longer words are not compared: no name is that long, and a comparison takes time proportional to the product of both
/// lengths.
const MAX_LENGTH: usize = 100;

/// The most letters of a word that may differ.
const MAX_DIFFERENCES: usize = 5;

/// Returns the known word that is closest to `word`, if at most a third of the letters differ, and at most five: added, removed,
/// replaced or swapped with a neighbor. Case, `-`, `_` and spaces are ignored. A word of three or more letters that a known word
/// begins with counts as one difference.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_LENGTH {
        return None;
    }
    let word: Vec<char> = letters(word).collect();
    // Every two words of one letter differ by one letter, so they are not suggested for each other.
    let limit = if word.len() > 1 { (word.len() / 3).clamp(1, MAX_DIFFERENCES) } else { 0 };
    // All comparisons reuse the same buffers.
    let (mut candidate, mut rows) = (Vec::new(), Rows::default());
    let compared = |known: &'a str| {
        if known.len() > MAX_LENGTH * 4 {
            return None;
        }
        candidate.clear();
        candidate.extend(letters(known));
        let is_shortened =
            (3..candidate.len()).contains(&word.len()) && candidate.starts_with(&word);
        let distance = if is_shortened { Some(1) } else { rows.distance(&word, &candidate, limit) };
        Some((distance?, known))
    };
    known
        .into_iter()
        .filter_map(compared)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// The number of known words that are listed if none is close.
const MAX_LISTED: usize = 20;

/// Returns the end of a sentence about an unknown word: `did you mean …?` if a known word is close, otherwise the known
/// words after `list`, such as `there is`.
pub fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, list: &str) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(near) = nearest(word, known.iter().copied()) {
        return format!("did you mean `{near}`?");
    }
    let shown = known[..known.len().min(MAX_LISTED)].join("`, `");
    match known.len().saturating_sub(MAX_LISTED) {
        _ if known.is_empty() => format!("{list} none"),
        0 => format!("{list} `{shown}`"),
        more => format!("{list} `{shown}` and {more} more"),
    }
}

fn letters(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase)
}

/// Three rows of the distance matrix: the current one and the two before it. Of each, only what is near the diagonal is computed.
#[derive(Default)]
struct Rows {
    before: Vec<usize>,
    above: Vec<usize>,
    line: Vec<usize>,
}

/// More than any distance.
const FAR: usize = usize::MAX / 2;

impl Rows {
    /// Returns the optimal string alignment distance if it is within a limit.
    fn distance(&mut self, from: &[char], to: &[char], limit: usize) -> Option<usize> {
        if from.len().abs_diff(to.len()) > limit {
            return None;
        }
        let same = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let (from, to) = (&from[same..], &to[same..]);
        let same = from.iter().rev().zip(to.iter().rev()).take_while(|(a, b)| a == b).count();
        let (from, to) = (&from[..from.len() - same], &to[..to.len() - same]);
        let Self { before, above, line } = self;
        for row in [&mut *before, &mut *above, &mut *line] {
            row.clear();
            row.resize(to.len() + 1, FAR);
        }
        for (column, steps) in above.iter_mut().enumerate().take(limit + 1) {
            *steps = column;
        }
        let mut closest_above = 0;
        for (row, a) in from.iter().enumerate() {
            let first = (row + 1).saturating_sub(limit).max(1);
            let last = (row + 1 + limit).min(to.len());
            line[first - 1] = if first == 1 { row + 1 } else { FAR };
            let mut closest = line[first - 1];
            for column in first..=last {
                let b = &to[column - 1];
                let replaced = above[column - 1] + usize::from(a != b);
                let mut best = replaced.min(above[column] + 1).min(line[column - 1] + 1);
                if row > 0 && column > 1 && *a == to[column - 2] && from[row - 1] == *b {
                    best = best.min(before[column - 2] + 1);
                }
                line[column] = best;
                closest = closest.min(best);
            }
            if let Some(beyond) = line.get_mut(last + 1) {
                *beyond = FAR;
            }
            // The values of further rows are not smaller than the minimum of these two.
            if closest > limit && closest_above > limit {
                return None;
            }
            closest_above = closest;
            std::mem::swap(before, above);
            std::mem::swap(above, line);
        }
        Some(above[to.len()]).filter(|steps| *steps <= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_corrected_and_a_different_word_is_not() {
        let known = ["name", "in_progress", "id", "description", "toolsets", "tools", "t"];
        let cases = [
            ("nme", Some("name")),
            ("anme", Some("name")),
            ("Name", Some("name")),
            ("in-progress", Some("in_progress")),
            ("inProgress", Some("in_progress")),
            ("if", Some("id")),
            ("desciption", Some("description")),
            ("descr", Some("description")),
            ("Tools", Some("tools")),
            ("colour", None),
            ("banana", None),
            ("", None),
            ("u", None),
            ("T", Some("t")),
        ];
        for (word, expected) in cases {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }

    #[test]
    fn a_close_word_is_suggested_and_otherwise_the_first_words_are_listed() {
        let many: Vec<String> = (0..25).map(|number| format!("tool_{number:02}")).collect();
        let known = || many.iter().map(String::as_str);
        assert_eq!(suggestion("tool01", known(), "there is"), "did you mean `tool_01`?");
        let listed = suggestion("banana", known(), "there is");
        assert!(listed.starts_with("there is `tool_00`, `tool_01`, "), "{listed}");
        assert!(listed.ends_with("`tool_19` and 5 more"), "{listed}");
        assert_eq!(suggestion("banana", ["pear"], "it has"), "it has `pear`");
        assert_eq!(suggestion("banana", [], "it has"), "it has none");
    }

    /// The whole matrix of the distance.
    fn distance(from: &[char], to: &[char]) -> usize {
        let mut rows = vec![(0..=to.len()).collect::<Vec<_>>()];
        for row in 1..=from.len() {
            let mut line = vec![row];
            for column in 1..=to.len() {
                let (a, b) = (from[row - 1], to[column - 1]);
                let replaced = rows[row - 1][column - 1] + usize::from(a != b);
                let mut best = replaced.min(rows[row - 1][column] + 1).min(line[column - 1] + 1);
                if row > 1 && column > 1 && a == to[column - 2] && from[row - 2] == b {
                    best = best.min(rows[row - 2][column - 2] + 1);
                }
                line.push(best);
            }
            rows.push(line);
        }
        rows[from.len()][to.len()]
    }

    #[test]
    fn the_distance_near_the_diagonal_is_that_of_the_whole_matrix() {
        let mut words = vec![Vec::new()];
        for at in 0.. {
            if words.len() > 400 {
                break;
            }
            for letter in ['a', 'b', 'c'] {
                let word: Vec<char> = words[at].iter().copied().chain([letter]).collect();
                words.push(word);
            }
        }
        let mut rows = Rows::default();
        for from in &words {
            for to in &words {
                let expected = distance(from, to);
                for limit in 0..4 {
                    let found = rows.distance(from, to, limit);
                    let expected = Some(expected).filter(|steps| *steps <= limit);
                    assert_eq!(found, expected, "{from:?} {to:?} {limit}");
                }
            }
        }
    }
}
