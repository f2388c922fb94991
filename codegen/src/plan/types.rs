//! The plans of Rust types, for `types.rs` and `codecs.rs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::limits::{IntegerLimits, ItemLimits, NumberLimits, PropertyLimits, StringLimits};
use crate::naming::Identifier;
use crate::options::RustPath;
use toolwright::format::IntegerFormat;
use toolwright::pattern::Translated;

/// The types of one crate.
#[derive(Debug, Default)]
pub struct Types {
    /// Types of other crates that the types of this crate may use.
    pub imports: Vec<Import>,
    /// Set if the imports are exported again.
    pub reexports: bool,
    /// Set if some types are defined by the user.
    pub has_domain_types: bool,
    /// The types of this crate.
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
    /// Returns the module and the names as strings.
    pub fn source(&self) -> (&str, Vec<&str>) {
        (&self.module, self.names.iter().map(Identifier::as_str).collect())
    }
}

impl Types {
    /// Returns the crates of derive macros and domain types that the options name.
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

    /// Returns whether a pattern needs the Unicode tables of the feature `patterns`.
    pub fn needs_tables(&self) -> bool {
        self.patterns.iter().any(|pattern| pattern.translated.needs_tables)
            || self.validators.iter().any(|validator| validator.needs_tables)
    }
}

/// One type of the crate.
#[derive(Debug)]
pub struct Definition {
    /// Its name.
    pub name: Identifier,
    /// Its doc lines.
    pub docs: Vec<String>,
    /// The traits that it derives.
    pub derives: Derives,
    /// The macros that the options let it derive besides those.
    pub extra_derives: Vec<RustPath>,
    /// Its body.
    pub body: Body,
    /// The `default` in the schema of an enum or a newtype.
    pub default: Option<SchemaDefault>,
    /// The static that holds the validator for the assertions of the schema.
    pub validator: Option<Identifier>,
    /// Set if it is `#[non_exhaustive]`.
    pub is_non_exhaustive: bool,
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
    /// One of several JSON values of different kinds.
    Constants(Vec<EnumVariant>),
    /// One of several types, which differ in the kind of their JSON value.
    Mixed(Vec<MixedVariant>),
    /// One of several types that may hold the same value.
    Overlapping {
        /// The keyword that lists their schemas, `anyOf` or `oneOf`.
        keyword: &'static str,
        /// The types, in the order of the schemas.
        variants: Vec<OverlappingVariant>,
    },
    /// A single value, as JSON text.
    Constant(String),
    /// One of several objects, which differ in the value of the property `tag`.
    Union {
        /// The property.
        tag: String,
        /// The objects.
        variants: Vec<UnionVariant>,
    },
    /// A tuple struct around another type.
    Newtype(TypeUse),
    /// Another name for a type.
    Alias(TypeUse),
    /// The path of a domain type, which the user defines.
    Domain(RustPath),
}

/// An object.
#[derive(Debug)]
pub struct Struct {
    /// Its properties in the schema's order.
    pub members: Vec<Member>,
    /// The field for all other keys, if the schema allows any.
    pub additional: Option<AdditionalField>,
    /// The limits of its keys.
    pub limits: PropertyLimits,
    /// The constructor `new`, which takes the required fields, if there is one.
    pub constructor: Option<Constructor>,
    /// Set if it has a setter for each field that `new` does not take.
    pub has_setters: bool,
    /// About how many bytes of memory its defaults take beside the struct itself.
    pub bytes_of_defaults: usize,
}

impl Struct {
    /// Returns its fields.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.members.iter().filter_map(Member::field)
    }
}

/// The form of a constructor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constructor {
    /// As a function.
    Function,
    /// As a call of a macro, since lints refuse the function: it has many parameters, or has none and its type no `Default`.
    Macro,
}

/// One property of an object.
#[derive(Debug)]
pub enum Member {
    /// A field.
    Field(Field),
    /// A required property with a single possible value, which the codec reads and writes.
    Fixed {
        /// The property.
        key: String,
        /// Its value, as JSON text.
        json: String,
    },
}

impl Member {
    /// Returns the field, if it is one.
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
    /// The name of its setter.
    pub setter: Identifier,
    /// The field's doc lines.
    pub docs: Vec<String>,
    /// The type of its value.
    pub ty: TypeUse,
    /// Whether its key is required.
    pub presence: Presence,
}

/// Whether the key of a field is required.
#[derive(Debug, PartialEq)]
pub enum Presence {
    /// The key is required.
    Required,
    /// The key is optional, and the field is an `Option`.
    Optional,
    /// The key is optional, and the field has this default.
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

/// The value of a schema's `default`.
#[derive(Clone, Debug, PartialEq)]
pub enum DefaultValue {
    /// `null`
    Null,
    /// An empty list.
    EmptyList,
    /// An empty map.
    EmptyMap,
    /// A struct all of whose keys are absent.
    EmptyStruct(Identifier),
    /// An associated constant of the struct or newtype, with its name.
    Constant(Identifier, Constant),
}

/// A value that a Rust constant can hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `true` or `false`
    Boolean(bool),
    /// An integer of the type for this format.
    Integer(IntegerFormat, i128),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// The name of an enum and of its variant.
    Variant(Identifier, Identifier),
    /// An array of values of one type.
    List(Vec<Constant>),
}

impl Constant {
    /// Returns about how many bytes of memory it takes beside its place in a struct.
    pub fn bytes(&self) -> usize {
        const ALLOCATION: usize = 16;
        const PLACE: usize = 24;
        match self {
            Self::Text(text) if text.is_empty() => 0,
            Self::Text(text) => text.len() + ALLOCATION,
            Self::List(items) => {
                let bytes = |item: &Self| PLACE + item.bytes();
                ALLOCATION + items.iter().map(bytes).sum::<usize>()
            }
            _ => 0,
        }
    }
}

impl SchemaDefault {
    /// Returns the types that its expression names.
    pub fn types(&self) -> impl Iterator<Item = &Identifier> {
        let within = self.within.iter().filter_map(|wrapper| match wrapper {
            Wrapper::Newtype(name) => Some(name),
            Wrapper::Some => None,
        });
        let own = match &self.value {
            DefaultValue::EmptyStruct(name) => Some(name),
            DefaultValue::Constant(_, constant) => constant.enumeration(),
            _ => None,
        };
        within.chain(own)
    }

    /// Returns whether it is the `Default` of the field's type.
    pub fn is_derived(&self) -> bool {
        self.within.is_empty() && self.value.is_zero()
    }

    /// Returns whether it is what a newtype would derive whose schema has this default.
    pub fn is_derived_by_newtype(&self) -> bool {
        matches!(self.within[..], [Wrapper::Newtype(_)]) && self.value.is_zero()
    }
}

impl DefaultValue {
    /// Returns whether it is the `Default` of its type.
    fn is_zero(&self) -> bool {
        match self {
            Self::Constant(_, constant) => constant.is_zero(),
            _ => true,
        }
    }

    /// Returns the name of the variant, if the value is one of an enum.
    pub fn variant(&self) -> Option<&Identifier> {
        match self {
            Self::Constant(_, Constant::Variant(_, variant)) => Some(variant),
            _ => None,
        }
    }
}

impl Constant {
    /// Returns the enum of its variants, if it has any.
    fn enumeration(&self) -> Option<&Identifier> {
        match self {
            Self::Variant(name, _) => Some(name),
            Self::List(items) => items.first()?.enumeration(),
            _ => None,
        }
    }

    /// Returns whether it is the `Default` of its type.
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

/// The field for additional properties.
#[derive(Debug)]
pub struct AdditionalField {
    /// The field's name.
    pub name: Identifier,
    /// The name of its setter.
    pub setter: Identifier,
    /// The type of each value.
    pub ty: TypeUse,
}

/// One value of an enum of strings or of JSON values.
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
    /// The variant's name, which is also that of its kind in `toolwright::codec::Kind`.
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
    /// The number of its required properties: variants with more are tried first.
    pub required_properties: usize,
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

/// A type where a schema uses it, with the limits that apply there.
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
    /// A string of a checked format, given as the variant of `toolwright::format::Format`.
    Formatted(Identifier, StringLimits),
    /// A type of `toolwright::format`, or `std::net::Ipv4Addr`.
    Contract(&'static str, StringLimits),
    /// An integer that its limits or its format make fit this type.
    Integer(IntegerFormat, IntegerLimits),
    /// An integer of any size.
    BigInteger(IntegerLimits),
    /// A number.
    Number(NumberLimits),
    /// A number that keeps all its digits.
    ExactNumber(NumberLimits),
    /// A list.
    List(Box<TypeUse>, ItemLimits),
    /// An array with a type for each of its first items.
    Tuple(TupleUse),
    /// A map from strings.
    Map(Box<TypeUse>, PropertyLimits),
    /// A value of the inner type, or `null`.
    Nullable(Box<TypeUse>),
    /// A type of this crate, or one that it imports.
    Named(Identifier),
    /// A type of this crate with a single value.
    Constant(Identifier),
    /// A type of this crate in a `Box`, because it contains itself or would make a type large.
    Boxed(Identifier),
    /// A domain type under its name in this crate, and the type of its JSON form.
    Converted(Identifier, Box<TypeUse>),
    /// A type whose schema has assertions, and the static that holds their validator.
    Checked(Box<TypeUse>, Identifier),
}

impl Body {
    /// Returns whether a later version of the schema may add a field or a variant.
    pub fn may_grow(&self) -> bool {
        match self {
            Self::Struct(_)
            | Self::Enum(_)
            | Self::IntegerEnum(_)
            | Self::Constants(_)
            | Self::Mixed(_)
            | Self::Overlapping { .. }
            | Self::Union { .. } => true,
            Self::Constant(_) | Self::Newtype(_) | Self::Alias(_) | Self::Domain(_) => false,
        }
    }

    /// Returns the variants that get a `From` implementation for the type that they hold. With two domain types there are
    /// none, since both may be the same Rust type.
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
    /// Returns whether the schema accepts every value of the Rust type.
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

/// An array with a type for each of its first items.
#[derive(Clone, Debug, PartialEq)]
pub struct TupleUse {
    /// The types of the required items.
    pub required: Vec<TypeUse>,
    /// The types of the optional items after them.
    pub optional: Vec<TypeUse>,
    /// The type of all items after those, if the schema allows any.
    pub rest: Option<Box<TypeUse>>,
    /// The limits of the number of items.
    pub count: ItemLimits,
}

impl TupleUse {
    /// Returns the types of all items.
    pub fn parts(&self) -> impl Iterator<Item = &TypeUse> {
        self.required.iter().chain(&self.optional).chain(self.rest.as_deref())
    }
}

/// A static that holds a pattern.
#[derive(Debug)]
pub struct PatternStatic {
    /// The static's name.
    pub name: Identifier,
    /// The pattern as the schema has it.
    pub ecma: String,
    /// Its translation.
    pub translated: Arc<Translated>,
}

/// A static that holds a validator.
#[derive(Debug)]
pub struct ValidatorStatic {
    /// The static's name.
    pub name: Identifier,
    /// Its schema, in the crate's `schema` folder.
    pub schema: SchemaFile,
    /// The keywords at its root that the type does not express.
    pub rules: Vec<&'static str>,
    /// Set if a pattern in it needs the Unicode tables of the feature `patterns`.
    pub needs_tables: bool,
}

/// A file of the crate with a schema, or with the vectors of a tool.
#[derive(Debug)]
pub struct SchemaFile {
    /// The file's name.
    pub name: String,
    /// Its text.
    pub text: String,
}
