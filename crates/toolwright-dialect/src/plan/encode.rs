//! Encodes canonical values as wire values.

use toolwright::value::{Map, Number, Value};

use super::{AbsentForm, At, NoForm, ObjectStep, Plan, Rest, Step, StepId};

/// The most digits of an integer that is sent.
const MOST_DIGITS: usize = 10_000;

/// The most steps to find the alternatives of all choices in a value, as for the check of a payload.
const MOST_STEPS: u64 = 20_000_000;

impl Plan {
    /// Encodes a canonical value.
    ///
    /// # Errors
    ///
    /// Returns the first place whose value cannot be sent.
    pub(crate) fn encode(&self, value: Value) -> Result<Value, NoForm> {
        let mut encoder = Encoder { plan: self, steps_left: MOST_STEPS };
        encoder.encoded(self.root, value, &At::Root)
    }
}

/// Encodes the parts of one value.
struct Encoder<'p> {
    plan: &'p Plan,
    /// The steps that are left to find alternatives.
    steps_left: u64,
}

impl Encoder<'_> {
    fn encoded(&mut self, id: StepId, value: Value, at: &At<'_>) -> Result<Value, NoForm> {
        match (&self.plan.steps[id], value) {
            (Step::Same, value) => Ok(value),
            (Step::Link(id), value) => self.encoded(*id, value, at),
            (Step::Wrapped { key, inner }, value) => {
                Ok(Value::Object(Map::from([(key.as_str(), self.encoded(*inner, value, at)?)])))
            }
            (Step::Text, value) => Ok(Value::from(value.to_string())),
            (Step::Digits, value) => match value.as_number().and_then(Number::to_integer) {
                Some(integer) => Ok(Value::from(digits(&integer.to_string(), at)?)),
                None => Ok(value),
            },
            (Step::Table { canonical, wire }, value) => {
                let index = canonical.position(&value);
                let index = index.ok_or_else(|| no_form(at, "is none of the listed values"))?;
                Ok(wire.values()[index].clone())
            }
            (Step::Object(object), Value::Object(entries)) => {
                self.encoded_object(object, entries, at)
            }
            (Step::Array(step), Value::Array(items)) => {
                let item = |(index, item)| self.encoded(*step, item, &at.index(index));
                items.into_iter().enumerate().map(item).collect::<Result<_, _>>().map(Value::Array)
            }
            (Step::Tuple { items, rest }, Value::Array(values)) => {
                self.encoded_tuple(items, rest.as_ref(), values, at)
            }
            (Step::Tuple { .. }, _) => Err(no_form(at, "is not an array")),
            (Step::Pairs(step), Value::Object(entries)) => self.encoded_pairs(*step, entries, at),
            (Step::Choice(_), value) => {
                let branch = self.plan.branch_of(id, &value, &mut self.steps_left);
                let branch = branch.ok_or_else(|| {
                    no_form(
                        at,
                        match self.steps_left {
                            0 => "is in a value whose choices take too many steps",
                            _ => "fits no alternative",
                        },
                    )
                })?;
                self.encoded(branch.step, value, at)
            }
            (Step::Object(_) | Step::Array(_) | Step::Pairs(_), other) => Ok(other),
        }
    }

    fn encoded_object(
        &mut self,
        object: &ObjectStep,
        entries: Map<Value>,
        at: &At<'_>,
    ) -> Result<Value, NoForm> {
        let (values, others) = object.split(entries);
        // A map finds each key that is inserted alone by a search through all keys.
        let mut wire = Vec::new();
        for (property, value) in object.properties.iter().zip(values) {
            let at = at.key(&property.key);
            let value = match (value, property.absent) {
                (Some(value), AbsentForm::Wrapped) => {
                    Value::Object(Map::from([("value", self.encoded(property.step, value, &at)?)]))
                }
                (Some(value), _) => self.encoded(property.step, value, &at)?,
                (None, AbsentForm::Absent) => continue,
                (None, AbsentForm::Null | AbsentForm::SameAsNull | AbsentForm::Wrapped) => {
                    Value::Null
                }
                (None, AbsentForm::NoForm) => {
                    return Err(no_form(&at, "is absent, and only null can be sent"));
                }
            };
            wire.push((property.wire_key.clone(), value));
        }
        match &object.rest {
            Rest::Keep(step) => {
                for (key, value) in others {
                    let at = at.key(&key);
                    // Even where that property is absent: the value would come back as its value.
                    if object.place_on_wire(&key).is_some() {
                        return Err(no_form(&at, "is the wire key of another property"));
                    }
                    let value = self.encoded(*step, value, &at)?;
                    wire.push((key, value));
                }
            }
            Rest::NoForm => {
                if let Some((key, _)) = others.first() {
                    return Err(no_form(&at.key(key), "is a key that the schema does not name"));
                }
            }
            Rest::Pairs { wire_key, step } => {
                wire.push((wire_key.clone(), self.encoded_pairs(*step, others, at)?));
            }
        }
        Ok(Value::Object(wire.into_iter().collect()))
    }

    fn encoded_pairs(
        &mut self,
        step: StepId,
        entries: impl IntoIterator<Item = (String, Value)>,
        at: &At<'_>,
    ) -> Result<Value, NoForm> {
        let pair = |(key, value): (String, Value)| {
            let value = self.encoded(step, value, &at.key(&key))?;
            Ok(Value::Object(Map::from([("key", Value::from(key)), ("value", value)])))
        };
        entries.into_iter().map(pair).collect::<Result<_, _>>().map(Value::Array)
    }

    fn encoded_tuple(
        &mut self,
        items: &[(String, StepId)],
        rest: Option<&(String, StepId)>,
        values: Vec<Value>,
        at: &At<'_>,
    ) -> Result<Value, NoForm> {
        if values.len() < items.len() {
            let (found, needed) = (values.len(), items.len());
            let reason = format!("has {found} items, and the wire has a key for each of {needed}");
            return Err(no_form(at, &reason));
        }
        let mut wire = Vec::new();
        let mut values = values.into_iter().enumerate();
        for ((key, step), (index, value)) in items.iter().zip(values.by_ref()) {
            wire.push((key.clone(), self.encoded(*step, value, &at.index(index))?));
        }
        match (rest, values.next()) {
            (Some((key, step)), first) => {
                let item = |(index, value)| self.encoded(*step, value, &at.index(index));
                let more = first.into_iter().chain(values).map(item);
                wire.push((key.clone(), Value::Array(more.collect::<Result<_, _>>()?)));
            }
            (None, Some((index, _))) => {
                let reason = format!("is one more than the {index} items there may be");
                return Err(no_form(&at.index(index), &reason));
            }
            (None, None) => {}
        }
        Ok(Value::Object(wire.into_iter().collect()))
    }
}

impl ObjectStep {
    /// Takes the values of the properties out of an object, and returns them in the order of the properties, and the other
    /// entries.
    fn split(&self, entries: Map<Value>) -> (Vec<Option<Value>>, Vec<(String, Value)>) {
        let count = self.properties.len();
        let mut values: Vec<Option<Value>> = (0..count).map(|_| None).collect();
        let mut others = Vec::new();
        // Properties are usually in the order of the schema.
        let mut next = 0;
        for (name, value) in entries {
            let is_next = self.properties.get(next).is_some_and(|next| next.key == name);
            let place = if is_next { Some(next) } else { self.place(&name) };
            match place {
                Some(place) => (values[place], next) = (Some(value), place + 1),
                None => others.push((name, value)),
            }
        }
        (values, others)
    }
}

fn no_form(at: &At<'_>, reason: &str) -> NoForm {
    NoForm { at: at.pointer(), reason: reason.to_owned() }
}

/// Writes an integer without an exponent.
fn digits(text: &str, at: &At<'_>) -> Result<String, NoForm> {
    let Some((digits, exponent)) = text.split_once('e') else { return Ok(text.to_owned()) };
    let zeros = exponent.parse().unwrap_or(usize::MAX);
    if digits.len().saturating_add(zeros) > MOST_DIGITS {
        return Err(no_form(at, "is an integer of more than 10000 digits"));
    }
    Ok(digits.to_owned() + &"0".repeat(zeros))
}
