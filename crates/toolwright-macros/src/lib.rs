//! The attributes `#[tool]` and `#[toolset]`, which toolwright-runtime re-exports with its feature `macros`. They
//! generate code that could be written by hand: a `ToolSpec`, and a `FunctionTool` that calls the function.

mod function;
mod keys;
mod toolset;

use proc_macro::TokenStream;
use quote::quote;
use syn::{Error, Item, parse_macro_input};

/// Declares a tool that calls a function.
///
/// The function is not changed. The attribute adds a second function, `add_tool` for `add`, which returns the
/// `FunctionTool`. The tool has the name of the function, and its doc comment as the description.
///
/// ```
/// use toolwright_runtime::tools::Json;
/// use toolwright_runtime::{Registry, tool};
///
/// /// Return the temperature at a latitude.
/// #[tool(title = "Weather", annotations(read_only_hint = true), timeout = "5s")]
/// async fn temperature(
///     /// The latitude in degrees.
///     #[schemars(range(min = -90, max = 90))]
///     north: f64,
///     /// If true, return the temperature in winter.
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
/// assert_eq!(spec.description(), "Return the temperature at a latitude.");
/// assert!(spec.check_args(br#"{"north":91}"#).is_err());
/// # Ok::<(), toolwright::RegistrationError>(())
/// ```
///
/// # Parameters
///
/// Each parameter is a property of the arguments with the same name. Its type derives `Deserialize` and `JsonSchema`.
/// Doc comments and the attributes `#[serde(…)]` and `#[schemars(…)]` on a parameter have the same effect as on the
/// field of a struct. Other properties are refused.
///
/// A parameter `Parameters<T>` holds all arguments as one type, which may be any that a
/// [`ToolFunction`](https://docs.rs/toolwright-runtime/latest/toolwright_runtime/tools/trait.ToolFunction.html)
/// accepts. A parameter `ToolCall` or `&ToolCall` is the call; the model does not see it.
///
/// # Result
///
/// The result may be any that a `ToolFunction` returns: types with a codec, `Json<T>`, and a `Result` of either. A
/// function that is not `async` runs on the thread that awaits the call; if it takes long or blocks, use the key
/// `blocking`.
///
/// # Keys
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the tool's name, if not the function's |
/// | `description = "…"` | the description for the model, if not the doc comment |
/// | `title = "…"` | a short name for people |
/// | `annotations(read_only_hint = true, destructive_hint = …, idempotent_hint = …, open_world_hint = …)` | hints on its effects |
/// | `approval`, `approval(prompt = "…", denied = "…", metadata(risk_level = "high"))` | requires an approval for each call |
/// | `timeout = "30s"` | the time limit of one attempt: `500ms`, `5s`, `2m`, `1h` |
/// | `attempts = 3` | the total number of attempts when failures are transient |
/// | `sequential` | a call never runs at the same time as another call of its step |
/// | `blocking` | runs the function on a thread for blocking work, so that its timeout has an effect; not with `async` |
/// | `hints(call = "…", result = "…")` | templates that show the progress of a call |
/// | `strict = "always"`, `"prefer"`, `"never"` | how much model providers should enforce the schema of its arguments |
/// | `defer` | it is hidden from models until they search for it |
/// | `tags = ["…"]`, `aliases = ["…"]` | tags for selecting it; its earlier names |
/// | `deprecated(since = "…", replacement = "…")` | it still runs, but is not offered to models |
/// | `toolset = "…"`, `service = "…"` | its toolset and service; only on functions |
#[proc_macro_attribute]
pub fn tool(keys: TokenStream, item: TokenStream) -> TokenStream {
    let mut item = parse_macro_input!(item as Item);
    let code = function::expand(keys.into(), &mut item).unwrap_or_else(Error::into_compile_error);
    quote!(#item #code).into()
}

/// Declares a toolset whose tools are the methods of an impl block with `#[tool]`.
///
/// The attribute adds a method `tools` to the block, which returns the tools. It takes the service in an `Arc`, which
/// the calls share.
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
///     /// Add to the count.
///     #[tool]
///     fn count(&self, by: i64) -> i64 {
///         self.count.fetch_add(by, Ordering::Relaxed) + by
///     }
///
///     /// Reset the count.
///     #[tool(approval(prompt = "Reset the count?"))]
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
/// A method takes `&self` or no receiver; otherwise the rules of [`macro@tool`] apply. `Self` must be `Send`, `Sync`
/// and `'static`, since calls run concurrently.
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the toolset's name; required |
/// | `description = "…"` | the description, if not the doc comment of the block |
/// | `service = "…"` | the service that owns it |
/// | `tags = ["…"]` | tags that are added to each tool, before its own |
/// | `function = read_tools` | the name of the method instead of `tools`, for types with several such blocks |
#[proc_macro_attribute]
pub fn toolset(keys: TokenStream, item: TokenStream) -> TokenStream {
    let mut item = parse_macro_input!(item as Item);
    let code = toolset::expand(keys.into(), &mut item).unwrap_or_else(Error::into_compile_error);
    quote!(#item #code).into()
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
