//! The formats of integers, such as `int32`.

use std::fmt;

/// A format of integers that is checked (OpenAPI Format Registry, `int32` and others).
///
/// It displays as its name in schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IntegerFormat {
    /// `int8`: -128 to 127.
    Int8,
    /// `int16`: -32,768 to 32,767.
    Int16,
    /// `int32`: -2³¹ to 2³¹-1.
    Int32,
    /// `int64`: -2⁶³ to 2⁶³-1.
    Int64,
    /// `uint8`: 0 to 255.
    Uint8,
    /// `uint16`: 0 to 65,535.
    Uint16,
    /// `uint32`: 0 to 2³²-1.
    Uint32,
    /// `uint64`: 0 to 2⁶⁴-1.
    Uint64,
}

impl IntegerFormat {
    /// Every format: signed ones first, from the smallest to the largest.
    pub const ALL: [Self; 8] = [
        Self::Int8,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::Uint8,
        Self::Uint16,
        Self::Uint32,
        Self::Uint64,
    ];

    /// Returns the format with this name in schemas, if it is checked.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Its name in schemas.
    pub const fn name(self) -> &'static str {
        self.details().0
    }

    /// Its Rust type.
    pub const fn rust(self) -> &'static str {
        self.details().1
    }

    /// Its minimum.
    pub const fn min_value(self) -> i128 {
        self.details().2
    }

    /// Its maximum.
    pub const fn max_value(self) -> i128 {
        self.details().3
    }

    /// Its name in schemas, its Rust type, its minimum and its maximum.
    const fn details(self) -> (&'static str, &'static str, i128, i128) {
        match self {
            Self::Int8 => ("int8", "i8", i8::MIN as i128, i8::MAX as i128),
            Self::Int16 => ("int16", "i16", i16::MIN as i128, i16::MAX as i128),
            Self::Int32 => ("int32", "i32", i32::MIN as i128, i32::MAX as i128),
            Self::Int64 => ("int64", "i64", i64::MIN as i128, i64::MAX as i128),
            Self::Uint8 => ("uint8", "u8", 0, u8::MAX as i128),
            Self::Uint16 => ("uint16", "u16", 0, u16::MAX as i128),
            Self::Uint32 => ("uint32", "u32", 0, u32::MAX as i128),
            Self::Uint64 => ("uint64", "u64", 0, u64::MAX as i128),
        }
    }
}

impl fmt::Display for IntegerFormat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
