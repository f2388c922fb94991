//! An index of tools by their words, for models that cannot read the definitions of all tools at once.
//!
//! The ranking is [Okapi BM25](https://www.staff.city.ac.uk/~sbrp622/papers/foundations_bm25_review.pdf) (Robertson and
//! Zaragoza, 2009) with the usual constants; words of a name weigh more than those of a description.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use crate::{ToolSpec, Value};

/// The constant for the saturation of repeated words.
const K1: f32 = 1.2;

/// The constant for the length of a text.
const B: f32 = 0.75;

/// The weight of a word that only means the same as one of the query.
const SYNONYM: f32 = 0.4;

/// The weight of a longer word that begins with one of the query.
const BEGINNING: f32 = 0.8;

/// The most words of a query that count.
const MOST_WORDS: usize = 64;

/// The fewest letters of a word of a query that may be the beginning of a longer one.
const LEAST_BEGINNING: usize = 4;

/// Words that mean the same in names of tools, each list once.
const SYNONYMS: [&[&str]; 16] = [
    &["create", "add", "new", "make", "insert"],
    &["delete", "remove", "drop", "erase", "destroy"],
    &["update", "edit", "change", "modify", "set", "patch"],
    &["get", "read", "fetch", "show", "view", "retrieve", "describe", "detail"],
    &["list", "all", "enumerate", "show"],
    &["search", "find", "query", "lookup", "look"],
    &["run", "execute", "start", "launch", "trigger", "invoke"],
    &["stop", "cancel", "abort", "kill", "terminate", "end"],
    &["send", "post", "publish"],
    &["file", "document"],
    &["folder", "directory"],
    &["picture", "image", "photo", "screenshot"],
    &["issue", "ticket", "bug"],
    &["log", "trace"],
    &["comment", "note", "reply"],
    &["page", "website", "web", "url"],
];

/// Words of queries that say nothing about a tool.
const STOP_WORDS: [&str; 48] = [
    "a", "about", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from",
    "has", "have", "how", "i", "in", "into", "is", "it", "let", "me", "my", "of", "on", "or",
    "our", "so", "some", "someone", "that", "the", "their", "there", "this", "to", "was", "we",
    "what", "when", "where", "which", "who", "why", "with", "would",
];

/// An index of tools.
#[derive(Clone, Debug, Default)]
pub struct ToolIndex {
    names: Vec<String>,
    /// By word: the tools that have it, with the word's share of their score. Sorted, so that words with a beginning are found.
    postings: BTreeMap<String, Vec<(usize, f32)>>,
}

impl ToolIndex {
    /// Indexes tools by their names, titles, descriptions, tags, aliases and arguments. Each has the name that it is published
    /// under.
    pub fn new<'a>(tools: impl IntoIterator<Item = (&'a str, &'a ToolSpec)>) -> Self {
        let (mut names, mut texts) = (Vec::new(), Vec::new());
        for (name, spec) in tools {
            names.push(name.to_owned());
            texts.push(weights(name, spec));
        }
        let total: f32 = texts.iter().flat_map(HashMap::values).sum();
        let average = (total / as_f32(texts.len())).max(1.0);
        let mut postings: BTreeMap<String, Vec<(usize, f32)>> = BTreeMap::new();
        for (place, words) in texts.into_iter().enumerate() {
            let length: f32 = words.values().sum();
            let norm = K1 * (1.0 - B + B * length / average);
            for (word, weight) in words {
                let share = weight * (K1 + 1.0) / (weight + norm);
                postings.entry(word).or_default().push((place, share));
            }
        }
        let all = as_f32(names.len());
        for found in postings.values_mut() {
            let having = as_f32(found.len());
            let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            for (_, share) in found {
                *share *= rarity;
            }
        }
        Self { names, postings }
    }

    /// Returns the names of the tools that fit a query best, the best one first. Of tools that fit equally, the one that was
    /// given first comes first. Of a query, the first 64 different words count.
    pub fn search(&self, query: &str, limit: usize) -> Vec<&str> {
        let mut words = BTreeSet::new();
        split(query, &mut |word| {
            if words.len() < MOST_WORDS && !STOP_WORDS.contains(&word.as_str()) {
                words.insert(word);
            }
        });
        let mut scores = vec![0.0_f32; self.names.len()];
        for word in &words {
            let mut best: HashMap<usize, f32> = HashMap::new();
            self.each(word, |place, score| {
                let best = best.entry(place).or_default();
                *best = best.max(score);
            });
            for (place, score) in best {
                scores[place] += score;
            }
        }
        let mut found: Vec<usize> =
            (0..scores.len()).filter(|place| scores[*place] > 0.0).collect();
        found.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        found.truncate(limit);
        found.into_iter().map(|place| self.names[place].as_str()).collect()
    }

    /// Calls a function with each tool that has a word or one like it, and the score.
    fn each(&self, word: &str, mut score: impl FnMut(usize, f32)) {
        let mut add = |found: &[(usize, f32)], weight: f32| {
            for (place, share) in found {
                score(*place, weight * share);
            }
        };
        match self.postings.get(word) {
            Some(found) => add(found, 1.0),
            // A word that no tool has may be the beginning of one, as `mongo` is of `mongodb`.
            None if word.len() >= LEAST_BEGINNING => {
                let from = (Bound::Excluded(word), Bound::Unbounded);
                let longer = self.postings.range::<str, _>(from);
                let longer = longer.take_while(|(known, _)| known.starts_with(word));
                longer.for_each(|(_, found)| add(found, BEGINNING));
            }
            None => {}
        }
        let lists = SYNONYMS.iter().filter(|list| list.iter().any(|same| stem(same) == word));
        for same in lists.copied().flatten() {
            if let Some(found) = self.postings.get(&stem(same)) {
                add(found, SYNONYM);
            }
        }
    }
}

/// Returns the words of a tool with their weights.
fn weights(name: &str, spec: &ToolSpec) -> HashMap<String, f32> {
    let mut words: HashMap<String, f32> = HashMap::new();
    let mut add = |text: &str, weight: f32| {
        split(text, &mut |word| *words.entry(word).or_default() += weight);
    };
    add(name, 3.0);
    if name != spec.name() {
        add(spec.name(), 1.0);
    }
    spec.aliases().for_each(|alias| add(alias, 2.0));
    spec.tags().for_each(|tag| add(tag, 1.0));
    add(spec.title().unwrap_or_default(), 2.0);
    let (first, rest) = first_sentence(spec.description());
    add(first, 1.5);
    add(rest, 0.7);
    add(spec.toolset(), 0.5);
    if let Ok(schema) = spec.args_schema().parse::<Value>() {
        arguments(&schema, &mut add);
    }
    words
}

/// Returns the first sentence of a text, and the rest.
pub fn first_sentence(text: &str) -> (&str, &str) {
    let text = text.trim();
    let line = text.find('\n').unwrap_or(text.len());
    let end = text.find(". ").map_or(line, |stop| line.min(stop + 1));
    let (first, rest) = text.split_at(end);
    (first.trim(), rest.trim())
}

/// Adds the names and descriptions of arguments.
fn arguments(schema: &Value, add: &mut impl FnMut(&str, f32)) {
    match schema {
        Value::Object(entries) => {
            for (key, value) in entries {
                match (key, value) {
                    ("description", Value::String(text)) => add(text, 0.25),
                    ("properties", Value::Object(properties)) => {
                        for (name, property) in properties {
                            add(name, 0.6);
                            arguments(property, add);
                        }
                    }
                    (_, Value::Object(_) | Value::Array(_)) => arguments(value, add),
                    _ => {}
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| arguments(item, add)),
        _ => {}
    }
}

/// Calls a function with each word of a text: divided where the case changes and at everything that is not a letter or digit,
/// in lower case and without the usual endings.
fn split(text: &str, word: &mut dyn FnMut(String)) {
    for part in text.split(|char: char| !char.is_alphanumeric()).filter(|part| !part.is_empty()) {
        let mut start = 0;
        let mut before = None;
        for (at, char) in part.char_indices() {
            let is_new = before.is_some_and(|before: char| {
                (before.is_lowercase() && char.is_uppercase())
                    || before.is_ascii_digit() != char.is_ascii_digit()
            });
            if is_new {
                word(stem(&part[start..at]));
                start = at;
            }
            before = Some(char);
        }
        word(stem(&part[start..]));
    }
}

/// Returns a word in lower case, without the endings of plurals and of verbs.
fn stem(word: &str) -> String {
    let mut word = word.to_lowercase();
    let has = |word: &str, end: &str, least: usize| word.len() >= least && word.ends_with(end);
    if has(&word, "ies", 5) {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if ["sses", "shes", "ches", "xes"].iter().any(|end| has(&word, end, 5)) {
        word.truncate(word.len() - 2);
    } else if has(&word, "s", 4) && !word.ends_with("ss") && !word.ends_with("us") {
        word.truncate(word.len() - 1);
    }
    for end in ["ing", "ed"] {
        if has(&word, end, end.len() + 4) {
            word.truncate(word.len() - end.len());
            break;
        }
    }
    if has(&word, "e", 5) {
        word.truncate(word.len() - 1);
    }
    word
}

/// Counts of words are far below the limit of exact numbers.
#[allow(clippy::cast_precision_loss)]
fn as_f32(count: usize) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests {
    use super::{ToolIndex, first_sentence, split};
    use crate::ToolSpec;

    #[test]
    fn words_are_divided_and_have_no_endings() {
        let mut words = Vec::new();
        split("getPullRequests, HTTP2 files_listing: queries closed", &mut |word| words.push(word));
        let expected = "get pull request http 2 file list query clos";
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn tools_are_found_by_name_argument_and_meaning() {
        let mut delete = ToolSpec::new("issues.delete");
        delete.set_description("Deletes an issue for good.");
        let mut list = ToolSpec::new("issues.list");
        list.set_description("Lists issues.");
        list.set_args_schema(r#"{"type":"object","properties":{"assignee":{"type":"string"}}}"#);
        let specs = [&delete, &list];
        let index = ToolIndex::new(specs.map(|spec| (spec.name(), spec)));
        assert_eq!(index.search("remove a ticket", 5), ["issues.delete", "issues.list"]);
        assert_eq!(index.search("assignees", 5), ["issues.list"]);
        assert_eq!(index.search("issue", 1).len(), 1);
        assert!(index.search("of the", 5).is_empty() && index.search("weather", 5).is_empty());
        let long: Vec<_> = (0..100).map(|number| format!("word{number}")).collect();
        let long = long.join(" ");
        assert_eq!(index.search(&format!("{long} issue"), 5), [""; 0]);
        assert_eq!(index.search(&format!("issue {long}"), 1).len(), 1);
    }

    #[test]
    fn the_beginning_of_a_word_finds_all_longer_ones() {
        let specs = ["mongo.zz", "mongodb", "moneys", "mongrel", "mongoose", "zebra"];
        let specs = specs.map(ToolSpec::new);
        let index = ToolIndex::new(specs.iter().map(|spec| (spec.name(), spec)));
        let mut found = index.search("mong", 9);
        found.sort_unstable();
        assert_eq!(found, ["mongo.zz", "mongodb", "mongoose", "mongrel"]);
        assert_eq!(index.search("mongo", 9), ["mongo.zz"]);
        assert_eq!(index.search("zebr", 9), ["zebra"]);
        assert!(index.search("zzzz", 9).is_empty());
    }

    #[test]
    fn the_first_sentence_ends_with_its_stop_or_line() {
        assert_eq!(first_sentence("Adds 1.5. Then stops."), ("Adds 1.5.", "Then stops."));
        assert_eq!(first_sentence("Adds\nmore. Yes."), ("Adds", "more. Yes."));
    }
}
