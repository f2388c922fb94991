//! The table of keywords of JSON Schema 2020-12: for each the expected value, the values to which its schemas apply, and the
//! kinds of values that it limits.

use toolwright::format::{Format, IntegerFormat};
use toolwright::value::Kind;

use super::DOUBLE;

/// The expected type of a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A schema.
    Schema,
    /// A list of schemas.
    Schemas,
    /// Schemas by name.
    Named,
    /// Schemas by regular expression.
    Patterns,
    /// A whole number that is not negative.
    Count,
    /// A number.
    Number,
    /// A number above zero.
    Positive,
    /// `true` or `false`.
    Boolean,
    /// A string.
    Text,
    /// The name of a format.
    Format,
    /// The URI of the supported dialect.
    Dialect,
    /// A regular expression.
    Pattern,
    /// A list of different strings.
    Names,
    /// A list of different strings, one for each integer of the `enum` beside it.
    EnumNames,
    /// Lists of different strings by name.
    NamesByName,
    /// A list of different values.
    Values,
    /// A list of values.
    Examples,
    /// Any value.
    Value,
    /// The name of a type, or a list of such names.
    Types,
    /// A reference to a schema.
    Reference,
}

/// The values to which the schemas in a keyword's value apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppliesTo {
    /// The same value as the schema with the keyword (2020-12 core, 10.2).
    SameValue,
    /// Parts of that value (2020-12 core, 10.3).
    Parts,
    /// Nothing: the value has no schemas, or they only apply through references.
    Nothing,
}

/// Declares [`Keyword`] from the table.
macro_rules! keywords {
    ($(#[doc = $description:literal] $name:ident $word:literal $expected:ident $applies_to:ident [$($kind:ident)*],)*) => {
        /// A keyword that asserts something (2020-12 core, 10 and 11; validation, 6).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Keyword {
            $(#[doc = concat!("`", $word, "`:", $description)] $name,)*
        }

        impl Keyword {
            /// Every keyword, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the keyword as written.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// Returns its meaning, in a sentence.
            #[cfg(feature = "language-schema")]
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$name => $description,)*
                }
            }

            /// Returns the type that its value must have.
            pub fn expected(self) -> Expected {
                match self {
                    $(Self::$name => Expected::$expected,)*
                }
            }

            /// Returns the values to which its schemas apply.
            pub fn applies_to(self) -> AppliesTo {
                match self {
                    $(Self::$name => AppliesTo::$applies_to,)*
                }
            }

            /// Returns the kinds of values that it limits; empty for all kinds.
            pub fn kinds(self) -> &'static [Kind] {
                match self {
                    $(Self::$name => &[$(Kind::$kind),*],)*
                }
            }
        }
    };
}

keywords! {
    /// A type, `Name` or `service.Name`, or a place in this schema, `#/$defs/Name`, whose schema the value has to match.
    Ref "$ref" Reference SameValue [],
    /// The value has to match all of these schemas.
    AllOf "allOf" Schemas SameValue [],
    /// The value has to match at least one of these schemas.
    AnyOf "anyOf" Schemas SameValue [],
    /// The value has to match exactly one of these schemas.
    OneOf "oneOf" Schemas SameValue [],
    /// The value must not match this schema.
    Not "not" Schema SameValue [],
    /// A schema that decides whether `then` or `else` applies.
    If "if" Schema SameValue [],
    /// The schema of values that match `if`.
    Then "then" Schema SameValue [],
    /// The schema of values that do not match `if`.
    Else "else" Schema SameValue [],
    /// The only value that is accepted.
    Const "const" Value Nothing [],
    /// The values that are accepted.
    Enum "enum" Values Nothing [],
    /// The kind of the value, or a list of kinds.
    Type "type" Types Nothing [],
    /// The schema of each property by its name.
    Properties "properties" Named Parts [Object],
    /// The schemas of properties whose names match a regular expression.
    PatternProperties "patternProperties" Patterns Parts [Object],
    /// The schema of every other property; `false` allows none.
    AdditionalProperties "additionalProperties" Schema Parts [Object],
    /// The schema of the properties' names.
    PropertyNames "propertyNames" Schema Parts [Object],
    /// The schema of properties that no other keyword describes, including keywords inside `allOf` and `$ref`.
    UnevaluatedProperties "unevaluatedProperties" Schema Parts [Object],
    /// Schemas that the object has to match if it has the property of that name.
    DependentSchemas "dependentSchemas" Named SameValue [Object],
    /// The properties that are required if another one is present.
    DependentRequired "dependentRequired" NamesByName Nothing [Object],
    /// The required properties.
    Required "required" Names Nothing [Object],
    /// The least number of properties.
    MinProperties "minProperties" Count Nothing [Object],
    /// The greatest number of properties.
    MaxProperties "maxProperties" Count Nothing [Object],
    /// The schema of every item, or of the items after `prefixItems`.
    Items "items" Schema Parts [Array],
    /// The schemas of the first items, one for each.
    PrefixItems "prefixItems" Schemas Parts [Array],
    /// At least one item has to match this schema.
    Contains "contains" Schema Parts [Array],
    /// The least number of items that match `contains`.
    MinContains "minContains" Count Nothing [Array],
    /// The greatest number of items that match `contains`.
    MaxContains "maxContains" Count Nothing [Array],
    /// The schema of items that no other keyword describes.
    UnevaluatedItems "unevaluatedItems" Schema Parts [Array],
    /// Whether all items have to be different.
    UniqueItems "uniqueItems" Boolean Nothing [Array],
    /// The least number of items.
    MinItems "minItems" Count Nothing [Array],
    /// The greatest number of items.
    MaxItems "maxItems" Count Nothing [Array],
    /// The least number of characters.
    MinLength "minLength" Count Nothing [String],
    /// The greatest number of characters.
    MaxLength "maxLength" Count Nothing [String],
    /// A regular expression (ECMA-262) that has to match a part of the text.
    Pattern "pattern" Pattern Nothing [String],
    /// The format of a text or a number.
    Format "format" Format Nothing [String Integer Number],
    /// The least number.
    Minimum "minimum" Number Nothing [Integer Number],
    /// The greatest number.
    Maximum "maximum" Number Nothing [Integer Number],
    /// The value has to be greater than this number.
    ExclusiveMinimum "exclusiveMinimum" Number Nothing [Integer Number],
    /// The value has to be less than this number.
    ExclusiveMaximum "exclusiveMaximum" Number Nothing [Integer Number],
    /// The value has to be a multiple of this number.
    MultipleOf "multipleOf" Positive Nothing [Integer Number],
    // It asserts nothing, but `#/$defs/X` refers to it.
    /// Schemas by name, for `$ref: "#/$defs/Name"`.
    Defs "$defs" Named Nothing [],
}

/// The keywords that never assert anything, with the type and the meaning of their values.
pub const ANNOTATIONS: [(&str, Expected, &str); 14] = [
    ("title", Expected::Text, "A short name for people."),
    ("description", Expected::Text, "The meaning of the value, as the model reads it."),
    ("default", Expected::Value, "The value to use if it is missing."),
    ("examples", Expected::Examples, "Example values."),
    ("deprecated", Expected::Boolean, "Whether it should no longer be used."),
    ("readOnly", Expected::Boolean, "Whether the value is only read."),
    ("writeOnly", Expected::Boolean, "Whether the value is only written."),
    ("$comment", Expected::Text, "A comment for readers of the schema."),
    ("$schema", Expected::Dialect, "The dialect of the schema: JSON Schema 2020-12."),
    ("$anchor", Expected::Text, "A name for this schema, for `$ref: \"#name\"`."),
    ("contentEncoding", Expected::Value, "The encoding of the text, such as `base64`."),
    ("contentMediaType", Expected::Value, "The media type of the text."),
    ("contentSchema", Expected::Value, "The schema of the text's content."),
    ("x-enum-names", Expected::EnumNames, "The names in Rust of the integers in `enum`."),
];

/// Keywords of 2020-12 that are not supported: they involve schemas in other places, or change the meaning of other keywords.
const UNSUPPORTED: [&str; 5] =
    ["$id", "$dynamicRef", "$dynamicAnchor", "$vocabulary", "$recursiveRef"];

impl Keyword {
    /// Returns the keyword of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|keyword| keyword.word() == word)
    }
}

/// Returns whether a keyword is supported.
pub fn is_supported(word: &str) -> bool {
    Keyword::of(word).is_some() || is_annotation(word)
}

/// Returns whether a keyword is one of 2020-12, but not supported.
pub fn is_unsupported(word: &str) -> bool {
    UNSUPPORTED.contains(&word)
}

/// Returns whether a keyword is an annotation, which does not affect the values that are accepted.
pub fn is_annotation(word: &str) -> bool {
    annotated(word).is_some()
}

/// Returns every supported keyword.
pub fn supported() -> impl Iterator<Item = &'static str> {
    Keyword::ALL.iter().map(|keyword| keyword.word()).chain(ANNOTATIONS.map(|(word, ..)| word))
}

/// Returns the type that the value of an annotation must have.
pub fn annotated(word: &str) -> Option<Expected> {
    ANNOTATIONS.iter().find(|(known, ..)| *known == word).map(|(_, expected, _)| *expected)
}

/// Returns the type that the value of a keyword must have, if the keyword is not an annotation.
pub fn expected(word: &str) -> Option<Expected> {
    Keyword::of(word).map(Keyword::expected)
}

/// Returns the names of all formats that are checked.
pub fn formats() -> impl Iterator<Item = &'static str> {
    let numbers = IntegerFormat::ALL.map(IntegerFormat::name);
    Format::ALL.map(Format::name).into_iter().chain(numbers).chain([DOUBLE])
}
