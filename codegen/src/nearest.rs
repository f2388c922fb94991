//! Which known word someone probably meant. Never decides anything: it only words advice.

/// The known word nearest to one that is not known, if any is near enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = letters(word);
    let limit = (word.len() / 3).max(1);
    // Comparing takes the product of two lengths: nobody mistypes a word longer than any name may be.
    let is_comparable =
        |candidate: &&str| word.len() <= LONGEST && candidate.len() <= word.len() * 4 + limit * 4;
    // Whoever shortens a word means it too.
    let begins = |candidate: &[char]| {
        (3..candidate.len()).contains(&word.len()) && candidate.starts_with(&word)
    };
    let compared = |candidate: &str| {
        let candidate = letters(candidate);
        if begins(&candidate) { Some(1) } else { distance(&word, &candidate, limit) }
    };
    known
        .into_iter()
        .filter(is_comparable)
        .filter_map(|candidate| Some((compared(candidate)?, candidate)))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

fn letters(word: &str) -> Vec<char> {
    if word.is_ascii() {
        return word.bytes().map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    }
    word.chars().flat_map(char::to_lowercase).collect()
}

/// Longer words are not compared.
const LONGEST: usize = 100;

/// How many known words are looked at for an unknown one.
const MOST: usize = 1000;

/// A list longer than this helps nobody who was told the nearest word already.
const SHORT: usize = 12;

/// Advice on an unknown word: the nearest known one, and what is known.
pub(crate) fn advice<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    what: &str,
) -> String {
    let known: Vec<&str> = known.into_iter().take(MOST).collect();
    let listed: Vec<String> = known.iter().take(40).map(|word| format!("`{word}`")).collect();
    let rest = match known.len().saturating_sub(40) {
        0 => String::new(),
        _ if known.len() == MOST => " and more".to_owned(),
        more => format!(" and {more} more"),
    };
    match (nearest(word, known.iter().copied()), listed.is_empty()) {
        (_, true) => format!("{what}: none"),
        (Some(near), _) if known.len() > SHORT => format!("did you mean `{near}`?"),
        (Some(near), _) => format!("did you mean `{near}`? {what}: {}{rest}", listed.join(", ")),
        (None, _) => format!("{what}: {}{rest}", listed.join(", ")),
    }
}

/// How many characters have to be added, removed or replaced (Levenshtein), where that is within a limit.
fn distance(from: &[char], to: &[char], limit: usize) -> Option<usize> {
    if from.len().abs_diff(to.len()) > limit {
        return None;
    }
    // What both begin with needs no step.
    let same = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let (from, to) = (&from[same..], &to[same..]);
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, a) in from.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
        // No way to the end is shorter than the shortest to here.
        if row.iter().all(|steps| *steps > limit) {
            return None;
        }
    }
    Some(row[to.len()]).filter(|steps| *steps <= limit)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_another_word_is_not() {
        let known = ["description", "toolsets", "tools"];
        assert_eq!(nearest("desciption", known), Some("description"));
        assert_eq!(nearest("Tools", known), Some("tools"));
        assert_eq!(nearest("descr", known), Some("description"));
        assert_eq!(nearest("banana", known), None);
    }
}
