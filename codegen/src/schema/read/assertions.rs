//! Reads the keywords that do not become part of a type.

use toolwright::schema::Schema;
use toolwright::value::Kind;

use super::places::Root;
use super::scalar::kinds_of_format;
use super::schema_form::Form;
use super::{Place, SchemaReader};
use crate::diagnostic::schemas;
use crate::json::Json;
use crate::schema::keyword::Expected;
use crate::schema::{Assertion, DIALECT, Keyword, Node, NodeId, Operand};
use crate::yaml::{self, Entry, Value};

impl SchemaReader<'_> {
    /// Reads every keyword that the form does not turn into a type.
    pub(super) fn assertions(
        &mut self,
        entries: &[Entry],
        form: Form,
        kinds: Option<&[Kind]>,
        place: Place<'_>,
        root: &mut Root,
    ) -> Vec<Assertion> {
        let mut read = Vec::new();
        for entry in entries {
            if !self.check_keyword(&entry.key, entries) {
                continue;
            }
            let Some(keyword) = Keyword::of(&entry.key.value) else { continue };
            if form.covers(place.text, keyword, &entry.value) {
                continue;
            }
            let about = match keyword {
                Keyword::Format => kinds_of_format(&entry.value),
                keyword => keyword.kinds(),
            };
            // A keyword for other kinds of values than `type` allows has no effect, and is most likely a mistake.
            if let Some(kinds) = kinds
                && !about.is_empty()
                && !kinds.iter().any(|kind| about.contains(kind))
            {
                let errors = self.report.errors();
                self.operand(keyword, &entry.value, place, root);
                // A wrong keyword is not reported again because it has no effect.
                if self.report.errors() == errors {
                    let words: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
                    let (at, word) = (entry.key.span, keyword.word());
                    self.report.add(schemas::no_effect(at, word, &words.join(", ")));
                }
                continue;
            }
            if let Some(operand) = self.operand(keyword, &entry.value, place, root) {
                read.push(Assertion { keyword, operand });
            }
        }
        read
    }

    fn operand(
        &mut self,
        keyword: Keyword,
        value: &yaml::Node,
        place: Place<'_>,
        root: &mut Root,
    ) -> Option<Operand> {
        match keyword.expected() {
            Expected::Schema => {
                Some(Operand::Schema(self.subschema(value, place, keyword, None, root)))
            }
            Expected::Schemas => self.schemas(keyword, value, place, root).map(Operand::Schemas),
            expected @ (Expected::Named | Expected::Patterns) => {
                let Some(entries) = value.entries() else {
                    self.expected("a mapping from names to schemas", value);
                    return None;
                };
                let mut named = Vec::new();
                for Entry { key, value } in entries {
                    // A pattern that no engine supports would fail at run time.
                    if expected == Expected::Patterns {
                        self.translated(&key.value, key.span);
                    }
                    let schema = self.subschema(value, place, keyword, Some(&key.value), root);
                    named.push((key.value.clone(), schema));
                }
                (keyword != Keyword::Defs).then_some(Operand::Named(named))
            }
            Expected::Reference => {
                let id = self.schemas.reserve(value.span);
                let shape = self.reference(id, place.text, root);
                let node = self.schemas[id].clone();
                self.schemas.set(id, Node { shape, ..node });
                Some(Operand::Schema(id))
            }
            Expected::Count => self
                .count(place.text, keyword.word())
                .map(|count| Operand::Plain(Json::Number(count.to_string()))),
            plain => {
                let has_no_effect =
                    keyword == Keyword::UniqueItems && matches!(value.value, Value::Boolean(false));
                let fits = self.fits(plain, value);
                (fits && !has_no_effect).then(|| Operand::Plain(value.to_json()))
            }
        }
    }

    /// Reads a list of at least one schema.
    pub(super) fn schemas(
        &mut self,
        keyword: Keyword,
        value: &yaml::Node,
        place: Place<'_>,
        root: &mut Root,
    ) -> Option<Vec<NodeId>> {
        let Value::Sequence(items) = &value.value else {
            self.expected("a list of schemas", value);
            return None;
        };
        if items.is_empty() {
            self.expected("at least one schema", value);
        }
        let read = |(index, item): (usize, &yaml::Node)| {
            self.subschema(item, place, keyword, Some(&index.to_string()), root)
        };
        Some(items.iter().enumerate().map(read).collect())
    }

    /// Checks the value of a keyword without schemas.
    pub(super) fn fits(&mut self, expected: Expected, value: &yaml::Node) -> bool {
        let is_text = |node: &yaml::Node| matches!(node.value, Value::String(_));
        let (fits, words) = match expected {
            Expected::Number => (matches!(value.value, Value::Number(_)), "a number"),
            // The validator decides, because it has to divide by the number.
            Expected::Positive => (
                matches!(&value.value, Value::Number(text)
                    if Schema::new(&format!("{{\"multipleOf\":{text}}}")).is_ok()),
                "a number above 0",
            ),
            Expected::Boolean => (matches!(value.value, Value::Boolean(_)), "`true` or `false`"),
            Expected::Text | Expected::Format => (is_text(value), "a string"),
            Expected::Dialect => {
                let is_supported =
                    value.as_str().map(|uri| uri.trim_end_matches('#')) == Some(DIALECT);
                if !is_supported {
                    self.report.add(schemas::unsupported_dialect(value.span, DIALECT));
                }
                return is_supported;
            }
            Expected::Pattern => (self.pattern(value).is_some(), "a pattern"),
            Expected::Names => {
                self.required(value);
                (true, "")
            }
            Expected::NamesByName => {
                for entry in value.entries().unwrap_or_default() {
                    self.names(&entry.value);
                }
                let words = "a mapping from property names to lists of property names";
                (value.entries().is_some(), words)
            }
            Expected::Values => {
                self.check_values(value, value);
                (matches!(value.value, Value::Sequence(_)), "a list of values")
            }
            Expected::Examples => (matches!(value.value, Value::Sequence(_)), "a list of examples"),
            _ => (true, ""),
        };
        // A bad pattern has already been reported.
        if !fits && expected != Expected::Pattern {
            self.expected(words, value);
        }
        fits
    }
}
