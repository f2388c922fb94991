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

use super::walk::{Kind, Walk};
use super::{Files, blocking, open, refused, spec};
use crate::READS;

/// The largest file that is searched, in bytes.
const MAX_FILE_BYTES: u64 = 4_000_000;
/// The most bytes that a call reads.
const MAX_READ_BYTES: u64 = 100_000_000;
/// The longest line that is searched with a regular expression, and the most bytes that are searched before the time is checked.
const MAX_LINE_BYTES: usize = 10_000;
/// The most bytes of a text to find, which has at most 1,000 characters.
const MAX_TEXT_BYTES: usize = 4_000;
/// The most bytes of a line that are returned.
const MAX_SHOWN_BYTES: usize = 400;

/// The largest compiled regular expression, in bytes. As the time for a byte of a line grows with this size, the longest line
/// takes about a second at most. A compiled `\w` has about 40,000.
const MAX_REGEX_BYTES: usize = 1 << 18;

/// How long a call may search.
const TIME_LIMIT: Duration = Duration::from_secs(10);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchArgs {
    /// The text to find within a line.
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// Whether the pattern is a regular expression.
    #[serde(default)]
    is_regex: bool,
    /// Whether to ignore upper and lower case.
    #[serde(default)]
    ignore_case: bool,
    /// The file or folder to search; `.` is the whole folder.
    #[serde(default = "super::root")]
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
    /// The matching lines, in the order of their files.
    matches: Vec<Match>,
    /// Whether the search stopped before the end; then search fewer files.
    is_cut_off: bool,
    /// The number of files that were not searched: binary, too large, or not readable.
    skipped: usize,
    /// The number of lines that were not searched, because they are longer than 10,000 bytes.
    skipped_lines: usize,
}

#[derive(Serialize, JsonSchema)]
struct Match {
    path: String,
    /// The line number, from 1.
    line: usize,
    /// The offset of the line in bytes, for `read_file`.
    offset: u64,
    /// The line. A long line is cut off.
    text: String,
}

pub(super) fn tool(files: &Files) -> FunctionTool {
    let files = files.clone();
    let about = "Find the lines of text files that contain a text or match a regular expression.";
    FunctionTool::new(spec("search_files", about, READS), move |args: SearchArgs| {
        let files = files.clone();
        blocking(move |token| search(&files, &args, token))
    })
}

fn search(
    files: &Files,
    args: &SearchArgs,
    token: &CancellationToken,
) -> Result<Matches, ToolFailure> {
    let query = Query {
        regex: regex_of(args)?,
        max_line_bytes: if args.is_regex { MAX_LINE_BYTES } else { usize::MAX },
        max_matches: files.listing_limit,
        deadline: Instant::now() + TIME_LIMIT,
        token,
    };
    let names = WildMatch::new(&args.file_names);
    let mut matches = Matches::default();
    let mut unread = MAX_READ_BYTES;
    let is_folder =
        files.root.metadata(&args.path).map_err(|error| refused(&args.path, &error))?.is_dir();
    if !is_folder {
        let (file, _) = open(&files.root, &args.path)?;
        let bytes = read(file, &mut unread).map_err(|error| refused(&args.path, &error))?;
        matches.is_cut_off = matches.search(&args.path, bytes, &query).is_break();
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
        matches.search(found.path, read.flatten(), &query)
    };
    let walked = Walk::new(true, token, &mut visit).through(&folder, &args.path);
    matches.is_cut_off = walked.map_err(|error| refused(&args.path, &error))?;
    Ok(matches)
}

fn regex_of(args: &SearchArgs) -> Result<Regex, ToolFailure> {
    let pattern = if args.is_regex { args.pattern.clone() } else { regex::escape(&args.pattern) };
    let mut builder = RegexBuilder::new(&pattern);
    builder.case_insensitive(args.ignore_case);
    if args.is_regex {
        builder.size_limit(MAX_REGEX_BYTES);
    }
    builder.build().map_err(|error| {
        let message = format!("`pattern` is not a regular expression that can be used: {error}");
        ToolFailure::new(FailureKind::InvalidCall, message, Recovery::Replan)
    })
}

/// Reads a file, unless it is too large. `unread` is the number of bytes that the call may still read.
fn read(file: cap_std::fs::File, unread: &mut u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    let size = bytes.len() as u64;
    *unread = unread.saturating_sub(size);
    Ok((size <= MAX_FILE_BYTES).then_some(bytes))
}

/// A search, with its limits.
struct Query<'a> {
    regex: Regex,
    max_line_bytes: usize,
    max_matches: usize,
    deadline: Instant,
    token: &'a CancellationToken,
}

impl Query<'_> {
    /// Returns whether a line matches; `None` if the time is up. A line is longer than a window only if a text is searched, not a
    /// regular expression.
    fn finds(&self, line: &[u8]) -> Option<bool> {
        for start in (0..).step_by(MAX_LINE_BYTES - MAX_TEXT_BYTES) {
            if self.token.is_cancelled() || Instant::now() > self.deadline {
                return None;
            }
            let end = line.len().min(start + MAX_LINE_BYTES);
            if self.regex.is_match(&line[start..end]) {
                return Some(true);
            }
            if end == line.len() {
                break;
            }
        }
        Some(false)
    }
}

impl Matches {
    /// Adds the matches of a file. Breaks if there are too many, or if the time is up.
    fn search(&mut self, path: &str, bytes: Option<Vec<u8>>, query: &Query<'_>) -> ControlFlow<()> {
        let Some(bytes) = bytes.filter(|bytes| !bytes.contains(&0)) else {
            self.skipped += 1;
            return ControlFlow::Continue(());
        };
        let mut offset = 0;
        for (line, text) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let is_found = if text.len() > query.max_line_bytes {
                self.skipped_lines += 1;
                Some(false)
            } else {
                query.finds(text)
            };
            let Some(is_found) = is_found else { return ControlFlow::Break(()) };
            if is_found {
                if self.matches.len() == query.max_matches {
                    return ControlFlow::Break(());
                }
                let shown = &text[..text.len().min(MAX_SHOWN_BYTES)];
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
