//! Writes the rows that hold codecs to a schema: payloads, each with the verdict of the validator of the contract.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use toolwright::codec::MAX_DEPTH;
use toolwright::pointer::unescaped;
use toolwright::schema::Schema;
use toolwright::value::Kind;
use toolwright::{Issue, Value};

use super::{Judge, LARGEST, MAX_STEPS, Made, Maker, Purpose, check, json};
use crate::json::quoted;
use crate::schema::{NodeId, Schemas, aliased};

/// The most rows for one schema.
const MAX_ROWS: usize = 200;

/// The most bytes of the payloads of one schema.
const MAX_BYTES: usize = 96 << 10;

/// The work for one schema: for making payloads, in bytes, and as much for checking them, in bytes and steps. It does not depend
/// on the rest of the project, of which an incremental run sees only a part.
const WORK: u64 = 150_000;

/// More work for each byte of a schema.
const WORK_PER_BYTE: u64 = 1;

/// Returns the rows for one side of a tool, as JSON lines: the shortest payloads first, none of them twice. There are fewer if
/// making or checking them takes too much work for the size of the schema.
///
/// `compiled` is the schema `node`, whose text has `bytes`, and `of` is the name of the side.
pub fn rows(
    schemas: &Schemas,
    node: NodeId,
    compiled: &Arc<Schema>,
    bytes: usize,
    of: &str,
    examples: &[&str],
) -> String {
    let work = WORK + WORK_PER_BYTE * bytes as u64;
    let judge = Judge { validator: Some(Arc::clone(compiled)) };
    let root = aliased(schemas, node).last().map(|root| (root, judge));
    let mut maker = Maker { root, ..Maker::new(schemas, Purpose::Codec, work) };
    let examples = examples.iter().map(|text| Made::new(json(text), "an example"));
    let examples: Vec<Made> = examples.collect();
    let made = maker.node(Some(node), 0);
    let base = maker.valid(Some(node), 0);
    let base = base.as_deref();
    let made: Vec<&Made> = examples.iter().chain(made.iter()).chain(base).collect();

    let mut payloads: Vec<Payload> = made.iter().copied().map(Payload::of).collect();
    payloads.extend(texts(base.map(|made| json(&made.text)).as_ref()));
    payloads.extend(spellings(&made, compiled, work));
    let mut seen = BTreeSet::new();
    payloads.retain(|payload| payload.text.len() <= LARGEST && seen.insert(payload.text.clone()));

    // The shortest first, so that many can be checked. The valid value is checked whatever the others take.
    let valid = base.map(|made| &made.text);
    let mut turns: Vec<usize> = (0..payloads.len()).collect();
    turns.sort_by_key(|turn| payloads[*turn].text.len());
    let mut left = work;
    let judged = |turn: usize| {
        let text = &payloads[turn].text;
        let own = &mut (LARGEST as u64 + MAX_STEPS);
        let left = if valid == Some(text) { own } else { &mut left };
        Some((turn, issues(compiled, text, left)?))
    };
    let judged: BTreeMap<usize, Vec<Issue>> = turns.into_iter().filter_map(judged).collect();
    let judged = judged.into_iter().map(|(turn, issues)| (&payloads[turn], issues));
    let (mut rows, mut bytes) = (Vec::new(), 0);
    for (payload, issues) in in_turn(judged) {
        if rows.len() < MAX_ROWS && bytes + payload.text.len() <= MAX_BYTES {
            bytes += payload.text.len();
            rows.push((&payload.text, payload.row(of, issues.first())));
        }
    }
    rows.sort_by_key(|(text, _)| (text.len(), *text));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// A payload, and why it was made.
struct Payload {
    text: String,
    /// Set if it is written as a text: another spelling of a value, or no JSON.
    is_text: bool,
    at: String,
    reason: Cow<'static, str>,
}

impl Payload {
    fn of(made: &Made) -> Self {
        let Made { text, at, reason, .. } = made;
        Self { text: text.clone(), is_text: false, at: at.clone(), reason: reason.clone() }
    }

    fn text(text: String, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { text, is_text: true, at: String::new(), reason: reason.into() }
    }

    fn row(&self, of: &str, issue: Option<&Issue>) -> String {
        let (is_valid, reason, at) = match issue {
            None => (true, self.reason.to_string(), self.at.as_str()),
            Some(issue) => (false, issue.message(), issue.pointer()),
        };
        let (key, payload) = if self.is_text {
            // A byte order mark is not visible.
            ("text", quoted(&self.text).replace('\u{feff}', "\\ufeff"))
        } else {
            ("payload", self.text.clone())
        };
        let (of, reason, at) = (quoted(of), quoted(&reason), quoted(at));
        format!(
            "{{\"of\":{of},\"{key}\":{payload},\"valid\":{is_valid},\"reason\":{reason},\"at\":{at}}}\n"
        )
    }
}

/// Returns the issues of a payload; `None` if its check takes too many steps, of which some are left.
fn issues(schema: &Schema, text: &str, left: &mut u64) -> Option<Vec<Issue>> {
    match check(schema, text, left)? {
        Ok(()) => Some(Vec::new()),
        Err(invalid) => Some(invalid.issues().to_vec()),
    }
}

/// Sorts payloads: the first valid and the first invalid one of each place, then the second ones, and so on. So every place keeps
/// some if there are too many.
fn in_turn<'p>(
    judged: impl Iterator<Item = (&'p Payload, Vec<Issue>)>,
) -> impl Iterator<Item = (&'p Payload, Vec<Issue>)> {
    let mut counts = BTreeMap::new();
    let mut turns = Vec::new();
    for (payload, issues) in judged {
        let group = (&payload.at, payload.is_text, issues.is_empty());
        let turn = counts.entry(group).or_insert(0);
        *turn += 1;
        turns.push((*turn, payload, issues));
    }
    turns.sort_by_key(|(turn, ..)| *turn);
    turns.into_iter().map(|(_, payload, issues)| (payload, issues))
}

/// Makes texts that are no JSON, or another spelling of a valid value.
fn texts(valid: Option<&Value>) -> Vec<Payload> {
    let value = valid.map_or_else(|| "null".to_owned(), Value::to_string);
    let mut shorter = value.clone();
    shorter.pop();
    let [open, close] = ["[", "]"].map(|bracket| bracket.repeat(MAX_DEPTH + 1));
    let mut texts = vec![
        (String::new(), "an empty text"),
        (" ".to_owned(), "a blank"),
        (shorter, "a value without its last character"),
        (format!(" \r\n\t{value} "), "blanks around a value"),
        (format!("{value} {value}"), "two values"),
        (format!("{value},"), "a comma after a value"),
        (format!("{value}//"), "a comment"),
        (format!("\u{feff}{value}"), "a byte order mark"),
        (format!("{open}{close}"), "nested too deep"),
        ("NaN".to_owned(), "no number"),
        ("-Infinity".to_owned(), "no number"),
        ("nul".to_owned(), "no word of JSON"),
        ("True".to_owned(), "no word of JSON"),
        ("'a'".to_owned(), "a text in single quotes"),
        ("[1,]".to_owned(), "a comma before a bracket"),
        ("{\"a\":1,}".to_owned(), "a comma before a brace"),
        ("{a:1}".to_owned(), "a key without quotes"),
        ("{\"a\":1,\"a\":1}".to_owned(), "a key twice"),
    ];
    if let Some((key, first)) = valid.and_then(Value::as_object).and_then(|map| map.iter().next()) {
        let rest = value.strip_prefix('{').unwrap_or_default();
        let units: Vec<String> = key.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let escaped = units.concat();
        let own = Value::from(key);
        texts.push((format!("{{{own}:{first},{rest}"), "a key twice"));
        texts.push((format!("{{\"{escaped}\":{first},{rest}"), "a key twice, once with escapes"));
        let others = rest.strip_prefix(&own.to_string()).unwrap_or_default();
        texts.push((format!("{{\"{escaped}\"{others}"), "a key with escapes"));
    }
    texts.into_iter().map(|(text, reason)| Payload::text(text, reason)).collect()
}

/// Makes other spellings of the first text, the first number and the first array of valid values, and mistakes in them. Finding
/// these values takes at most some `work`.
fn spellings(made: &[&Made], schema: &Schema, mut work: u64) -> Vec<Payload> {
    let mut accepts =
        |text: &str| issues(schema, text, &mut work).is_some_and(|issues| issues.is_empty());
    let mut first = |kind: Kind| {
        made.iter().copied().find(|made| made.kind == Some(kind) && accepts(&made.text))
    };
    let mut found = Vec::new();
    let mut spell = |place: &Made, spelling: &str, reason: &'static str| {
        let text = spelled(place, spelling);
        found.push(Payload { at: place.at.clone(), ..Payload::text(text, reason) });
    };
    if let Some(text) = first(Kind::String) {
        for (spelling, reason) in TEXTS {
            spell(text, spelling, reason);
        }
    }
    if let Some(number) = first(Kind::Number) {
        for spelling in NUMBERS {
            spell(number, spelling, "no number of JSON");
        }
    }
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    if let Some(array) = first(Kind::Array)
        && accepts(&spelled(array, &nested(3)))
    {
        let deepest = MAX_DEPTH - array.at.matches('/').count();
        spell(array, &nested(deepest), "as deep as codecs read");
        spell(array, &nested(deepest + 1), "deeper than codecs read");
    }
    found
}

const TEXTS: [(&str, &str); 6] = [
    (r#""\ud83d\ude00""#, "a character as two escapes"),
    (r#""\ud83d""#, "half of a character"),
    (r#""\u0061\/\b""#, "escapes"),
    (r#""\x41""#, "no escape of JSON"),
    ("\"\t\"", "a character that needs an escape"),
    ("\"a", "no quote at the end"),
];

const NUMBERS: [&str; 6] = ["01", "+1", "1.", ".5", "1e", "0x1"];

/// Returns the text of a value in which the part that it was made for is spelled in another way.
fn spelled(made: &Made, spelling: &str) -> String {
    /// A text that no made value has.
    const PLACE: &str = "\u{e000}";
    fn put(value: &mut Value, at: &str) {
        let Some(path) = at.strip_prefix('/') else {
            *value = Value::from(PLACE);
            return;
        };
        let (segment, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
        let part = match value {
            Value::Array(items) => {
                segment.parse().ok().and_then(|index: usize| items.get_mut(index))
            }
            Value::Object(entries) => entries.get_mut(&unescaped(segment)),
            _ => None,
        };
        if let Some(part) = part {
            put(part, rest);
        }
    }
    let mut value = json(&made.text);
    put(&mut value, &made.at);
    value.to_string().replacen(&Value::from(PLACE).to_string(), spelling, 1)
}
