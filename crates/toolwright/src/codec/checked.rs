//! Values whose schema says more than a type can: a validator checks the text of the subtree. Only
//! crates that need it ask for the feature, and so for the `jsonschema` crate.

use std::fmt;
use std::sync::OnceLock;

use jsonschema::{ValidationError, ValidationOptions};
use serde_json::Value as Json;

use super::issues::Issues;
use super::{Reader, Writer, explain, from_json};
use crate::format::Format;
use crate::issue::{InvalidPayload, Issue, IssueKind};
use crate::value::Value;

/// A JSON Schema (2020-12), compiled once.
pub struct Validator {
    schema: &'static str,
    compiled: OnceLock<Option<Compiled>>,
}

struct Compiled {
    schema: Json,
    validator: jsonschema::Validator,
}

/// A JSON Schema that is met at run time: of the draft it names, of 2020-12 if it names none. It never fetches anything.
pub struct Judge(Compiled);

impl Judge {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// What is wrong with it; also a reference to what is outside of it.
    pub fn new(schema: &str) -> Result<Self, String> {
        let schema = serde_json::from_str(schema).map_err(|error| error.to_string())?;
        let validator = options(jsonschema::options()).build(&schema);
        let validator = validator.map_err(|error| error.to_string())?;
        Ok(Self(Compiled { schema, validator }))
    }

    /// Judges a JSON text.
    ///
    /// # Errors
    ///
    /// Every issue, or the one place where the text stops being JSON.
    pub fn judge(&self, json: &[u8]) -> Result<(), InvalidPayload> {
        let value: Value = from_json(json)?;
        let value = approximate(&value);
        let errors = self.0.validator.iter_errors(&value);
        let errors = errors.filter(|error| !explain::is_rounded(error));
        let issues: Vec<Issue> =
            errors.flat_map(|error| explain::issues(&error, &self.0.schema)).collect();
        if issues.is_empty() { Ok(()) } else { Err(InvalidPayload::new(issues)) }
    }
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Judge").field(&self.0.schema).finish()
    }
}

/// Formats that the library knows and the language takes for mere annotations.
const UNCHECKED: [&str; 8] = [
    "idn-email",
    "idn-hostname",
    "iri",
    "iri-reference",
    "relative-json-pointer",
    "uri-reference",
    "uri-template",
    "iso-8601",
];

impl Validator {
    /// The validator of a schema, as JSON text.
    pub const fn new(schema: &'static str) -> Self {
        Self { schema, compiled: OnceLock::new() }
    }

    /// Adds to the issues that were found since `mark` what is wrong with a JSON text beyond them.
    fn check(&self, json: &str, issues: &mut Issues, mark: usize) {
        let Some(compiled) = self.compiled.get_or_init(|| compile(self.schema)) else {
            let message = "cannot be checked: its schema does not compile".to_owned();
            return issues.add(IssueKind::Schema { message });
        };
        let known = issues.count();
        let Some(value) = read(json) else {
            let message = "cannot be checked: it is not read as JSON".to_owned();
            return issues.add(IssueKind::Schema { message });
        };
        let errors = compiled.validator.iter_errors(&value);
        for error in errors.filter(|error| !explain::is_rounded(error)) {
            for issue in explain::issues(&error, &compiled.schema) {
                if adds(&error, &issue, issues.between(mark, known)) {
                    issues.push(issue);
                }
            }
        }
    }
}

/// Whether an issue says more than those the type has found: a mistake is told once, and what may only
/// follow from it is not told.
fn adds(error: &ValidationError<'_>, issue: &Issue, found: &[Issue]) -> bool {
    if found.is_empty() {
        return true;
    }
    if explain::is_independent(error) {
        return !found.contains(issue);
    }
    let is_about = |other: &Issue| {
        let rest = other.pointer().strip_prefix(issue.pointer());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !explain::is_conditional(error) && !found.iter().any(is_about)
}

fn compile(schema: &str) -> Option<Compiled> {
    let schema = serde_json::from_str(schema).ok()?;
    let validator = options(jsonschema::draft202012::options()).build(&schema).ok()?;
    Some(Compiled { schema, validator })
}

/// Formats as the language has them.
fn options(options: ValidationOptions) -> ValidationOptions {
    let mut options = options.should_validate_formats(true);
    for format in Format::ALL {
        options = options.with_format(format.name(), move |text: &str| format.is_valid(text));
    }
    for name in UNCHECKED {
        options = options.with_format(name, |_: &str| true);
    }
    options
}

/// The value as the library takes it.
fn read(json: &str) -> Option<Json> {
    serde_json::from_str(json).ok().or_else(|| json.parse().ok().map(|value| approximate(&value)))
}

/// The value with the numbers that no double holds brought to the greatest that one does.
fn approximate(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Boolean(flag) => Json::Bool(*flag),
        Value::Number(number) => Json::from(number.as_f64().clamp(f64::MIN, f64::MAX)),
        Value::String(text) => Json::from(text.as_str()),
        Value::Array(items) => items.iter().map(approximate).collect(),
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| (key.to_owned(), approximate(value))).collect()
        }
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Validator").field(&self.schema).finish()
    }
}

impl Reader<'_> {
    /// Reads a value by the first of these that takes it. Where none does, nothing is said: the validator that judges
    /// the value knows what all of them want.
    pub fn first_of<T>(&mut self, attempts: &[fn(&mut Self) -> Option<T>]) -> Option<T> {
        self.scanner.peek();
        let (start, issues, keys) = (self.scanner.mark(), self.issues.count(), self.keys.len());
        for attempt in attempts {
            let value = attempt(self);
            if self.scanner.failed() || (value.is_some() && self.issues.count() == issues) {
                return value;
            }
            self.scanner.rewind(start);
            self.issues.truncate(issues);
            self.keys.truncate(keys);
        }
        self.scanner.skip();
        None
    }

    /// Reads a value of a type, then checks its text.
    pub fn checked<T>(
        &mut self,
        validator: &'static Validator,
        decode: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        self.scanner.peek();
        let (start, mark) = (self.scanner.position, self.issues.count());
        let value = decode(self);
        self.scanner.ok()?;
        validator.check(self.scanner.since(start), &mut self.issues, mark);
        value
    }
}

impl Writer {
    /// Writes a value, then checks its text.
    pub fn checked(&mut self, validator: &'static Validator, write: impl FnOnce(&mut Self)) {
        let (start, mark) = (self.text.len(), self.issues.count());
        write(self);
        if self.issues.count() == mark {
            validator.check(self.text.since(start), &mut self.issues, mark);
        }
    }
}
