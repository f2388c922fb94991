//! The tool `search_files`.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use regex::bytes::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use toolwright::{FailureKind, Recovery, ToolFailure};
use toolwright_runtime::FunctionTool;
use wildmatch::WildMatch;

use super::walk::{DEPTH, ENTRIES, Kind, Walk};
use super::{Files, blocking, open, refused, spec};
use crate::READS;

/// The largest file that is searched, how much is read for one call, the longest line that is searched by a regular
/// expression, and how much of a line is shown; in bytes.
const LARGEST_FILE: u64 = 4_000_000;
const READ_IN_ALL: u64 = 100_000_000;
const LONGEST_LINE: usize = 10_000;
const SHOWN: usize = 400;

/// The largest regular expression, compiled, in bytes: each byte of a line may cost a step for all of it, so the longest line
/// takes about a second at most. A `\w` takes about 40,000.
const LARGEST_REGEX: usize = 1 << 18;

/// How long one call searches.
const TIME_LIMIT: Duration = Duration::from_secs(10);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// The text to find within a line.
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// Whether the pattern is a regular expression.
    #[serde(default)]
    is_regex: bool,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    ignore_case: bool,
    /// The file or folder to search; `.` is the whole.
    #[serde(default = "super::whole")]
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// The names of the files to search, such as `*.rs`.
    #[serde(default = "any")]
    #[schemars(length(min = 1, max = 255))]
    file_names: String,
}

fn any() -> String {
    "*".to_owned()
}

#[derive(Default, Serialize, JsonSchema)]
struct Matches {
    /// In the order of their files, a line each.
    matches: Vec<Match>,
    /// Whether the search ended before all was searched; search less then.
    is_cut_off: bool,
    /// How many files were not searched: binary, too large, or not to be read.
    skipped: usize,
    /// How many lines were not searched, being too long for a regular expression: more than 10,000 bytes.
    skipped_lines: usize,
}

#[derive(Serialize, JsonSchema)]
struct Match {
    path: String,
    /// Counted from one.
    line: usize,
    /// Where the line begins, in bytes: an `offset` for `read_file`.
    offset: u64,
    /// The line, as far as it is not too long.
    text: String,
}

pub(super) fn tool(files: &Files) -> FunctionTool {
    let files = files.clone();
    let about = "Find the lines of text files that contain a text or match a regular expression.";
    FunctionTool::new(spec("search_files", about, READS), move |args: Search| {
        let files = files.clone();
        blocking(move |token| search(&files, &args, token))
    })
}

fn search(files: &Files, args: &Search, token: &CancellationToken) -> Result<Matches, ToolFailure> {
    let lines = Lines {
        regex: regex_of(args)?,
        longest: if args.is_regex { LONGEST_LINE } else { usize::MAX },
        limit: files.listing_limit,
        until: Instant::now() + TIME_LIMIT,
        token,
    };
    let names = WildMatch::new(&args.file_names);
    let mut matches = Matches::default();
    let mut unread = READ_IN_ALL;
    let is_folder =
        files.root.metadata(&args.path).map_err(|error| refused(&args.path, &error))?.is_dir();
    if !is_folder {
        let (file, _) = open(&files.root, &args.path)?;
        let bytes = read(file, &mut unread).map_err(|error| refused(&args.path, &error))?;
        matches.is_cut_off = matches.search(&args.path, bytes, &lines).is_break();
        return Ok(matches);
    }
    let folder = files.root.open_dir(&args.path).map_err(|error| refused(&args.path, &error))?;
    let mut visit = |found: super::walk::Found<'_>| {
        if found.kind != Kind::File || !names.matches(found.name) {
            return ControlFlow::Continue(());
        }
        let read =
            open(found.folder, found.name).ok().and_then(|(file, _)| read(file, &mut unread).ok());
        if unread == 0 {
            return ControlFlow::Break(());
        }
        matches.search(found.path, read.flatten(), &lines)
    };
    let mut walk = Walk { left: ENTRIES, token, recursive: true, visit: &mut visit };
    let walked = walk.folder(&folder, &args.path, DEPTH);
    matches.is_cut_off = walked.map_err(|error| refused(&args.path, &error))?.is_break();
    Ok(matches)
}

fn regex_of(args: &Search) -> Result<Regex, ToolFailure> {
    let pattern = if args.is_regex { args.pattern.clone() } else { regex::escape(&args.pattern) };
    let mut builder = RegexBuilder::new(&pattern);
    builder.case_insensitive(args.ignore_case);
    if args.is_regex {
        builder.size_limit(LARGEST_REGEX);
    }
    builder.build().map_err(|error| {
        let message = format!("`pattern` is no regular expression that can be used: {error}");
        ToolFailure::new(FailureKind::InvalidCall, message, Recovery::Replan)
    })
}

/// The bytes of a file that is not too large, as long as anything may still be read.
fn read(file: cap_std::fs::File, unread: &mut u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    let size = bytes.len() as u64;
    *unread = unread.saturating_sub(size);
    Ok((size <= LARGEST_FILE).then_some(bytes))
}

/// Which lines are searched, and for how long.
struct Lines<'a> {
    regex: Regex,
    /// How long a line may be, in bytes.
    longest: usize,
    /// How many may match.
    limit: usize,
    until: Instant,
    token: &'a CancellationToken,
}

impl Matches {
    /// Adds the matches of a file; breaks off if there are too many, or it takes too long.
    fn search(&mut self, path: &str, bytes: Option<Vec<u8>>, lines: &Lines<'_>) -> ControlFlow<()> {
        let Some(bytes) = bytes.filter(|bytes| !bytes.contains(&0)) else {
            self.skipped += 1;
            return ControlFlow::Continue(());
        };
        let mut offset = 0;
        for (line, text) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if lines.token.is_cancelled() || Instant::now() > lines.until {
                return ControlFlow::Break(());
            }
            if text.len() > lines.longest {
                self.skipped_lines += 1;
            } else if lines.regex.is_match(text) {
                if self.matches.len() == lines.limit {
                    return ControlFlow::Break(());
                }
                let shown = &text[..text.len().min(SHOWN)];
                self.matches.push(Match {
                    path: path.to_owned(),
                    line: line + 1,
                    offset,
                    text: String::from_utf8_lossy(shown).trim_end().to_owned(),
                });
            }
            offset += text.len() as u64 + 1;
        }
        ControlFlow::Continue(())
    }
}
