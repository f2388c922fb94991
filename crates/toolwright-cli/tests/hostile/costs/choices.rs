//! Projects with choices whose members are costly to look at.

use super::{Case, HEAD, lines};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "a chain of 9,999 choices between the next one and an object",
        files: || vec![("schema/a.yaml", format!("{HEAD}types:\n{}", chain(0, 9_999)) + END)],
        command: "check",
        code: 1,
        printed: "levels deep, expected at most 96",
    },
    Case {
        name: "such a chain through three files",
        files: || {
            let links = |from| format!("{HEAD}types:\n{}", chain(from, 3_333));
            vec![
                ("schema/a.yaml", links(0)),
                ("schema/b.yaml", links(3_333)),
                ("schema/c.yaml", links(6_666) + END),
            ]
        },
        command: "check",
        code: 1,
        printed: "levels deep, expected at most 96",
    },
];

/// The type at the end of a chain.
const END: &str = "  T9999: {type: object}\n";

fn chain(from: usize, count: usize) -> String {
    lines(count, |n| {
        let (link, next) = (from + n, from + n + 1);
        format!("  T{link}: {{oneOf: [{{$ref: T{next}}}, {{type: object, required: [x]}}]}}\n")
    })
}
