//! The part of minijinja that templates of approvals and hints may use. It leaves out everything whose result can be many times as
//! large as its input or takes much longer: loops, `set`, multiplication, slices, maps, functions and most filters with arguments.

use std::mem;

/// The longest template, in bytes.
pub const MAX_BYTES: usize = 4096;

/// The most words and signs of a tag. Rendering is recursive, as deep as the template's syntax tree, and uses the host's stack: a
/// chain of 1,300 fields fills two mebibytes of a development build.
const MAX_TOKENS: usize = 256;

/// How many times as large as its input all values of a template may become together. A template without filters has fewer words.
const MAX_GROWTH: usize = 2048;

/// The most `~` and `+` of a template, as each copies what is before it.
const MAX_JOINED: usize = 32;

/// How many times as large as a value its text can be: U+007F in a list is shown as `\x7f`, and `1e9` as `1000000000.0`. A number whose
/// text would be larger is not a number for templates.
pub const SHOWN_GROWTH: usize = 4;

/// The filters, each with whether it may have arguments, and how many times as large as its input its result can be, also in memory.
const FILTERS: [(&str, bool, usize); 30] = [
    ("abs", false, 1),
    ("bool", false, 1),
    ("capitalize", false, SHOWN_GROWTH),
    ("count", false, 1),
    ("d", true, 1),
    ("default", true, 1),
    ("e", false, 8),
    ("escape", false, 8),
    ("first", false, 1),
    ("float", false, 1),
    ("int", false, 1),
    ("items", false, 16),
    ("join", true, SHOWN_GROWTH),
    ("last", false, 1),
    ("length", false, 1),
    ("lines", false, 16),
    ("list", false, 16),
    ("lower", false, SHOWN_GROWTH),
    ("max", false, 16),
    ("min", false, 16),
    ("reverse", false, 2),
    ("round", true, 1),
    ("sort", false, 16),
    ("string", false, SHOWN_GROWTH),
    ("sum", false, 1),
    ("title", false, SHOWN_GROWTH),
    ("tojson", false, 6),
    ("trim", false, SHOWN_GROWTH),
    ("unique", false, 16),
    ("upper", false, SHOWN_GROWTH),
];

/// Words after which a parenthesis is not a call.
const OPERATORS: [&str; 7] = ["if", "elif", "else", "and", "or", "not", "in"];

/// Checks that a template takes little time and memory to render: it has at most 4,096 bytes, no statements but conditions, no
/// products, slices, maps and calls, at most 256 words and signs in a tag, at most 32 of `~` and `+`, `join` only with a text of the
/// template, and filters and `~` whose results are at most 2,048 times as large as their input. Returns that number: rendering takes time
/// and memory in proportion to it and to the size of what is rendered. The syntax is not checked.
///
/// ```
/// use toolwright::spec::template::check;
///
/// assert_eq!(check("Close {{ args.ids | length }} issues{% if args.now %} now{% endif %}?"), Ok(7));
/// let reason = check("{{ 'x' * 1000000 }}").unwrap_err();
/// assert_eq!(reason, "it has a product, which can be too large; write the value itself");
/// ```
///
/// # Errors
///
/// The first construct that may not be used, as the end of a sentence about the template.
pub fn check(template: &str) -> Result<usize, String> {
    if template.len() > MAX_BYTES {
        return Err(format!("it is longer than {MAX_BYTES} bytes"));
    }
    let mut rest = template;
    let (mut joined, mut growth) = (0, 0_usize);
    while let Some((_, after)) = rest.split_once('{') {
        let tag = after.strip_prefix('{').map(|tag| (tag, "}}"));
        rest = if let Some((tag, end)) = tag.or_else(|| Some((after.strip_prefix('%')?, "%}"))) {
            let (after, of_tag) = check_tag(tag, end, &mut joined)?;
            growth = growth.saturating_add(of_tag);
            after
        } else if let Some(comment) = after.strip_prefix('#') {
            comment.split_once("#}").map_or("", |(_, after)| after)
        } else {
            after
        };
    }
    if growth > MAX_GROWTH {
        return Err(format!(
            "its filters and `~` can make values {growth} times as large, expected at most {MAX_GROWTH} times; use fewer of them, or shorter \
             texts between joined values"
        ));
    }
    Ok(growth)
}

/// Checks a tag up to its end, and returns the text after it and its growth: that of its filters and `~`, for each of its words. As in
/// minijinja, a tag does not end within brackets.
fn check_tag<'a>(tag: &'a str, end: &str, joined: &mut usize) -> Result<(&'a str, usize), String> {
    let mut rest = tag.trim_start_matches(['-', '+']);
    let (mut tokens, mut words, mut growth, mut is_first) = (0, 0, 1_usize, end == "%}");
    let (mut open_brackets, mut shows) = (0_isize, false);
    // The last two words, if nothing but spaces followed them, or the last token that ends a value. `is not` is one word.
    let (mut before, mut word) = ("", "");
    loop {
        rest = rest.trim_start();
        let after = rest.strip_prefix(end).filter(|_| open_brackets == 0);
        let next = rest.chars().next().filter(|_| after.is_none());
        let Some(next) = next else {
            // A tag without words can have texts.
            return Ok((after.unwrap_or_default(), growth.saturating_mul(words.max(1))));
        };
        let length = match next {
            '"' | '\'' => string_length(rest, next),
            c if c.is_alphanumeric() || c == '_' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        let is_word = next.is_alphabetic() || next == '_';
        words += usize::from(is_word);
        tokens += 1;
        if tokens > MAX_TOKENS {
            return Err(format!(
                "a tag has more than {MAX_TOKENS} words and signs, expected fewer; use several tags"
            ));
        }
        match next {
            _ if is_first && !["if", "elif", "else", "endif"].contains(&token) => {
                return Err(format!(
                    "it has the statement `{token}`, expected only conditions (`if`)"
                ));
            }
            '*' => {
                return Err(
                    "it has a product, which can be too large; write the value itself".to_owned()
                );
            }
            ':' | '{' => {
                return Err(
                    "it has a slice or a map, expected only fields, filters and conditions"
                        .to_owned(),
                );
            }
            '~' | '+' => {
                *joined += 1;
                // Within brackets, its text can be in a list whose text is joined again.
                if next == '~' && (open_brackets > 0 || !mem::replace(&mut shows, true)) {
                    growth = growth.saturating_mul(SHOWN_GROWTH);
                }
                if *joined > MAX_JOINED {
                    return Err(format!(
                        "it joins or adds more than {MAX_JOINED} times, expected fewer; use several tags"
                    ));
                }
            }
            '(' if !word.is_empty() && before != "|" => {
                let is_test = before == "is" || before == "is not";
                if !is_test && !OPERATORS.contains(&word) {
                    return Err(format!("it calls `{word}`, expected only filters"));
                }
            }
            _ if is_word && word == "|" => {
                growth = growth.saturating_mul(check_filter(token, rest)?);
            }
            _ => {}
        }
        is_first = false;
        open_brackets += match next {
            '(' | '[' => 1,
            ')' | ']' => -1,
            _ => 0,
        };
        (before, word) = match next {
            _ if word == "is" && token == "not" => ("", "is not"),
            _ if is_word || next == '|' => (word, token),
            ')' | ']' | '"' | '\'' | '0'..='9' => ("", token),
            _ => ("", ""),
        };
    }
}

/// Checks a filter, and returns its growth.
fn check_filter(name: &str, rest: &str) -> Result<usize, String> {
    let known = FILTERS.iter().find(|(known, ..)| *known == name);
    let Some((_, has_args, growth)) = known else {
        let known: Vec<&str> = FILTERS.iter().map(|(name, ..)| *name).collect();
        return Err(format!("it has the filter `{name}`, expected one of {}", known.join(", ")));
    };
    if rest.trim_start().starts_with('(') && !has_args {
        return Err(format!("it gives arguments to the filter `{name}`, expected none"));
    }
    let args = rest.trim_start().strip_prefix('(').filter(|_| name == "join");
    let Some(args) = args else { return Ok(*growth) };
    let args = args.trim_start();
    let quote = args.chars().next().filter(|c| matches!(c, '"' | '\''));
    let length = quote.map_or(0, |quote| string_length(args, quote));
    if length == 0 || !args[length..].trim_start().starts_with(')') {
        return Err("it joins with another value, expected a text in quotation marks".to_owned());
    }
    // Each item is at least as long as one of the quotation marks.
    Ok(length.max(*growth))
}

/// Returns the length of a string with its quotes.
fn string_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn templates_that_can_grow_are_refused() {
        let good = [
            "",
            "a { b } {c} ** {",
            "{{ args.id }}{{args['x*y']}}{{- tool.name -}}",
            "{{ args.items | length }} of {{ args.tags|join(', ')|upper }}",
            "{% if args.a and (args.b or not (args.c)) %}x{% elif args.d is divisibleby(3) %}{%- else -%}y{% endif %}",
            "{{ 'a }} b' ~ args.x | default('*') }}{# {{ range(3) * 2 }} #}",
            "{{ args.a if args.b is not defined else args.c + 1 }}",
            "{{ args.a is not divisibleby(2) }}{{ args['a'] ~ (args.b) }}",
            "{{ args.a in ['a:', '{b}'] }}: {",
            "{{ args.x | join('ab') | join('ab') }}",
        ];
        for template in good {
            assert!(check(template).is_ok(), "{template}");
        }
        let bad = [
            "{{ 'x' * 9 }}",
            "{{ '}}' ~ 'x' * 9 }}",
            "{{ '\\'' * 9 }}",
            "{{ \"'\" * 9 }}",
            "{{ 2 ** 9 }}",
            "{% for x in args.a %}{% endfor %}",
            "{%- set x = 1 %}",
            "{%+ macro x() %}",
            "{% filter upper %}",
            "{% raw %}{% endraw %}",
            "{{ range(9) }}",
            "{{ args.x.upper() }}",
            "{{ '%0999999999d' | format(1) }}",
            "{{ 'a'|indent(999) }}",
            "{{ 'a' | replace('a', 'bb') }}",
            "{{ args.x | tojson(indent=999) }}",
            "{{ args.x | sort(attribute='a,a,a,a,a,a,a,a') }}",
            "{{ args.x|e|e|e|e|e }}",
            "{{ args.x | join(args.x) }}",
            "{% if args.x|join(\"''''''''\")|e|upper|e %}{% endif %}",
            "{{ args.x | join('a' ~ args.x) }}",
            "{{ args.x | join(d=args.x) }}",
            "{% if range(9) %}{% endif %}",
            "{{ a }} {# x #} {{ 2 * 2 }}",
            "{{ {} }}",
            "{{{} }}",
            "{{ {'a': 1} }}",
            "{{ args.a[:] }}",
            "{{ args.a[::-1] }}",
            "{% if args.a[ 1:] %}{% endif %}",
            "{{ [[],'{#'] }}{% for a in range(9) %}{% endfor %}",
            "{{ [}}'x' * 9] }}",
            "{{ )}}'x' * 9 }}",
            "{% if [(%}'x' * 9)] %}{% endif %}",
            "{{ (range)(9) }}",
            "{{ args['upper']() }}",
            "{{ not range(9) }}",
            "{{ args.a is not not range(9) }}",
        ];
        for template in bad {
            assert!(check(template).is_err(), "{template}");
        }
        assert!(check(&"x".repeat(4097)).is_err());
        for (operator, growth) in [("~", 4), ("+", 1)] {
            let joined = |count| format!("{{{{ a{} }}}}", format!("{operator}a").repeat(count));
            assert_eq!(check(&joined(32)), Ok(growth * 33));
            assert!(check(&joined(33)).is_err());
            assert!(check(&joined(17).repeat(2)).is_err());
        }
        for (part, tokens) in [(".a", 2), ("|d", 2), ("[0]", 3), ("-", 1), ("==1", 3)] {
            let chain = |count: usize| format!("{{{{ a{} }}}}", part.repeat(count));
            assert!(check(&chain(255 / tokens)).is_ok(), "{part}");
            assert!(check(&chain(255 / tokens + 1)).is_err(), "{part}");
        }
        let separator = |count| format!("{{{{ a|join('{}') }}}}", "-".repeat(count));
        assert_eq!(check(&separator(1022)), Ok(2048));
        assert!(check(&separator(1023)).is_err());
        assert_eq!(check(&"{{ a|tojson }}".repeat(170)), Ok(2040));
        assert!(check(&"{{ a|tojson }}".repeat(171)).is_err());
    }

    /// The quotes of a text in a list are escaped, once more for each list around it.
    #[test]
    fn the_text_of_a_list_counts_as_longer_for_each_list_around_it() {
        for part in ["~''", "|join", "|string", "|trim", "|title", "|lower|upper", "|capitalize"] {
            let nested = |count| {
                format!("{{{{ {}'x'{} }}}}", "[".repeat(count), format!("]{part}").repeat(count))
            };
            assert!(check(&nested(2)).is_ok(), "{part}");
            assert!(check(&nested(6)).is_err(), "{part}");
        }
    }
}
