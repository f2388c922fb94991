//! `#[toolset]` on impl blocks.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use toolwright::{Payload, ToolCall};
use toolwright_runtime::{
    Agent, Registry, ResumeRequest, RunEnd, RunRequest, Runtime, Script, toolset,
};

use crate::outcome_text;

#[derive(Default)]
struct Counter<S> {
    count: AtomicI64,
    step: S,
}

/// Counts things.
///
/// One at a time.
#[toolset(name = "counter", service = "lab", tags = ["lab"])]
impl<S: Into<i64> + Copy + Send + Sync + 'static> Counter<S> {
    fn new(step: S) -> Arc<Self> {
        Arc::new(Self { count: AtomicI64::new(0), step })
    }

    /// Count further.
    #[tool(name = "count", tags = ["write"])]
    async fn count_further(
        &self,
        /// How often.
        times: i64,
    ) -> Result<i64, std::num::TryFromIntError> {
        let by = times * self.step.into();
        tokio::task::yield_now().await;
        Ok(self.count.fetch_add(by, Ordering::Relaxed) + by)
    }

    /// Say the unit.
    #[toolwright_runtime::tool]
    fn unit() -> String {
        "things".to_owned()
    }

    /// Not here.
    #[cfg(any())]
    #[tool]
    fn missing(&self) -> String {
        missing()
    }
}

#[toolset(name = "counter_admin", description = "For admins.", function = admin_tools)]
impl Counter<i64> {
    /// Begin again.
    #[tool(approval)]
    fn reset(&self, call: &ToolCall) -> bool {
        self.count.store(0, Ordering::Relaxed);
        call.is_approved()
    }
}

/// R3: the tools of a block share one service and belong to the block's toolset.
#[tokio::test]
async fn r3_tools_of_a_block_share_the_service_and_are_one_toolset() {
    let service = Counter::new(2_i64);
    let registry = Registry::new();
    registry.register_tools(service.tools()).unwrap();
    assert_eq!(registry.specs().len(), 2);
    let spec = registry.spec("count").unwrap();
    assert_eq!(
        (spec.toolset(), spec.service(), spec.description()),
        ("counter", "lab", "Count further.")
    );
    assert_eq!(spec.toolset_description(), "Counts things.\n\nOne at a time.");
    assert_eq!(spec.tags().collect::<Vec<_>>(), ["lab", "write"]);

    assert_eq!(outcome_text(&registry, "count", r#"{"times":3}"#).await, "6");
    assert_eq!(outcome_text(&registry, "count", r#"{"times":1}"#).await, "8");
    assert_eq!(service.count.load(Ordering::Relaxed), 8);
    assert_eq!(outcome_text(&registry, "unit", "{}").await, r#""things""#);
    let refused = outcome_text(&registry, "count", r#"{"often":3}"#).await;
    assert!(refused.contains("`/times`: is missing"), "{refused}");

    let again = registry.register_tools(Counter::new(1_i64).tools()).unwrap_err();
    assert!(again.to_string().contains("toolset `counter`"), "{again}");
}

/// R3: a type may have several blocks, and approvals work as for functions.
#[tokio::test]
async fn r3_blocks_of_one_type_are_toolsets_of_their_own() {
    let service = Counter::new(1_i64);
    let registry = Registry::new();
    registry.register_tools(service.tools().into_iter().chain(service.admin_tools())).unwrap();
    let reset = registry.spec("reset").unwrap();
    assert_eq!((reset.toolset(), reset.toolset_description()), ("counter_admin", "For admins."));
    assert_eq!((reset.service(), reset.tags().count()), ("", 0));

    let planner = Script::new()
        .call([ToolCall::new("count", Payload::new(r#"{"times":5}"#))])
        .call([ToolCall::new("reset", Payload::new("{}"))])
        .finish(Payload::new("0"));
    let agent = Agent::new("worker", "lab").with_toolsets(["counter", "counter_admin"]);
    registry.register_agent(agent, planner.into()).unwrap();
    let runtime = Runtime::new(registry);
    let outcome = runtime.run(RunRequest::new("worker", Payload::new("0"))).await.unwrap();
    let RunEnd::Suspended(waiting) = outcome.end else { panic!("`reset` needs an approval") };
    assert_eq!(service.count.load(Ordering::Relaxed), 5);
    let answers = waiting.pending().iter().map(|question| question.approve()).collect::<Vec<_>>();
    let resumed = ResumeRequest::new(&waiting, answers);
    let outcome = runtime.resume(resumed).await.unwrap();
    let last = outcome.calls().last().unwrap();
    assert_eq!(last.result.outcome.as_ref().unwrap().as_str(), "true");
    assert_eq!(service.count.load(Ordering::Relaxed), 0);
}
