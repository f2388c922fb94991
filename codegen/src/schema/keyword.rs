//! The keywords of JSON Schema 2020-12, in one table: what stands behind each, what its schemas judge, and which kinds of
//! values it is about.

use toolwright::value::Kind;

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
    /// A regular expression.
    Pattern,
    /// A list of different strings.
    Names,
    /// Lists of different strings by name.
    NamesByName,
    /// A list of values.
    Values,
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
    ($($name:ident $word:literal $expected:ident $judged:ident [$($kind:ident)*],)*) => {
        /// A keyword that asserts something (2020-12 core, 10 and 11; validation, 6).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Keyword {
            $(#[doc = concat!("`", $word, "`")] $name,)*
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
    Ref "$ref" Reference Same [],
    AllOf "allOf" Schemas Same [],
    AnyOf "anyOf" Schemas Same [],
    OneOf "oneOf" Schemas Same [],
    Not "not" Schema Same [],
    If "if" Schema Same [],
    Then "then" Schema Same [],
    Else "else" Schema Same [],
    Const "const" Value Nothing [],
    Enum "enum" Values Nothing [],
    Type "type" Types Nothing [],
    Properties "properties" Named Part [Object],
    PatternProperties "patternProperties" Patterns Part [Object],
    AdditionalProperties "additionalProperties" Schema Part [Object],
    PropertyNames "propertyNames" Schema Part [Object],
    UnevaluatedProperties "unevaluatedProperties" Schema Part [Object],
    DependentSchemas "dependentSchemas" Named Same [Object],
    DependentRequired "dependentRequired" NamesByName Nothing [Object],
    Required "required" Names Nothing [Object],
    MinProperties "minProperties" Count Nothing [Object],
    MaxProperties "maxProperties" Count Nothing [Object],
    Items "items" Schema Part [Array],
    PrefixItems "prefixItems" Schemas Part [Array],
    Contains "contains" Schema Part [Array],
    MinContains "minContains" Count Nothing [Array],
    MaxContains "maxContains" Count Nothing [Array],
    UnevaluatedItems "unevaluatedItems" Schema Part [Array],
    UniqueItems "uniqueItems" Boolean Nothing [Array],
    MinItems "minItems" Count Nothing [Array],
    MaxItems "maxItems" Count Nothing [Array],
    MinLength "minLength" Count Nothing [String],
    MaxLength "maxLength" Count Nothing [String],
    Pattern "pattern" Pattern Nothing [String],
    Format "format" Text Nothing [String Integer Number],
    Minimum "minimum" Number Nothing [Integer Number],
    Maximum "maximum" Number Nothing [Integer Number],
    ExclusiveMinimum "exclusiveMinimum" Number Nothing [Integer Number],
    ExclusiveMaximum "exclusiveMaximum" Number Nothing [Integer Number],
    MultipleOf "multipleOf" Positive Nothing [Integer Number],
    // Asserts nothing by itself, but `#/$defs/X` leads there.
    Defs "$defs" Named Nothing [],
}

/// Keywords that assert nothing, whatever they stand beside.
const ANNOTATIONS: [&str; 14] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$anchor",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "x-enum-names",
];

/// Keywords of 2020-12 that are not honoured: all are about schemas that lie elsewhere or change what
/// others mean.
const UNSUPPORTED: [&str; 5] =
    ["$id", "$dynamicRef", "$dynamicAnchor", "$vocabulary", "$recursiveRef"];

impl Keyword {
    /// The keyword that is written so.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|keyword| keyword.word() == word)
    }
}

/// Whether a keyword is honoured.
pub fn is_honoured(word: &str) -> bool {
    Keyword::of(word).is_some() || is_annotation(word)
}

/// Whether a keyword is one of 2020-12, and not honoured all the same.
pub fn is_unsupported(word: &str) -> bool {
    UNSUPPORTED.contains(&word)
}

/// Whether a keyword is an annotation, which never changes what is accepted.
pub fn is_annotation(word: &str) -> bool {
    ANNOTATIONS.contains(&word)
}

/// Every keyword that is honoured.
pub fn honoured() -> impl Iterator<Item = &'static str> {
    Keyword::ALL.iter().map(|keyword| keyword.word()).chain(ANNOTATIONS)
}

/// The type that the value of a keyword must have, if the keyword asserts something.
pub fn expected(word: &str) -> Option<Expected> {
    Keyword::of(word).map(Keyword::expected)
}
