//! Counts the work of an import.

use std::cell::Cell;
use std::time::Instant;

use super::super::{Owner, Provenance, Request, Selection, UpdateReport, import, listing};
use super::*;
use crate::{document, json_text};

/// Returns the document of some tools, before it is checked.
fn imported(tools: &[String], warnings: &mut Warnings) -> Json {
    let request = Request {
        owner: Owner { service: "lab", toolset: "lab" },
        selection: Selection::default(),
        from: Provenance::default(),
        other_files: &[],
    };
    let list = format!(r#"{{"tools":[{}]}}"#, tools.join(","));
    let list = listing::read(json_text::read(&list).unwrap(), warnings).unwrap();
    let import = import(list, &request, None, warnings, &mut UpdateReport::default()).unwrap();
    Json::Object(document::document(request.owner, &import))
}

/// Returns the number of bytes that are passed to `check` to leave out half of some tools, each of which has many mistakes.
fn checked_bytes(tools: usize) -> usize {
    let wrong =
        (0..100).map(|n| format!(r#""p{n}":{{"pattern":"("}}"#)).collect::<Vec<_>>().join(",");
    let tool = |n: usize| {
        let properties = if n.is_multiple_of(2) { "" } else { &wrong };
        format!(
            r#"{{"name":"t{n}","inputSchema":{{"type":"object","properties":{{{properties}}}}}}}"#
        )
    };
    let mut warnings = Warnings::default();
    let document = imported(&(0..tools).map(tool).collect::<Vec<_>>(), &mut warnings);
    let bytes = Cell::new(0);
    let write = |document: &Json| {
        let text = document::text(document);
        bytes.set(bytes.get() + text.len());
        text
    };
    let draft = Draft {
        write: &write,
        other_files: &[],
        is_foreign: &|_, _| false,
        keeps_name: &|_| false,
    };
    let (tries, left_out, separated) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    let (draft, warnings) = (&draft, &mut warnings);
    let mut accepting = Accepting { document, draft, tries, left_out, separated, warnings };
    assert!(accepting.leave_out_tools().is_empty());
    assert_eq!(part::Whole::of(&accepting.document).owners.len(), tools / 2);
    bytes.get()
}

#[test]
fn the_work_of_leaving_out_tools_does_not_grow_with_the_square_of_their_number() {
    let (few, many) = (checked_bytes(80), checked_bytes(320));
    assert!(many < 10 * few, "{few} bytes for 80 tools, {many} for 320");
}

/// All names of fields were once separated for each name, and each name had a copy of the message that lists them.
#[test]
fn properties_whose_fields_have_one_name_cost_no_more_than_their_number() {
    let pairs = |at: usize| format!("{}{}", ["+", "-"][at % 2], at / 2);
    let same = |at: usize| {
        let separator = |place: u32| ["-", "_", ".", "+"][at / 4_usize.pow(place) % 4];
        (0..6).map(|place| format!("a{}", separator(place))).collect::<Vec<_>>().concat()
    };
    let draft = Draft {
        write: &document::text,
        other_files: &[],
        is_foreign: &|_, _| false,
        keeps_name: &|_| false,
    };
    for name in [&pairs as &dyn Fn(usize) -> String, &same] {
        let times = [500, 4000].map(|count| {
            let properties: Vec<_> =
                (0..count).map(|at| format!(r#""{}":{{"type":"string"}}"#, name(at))).collect();
            let schema =
                format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
            let tool = format!(r#"{{"name":"t","inputSchema":{schema}}}"#);
            let mut warnings = Warnings::default();
            let document = imported(&[tool], &mut warnings);
            let start = Instant::now();
            accept(document, &draft, &mut warnings).unwrap();
            start.elapsed()
        });
        assert!(times[1] < times[0] * 24, "{times:?}");
    }
}
