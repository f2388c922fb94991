//! Decodes wire values to canonical values. Values that do not match the plan are reported with both places; the codec of the
//! tool checks everything else.

use std::collections::HashSet;

use toolwright::issue::{Issue, IssueKind};
use toolwright::pointer::escaped;
use toolwright::value::{Map, Value};

use super::{AbsentForm, ObjectStep, Plan, Rest, Step, StepId, Wrong};

impl Plan {
    /// Decodes as much as possible, and adds mistakes to `wrong`.
    pub(crate) fn decode(&self, wire: &Value, wrong: &mut Vec<Wrong>) -> Value {
        Decoder { steps: &self.steps, wrong }.decoded(self.root, wire, "", "")
    }
}

struct Decoder<'a> {
    steps: &'a [Step],
    wrong: &'a mut Vec<Wrong>,
}

impl Decoder<'_> {
    fn decoded(&mut self, id: StepId, wire: &Value, at: &str, wire_at: &str) -> Value {
        let steps = self.steps;
        match (&steps[id], wire) {
            (Step::Link(id), _) => self.decoded(*id, wire, at, wire_at),
            (Step::Wrapped { key, inner }, Value::Object(entries)) => {
                for other in entries.keys().filter(|other| other != key) {
                    let kind =
                        IssueKind::UnknownKey { key: other.to_owned(), known: Vec::new().into() };
                    self.report(at, &format!("{wire_at}/{}", escaped(other)), kind);
                }
                let Some(value) = entries.get(key) else {
                    self.report(
                        at,
                        &format!("{wire_at}/{}", escaped(key)),
                        IssueKind::Missing { one_of: Vec::new().into() },
                    );
                    return Value::Null;
                };
                self.decoded(*inner, value, at, &format!("{wire_at}/{}", escaped(key)))
            }
            (Step::Text, Value::String(text)) => match text.parse() {
                Ok(value) => value,
                Err(invalid) => {
                    let message = format!("is no JSON text: {}", sentence(&invalid));
                    self.report(at, wire_at, IssueKind::Schema { message });
                    Value::Null
                }
            },
            (Step::Digits, Value::String(digits)) if is_integer(digits) => {
                digits.parse().unwrap_or_else(|_| wire.clone())
            }
            (Step::Table(rows), _) => match rows.iter().find(|(_, listed)| listed == wire) {
                Some((canonical, _)) => canonical.clone(),
                None => wire.clone(),
            },
            (Step::Object(object), Value::Object(entries)) => {
                self.object(object, entries, at, wire_at)
            }
            (Step::Array(step), Value::Array(items)) => {
                let item = |(index, item)| {
                    self.decoded(
                        *step,
                        item,
                        &format!("{at}/{index}"),
                        &format!("{wire_at}/{index}"),
                    )
                };
                Value::Array(items.iter().enumerate().map(item).collect())
            }
            (Step::Tuple { items, rest }, Value::Object(entries)) => {
                self.tuple(items, rest.as_ref(), entries, at, wire_at)
            }
            (Step::Pairs(step), Value::Array(pairs)) => {
                let mut entries = Map::new();
                self.pairs(*step, pairs, &[], &mut entries, at, wire_at);
                Value::Object(entries)
            }
            (Step::Choice(branches), _) => {
                let exact = branches.iter().find(|branch| branch.guard.accepts(wire));
                let branch =
                    exact.or_else(|| branches.iter().find(|branch| branch.guard.resembles(wire)));
                branch.map_or_else(
                    || wire.clone(),
                    |branch| self.decoded(branch.step, wire, at, wire_at),
                )
            }
            // A value of another kind: the codec says what it expects at this place.
            (Step::Tuple { .. }, Value::Array(_)) | (Step::Same, _) => wire.clone(),
            (step, _) => {
                if let Some(expected) = step.expected_on_wire() {
                    let kind = IssueKind::Type { expected: expected.into(), found: found(wire) };
                    self.report(at, wire_at, kind);
                    return Value::Null;
                }
                wire.clone()
            }
        }
    }

    fn object(&mut self, object: &ObjectStep, wire: &Map<Value>, at: &str, wire_at: &str) -> Value {
        let mut entries = Map::new();
        for property in &object.properties {
            let Some(value) = wire.get(&property.wire_key) else { continue };
            let at = format!("{at}/{}", escaped(&property.key));
            let wire_at = format!("{wire_at}/{}", escaped(&property.wire_key));
            let value = match (property.absent, value) {
                (AbsentForm::Null | AbsentForm::Wrapped, Value::Null) => continue,
                (AbsentForm::Wrapped, Value::Object(inner)) => {
                    let wire_at = format!("{wire_at}/value");
                    let Some(value) = inner.get("value") else {
                        self.report(
                            &at,
                            &wire_at,
                            IssueKind::Missing { one_of: Vec::new().into() },
                        );
                        continue;
                    };
                    self.decoded(property.step, value, &at, &wire_at)
                }
                (AbsentForm::Wrapped, other) => {
                    let expected = "an object with the key `value`, or null".into();
                    self.report(&at, &wire_at, IssueKind::Type { expected, found: found(other) });
                    continue;
                }
                (_, value) => self.decoded(property.step, value, &at, &wire_at),
            };
            entries.insert(property.key.as_str(), value);
        }
        let is_named =
            |key: &str| object.properties.iter().any(|property| property.wire_key == key);
        for (key, value) in wire.iter().filter(|(key, _)| !is_named(key)) {
            let wire_at = format!("{wire_at}/{}", escaped(key));
            match &object.rest {
                Rest::Pairs { wire_key, step } if wire_key == key => match value {
                    Value::Array(pairs) => {
                        let keys: Vec<&str> = object
                            .properties
                            .iter()
                            .map(|property| property.key.as_str())
                            .collect();
                        self.pairs(*step, pairs, &keys, &mut entries, at, &wire_at);
                    }
                    Value::Null => {}
                    other => {
                        let expected = "an array of objects with `key` and `value`".into();
                        self.report(
                            at,
                            &wire_at,
                            IssueKind::Type { expected, found: found(other) },
                        );
                    }
                },
                Rest::Keep(step) => {
                    let at = format!("{at}/{}", escaped(key));
                    let value = self.decoded(*step, value, &at, &wire_at);
                    if entries.contains_key(key) {
                        self.report(&at, &wire_at, IssueKind::DuplicateKey { key: key.to_owned() });
                    }
                    entries.insert(key, value);
                }
                // The codec refuses it where the schema does.
                Rest::Pairs { .. } | Rest::NoForm => {
                    entries.insert(key, value.clone());
                }
            }
        }
        Value::Object(entries)
    }

    /// Reads pairs into `entries`; `taken` are the keys that have a property of their own.
    fn pairs(
        &mut self,
        step: StepId,
        pairs: &[Value],
        taken: &[&str],
        entries: &mut Map<Value>,
        at: &str,
        wire_at: &str,
    ) {
        let mut found_entries: Vec<(String, Value)> = Vec::new();
        let mut seen = HashSet::new();
        for (index, pair) in pairs.iter().enumerate() {
            let wire_at = format!("{wire_at}/{index}");
            let (Some(key), Some(value)) =
                (pair.get("key").and_then(Value::as_str), pair.get("value"))
            else {
                let expected = "an object with the string `key` and `value`".into();
                self.report(at, &wire_at, IssueKind::Type { expected, found: found(pair) });
                continue;
            };
            let at = format!("{at}/{}", escaped(key));
            if taken.contains(&key) || !seen.insert(key.to_owned()) {
                self.report(
                    &at,
                    &format!("{wire_at}/key"),
                    IssueKind::DuplicateKey { key: key.to_owned() },
                );
                continue;
            }
            let value = self.decoded(step, value, &at, &format!("{wire_at}/value"));
            found_entries.push((key.to_owned(), value));
        }
        entries.extend(found_entries);
    }

    fn tuple(
        &mut self,
        items: &[(String, StepId)],
        rest: Option<&(String, StepId)>,
        wire: &Map<Value>,
        at: &str,
        wire_at: &str,
    ) -> Value {
        let mut values = Vec::new();
        for (index, (key, step)) in items.iter().enumerate() {
            let wire_at = format!("{wire_at}/{}", escaped(key));
            let at = format!("{at}/{index}");
            match wire.get(key) {
                Some(value) => values.push(self.decoded(*step, value, &at, &wire_at)),
                None => {
                    self.report(&at, &wire_at, IssueKind::Missing { one_of: Vec::new().into() });
                }
            }
        }
        if let Some((key, step)) = rest {
            let wire_at = format!("{wire_at}/{}", escaped(key));
            for (index, value) in
                wire.get(key).and_then(Value::as_array).unwrap_or_default().iter().enumerate()
            {
                let at = format!("{at}/{}", items.len() + index);
                values.push(self.decoded(*step, value, &at, &format!("{wire_at}/{index}")));
            }
        }
        let is_known = |key: &str| {
            items
                .iter()
                .map(|(known, _)| known)
                .chain(rest.map(|(known, _)| known))
                .any(|known| known == key)
        };
        for key in wire.keys().filter(|key| !is_known(key)) {
            let kind = IssueKind::UnknownKey { key: key.to_owned(), known: Vec::new().into() };
            self.report(at, &format!("{wire_at}/{}", escaped(key)), kind);
        }
        Value::Array(values)
    }

    fn report(&mut self, at: &str, wire_at: &str, kind: IssueKind) {
        self.wrong.push(Wrong { wire: wire_at.to_owned(), issue: Issue::new(at, kind) });
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
