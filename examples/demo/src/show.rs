//! Formats a plan for people.

use std::fmt::Write as _;

use planning_tools::types::{Plan, PlanStep, StepStatus};
use toolwright::Nullable;

/// Formats a plan: one line for each step, and the sum of the minutes.
pub(crate) fn plan(plan: &Plan) -> String {
    let width = plan.steps.iter().map(|step| step.title.chars().count()).max().unwrap_or(0);
    let mut text = format!("Plan: {}\n", plan.goal);
    for (place, step) in plan.steps.iter().enumerate() {
        let (number, mark) = (place + 1, mark(step.status));
        // Writing to a string cannot fail.
        let _ =
            writeln!(text, "{number:>3}. {mark} {:<width$}  {:>3} min", step.title, minutes(step));
    }
    let total: f64 = plan.steps.iter().map(minutes).sum();
    let _ = writeln!(text, "{:>3}      {:<width$}  {total:>3} min", "", "in all");
    text
}

fn mark(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "[ ]",
        StepStatus::InProgress => "[>]",
        StepStatus::Done => "[x]",
    }
}

/// The minutes of a step; 0 if they are unknown.
fn minutes(step: &PlanStep) -> f64 {
    match step.minutes {
        Some(Nullable::Value(minutes)) => minutes,
        Some(Nullable::Null) | None => 0.0,
    }
}
