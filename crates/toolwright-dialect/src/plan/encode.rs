//! Encodes canonical values as wire values.

use toolwright::pointer::escaped;
use toolwright::value::{Map, Number, Value};

use super::{AbsentForm, NoForm, ObjectStep, Plan, Rest, Step, StepId};

impl Plan {
    /// # Errors
    ///
    /// Returns the first place whose value cannot be sent.
    pub(crate) fn encode(&self, value: &Value) -> Result<Value, NoForm> {
        self.encoded(self.root, value, "")
    }

    fn encoded(&self, id: StepId, value: &Value, at: &str) -> Result<Value, NoForm> {
        let no_form = |reason: &str| NoForm { at: at.to_owned(), reason: reason.to_owned() };
        match &self.steps[id] {
            Step::Same => Ok(value.clone()),
            Step::Link(id) => self.encoded(*id, value, at),
            Step::Wrapped { key, inner } => {
                Ok(Value::Object(Map::from([(key.as_str(), self.encoded(*inner, value, at)?)])))
            }
            Step::Text => Ok(Value::from(value.to_string())),
            Step::Digits => Ok(match value.as_number().and_then(Number::to_integer) {
                Some(integer) => Value::from(integer.to_string()),
                None => value.clone(),
            }),
            Step::Table(rows) => {
                let row = rows.iter().find(|(canonical, _)| canonical == value);
                row.map(|(_, wire)| wire.clone())
                    .ok_or_else(|| no_form("is none of the listed values"))
            }
            Step::Object(object) => match value {
                Value::Object(entries) => self.encoded_object(object, entries, at),
                other => Ok(other.clone()),
            },
            Step::Array(step) => {
                let Value::Array(items) = value else { return Ok(value.clone()) };
                let items = items.iter().enumerate();
                items
                    .map(|(index, item)| self.encoded(*step, item, &format!("{at}/{index}")))
                    .collect::<Result<_, _>>()
                    .map(Value::Array)
            }
            Step::Tuple { items, rest } => {
                let Value::Array(values) = value else { return Err(no_form("is no array")) };
                self.encoded_tuple(items, rest.as_ref(), values, at)
            }
            Step::Pairs(step) => {
                let Value::Object(entries) = value else { return Ok(value.clone()) };
                self.encoded_pairs(*step, entries.iter(), at)
            }
            Step::Choice(branches) => {
                let branch = branches.iter().find(|branch| branch.canonical.accepts(value));
                let branch = branch.ok_or_else(|| no_form("fits no alternative"))?;
                self.encoded(branch.step, value, at)
            }
        }
    }

    fn encoded_object(
        &self,
        object: &ObjectStep,
        entries: &Map<Value>,
        at: &str,
    ) -> Result<Value, NoForm> {
        let mut wire = Vec::new();
        for property in &object.properties {
            let at = format!("{at}/{}", escaped(&property.key));
            let value = match (entries.get(&property.key), property.absent) {
                (Some(value), AbsentForm::Wrapped) => {
                    Value::Object(Map::from([("value", self.encoded(property.step, value, &at)?)]))
                }
                (Some(value), _) => self.encoded(property.step, value, &at)?,
                (None, AbsentForm::Absent) => continue,
                (None, AbsentForm::Null | AbsentForm::SameAsNull | AbsentForm::Wrapped) => {
                    Value::Null
                }
                (None, AbsentForm::NoForm) => {
                    return Err(NoForm {
                        at,
                        reason: "is absent, which has no form beside null".to_owned(),
                    });
                }
            };
            wire.push((property.wire_key.clone(), value));
        }
        let others = entries
            .iter()
            .filter(|(key, _)| !object.properties.iter().any(|known| known.key == *key));
        match &object.rest {
            Rest::Keep(step) => {
                for (key, value) in others {
                    let at = format!("{at}/{}", escaped(key));
                    if wire.iter().any(|(taken, _)| taken == key) {
                        return Err(NoForm {
                            at,
                            reason: "is the wire key of another property".to_owned(),
                        });
                    }
                    wire.push((key.to_owned(), self.encoded(*step, value, &at)?));
                }
            }
            Rest::NoForm => {
                if let Some((key, _)) = others.into_iter().next() {
                    let at = format!("{at}/{}", escaped(key));
                    return Err(NoForm {
                        at,
                        reason: "is a key that the schema does not name".to_owned(),
                    });
                }
            }
            Rest::Pairs { wire_key, step } => {
                wire.push((wire_key.clone(), self.encoded_pairs(*step, others, at)?));
            }
        }
        Ok(Value::Object(wire.into_iter().collect()))
    }

    fn encoded_pairs<'a>(
        &self,
        step: StepId,
        entries: impl Iterator<Item = (&'a str, &'a Value)>,
        at: &str,
    ) -> Result<Value, NoForm> {
        let pair = |(key, value): (&str, &Value)| {
            let value = self.encoded(step, value, &format!("{at}/{}", escaped(key)))?;
            Ok(Value::Object(Map::from([("key", Value::from(key)), ("value", value)])))
        };
        entries.map(pair).collect::<Result<_, _>>().map(Value::Array)
    }

    fn encoded_tuple(
        &self,
        items: &[(String, StepId)],
        rest: Option<&(String, StepId)>,
        values: &[Value],
        at: &str,
    ) -> Result<Value, NoForm> {
        if values.len() < items.len() {
            let reason = format!(
                "has {} items, and the wire has a key for each of {}",
                values.len(),
                items.len()
            );
            return Err(NoForm { at: at.to_owned(), reason });
        }
        let mut wire = Map::new();
        let item = |(index, step): (usize, StepId)| {
            self.encoded(step, &values[index], &format!("{at}/{index}"))
        };
        for (index, (key, step)) in items.iter().enumerate() {
            wire.insert(key.as_str(), item((index, *step))?);
        }
        match rest {
            Some((key, step)) => {
                let more = (items.len()..values.len()).map(|index| item((index, *step)));
                wire.insert(key.as_str(), Value::Array(more.collect::<Result<_, _>>()?));
            }
            None if values.len() > items.len() => {
                let reason = format!("is one more than the {} items there may be", items.len());
                return Err(NoForm { at: format!("{at}/{}", items.len()), reason });
            }
            None => {}
        }
        Ok(Value::Object(wire))
    }
}
