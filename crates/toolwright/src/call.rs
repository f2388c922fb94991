//! A call of a tool: its id, the tool's name, the arguments and the scope. Results are in [`crate::outcome`].

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::codec::{self, Decode, Encode};
use crate::issue::InvalidPayload;
use crate::spec::Tool;
use crate::untrusted::visible_json;

/// A JSON text that goes to a tool or comes from one. It is not checked until a codec reads it, since a model may have
/// written it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload(Box<str>);

/// One call of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    id: String,
    tool: String,
    args: Payload,
    scope: Scope,
    clearance: Option<Clearance>,
    origin: Option<Origin>,
}

/// The proof that a call was approved. A runtime attaches it to the call, and its tools refuse calls that need an
/// approval and do not have it. Only a crate that knows the type of the proof can make or read one, so a runtime keeps
/// that type private.
///
/// All clearances compare as equal: only their maker can read what they approve.
#[derive(Clone)]
pub struct Clearance(Arc<dyn Any + Send + Sync>);

/// The run or session that makes a call. A runtime attaches it, so that another runtime that executes the call, and runs and calls that
/// the tool makes on behalf of it, inherit its options. As with a [`Clearance`], only a crate that knows the type of the value can read it.
///
/// All origins compare as equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin(Clearance);

/// The context of a call. A schema can inject its ids and labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The run the call belongs to.
    pub run_id: Option<String>,
    /// The session of that run.
    pub session_id: Option<String>,
    /// The id that the host gives to one exchange of that session.
    pub turn_id: Option<String>,
    /// The call on whose behalf this one is made.
    pub parent_call_id: Option<String>,
    /// Labels that the host attaches.
    pub labels: BTreeMap<String, String>,
    /// How deep the run is nested: 0 in a run that a host starts, one more in a run that answers a call of another run.
    /// A runtime counts it and refuses runs that are nested too deep, so a tool that makes calls of its own passes on
    /// the scope of its call.
    pub depth: u32,
}

/// Declares one function for each tool type, which takes typed arguments and returns a call with a fresh id and an
/// empty scope.
///
/// ```
/// use toolwright::{ToolSpec, Value};
///
/// static WIPE: ToolSpec = ToolSpec::of::<Wipe>("wipe");
/// toolwright::tool!(Wipe(Value) -> Value = WIPE);
/// toolwright::calls! {
///     wipe(Value) => Wipe,
/// }
///
/// assert_eq!(wipe(&Value::Null)?.tool(), "wipe");
/// # Ok::<_, toolwright::InvalidPayload>(())
/// ```
#[macro_export]
macro_rules! calls {
    ($($(#[$attribute:meta])* $name:ident($args:ty $(,)?) => $tool:path),* $(,)?) => {$(
        #[doc = concat!("A call of [`", stringify!($tool), "`], with a fresh id and an empty scope.")]
        ///
        /// # Errors
        ///
        /// Every issue that the schema of the tool finds in the arguments.
        $(#[$attribute])*
        pub fn $name(args: &$args) -> Result<$crate::ToolCall, $crate::InvalidPayload> {
            $crate::ToolCall::of::<$tool>(args)
        }
    )*};
}

impl Payload {
    /// Wraps a JSON text as it is.
    pub fn new(json: impl Into<Box<str>>) -> Self {
        Self(json.into())
    }

    /// Encodes a value.
    ///
    /// # Errors
    ///
    /// Every issue that makes the value invalid under its schema.
    pub fn of<T: Encode + ?Sized>(value: &T) -> Result<Self, InvalidPayload> {
        codec::to_json(value).map(Self::new)
    }

    /// Decodes the value.
    ///
    /// # Errors
    ///
    /// The issues of the text, at most 1,000, or the place where it stops being JSON.
    pub fn decode<T: Decode>(&self) -> Result<T, InvalidPayload> {
        codec::from_json(self.as_bytes())
    }

    /// Returns the same value with [hidden](crate::untrusted) characters escaped.
    #[must_use]
    pub fn visible(self) -> Self {
        match visible_json(&self.0) {
            Cow::Borrowed(_) => self,
            Cow::Owned(json) => Self::new(json),
        }
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The JSON text as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ToolCall {
    /// Creates a call with a fresh id and an empty scope.
    pub fn new(tool: impl Into<String>, args: Payload) -> Self {
        let (id, scope) = (fresh_id("call"), Scope::default());
        Self { id, tool: tool.into(), args, scope, clearance: None, origin: None }
    }

    /// Creates a call of a tool type with typed arguments.
    ///
    /// # Errors
    ///
    /// Every issue that makes the arguments invalid under the tool's schema.
    pub fn of<T: Tool>(args: &T::Args) -> Result<Self, InvalidPayload> {
        Ok(Self::new(T::SPEC.name(), Payload::of(args)?))
    }

    /// Sets the call's id; ids are unique in their run.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets the name of the tool, for a place where the tool has another name.
    #[must_use]
    pub fn with_tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = tool.into();
        self
    }

    /// Sets the arguments.
    #[must_use]
    pub fn with_args(mut self, args: Payload) -> Self {
        self.args = args;
        self
    }

    /// Sets the call on whose behalf this one is made.
    #[must_use]
    pub fn with_parent_call_id(mut self, id: impl Into<String>) -> Self {
        self.scope.parent_call_id = Some(id.into());
        self
    }

    /// Sets the scope of the call.
    #[must_use]
    pub fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the proof that the call was approved. A runtime replaces the one that a caller sets.
    #[must_use]
    pub fn with_clearance(mut self, clearance: Option<Clearance>) -> Self {
        self.clearance = clearance;
        self
    }

    /// Sets the run or session that makes the call. A runtime sets it on calls that it passes to tools, whatever a caller has set.
    #[must_use]
    pub fn with_origin(mut self, origin: Option<Origin>) -> Self {
        self.origin = origin;
        self
    }

    /// The call's id, unique in its run.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name by which the tool was called: its name or an alias.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments.
    pub fn args(&self) -> &Payload {
        &self.args
    }

    /// The scope of the call.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The proof that the call was approved.
    pub fn clearance(&self) -> Option<&Clearance> {
        self.clearance.as_ref()
    }

    /// The run or session that makes the call, if a runtime has passed it to a tool.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Returns true if this call was approved with these arguments. Only reliable for a call that a runtime passes to a
    /// tool.
    pub fn is_approved(&self) -> bool {
        self.clearance.is_some()
    }

    /// The run the call belongs to.
    pub fn run_id(&self) -> Option<&str> {
        self.scope.run_id.as_deref()
    }

    /// The session of that run.
    pub fn session_id(&self) -> Option<&str> {
        self.scope.session_id.as_deref()
    }

    /// The turn of that session.
    pub fn turn_id(&self) -> Option<&str> {
        self.scope.turn_id.as_deref()
    }

    /// The call on whose behalf this one is made.
    pub fn parent_call_id(&self) -> Option<&str> {
        self.scope.parent_call_id.as_deref()
    }

    /// Returns the label that the host attached under a key.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.scope.labels.get(key).map(String::as_str)
    }
}

impl Clearance {
    /// Wraps a proof, whose type should be private to its maker.
    pub fn new(proof: impl Any + Send + Sync) -> Self {
        Self(Arc::new(proof))
    }

    /// The proof, if it is of this type.
    pub fn proof<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl Origin {
    /// Wraps a value, whose type should be private to its maker.
    pub fn new(value: impl Any + Send + Sync) -> Self {
        Self(Clearance::new(value))
    }

    /// The value, if it is of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.proof()
    }
}

impl PartialEq for Clearance {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Clearance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clearance")
    }
}

/// Returns an id that is unique in this process and, except for a chance of 2⁻⁶⁴, in all others: the prefix, `_` and
/// sixteen hex digits.
pub fn fresh_id(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // Every `RandomState` has its own random keys from the system.
    let random = RandomState::new().hash_one(NEXT.fetch_add(1, Ordering::Relaxed));
    format!("{prefix}_{random:016x}")
}
