//! Compares our codecs with the types of typify, which use serde. Only schemas that typify fully supports are used here
//! (docs/decisions/0001-own-type-emitter.md lists what it does not support).

use proptest::prelude::{prop_assert_eq, prop_assume, proptest};
use proptest::test_runner::Config;
use serde::de::DeserializeOwned;

use crate::codec_cases::oracle_tools::specs;
use crate::judge::Side;
use crate::sample::{disturbed, tape};

/// The types that typify generates for the arguments of `file_issue`.
mod file_issue {
    typify::import_types!(schema = "tests/it/oracle/file_issue.args.json");
}

/// The types that typify generates for the arguments of `place_shape`.
mod place_shape {
    typify::import_types!(schema = "tests/it/oracle/place_shape.args.json");
}

fn reads<T: DeserializeOwned>(payload: &str) -> bool {
    serde_json::from_str::<T>(payload).is_ok()
}

/// A tool, the schema that typify read, and whether its type accepts a payload.
type Compared = (&'static toolwright::ToolSpec, &'static str, fn(&str) -> bool);

static COMPARED: [Compared; 2] = [
    (
        &specs::FILE_ISSUE,
        include_str!("oracle/file_issue.args.json"),
        reads::<file_issue::FileIssue>,
    ),
    (
        &specs::PLACE_SHAPE,
        include_str!("oracle/place_shape.args.json"),
        reads::<place_shape::PlaceShape>,
    ),
];

#[test]
fn typify_reads_the_published_schemas() {
    for (spec, schema, _) in COMPARED {
        assert_eq!(
            spec.args_schema(),
            schema,
            "{}: copy the published schema to tests/it/oracle",
            spec.name()
        );
    }
}

proptest! {
    #![proptest_config(Config { cases: 1000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_codecs_and_the_types_of_typify_agree(bytes in tape(), changes in tape()) {
        for (spec, _, oracle) in COMPARED {
            let payload = disturbed(&Side::Args.schema(spec).expect("plain numbers"), &bytes, &changes);
            // serde accepts null for an optional property.
            prop_assume!(!payload.contains("null"));
            let accepted = Side::Args.check(spec, &payload);
            prop_assert_eq!(oracle(&payload), accepted.is_ok(), "{}: {}\n{:?}", spec.name(), payload, accepted);
        }
    }
}
