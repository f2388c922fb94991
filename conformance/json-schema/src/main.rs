//! Writes or checks `docs/conformance.md`. `cargo xtask conformance` runs it in the repository's root.

mod date;

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, fs};

use toolwright_conformance::record::Area;
use toolwright_conformance::{Record, judge, record, table};

const PAGE: &str = "docs/conformance.md";
const COMMAND: &str = "cargo xtask conformance";

/// The heading of the last section, which `cargo xtask judge` writes.
const JUDGED: &str = "\n## Random schemas\n";

fn main() -> ExitCode {
    let check = match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return usage(),
    };
    let record = record();
    if !record.has_corpora {
        println!(
            "conformance: there are no corpora beside this checkout, so {PAGE} stays as it is"
        );
        return ExitCode::SUCCESS;
    }
    let failures = failures(&record);
    eprint!("{failures}");
    match update_page(&record, check) {
        Ok(true) if failures.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: cannot write {PAGE}: {error}");
            ExitCode::from(3)
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("error: expected no argument, or `--check`");
    ExitCode::from(2)
}

/// All faults, one line or more each.
fn failures(record: &Record) -> String {
    let mut text = String::new();
    for judged in [Area::Suite, Area::Servers].into_iter().flat_map(|area| judge(record, area)) {
        text.extend(judged.broken.iter().map(|broken| format!("broken: {broken}\n")));
        text.extend(judged.disagreed.iter().map(|row| format!("disagreed: {row}")));
    }
    text
}

/// Writes the page if it differs by more than its date. Returns whether it is up to date now.
fn update_page(record: &Record, check: bool) -> std::io::Result<bool> {
    let written = fs::read_to_string(PAGE).unwrap_or_default();
    let (ours, judged) = written.split_at(written.find(JUDGED).unwrap_or(written.len()));
    let date = ours.lines().find_map(|line| line.strip_prefix(table::DATED)?.split_once(','));
    if date.is_some_and(|(date, _)| table::page(record, date) == ours) {
        println!("conformance: {PAGE} is up to date");
        return Ok(true);
    }
    if check {
        println!("conformance: {PAGE} is out of date; run `{COMMAND}`");
        return Ok(false);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let page = table::page(record, &date::of_day(now.as_secs() / 86_400));
    fs::write(PAGE, page + judged)?;
    println!("conformance: wrote {PAGE}");
    Ok(true)
}
