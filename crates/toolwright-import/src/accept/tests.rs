//! Counts the work of an import.

use std::cell::Cell;
use std::time::Instant;

use super::super::{Owner, Provenance, Request, Selection, UpdateReport, import, listing};
use super::*;
use crate::{document, json_text};

/// Returns the document of some tools, before it is checked.
fn imported(tools: &[String], warnings: &mut Warnings) -> Json {
    imported_to("lab", tools, warnings)
}

fn imported_to(toolset: &str, tools: &[String], warnings: &mut Warnings) -> Json {
    let request = Request {
        owner: Owner { service: "lab", toolset },
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
        is_foreign: &|_| Box::new(|_| false),
        had: &|_| false,
        keeps_name: &|_| false,
    };
    let mut accepting = Accepting::new(document, &draft, &mut warnings);
    assert!(accepting.leave_out_tools().is_empty());
    assert_eq!(part::Whole::of(&accepting.document).owners.len(), tools / 2);
    bytes.get()
}

#[test]
fn the_work_of_leaving_out_tools_does_not_grow_with_the_square_of_their_number() {
    let (few, many) = (checked_bytes(80), checked_bytes(320));
    assert!(many < 10 * few, "{few} bytes for 80 tools, {many} for 320");
}

/// One tool was once left out for each check.
#[test]
fn tools_that_are_too_large_together_are_refused_after_a_few_checks() {
    let tool = |n: usize| {
        let link = |at: usize| {
            let then = format!(r##"{{"$ref":"#/$defs/D{n}x{}"}}"##, at + 1);
            format!(r#""D{n}x{at}":{{"if":{{"minLength":1}},"then":{then}}}"#)
        };
        let links = (0..150).map(link).collect::<Vec<_>>().join(",");
        let properties = format!(r##"{{"a":{{"$ref":"#/$defs/D{n}x0"}}}}"##);
        format!(
            r#"{{"name":"t{n}","inputSchema":{{"properties":{properties},"$defs":{{{links},"D{n}x150":{{}}}}}}}}"#
        )
    };
    let mut warnings = Warnings::default();
    let document = imported(&(0..65).map(tool).collect::<Vec<_>>(), &mut warnings);
    let checks = Cell::new(0);
    let write = |document: &Json| {
        checks.set(checks.get() + 1);
        document::text(document)
    };
    let draft = Draft {
        write: &write,
        other_files: &[],
        is_foreign: &|_| Box::new(|_| false),
        had: &|_| false,
        keeps_name: &|_| false,
    };
    let lines = accept(document, &draft, &mut warnings).expect_err("they are too large");
    assert!(lines[0].contains("MiB in total"), "{lines:?}");
    assert!(checks.get() < 15, "{} checks", checks.get());
}

/// Each tool was once searched for from the first one.
#[test]
fn repairs_of_many_tools_take_time_in_proportion_to_their_number() {
    let times = [250, 2000].map(|count| {
        let schema =
            r#"{"type":"object","properties":{"p":{"type":"string","minLength":5,"maxLength":1}}}"#;
        let tool = |at| format!(r#"{{"name":"t{at}","inputSchema":{schema}}}"#);
        let tools: Vec<_> = (0..count).map(tool).collect();
        // Of several, as another process may take the processor.
        let times = (0..3).map(|_| {
            let mut warnings = Warnings::default();
            let document = imported(&tools, &mut warnings);
            let start = Instant::now();
            accept(document, &any_draft(), &mut warnings).unwrap();
            start.elapsed()
        });
        times.min().unwrap()
    });
    assert!(times[1] < times[0] * 24, "{times:?}");
}

/// The whole document was once rebuilt for each name.
#[test]
fn names_that_another_file_has_take_time_in_proportion_to_their_number() {
    let times = [100, 800].map(|count| {
        let tools = |prefix: &str| {
            let tool = |at| {
                let body = format!(r#"{{"type":"object","properties":{{"p{at}":{{}}}}}}"#);
                let schema = format!(
                    r##"{{"type":"object","properties":{{"a":{{"$ref":"#/$defs/D{at}x"}}}},"$defs":{{"D{at}x":{body}}}}}"##
                );
                format!(r#"{{"name":"{prefix}{at}","inputSchema":{schema}}}"#)
            };
            (0..count).map(tool).collect::<Vec<_>>()
        };
        let mut warnings = Warnings::default();
        let other = document::text(&imported_to("other", &tools("o"), &mut warnings));
        let other_files = [Source { path: "other.yaml".to_owned(), text: other }];
        let draft = Draft { other_files: &other_files, ..any_draft() };
        let tools = tools("t");
        // Of several, as another process may take the processor.
        let times = (0..3).map(|_| {
            let mut warnings = Warnings::default();
            let document = imported(&tools, &mut warnings);
            let start = Instant::now();
            let accepted = accept(document, &draft, &mut warnings).unwrap();
            let elapsed = start.elapsed();
            let types = crate::existing::entries(accepted.get("types"));
            assert_eq!(types.len(), count);
            assert!(document::text(&accepted).contains("$ref: D0x2"));
            elapsed
        });
        times.min().unwrap()
    });
    assert!(times[1] < times[0] * 24, "{times:?}");
}

/// All names of fields were once separated for each name, and each name had a copy of the message that lists them.
#[test]
fn properties_whose_fields_have_one_name_cost_no_more_than_their_number() {
    let pairs = |at: usize| format!("{}{}", ["+", "-"][at % 2], at / 2);
    let same = |at: usize| {
        let separator = |place: u32| ["-", "_", ".", "+"][at / 4_usize.pow(place) % 4];
        (0..6).map(|place| format!("a{}", separator(place))).collect::<Vec<_>>().concat()
    };
    let draft = any_draft();
    for name in [&pairs as &dyn Fn(usize) -> String, &same] {
        let times = [500, 4000].map(|count| {
            let properties: Vec<_> =
                (0..count).map(|at| format!(r#""{}":{{"type":"string"}}"#, name(at))).collect();
            let schema =
                format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
            let tool = format!(r#"{{"name":"t","inputSchema":{schema}}}"#);
            // Of several, as another process may take the processor.
            let times = (0..3).map(|_| {
                let mut warnings = Warnings::default();
                let document = imported(std::slice::from_ref(&tool), &mut warnings);
                let start = Instant::now();
                accept(document, &draft, &mut warnings).unwrap();
                start.elapsed()
            });
            times.min().unwrap()
        });
        assert!(times[1] < times[0] * 24, "{times:?}");
    }
}

/// The parts of a file that an import does not write were once searched for each finding.
#[test]
fn the_parts_that_are_not_imported_are_found_once_for_each_check() {
    let checks = [20, 200].map(|count| {
        let definitions: Vec<_> =
            (0..count).map(|n| format!(r#""d{n}":{{"type":"string","pattern":"("}}"#)).collect();
        let uses: Vec<_> =
            (0..count).map(|n| format!(r##""p{n}":{{"$ref":"#/$defs/d{n}"}}"##)).collect();
        let tool = format!(
            r#"{{"name":"t","inputSchema":{{"type":"object","properties":{{{}}},"$defs":{{{}}}}}}}"#,
            uses.join(","),
            definitions.join(",")
        );
        let mut warnings = Warnings::default();
        let document = imported(&[tool], &mut warnings);
        let searches = Cell::new(0);
        let is_foreign = |_: &Json| -> IsForeign {
            searches.set(searches.get() + 1);
            Box::new(|_| false)
        };
        let draft = Draft {
            write: &document::text,
            other_files: &[],
            is_foreign: &is_foreign,
            had: &|_| false,
            keeps_name: &|_| false,
        };
        accept(document, &draft, &mut warnings).unwrap();
        searches.get()
    });
    assert_eq!(checks[0], checks[1]);
}

/// A warning about each of many properties began with the key around them.
#[test]
fn long_keys_are_in_no_warning_and_in_no_pointer() {
    let mut warnings = Warnings::default();
    warnings.at("p".repeat(100_000), "m".repeat(100_000));
    let [warning] = &warnings.into_vec()[..] else { panic!("one warning") };
    assert!(warning.message.len() < 2100 && warning.places[0].len() < 300);
    let long = "k".repeat(10_000);
    let properties = format!(r#"{{"{long}":{{"properties":{{"a":{{}}}}}}}}"#);
    let list = format!(r#"[{{"name":"t","inputSchema":{{"properties":{properties}}}}}]"#);
    let refused = listing::read(json_text::read(&list).unwrap(), &mut Warnings::default());
    let expected = "the keys that lead to a value have more than 4096 bytes";
    assert!(refused.err().is_some_and(|error| error.contains(expected)));
}

fn any_draft() -> Draft<'static> {
    Draft {
        write: &document::text,
        other_files: &[],
        is_foreign: &|_| Box::new(|_| false),
        had: &|_| false,
        keeps_name: &|_| false,
    }
}
