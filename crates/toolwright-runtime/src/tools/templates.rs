//! Renders the templates of approval prompts and denial messages.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use minijinja::{Environment, Error, ErrorKind, Value, context};
use toolwright::spec::template;
use toolwright::untrusted::visible;
use toolwright::value::Number;
use toolwright::{Payload, ToolSpec};

/// The most bytes of a rendered template.
const MAX_RENDERED: usize = 1 << 20;

/// The most instructions of a template, which has no loops: two for each of its bytes.
const MAX_INSTRUCTIONS: u64 = 2 * template::MAX_BYTES as u64;

/// The most bytes that are rendered, times the growth of the template: the most bytes of all values together.
const MAX_VALUES: usize = 64 << 20;

/// Renders a template with a call's arguments and its result, if any. Numbers keep all digits, and
/// [hidden](toolwright::untrusted) characters become visible, also line breaks, which could end the question. A
/// template with an error is returned unchanged, and so is one that could take much time or memory: specs of peers can
/// have any template.
pub(crate) fn fill(
    template: &str,
    spec: &ToolSpec,
    args: &Payload,
    result: Option<&Payload>,
) -> String {
    let parsed = |payload: &Payload| payload.as_str().parse().map(|json| value(&json));
    let title = spec.title().unwrap_or_default();
    let of_tool = [spec.name(), title, spec.description(), spec.toolset(), spec.service()];
    let payloads = [Some(args), result].map(|json| json.map_or(0, |json| json.as_bytes().len()));
    let bytes = template.len() + of_tool.map(str::len).iter().chain(&payloads).sum::<usize>();
    let checked = template::check(template).and_then(|growth| match bytes.checked_mul(growth) {
        Some(values) if values <= MAX_VALUES => Ok(()),
        _ => {
            Err(format!("its values can have {bytes} times {growth} bytes, expected {MAX_VALUES}"))
        }
    });
    let filled =
        checked.and_then(|()| parsed(args).map_err(|issues| issues.to_string())).and_then(|args| {
            let result = result.map(parsed).transpose().map_err(|issues| issues.to_string())?;
            let tool = context! {
                name => spec.name(),
                title => spec.title(),
                description => spec.description(),
                toolset => spec.toolset(),
                service => spec.service(),
            };
            render(template, context! { args, result, tool }).map_err(|error| error.to_string())
        });
    let text = filled.unwrap_or_else(|error| {
        tracing::debug!(tool = spec.name(), error, "a template could not be rendered");
        template.to_owned()
    });
    visible(&text).into_owned()
}

fn render(template: &str, context: Value) -> Result<String, Error> {
    let mut rendered = Limited(Vec::new());
    let mut environment = Environment::new();
    environment.set_fuel(Some(MAX_INSTRUCTIONS));
    environment.add_filter("sort", sort);
    environment.add_filter("min", min);
    environment.add_filter("max", max);
    environment.template_from_str(template)?.render_captured_to(context, &mut rendered)?;
    Ok(String::from_utf8_lossy(&rendered.0).into_owned())
}

/// Sorts as the filter of minijinja does, which converts both texts of each comparison to lower case: a long text once for each other
/// item. Here each text is converted once.
fn sort(list: &Value) -> Result<Value, Error> {
    let mut items = items(list)?;
    items.sort_by_cached_key(sort_key);
    Ok(Value::from(items))
}

/// The first of the smallest items, in the order of [`sort`].
fn min(list: &Value) -> Result<Value, Error> {
    Ok(items(list)?.into_iter().min_by_key(sort_key).unwrap_or_default())
}

/// The last of the largest items, in the order of [`sort`].
fn max(list: &Value) -> Result<Value, Error> {
    Ok(items(list)?.into_iter().max_by_key(sort_key).unwrap_or_default())
}

fn items(list: &Value) -> Result<Vec<Value>, Error> {
    list.try_iter()?.checked().collect()
}

fn sort_key(item: &Value) -> Value {
    item.as_str().map_or_else(|| item.clone(), |text| Value::from(text.to_ascii_lowercase()))
}

/// A text that is written, up to [`MAX_RENDERED`].
struct Limited(Vec<u8>);

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_RENDERED {
            return Err(io::Error::other(format!("it has more than {MAX_RENDERED} bytes")));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Converts a JSON value for templates.
fn value(json: &toolwright::Value) -> Value {
    match json {
        toolwright::Value::Null => Value::from(()),
        toolwright::Value::Boolean(value) => Value::from(*value),
        toolwright::Value::Number(number) => of_number(number),
        toolwright::Value::String(text) => Value::from(on_one_line(text)),
        toolwright::Value::Array(items) => items.iter().map(value).collect(),
        toolwright::Value::Object(entries) => {
            let shown = entries.iter().map(|(key, entry)| (on_one_line(key), value(entry)));
            let shown: BTreeMap<_, _> = shown.collect();
            if shown.len() < entries.len() {
                let message = "two keys are the same on one line";
                return Value::from(Error::new(ErrorKind::InvalidOperation, message));
            }
            Value::from(shown)
        }
    }
}

/// Returns a text of a call with `⏎` in place of each line break.
fn on_one_line(text: &str) -> Cow<'_, str> {
    if !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\n', "⏎"))
}

/// Converts a number to one that templates can compute with, if that has exactly the same value and is not shown much longer; otherwise to
/// its text.
fn of_number(number: &Number) -> Value {
    if let Ok(integer) = number.as_str().parse::<i64>() {
        return Value::from(integer);
    }
    let double = number.as_f64();
    let value = Value::from(double);
    let is_same = Number::try_from(double).is_ok_and(|read| read == *number);
    if is_same && value.to_string().len() <= template::SHOWN_GROWTH * number.as_str().len() {
        return value;
    }
    Value::from(number.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The compiler accepts these variables in templates.
    #[test]
    fn h6_templates_may_use_every_field_of_a_tool_that_the_compiler_accepts() {
        let spec = ToolSpec::new("wipe")
            .with_title("Wipe")
            .with_description("Wipes a disk.")
            .with_toolset("disks")
            .with_service("lab");
        let template = "{{ tool.name }} {{ tool.title }} {{ tool.description }} {{ tool.toolset }} {{ tool.service }}";
        let filled = fill(template, &spec, &Payload::new("{}"), None);
        assert_eq!(filled, "wipe Wipe Wipes a disk. disks lab");
    }

    #[test]
    fn h6_numbers_keep_all_digits_in_rendered_templates() {
        for (number, shown) in [
            ("3", "3"),
            ("3.0", "3.0"),
            ("-0.25", "-0.25"),
            ("1e2", "100.0"),
            ("9223372036854775807", "9223372036854775807"),
            ("9223372036854775808", "9223372036854775808"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("0.10000000000000000001", "0.10000000000000000001"),
            ("1e999", "1e999"),
            ("1e-999", "1e-999"),
            ("1e9", "1000000000.0"),
            ("1e308", "1e308"),
            ("-1e-308", "-1e-308"),
        ] {
            let args = Payload::new(format!(r#"{{"amount":{number},"note":1e999}}"#));
            let filled = fill("Pay {{ args.amount }}?", &ToolSpec::new("pay"), &args, None);
            assert_eq!(filled, format!("Pay {shown}?"));
        }
    }

    #[test]
    fn h6_hidden_characters_are_visible_in_rendered_templates_and_a_template_with_an_error_is_unchanged()
     {
        let fill = |args: &str| {
            fill("Pay {{ args.to }}?", &ToolSpec::new("pay"), &Payload::new(args), None)
        };
        assert_eq!(
            fill("{\"to\":\"al\u{202e}ice\\u001b[2K\\r\"}"),
            "Pay al\u{fffd}ice\u{fffd}[2K\u{fffd}?"
        );
        assert_eq!(fill(r#"{"to":"al\n\r\nOk: yes"}"#), "Pay al⏎⏎Ok: yes?");
        assert_eq!(fill("{"), "Pay {{ args.to }}?");
    }

    #[test]
    fn a_key_of_the_arguments_stays_on_the_line_of_a_rendered_template() {
        let filled = |args: &str| {
            fill("Pay {{ args.to }}?", &ToolSpec::new("pay"), &Payload::new(args), None)
        };
        assert_eq!(filled(r#"{"to":{"al\nOk: yes":1}}"#), "Pay {'al⏎Ok: yes': 1}?");
        let hiding = r#"{"to":{"al\n":1,"al⏎":2}}"#;
        assert_eq!(filled(hiding), "Pay {{ args.to }}?", "both would be `al⏎`");
    }

    #[test]
    fn h6_a_template_that_could_fill_the_stack_is_unchanged() {
        for chain in [".a".repeat(2040), "|d".repeat(2030), "[0]".repeat(1360)] {
            let template = format!("{{{{ a{chain} }}}}");
            assert_eq!(fill(&template, &ToolSpec::new("pay"), &Payload::new("{}"), None), template);
        }
    }

    #[test]
    fn h6_a_template_that_could_take_long_or_become_long_is_unchanged() {
        let big = Payload::new(format!(r#"{{"a":"{}"}}"#, "x".repeat(100_000)));
        let loops =
            "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}";
        let within_brackets = format!("{{{{ [[],'{{#'] }}}}{loops}");
        for template in [
            loops,
            &within_brackets,
            "{{ '%0999999999d'|format(1) }}",
            &"{{ args.a }}".repeat(20),
            "{% if args.a|join('-----------------------------------------')|e %}{% endif %}",
        ] {
            assert_eq!(fill(template, &ToolSpec::new("pay"), &big, None), template);
        }
    }

    /// With texts converted for each comparison, this would copy 50 GB.
    #[test]
    fn h6_a_long_text_is_compared_with_many_items_in_little_time() {
        let long = "Z".repeat(1 << 18);
        let tags = format!(r#"{{"tags":["{long}"{}]}}"#, r#","a""#.repeat(100_000));
        for (filters, shown) in
            [("max|length", "262144"), ("min", "a"), ("sort|last|length", "262144")]
        {
            let template = format!("{{{{ args.tags|{filters} }}}}");
            assert_eq!(
                fill(&template, &ToolSpec::new("tag"), &Payload::new(tags.as_str()), None),
                shown
            );
        }
    }

    #[test]
    fn filters_that_compare_have_the_results_of_minijinja() {
        let lists = [
            "[]",
            "null",
            r#""bCa""#,
            r#"["b","B","a","A",""]"#,
            "[3,1.5,9007199254740993,9007199254740992.0]",
            r#"[{"b":1},{"a":2},["B"],["a"],null,true,0,"x"]"#,
            "true",
        ];
        for list in lists {
            let context = || context! { list => value(&list.parse().unwrap()) };
            for filter in ["sort", "min", "max"] {
                let template = format!("{{{{ list|{filter} }}}}");
                let expected = Environment::new().render_str(&template, context());
                assert_eq!(render(&template, context()).ok(), expected.ok(), "{list} {filter}");
            }
        }
    }

    #[test]
    fn h6_a_template_is_unchanged_if_any_text_of_its_tool_could_become_long() {
        let long: &str = "x".repeat(1 << 20).leak();
        let spec = || ToolSpec::new("pay");
        let specs = [
            ToolSpec::new(long),
            spec().with_title(long),
            spec().with_description(long),
            spec().with_toolset(long),
            spec().with_service(long),
        ];
        let template = format!("{{% if tool.service|join('{}') %}}{{% endif %}}", "-".repeat(99));
        assert_eq!(fill(&template, &spec(), &Payload::new("{}"), None), "");
        for spec in specs {
            assert_eq!(fill(&template, &spec, &Payload::new("{}"), None), template);
        }
    }
}
