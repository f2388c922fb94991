//! `Debug` for types with parts that have none.

/// Writes `Debug` for a type that shows some of what it holds.
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
