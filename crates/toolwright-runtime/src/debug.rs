//! A macro that implements `Debug` for types with fields that do not implement it.

/// Implements `Debug` for a type with the given fields.
macro_rules! debug {
    ($type:ident $(<$param:ident>)?, $this:ident => { $($name:ident: $value:expr),* }) => {
        impl $(<$param>)? std::fmt::Debug for $type $(<$param>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                f.debug_struct(stringify!($type))
                    $(.field(stringify!($name), &$value))*
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use debug;
