//! [`ToolSpec`], the description of a tool: its texts, schemas, implementation and payload checks.

mod amount;
mod macros;
mod parts;
mod period;
mod setters;
pub mod template;

use std::sync::OnceLock;
use std::{fmt, mem};

use crate::codec::{self, Decode, Encode};
use crate::described::Described;
use crate::issue::{InvalidPayload, Issue, IssueKind};
use crate::schema::Schema;

pub use amount::{AmountError, parse_amount};
pub use parts::{
    Approval, CallLimits, Deprecation, Effort, Hints, Implementation, Strictness, Text,
    ToolAnnotations, ToolsetInfo, text,
};
pub use period::{PeriodError, parse_period};

/// A tool as a type. Generated code has a unit struct for each tool.
pub trait Tool: Copy + Send + Sync + 'static {
    /// The arguments of the tool.
    type Args: Decode + Encode;
    /// The result of the tool.
    type Result: Decode + Encode;
    /// The spec of the tool.
    const SPEC: &'static ToolSpec;
}

/// The description of one tool.
///
/// For a tool that is known at compile time, the spec is a static, created with [`of`](Self::of). For a tool that is
/// created or discovered at run time, it is created with [`new`](Self::new). Functions `with_…` are `const` and take
/// `'static` texts; functions `set_…` take any text.
///
/// ```
/// use toolwright::{ToolSpec, Value};
///
/// static WIPE: ToolSpec = ToolSpec::of::<Wipe>("wipe")
///     .with_toolset("disks")
///     .with_tags(&["write"])
///     .with_call_hint("Wiping");
///
/// toolwright::tool!(Wipe(Value) -> Value = WIPE);
///
/// let mut found = ToolSpec::new(format!("wipe_{}", 2)).with_toolset("disks");
/// found.set_description(format!("Does what {} does.", WIPE.name()));
/// assert_eq!((found.name(), found.description()), ("wipe_2", "Does what wipe does."));
/// ```
#[derive(Debug)]
pub struct ToolSpec {
    name: Text,
    title: Option<Text>,
    description: Text,
    toolset: Text,
    toolset_description: Text,
    service: Text,
    implementation: Implementation,
    remote_name: Option<Text>,
    tags: Texts,
    aliases: Texts,
    annotations: ToolAnnotations,
    hints: Hints,
    approval: Option<Approval>,
    limits: CallLimits,
    strictness: Strictness,
    is_deferred: bool,
    examples: Examples,
    args_sample: Option<Text>,
    deprecation: Option<Deprecation>,
    args_schema: Text,
    result_schema: Text,
    check_args: Check,
    check_result: Check,
}

/// A list of texts.
#[derive(Debug)]
enum Texts {
    Static(&'static [&'static str]),
    Owned(Vec<Text>),
}

/// Example calls: arguments and optional results.
#[derive(Debug)]
enum Examples {
    Static(&'static [(&'static str, Option<&'static str>)]),
    Owned(Vec<(Text, Option<Text>)>),
}

/// The check of a payload: a codec, a closure that was created at run time, or the schema, which is compiled when it is first needed.
enum Check {
    Codec(fn(&[u8]) -> Result<(), InvalidPayload>),
    Function(CheckFunction),
    /// The first is always [`compiled`]. Only [`ToolSpec::new`] names it, so programs that have only codecs do not link the validator,
    /// which would more than double the size of a small one.
    Schema(fn(&str) -> CheckFunction, OnceLock<CheckFunction>),
}

type CheckFunction = Box<dyn Fn(&[u8]) -> Result<(), InvalidPayload> + Send + Sync>;

/// Constructors. By default a spec has only a name, the host runs the tool, and the schemas allow any object as
/// arguments and any result.
impl ToolSpec {
    /// Creates the spec of a typed tool: the codecs of its types check its payloads. Set the schemas of these types
    /// with [`with_args_schema`](Self::with_args_schema) and [`with_result_schema`](Self::with_result_schema).
    pub const fn of<T: Tool>(name: &'static str) -> Self {
        let (args, result) = (codec::check::<T::Args>, codec::check::<T::Result>);
        Self::checked_by(text(name), Check::Codec(args), Check::Codec(result))
    }

    /// Creates the spec of a tool that is created or discovered at run time. Its schemas check its payloads, unless
    /// [`with_types`](Self::with_types) or [`with_checks`](Self::with_checks) sets other checks. A schema that cannot be compiled
    /// refuses every payload.
    pub fn new(name: impl Into<Text>) -> Self {
        Self::checked_by(name.into(), Check::of_schema(), Check::of_schema())
    }

    const fn checked_by(name: Text, check_args: Check, check_result: Check) -> Self {
        Self {
            name,
            title: None,
            description: text(""),
            toolset: text(""),
            toolset_description: text(""),
            service: text(""),
            implementation: Implementation::External,
            remote_name: None,
            tags: Texts::Static(&[]),
            aliases: Texts::Static(&[]),
            annotations: ToolAnnotations::UNKNOWN,
            hints: Hints::NONE,
            approval: None,
            limits: CallLimits::UNLIMITED,
            strictness: Strictness::Prefer,
            is_deferred: false,
            examples: Examples::Static(&[]),
            args_sample: None,
            deprecation: None,
            args_schema: text(r#"{"type":"object"}"#),
            result_schema: text("{}"),
            check_args,
            check_result,
        }
    }

    /// Sets the schemas and the checks to those of two types.
    #[must_use]
    pub fn with_types<A: Described, R: Described>(mut self) -> Self {
        self.args_schema = A::schema().to_string().into();
        self.result_schema = R::schema().to_string().into();
        self.check_args = Check::Codec(codec::check::<A>);
        self.check_result = Check::Codec(codec::check::<R>);
        self
    }

    /// Sets the functions that check arguments and results, for a tool whose schemas are only known at run time.
    #[must_use]
    pub fn with_checks(
        mut self,
        check_args: impl Fn(&[u8]) -> Result<(), InvalidPayload> + Send + Sync + 'static,
        check_result: impl Fn(&[u8]) -> Result<(), InvalidPayload> + Send + Sync + 'static,
    ) -> Self {
        self.check_args = Check::Function(Box::new(check_args));
        self.check_result = Check::Function(Box::new(check_result));
        self
    }
}

/// Getters and checks.
impl ToolSpec {
    /// The globally unique name; also its id.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A short name for people.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The description of the tool for the model.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The name of its toolset.
    pub fn toolset(&self) -> &str {
        &self.toolset
    }

    /// The description of its toolset; may be empty.
    pub fn toolset_description(&self) -> &str {
        &self.toolset_description
    }

    /// The name of its service.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// Returns its implementation.
    pub fn implementation(&self) -> &Implementation {
        &self.implementation
    }

    /// The tool's name on its remote MCP server, for a tool of a remote server.
    pub fn remote_name(&self) -> Option<&str> {
        self.remote_name.as_deref()
    }

    /// Tags for selecting tools: those of the toolset, then its own.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.tags.iter()
    }

    /// Earlier names: calls by them are routed, but they are not advertised.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.aliases.iter()
    }

    /// Returns true if a name is this tool's name or one of its aliases.
    pub fn is_called(&self, name: &str) -> bool {
        self.name() == name || self.aliases().any(|alias| alias == name)
    }

    /// Hints on the tool's effects.
    pub fn annotations(&self) -> ToolAnnotations {
        self.annotations
    }

    /// Templates for showing its progress.
    pub fn hints(&self) -> &Hints {
        &self.hints
    }

    /// The approval that its calls need.
    pub fn approval(&self) -> Option<&Approval> {
        self.approval.as_ref()
    }

    /// The limits of its calls.
    pub fn limits(&self) -> CallLimits {
        self.limits
    }

    /// How much it needs model providers to enforce the schema of its arguments.
    pub fn strictness(&self) -> Strictness {
        self.strictness
    }

    /// Returns true if the tool is hidden from models until they search for it.
    pub fn is_deferred(&self) -> bool {
        self.is_deferred
    }

    /// Example calls, valid under the schemas: arguments and optional result as JSON texts.
    pub fn examples(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let (fixed, owned): (&[(&str, Option<&str>)], &[(Text, Option<Text>)]) =
            match &self.examples {
                Examples::Static(examples) => (examples, &[]),
                Examples::Owned(examples) => (&[], examples),
            };
        let owned = owned.iter().map(|(args, result)| (args.as_ref(), result.as_deref()));
        fixed.iter().copied().chain(owned)
    }

    /// Valid arguments as JSON text: those of the first example, or arguments generated from the schema.
    pub fn args_sample(&self) -> Option<&str> {
        let example = self.examples().next().map(|(args, _)| args);
        example.or(self.args_sample.as_deref())
    }

    /// The deprecation of the tool, if it is deprecated.
    pub fn deprecation(&self) -> Option<&Deprecation> {
        self.deprecation.as_ref()
    }

    /// Returns true if the tool is offered to models: all tools are, except deprecated ones.
    pub fn is_advertised(&self) -> bool {
        self.deprecation.is_none()
    }

    /// The arguments' JSON Schema (2020-12), as text.
    pub fn args_schema(&self) -> &str {
        &self.args_schema
    }

    /// The result's JSON Schema (2020-12), as text.
    pub fn result_schema(&self) -> &str {
        &self.result_schema
    }

    /// Checks arguments against their schema.
    ///
    /// # Errors
    ///
    /// Every issue found.
    pub fn check_args(&self, json: &[u8]) -> Result<(), InvalidPayload> {
        self.check_args.run(&self.args_schema, json)
    }

    /// Checks a result against its schema.
    ///
    /// # Errors
    ///
    /// Every issue found.
    pub fn check_result(&self, json: &[u8]) -> Result<(), InvalidPayload> {
        self.check_result.run(&self.result_schema, json)
    }
}

impl Texts {
    fn iter(&self) -> impl Iterator<Item = &str> {
        let (fixed, owned): (&[&str], &[Text]) = match self {
            Self::Static(texts) => (texts, &[]),
            Self::Owned(texts) => (&[], texts),
        };
        fixed.iter().copied().chain(owned.iter().map(AsRef::as_ref))
    }
}

impl Check {
    const fn of_schema() -> Self {
        Self::Schema(compiled, OnceLock::new())
    }

    /// Forgets the schema that was compiled, as there is another.
    const fn with_other_schema(&mut self) {
        if let Self::Schema(compile, _) = self {
            let check = Self::Schema(*compile, OnceLock::new());
            mem::forget(mem::replace(self, check));
        }
    }

    fn run(&self, schema: &str, json: &[u8]) -> Result<(), InvalidPayload> {
        match self {
            Self::Codec(check) => check(json),
            Self::Function(check) => check(json),
            Self::Schema(compile, check) => check.get_or_init(|| compile(schema))(json),
        }
    }
}

/// Compiles a schema.
fn compiled(schema: &str) -> CheckFunction {
    match Schema::new(schema) {
        Ok(schema) => Box::new(move |json| schema.check(json)),
        Err(error) => {
            let text = format!("its schema cannot be used: {error}");
            Box::new(move |_| {
                let issue = Issue::new("", IssueKind::Schema { message: text.clone() });
                Err(InvalidPayload::new(vec![issue]))
            })
        }
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Codec(_) => "Codec",
            Self::Function(_) => "Function",
            Self::Schema(..) => "Schema",
        })
    }
}

/// Returns the specs that are offered to models.
pub fn advertised(specs: &'static [&'static ToolSpec]) -> impl Iterator<Item = &'static ToolSpec> {
    specs.iter().copied().filter(|spec| spec.is_advertised())
}

/// Returns the descriptions of these tools' toolsets for the model, one line for each toolset; `None` if no toolset has
/// a description.
pub fn instructions<'a>(specs: impl IntoIterator<Item = &'a ToolSpec>) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    for spec in specs.into_iter().filter(|spec| !spec.toolset_description().trim().is_empty()) {
        let line = format!("`{}`: {}", spec.toolset(), spec.toolset_description().trim());
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::ToolSpec;

    const TEXT: &str = r#"{"type":"object","required":["text"]}"#;
    const LIST: &str = r#"{"type":"array"}"#;

    #[test]
    fn the_schemas_of_a_spec_without_codecs_check_its_payloads() {
        let mut spec = ToolSpec::new("look_up");
        assert!(spec.check_args(b"{}").is_ok());
        assert!(spec.check_args(b"[]").is_err());
        assert!(spec.check_result(b"1").is_ok());
        spec = spec.with_args_schema(TEXT).with_result_schema(LIST);
        assert!(spec.check_args(b"{}").is_err());
        assert!(spec.check_result(b"1").is_err());
        spec.set_args_schema(LIST);
        spec.set_result_schema(TEXT);
        assert!(spec.check_args(b"[]").is_ok());
        assert!(spec.check_result(b"[]").is_err());
        spec.set_result_schema("{");
        let refused = spec.check_result(b"{}").unwrap_err().to_string();
        assert!(refused.contains("its schema cannot be used: "), "{refused}");
    }
}
