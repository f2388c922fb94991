//! What a schema says about itself. Nothing here changes what is accepted.

use crate::json::Json;
use std::ops::Deref;

/// The annotations of a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotations {
    /// `title`
    pub title: Option<String>,
    /// `description`
    pub description: Option<String>,
    /// `default`: told to the model, and filled in where a field can hold it.
    pub default: Option<Json>,
    /// `examples`
    pub examples: Vec<Json>,
    /// `deprecated`
    pub deprecated: bool,
    /// `readOnly`
    pub read_only: bool,
    /// `writeOnly`
    pub write_only: bool,
    /// `format`, where it is a mere annotation.
    pub format: Option<String>,
    /// `contentEncoding`, `contentMediaType` and `contentSchema`, which are mere annotations
    /// (2020-12 validation, 8).
    pub content: Vec<(String, Json)>,
    /// Whether `$schema` is there; it can name one dialect only.
    pub dialect: bool,
    /// `$anchor`: what refers to it is resolved, so it is kept for readers alone.
    pub anchor: Option<String>,
    /// `x-enum-names`: what the integers of an `enum` are called in Rust; one for each, or none.
    pub enum_names: Vec<String>,
}

/// Annotations, or none, which take no room: most schemas have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxedAnnotations(Option<Box<Annotations>>);

impl BoxedAnnotations {
    /// Whether nothing is said.
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
    /// Nothing is said.
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

    /// These, and the others' where these say nothing.
    pub(super) fn over(&self, others: &Self) -> Self {
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
