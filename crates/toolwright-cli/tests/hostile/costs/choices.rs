//! Projects with choices whose members are costly to look at.

use super::{Case, HEAD, lines};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "5 choices of 9,000 times a type of 9,999 properties",
        files: || {
            let object = tagged("Big", "a", 9_998);
            let choice = |n| format!("  C{n}: {{anyOf: [{}]}}\n", "{$ref: Big}, ".repeat(9_000));
            vec![("schema/a.yaml", format!("{HEAD}types:\n{object}{}", lines(5, choice)))]
        },
        command: "check",
        code: 1,
        printed: "this object has 9999 properties",
    },
    Case {
        name: "9,000 choices of two types of 1,900 properties",
        files: || {
            let objects = tagged("A", "a", 1_900) + &tagged("B", "b", 1_900);
            vec![(
                "schema/a.yaml",
                format!("{HEAD}types:\n{objects}{}", lines(9_000, choice_of_two)),
            )]
        },
        command: "check",
        code: 0,
        printed: "check: ",
    },
    Case {
        name: "9,000 choices of two types of 1,900 constants that are the same in both",
        files: || {
            let object = |name: &str| {
                let names = lines(1_900, |n| format!("p{n}, "));
                let constants = lines(1_900, |n| format!("p{n}: {{const: a}}, "));
                format!(
                    "  {name}: {{type: object, required: [{names}], properties: {{{constants}}}}}\n"
                )
            };
            let objects = object("A") + &object("B");
            vec![(
                "schema/a.yaml",
                format!("{HEAD}types:\n{objects}{}", lines(9_000, choice_of_two)),
            )]
        },
        command: "check",
        code: 1,
        printed: "the schemas in generated code have more than 16 MiB in total",
    },
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

/// An object with a constant and many other properties.
fn tagged(name: &str, tag: &str, count: usize) -> String {
    let others = lines(count, |n| format!("p{n}: {{}}, "));
    format!(
        "  {name}: {{type: object, required: [t], properties: {{t: {{const: {tag}}}, {others}}}}}\n"
    )
}

fn choice_of_two(number: usize) -> String {
    format!("  C{number}: {{anyOf: [{{$ref: A}}, {{$ref: B}}]}}\n")
}

fn chain(from: usize, count: usize) -> String {
    lines(count, |n| {
        let (link, next) = (from + n, from + n + 1);
        format!("  T{link}: {{oneOf: [{{$ref: T{next}}}, {{type: object, required: [x]}}]}}\n")
    })
}
