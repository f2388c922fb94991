//! Tests the oracle on verdicts written by hand, and runs the judge on a few schemas. Skipped with a notice if there is no
//! python3 with venv.

use std::error::Error;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use serde::Deserialize;
use toolwright_judge::{Likeness, Options, Oracle, run};
use toolwright_prerequisites::{Prerequisite, has};

/// A verdict written by hand; `None` if the oracle must not decide.
#[derive(Deserialize)]
struct Row {
    schema: String,
    payload: String,
    accepted: Option<bool>,
}

#[test]
fn the_oracle_agrees_with_verdicts_written_by_hand() -> Result<(), Box<dyn Error>> {
    let Some(folder) = folder() else { return Ok(()) };
    let mut oracle = Oracle::install(&folder)?;
    let rows: Vec<Row> = serde_json::from_str(include_str!("verdicts.json"))?;
    for Row { schema, payload, accepted } in rows {
        assert_eq!(oracle.accepts(&schema, &payload)?, accepted, "{schema}: {payload}");
    }
    for (one, other, likeness) in [
        ("[1,{\"a\":1,\"b\":2}]", "[1.0,{\"b\":2,\"a\":1e0}]", Likeness::Same),
        ("9007199254740993", "9007199254740992.0", Likeness::Rounded),
        ("1e400", "1.7976931348623157e308", Likeness::Rounded),
        ("1e-400", "5e-324", Likeness::Rounded),
        ("1e-400", "1e-323", Likeness::Other),
        ("0.1", "0.2", Likeness::Other),
        ("true", "1", Likeness::Other),
        ("{}", "{\"a\":null}", Likeness::Other),
        ("{}", "{\"a\":1}", Likeness::Same),
        ("[{}]", "[{\"a\":{\"b\":1}}]", Likeness::Same),
        ("{}", "{\"a\":2}", Likeness::Other),
        ("{\"a\":1}", "{}", Likeness::Other),
    ] {
        let schema = r#"{"properties":{"a":{"default":1},"b":{"default":{}}}}"#;
        assert_eq!(oracle.compare(one, other, schema)?, likeness, "{one} and {other}");
    }
    Ok(())
}

/// Compares the faults with `slice.txt`, which should be empty.
#[test]
fn forty_schemas_show_no_new_fault() -> Result<(), Box<dyn Error>> {
    let Some(folder) = folder() else { return Ok(()) };
    let options = Options { schemas: 40, payloads: 40, seed: 7, adversaries: false, cases: 0 };
    let summary = run(options, &folder, |_| {})?;
    assert!(summary.failures.is_empty(), "{:?}", summary.failures);
    assert!(summary.payloads > 1_000, "{} payloads", summary.payloads);
    assert!(summary.undecided * 20 < summary.payloads, "{} undecided", summary.undecided);
    for (side, [all, _]) in &summary.verdicts {
        assert!(*all > 100, "{side}: {all} verdicts");
    }
    expect_file!["slice.txt"].assert_eq(&summary.wrong());
    Ok(())
}

/// The folder for the judge; `None` if Python cannot create a virtual environment.
fn folder() -> Option<PathBuf> {
    has(&[Prerequisite::Venv]).then(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("judge"))
}
