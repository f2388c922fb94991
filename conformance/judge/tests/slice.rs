//! The judge at work on few schemas, and the oracle on verdicts written by hand. Skipped, with a notice, where there is no
//! python3 with venv.

use std::error::Error;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use serde::Deserialize;
use toolwright_judge::{Likeness, Options, Oracle, run};
use toolwright_prerequisites::{Prerequisite, has};

/// A verdict that a person wrote; none where the oracle is not to be certain.
#[derive(Deserialize)]
struct Row {
    schema: String,
    payload: String,
    accepted: Option<bool>,
}

#[test]
fn the_oracle_says_what_people_say() -> Result<(), Box<dyn Error>> {
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

/// What it finds stands in `slice.txt`, which is to be empty.
#[test]
fn forty_schemas_show_no_new_fault() -> Result<(), Box<dyn Error>> {
    let Some(folder) = folder() else { return Ok(()) };
    let options = Options { schemas: 40, payloads: 40, seed: 7, adversaries: false, cases: 0 };
    let outline = run(options, &folder, |_| {})?;
    assert!(outline.failures.is_empty(), "{:?}", outline.failures);
    assert!(outline.payloads > 1_000, "{} payloads", outline.payloads);
    assert!(outline.undecided * 20 < outline.payloads, "{} undecided", outline.undecided);
    for (side, [all, _]) in &outline.verdicts {
        assert!(*all > 100, "{side}: {all} verdicts");
    }
    expect_file!["slice.txt"].assert_eq(&outline.wrong());
    Ok(())
}

/// Where tests may write, if Python can make an environment.
fn folder() -> Option<PathBuf> {
    has(&[Prerequisite::Venv]).then(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("judge"))
}
