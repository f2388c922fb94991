//! The attributes `#[tool]` and `#[toolset]`, which toolwright-runtime re-exports behind its feature `macros`. They write
//! what a person could write: a `ToolSpec`, and a `FunctionTool` of it and the function.

mod function;
mod keys;
mod toolset;

use proc_macro::TokenStream;
use quote::quote;
use syn::{Error, Item, parse_macro_input};

/// Makes a tool of a function.
///
/// The function stays as it is. Beside it stands one that is named after it, `add_tool` for `add`, and returns the
/// `FunctionTool`. The tool's name is the function's, its description the doc comment.
///
/// ```
/// use toolwright_runtime::tools::Json;
/// use toolwright_runtime::{Registry, tool};
///
/// /// Tell how warm it is at a place.
/// #[tool(title = "Weather", annotations(read_only_hint = true), timeout = "5s")]
/// async fn temperature(
///     /// Degrees north.
///     #[schemars(range(min = -90, max = 90))]
///     north: f64,
///     /// Degrees below zero are wanted too.
///     #[serde(default)]
///     in_winter: bool,
/// ) -> Result<Json<f64>, std::num::ParseFloatError> {
///     let warmth: f64 = "21.5".parse()?;
///     Ok(Json(if in_winter { warmth - north.abs() } else { warmth }))
/// }
///
/// let registry = Registry::new();
/// registry.register_tool(temperature_tool())?;
/// let spec = registry.spec("temperature").expect("it is registered");
/// assert_eq!(spec.description(), "Tell how warm it is at a place.");
/// assert!(spec.check_args(br#"{"north":91}"#).is_err());
/// # Ok::<(), toolwright::RegistrationError>(())
/// ```
///
/// # Parameters
///
/// Each parameter is a property of the arguments, named as the parameter is, whose type derives `Deserialize` and
/// `JsonSchema`. Doc comments and the attributes `#[serde(…)]` and `#[schemars(…)]` on a parameter act as on the field
/// of a struct. There are no other properties.
///
/// A parameter `Parameters<T>` is all arguments together, as one type: any that can be the argument of a
/// [`ToolFunction`](https://docs.rs/toolwright-runtime/latest/toolwright_runtime/tools/trait.ToolFunction.html). A
/// parameter `ToolCall` or `&ToolCall` is the call and not seen by the model.
///
/// # Result
///
/// What a `ToolFunction` may return: types with a codec, `Json<T>`, and a `Result` of either. A function that is not
/// `async` runs on the thread that awaits the call; one that takes long or waits there has the key `blocking`.
///
/// # Keys
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the tool's name, if not the function's |
/// | `description = "…"` | what it does, for the model, if not the doc comment |
/// | `title = "…"` | a short name for people |
/// | `annotations(read_only_hint = true, destructive_hint = …, idempotent_hint = …, open_world_hint = …)` | what it does to the world |
/// | `approval`, `approval(prompt = "…", denied = "…", metadata(risk_level = "high"))` | its calls need an approval |
/// | `timeout = "30s"` | how long one attempt may take: `500ms`, `5s`, `2m`, `1h` |
/// | `attempts = 3` | how many attempts a transient failure gets in all |
/// | `sequential` | it is a barrier among concurrent calls |
/// | `blocking` | it runs on a thread for work that blocks, where its timeout strikes; not with `async` |
/// | `hints(call = "…", result = "…")` | templates for showing progress |
/// | `tags = ["…"]`, `aliases = ["…"]` | words to choose it by; its earlier names |
/// | `deprecated(since = "…", replacement = "…")` | it still runs, but is not offered |
/// | `toolset = "…"`, `service = "…"` | what it belongs to; on a function only |
#[proc_macro_attribute]
pub fn tool(keys: TokenStream, item: TokenStream) -> TokenStream {
    let mut item = parse_macro_input!(item as Item);
    let code = function::expand(keys.into(), &mut item).unwrap_or_else(Error::into_compile_error);
    quote!(#item #code).into()
}

/// Makes a toolset of an impl block: each method that is marked `#[tool]` is a tool of it.
///
/// The block gets a function `tools`, which takes an `Arc` of the service that the calls share.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicI64, Ordering};
///
/// use toolwright_runtime::{Registry, toolset};
///
/// #[derive(Default)]
/// struct Counter {
///     count: AtomicI64,
/// }
///
/// /// Counts.
/// #[toolset(name = "counter")]
/// impl Counter {
///     /// Count further.
///     #[tool]
///     fn count(&self, by: i64) -> i64 {
///         self.count.fetch_add(by, Ordering::Relaxed) + by
///     }
///
///     /// Begin again.
///     #[tool(approval(prompt = "Forget the count?"))]
///     async fn reset(&self) {
///         self.count.store(0, Ordering::Relaxed);
///     }
/// }
///
/// let registry = Registry::new();
/// registry.register_tools(Arc::new(Counter::default()).tools())?;
/// assert_eq!(registry.specs().len(), 2);
/// # Ok::<(), toolwright::RegistrationError>(())
/// ```
///
/// A method takes `&self` or no receiver; otherwise it is what [`macro@tool`] takes. `Self` is `Send`, `Sync` and
/// `'static`, since calls run side by side.
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the toolset's name; required |
/// | `description = "…"` | what it is for, if not the doc comment of the block |
/// | `service = "…"` | the service that owns it |
/// | `tags = ["…"]` | words that stand before those of each tool |
/// | `function = read_tools` | what `tools` is called, where a type has several such blocks |
#[proc_macro_attribute]
pub fn toolset(keys: TokenStream, item: TokenStream) -> TokenStream {
    let mut item = parse_macro_input!(item as Item);
    let code = toolset::expand(keys.into(), &mut item).unwrap_or_else(Error::into_compile_error);
    quote!(#item #code).into()
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
