//! Tests the codecs of every honored keyword. `tests/codecs/<case>.yaml` is a toolset; `<case>.jsonl` has payloads of its
//! tools and the issues that the codecs find in them. `UPDATE_EXPECT=1` updates the issues and the encodings.
//!
//! The texts of issues are tested in `sentences`, and in the contract's own tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolwright::codec::{self, Decode, Encode};
use toolwright::schema::Schema;
use toolwright::vectors::disagreements;
use toolwright::{InvalidPayload, Tool, ToolSpec, Value};
use toolwright_codegen::internal::schema::read_values;
use toolwright_codegen::internal::values::rows;

use crate::codec_cases as cases;
use crate::judge::{Published, Side};

/// One payload. `payload` is JSON text inside a JSON string; each issue is a JSON Pointer and a code.
#[derive(Clone, PartialEq, Deserialize, Serialize)]
struct Row {
    why: String,
    tool: String,
    side: Side,
    payload: String,
    issues: Vec<String>,
    /// The encoding of the decoded payload, if it has another meaning: a number was rounded to a double, or a default was filled
    /// in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoded: Option<String>,
    /// The reason why the `jsonschema` crate is wrong about this row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    disputed: Option<String>,
}

/// A case: its name, and all tools of its toolset.
pub(crate) struct Case {
    name: &'static str,
    specs: &'static [&'static ToolSpec],
    tools: &'static [CodecPair],
}

/// A tool with its two codecs.
pub(crate) struct CodecPair {
    pub(crate) spec: &'static ToolSpec,
    reencode: fn(Side, &[u8]) -> Result<String, InvalidPayload>,
    disagreements: fn(&str) -> Vec<String>,
}

/// Lists cases. Tools are named by their marker types in `specs`.
macro_rules! cases {
    ($($name:ident in $library:ident: $($tool:ident)*;)*) => {
        &[$(Case {
            name: stringify!($name),
            specs: cases::$library::specs::ALL,
            tools: &[$(CodecPair {
                spec: <cases::$library::specs::$tool as Tool>::SPEC,
                reencode: reencode::<cases::$library::specs::$tool>,
                disagreements: disagreements::<cases::$library::specs::$tool>,
            },)*],
        },)*]
    };
}

pub(crate) static CASES: &[Case] = cases! {
    anything in anything_tools: Hold;
    arrays in arrays_tools: List;
    assertions in assertions_tools: AssertAll AssertFree AssertNamed AssertWhere AssertAgain;
    choices in choices_tools: Choose;
    collections in collections_tools: Collect;
    collisions in collisions_tools: React;
    conditions in conditions_tools: Combine;
    constants in constants_tools: Fix;
    contents in contents_tools: Attach;
    defaults in defaults_tools: Fill FillZero Leave FillSearch FillSession FillScan;
    enums in enums_tools: Pick PickMaybe;
    foreign in foreign_tools: Frame FrameLevel;
    formats in formats_tools: Stamp StampId StampLink;
    heirs in heirs_tools: Inherit;
    integer_formats in integer_formats_tools: Enumerate;
    integers in integers_tools: Count;
    keys in keys_tools: Unlock;
    lengthy in lengthy_toolset_with_a_name_of_sixty_four_bytes_no_more_no_less_tools:
        StretchAToolWithANameOfSixtyFourBytesNoMoreNoLessX;
    maps in maps_tools: Score FreeMap;
    merged in merged_tools: Hire Promote;
    mixtures in mixtures_tools: Blend;
    naming in naming_tools: Name Type Match;
    nullables in nullables_tools: Maybe MaybeNames;
    numbers in numbers_tools: Measure;
    objects in objects_tools: NoArguments ClosedObject OpenObject TypedRest OddKeys;
    oracle in oracle_tools: FileIssue PlaceShape;
    overlaps in overlaps_tools: Meet;
    patterns in patterns_tools: MatchText;
    places in places_tools: Go;
    references in references_tools: Follow FollowInline FollowAlias;
    results in results_tools: GiveText GiveInteger GiveNumber GiveFlag GiveNothing GiveAnything GiveList GiveThings
        GiveMap GiveChoice GiveConstant GiveMaybe;
    siblings in siblings_tools: Stand Seal Pin Date;
    strings in strings_tools: Text;
    tuples in tuples_tools: Place;
    unevaluated in unevaluated_tools: Look;
    unions in unions_tools: Draw;
    untyped in untyped_tools: Pass;
    fidelity in fidelity_tools: KeepValidatorPatternDoesNotCompile KeepSameWithAnyCharacterClass KeepSameWithEmojiEscape KeepSameWithNumberNoDoubleHolds KeepSameWithEmptyClassAndBackspace KeepDotInValidatedPattern KeepWordBoundaryInValidatedPattern KeepMultipleofOnBigIntegers KeepMultipleofOnTinyNumbers KeepNumberBoundsAsDoubles KeepDecodedButCannotBeEncoded KeepEnumOfNumbersRounded KeepExponentialRecursion KeepLeapSecondAtOtherDays KeepUntypedUnionIntNumber KeepUntypedOpenTuple KeepUntypedMixedConstants KeepDoublingTypes KeepDeepChoices KeepNumbers KeepRandom KeepNumbersThatAnotherRuleMakesIntegers;
};

/// Every tool of every case.
pub(crate) fn tools() -> impl Iterator<Item = &'static CodecPair> {
    CASES.iter().flat_map(|case| case.tools)
}

/// The arguments and the result of every tool of every case.
pub(crate) fn sides() -> impl Iterator<Item = (&'static CodecPair, Side)> {
    tools().flat_map(|tool| Side::BOTH.map(|side| (tool, side)))
}

impl CodecPair {
    /// Decodes a payload and encodes it again.
    pub(crate) fn reencode(&self, side: Side, payload: &str) -> Result<String, InvalidPayload> {
        (self.reencode)(side, payload.as_bytes())
    }
}

fn reencode<T: Tool>(side: Side, payload: &[u8]) -> Result<String, InvalidPayload> {
    fn of<P: Decode + Encode>(payload: &[u8]) -> Result<String, InvalidPayload> {
        codec::to_json(&codec::from_json::<P>(payload)?)
    }
    match side {
        Side::Args => of::<T::Args>(payload),
        Side::Result => of::<T::Result>(payload),
    }
}

#[test]
fn every_file_is_a_case_and_every_tool_has_rows() {
    let files: BTreeSet<String> = fs::read_dir(folder())
        .expect("the folder can be read")
        .map(|file| file.expect("an entry").path())
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    let names: BTreeSet<String> = CASES.iter().map(|case| case.name.to_owned()).collect();
    assert_eq!(files, names);
    for case in CASES {
        let tools: Vec<&str> = case.tools.iter().map(|tool| tool.spec.name()).collect();
        let specs: Vec<&str> = case.specs.iter().map(|spec| spec.name()).collect();
        assert_eq!(tools, specs, "{}", case.name);
        let tried: BTreeSet<String> = case.rows().into_iter().map(|row| row.tool).collect();
        assert!(tools.iter().all(|tool| tried.contains(*tool)), "{}: {tried:?}", case.name);
    }
}

/// G17, G20: the codec of a type finds all issues of a payload in one pass, each at its place.
#[test]
fn codecs_find_the_issues_that_the_rows_list() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    for case in CASES {
        let rows = case.rows();
        let judged: Vec<Row> = rows.iter().map(|row| case.judged(row)).collect();
        if update {
            case.write(&judged);
            continue;
        }
        for (row, judged) in rows.iter().zip(&judged) {
            let place = case.place(row);
            assert_eq!(judged.issues, row.issues, "{place}\nUPDATE_EXPECT=1 updates the rows");
        }
    }
}

/// The `jsonschema` crate, which shares no code with the codecs, checks the published schemas.
#[test]
fn codecs_accept_exactly_what_the_published_schemas_accept() {
    let mut wrong = Vec::new();
    for case in CASES {
        let published = Published::of(case.specs.iter().copied());
        for row in case.rows().iter().filter(|row| !row.is_beyond_the_schema()) {
            let spec = case.tool(&row.tool).spec;
            let accepted = row.side.check(spec, &row.payload).is_ok();
            let verdict = published.accepts(spec, row.side, &row.payload);
            let agree = verdict.is_none_or(|verdict| verdict == accepted);
            if agree == row.disputed.is_some() {
                wrong.push(format!(
                    "{}, the codec: {accepted}, the schema: {verdict:?}",
                    case.place(row)
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} rows are disputed, or no longer are:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The rows that `vectors = true` generates.
#[test]
fn codecs_agree_with_the_vectors_of_their_schemas() {
    let mut wrong = Vec::new();
    for CodecPair { spec, disagreements, .. } in tools() {
        let texts = [spec.args_schema(), spec.result_schema()];
        let values = texts.map(|text| text.parse().expect("a published schema is JSON"));
        let (schemas, nodes) = read_values(&values).expect("a published schema can be read");
        for (side, of) in ["args", "result"].into_iter().enumerate() {
            let compiled = Arc::new(Schema::new(texts[side]).expect("it can be compiled"));
            let rows = rows(&schemas, nodes[side], &compiled, texts[side].len(), of, &[]);
            let count = rows.lines().count();
            assert!((20..=200).contains(&count), "{} {of}: {count} rows", spec.name());
            let lines = disagreements(&rows).into_iter();
            wrong.extend(lines.map(|line| format!("{}: {line}", spec.name())));
        }
    }
    assert!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_vector_with_the_other_verdict_is_a_disagreement() {
    let rows = include_str!("../../gen/todos/tools/todos/vectors/update_todos.jsonl");
    for row in rows.lines() {
        let [valid, invalid] = ["\"valid\":true", "\"valid\":false"];
        let (from, to) = if row.contains(valid) { (valid, invalid) } else { (invalid, valid) };
        let wrong = disagreements::<todos_tools::specs::UpdateTodos>(&row.replace(from, to));
        assert_eq!(wrong.len(), 1, "{row}");
    }
}

#[test]
fn a_decoded_payload_is_encoded_with_the_same_meaning() {
    for case in CASES {
        for row in case.rows().iter().filter(|row| row.issues.is_empty()) {
            let place = case.place(row);
            let encoded = case.tool(&row.tool).reencode(row.side, &row.payload);
            let encoded = encoded.unwrap_or_else(|issues| panic!("{place}\n{issues}"));
            let expected = row.encoded.as_ref().unwrap_or(&row.payload);
            assert_eq!(meaning(&encoded), meaning(expected), "{place}");
        }
    }
}

/// A value for comparing payloads: the spelling of numbers and the order of keys do not matter.
pub(crate) fn meaning(payload: &str) -> Value {
    payload.parse().expect("a valid payload is JSON")
}

impl Row {
    /// Returns whether a row has an issue that no schema describes.
    fn is_beyond_the_schema(&self) -> bool {
        ["malformed", "duplicate_key", "too_deep"]
            .iter()
            .any(|code| self.issues.iter().any(|issue| issue.ends_with(code)))
    }
}

impl Case {
    fn path(&self) -> PathBuf {
        folder().join(self.name).with_extension("jsonl")
    }

    fn rows(&self) -> Vec<Row> {
        let text = fs::read_to_string(self.path()).expect("the rows can be read");
        text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    fn write(&self, rows: &[Row]) {
        let line = |row| serde_json::to_string(row).expect("rows are plain") + "\n";
        fs::write(self.path(), rows.iter().map(line).collect::<String>())
            .expect("the rows can be written");
    }

    fn tool(&self, name: &str) -> &CodecPair {
        self.tools
            .iter()
            .find(|tool| tool.spec.name() == name)
            .unwrap_or_else(|| panic!("{} has no tool {name}", self.name))
    }

    /// The text for a row in the message of a failed test.
    fn place(&self, row: &Row) -> String {
        format!("{}: {} {}: {}", self.name, row.tool, row.side, row.payload)
    }

    /// The row with the issues that the codec finds, or with its encoding.
    fn judged(&self, row: &Row) -> Row {
        let found = row.side.check(self.tool(&row.tool).spec, &row.payload);
        let issues = found.err().map_or_else(Vec::new, |invalid| {
            let line = |issue: &toolwright::Issue| format!("{} {}", issue.pointer(), issue.code());
            invalid.issues().iter().map(line).collect()
        });
        let encoded = issues.is_empty().then(|| {
            let encoded = self.tool(&row.tool).reencode(row.side, &row.payload);
            encoded.unwrap_or_else(|issues| panic!("{}\n{issues}", self.place(row)))
        });
        let encoded = encoded.filter(|encoded| meaning(encoded) != meaning(&row.payload));
        Row { issues, encoded, ..row.clone() }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/codecs")
}
