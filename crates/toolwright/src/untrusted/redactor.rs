//! [`Redactor`], which removes secrets from texts.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

/// A shorter secret is only removed as a whole word, because it may be a part of ordinary words.
const MIN_INSIDE_WORDS: usize = 8;

/// Removes secrets from texts: in plain text, percent-encoded, escaped as in JSON, or in base64, also as a part of a
/// longer value. Of base64, 16 digits are enough, so that it may be cut or written in lines. A secret of fewer than eight characters is only removed as a whole word. A secret of at least eight digits is
/// also found in a number with a point or an exponent, such as `1.2345678e7`, or whose nearest double has these digits; the number is
/// removed. Lines of eight characters or more of a secret with several lines are secrets, too. A secret that is deliberately
/// disguised, such as reversed, is not found. The rest of a text that takes too long to search is removed.
///
/// ```
/// use toolwright::untrusted::Redactor;
///
/// let redactor = Redactor::new(["open sesame"]);
/// assert_eq!(redactor.redacted("no `open+sesame`, b3BlbiBzZXNhbWU= or open%20sesame"), "no `…`, … or …");
/// ```
#[derive(Clone, Default)]
pub struct Redactor {
    needles: Vec<Needle>,
    /// The pieces of the secrets in base64.
    pieces: HashSet<[u8; PIECE]>,
    /// The digits of the secrets that are numbers, without zeros before them.
    digits: Vec<String>,
    /// Whether an occurrence may begin with a byte.
    begins: Vec<bool>,
}

/// As many equal digits of base64 are no coincidence: they belong to the secret.
const PIECE: usize = 16;

/// The number of steps that a search may take for each byte of a text, and for a short text.
const STEPS_PER_BYTE: usize = 16;
const FREE_STEPS: usize = 1 << 20;

/// The steps for comparing all spellings of a character at one place. Comparing a byte is one step.
const SPELLING_STEPS: usize = 64;

/// The most bytes that a character of a secret usually has in an encoded text, such as `\u0041`.
const BYTES_PER_CHARACTER: usize = 6;

/// How many times as long an encoded character can be in a percent-encoded text, such as `%5C%75%30%30%34%31`.
const PERCENT_GROWTH: usize = 3;

/// The largest number of backslashes before a quote that is searched for: that of JSON in JSON in JSON.
const MAX_BACKSLASHES: usize = 7;

/// A text to find.
#[derive(Clone)]
struct Needle {
    text: String,
    /// The ways to write each of its characters in JSON.
    spellings: Vec<Vec<String>>,
}

impl Redactor {
    /// Creates a redactor for these secrets. Empty ones are ignored.
    pub fn new(secrets: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let (mut texts, mut pieces, mut digits) = (Vec::new(), HashSet::new(), Vec::new());
        let mut add = |secret: &str| {
            let encoded = in_base64(secret);
            let windows = encoded.iter().flat_map(|text| text.as_bytes().windows(PIECE));
            pieces.extend(windows.filter_map(|piece| <[u8; PIECE]>::try_from(piece).ok()));
            texts.push(secret.to_owned());
            texts.extend(encoded);
        };
        for secret in secrets {
            let secret = secret.as_ref();
            add(secret);
            digits.extend(digits_of(secret));
            if secret.contains('\n') {
                let lines = secret.lines().map(str::trim);
                lines.filter(|line| line.chars().count() >= MIN_INSIDE_WORDS).for_each(&mut add);
            }
        }
        texts.retain(|text| !text.is_empty());
        texts.sort();
        texts.dedup();
        let needles: Vec<Needle> = texts.into_iter().map(Needle::new).collect();
        let mut begins = vec![false; 256];
        let bytes = needles.iter().filter_map(|needle| needle.text.bytes().next());
        for byte in bytes.chain(*b"%\\+") {
            begins[usize::from(byte)] = true;
        }
        if !digits.is_empty() {
            (b'0'..=b'9').for_each(|digit| begins[usize::from(digit)] = true);
        }
        Self { needles, pieces, digits, begins }
    }

    /// Returns a text that was cut at its end without the beginning of a secret there, in any encoding, if that has at least so many
    /// characters.
    ///
    /// ```
    /// use toolwright::untrusted::Redactor;
    ///
    /// let redactor = Redactor::new(["open sesame"]);
    /// assert_eq!(redactor.without_cut_secret("the key is open%20ses%6", 4), "the key is ");
    /// ```
    pub fn without_cut_secret<'a>(&self, text: &'a str, least: usize) -> &'a str {
        let longest = self.needles.iter().map(|needle| needle.spellings.len()).max().unwrap_or(0);
        let tail = text.len().saturating_sub(longest.saturating_mul(2 * BYTES_PER_CHARACTER));
        let mut places = (tail..text.len()).filter(|at| text.is_char_boundary(*at));
        let is_cut_at = |at: &usize| {
            let first = begun(&text[*at..]);
            let near = self.needles.iter().filter(|needle| first.contains(&needle.first()));
            near.filter_map(|needle| needle.characters_to_end(text, *at))
                .any(|found| found >= least)
        };
        places.find(is_cut_at).map_or(text, |at| &text[..at])
    }

    /// Returns a text with every occurrence of a secret replaced by `…`.
    pub fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.needles.is_empty() {
            return Cow::Borrowed(text);
        }
        // Occurrences may overlap, so they are searched at each place. `hidden` is the end of the last ones.
        let (mut out, mut hidden, mut at) = (String::new(), 0, 0);
        let mut steps = text.len().saturating_mul(STEPS_PER_BYTE).saturating_add(FREE_STEPS);
        while let Some(byte) = text.as_bytes().get(at) {
            let mut end = self.piece_end(text.as_bytes(), at);
            // No byte within a character begins one.
            if self.begins[usize::from(*byte)] {
                let first = begun(&text[at..]);
                let near = self.needles.iter().filter(|needle| first.contains(&needle.first()));
                end = end.max(near.filter_map(|needle| needle.end(text, at, &mut steps)).max());
                end = end.max(self.number_end(text, at));
            }
            let end = if steps == 0 { Some(text.len()) } else { end };
            if let Some(end) = end {
                if at >= hidden {
                    out.push_str(&text[hidden..at]);
                    out.push('…');
                }
                hidden = hidden.max(end);
            }
            if steps == 0 {
                break;
            }
            at += 1;
        }
        if hidden == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[hidden..]);
        Cow::Owned(out)
    }

    /// Returns the beginning of a text that was cut, without secrets and without what may be the beginning of one at its end.
    pub fn redacted_beginning(&self, text: &str) -> String {
        let mut beginning = self.redacted(text).into_owned();
        let bytes = |needle: &Needle| needle.text.len() * PERCENT_GROWTH * BYTES_PER_CHARACTER;
        let longest = self.needles.iter().map(bytes).max();
        let mut end = beginning.len().saturating_sub(longest.unwrap_or(0));
        while !beginning.is_char_boundary(end) {
            end -= 1;
        }
        beginning.truncate(end);
        beginning
    }

    /// Returns the end of the piece of a secret in base64 that begins at `at`.
    fn piece_end(&self, text: &[u8], at: usize) -> Option<usize> {
        let (mut piece, mut end) = ([0; PIECE], at);
        for digit in &mut piece {
            let length;
            (*digit, length) = base64_digit(&text[end..])?;
            end += length;
        }
        if !self.pieces.contains(&piece) {
            return None;
        }
        // A part of an escape is no digit.
        let before = &text[at.saturating_sub(5)..at];
        let escape = before.iter().rposition(|byte| matches!(byte, b'\\' | b'%'));
        let is_escape = escape.is_some_and(|start| match before[start..] {
            [b'%', ..] => before.len() - start <= 2,
            [_, b'u', ..] => true,
            _ => before.len() - start == 1,
        });
        (!is_escape).then_some(end)
    }

    /// Returns the end of the number that begins at `at`, if it or its nearest double has the digits of a secret.
    fn number_end(&self, text: &str, at: usize) -> Option<usize> {
        let longest = self.digits.iter().map(String::len).max()?;
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let begins =
            is_digit(&text.as_bytes()[at]) && !text.as_bytes()[..at].last().is_some_and(is_digit);
        let (length, digits) = begins.then(|| number(&text[at..], longest))?;
        // A result has the digits of the double.
        let double: f64 = text[at..at + length].parse().ok()?;
        let (_, rounded) = number(&double.to_string(), longest);
        let is_in = |secret: &String| digits.contains(secret) || rounded.contains(secret);
        self.digits.iter().any(is_in).then_some(at + length)
    }
}

/// Shows the number of search texts, not the secrets.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} hidden)", self.needles.len())
    }
}

/// Returns the digits of a secret that JSON can have as a number, without zeros before them.
fn digits_of(secret: &str) -> Option<String> {
    let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+');
    let digits: String = secret.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_start_matches('0');
    (secret.bytes().all(is_part) && digits.len() >= MIN_INSIDE_WORDS).then(|| digits.to_owned())
}

/// Returns the length of the number at the beginning of a text, and its digits, with at most so many of the zeros that its
/// exponent adds.
fn number(text: &str, max_zeros: usize) -> (usize, String) {
    let run = |at: usize| text[at..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = run(0);
    let mut digits = text[..end].to_owned();
    let mut fraction = 0;
    if text[end..].starts_with('.') && run(end + 1) > 0 {
        fraction = run(end + 1);
        digits.push_str(&text[end + 1..][..fraction]);
        end += 1 + fraction;
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let length = run(end + 1 + sign);
        // A larger exponent adds more zeros than any secret has.
        let exponent = text[end + 1..][..sign + length].parse().unwrap_or(i64::MAX);
        if length > 0 {
            end += 1 + sign + length;
            let zeros = exponent.saturating_sub_unsigned(fraction as u64);
            let zeros = usize::try_from(zeros).unwrap_or(0).min(max_zeros);
            digits.extend(std::iter::repeat_n('0', zeros));
        }
    }
    (end, digits)
}

/// Returns the ways to write a text in base64, alone or as a part of a longer one.
fn in_base64(text: &str) -> Vec<String> {
    let mut texts = vec![STANDARD.encode(text), URL_SAFE.encode(text)];
    for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
        texts.push(engine.encode(text));
        // Base64 encodes three bytes as four digits, so the digits of a text depend on its offset modulo 3. Digits
        // that hold bits of neighboring bytes are left out.
        for before in 0..3 {
            let bytes = [&vec![0; before], text.as_bytes()].concat();
            let digits = engine.encode(&bytes);
            let whole = bytes.len() * 8 / 6;
            let first = [0, 2, 3][before];
            texts.extend(digits.get(first..whole).map(str::to_owned));
        }
    }
    texts
}

/// Returns the digit of base64, of either alphabet (RFC 4648, sections 4 and 5), at the beginning of a text, and its length. It may be
/// percent-encoded or escaped as in JSON.
fn base64_digit(text: &[u8]) -> Option<(u8, usize)> {
    match text {
        [b'%', b'2', b'b' | b'B', ..] => Some((b'+', 3)),
        [b'%', b'2', b'f' | b'F', ..] => Some((b'/', 3)),
        [b'\\', b'/', ..] => Some((b'/', 2)),
        [digit, ..] if digit.is_ascii_alphanumeric() || b"+/-_".contains(digit) => {
            Some((*digit, 1))
        }
        _ => None,
    }
}

impl Needle {
    fn new(text: String) -> Self {
        Self { spellings: text.chars().map(json_spellings).collect(), text }
    }

    fn first(&self) -> Option<char> {
        self.text.chars().next()
    }

    /// Returns the end of an occurrence that begins at `at`, or `None` if no steps are left.
    fn end(&self, text: &str, at: usize, steps: &mut usize) -> Option<usize> {
        // Comparing bytes rules out most places quickly. The search below handles bytes that may begin an encoded
        // character.
        let begins_spelling = |byte: u8| matches!(byte, b'\\' | b'%' | b'+');
        let pairs = self.text.bytes().zip(text.as_bytes()[at..].iter().copied());
        let mut same = pairs.take_while(|(a, b)| a == b && !begins_spelling(*b)).count();
        *steps = steps.saturating_sub(same + 1);
        let next = text.as_bytes().get(at + same).copied();
        if same < self.text.len() && !next.is_some_and(begins_spelling) {
            return None;
        }
        while !self.text.is_char_boundary(same) {
            same -= 1;
        }
        let mut ends = vec![at + same];
        for spellings in &self.spellings[self.text[..same].chars().count()..] {
            *steps = steps.saturating_sub(SPELLING_STEPS * ends.len());
            if *steps == 0 {
                return None;
            }
            let next = |&at: &usize| {
                spellings.iter().flat_map(move |spelling| spelling_ends(text, at, spelling))
            };
            ends = ends.iter().flat_map(next).collect();
            if ends.is_empty() {
                return None;
            }
            ends.sort_unstable();
            ends.dedup();
        }
        let end = ends.last().copied()?;
        let is_word = |c: char| c.is_alphanumeric();
        let is_inside = text[..at].ends_with(is_word) || text[end..].starts_with(is_word);
        (self.spellings.len() >= MIN_INSIDE_WORDS || !is_inside).then_some(end)
    }

    /// Returns the number of its first characters with which a text ends that begins at `at`, or `None` if it goes on otherwise. The
    /// last character may be cut.
    fn characters_to_end(&self, text: &str, at: usize) -> Option<usize> {
        let is_cut = |at: &usize| {
            let rest = &text[*at..];
            rest.len() < BYTES_PER_CHARACTER && (rest.is_empty() || rest.starts_with(['%', '\\']))
        };
        let mut ends = vec![at];
        for (count, spellings) in self.spellings.iter().enumerate() {
            let next = |&at: &usize| {
                spellings.iter().flat_map(move |spelling| spelling_ends(text, at, spelling))
            };
            let mut following: Vec<_> = ends.iter().flat_map(next).collect();
            if following.is_empty() {
                return ends.iter().any(is_cut).then_some(count);
            }
            following.sort_unstable();
            following.dedup();
            ends = following;
        }
        ends.contains(&text.len()).then_some(self.spellings.len())
    }
}

/// The characters that the beginning of a text may stand for.
fn begun(text: &str) -> [Option<char>; 4] {
    let literal = text.chars().next();
    let space = literal.filter(|c| *c == '+').map(|_| ' ');
    [literal, percent_decoded(text).map(|(c, _)| c), space, unescaped(text)]
}

/// The character that an escape of JSON at the beginning of a text stands for.
fn unescaped(text: &str) -> Option<char> {
    let (first, rest) = escape(text)?;
    match first {
        '"' | '/' => Some(first),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        'u' => {
            let (high, rest) = unit(rest)?;
            let low = escape(rest).filter(|(first, _)| *first == 'u');
            let low = low.and_then(|(_, rest)| unit(rest)).map(|(low, _)| low);
            char::decode_utf16([high].into_iter().chain(low)).next()?.ok()
        }
        _ => None,
    }
}

/// The first character of an escape, after its backslashes, and the text after it.
fn escape(text: &str) -> Option<(char, &str)> {
    let (first, mut rest) = character(text)?;
    if first != '\\' {
        return None;
    }
    for _ in 1..MAX_BACKSLASHES {
        let Some(('\\', after)) = character(rest) else { break };
        rest = after;
    }
    character(rest)
}

/// Four hexadecimal digits as a number.
fn unit(mut text: &str) -> Option<(u16, &str)> {
    let mut unit = 0;
    for _ in 0..4 {
        let (digit, rest) = character(text)?;
        unit = unit << 4 | u16::try_from(digit.to_digit(16)?).ok()?;
        text = rest;
    }
    Some((unit, text))
}

/// The first character of a text, which may be percent-encoded, and the text after it.
fn character(text: &str) -> Option<(char, &str)> {
    percent_decoded(text).or_else(|| {
        let first = text.chars().next()?;
        Some((first, &text[first.len_utf8()..]))
    })
}

/// The character that is percent-encoded at the beginning of a text, and the text after it.
fn percent_decoded(text: &str) -> Option<(char, &str)> {
    let mut bytes = [0; 4];
    for (index, encoded) in text.as_bytes().chunks_exact(3).take(4).enumerate() {
        let &[b'%', high, low] = encoded else { return None };
        let value = |digit: u8| char::from(digit).to_digit(16);
        bytes[index] = u8::try_from(value(high)? * 16 + value(low)?).ok()?;
        if let Some(first) =
            std::str::from_utf8(&bytes[..=index]).ok().and_then(|c| c.chars().next())
        {
            return Some((first, &text[3 * (index + 1)..]));
        }
    }
    None
}

/// Returns the ways to write a character in a JSON string (RFC 8259, section 7).
fn json_spellings(character: char) -> Vec<String> {
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units);
    let units: Vec<_> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
    let short = match character {
        '"' | '\\' | '/' => Some(format!("\\{character}")),
        '\n' => Some("\\n".to_owned()),
        '\r' => Some("\\r".to_owned()),
        '\t' => Some("\\t".to_owned()),
        '\u{8}' => Some("\\b".to_owned()),
        '\u{c}' => Some("\\f".to_owned()),
        _ => None,
    };
    [character.to_string(), units.concat()].into_iter().chain(short).collect()
}

/// Returns the possible ends of `wanted` in a text that begins at `at`. Each character may be plain or percent-encoded
/// (RFC 3986, section 2.1); a space may be a `+`, as in forms; a backslash may be repeated, as in JSON in JSON; the digits of an escape
/// may be large.
fn spelling_ends(text: &str, at: usize, wanted: &str) -> Vec<usize> {
    let mut ends = vec![at];
    let is_escape = wanted.starts_with("\\u");
    for character in wanted.chars() {
        let is_same = |c: char| c == character || is_escape && c.to_ascii_lowercase() == character;
        let mut next = Vec::new();
        for at in ends {
            let rest = &text[at..];
            if rest.starts_with(is_same) || (character == ' ' && rest.starts_with('+')) {
                next.push(at + character.len_utf8());
            }
            if character == '\\' {
                let more = rest.bytes().take(MAX_BACKSLASHES).take_while(|byte| *byte == b'\\');
                next.extend((1..=more.count()).map(|length| at + length));
            }
            next.extend(percent_encoded(rest, character).map(|length| at + length));
        }
        ends = next;
    }
    ends
}

/// Returns the length of a percent-encoded character at the beginning of a text.
fn percent_encoded(text: &str, character: char) -> Option<usize> {
    let mut bytes = [0; 4];
    let mut digits = text.as_bytes();
    let wanted = character.encode_utf8(&mut bytes).as_bytes();
    for byte in wanted {
        let &[b'%', high, low, ref rest @ ..] = digits else { return None };
        let value = |digit: u8| char::from(digit).to_digit(16);
        if value(high)? * 16 + value(low)? != u32::from(*byte) {
            return None;
        }
        digits = rest;
    }
    Some(3 * wanted.len())
}

/// Returns the secrets in the value of a header: what follows a scheme, such as `Bot`, the user and the password in Base64, and the
/// values of cookies and parameters. Parts of fewer than eight characters are left out, as they may be ordinary words.
pub fn secrets_in_header(value: &str) -> Vec<String> {
    let mut secrets = Vec::new();
    let scheme = value.split_once(' ').filter(|(scheme, _)| !scheme.contains(['=', ';', ',']));
    if let Some((_, credentials)) = scheme {
        let credentials = credentials.trim();
        secrets.push(credentials.to_owned());
        let engines = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD];
        let decoded = engines.iter().find_map(|engine| engine.decode(credentials).ok());
        if let Some(pair) = decoded.and_then(|bytes| String::from_utf8(bytes).ok()) {
            secrets.extend(pair.split_once(':').map(|(_, password)| password.to_owned()));
            secrets.push(pair);
        }
    }
    let pairs = |separators: &'static [char]| {
        let pairs = value.split(separators).filter_map(|pair| pair.split_once('='));
        pairs.map(|(_, secret)| secret.trim().trim_matches('"').to_owned())
    };
    // A cookie may contain commas and spaces, parameters are separated by them.
    secrets.extend(pairs(&[';']).chain(pairs(&[';', ',', ' '])));
    secrets.retain(|secret| secret.chars().count() >= MIN_INSIDE_WORDS);
    secrets
}

#[cfg(test)]
mod tests;
