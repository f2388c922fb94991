//! Rust types, decided: what stands in `types.rs` and what `codecs.rs` does with it.

use std::collections::BTreeSet;

use crate::naming::Identifier;
use crate::options::RustPath;
use toolwright::format::IntegerFormat;
use toolwright::pattern::Translated;

/// The types of one crate.
#[derive(Debug, Default)]
pub struct Types {
    /// Types of other crates that own types may use.
    pub imports: Vec<Import>,
    /// Whether those are offered again.
    pub reexports: bool,
    /// Whether some values become types of the user's.
    pub converts: bool,
    /// Own types.
    pub definitions: Vec<Definition>,
    /// Patterns the codecs need, in the order of first use.
    pub patterns: Vec<PatternStatic>,
    /// Validators the codecs need, in the order of first use.
    pub validators: Vec<ValidatorStatic>,
}

/// Names of one module.
#[derive(Clone, Debug)]
pub struct Import {
    /// The module's path.
    pub module: String,
    /// The names.
    pub names: Vec<Identifier>,
}

impl Import {
    /// The module and the names, as texts.
    pub fn source(&self) -> (&str, Vec<&str>) {
        (&self.module, self.names.iter().map(Identifier::as_str).collect())
    }
}

impl Types {
    /// The crates of the paths that options put into the types.
    pub fn extra_crates(&self) -> BTreeSet<&str> {
        let paths = self.definitions.iter().flat_map(|definition| {
            let domain = match &definition.body {
                Body::Domain(path) => Some(path),
                _ => None,
            };
            definition.extra_derives.iter().chain(domain)
        });
        paths.map(|path| path.segments()[0]).collect()
    }

    /// Whether a pattern needs the tables of Unicode.
    pub fn needs_tables(&self) -> bool {
        self.patterns.iter().any(|pattern| pattern.translated.needs_tables)
            || self.validators.iter().any(|validator| validator.needs_tables)
    }
}

/// One own type.
#[derive(Debug)]
pub struct Definition {
    /// Its name.
    pub name: Identifier,
    /// Its doc lines.
    pub docs: Vec<String>,
    /// The traits that it derives.
    pub derives: Derives,
    /// The macros that the options let it derive beside those.
    pub extra_derives: Vec<RustPath>,
    /// Its body.
    pub body: Body,
    /// The default that the schema of an enum or a newtype names.
    pub default: Option<SchemaDefault>,
    /// The static that holds the validator of what the type cannot say.
    pub validator: Option<Identifier>,
}

/// A set of traits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derives {
    /// `Copy`
    pub copy: bool,
    /// `Eq` and `Hash`
    pub eq: bool,
    /// `PartialOrd` and `Ord`
    pub ord: bool,
    /// `Default`
    pub default: bool,
}

/// The body of a type.
#[derive(Debug)]
pub enum Body {
    /// An object.
    Struct(Struct),
    /// One of several strings.
    Enum(Vec<EnumVariant>),
    /// One of several integers.
    IntegerEnum(Vec<IntegerVariant>),
    /// One of several JSON texts.
    Constants(Vec<EnumVariant>),
    /// One of several types, told apart by the kind of JSON value.
    Mixed(Vec<MixedVariant>),
    /// One of several types that may hold the same value.
    Overlapping {
        /// The keyword of the validator that lists their schemas.
        keyword: &'static str,
        /// The types, in the order of the schemas.
        variants: Vec<OverlappingVariant>,
    },
    /// One value only: its JSON text.
    Constant(String),
    /// One of several objects, told apart by the property `tag`.
    Union {
        /// The property.
        tag: String,
        /// The objects.
        variants: Vec<UnionVariant>,
    },
    /// Another type with a name of its own.
    Newtype(TypeUse),
    /// Another name of the same type.
    Alias(TypeUse),
    /// A type of the user's: its path.
    Domain(RustPath),
}

/// An object.
#[derive(Debug)]
pub struct Struct {
    /// Its properties in the schema's order.
    pub members: Vec<Member>,
    /// The field for all other keys, if there may be any.
    pub additional: Option<AdditionalField>,
    /// The limits of its keys.
    pub limits: PropertyLimits,
    /// Whether it has a constructor `new` from its required fields.
    pub has_constructor: bool,
}

impl Struct {
    /// Its fields.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.members.iter().filter_map(Member::field)
    }
}

/// One property of an object.
#[derive(Debug)]
pub enum Member {
    /// It becomes a field.
    Field(Field),
    /// It is required and has one value only: the codec knows it.
    Fixed {
        /// The property.
        key: String,
        /// Its value, as JSON text.
        json: String,
    },
}

impl Member {
    /// The field that it becomes.
    pub fn field(&self) -> Option<&Field> {
        match self {
            Self::Field(field) => Some(field),
            Self::Fixed { .. } => None,
        }
    }
}

/// One field.
#[derive(Debug)]
pub struct Field {
    /// The property.
    pub key: String,
    /// The field's name.
    pub name: Identifier,
    /// The field's doc lines.
    pub docs: Vec<String>,
    /// The type of its value.
    pub ty: TypeUse,
    /// Whether its key has to be there.
    pub presence: Presence,
}

/// Whether the key of a field has to be there.
#[derive(Debug, PartialEq)]
pub enum Presence {
    /// It has to.
    Required,
    /// The field is an `Option`.
    Optional,
    /// Where the key is absent, the field holds this.
    Default(SchemaDefault),
}

/// The value of a field whose key is absent, or the `Default` of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaDefault {
    /// The wrappers around the value, outermost first.
    pub within: Vec<Wrapper>,
    /// The value.
    pub value: DefaultValue,
}

/// A wrapper around a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrapper {
    /// `Some`
    Some,
    /// A newtype.
    Newtype(Identifier),
}

/// A value that a schema names as its default.
#[derive(Clone, Debug, PartialEq)]
pub enum DefaultValue {
    /// `null`
    Null,
    /// No item.
    EmptyList,
    /// No entry.
    EmptyMap,
    /// A struct none of whose keys is there.
    EmptyStruct(Identifier),
    /// A constant of the struct or newtype, under this name.
    Constant(Identifier, Constant),
}

/// A value that a constant of Rust can hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `true` or `false`
    Boolean(bool),
    /// An integer, of the type of this format.
    Integer(IntegerFormat, i128),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// A value of an enum: its type and its name.
    Variant(Identifier, Identifier),
    /// An array of such values, which are of one type.
    List(Vec<Constant>),
}

impl SchemaDefault {
    /// Whether `Default` of the field's type gives it.
    pub fn is_derived(&self) -> bool {
        self.within.is_empty()
            && match &self.value {
                DefaultValue::Constant(_, literal) => literal.is_zero(),
                _ => true,
            }
    }
}

impl DefaultValue {
    /// The variant, if it is one of an enum.
    pub fn variant(&self) -> Option<&Identifier> {
        match self {
            Self::Constant(_, Constant::Variant(_, variant)) => Some(variant),
            _ => None,
        }
    }
}

impl Constant {
    /// Whether it is what `Default` of its type gives.
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Boolean(value) => !value,
            Self::Integer(_, value) => *value == 0,
            Self::Number(value) => value.to_bits() == 0,
            Self::Text(text) => text.is_empty(),
            Self::Variant(..) | Self::List(_) => false,
        }
    }
}

/// The field for what stands beside the properties.
#[derive(Debug)]
pub struct AdditionalField {
    /// The field's name.
    pub name: Identifier,
    /// The type of each value.
    pub ty: TypeUse,
}

/// One value of an enum of strings or of JSON texts.
#[derive(Debug)]
pub struct EnumVariant {
    /// The variant's name.
    pub name: Identifier,
    /// Its doc lines.
    pub docs: Vec<String>,
    /// The string, or the JSON text.
    pub value: String,
}

/// One value of an integer enum.
#[derive(Debug)]
pub struct IntegerVariant {
    /// The variant's name.
    pub name: Identifier,
    /// Its doc line.
    pub docs: String,
    /// The integer.
    pub value: i64,
}

/// One type of a mixed choice.
#[derive(Debug)]
pub struct MixedVariant {
    /// The variant's name; also that of the kind in `toolwright::codec::Kind`.
    pub name: Identifier,
    /// Its doc line.
    pub docs: String,
    /// The type.
    pub ty: TypeUse,
}

/// One type of a choice whose members overlap.
#[derive(Debug)]
pub struct OverlappingVariant {
    /// The variant's name.
    pub name: Identifier,
    /// Its doc line.
    pub docs: String,
    /// The type.
    pub ty: TypeUse,
    /// How much a value has to have for it: the more, the earlier it is tried.
    pub demands: usize,
}

/// One object of a union.
#[derive(Debug)]
pub struct UnionVariant {
    /// The variant's name.
    pub name: Identifier,
    /// Its doc line.
    pub docs: String,
    /// The tag's value.
    pub tag: String,
    /// The object.
    pub ty: TypeUse,
}

/// A type in use, with the limits of this use.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeUse {
    /// Any JSON value.
    Value,
    /// `null`
    Null,
    /// A boolean.
    Boolean,
    /// A string.
    String(StringLimits),
    /// A string of a checked format: the variant of `toolwright::format::Format`.
    Formatted(Identifier, StringLimits),
    /// A type of `toolwright::format`, or `std::net::Ipv4Addr`.
    Contract(&'static str, StringLimits),
    /// An integer that fits the type of this format by its limits.
    Integer(IntegerFormat, IntegerLimits),
    /// An integer of any size.
    BigInteger(IntegerLimits),
    /// A number.
    Number(NumberLimits),
    /// A number that keeps its digits.
    ExactNumber(NumberLimits),
    /// A list.
    List(Box<TypeUse>, ItemLimits),
    /// An array with types for its first places.
    Tuple(TupleUse),
    /// A map from strings.
    Map(Box<TypeUse>, PropertyLimits),
    /// A value of the type that it holds, or `null`.
    Nullable(Box<TypeUse>),
    /// A type of this crate, or one it offers again.
    Named(Identifier),
    /// A type of this crate that has one value.
    Constant(Identifier),
    /// A type of this crate behind a pointer, because it holds itself.
    Boxed(Identifier),
    /// A type of the user's by its name here, and what it is in JSON.
    Converted(Identifier, Box<TypeUse>),
    /// A type that cannot say all of its schema, and the static that holds the validator of the rest.
    Checked(Box<TypeUse>, Identifier),
}

impl Body {
    /// The variants of a choice that can be made of what they hold, with the types of that: none where two may hold a value of
    /// one type, as types of the user's may be the same.
    pub fn convertible_variants(&self) -> Vec<(&Identifier, &TypeUse)> {
        let variants: Vec<_> = match self {
            Self::Mixed(variants) => {
                variants.iter().map(|variant| (&variant.name, &variant.ty)).collect()
            }
            Self::Union { variants, .. } => {
                variants.iter().map(|variant| (&variant.name, &variant.ty)).collect()
            }
            _ => Vec::new(),
        };
        let of_user = |(_, ty): &&(_, &TypeUse)| matches!(ty, TypeUse::Converted(..));
        if variants.iter().filter(of_user).count() > 1 {
            return Vec::new();
        }
        variants.into_iter().filter(|(_, ty)| !matches!(ty, TypeUse::Null)).collect()
    }
}

impl TypeUse {
    /// Whether the schema accepts every value of the Rust type.
    pub fn is_any(&self) -> bool {
        match self {
            Self::Value | Self::Null | Self::Boolean => true,
            Self::String(limits) => *limits == StringLimits::default(),
            Self::Integer(_, limits) | Self::BigInteger(limits) => {
                *limits == IntegerLimits::default()
            }
            Self::ExactNumber(limits) => *limits == NumberLimits::default(),
            Self::List(item, limits) => *limits == ItemLimits::default() && item.is_any(),
            Self::Map(value, limits) => *limits == PropertyLimits::default() && value.is_any(),
            Self::Nullable(inner) => inner.is_any(),
            _ => false,
        }
    }

    /// Returns the type of the values that are not `null`, for a type that may be `null`.
    pub fn nullable(&self) -> Option<&Self> {
        match self {
            Self::Nullable(inner) => Some(inner),
            Self::Checked(inner, _) => inner.nullable(),
            _ => None,
        }
    }
}

/// An array with types for its first places.
#[derive(Clone, Debug, PartialEq)]
pub struct TupleUse {
    /// The types of the items that have to be there.
    pub required: Vec<TypeUse>,
    /// The types of the items that may follow them.
    pub optional: Vec<TypeUse>,
    /// The type of all items after those, if there may be more.
    pub rest: Option<Box<TypeUse>>,
    /// How many items there are, where that is not as many as there are places.
    pub count: ItemLimits,
}

impl TupleUse {
    /// The types in it.
    pub fn parts(&self) -> impl Iterator<Item = &TypeUse> {
        self.required.iter().chain(&self.optional).chain(self.rest.as_deref())
    }
}

/// Limits of a string.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StringLimits {
    /// The least count of code points.
    pub min: Option<u64>,
    /// The greatest count of code points.
    pub max: Option<u64>,
    /// Its pattern.
    pub pattern: Option<PatternUse>,
}

/// A pattern in use.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternUse {
    /// The static that holds it.
    pub name: Identifier,
    /// The pattern as the schema has it.
    pub ecma: String,
}

/// Limits of an integer that its type does not have by itself, both inclusive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntegerLimits {
    /// The least.
    pub min: Option<i128>,
    /// The greatest.
    pub max: Option<i128>,
}

/// Limits of a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NumberLimits {
    /// The lower one.
    pub lower: Option<NumberLimit>,
    /// The upper one.
    pub upper: Option<NumberLimit>,
}

/// One limit of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberLimit {
    /// The limit.
    pub value: f64,
    /// Whether it is itself outside.
    pub is_exclusive: bool,
}

/// Limits of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemLimits {
    /// The least count.
    pub min: Option<u64>,
    /// The greatest count.
    pub max: Option<u64>,
    /// Whether no two items may be equal.
    pub unique: bool,
}

/// Limits of an object's keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PropertyLimits {
    /// The least count.
    pub min: Option<u64>,
    /// The greatest count.
    pub max: Option<u64>,
    /// The limits of each key.
    pub names: StringLimits,
    /// Keys that need others.
    pub dependent: Vec<DependentKeys>,
}

/// A key, and those that have to be there with it.
#[derive(Clone, Debug, PartialEq)]
pub struct DependentKeys {
    /// The key.
    pub key: String,
    /// The keys that it needs.
    pub needed: Vec<String>,
}

/// A pattern, compiled once.
#[derive(Debug)]
pub struct PatternStatic {
    /// The static's name.
    pub name: Identifier,
    /// The pattern as the schema has it.
    pub ecma: String,
    /// Its translation.
    pub translated: Translated,
}

/// A validator, compiled once.
#[derive(Debug)]
pub struct ValidatorStatic {
    /// The static's name.
    pub name: Identifier,
    /// Its schema, in the crate's `schema` folder.
    pub schema: SchemaFile,
    /// The keywords of its root that the type does not say.
    pub rules: Vec<&'static str>,
    /// Whether a pattern in it needs the tables of Unicode.
    pub needs_tables: bool,
}

/// A schema that stands in a file of its own.
#[derive(Debug)]
pub struct SchemaFile {
    /// The file's name.
    pub name: String,
    /// The schema.
    pub text: String,
}
