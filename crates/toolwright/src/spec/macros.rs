//! The macros `tool!` and `toolset!`, which declare the type of a tool and the items of a toolset.

/// Declares the type of a tool from its name, its argument and result types, and the static that holds its spec.
///
/// ```
/// use toolwright::{Tool, ToolSpec, Value};
///
/// static WIPE: ToolSpec = ToolSpec::of::<Wipe>("wipe");
/// toolwright::tool!(Wipe(Value) -> Value = WIPE);
/// assert_eq!(Wipe::SPEC.name(), "wipe");
/// ```
#[macro_export]
macro_rules! tool {
    ($name:ident($args:ty $(,)?) -> $result:ty = $spec:ident $(,)?) => {
        #[doc = concat!("The tool whose spec is [`", stringify!($spec), "`], as a type.")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl $crate::Tool for $name {
            type Args = $args;
            type Result = $result;
            const SPEC: &'static $crate::ToolSpec = &$spec;
        }
    };
}

/// Declares the items of a toolset: its name, description and service (`TOOLSET`), the list of its tools (`ALL`), and a
/// function that returns the tools that are offered to models (`advertised`).
///
/// ```
/// use toolwright::{ToolSpec, Value};
///
/// toolwright::toolset!("disks" {
///     description: "Looks after disks.",
///     service: "storage",
///     tools: [WIPE],
/// });
///
/// static WIPE: ToolSpec = ToolSpec::of::<Wipe>("wipe").in_toolset(&TOOLSET);
/// toolwright::tool!(Wipe(Value) -> Value = WIPE);
///
/// assert_eq!(WIPE.toolset(), "disks");
/// assert_eq!(advertised().count(), ALL.len());
/// ```
#[macro_export]
macro_rules! toolset {
    ($name:literal {
        description: $description:literal,
        service: $service:literal,
        tools: [$($tool:ident),* $(,)?] $(,)?
    } $(,)?) => {
        /// The name, description and service of the toolset.
        pub static TOOLSET: $crate::spec::ToolsetInfo = $crate::spec::ToolsetInfo {
            name: $name,
            description: $description,
            service: $service,
        };

        /// All tools of the toolset, in the declared order.
        pub static ALL: &[&$crate::ToolSpec] = &[$(&$tool),*];

        /// The tools that are offered to models: all except deprecated ones.
        pub fn advertised() -> impl Iterator<Item = &'static $crate::ToolSpec> {
            $crate::spec::advertised(ALL)
        }
    };
}
