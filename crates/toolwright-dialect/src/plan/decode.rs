//! Decodes wire values to canonical values. Values that do not match the plan are reported with both places; the codec of the
//! tool checks everything else.

use std::collections::HashSet;

use toolwright::issue::{Issue, IssueKind};
use toolwright::value::{Map, Value};

use super::{AbsentForm, At, ObjectStep, Plan, Property, Rest, Step, StepId, Wrong};

impl Plan {
    /// Decodes as much as possible, and adds mistakes to `wrong`.
    pub(crate) fn decode(&self, wire: Value, wrong: &mut Vec<Wrong>) -> Value {
        let places = Places { canonical: &At::Root, wire: &At::Root };
        Decoder { steps: &self.steps, wrong }.decoded(self.root, wire, places)
    }
}

struct Decoder<'a> {
    steps: &'a [Step],
    wrong: &'a mut Vec<Wrong>,
}

/// The place of a value, in the canonical value and on the wire.
#[derive(Clone, Copy)]
struct Places<'a> {
    canonical: &'a At<'a>,
    wire: &'a At<'a>,
}

impl<'a> Places<'a> {
    fn on_wire(self, wire: &'a At<'a>) -> Self {
        Self { wire, ..self }
    }
}

impl Decoder<'_> {
    fn decoded(&mut self, id: StepId, wire: Value, at: Places<'_>) -> Value {
        let steps = self.steps;
        match (&steps[id], wire) {
            (Step::Link(id), wire) => self.decoded(*id, wire, at),
            (Step::Wrapped { key, inner }, Value::Object(mut entries)) => {
                for other in entries.keys().filter(|other| other != key) {
                    let kind =
                        IssueKind::UnknownKey { key: other.to_owned(), known: Vec::new().into() };
                    self.report(at.on_wire(&at.wire.key(other)), kind);
                }
                let wire = at.wire.key(key);
                let at = at.on_wire(&wire);
                let Some(value) = entries.remove(key) else {
                    self.report(at, IssueKind::Missing { one_of: Vec::new().into() });
                    return Value::Null;
                };
                self.decoded(*inner, value, at)
            }
            (Step::Text, Value::String(text)) => match text.parse() {
                Ok(value) => value,
                Err(invalid) => {
                    let message = format!("is no JSON text: {}", sentence(&invalid));
                    self.report(at, IssueKind::Schema { message });
                    Value::Null
                }
            },
            (Step::Digits, Value::String(digits)) => match digits.parse() {
                Ok(integer) if is_integer(&digits) => integer,
                _ => Value::String(digits),
            },
            (Step::Table(rows), wire) => match rows.iter().find(|(_, listed)| *listed == wire) {
                Some((canonical, _)) => canonical.clone(),
                None => wire,
            },
            (Step::Object(object), Value::Object(entries)) => self.object(object, entries, at),
            (Step::Array(step), Value::Array(items)) => {
                let item = |(index, item)| {
                    let (canonical, wire) = (at.canonical.index(index), at.wire.index(index));
                    self.decoded(*step, item, Places { canonical: &canonical, wire: &wire })
                };
                Value::Array(items.into_iter().enumerate().map(item).collect())
            }
            (Step::Tuple { items, rest }, Value::Object(entries)) => {
                self.tuple(items, rest.as_ref(), entries, at)
            }
            (Step::Pairs(step), Value::Array(pairs)) => {
                let mut entries = Map::new();
                self.pairs(*step, pairs, &[], &mut entries, at);
                Value::Object(entries)
            }
            (Step::Choice(branches), wire) => {
                let exact = branches.iter().find(|branch| branch.guard.accepts(&wire));
                let branch =
                    exact.or_else(|| branches.iter().find(|branch| branch.guard.resembles(&wire)));
                match branch {
                    Some(branch) => self.decoded(branch.step, wire, at),
                    None => wire,
                }
            }
            // A value of another kind: the codec says what it expects at this place.
            (Step::Same, wire) | (Step::Tuple { .. }, wire @ Value::Array(_)) => wire,
            (step, wire) => {
                if let Some(expected) = step.expected_on_wire() {
                    let kind = IssueKind::Type { expected: expected.into(), found: found(&wire) };
                    self.report(at, kind);
                    return Value::Null;
                }
                wire
            }
        }
    }

    fn object(&mut self, object: &ObjectStep, wire: Map<Value>, at: Places<'_>) -> Value {
        let (values, others) = object.split(wire, |property| &property.wire_key);
        let mut entries = Map::new();
        for (property, value) in object.properties.iter().zip(values) {
            let Some(value) = value else { continue };
            let Property { key, wire_key, step, absent } = property;
            let (canonical, wire) = (at.canonical.key(key), at.wire.key(wire_key));
            let at = Places { canonical: &canonical, wire: &wire };
            let value = match (absent, value) {
                (AbsentForm::Null | AbsentForm::Wrapped, Value::Null) => continue,
                (AbsentForm::Wrapped, Value::Object(mut inner)) => {
                    let wire = wire.key("value");
                    let at = at.on_wire(&wire);
                    let Some(value) = inner.remove("value") else {
                        self.report(at, IssueKind::Missing { one_of: Vec::new().into() });
                        continue;
                    };
                    self.decoded(*step, value, at)
                }
                (AbsentForm::Wrapped, other) => {
                    let expected = "an object with the key `value`, or null".into();
                    self.report(at, IssueKind::Type { expected, found: found(&other) });
                    continue;
                }
                (_, value) => self.decoded(*step, value, at),
            };
            entries.insert(key.as_str(), value);
        }
        for (key, value) in others {
            let wire = at.wire.key(&key);
            let on_wire = at.on_wire(&wire);
            match &object.rest {
                Rest::Pairs { wire_key, step } if *wire_key == key => match value {
                    Value::Array(pairs) => {
                        let keys = object.properties.iter().map(|property| property.key.as_str());
                        let keys: Vec<&str> = keys.collect();
                        self.pairs(*step, pairs, &keys, &mut entries, on_wire);
                    }
                    Value::Null => {}
                    other => {
                        let expected = "an array of objects with `key` and `value`".into();
                        self.report(on_wire, IssueKind::Type { expected, found: found(&other) });
                    }
                },
                Rest::Keep(step) => {
                    let canonical = at.canonical.key(&key);
                    let at = Places { canonical: &canonical, wire: &wire };
                    let value = self.decoded(*step, value, at);
                    if entries.contains_key(&key) {
                        self.report(at, IssueKind::DuplicateKey { key: key.clone() });
                    }
                    entries.insert(key.as_str(), value);
                }
                // The codec refuses it where the schema does.
                Rest::Pairs { .. } | Rest::NoForm => {
                    entries.insert(key.as_str(), value);
                }
            }
        }
        Value::Object(entries)
    }

    /// Reads pairs into `entries`; `taken` are the keys that have a property of their own.
    fn pairs(
        &mut self,
        step: StepId,
        pairs: Vec<Value>,
        taken: &[&str],
        entries: &mut Map<Value>,
        at: Places<'_>,
    ) {
        let mut found_entries: Vec<(String, Value)> = Vec::new();
        let mut seen = HashSet::new();
        for (index, pair) in pairs.into_iter().enumerate() {
            let wire = at.wire.index(index);
            let at = at.on_wire(&wire);
            let is_pair = pair.get("key").is_some_and(|key| key.as_str().is_some())
                && pair.get("value").is_some();
            let parts = match pair {
                Value::Object(mut parts) if is_pair => {
                    parts.remove("key").zip(parts.remove("value"))
                }
                other => {
                    let expected = "an object with the string `key` and `value`".into();
                    self.report(at, IssueKind::Type { expected, found: found(&other) });
                    continue;
                }
            };
            let Some((Value::String(key), value)) = parts else { continue };
            let canonical = at.canonical.key(&key);
            let at = Places { canonical: &canonical, ..at };
            if taken.contains(&key.as_str()) || !seen.insert(key.clone()) {
                let kind = IssueKind::DuplicateKey { key: key.clone() };
                self.report(at.on_wire(&wire.key("key")), kind);
                continue;
            }
            let value = self.decoded(step, value, at.on_wire(&wire.key("value")));
            found_entries.push((key, value));
        }
        entries.extend(found_entries);
    }

    fn tuple(
        &mut self,
        items: &[(String, StepId)],
        rest: Option<&(String, StepId)>,
        wire: Map<Value>,
        at: Places<'_>,
    ) -> Value {
        let mut wire = wire;
        let mut values = Vec::new();
        for (index, (key, step)) in items.iter().enumerate() {
            let (canonical, wire_at) = (at.canonical.index(index), at.wire.key(key));
            let at = Places { canonical: &canonical, wire: &wire_at };
            match wire.remove(key) {
                Some(value) => values.push(self.decoded(*step, value, at)),
                None => self.report(at, IssueKind::Missing { one_of: Vec::new().into() }),
            }
        }
        if let Some((key, step)) = rest {
            let list = at.wire.key(key);
            let more = match wire.remove(key) {
                Some(Value::Array(more)) => more,
                _ => Vec::new(),
            };
            for (index, value) in more.into_iter().enumerate() {
                let canonical = at.canonical.index(items.len() + index);
                let wire = list.index(index);
                let at = Places { canonical: &canonical, wire: &wire };
                values.push(self.decoded(*step, value, at));
            }
        }
        for key in wire.keys() {
            let kind = IssueKind::UnknownKey { key: key.to_owned(), known: Vec::new().into() };
            self.report(at.on_wire(&at.wire.key(key)), kind);
        }
        Value::Array(values)
    }

    fn report(&mut self, at: Places<'_>, kind: IssueKind) {
        let issue = Issue::new(at.canonical.pointer(), kind);
        self.wrong.push(Wrong { wire: at.wire.pointer(), issue });
    }
}

impl Step {
    /// Returns the only kind of wire value that a step reads, if there is only one.
    fn expected_on_wire(&self) -> Option<&'static str> {
        match self {
            Self::Text => Some("a string that holds JSON text"),
            Self::Pairs(_) => Some("an array of objects with `key` and `value`"),
            Self::Tuple { .. } => Some("an object with a key for each item"),
            Self::Wrapped { .. } => Some("an object"),
            _ => None,
        }
    }
}

fn sentence(invalid: &toolwright::InvalidPayload) -> String {
    invalid.issues().first().map_or_else(String::new, Issue::message)
}

/// Returns the beginning of a value, with its kind.
fn found(value: &Value) -> String {
    let text: String = value.to_string().chars().take(40).collect();
    match value {
        Value::Null => "null".to_owned(),
        Value::Boolean(_) => format!("the boolean {text}"),
        Value::Number(_) => format!("the number {text}"),
        Value::String(_) => format!("the string {text}"),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let padded = digits.len() > 1 && digits.starts_with('0');
    !digits.is_empty() && !padded && digits.bytes().all(|byte| byte.is_ascii_digit())
}
