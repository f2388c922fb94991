//! Finds texts of listed tools that somebody should read before a model does: hidden characters, names that look like others, and
//! orders to the model ("tool poisoning", OWASP MCP Top 10, MCP03). It finds what is often written, not every meaning.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

use regex::{Regex, RegexSet, RegexSetBuilder};
use toolwright::Value;
use toolwright::pointer::escaped;
use toolwright::untrusted::hidden;
use unicode_security::confusable_detection::skeleton;
use unicode_security::mixed_script::MixedScript;

use super::warnings::{Warning, Warnings};

/// The reason to read a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Suspicion {
    /// Characters that readers do not see, such as tags, or that control a terminal.
    Hidden,
    /// A name with letters of several scripts, or with letters that look like those of ASCII.
    Lookalike,
    /// A text that goes on after so many blanks or empty lines that readers may not see it.
    Blanks,
    /// A text that speaks to the model over the instructions of its host.
    Override,
    /// A text that has something hidden from the user.
    Secrecy,
    /// A text that asks for secrets, files or the conversation.
    Exfiltration,
    /// A text that gives orders about tools of others or about approvals.
    Orders,
}

/// The names of the kinds in the list of patterns.
const KINDS: [(&str, Suspicion); 4] = [
    ("override", Suspicion::Override),
    ("secrecy", Suspicion::Secrecy),
    ("exfiltration", Suspicion::Exfiltration),
    ("orders", Suspicion::Orders),
];

/// The longest text that is searched, in bytes. A longer one is cut.
const LONGEST: usize = 64 * 1024;

/// The most bytes of different texts of one list that are searched.
const MOST: usize = 4 << 20;

/// The sign in place of the name of a tool of the same list. A server may give orders about its own tools.
const OWN: &str = "§";

/// Patterns of one kind in lower case, with a single blank for each run of blanks in a line.
struct Patterns {
    kinds: Vec<Suspicion>,
    set: RegexSet,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let lines = include_str!("patterns.txt").lines();
    let rows =
        lines.filter(|line| !line.starts_with("# ")).filter_map(|line| line.split_once('\t'));
    let rows = rows.filter_map(|(name, pattern)| {
        let (_, kind) = KINDS.iter().find(|(known, _)| *known == name)?;
        // With boundaries of Unicode words, a text with other than ASCII characters is matched a hundred times as slowly.
        Some((*kind, pattern.replace(r"\b", r"(?-u:\b)")))
    });
    let (kinds, patterns): (Vec<_>, Vec<_>) = rows.unzip();
    // With room for their states, the patterns are matched a thousand times as fast.
    let set = RegexSetBuilder::new(patterns).multi_line(true).dfa_size_limit(32 << 20).build();
    Patterns { kinds, set: set.expect("the patterns are tested") }
});

static BLANKS: LazyLock<Regex> = LazyLock::new(|| {
    let blanks = r"(?:[^\S\n]*\n){12,}[^\n]*\S|[^\S\n]{100,}\S";
    Regex::new(blanks).expect("the pattern is tested")
});

/// The most bytes of the name and of the pointer of a place that are kept, since a list may have very many places.
const LONGEST_PLACE: usize = 500;

/// Returns a warning for each kind of suspicious text in a list of tools: the result of `tools/list`, the response with it, or only
/// its tools. Empty if the text is not such a list.
pub fn suspicions(list: &str) -> Vec<Warning> {
    let mut warnings = Warnings::default();
    warn(&list.parse().unwrap_or_default(), &mut warnings, |_| true);
    warnings.into_vec()
}

/// Adds a warning for each kind of suspicious text in a list of tools, if the kind counts.
pub(super) fn warn(list: &Value, warnings: &mut Warnings, counts: fn(Suspicion) -> bool) {
    let result = list.get("result").unwrap_or(list);
    let tools = result.get("tools").unwrap_or(result).as_array().unwrap_or_default();
    let name = |tool: &Value| Some(tool.get("name")?.as_str()?.to_lowercase());
    let names = tools.iter().filter_map(name).collect();
    let mut texts = Texts { names, known: BTreeMap::new(), left: MOST };
    for (suspicion, place) in tools.iter().flat_map(|tool| found(tool, &mut texts)) {
        if counts(suspicion) {
            warnings.at(place, suspicion.to_string());
        }
    }
    if texts.left == 0 {
        let most = MOST >> 20;
        warnings.add(format!(
            "only the first {most} MiB of its texts were searched for orders to a model"
        ));
    }
}

/// The texts of a list.
struct Texts {
    /// The names of the tools, in lower case.
    names: BTreeSet<String>,
    /// The suspicions about each text so far, as many texts occur often.
    known: BTreeMap<String, BTreeSet<Suspicion>>,
    /// The bytes that may still be searched.
    left: usize,
}

impl Texts {
    /// Returns what is suspicious in a text; nothing if too much was searched before.
    fn suspicions(&mut self, text: &str) -> BTreeSet<Suspicion> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let searched = text.len().min(LONGEST);
        if searched > self.left {
            self.left = 0;
            return BTreeSet::new();
        }
        self.left -= searched;
        let found = of_text(text, &self.names);
        self.known.insert(text.to_owned(), found.clone());
        found
    }
}

/// Returns the suspicious texts of a tool with their places: its name and a JSON Pointer.
fn found(tool: &Value, texts: &mut Texts) -> BTreeSet<(Suspicion, String)> {
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    let mut found = BTreeSet::new();
    if looks_like_another(name) {
        found.insert((Suspicion::Lookalike, name.to_owned()));
    }
    each_text(tool, &mut String::new(), &mut |text, pointer| {
        for suspicion in texts.suspicions(text) {
            let [name, pointer] =
                [name, pointer].map(|text| &text[..text.floor_char_boundary(LONGEST_PLACE)]);
            found.insert((suspicion, format!("{name} {pointer}")));
        }
    });
    found
}

/// Visits all texts and keys of a value.
fn each_text(value: &Value, pointer: &mut String, visit: &mut dyn FnMut(&str, &str)) {
    let mut below = |segment: &str, value: &Value| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&escaped(segment));
        visit(segment, pointer);
        each_text(value, pointer, visit);
        pointer.truncate(length);
    };
    match value {
        Value::String(text) => visit(text, pointer),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| below(&index.to_string(), item));
        }
        Value::Object(entries) => entries.iter().for_each(|(key, value)| below(key, value)),
        _ => {}
    }
}

/// Returns what is suspicious in a text. `names` are those of the tools of the list, in lower case.
fn of_text(text: &str, names: &BTreeSet<String>) -> BTreeSet<Suspicion> {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let mut found = BTreeSet::new();
    if hidden(text).next().is_some() {
        found.insert(Suspicion::Hidden);
    }
    if BLANKS.is_match(text) {
        found.insert(Suspicion::Blanks);
    }
    let matches = PATTERNS.set.matches(&plain(text, names));
    found.extend(matches.into_iter().map(|index| PATTERNS.kinds[index]));
    found
}

/// Returns a text in lower case with single blanks and straight apostrophes, and without the names of the tools.
fn plain(text: &str, names: &BTreeSet<String>) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut word = String::new();
    let push = |word: &mut String, plain: &mut String| {
        plain.push_str(if names.contains(word.as_str()) { OWN } else { word });
        word.clear();
    };
    for character in text.chars().flat_map(char::to_lowercase) {
        if character.is_alphanumeric() || "_-".contains(character) {
            word.push(character);
            continue;
        }
        push(&mut word, &mut plain);
        match character {
            ' ' | '\t' | '\u{3000}' if plain.ends_with(' ') => {}
            ' ' | '\t' | '\u{3000}' => plain.push(' '),
            '\u{2019}' => plain.push('\''),
            other => plain.push(other),
        }
    }
    push(&mut word, &mut plain);
    plain
}

/// Returns whether a name may be taken for another one (UTS 39): it mixes scripts, or all of its letters look like those of ASCII.
fn looks_like_another(name: &str) -> bool {
    let mut shown = skeleton(name);
    !name.is_ascii() && (shown.all(|character| character.is_ascii()) || !name.is_single_script())
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hidden => {
                "a text has hidden characters or terminal codes; read it with visible characters"
            }
            Self::Lookalike => {
                "its name looks like another one: it mixes scripts, or has letters that look like Latin ones"
            }
            Self::Blanks => "a text goes on after many blanks, where readers may not look",
            Self::Override => {
                "a text may speak to the model over the instructions of its host; read it before the tool is used"
            }
            Self::Secrecy => {
                "a text may have something hidden from the user; read it before the tool is used"
            }
            Self::Exfiltration => {
                "a text may ask for secrets, files or the conversation; read it before the tool is used"
            }
            Self::Orders => {
                "a text may give orders about other tools or approvals; read it before the tool is used"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::PATTERNS;

    #[test]
    fn no_boundary_of_words_is_slow_on_other_than_ascii_characters() {
        for pattern in PATTERNS.set.patterns() {
            assert!(!pattern.replace(r"(?-u:\b)", "").contains(r"\b"), "{pattern}");
        }
    }
}
