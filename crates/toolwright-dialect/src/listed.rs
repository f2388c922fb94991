//! Values that a schema lists.

use std::collections::HashMap;

use toolwright::value::{Kind, Value};

use crate::wire::Wire;

/// The most values that are compared one after the other.
const MOST_COMPARED: usize = 16;

/// Values that a schema lists. A scalar is found among many of them without comparing it with each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listed {
    values: Vec<Value>,
    /// The first position of each value, if there are many.
    positions: HashMap<Value, usize>,
}

impl Listed {
    pub(crate) fn new(values: Vec<Value>) -> Self {
        let mut positions = HashMap::new();
        if values.len() > MOST_COMPARED {
            for (position, value) in values.iter().enumerate() {
                positions.entry(value.clone()).or_insert(position);
            }
        }
        Self { values, positions }
    }

    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }

    /// The position of the first value that is the same; numbers in any notation, and keys in any order.
    pub(crate) fn position(&self, value: &Value) -> Option<usize> {
        if self.positions.is_empty() {
            return self.values.iter().position(|listed| listed == value);
        }
        self.positions.get(value).copied()
    }

    /// As [`Self::position`], for a value from the wire.
    pub(crate) fn position_of(&self, wire: Wire<'_>) -> Option<usize> {
        let mut values = self.values.iter();
        match wire.kind() {
            Kind::String if self.positions.is_empty() => {
                let text = wire.as_str()?;
                values.position(|listed| listed.as_str() == Some(&text))
            }
            Kind::Array | Kind::Object => values.position(|listed| wire.equals(listed)),
            // The text is only read once.
            _ => self.position(&wire.json().parse().ok()?),
        }
    }
}
