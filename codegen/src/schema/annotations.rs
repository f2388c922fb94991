//! The annotations of a schema, which do not affect the values that it accepts.

use crate::json::Json;
use std::ops::Deref;

/// The annotations of a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotations {
    /// `title`
    pub title: Option<String>,
    /// `description`
    pub description: Option<String>,
    /// `default`: shown to the model, and filled in if the type of the field allows it.
    pub default: Option<Json>,
    /// `examples`
    pub examples: Vec<Json>,
    /// `deprecated`
    pub deprecated: bool,
    /// `readOnly`
    pub read_only: bool,
    /// `writeOnly`
    pub write_only: bool,
    /// `format`, if it is only an annotation.
    pub format: Option<String>,
    /// `contentEncoding`, `contentMediaType` and `contentSchema`, which are only annotations (2020-12 validation, 8).
    pub content: Vec<(String, Json)>,
    /// True if `$schema` is present; it can have only one value.
    pub dialect: bool,
    /// `$anchor`. References to it are resolved, so it is kept for readers only.
    pub anchor: Option<String>,
    /// `x-enum-names`: the Rust names of the integers of an `enum`; one for each, or none.
    pub enum_names: Vec<String>,
}

/// Optional annotations in a box, because most schemas have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxedAnnotations(Option<Box<Annotations>>);

impl BoxedAnnotations {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl From<Annotations> for BoxedAnnotations {
    fn from(annotations: Annotations) -> Self {
        Self((annotations != Annotations::NONE).then(|| Box::new(annotations)))
    }
}

impl Deref for BoxedAnnotations {
    type Target = Annotations;

    fn deref(&self) -> &Annotations {
        static NONE: Annotations = Annotations::NONE;
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl Annotations {
    /// No annotations.
    pub const NONE: Self = Self {
        title: None,
        description: None,
        default: None,
        examples: Vec::new(),
        deprecated: false,
        read_only: false,
        write_only: false,
        format: None,
        content: Vec::new(),
        dialect: false,
        anchor: None,
        enum_names: Vec::new(),
    };

    /// Returns these annotations, with missing ones taken from others.
    #[must_use]
    pub fn completed_by(&self, others: &Self) -> Self {
        Self {
            title: self.title.clone().or_else(|| others.title.clone()),
            description: self.description.clone().or_else(|| others.description.clone()),
            default: self.default.clone().or_else(|| others.default.clone()),
            examples: if self.examples.is_empty() { &others.examples } else { &self.examples }
                .clone(),
            deprecated: self.deprecated || others.deprecated,
            read_only: self.read_only || others.read_only,
            write_only: self.write_only || others.write_only,
            format: self.format.clone().or_else(|| others.format.clone()),
            content: if self.content.is_empty() { &others.content } else { &self.content }.clone(),
            dialect: self.dialect || others.dialect,
            anchor: self.anchor.clone().or_else(|| others.anchor.clone()),
            enum_names: Vec::new(),
        }
    }
}
