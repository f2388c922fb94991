//! Decodes wire values to canonical values. Values that do not match the plan are reported with both places; the codec of the
//! tool checks everything else.

use std::collections::{HashMap, HashSet};

use toolwright::InvalidPayload;
use toolwright::issue::{Issue, IssueKind};
use toolwright::value::Kind;

use super::{AbsentForm, At, Branch, ObjectStep, Plan, Property, Rest, SAME, Step, StepId, Wrong};
use crate::wire::{Document, Wire, write_key};

impl Plan {
    /// Returns the JSON text of the canonical value. Decodes as much as possible, and adds mistakes to `wrong`: if there are
    /// any, the text is invalid.
    pub(crate) fn decode(&self, wire: Wire<'_>, size: usize, wrong: &mut Vec<Wrong>) -> String {
        let places = Places { canonical: &At::Root, wire: &At::Root };
        let out = String::with_capacity(size);
        let mut decoder = Decoder { steps: &self.steps, wrong, place_bytes: 0, out };
        decoder.decode(self.root, wire, places);
        decoder.out
    }
}

/// The largest number of mistakes that are reported.
const MOST_WRONG: usize = 1000;

/// The most bytes of their places together, except those of the last one.
const MOST_PLACE_BYTES: usize = 1 << 20;

struct Decoder<'a> {
    steps: &'a [Step],
    wrong: &'a mut Vec<Wrong>,
    /// The bytes of the places of these mistakes.
    place_bytes: usize,
    /// The canonical text so far.
    out: String,
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
    /// Appends the canonical text of a wire value.
    fn decode(&mut self, id: StepId, wire: Wire<'_>, at: Places<'_>) {
        let steps = self.steps;
        match (&steps[id], wire.kind()) {
            (Step::Link(id), _) => self.decode(*id, wire, at),
            (Step::Wrapped { key, inner }, Kind::Object) => {
                for (other, _) in wire.entries().filter(|(other, _)| other != key) {
                    self.report_unknown(other, at);
                }
                let place = at.wire.key(key);
                match wire.get(key) {
                    Some(value) => self.decode(*inner, value, at.on_wire(&place)),
                    None => self.report(at.on_wire(&place), missing()),
                }
            }
            (Step::Object(object), Kind::Object) => self.object(object, wire, at),
            (Step::Array(step), Kind::Array) => {
                self.out.push('[');
                for (index, item) in wire.items().enumerate() {
                    self.separate();
                    let (canonical, wire) = (at.canonical.index(index), at.wire.index(index));
                    self.decode(*step, item, Places { canonical: &canonical, wire: &wire });
                }
                self.out.push(']');
            }
            (Step::Tuple { items, rest }, Kind::Object) => {
                self.tuple(items, rest.as_ref(), wire, at);
            }
            (Step::Pairs(step), Kind::Array) => {
                self.out.push('{');
                self.pairs(*step, wire, None, at);
                self.out.push('}');
            }
            (Step::Choice(branches), _) => {
                let branch = Branch::of(branches, wire);
                self.decode(branch.map_or(SAME, |branch| branch.step), wire, at);
            }
            (Step::Table { canonical, wire: sent }, _) => match sent.position_of(wire) {
                Some(index) => self.out.push_str(&canonical.values()[index].to_string()),
                None => wire.write(&mut self.out),
            },
            // A value of another kind: the codec reports what it expects here.
            (Step::Same, _) | (Step::Tuple { .. }, Kind::Array) => wire.write(&mut self.out),
            (step, _) => match (step, wire.as_str()) {
                (Step::Text, Some(text)) => self.text(&text, at),
                (Step::Digits, Some(digits)) if is_integer(&digits) => self.out.push_str(&digits),
                _ => match step.expected_on_wire() {
                    Some(expected) => self.report_kind(at, expected, wire),
                    None => wire.write(&mut self.out),
                },
            },
        }
    }

    /// Appends a comma, unless an array or object begins here.
    fn separate(&mut self) {
        if !matches!(self.out.as_bytes().last(), Some(b'[' | b'{')) {
            self.out.push(',');
        }
    }

    fn text(&mut self, text: &str, at: Places<'_>) {
        match Document::of(text) {
            Ok(document) => document.root().write(&mut self.out),
            Err(invalid) => {
                let message = format!("is not JSON text: {}", sentence(&invalid));
                self.report(at, IssueKind::Schema { message });
            }
        }
    }

    fn object(&mut self, object: &ObjectStep, entries: Wire<'_>, at: Places<'_>) {
        let properties = &object.properties;
        // Properties are usually in the order of the schema.
        let mut next = 0;
        let mut taken: Option<HashSet<&str>> = None;
        self.out.push('{');
        for (wire_key, value) in entries.entries() {
            let is_next = properties.get(next).is_some_and(|next| next.wire_key == wire_key);
            let place = if is_next { Some(next) } else { object.place_on_wire(wire_key) };
            let wire = at.wire.key(wire_key);
            if let Some(place) = place {
                next = place + 1;
                let canonical = at.canonical.key(&properties[place].key);
                self.property(
                    &properties[place],
                    value,
                    Places { canonical: &canonical, wire: &wire },
                );
                continue;
            }
            let step = match &object.rest {
                Rest::Pairs { wire_key: pairs, step } if pairs == wire_key => {
                    match value.kind() {
                        Kind::Array => self.pairs(*step, value, Some(object), at.on_wire(&wire)),
                        Kind::Null => {}
                        _ => {
                            let expected = "an array of objects with `key` and `value`";
                            self.report_kind(at.on_wire(&wire), expected, value);
                        }
                    }
                    continue;
                }
                Rest::Keep(step) => *step,
                // The codec refuses it where the schema does.
                Rest::Pairs { .. } | Rest::NoForm => SAME,
            };
            let canonical = at.canonical.key(wire_key);
            let at = Places { canonical: &canonical, wire: &wire };
            // The key may be that of a property which has another one on the wire.
            let other = object.place(wire_key).map(|place| &properties[place]);
            let mut is_taken = |other: &Property| {
                let taken = taken.get_or_insert_with(|| object.taken(entries));
                taken.contains(other.wire_key.as_str())
            };
            if other.is_some_and(&mut is_taken) {
                self.report(at, IssueKind::DuplicateKey { key: wire_key.to_string() });
            }
            self.separate();
            write_key(wire_key, &mut self.out);
            self.decode(step, value, at);
        }
        self.out.push('}');
    }

    fn property(&mut self, property: &Property, value: Wire<'_>, at: Places<'_>) {
        if property.is_absent(value) {
            return;
        }
        let inner = at.wire.key("value");
        let (value, at) = match (property.absent, value.kind()) {
            (AbsentForm::Wrapped, Kind::Object) => match value.get("value") {
                Some(value) => (value, at.on_wire(&inner)),
                None => return self.report(at.on_wire(&inner), missing()),
            },
            (AbsentForm::Wrapped, _) => {
                let expected = "an object with the key `value`, or null";
                return self.report_kind(at, expected, value);
            }
            _ => (value, at),
        };
        self.separate();
        write_key(&property.key, &mut self.out);
        // The most common step, without a call.
        if property.step == SAME {
            return value.write(&mut self.out);
        }
        self.decode(property.step, value, at);
    }

    /// Appends the entries that are sent as pairs; the properties of `object` have an entry of their own.
    fn pairs(
        &mut self,
        step: StepId,
        pairs: Wire<'_>,
        object: Option<&ObjectStep>,
        at: Places<'_>,
    ) {
        let mut seen = HashSet::new();
        for (index, pair) in pairs.items().enumerate() {
            let wire = at.wire.index(index);
            let at = at.on_wire(&wire);
            let key = pair.get("key").and_then(Wire::as_str);
            let Some((key, value)) = key.zip(pair.get("value")) else {
                self.report_kind(at, "an object with the string `key` and `value`", pair);
                continue;
            };
            let canonical = at.canonical.key(&key);
            let at = Places { canonical: &canonical, ..at };
            let is_property = object.is_some_and(|object| object.place(&key).is_some());
            if is_property || !seen.insert(key.clone()) {
                let kind = IssueKind::DuplicateKey { key: key.to_string() };
                self.report(at.on_wire(&wire.key("key")), kind);
                continue;
            }
            self.separate();
            write_key(&key, &mut self.out);
            self.decode(step, value, at.on_wire(&wire.key("value")));
        }
    }

    fn tuple(
        &mut self,
        items: &[(String, StepId)],
        rest: Option<&(String, StepId)>,
        wire: Wire<'_>,
        at: Places<'_>,
    ) {
        let entries: HashMap<&str, Wire<'_>> = wire.entries().collect();
        let known: HashSet<&str> = items.iter().chain(rest).map(|(key, _)| &**key).collect();
        self.out.push('[');
        for (index, (key, step)) in items.iter().enumerate() {
            let (canonical, place) = (at.canonical.index(index), at.wire.key(key));
            let at = Places { canonical: &canonical, wire: &place };
            match entries.get(&**key) {
                Some(value) => {
                    self.separate();
                    self.decode(*step, *value, at);
                }
                None => self.report(at, missing()),
            }
        }
        if let Some((key, step)) = rest {
            let list = at.wire.key(key);
            match entries.get(&**key) {
                Some(more) if more.kind() == Kind::Array => {
                    for (index, value) in more.items().enumerate() {
                        let (canonical, wire) =
                            (at.canonical.index(items.len() + index), list.index(index));
                        self.separate();
                        self.decode(*step, value, Places { canonical: &canonical, wire: &wire });
                    }
                }
                Some(more) if more.is_null() => {}
                Some(more) => {
                    let expected = "an array of the items after the others";
                    self.report_kind(at.on_wire(&list), expected, *more);
                }
                None => self.report(at.on_wire(&list), missing()),
            }
        }
        self.out.push(']');
        for (key, _) in wire.entries() {
            if !known.contains(key) {
                self.report_unknown(key, at);
            }
        }
    }

    fn report_kind(&mut self, at: Places<'_>, expected: &'static str, wire: Wire<'_>) {
        self.report(at, IssueKind::Type { expected: expected.into(), found: found(wire) });
    }

    fn report_unknown(&mut self, key: &str, at: Places<'_>) {
        let kind = IssueKind::UnknownKey { key: key.to_owned(), known: Vec::new().into() };
        self.report(at.on_wire(&at.wire.key(key)), kind);
    }

    fn report(&mut self, at: Places<'_>, kind: IssueKind) {
        // A long key may be in the places of many mistakes.
        if self.wrong.len() < MOST_WRONG && self.place_bytes < MOST_PLACE_BYTES {
            let issue = Issue::new(at.canonical.pointer(), kind);
            let wire = at.wire.pointer();
            self.place_bytes += issue.pointer().len() + wire.len();
            self.wrong.push(Wrong { wire, issue });
        }
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

impl ObjectStep {
    /// Returns the keys on the wire of the properties that an object has.
    fn taken<'w>(&self, entries: Wire<'w>) -> HashSet<&'w str> {
        let taken = entries.entries().filter(|(wire_key, value)| {
            let place = self.place_on_wire(wire_key);
            place.is_some_and(|place| !self.properties[place].is_absent(*value))
        });
        taken.map(|(wire_key, _)| wire_key).collect()
    }
}

impl Property {
    /// Returns whether a value on the wire stands for the absence of the property.
    fn is_absent(&self, value: Wire<'_>) -> bool {
        matches!(self.absent, AbsentForm::Null | AbsentForm::Wrapped) && value.is_null()
    }
}

fn missing() -> IssueKind {
    IssueKind::Missing { one_of: Vec::new().into() }
}

fn sentence(invalid: &InvalidPayload) -> String {
    invalid.issues().first().map_or_else(String::new, Issue::message)
}

/// Returns the beginning of a value, with its kind.
fn found(wire: Wire<'_>) -> String {
    let kind = match wire.kind() {
        Kind::Null => return "null".to_owned(),
        Kind::Array => return "an array".to_owned(),
        Kind::Object => return "an object".to_owned(),
        Kind::Boolean => "the boolean",
        Kind::Integer | Kind::Number => "the number",
        Kind::String => "the string",
    };
    let mut text = String::new();
    wire.write(&mut text);
    format!("{kind} {}", text.chars().take(40).collect::<String>())
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let padded = digits.len() > 1 && digits.starts_with('0');
    !digits.is_empty() && !padded && digits.bytes().all(|byte| byte.is_ascii_digit())
}
