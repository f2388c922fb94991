//! The transforms, by which a projection replaces what a dialect does not accept.

/// A transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transform {
    /// Its name, `T1` to `T21`; [`Loss::by`](crate::Loss::by) has it.
    pub name: &'static str,
    /// The part of a published schema that it replaces.
    pub from: &'static str,
    /// Its replacement in the wire schema.
    pub to: &'static str,
}

impl Transform {
    /// All transforms, in order.
    pub const ALL: &'static [Self] = &[
        row("T1", "arguments of another type than object", "an object with one property `input`"),
        row("T2", "no arguments", "no schema, or an empty object"),
        row("T3", "`allOf`", "one merged schema"),
        row(
            "T4",
            "a reference with other keywords beside it",
            "a merged definition, or `anyOf` with the reference alone",
        ),
        row("T5", "references", "the target in place"),
        row("T6", "recursion", "refused, unless the policy `recursion` expands a number of levels"),
        row("T7", "`oneOf`", "`anyOf`"),
        row("T8", "a list of types", "`anyOf`, with an alternative for each type"),
        row("T9", "null", "`nullable: true`"),
        row("T10", "constants of several types", "strings"),
        row("T11", "an optional property", "a required one; null means that it is absent"),
        row(
            "T12",
            "an optional property that may be null",
            "a required one, which cannot be absent, unless `default: null` says that both mean the same and no other rule tells them apart",
        ),
        row("T13", "a map", "an array of objects with `key` and `value`"),
        row(
            "T14",
            "other keys beside properties",
            "such an array in an additional property `more`",
        ),
        row("T15", "any value", "a string with JSON"),
        row(
            "T16",
            "an object without `additionalProperties`",
            "a closed one: other keys cannot be sent",
        ),
        row("T17", "a tuple", "an object with a key for each item"),
        row("T18", "integers beyond ±2^53 where numbers are doubles", "a string of digits"),
        row(
            "T19",
            "property names that the provider does not allow",
            "other names, which are converted back",
        ),
        row("T20", "bounds, lengths, patterns, formats", "a sentence in the description"),
        row(
            "T21",
            "titles, examples, defaults and other notes",
            "gone; the default is in the description",
        ),
    ];

    /// Returns the transform of a name, such as that of a loss. `T0` is none: the schema is invalid, or too large for the
    /// dialect.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|transform| transform.name == name)
    }
}

const fn row(name: &'static str, from: &'static str, to: &'static str) -> Transform {
    Transform { name, from, to }
}
