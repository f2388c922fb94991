//! Help for tests of tools and services, behind the feature `testing`: [`tools`] calls tools by name, as a model does, and
//! each service has a fake, whose methods are [`FakeMethod`]s. Nothing here is for programs that run tools.
//!
//! ```
//! use toolwright::{MethodError, ToolSpec, testing};
//!
//! toolwright::service! {
//!     /// Keeps disks.
//!     pub trait DisksService {
//!         /// Wipes the disk of a number.
//!         async fn wipe(&self, disk: i64) -> Result<String, MethodError>;
//!     }
//!
//!     pub struct FakeDisksService;
//! }
//!
//! static WIPE: ToolSpec = ToolSpec::of::<Wipe>("wipe").with_approval_prompt("Wipe it?");
//! toolwright::tool!(Wipe(i64) -> String = WIPE);
//! static ALL: &[&ToolSpec] = &[&WIPE];
//!
//! toolwright::executor! {
//!     /// Runs the tools on a [`DisksService`].
//!     pub struct DisksExecutor<S: DisksService> {
//!         "wipe" => Wipe: wipe(),
//!         _ => ALL,
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! use std::sync::Arc;
//!
//! let disks = Arc::new(FakeDisksService::default());
//! disks.wipe.returning(Ok("wiped".to_owned()));
//! let executor = Arc::new(DisksExecutor::new(Arc::clone(&disks)));
//! let tools = testing::tools(|registrar| registrar.register(ALL, executor)).approving();
//!
//! let wiped = tools.call("wipe", 7).await.unwrap();
//! assert_eq!(wiped.as_str(), r#""wiped""#);
//! assert_eq!(disks.wipe.calls(), [7]);
//!
//! let failure = tools.denying().call("wipe", 7).await.unwrap_err();
//! assert_eq!(failure.message, "the call of `wipe` was not approved");
//! # }
//! ```

mod fake;

use std::fmt::{self, Display};
use std::sync::Arc;

use crate::call::{Clearance, Payload, Scope, ToolCall, fresh_id};
use crate::executor::{BoxFuture, Executor};
use crate::outcome::{FailureKind, Outcome, Recovery, ToolFailure};
use crate::registration::{ExecutorFactory, Registrar, RegistrationError};
use crate::spec::{Tool, ToolSpec};

pub use fake::FakeMethod;

/// Tools to call in a test.
#[derive(Clone)]
pub struct Tools {
    run: Arc<Run>,
    approved: Option<bool>,
    scope: Scope,
}

type Run = dyn Fn(ToolCall, Option<bool>) -> BoxFuture<'static, Outcome> + Send + Sync;

/// The tools that a function registers, such as `|registrar| issues_tools::register(registrar, tracker)`.
///
/// A call is checked, run once and checked again. Approvals are answered by [`Tools::approving`] and [`Tools::denying`];
/// only a runtime has time limits, retries and templates: `toolwright_runtime::testing::tools` calls tools on one.
///
/// # Panics
///
/// The function fails: two tools have one name, for instance.
pub fn tools(register: impl FnOnce(&mut dyn Registrar) -> Result<(), RegistrationError>) -> Tools {
    let mut registered = Registered::default();
    if let Err(error) = register(&mut registered) {
        panic!("the tools cannot be registered: {error}");
    }
    let registered = Arc::new(registered);
    Tools::new(move |call, approved| {
        let registered = Arc::clone(&registered);
        Box::pin(async move { registered.run(call, approved).await })
    })
}

impl Tools {
    /// Tools that a function runs. Its second argument is the answer to approvals, if the test sets one.
    pub fn new(
        run: impl Fn(ToolCall, Option<bool>) -> BoxFuture<'static, Outcome> + Send + Sync + 'static,
    ) -> Self {
        Self { run: Arc::new(run), approved: None, scope: Scope::default() }
    }

    /// Approves every call that needs an approval.
    #[must_use]
    pub fn approving(mut self) -> Self {
        self.approved = Some(true);
        self
    }

    /// Denies every call that needs an approval.
    #[must_use]
    pub fn denying(mut self) -> Self {
        self.approved = Some(false);
        self
    }

    /// Sets the scope of calls.
    #[must_use]
    pub fn with_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the run that calls belong to; otherwise each call has one of its own.
    #[must_use]
    pub fn with_run_id(mut self, id: impl Into<String>) -> Self {
        self.scope.run_id = Some(id.into());
        self
    }

    /// Calls a tool by its name, with arguments that display as JSON: a text, a [`Value`](crate::Value), or a
    /// `serde_json::json!`.
    ///
    /// # Errors
    ///
    /// The failure that a model would get.
    pub async fn call(&self, tool: &str, args: impl Display) -> Outcome {
        self.make(ToolCall::new(tool, Payload::new(args.to_string()))).await
    }

    /// Calls a tool by its type, which generated code has in `specs`: `tools.run(specs::CloseIssue, &args)`.
    ///
    /// # Errors
    ///
    /// The failure that a model would get, also for invalid arguments.
    pub async fn run<T: Tool>(&self, _: T, args: &T::Args) -> Result<T::Result, ToolFailure> {
        let call = ToolCall::of::<T>(args).map_err(|issues| {
            let call = ToolCall::new(T::SPEC.name(), Payload::new("null"));
            ToolFailure::invalid_call(T::SPEC, &call, issues)
        })?;
        let result = self.make(call).await?;
        result.decode().map_err(|issues| ToolFailure::malformed_result(T::SPEC, &issues))
    }

    async fn make(&self, call: ToolCall) -> Outcome {
        let mut scope = self.scope.clone();
        scope.run_id.get_or_insert_with(|| fresh_id("run"));
        (self.run)(call.with_scope(scope), self.approved).await
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { approved, scope, .. } = self;
        let mut tools = f.debug_struct("Tools");
        tools.field("approved", approved).field("scope", scope).finish_non_exhaustive()
    }
}

/// The failure of a call that needs an approval in a test that does not say how it is answered.
pub fn unanswered(tool: &str) -> ToolFailure {
    let message =
        format!("`{tool}` needs an approval; call `tools.approving()` or `tools.denying()`");
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}

/// The registered specs, each with the factory of its executor.
#[derive(Default)]
struct Registered(Vec<(&'static ToolSpec, ExecutorFactory)>);

impl Registrar for Registered {
    fn register(
        &mut self,
        specs: &'static [&'static ToolSpec],
        executor: Arc<dyn Executor>,
    ) -> Result<(), RegistrationError> {
        self.register_factory(specs, Arc::new(move || Arc::clone(&executor)))
    }

    fn register_factory(
        &mut self,
        specs: &'static [&'static ToolSpec],
        factory: ExecutorFactory,
    ) -> Result<(), RegistrationError> {
        let mut taken = Vec::new();
        for spec in specs {
            taken.extend(self.registered(spec).map(|registered| {
                RegistrationError::DuplicateTool {
                    tool: spec.name().to_owned(),
                    registered: registered.toolset().to_owned(),
                    offered: spec.toolset().to_owned(),
                }
            }));
        }
        RegistrationError::all(taken)?;
        self.0.extend(specs.iter().map(|spec| (*spec, Arc::clone(&factory))));
        Ok(())
    }
}

impl Registered {
    /// Returns the registered tool that has the name or an alias of this one.
    fn registered(&self, spec: &ToolSpec) -> Option<&'static ToolSpec> {
        let mut names = spec.aliases().chain([spec.name()]);
        names.find_map(|name| self.find(name)).map(|(spec, _)| *spec)
    }

    fn find(&self, name: &str) -> Option<&(&'static ToolSpec, ExecutorFactory)> {
        self.0.iter().find(|(spec, _)| spec.is_called(name))
    }

    async fn run(&self, call: ToolCall, approved: Option<bool>) -> Outcome {
        let Some((spec, factory)) = self.find(call.tool()) else {
            let known = self.0.iter().map(|(spec, _)| spec.name());
            return Err(ToolFailure::not_found(call.tool(), known));
        };
        let checked = spec.check_args(call.args().as_bytes());
        checked.map_err(|issues| ToolFailure::invalid_call(spec, &call, issues))?;
        let call = answered(spec, call, approved)?;
        let result = factory().execute(&call).await.outcome?;
        let checked = spec.check_result(result.as_bytes());
        checked.map_err(|issues| ToolFailure::malformed_result(spec, &issues))?;
        Ok(result)
    }
}

/// Returns the call with a clearance, if its tool needs one and the test approves.
fn answered(
    spec: &ToolSpec,
    call: ToolCall,
    approved: Option<bool>,
) -> Result<ToolCall, ToolFailure> {
    let Some(approval) = spec.approval() else { return Ok(call) };
    match approved {
        Some(true) => Ok(call.with_clearance(Some(Clearance::new(())))),
        Some(false) => {
            let unsaid = || format!("the call of `{}` was not approved", spec.name());
            let message = approval.denied.as_deref().map_or_else(unsaid, str::to_owned);
            Err(ToolFailure::new(FailureKind::Denied, message, Recovery::Replan))
        }
        None => Err(unanswered(spec.name())),
    }
}
