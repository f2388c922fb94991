//! Runs the calls that agents implement: each attempt at a call is a child run, which may be suspended.

use std::future::ready;
use std::sync::Arc;

use toolwright::call::fresh_id;
use toolwright::{BoxFuture, Outcome, Payload, ToolCall, ToolFailure};

use super::Run;
use super::announce::OpenCall;
use super::call::PendingCall;
use super::dispatch::Dispatcher;
use super::end::{End, Resumption};
use super::failures::{agent_gone, tool_gone};
use super::state::RunState;
use crate::caught::{Caught, panicked};
use crate::execute::{Retry, timed_out};
use crate::tools::{Delegation, ToolEntry, tool_digest};

impl Dispatcher {
    /// Resumes the suspended run of an agent. The start of its call was published, and the hooks before it have run.
    pub(super) async fn resume_agent(
        &self,
        call: ToolCall,
        tool: Option<ToolEntry>,
        run: Box<RunState>,
    ) -> PendingCall {
        let open = OpenCall::started(&self.publisher, &call, tool.as_ref());
        let running = async {
            let hooked = match &run.args {
                Some(args) => call.clone().with_args(Payload::new(args.as_str())),
                None => call.clone(),
            };
            let Some(tool) = &tool else {
                let end = self.fail_run(&run, tool_gone());
                return self.run_after_hooks(&hooked, None, end).await;
            };
            let running = async {
                let is_its_agent =
                    tool.delegates() || tool.agent().is_some_and(|agent| *agent == *run.agent);
                let end = if let Err(failure) = self.check_approval(&hooked, tool) {
                    self.fail_run(&run, failure)
                } else if is_its_agent && run.implements(tool.spec()) {
                    let delegation = Delegation::to(&*run.agent, Payload::new(run.input.as_str()));
                    self.run_agent(delegation, &hooked, tool, Some(run)).await
                } else {
                    self.fail_run(&run, agent_gone(tool))
                };
                self.run_after_hooks(&hooked, Some(tool), end).await
            };
            self.in_span(&call, tool, Box::pin(running)).await
        };
        let state = open.close_with(running.await);
        PendingCall::new(call, tool, state)
    }

    /// Ends a suspended run with a failure instead of resuming it.
    fn fail_run(&self, run: &RunState, failure: ToolFailure) -> End {
        self.environment.publish_failed(run, &failure);
        End::Failed(failure)
    }

    /// Lets an agent run a call, with the time limit and the attempts of the tool's spec. Each attempt is a child run.
    pub(super) async fn run_agent(
        &self,
        delegation: Delegation,
        call: &ToolCall,
        tool: &ToolEntry,
        mut suspended: Option<Box<RunState>>,
    ) -> End {
        let (agent, input) = delegation.into_parts();
        let Some(agent) = self.environment.registry.agent(&agent) else {
            let detail = format!("agent `{agent}` is not registered");
            let failure = agent_gone(tool).with_detail(detail);
            return match &suspended {
                Some(run) => self.fail_run(run, failure),
                None => End::Failed(self.not_run(call, failure).await),
            };
        };
        let mut options = self.options.clone();
        if let Some(run) = &suspended {
            // The run may be resumed in a session with another approval list.
            options.require_approval_of(&run.approval_list);
        }
        let retry = Retry::new().with_attempts(1);
        let mut attempt = suspended.as_ref().map_or(1, |run| run.attempt);
        let mut pause = None;
        loop {
            let id = if let Some(run) = &suspended {
                run.run_id.clone()
            } else {
                let new_id = async {
                    if let Some(pause) = pause {
                        tokio::time::sleep(pause).await;
                    }
                    fresh_id("run")
                };
                match self.record(|| format!("run/{attempt}/{}", call.id()), new_id).await {
                    Ok(id) => id,
                    Err(failure) => return End::Failed(failure),
                }
            };
            let id_and_input = (id, input.clone());
            let environment = &self.environment;
            let run = Run::child(environment, agent.clone(), call, tool, id_and_input, &options);
            let resumption = suspended
                .take()
                .map(|state| Resumption { state, verdicts: Arc::clone(&self.verdicts) });
            let key = || format!("end/{attempt}/{}", call.id());
            let outcome = match self.recorded::<Outcome>(key).await {
                // The run is not repeated: it may have failed in the middle of a step, whose calls would now be made.
                Ok(Some(Err(failure))) => {
                    run.publish_failed(&failure);
                    Err(failure)
                }
                Ok(recorded) => {
                    // A run may have ended before its calls did, by its time limit. It waits for their entries when it is repeated.
                    let ended = tokio::select! {
                        biased;
                        end = run_attempt(run, tool, resumption) => end.into_outcome(),
                        failure = self.replayed_failure(key) => Ok(Err(failure)),
                    };
                    match (ended, recorded) {
                        (Ok(outcome), _) | (Err(_), Some(outcome)) => outcome,
                        (Err(mut state), None) => {
                            (state.attempt, state.args) = (attempt, Some(call.args().to_string()));
                            state.tool_digest = Some(tool_digest(tool.spec(), tool.approval()));
                            return End::Suspended(state);
                        }
                    }
                }
                Err(failure) => return End::Failed(failure),
            };
            let recording = self.record_end(key, ready(outcome), tool.spec().annotations());
            let failure = match recording.await {
                Ok(payload) => return End::Finished(payload),
                Err(failure) => failure,
            };
            let Some(delay) = retry.next_wait(call, tool.spec(), &failure, attempt) else {
                return End::Failed(failure);
            };
            self.publisher.retried(tool, call, &failure, (attempt, delay));
            pause = Some(delay);
            attempt += 1;
        }
    }
}

/// Runs one attempt of an agent at a call, with the time limit of the tool. Boxed, since runs may be nested.
fn run_attempt(run: Run, tool: &ToolEntry, resumption: Option<Resumption>) -> BoxFuture<'_, End> {
    Box::pin(async move {
        let running = Caught::new(run.drive(resumption));
        let ended = match tool.spec().limits().timeout {
            None => running.await,
            Some(limit) => match tokio::time::timeout(limit, running).await {
                Ok(ended) => ended,
                Err(_) => return End::Failed(timed_out(tool, limit)),
            },
        };
        match ended {
            Ok((end, _)) => end,
            Err(panic) => End::Failed(panicked("the agent's run", &panic)),
        }
    })
}
