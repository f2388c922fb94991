//! Suggests the known word that somebody probably meant, for "did you mean".

/// Longer words are not compared: nobody mistypes a word longer than any name may be, and comparing takes the product of
/// two lengths.
const LONGEST: usize = 100;

/// Returns the known word that is so close to `word` that it is probably meant: up to a third of its letters added,
/// removed, replaced or swapped with their neighbors. Case, `-`, `_` and spaces cost nothing, nor does leaving out the end.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let word: Vec<char> = letters(word).collect();
    let limit = (word.len() / 3).max(1);
    // All comparisons use the same memory.
    let (mut candidate, mut rows) = (Vec::new(), Rows::default());
    let compared = |known: &'a str| {
        if known.len() > LONGEST * 4 {
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

fn letters(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase)
}

/// The rows of a comparison that are still needed.
#[derive(Default)]
struct Rows {
    before: Vec<usize>,
    above: Vec<usize>,
    line: Vec<usize>,
}

impl Rows {
    /// The optimal string alignment distance, where it is within a limit.
    fn distance(&mut self, from: &[char], to: &[char], limit: usize) -> Option<usize> {
        if from.len().abs_diff(to.len()) > limit {
            return None;
        }
        let same = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let (from, to) = (&from[same..], &to[same..]);
        let Self { before, above, line } = self;
        above.clear();
        above.extend(0..=to.len());
        for (row, a) in from.iter().enumerate() {
            line.clear();
            line.push(row + 1);
            for (column, b) in to.iter().enumerate() {
                let replaced = above[column] + usize::from(a != b);
                let mut best = replaced.min(above[column + 1] + 1).min(line[column] + 1);
                if row > 0 && column > 0 && *a == to[column - 1] && from[row - 1] == *b {
                    best = best.min(before[column - 1] + 1);
                }
                line.push(best);
            }
            // Each further row is at least as far as the nearer of the two above it.
            if line.iter().chain(&*above).all(|steps| *steps > limit) {
                return None;
            }
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
    fn a_slip_is_found_and_another_word_is_not() {
        let known = ["name", "in_progress", "id", "description", "toolsets", "tools"];
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
        ];
        for (word, expected) in cases {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}
