//! Macros that implement the codec of a type from a description, which reading and writing share.
//!
//! A *type* in these descriptions is the name of a Rust type that has a codec, or one of:
//!
//! | description | Rust |
//! |---|---|
//! | `value()`, `null()`, `boolean()` | [`Value`](crate::Value), `()`, `bool` |
//! | `string(length)` | `String` |
//! | `formatted(format, length)` | `String` of a [`Format`](crate::format::Format) |
//! | `formatted_as(length)`, `formatted_as(length, type)` | a type of [`format`](crate::format): the one that Rust infers, or the given one |
//! | `integer(range)` | `i64`, or any other [`StandardInteger`](crate::codec::StandardInteger) |
//! | `big_integer(range)` | [`Integer`](crate::Integer) |
//! | `number(range)`, `exact_number(range)` | `f64`, [`Number`](crate::value::Number) |
//! | `list(items, type)` | `Vec<type>` |
//! | `tuple(a: type, b: type)` | `(type, type)` |
//! | `open_tuple(items, [a: type], [b: type], rest: type)` | `(type, Option<type>, Vec<type>)`: required items, optional items, and the items that follow, if any are allowed |
//! | `map(properties, type)` | [`Map<type>`](crate::Map) |
//! | `nullable(type)` | `Option<type>`, where `None` is `null` |
//! | `or_null(type)` | [`Nullable<type>`](crate::Nullable) |
//! | `boxed(Name)` | `Box<Name>` |
//! | `converted(type)` | a [`DomainType`](crate::codec::DomainType) whose `Json` is the type |
//! | `checked(validator, type)` | the type, with rules that only a [`Validator`](crate::codec::Validator) can check |
//!
//! The macros expand to the calls that one would write by hand, without further traits, so that generated code compiles
//! fast.

/// Implements the codec of a struct from the keys of the object, their fields, and the types of the fields.
///
/// A key is `required` or `optional`, or has a `default(expression)`. The field of an optional key is an `Option`. The
/// field of a key with a default holds the default if the key is absent, and is always written. Keys with one constant
/// value have no field and come first, with their JSON text: `"kind" => constant("\"circle\""),`. A field for all other
/// keys comes last: `_ => rest: type`; without it, other keys are refused. A key that needs an escape in JSON is
/// `required_escaped`, `optional_escaped` or `default_escaped`. After the name may come limits of the keys, as in
/// `Note within(Properties::ANY.at_least(1))`, and the bytes that large defaults take, as in `Note filling(4096)`.
///
/// ```
/// use toolwright::codec::{Items, Length, from_json, to_json};
///
/// struct Note {
///     title: String,
///     tags: Option<Vec<String>>,
///     pinned: bool,
/// }
///
/// toolwright::object!(Note {
///     required "title" => title: string(Length::ANY.at_most(80)),
///     optional "tags" => tags: list(Items::ANY, string(Length::ANY)),
///     default(false) "pinned" => pinned: boolean(),
/// });
///
/// let note: Note = from_json(br#"{"title": "Milk"}"#)?;
/// assert_eq!(note.title, "Milk");
/// assert_eq!(to_json(&note)?, r#"{"title":"Milk","pinned":false}"#);
/// # Ok::<_, toolwright::InvalidPayload>(())
/// ```
#[macro_export]
macro_rules! object {
    ($name:ident $(checked($validator:expr $(,)?))? $(within($properties:expr $(,)?))?
        $(filling($bytes:expr $(,)?))? {
        $($fixed:literal => constant($json:literal $(,)?)),* $(,)?
        $($($presence:ident $(($default:expr $(,)?))? $key:literal => $field:ident: $type:ident $(($($part:tt)*))?),+ $(,)?)?
        $(_ => $rest:ident: $rest_type:ident $(($($rest_part:tt)*))? $(,)?)?
    }) => {
        $crate::__codec! {
            $name [$($validator)?]
            |input| {
                $($(let mut $field = None;)+)?
                $(let mut $rest = $crate::Map::new();)?
                let mut fits = true;
                let mut object = input.object()?;
                while let Some(key) = object.next_key(input) {
                    match key {
                        $($fixed => fits &= input.constant($json).is_some(),)*
                        $($($key => {
                            $field = $crate::__decode!($type $(($($part)*))? => input);
                        })+)?
                        _ => $crate::__other_key!(
                            object, input, &[$($fixed,)* $($($key),+)?]
                            $(, $rest, $rest_type $(($($rest_part)*))?)?
                        ),
                    }
                }
                $(fits &= object.has_required(input, $fixed);)*
                $($($crate::__read_member!($presence object input $key $field);)+)?
                $(fits &= object.has_within(input, $properties);)?
                if !fits {
                    return None;
                }
                $(input.fills($bytes);)?
                Some(Self { $($($field: $crate::__member!($presence $field $(, $default)?),)+)? $($rest)? })
            }
            |this, out| {
                $crate::__keys_within!(
                    [$($properties)?] out
                    [$(Some($fixed),)* $($($crate::__key_of!($presence $key (this.$field)),)+)?]
                    [$(this.$rest.keys())?]
                );
                let Some(mut object) = out.object() else { return };
                $(object.key($fixed).constant($json);)*
                $($($crate::__write_member!($presence object $key (this.$field) $type $(($($part)*))?);)+)?
                $crate::__write_rest!(
                    object, &[$($fixed,)* $($($key),+)?]
                    $(, (this.$rest), $rest_type $(($($rest_part)*))?)?
                );
                object.end();
            }
        }
    };
}

/// Implements the constructor of a struct: `constructor!(Point(x: i64, y: i64) Self { x, y })`. Lints of the user do not see it, so
/// it may have many parameters, or none although the struct has no `Default`.
#[macro_export]
macro_rules! constructor {
    ($name:ident($($field:ident: $type:ty),* $(,)?) $value:expr $(,)?) => {
        impl $name {
            /// Creates a value with the required fields; the others are absent or have their defaults.
            pub fn new($($field: $type),*) -> Self {
                $value
            }
        }
    };
}

/// Implements the codec of an enum of objects whose variant is given by a string under one key:
/// `tagged!(Shape by "kind" { "circle" => Circle: Circle, "square" => Square: Square })`.
#[macro_export]
macro_rules! tagged {
    ($name:ident $(checked($validator:expr $(,)?))? by $tag:literal {
        $($value:literal => $variant:ident: $type:ident $(($($part:tt)*))?),+ $(,)?
    }) => {
        $crate::__codec! {
            $name [$($validator)?]
            |input| {
                match input.tag($tag, &[$($value),+])? {
                    $($value => $crate::__decode!($type $(($($part)*))? => input).map(Self::$variant),)+
                    _ => None,
                }
            }
            |this, out| {
                match this {
                    $(Self::$variant(value) => $crate::__encode!($type $(($($part)*))? => out, value),)+
                }
            }
        }
    };
}

/// Implements the codec of an enum whose variants are of different kinds in JSON and have the names of these kinds:
/// `mixed!(Id { String: string(length), Integer: integer(range) })`.
#[macro_export]
macro_rules! mixed {
    ($name:ident $(checked($validator:expr $(,)?))? {
        $($variant:ident: $type:ident $(($($part:tt)*))?),+ $(,)?
    }) => {
        $crate::__codec! {
            $name [$($validator)?]
            |input| {
                match input.kind(&[$($crate::codec::Kind::$variant),+])? {
                    $($crate::codec::Kind::$variant => {
                        $crate::__decode!($type $(($($part)*))? => input).map(Self::$variant)
                    })+
                    _ => None,
                }
            }
            |this, out| {
                match this {
                    $(Self::$variant(value) => $crate::__encode!($type $(($($part)*))? => out, value),)+
                }
            }
        }
    };
}

/// Implements the codec of an enum for `anyOf` or `oneOf`, whose schemas may accept the same values; a validator checks
/// the keyword. Variants are tried in this order; each has the index of its schema in the keyword.
#[macro_export]
macro_rules! overlapping {
    ($name:ident checked($validator:expr $(,)?) by $keyword:literal {
        $($index:literal => $variant:ident: $type:ident $(($($part:tt)*))?),+ $(,)?
    }) => {
        $crate::__codec! {
            $name [$validator]
            |input| {
                input.first_of(&$validator, $keyword, &[$(($index, |input| {
                    $crate::__decode!($type $(($($part)*))? => input).map(Self::$variant)
                })),+])
            }
            |this, out| {
                match this {
                    $(Self::$variant(value) => $crate::__encode!($type $(($($part)*))? => out, value),)+
                }
            }
        }
    };
}

/// Implements `Decode`, `Encode` and the bridge to serde, with a check by the validator if there is one.
#[doc(hidden)]
#[macro_export]
macro_rules! __codec {
    ($name:ident [] |$input:ident| $decode:block |$this:ident, $out:ident| $encode:block) => {
        impl $crate::codec::Decode for $name {
            fn decode($input: &mut $crate::codec::Reader<'_>) -> Option<Self> $decode
        }

        impl $crate::codec::Encode for $name {
            fn encode(&self, $out: &mut $crate::codec::Writer) {
                let $this = self;
                $encode
            }
        }

        $crate::serde_bridge!($name);
    };
    ($name:ident [$validator:expr] |$input:ident| $decode:block |$this:ident, $out:ident| $encode:block) => {
        impl $crate::codec::Decode for $name {
            fn decode($input: &mut $crate::codec::Reader<'_>) -> Option<Self> {
                $input.checked(&$validator, |$input| $decode)
            }
        }

        impl $crate::codec::Encode for $name {
            fn encode(&self, $out: &mut $crate::codec::Writer) {
                let $this = self;
                $out.checked(&$validator, |$out| $encode);
            }
        }

        $crate::serde_bridge!($name);
    };
}

/// Reads a value of a described type. The description comes first, so that a rule that does not match is left at its first
/// token.
#[doc(hidden)]
#[macro_export]
macro_rules! __decode {
    (list($items:expr, string($length:expr $(,)?) $(,)?) => $input:expr) => {
        $input.strings($items, $length)
    };
    (list($items:expr, $name:ident $(,)?) => $input:expr) => {
        $input.array($items, <$name as $crate::codec::Decode>::decode)
    };
    (list($items:expr, $type:ident $(($($part:tt)*))? $(,)?) => $input:expr) => {
        $input.array($items, |input| $crate::__decode!($type $(($($part)*))? => input))
    };
    (map($limits:expr, $type:ident $(($($part:tt)*))? $(,)?) => $input:expr) => {
        $input.map($limits, |input| $crate::__decode!($type $(($($part)*))? => input))
    };
    (nullable(string($length:expr $(,)?) $(,)?) => $input:expr) => {
        $input.nullable_string($length)
    };
    (nullable($name:ident $(,)?) => $input:expr) => {
        $input.nullable(<$name as $crate::codec::Decode>::decode)
    };
    (nullable($type:ident $(($($part:tt)*))? $(,)?) => $input:expr) => {
        $input.nullable(|input| $crate::__decode!($type $(($($part)*))? => input))
    };
    (or_null($type:ident $(($($part:tt)*))? $(,)?) => $input:expr) => {
        $crate::__decode!(nullable($type $(($($part)*))?) => $input).map($crate::Nullable::from)
    };
    (boxed($name:ident $(,)?) => $input:expr) => {
        $input.boxed::<$name>()
    };
    (formatted_as($limits:expr, $of:ty $(,)?) => $input:expr) => {
        $input.formatted_as::<$of>($limits)
    };
    (checked($validator:expr, $type:ident $(($($part:tt)*))? $(,)?) => $input:expr) => {
        $input.checked(&$validator, |input| $crate::__decode!($type $(($($part)*))? => input))
    };
    (converted($type:ident $(($($part:tt)*))? $(,)?) => $input:expr) => {
        $input.converted(|input| $crate::__decode!($type $(($($part)*))? => input))
    };
    (tuple($($item:ident: $type:ident $(($($part:tt)*))?),+ $(,)?) => $input:expr) => {
        $input.tuple([$(stringify!($item)),+].len() as u64, |items| {
            $(let $item = items.item(|input| $crate::__decode!($type $(($($part)*))? => input));)+
            Some(($($item?,)+))
        })
    };
    (open_tuple($items:expr,
        [$($item:ident: $type:ident $(($($part:tt)*))?),* $(,)?],
        [$($optional:ident: $optional_type:ident $(($($optional_part:tt)*))?),* $(,)?]
        $(, $rest:ident: $rest_type:ident $(($($rest_part:tt)*))?)? $(,)?
    ) => $input:expr) => {
        $input.open_tuple($items, |items| {
            $(let $item = items.item(|input| $crate::__decode!($type $(($($part)*))? => input));)*
            $(let $optional =
                items.optional_item(|input| $crate::__decode!($optional_type $(($($optional_part)*))? => input));)*
            $(let $rest = items.rest(|input| $crate::__decode!($rest_type $(($($rest_part)*))? => input));)?
            Some(($($item?,)* $($optional?,)* $($rest?,)?))
        })
    };
    ($method:ident($($argument:expr),* $(,)?) => $input:expr) => {
        $input.$method($($argument),*)
    };
    ($name:ident => $input:expr) => {
        <$name as $crate::codec::Decode>::decode($input)
    };
}

/// Writes a value of a described type, given as a reference.
#[doc(hidden)]
#[macro_export]
macro_rules! __encode {
    (list($items:expr, string($length:expr $(,)?) $(,)?) => $out:expr, $value:expr) => {
        $out.strings($value, $items, $length)
    };
    (list($items:expr, $name:ident $(,)?) => $out:expr, $value:expr) => {
        $out.array($value, $items, $crate::codec::encode)
    };
    (list($items:expr, $type:ident $(($($part:tt)*))? $(,)?) => $out:expr, $value:expr) => {
        $out.array($value, $items, |out, value| $crate::__encode!($type $(($($part)*))? => out, value))
    };
    (map($limits:expr, $type:ident $(($($part:tt)*))? $(,)?) => $out:expr, $value:expr) => {
        $out.map($value, $limits, |out, value| $crate::__encode!($type $(($($part)*))? => out, value))
    };
    (nullable($($type:tt)+) => $out:expr, $value:expr) => {
        $crate::__encode_nullable!($($type)+ => $out, $value.as_ref())
    };
    (or_null($($type:tt)+) => $out:expr, $value:expr) => {
        $crate::__encode_nullable!($($type)+ => $out, $value.as_option())
    };
    (checked($validator:expr, $type:ident $(($($part:tt)*))? $(,)?) => $out:expr, $value:expr) => {
        $out.checked(&$validator, |out| $crate::__encode!($type $(($($part)*))? => out, $value))
    };
    (converted($type:ident $(($($part:tt)*))? $(,)?) => $out:expr, $value:expr) => {
        $out.converted($value, |out, value| $crate::__encode!($type $(($($part)*))? => out, value))
    };
    (tuple($($item:ident: $type:ident $(($($part:tt)*))?),+ $(,)?) => $out:expr, $value:expr) => {
        $out.tuple(|items| {
            let ($($item,)+) = $value;
            $(items.item($item, |out, value| $crate::__encode!($type $(($($part)*))? => out, value));)+
        })
    };
    (open_tuple($items:expr,
        [$($item:ident: $type:ident $(($($part:tt)*))?),* $(,)?],
        [$($optional:ident: $optional_type:ident $(($($optional_part:tt)*))?),* $(,)?]
        $(, $rest:ident: $rest_type:ident $(($($rest_part:tt)*))?)? $(,)?
    ) => $out:expr, $value:expr) => {
        $out.open_tuple($items, |items| {
            let ($($item,)* $($optional,)* $($rest,)?) = $value;
            $(items.item($item, |out, value| $crate::__encode!($type $(($($part)*))? => out, value));)*
            $(items.optional_item($optional, |out, value| {
                $crate::__encode!($optional_type $(($($optional_part)*))? => out, value)
            });)*
            $(items.rest($rest, |out, value| $crate::__encode!($rest_type $(($($rest_part)*))? => out, value));)?
        })
    };
    (null() => $out:expr, $value:expr) => {{
        let () = $value;
        $out.null()
    }};
    (boolean() => $out:expr, $value:expr) => {
        $out.boolean(*$value)
    };
    (integer($range:expr $(,)?) => $out:expr, $value:expr) => {
        $out.integer(*$value, $range)
    };
    (number($range:expr $(,)?) => $out:expr, $value:expr) => {
        $out.number(*$value, $range)
    };
    (boxed($name:ident $(,)?) => $out:expr, $value:expr) => {
        $crate::codec::Encode::encode($value, $out)
    };
    (formatted_as($limits:expr, $of:ty $(,)?) => $out:expr, $value:expr) => {
        $out.formatted_as::<$of>($value, $limits)
    };
    ($method:ident($($argument:expr),* $(,)?) => $out:expr, $value:expr) => {
        $out.$method($value $(, $argument)*)
    };
    ($name:ident => $out:expr, $value:expr) => {
        $crate::codec::Encode::encode($value, $out)
    };
}

/// Writes `null` or a value of a described type, given as an optional reference.
#[doc(hidden)]
#[macro_export]
macro_rules! __encode_nullable {
    (string($length:expr $(,)?) $(,)? => $out:expr, $value:expr) => {
        $out.nullable_string($value, $length)
    };
    ($name:ident $(,)? => $out:expr, $value:expr) => {
        $out.nullable($value, $crate::codec::encode)
    };
    ($type:ident($($part:tt)*) $(,)? => $out:expr, $value:expr) => {
        $out.nullable($value, |out, value| $crate::__encode!($type($($part)*) => out, value))
    };
}

/// Handles a key without a field of its own.
#[doc(hidden)]
#[macro_export]
macro_rules! __other_key {
    ($object:ident, $input:ident, $known:expr) => {
        $object.unknown_key($input, $known)
    };
    ($object:ident, $input:ident, $known:expr, $rest:ident, $($type:tt)+) => {
        $object.additional($input, &mut $rest, |input| $crate::__decode!($($type)+ => input))
    };
}

/// Checks the keys of an object before it is written.
#[doc(hidden)]
#[macro_export]
macro_rules! __keys_within {
    ([] $($ignored:tt)*) => {};
    ([$limits:expr] $out:ident [$($key:expr,)*] [$($rest:expr)?]) => {
        let keys: &[Option<&str>] = &[$($key),*];
        $out.keys($limits, keys.iter().copied().flatten()$(.chain($rest))?);
    };
}

/// Returns the key of a field, if the field is written.
#[doc(hidden)]
#[macro_export]
macro_rules! __key_of {
    (optional $key:literal $value:tt) => {
        $value.is_some().then_some($key)
    };
    (optional_escaped $key:literal $value:tt) => {
        $value.is_some().then_some($key)
    };
    ($presence:ident $key:literal $value:tt) => {
        Some($key)
    };
}

/// Writes the entries without a field of their own.
#[doc(hidden)]
#[macro_export]
macro_rules! __write_rest {
    ($object:ident, $known:expr) => {};
    ($object:ident, $known:expr, $rest:tt, $($type:tt)+) => {
        $object.additional(&$rest, $known, |out, value| $crate::__encode!($($type)+ => out, value))
    };
}

/// Checks, after the object is read, that a required key was there.
#[doc(hidden)]
#[macro_export]
macro_rules! __read_member {
    (required $object:ident $input:ident $key:literal $field:ident) => {
        if let None = $field {
            $object.has_required($input, $key);
        }
    };
    (required_escaped $object:ident $input:ident $key:literal $field:ident) => {
        $crate::__read_member!(required $object $input $key $field)
    };
    ($presence:ident $object:ident $input:ident $key:literal $field:ident) => {};
}

/// Returns the value of a field.
#[doc(hidden)]
#[macro_export]
macro_rules! __member {
    (required $field:ident) => {
        match $field {
            Some(value) => value,
            None => return None,
        }
    };
    (required_escaped $field:ident) => {
        $crate::__member!(required $field)
    };
    ($presence:ident $field:ident, $default:expr) => {
        match $field {
            Some(value) => value,
            None => $default,
        }
    };
    ($presence:ident $field:ident) => {
        $field
    };
}

/// Writes the key and value of a field; nothing for an absent optional field.
#[doc(hidden)]
#[macro_export]
macro_rules! __write_member {
    (optional $object:ident $key:literal $value:tt $($type:tt)+) => {
        if let Some(value) = &$value {
            $crate::__encode!($($type)+ => $object.plain_key(concat!(",\"", $key, "\":")), value);
        }
    };
    (optional_escaped $object:ident $key:literal $value:tt $($type:tt)+) => {
        if let Some(value) = &$value {
            $crate::__encode!($($type)+ => $object.key($key), value);
        }
    };
    (required_escaped $object:ident $key:literal $value:tt $($type:tt)+) => {
        $crate::__encode!($($type)+ => $object.key($key), &$value)
    };
    (default_escaped $object:ident $key:literal $value:tt $($type:tt)+) => {
        $crate::__encode!($($type)+ => $object.key($key), &$value)
    };
    ($presence:ident $object:ident $key:literal $value:tt $($type:tt)+) => {
        $crate::__encode!($($type)+ => $object.plain_key(concat!(",\"", $key, "\":")), &$value)
    };
}
