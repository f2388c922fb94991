//! Commands for other programs, which write a JSON object on each line and read one for it.

use std::io::{self, BufRead as _, Write as _};

use toolwright::Value;
use toolwright::schema::Schema;
use toolwright::untrusted::visible_json;
use toolwright::value::Map;
use toolwright_codegen::dialects::Dialects;
use toolwright_codegen::render::without_commands;
use toolwright_dialect::{Dialect, Loss, Policy, Projection, Subject, project};

use crate::exit::Exit;
use crate::print;

/// The longest line that is read, in bytes with its end. Its values take about thirty times as much memory.
const LONGEST_LINE: usize = 16 << 20;

/// Answers `{"dialect", "tool", "schema", "description"?}` with the projection.
pub(super) fn project_lines(dialects: &Dialects) -> Exit {
    each_line(|line| {
        let request = Line::read(line, dialects)?;
        let found = request.project();
        let projected: Option<Value> =
            found.wire_schema.as_ref().and_then(|schema| schema.parse().ok());
        Ok(Value::Object(Map::from([
            ("dialect", Value::from(request.dialect.dated_id())),
            ("tool", Value::from(request.tool.as_str())),
            ("name", Value::from(found.wire_name.as_str())),
            ("schema_source", request.schema.clone()),
            ("schema_projected", Value::from(projected)),
            ("class", Value::from(found.class.as_str())),
            ("losses", Value::Array(found.losses.iter().map(Loss::to_value).collect())),
        ])))
    })
}

/// Answers `{"dialect", "tool", "schema", "op": "encode" | "decode", "value"}` with `{"value"}`.
pub(super) fn codec_lines(dialects: &Dialects) -> Exit {
    each_line(|line| {
        let request = Line::read(line, dialects)?;
        let value = line.get("value").ok_or("the line lacks `value`")?.to_string();
        let found = request.project();
        let text = match line.get("op").and_then(Value::as_str) {
            Some("encode") => found.encode(&value).map_err(|error| error.to_string())?,
            Some("decode") => {
                let decoded = found.decode(&value).map_err(|issues| issues.to_string())?;
                // In place of the codec of the tool.
                let schema =
                    Schema::new(&request.schema.to_string()).map_err(|error| error.to_string())?;
                let judged = schema.check(decoded.canonical.as_bytes());
                judged.map_err(|invalid| decoded.wire_issues(&invalid).to_string())?;
                decoded.canonical.as_str().to_owned()
            }
            _ => {
                let found = line.get("op").map_or("no `op`".to_owned(), |op| format!("`op` {op}"));
                return Err(format!("found {found}, expected `encode` or `decode`"));
            }
        };
        let value: Value =
            text.parse().map_err(|invalid: toolwright::InvalidPayload| invalid.to_string())?;
        Ok(Value::Object(Map::from([("value", value)])))
    })
}

/// The tool and dialect of a line.
struct Line<'a> {
    dialect: &'a Dialect,
    policy: Policy,
    tool: String,
    description: String,
    schema: Value,
}

impl<'a> Line<'a> {
    fn read(line: &Value, dialects: &'a Dialects) -> Result<Self, String> {
        if line.as_object().is_none() {
            return Err("the line is not an object".to_owned());
        }
        let text = |key: &str| line.get(key).and_then(Value::as_str);
        let required =
            |key: &str| text(key).ok_or_else(|| format!("the line lacks the string `{key}`"));
        Ok(Self {
            dialect: dialects.find(required("dialect")?).map_err(|error| error.to_string())?,
            policy: dialects.policy(required("tool")?),
            tool: required("tool")?.to_owned(),
            description: text("description").unwrap_or_default().to_owned(),
            schema: line.get("schema").ok_or("the line lacks `schema`")?.clone(),
        })
    }

    fn project(&self) -> Projection {
        let args = self.schema.to_string();
        let subject = Subject { name: &self.tool, description: &self.description, args: &args };
        project(&subject, self.dialect, &self.policy)
    }
}

/// Answers each line of standard input, and flushes after it.
fn each_line(answer: impl Fn(&Value) -> Result<Value, String>) -> Exit {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = io::Read::take(&mut input, LONGEST_LINE as u64);
        match limited.read_until(b'\n', &mut line) {
            Ok(0) => return Exit::Success,
            Ok(_) => {}
            Err(_) => return Exit::Io,
        }
        let is_too_long = line.len() == LONGEST_LINE && !line.ends_with(b"\n");
        if is_too_long && input.skip_until(b'\n').is_err() {
            return Exit::Io;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let text = match std::str::from_utf8(&line) {
            _ if is_too_long => Err(format!("the line is longer than {LONGEST_LINE} bytes")),
            text => text.map_err(|error| error.to_string()),
        };
        let answered = text
            .and_then(|text| text.parse::<Value>().map_err(|invalid| invalid.to_string()))
            .and_then(|value| answer(&value))
            .unwrap_or_else(|error| Value::Object(Map::from([("error", Value::from(error))])));
        let answer = answered.to_string();
        let written = writeln!(output, "{}", without_commands(&visible_json(&answer)))
            .and_then(|()| output.flush());
        if written.is_err() {
            print::note_error(written);
            return Exit::Success;
        }
    }
}
