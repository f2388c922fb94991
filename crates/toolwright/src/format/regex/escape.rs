//! Escapes of regular expressions that have the same meaning inside and outside of classes, and the names of groups.

use super::{skip, take};
use crate::pattern::is_property;
use crate::unicode::is_name_character;

/// The meaning of an escape.
#[derive(Clone, Copy)]
pub(super) enum Escape {
    /// One code point; it may be a surrogate.
    Character(u32),
    /// Any of a set of characters.
    Set,
}

/// Reads `CharacterEscape` or `CharacterClassEscape`, after the backslash.
pub(super) fn escape(rest: &mut &str) -> Option<Escape> {
    let first = take(rest)?;
    let character = match first {
        'd' | 'D' | 's' | 'S' | 'w' | 'W' => return Some(Escape::Set),
        'p' | 'P' => return property(rest),
        't' => 0x9,
        'n' => 0xa,
        'v' => 0xb,
        'f' => 0xc,
        'r' => 0xd,
        '0' => (!rest.starts_with(|c: char| c.is_ascii_digit())).then_some(0)?,
        'c' => u32::from(take(rest).filter(char::is_ascii_alphabetic)?) % 32,
        'x' => hexadecimal(rest, 2)?,
        'u' => code_point(rest)?,
        '/' => u32::from('/'),
        syntax if "^$\\.*+?()[]{}|".contains(syntax) => u32::from(syntax),
        _ => return None,
    };
    Some(Escape::Character(character))
}

fn property(rest: &mut &str) -> Option<Escape> {
    let (name, after) = rest.strip_prefix('{')?.split_once('}')?;
    *rest = after;
    is_property(name).then_some(Escape::Set)
}

/// Reads what follows `\u`: digits in braces, or four digits, twice for a surrogate pair.
fn code_point(rest: &mut &str) -> Option<u32> {
    if let Some((digits, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        *rest = after;
        return number(digits).filter(|code_point| *code_point <= u32::from(char::MAX));
    }
    let unit = hexadecimal(rest, 4)?;
    let mut after = *rest;
    if (0xd800..0xdc00).contains(&unit) && skip(&mut after, "\\u") {
        let low = hexadecimal(&mut after, 4).filter(|low| (0xdc00..0xe000).contains(low));
        if let Some(low) = low {
            *rest = after;
            return Some(0x1_0000 + (unit - 0xd800) * 0x400 + (low - 0xdc00));
        }
    }
    Some(unit)
}

/// Reads exactly `count` hexadecimal digits.
fn hexadecimal(rest: &mut &str, count: usize) -> Option<u32> {
    let (digits, after) = rest.split_at_checked(count)?;
    *rest = after;
    number(digits)
}

fn number(digits: &str) -> Option<u32> {
    let is_valid = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_valid.then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Reads the name of a group, after its `<`.
pub(super) fn group_name(rest: &mut &str) -> Option<String> {
    let mut name = String::new();
    while !skip(rest, ">") {
        let character = match take(rest)? {
            '\\' if skip(rest, "u") => char::from_u32(code_point(rest)?)?,
            plain => plain,
        };
        is_name_character(character, name.is_empty()).then(|| name.push(character))?;
    }
    (!name.is_empty()).then_some(name)
}
