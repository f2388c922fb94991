//! Calls that an earlier attempt at a run made or began, according to the journal.

use std::future::ready;

use toolwright::call::fresh_id;
use toolwright::spec::ToolAnnotations;
use toolwright::{Outcome, ToolCall, ToolFailure};

use super::dispatch::Dispatcher;
use super::failures::interrupted;
use crate::approval::ApprovalRequest;
use crate::tools::ToolEntry;

impl Dispatcher {
    /// Returns the failure of a call that does not run. If an earlier attempt at the run began the call, the failure says that it may
    /// have taken effect.
    pub(crate) async fn not_run(&self, call: &ToolCall, failure: ToolFailure) -> ToolFailure {
        let was_begun =
            async { Ok(self.tool_began(call).await? || self.agent_began(call, 1).await?) };
        match was_begun.await {
            Ok(false) => failure,
            // The tool may have had other annotations then.
            Ok(true) => failure.with_possible_effect(ToolAnnotations::UNKNOWN),
            Err(unreadable) => unreadable,
        }
    }

    /// Returns the outcome of an agent's last attempt at a call. If another attempt began after it, the outcome says that the call
    /// may have taken effect.
    pub(super) async fn last_attempt(
        &self,
        call: &ToolCall,
    ) -> Result<Option<Outcome>, ToolFailure> {
        let mut last: Option<Outcome> = None;
        for attempt in 1.. {
            match self.recorded(|| format!("end/{attempt}/{}", call.id())).await? {
                Some(outcome) => last = Some(outcome),
                None if self.agent_began(call, attempt).await? => {
                    let unknown = ToolAnnotations::UNKNOWN;
                    return Ok(
                        last.map(|last| last.map_err(|last| last.with_possible_effect(unknown)))
                    );
                }
                None => break,
            }
        }
        Ok(last)
    }

    /// Returns whether a call was made or begun without a question: no approval list had its tool then.
    pub(super) async fn was_made_unasked(
        &self,
        call: &ToolCall,
        tool: &ToolEntry,
    ) -> Result<bool, ToolFailure> {
        let id = call.id();
        let question = self.recorded::<ApprovalRequest>(|| format!("question/{id}")).await?;
        if question.is_some() {
            return Ok(false);
        }
        let was_begun = !tool.has_resumable_calls() && self.tool_began(call).await?;
        Ok(was_begun || self.made_by_tool(call).await?.is_some())
    }

    /// Returns whether a call was begun and may not run again. Its outcome may be in the journal. Otherwise this attempt begins it.
    pub(super) async fn is_interrupted(
        &self,
        call: &ToolCall,
        tool: &ToolEntry,
    ) -> Result<bool, ToolFailure> {
        if self.environment.journal.is_none() || tool.has_agent() || tool.may_run_again() {
            return Ok(false);
        }
        let attempt = fresh_id("attempt");
        let begin = self.record(|| format!("begin/{}", call.id()), ready(attempt.clone())).await?;
        Ok(begin != attempt)
    }

    /// Returns the outcome of a call that was begun while its tool was another one: one that could not run again and now can or has an
    /// agent, or one that had an agent. A journal that replays in order has all entries once effects run, so this must be a part of
    /// the effect that makes the call.
    pub(super) async fn begun_by_another_tool(
        &self,
        call: &ToolCall,
        tool: &ToolEntry,
    ) -> Result<Option<Outcome>, ToolFailure> {
        let began_itself = !tool.has_agent() && !tool.may_run_again();
        let is_known = began_itself || tool.has_resumable_calls();
        if !is_known && self.tool_began(call).await? {
            return Ok(Some(Err(interrupted(tool))));
        }
        if tool.has_agent() {
            return Ok(None);
        }
        match self.recorded::<Outcome>(|| format!("agent/{}", call.id())).await? {
            Some(Err(failure)) => Ok(Some(Err(failure))),
            Some(Ok(_)) if self.agent_began(call, 1).await? => {
                let last = self.last_attempt(call).await?;
                Ok(Some(last.unwrap_or_else(|| Err(interrupted(tool)))))
            }
            _ => Ok(None),
        }
    }

    /// Returns the outcome of a call that was made while no agent ran it.
    pub(super) async fn made_by_tool(
        &self,
        call: &ToolCall,
    ) -> Result<Option<Outcome>, ToolFailure> {
        self.recorded(|| format!("call/{}", call.id())).await
    }

    /// Returns whether a tool without an agent began a call and could not run again then.
    async fn tool_began(&self, call: &ToolCall) -> Result<bool, ToolFailure> {
        Ok(self.recorded::<String>(|| format!("begin/{}", call.id())).await?.is_some())
    }

    /// Returns whether an agent began an attempt at a call.
    async fn agent_began(&self, call: &ToolCall, attempt: u32) -> Result<bool, ToolFailure> {
        let key = || format!("run/{attempt}/{}", call.id());
        Ok(self.recorded::<String>(key).await?.is_some())
    }
}
