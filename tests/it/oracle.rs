//! typify as an oracle, where it reads schemas rightly: its types, with serde, have to judge as our codecs do. Only shapes
//! that it honours are here (docs/decisions/0001-own-type-emitter.md says which it does not).

use proptest::prelude::{prop_assert_eq, prop_assume, proptest};
use proptest::test_runner::Config;
use serde::de::DeserializeOwned;

use crate::codec_cases::oracle_tools::specs;
use crate::judge::Side;
use crate::sample::{disturbed, tape};

/// The types that typify makes of `file_issue`'s arguments.
mod file_issue {
    typify::import_types!(schema = "tests/it/oracle/file_issue.args.json");
}

/// The types that typify makes of `place_shape`'s arguments.
mod place_shape {
    typify::import_types!(schema = "tests/it/oracle/place_shape.args.json");
}

fn reads<T: DeserializeOwned>(payload: &str) -> bool {
    serde_json::from_str::<T>(payload).is_ok()
}

/// A tool, its schema as the oracle read it, and the oracle.
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
fn the_oracle_reads_the_schemas_that_are_published() {
    for (spec, schema, _) in COMPARED {
        assert_eq!(
            spec.args_schema(),
            schema,
            "{}: copy it anew into tests/it/oracle",
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
            // It takes null for an optional property that is absent.
            prop_assume!(!payload.contains("null"));
            let accepted = Side::Args.check(spec, &payload);
            prop_assert_eq!(oracle(&payload), accepted.is_ok(), "{}: {}\n{:?}", spec.name(), payload, accepted);
        }
    }
}
