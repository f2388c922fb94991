//! The drafts of JSON Schema, and the keywords that each of them has.

/// A draft of JSON Schema. An older one is less than a newer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Draft {
    /// Draft-04.
    D4,
    /// Draft-06.
    D6,
    /// Draft-07.
    D7,
    /// Draft 2019-09.
    D2019,
    /// Draft 2020-12.
    D2020,
}

impl Draft {
    /// Returns the draft of a meta-schema, which a schema names in `$schema`.
    pub fn from_uri(uri: &str) -> Option<Self> {
        let uri = uri.trim_end_matches('#');
        let (_, name) = uri.split_once("://")?;
        Some(match name {
            "json-schema.org/draft-04/schema" => Self::D4,
            "json-schema.org/draft-06/schema" => Self::D6,
            "json-schema.org/draft-07/schema" => Self::D7,
            "json-schema.org/draft/2019-09/schema" => Self::D2019,
            "json-schema.org/draft/2020-12/schema" => Self::D2020,
            _ => return None,
        })
    }

    /// Returns false for a keyword of another draft, which has no effect in this one. A keyword that no draft has is an annotation,
    /// for which it returns true.
    pub fn has(self, keyword: &str) -> bool {
        match keyword {
            "const" | "contains" | "propertyNames" | "$id" => self >= Self::D6,
            "if" | "then" | "else" => self >= Self::D7,
            "minContains"
            | "maxContains"
            | "dependentRequired"
            | "dependentSchemas"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "$anchor" => self >= Self::D2019,
            "prefixItems" | "$dynamicRef" | "$dynamicAnchor" => self == Self::D2020,
            "$recursiveRef" | "$recursiveAnchor" => self == Self::D2019,
            "dependencies" => self <= Self::D7,
            _ => true,
        }
    }
}
