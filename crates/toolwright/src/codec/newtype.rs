//! The macro for tuple structs with one field.

/// Implements the codec of a tuple struct with one field, and `Deref` and `TryFrom` for the type of the field. If the
/// field is a string, number or boolean, it also implements `Display`, `FromStr` and, for strings, `TryFrom<&str>`.
/// `LIMITS` are the limits of the field. With `any`, for a struct that accepts every value of its field, it implements
/// `From` instead of `TryFrom`, and has no `LIMITS`.
///
/// ```
/// use toolwright::codec::Length;
///
/// struct Title(String);
/// toolwright::newtype!(Title: String = string(Length::ANY.at_most(5)));
///
/// let title: Title = "Milk".parse()?;
/// assert_eq!((title.len(), title.to_string()), (4, "Milk".to_owned()));
/// assert!(Title::try_from("Milk and honey").is_err());
/// assert_eq!(Title::LIMITS.maximum(), Some(5));
///
/// struct Note(String);
/// toolwright::newtype!(any Note: String = string(Length::ANY));
/// assert_eq!(Note::from("Milk").0, "Milk");
/// # Ok::<_, toolwright::InvalidPayload>(())
/// ```
#[macro_export]
macro_rules! newtype {
    (any $name:ident: $inner:ty = $type:ident $(($($part:tt)*))? $(,)?) => {
        $crate::__newtype!($name: $inner = $type $(($($part)*))?);

        impl ::core::convert::From<$inner> for $name {
            fn from(value: $inner) -> Self {
                Self(value)
            }
        }

        $crate::__newtype_of!(any $type $name);
    };
    ($name:ident: $inner:ty = $type:ident $(($($part:tt)*))? $(,)?) => {
        $crate::__newtype!($name: $inner = $type $(($($part)*))?);

        impl ::core::convert::TryFrom<$inner> for $name {
            type Error = $crate::InvalidPayload;

            fn try_from(value: $inner) -> ::core::result::Result<Self, $crate::InvalidPayload> {
                let value = Self(value);
                $crate::codec::to_json(&value)?;
                Ok(value)
            }
        }

        $crate::__newtype_of!($type $(($($part)*))? $name);
        $crate::__limits_of!($name $inner, $type $(($($part)*))?);
    };
}

/// Declares the limits of a newtype's field, by its type.
#[doc(hidden)]
#[macro_export]
macro_rules! __limits_of {
    ($name:ident $inner:ty, checked($rules:expr, $type:ident $(($($part:tt)*))? $(,)?)) => {
        $crate::__limits_of!($name $inner, $type $(($($part)*))?);
    };
    ($name:ident $inner:ty, string($limits:expr)) => {
        $crate::__limits_of!($name, $crate::codec::Length, $limits);
    };
    ($name:ident $inner:ty, formatted($format:expr, $limits:expr)) => {
        $crate::__limits_of!($name, $crate::codec::Length, $limits);
    };
    ($name:ident $inner:ty, formatted_as($limits:expr)) => {
        $crate::__limits_of!($name, $crate::codec::Length, $limits);
    };
    ($name:ident $inner:ty, integer($limits:expr)) => {
        $crate::__limits_of!($name, $crate::codec::Range<$inner>, $limits);
    };
    ($name:ident $inner:ty, big_integer($limits:expr)) => {
        $crate::__limits_of!($name, $crate::codec::Range<i128>, $limits);
    };
    ($name:ident $inner:ty, number($limits:expr)) => {
        $crate::__limits_of!($name, $crate::codec::Range<f64>, $limits);
    };
    ($name:ident $inner:ty, exact_number($limits:expr)) => {
        $crate::__limits_of!($name, $crate::codec::Range<f64>, $limits);
    };
    ($name:ident $inner:ty, list($limits:expr, $($item:tt)*)) => {
        $crate::__limits_of!($name, $crate::codec::Items, $limits);
    };
    ($name:ident $inner:ty, map($limits:expr, $($value:tt)*)) => {
        $crate::__limits_of!($name, $crate::codec::Properties, $limits);
    };
    ($name:ident, $type:ty, $limits:expr) => {
        impl $name {
            /// The limits of the field.
            pub const LIMITS: $type = $limits;
        }
    };
    ($($other:tt)*) => {};
}

/// Implements the codec and `Deref` of a newtype.
#[doc(hidden)]
#[macro_export]
macro_rules! __newtype {
    ($name:ident: $inner:ty = $type:ident $(($($part:tt)*))?) => {
        $crate::__codec! {
            $name []
            |input| { $crate::__decode!($type $(($($part)*))? => input).map(Self) }
            |this, out| { $crate::__encode!($type $(($($part)*))? => out, &this.0) }
        }

        impl ::core::ops::Deref for $name {
            type Target = $inner;

            fn deref(&self) -> &$inner {
                &self.0
            }
        }
    };
}

/// Implements further conversions of a newtype, by the type of its field.
#[doc(hidden)]
#[macro_export]
macro_rules! __newtype_of {
    (checked($rules:expr, $type:ident $(($($part:tt)*))? $(,)?) $name:ident) => {
        $crate::__newtype_of!($type $name);
    };
    ($type:ident($($part:tt)*) $name:ident) => {
        $crate::__newtype_of!($type $name);
    };
    (any string $name:ident) => {
        impl ::core::convert::From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        $crate::__newtype_of!(text $name);
    };
    (any $type:ident $name:ident) => {
        $crate::__newtype_of!($type $name);
    };
    (string $name:ident) => {
        impl ::core::convert::TryFrom<&str> for $name {
            type Error = $crate::InvalidPayload;

            fn try_from(text: &str) -> ::core::result::Result<Self, $crate::InvalidPayload> {
                $crate::codec::from_text(text)
            }
        }

        $crate::__newtype_of!(text $name);
    };
    (formatted $name:ident) => {
        $crate::__newtype_of!(string $name);
    };
    (formatted_as $name:ident) => {
        $crate::__newtype_of!(string $name);
    };
    (integer $name:ident) => {
        $crate::__newtype_of!(json $name);
    };
    (big_integer $name:ident) => {
        $crate::__newtype_of!(json $name);
    };
    (number $name:ident) => {
        $crate::__newtype_of!(json $name);
    };
    (exact_number $name:ident) => {
        $crate::__newtype_of!(json $name);
    };
    (boolean $name:ident) => {
        $crate::__newtype_of!(json $name);
    };
    (text $name:ident) => {
        $crate::__newtype_of!(shown $name);

        impl ::core::str::FromStr for $name {
            type Err = $crate::InvalidPayload;

            fn from_str(text: &str) -> ::core::result::Result<Self, $crate::InvalidPayload> {
                $crate::codec::from_text(text)
            }
        }
    };
    (json $name:ident) => {
        $crate::__newtype_of!(shown $name);

        impl ::core::str::FromStr for $name {
            type Err = $crate::InvalidPayload;

            fn from_str(text: &str) -> ::core::result::Result<Self, $crate::InvalidPayload> {
                $crate::codec::from_json(text.as_bytes())
            }
        }
    };
    (shown $name:ident) => {
        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(&self.0, f)
            }
        }
    };
    ($type:ident $name:ident) => {};
}
