//! Macros that implement the codecs of enums without fields and of constants.

/// Implements the codec of an enum without fields whose variants are strings in JSON, and `ALL`, `as_str`, `Display`,
/// `FromStr` and `TryFrom<&str>`.
#[macro_export]
macro_rules! string_enum {
    ($name:ident $(checked($validator:expr $(,)?))? { $($variant:ident = $text:literal),+ $(,)? }) => {
        impl $name {
            /// All values, in the order of the schema.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The string in JSON.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        $crate::__codec! {
            $name [$($validator)?]
            |input| { input.variant(&[$($text),+], Self::ALL) }
            |this, out| { out.string(this.as_str(), $crate::codec::Length::ANY) }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        $crate::__from_text!($name |text| $crate::codec::variant_of(text, &[$($text),+], Self::ALL));
    };
}

/// Implements the codec of an enum without fields whose variants are integers in JSON, and `ALL`, `as_i64`, `Display`,
/// `FromStr`, `TryFrom<&str>` and `TryFrom<i64>`.
#[macro_export]
macro_rules! integer_enum {
    ($name:ident $(checked($validator:expr $(,)?))? { $($variant:ident = $integer:literal),+ $(,)? }) => {
        impl $name {
            /// All values, in the order of the schema.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The integer in JSON.
            pub const fn as_i64(self) -> i64 {
                match self {
                    $(Self::$variant => $integer,)+
                }
            }
        }

        $crate::__codec! {
            $name [$($validator)?]
            |input| { input.integer_variant(&[$(($integer, Self::$variant)),+]) }
            |this, out| { out.integer(this.as_i64(), $crate::codec::Range::<i64>::ANY) }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(&self.as_i64(), f)
            }
        }

        $crate::__from_text!($name |text| $crate::codec::from_json(text.as_bytes()));

        impl ::core::convert::TryFrom<i64> for $name {
            type Error = $crate::InvalidPayload;

            fn try_from(integer: i64) -> ::core::result::Result<Self, $crate::InvalidPayload> {
                $crate::codec::from_json(integer.to_string().as_bytes())
            }
        }
    };
}

/// Implements the codec of an enum without fields whose variants are strings, numbers and booleans in JSON, given as
/// JSON texts, and `ALL`, `as_json`, `Display`, `FromStr` and `TryFrom<&str>`. Strings are displayed without quotes. A
/// text is parsed as a string without quotes, or else as a JSON number or boolean.
/// `constants!(Order from(i64, bool) { … })` also implements `TryFrom` these types.
#[macro_export]
macro_rules! constants {
    ($name:ident $(checked($validator:expr $(,)?))? $(from($($kind:ident),+ $(,)?))? {
        $($variant:ident = $json:literal),+ $(,)?
    }) => {
        impl $name {
            /// All values, in the order of the schema.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The value as JSON text.
            pub const fn as_json(self) -> &'static str {
                match self {
                    $(Self::$variant => $json,)+
                }
            }
        }

        $crate::__codec! {
            $name [$($validator)?]
            |input| { input.one_of(&[$($json),+], Self::ALL) }
            |this, out| { out.constant(this.as_json()) }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(&$crate::codec::constant_text(self.as_json()))
            }
        }

        $crate::__from_text!($name |text| $crate::codec::from_text_or_json(text));

        $($(
            impl ::core::convert::TryFrom<$kind> for $name {
                type Error = $crate::InvalidPayload;

                fn try_from(value: $kind) -> ::core::result::Result<Self, $crate::InvalidPayload> {
                    $crate::codec::from_json(value.to_string().as_bytes())
                }
            }
        )+)?
    };
}

/// Implements `FromStr` and `TryFrom<&str>`.
#[doc(hidden)]
#[macro_export]
macro_rules! __from_text {
    ($name:ident |$text:ident| $value:expr) => {
        impl ::core::str::FromStr for $name {
            type Err = $crate::InvalidPayload;

            fn from_str($text: &str) -> ::core::result::Result<Self, $crate::InvalidPayload> {
                $value
            }
        }

        impl ::core::convert::TryFrom<&str> for $name {
            type Error = $crate::InvalidPayload;

            fn try_from(text: &str) -> ::core::result::Result<Self, $crate::InvalidPayload> {
                <Self as ::core::str::FromStr>::from_str(text)
            }
        }
    };
}

/// Implements the codec of a unit struct for one JSON text: `constant!(Always = "true")`.
#[macro_export]
macro_rules! constant {
    ($name:ident $(checked($validator:expr $(,)?))? = $json:literal) => {
        $crate::__codec! {
            $name [$($validator)?]
            |input| { input.constant($json).map(|()| Self) }
            |_this, out| { out.constant($json) }
        }
    };
}
