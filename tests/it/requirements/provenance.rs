//! Tests that specs name the implementation of a tool apart from its identity (G3, G6, G8, G14).

use toolwright::ToolSpec;
use toolwright::spec::{Implementation, text};

use crate::requirement_cases::{ledger_tools, move_tools, rates_tools};

/// G6, G8, G14: every spec has the name, toolset and owner in the same form, and the implementation apart from them.
#[test]
fn g6_g8_g14_specs_name_the_owner_and_the_implementation() {
    let by_method =
        |service, method| Implementation::Method { service: text(service), method: text(method) };
    let planner =
        Implementation::Agent { service: text("planner"), agent: text("session_planner") };
    let table: [(&ToolSpec, [&str; 3], Implementation); 5] = [
        (
            &todos_tools::specs::GET_TODOS,
            ["get_todos", "todos", "todos"],
            by_method("todos", "get_todos"),
        ),
        (&planning_tools::specs::PLAN_SESSION, ["plan_session", "planning", "planner"], planner),
        (
            &ledger_tools::specs::WRITE_LINE,
            ["write_line", "ledger", "ledger"],
            by_method("ledger", "write"),
        ),
        (
            &move_tools::specs::TRY,
            ["try", "move", "self"],
            Implementation::Mcp { server: text("move") },
        ),
        (
            &rates_tools::specs::GUESS_RATE,
            ["guess_rate", "rates", "ledger"],
            Implementation::External,
        ),
    ];
    for (spec, identity, implementation) in table {
        assert_eq!([spec.name(), spec.toolset(), spec.service()], identity);
        assert_eq!(spec.implementation(), &implementation, "{}", spec.name());
    }
}
