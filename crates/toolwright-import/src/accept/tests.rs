//! Counts the work of an import.

use std::cell::Cell;

use super::super::{Owner, Provenance, Request, Selection, UpdateReport, import, listing};
use super::*;
use crate::{document, json_text};

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
    let list = format!(r#"{{"tools":[{}]}}"#, (0..tools).map(tool).collect::<Vec<_>>().join(","));
    let request = Request {
        owner: Owner { service: "lab", toolset: "lab" },
        selection: Selection::default(),
        from: Provenance::default(),
        other_files: &[],
    };
    let mut warnings = Warnings::default();
    let list = listing::read(json_text::read(&list).unwrap(), &mut warnings).unwrap();
    let import = import(list, &request, None, &mut warnings, &mut UpdateReport::default()).unwrap();
    let document = Json::Object(document::document(request.owner, &import));
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
    let (tries, left_out) = (BTreeMap::new(), BTreeMap::new());
    let warnings = &mut warnings;
    let mut accepting = Accepting { document, draft: &draft, tries, left_out, warnings };
    assert!(accepting.leave_out_tools().is_empty());
    assert_eq!(part::Whole::of(&accepting.document).owners.len(), tools / 2);
    bytes.get()
}

#[test]
fn the_work_of_leaving_out_tools_does_not_grow_with_the_square_of_their_number() {
    let (few, many) = (checked_bytes(80), checked_bytes(320));
    assert!(many < 10 * few, "{few} bytes for 80 tools, {many} for 320");
}
