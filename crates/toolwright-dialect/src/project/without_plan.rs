//! Projections that encode and decode nothing: summaries, and those of tools that are refused.

use std::sync::Arc;

use toolwright::value::Value;

use super::Projection;
use crate::loss::{Class, Loss, LossKind};
use crate::numbers::Numbers;
use crate::plan::{Plan, SAME, Step};

impl Projection {
    /// Returns what [`place`](crate::place()) needs to choose and count the tools of a request, without the texts, losses and plan,
    /// which take most of the memory. A summary encodes and decodes nothing.
    #[must_use]
    pub fn summary(self) -> Self {
        let Self { wire_name, class, numbers, schemas, .. } = self;
        Self {
            wire_name,
            class,
            numbers,
            schemas,
            plan: no_plan(),
            description: String::new(),
            wire_schema: None,
            losses: Vec::new(),
        }
    }
}

/// The projection of a tool that is refused as a whole.
pub(super) fn refused(wire_name: String, description: String, reason: String) -> Projection {
    let loss = Loss {
        kind: LossKind::Refused,
        at: String::new(),
        keyword: String::new(),
        was: Value::Null,
        now: reason,
        by: "T0",
    };
    Projection {
        wire_name,
        description,
        wire_schema: None,
        class: Class::Refused,
        losses: vec![loss],
        numbers: Numbers::default(),
        schemas: 0,
        plan: no_plan(),
    }
}

fn no_plan() -> Plan {
    Plan::new(vec![Step::Same], SAME, &Arc::default())
}
