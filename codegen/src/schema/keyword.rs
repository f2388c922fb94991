//! The keywords of JSON Schema 2020-12, in one table: what stands behind each, what its schemas judge, and which kinds of
//! values it is about.

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
    /// The address of the dialect that schemas are read as.
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

/// The values that the schemas behind a keyword judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The value that the keyword's own schema judges (2020-12 core, 10.2).
    Same,
    /// Parts of that value (2020-12 core, 10.3).
    Part,
    /// Nothing: there are none, or none that is applied.
    Nothing,
}

/// Makes [`Keyword`] of the table.
macro_rules! keywords {
    ($(#[doc = $description:literal] $name:ident $word:literal $expected:ident $judged:ident [$($kind:ident)*],)*) => {
        /// A keyword that asserts something (2020-12 core, 10 and 11; validation, 6).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Keyword {
            $(#[doc = concat!("`", $word, "`:", $description)] $name,)*
        }

        impl Keyword {
            /// Every keyword, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// How it is written.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// Its meaning, in a sentence.
            #[cfg(feature = "language-schema")]
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$name => $description,)*
                }
            }

            /// The type that its value must have.
            pub fn expected(self) -> Expected {
                match self {
                    $(Self::$name => Expected::$expected,)*
                }
            }

            /// Returns which values its schemas judge.
            pub fn judged(self) -> Judged {
                match self {
                    $(Self::$name => Judged::$judged,)*
                }
            }

            /// The kinds of values it is about; none means all.
            pub fn kinds(self) -> &'static [Kind] {
                match self {
                    $(Self::$name => &[$(Kind::$kind),*],)*
                }
            }
        }
    };
}

keywords! {
    /// The type, `Name` or `service.Name`, or the place in this schema, `#/$defs/Name`, whose schema the value has to match.
    Ref "$ref" Reference Same [],
    /// Schemas all of which the value has to match.
    AllOf "allOf" Schemas Same [],
    /// Schemas at least one of which the value has to match.
    AnyOf "anyOf" Schemas Same [],
    /// Schemas exactly one of which the value has to match.
    OneOf "oneOf" Schemas Same [],
    /// A schema that the value must not match.
    Not "not" Schema Same [],
    /// A schema that decides whether `then` or `else` holds.
    If "if" Schema Same [],
    /// The schema of values that match `if`.
    Then "then" Schema Same [],
    /// The schema of values that do not match `if`.
    Else "else" Schema Same [],
    /// The only value that is accepted.
    Const "const" Value Nothing [],
    /// The values that are accepted.
    Enum "enum" Values Nothing [],
    /// The kind of the value, or a list of kinds.
    Type "type" Types Nothing [],
    /// The schema of each property by its name.
    Properties "properties" Named Part [Object],
    /// The schemas of properties whose names match a regular expression.
    PatternProperties "patternProperties" Patterns Part [Object],
    /// The schema of every other property; `false` allows none.
    AdditionalProperties "additionalProperties" Schema Part [Object],
    /// The schema of the properties' names.
    PropertyNames "propertyNames" Schema Part [Object],
    /// The schema of properties that no other keyword describes, those of `allOf` and `$ref` included.
    UnevaluatedProperties "unevaluatedProperties" Schema Part [Object],
    /// Schemas of the object, each for the case that a property is there.
    DependentSchemas "dependentSchemas" Named Same [Object],
    /// The properties that have to be there if another one is.
    DependentRequired "dependentRequired" NamesByName Nothing [Object],
    /// The properties that have to be there.
    Required "required" Names Nothing [Object],
    /// The least number of properties.
    MinProperties "minProperties" Count Nothing [Object],
    /// The greatest number of properties.
    MaxProperties "maxProperties" Count Nothing [Object],
    /// The schema of every item, or of those behind `prefixItems`.
    Items "items" Schema Part [Array],
    /// The schemas of the first items, one for each.
    PrefixItems "prefixItems" Schemas Part [Array],
    /// A schema that some item has to match.
    Contains "contains" Schema Part [Array],
    /// The least number of items that match `contains`.
    MinContains "minContains" Count Nothing [Array],
    /// The greatest number of items that match `contains`.
    MaxContains "maxContains" Count Nothing [Array],
    /// The schema of items that no other keyword describes.
    UnevaluatedItems "unevaluatedItems" Schema Part [Array],
    /// Whether all items differ.
    UniqueItems "uniqueItems" Boolean Nothing [Array],
    /// The least number of items.
    MinItems "minItems" Count Nothing [Array],
    /// The greatest number of items.
    MaxItems "maxItems" Count Nothing [Array],
    /// The least number of characters.
    MinLength "minLength" Count Nothing [String],
    /// The greatest number of characters.
    MaxLength "maxLength" Count Nothing [String],
    /// A regular expression (ECMA-262) that matches some part of the text.
    Pattern "pattern" Pattern Nothing [String],
    /// The form of a text, or the width of a number.
    Format "format" Format Nothing [String Integer Number],
    /// The least number.
    Minimum "minimum" Number Nothing [Integer Number],
    /// The greatest number.
    Maximum "maximum" Number Nothing [Integer Number],
    /// The number that the value has to be above.
    ExclusiveMinimum "exclusiveMinimum" Number Nothing [Integer Number],
    /// The number that the value has to be below.
    ExclusiveMaximum "exclusiveMaximum" Number Nothing [Integer Number],
    /// The number that divides the value.
    MultipleOf "multipleOf" Positive Nothing [Integer Number],
    // Asserts nothing by itself, but `#/$defs/X` leads there.
    /// Schemas by name, for `$ref: "#/$defs/Name"`.
    Defs "$defs" Named Nothing [],
}

/// The keywords that never assert anything, with the type and the meaning of their values.
pub const ANNOTATIONS: [(&str, Expected, &str); 14] = [
    ("title", Expected::Text, "A short name for people."),
    ("description", Expected::Text, "The meaning of the value, as the model reads it."),
    ("default", Expected::Value, "The value that stands for a missing one."),
    ("examples", Expected::Examples, "Values as examples."),
    ("deprecated", Expected::Boolean, "Whether it should no longer be used."),
    ("readOnly", Expected::Boolean, "Whether the value is only read."),
    ("writeOnly", Expected::Boolean, "Whether the value is only written."),
    ("$comment", Expected::Text, "Words for those who read the schema."),
    ("$schema", Expected::Dialect, "The dialect of the schema: JSON Schema 2020-12."),
    ("$anchor", Expected::Text, "A name for this schema, for `$ref: \"#name\"`."),
    ("contentEncoding", Expected::Value, "The encoding of the text, such as `base64`."),
    ("contentMediaType", Expected::Value, "The media type of the text."),
    ("contentSchema", Expected::Value, "The schema of what the text holds."),
    ("x-enum-names", Expected::EnumNames, "The names in Rust of the integers in `enum`."),
];

/// Keywords of 2020-12 that are not honored: all are about schemas that lie elsewhere or change what
/// others mean.
const UNSUPPORTED: [&str; 5] =
    ["$id", "$dynamicRef", "$dynamicAnchor", "$vocabulary", "$recursiveRef"];

impl Keyword {
    /// The keyword that is written so.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|keyword| keyword.word() == word)
    }
}

/// Whether a keyword is honored.
pub fn is_honored(word: &str) -> bool {
    Keyword::of(word).is_some() || is_annotation(word)
}

/// Whether a keyword is one of 2020-12, and not honored all the same.
pub fn is_unsupported(word: &str) -> bool {
    UNSUPPORTED.contains(&word)
}

/// Whether a keyword is an annotation, which never changes what is accepted.
pub fn is_annotation(word: &str) -> bool {
    annotated(word).is_some()
}

/// Every keyword that is honored.
pub fn honored() -> impl Iterator<Item = &'static str> {
    Keyword::ALL.iter().map(|keyword| keyword.word()).chain(ANNOTATIONS.map(|(word, ..)| word))
}

/// The type that the value of an annotation must have.
pub fn annotated(word: &str) -> Option<Expected> {
    ANNOTATIONS.iter().find(|(known, ..)| *known == word).map(|(_, expected, _)| *expected)
}

/// The type that the value of a keyword must have, if the keyword asserts something.
pub fn expected(word: &str) -> Option<Expected> {
    Keyword::of(word).map(Keyword::expected)
}

/// The name of every format that is checked.
pub fn formats() -> impl Iterator<Item = &'static str> {
    let numbers = IntegerFormat::ALL.map(IntegerFormat::name);
    Format::ALL.map(Format::name).into_iter().chain(numbers).chain([DOUBLE])
}
