//! Which known word someone probably meant. Never decides anything: it only words advice.

/// The known word nearest to one that is not known, if any is near enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let limit = (length / 3).max(1);
    // Whoever shortens a word means it too.
    let begins = |candidate: &str| length >= 3 && candidate.starts_with(word);
    known
        .into_iter()
        .map(|candidate| (if begins(candidate) { 1 } else { distance(word, candidate) }, candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// A list longer than this helps nobody who was told the nearest word already.
const SHORT: usize = 12;

/// Advice on an unknown word: the nearest known one, and what is known.
pub(crate) fn advice<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    what: &str,
) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let listed: Vec<String> = known.iter().take(40).map(|word| format!("`{word}`")).collect();
    let rest =
        if known.len() > 40 { format!(" and {} more", known.len() - 40) } else { String::new() };
    match (nearest(word, known.iter().copied()), listed.is_empty()) {
        (_, true) => format!("{what}: none"),
        (Some(near), _) if known.len() > SHORT => format!("did you mean `{near}`?"),
        (Some(near), _) => format!("did you mean `{near}`? {what}: {}{rest}", listed.join(", ")),
        (None, _) => format!("{what}: {}{rest}", listed.join(", ")),
    }
}

/// How many characters have to be added, removed or replaced (Levenshtein), case aside.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, a) in from.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, &b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
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
