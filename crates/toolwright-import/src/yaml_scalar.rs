//! Writes one string as a YAML scalar: plain where it reads back as the same text, otherwise in quotes or as a block.

use std::borrow::Cow;
use std::fmt::Write as _;

use toolwright::untrusted::{characters, hidden};
use toolwright_codegen::render::without_commands;

/// The least width of a folded text, however deep it is nested.
const MIN_WIDTH: usize = 40;

/// Words that YAML 1.1 or 1.2 reads as something other than a string.
const RESERVED: [&str; 14] =
    ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "~", "=", "<<", "---", "..."];

/// A text as a scalar on one line.
pub(super) fn inline(text: &str, in_flow: bool) -> String {
    if is_plain(text, in_flow) {
        text.to_owned()
    } else if text.contains(['"', '\\']) && is_all_visible(text) && !text.contains('\n') {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        double_quoted(text)
    }
}

/// A text of several lines as a literal block, without the last line break. `None` if the block would not read back as the
/// same text.
pub(super) fn literal(text: &str, indent: usize) -> Option<String> {
    let body = text.trim_end_matches('\n');
    // YAML readers disagree about a first line that has only blanks.
    let first = text.trim_start_matches('\n').split('\n').next();
    let is_possible = body.contains('\n')
        && text.split('\n').all(is_all_visible)
        && first.is_some_and(|line| !line.trim().is_empty());
    if !is_possible {
        return None;
    }
    // Without an indicator, a reader takes the indent of the first line with text as that of the block.
    let indicator = if first.is_some_and(|line| line.starts_with(' ')) { "2" } else { "" };
    let chomping = match text.len() - body.len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    let mut out = format!("|{indicator}{chomping}");
    for line in body.split('\n') {
        push_line(&mut out, indent, line);
    }
    out.extend(std::iter::repeat_n('\n', (text.len() - body.len()).saturating_sub(1)));
    Some(out)
}

/// A long text of one line as a folded block of a width. `None` if folding would change the text.
pub(super) fn folded(text: &str, indent: usize, width: usize) -> Option<String> {
    let is_possible = is_all_visible(text)
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && !text.contains("  ");
    if !is_possible {
        return None;
    }
    let room = width.saturating_sub(indent).max(MIN_WIDTH);
    let lines = wrapped(text, room);
    let mut out = ">-".to_owned();
    for line in &lines {
        push_line(&mut out, indent, line);
    }
    (lines.len() > 1).then_some(out)
}

fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        match lines.last_mut() {
            Some(line) if used + 1 + length <= room => {
                line.push(' ');
                line.push_str(word);
                used += 1 + length;
            }
            _ => {
                lines.push(word.to_owned());
                used = length;
            }
        }
    }
    lines
}

fn push_line(out: &mut String, indent: usize, line: &str) {
    out.push('\n');
    if !line.is_empty() {
        out.extend(std::iter::repeat_n(' ', indent));
        out.push_str(line);
    }
}

fn is_plain(text: &str, in_flow: bool) -> bool {
    const INDICATORS: &str = "-?:,[]{}#&*!|>'\"%@`";
    let breaks_flow = |c: char| ",[]{}:".contains(c);
    !text.is_empty()
        && is_all_visible(text)
        && !text.starts_with(|c: char| INDICATORS.contains(c) || c == ' ')
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !(in_flow && (text.contains(breaks_flow) || text.ends_with('-')))
        && !RESERVED.contains(&text.to_ascii_lowercase().as_str())
        && !looks_like_number(text)
}

/// Returns whether a text looks like a number, date, version or time in any notation of YAML.
fn looks_like_number(text: &str) -> bool {
    let first = text.trim_start_matches(['+', '-', '.']);
    let is_special = ["inf", "nan"].contains(&first.to_ascii_lowercase().as_str());
    let is_part = |c: char| c.is_ascii_hexdigit() || "xXoO_+-.:TZ ".contains(c);
    is_special
        || text.starts_with("...")
        || (first.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_part))
}

/// Returns whether a character is visible: no control character, no direction mark, and no invisible character except the joiners
/// that emoji and scripts need.
fn is_visible(c: char) -> bool {
    let is_hidden = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
        | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}');
    !c.is_control() && !is_hidden && (c as u32) & 0xfffe != 0xfffe
}

/// Returns whether every character of a line is visible where it is, and nothing in it is a command for a program that reads logs,
/// where the file may be printed.
fn is_all_visible(line: &str) -> bool {
    let is_command = matches!(without_commands(line), Cow::Owned(_));
    line.chars().all(is_visible) && hidden(line).next().is_none() && !is_command
}

fn double_quoted(text: &str) -> String {
    let mut out = "\"".to_owned();
    for (c, is_hidden) in characters(text) {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_visible(c) && !is_hidden => out.push(c),
            c => {
                let code = c as u32;
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
    // The escape of YAML is that of JSON.
    without_commands(&out).into_owned()
}
