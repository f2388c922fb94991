//! The nearest of some known words, for "did you mean".

/// Words longer than this are compared with nothing: the suggestion is not worth quadratic time.
const LONGEST: usize = 64;

/// The candidate that is so close to `word` that it is probably meant.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = spelled(word);
    if word.len() > LONGEST {
        return None;
    }
    let allowed = (word.len() / 3).max(1);
    candidates
        .iter()
        .map(|candidate| (distance(&word, &spelled(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| *candidate)
}

/// Case and the choice between `-`, `_` and a space are the commonest slips, so they cost nothing.
fn spelled(word: &str) -> Vec<char> {
    word.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// How many insertions, removals, replacements and swaps of neighbours lead from one word to the other.
fn distance(from: &[char], to: &[char]) -> usize {
    if from.len().abs_diff(to.len()) > LONGEST {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (row, a) in from.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, b) in to.iter().enumerate() {
            let replaced = above[column] + usize::from(a != b);
            let mut best = replaced.min(above[column + 1] + 1).min(line[column] + 1);
            if row > 0 && column > 0 && *a == to[column - 1] && from[row - 1] == *b {
                best = best.min(before[column - 1] + 1);
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
    }
    above[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_found_and_another_word_is_not() {
        let known = ["name", "in_progress", "id"];
        let cases = [
            ("nme", Some("name")),
            ("anme", Some("name")),
            ("Name", Some("name")),
            ("in-progress", Some("in_progress")),
            ("inProgress", Some("in_progress")),
            ("if", Some("id")),
            ("colour", None),
            ("", None),
        ];
        for (word, expected) in cases {
            assert_eq!(nearest(word, &known), expected, "{word}");
        }
    }
}
