//! Values that a schema lists.

use std::collections::HashMap;

use toolwright::value::{Kind, Value};

use crate::wire::Wire;

/// The most values that are compared one after the other.
const MOST_COMPARED: usize = 16;

/// Values that a schema lists. A value is found among many of them without comparing it with each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listed {
    values: Vec<Value>,
    /// The first position of each value, if there are many.
    positions: HashMap<Value, usize>,
    /// The most values in a listed array or object, with itself; zero if there is none.
    largest: usize,
}

impl Listed {
    pub(crate) fn new(values: Vec<Value>) -> Self {
        let is_nested = |value: &&Value| matches!(value, Value::Array(_) | Value::Object(_));
        let largest = values.iter().filter(is_nested).map(Value::size).max().unwrap_or_default();
        let mut positions = HashMap::new();
        if values.len() > MOST_COMPARED {
            positions.reserve(values.len());
            for (position, value) in values.iter().enumerate() {
                positions.entry(value.clone()).or_insert(position);
            }
        }
        Self { values, positions, largest }
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
            Kind::Array | Kind::Object if wire.count() > self.largest => None,
            Kind::Array | Kind::Object if self.positions.is_empty() => {
                values.position(|listed| wire.equals(listed))
            }
            _ => {
                let mut text = String::new();
                wire.write(&mut text);
                self.position(&text.parse().ok()?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use toolwright::value::Value;

    use super::Listed;
    use crate::wire::Document;

    #[test]
    fn a_value_is_found_among_few_and_among_many() {
        for others in [0, 100] {
            let listed = ["\"a\"", "1.5", "[1,{\"b\":2,\"c\":3}]", "null"].map(str::to_owned);
            let all = listed.into_iter().chain((0..others).map(|n| format!("\"other {n}\"")));
            let all = Listed::new(all.map(|text| text.parse().expect("JSON")).collect());
            for (text, expected) in [
                ("\"\\u0061\"", Some(0)),
                ("15e-1", Some(1)),
                ("[1.0,{\"c\":3,\"b\":2}]", Some(2)),
                ("null", Some(3)),
                ("[1,{\"b\":2,\"c\":3},4]", None),
                ("{\"a\":1}", None),
                ("true", None),
            ] {
                let wire = Document::of(text).expect("JSON");
                assert_eq!(all.position_of(wire.root()), expected, "{text} beside {others}");
                let value: Value = text.parse().expect("JSON");
                assert_eq!(all.position(&value), expected, "{text} beside {others}");
            }
        }
    }
}
