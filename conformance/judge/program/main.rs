//! Checks payloads with generated codecs, and with the validator of tools that are only known at run time. It reads a question
//! per line and writes an answer per line. `cargo xtask judge` compiles it together with the generated code of a batch.
//!
//!     MODULE TAB tool TAB payload         the codec of a generated tool
//!     run-time TAB schema TAB payload     the validator of tools known at run time
//!
//! The answer is a word, the nanoseconds that it took, and a text, with tabs between:
//!
//! - `accepted`, and the decoded value encoded again
//! - `refused`, and the issues
//! - `unusable`, and the reason why the schema cannot be used
//! - `stuck`, and the reason why the decoded value cannot be encoded
//! - `unstable`, and the reason why the codec refuses its own encoding
//! - `panicked`

use std::io::{self, BufRead as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use toolwright::schema::Schema;

mod generated {
    //! The generated code of the batch.

    include!("generated.rs");
}

#[path = "@TOOLS@"]
mod tools;

fn main() -> io::Result<()> {
    let modules = generated::all();
    let mut last_schema = None;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut parts = line.splitn(3, '\t');
        let [place, name, payload] = [(); 3].map(|()| parts.next().unwrap_or_default());
        let started = Instant::now();
        let answer = catch_unwind(AssertUnwindSafe(|| match place {
            "run-time" => by_schema(name, payload.as_bytes(), &mut last_schema),
            _ => {
                let tools = modules.iter().find(|(module, _)| *module == place);
                let tool = tools.and_then(|(_, tools)| tools.iter().find(|tool| tool.spec.name() == name));
                tool.map_or(("unusable", "no such tool".to_owned()), |tool| by_codec(tool, payload.as_bytes()))
            }
        }));
        let (word, text) = answer.unwrap_or(("panicked", String::new()));
        let nanos = started.elapsed().as_nanos();
        let text = text.replace(['\n', '\r', '\t'], " ");
        writeln!(io::stdout(), "{word}\t{nanos}\t{text}")?;
    }
    Ok(())
}

fn by_codec(tool: &tools::GeneratedTool, payload: &[u8]) -> (&'static str, String) {
    if let Err(issues) = tool.spec.check_args(payload) {
        return ("refused", issues.to_string());
    }
    match (tool.args)(payload) {
        Err(issues) => ("stuck", issues.to_string()),
        Ok(encoded) => match tool.spec.check_args(encoded.as_bytes()) {
            Err(issues) => ("unstable", format!("{encoded}: {issues}")),
            Ok(()) => ("accepted", encoded),
        },
    }
}

/// Checks a payload with a schema, and keeps the compiled schema for the next payload.
fn by_schema(
    schema: &str,
    payload: &[u8],
    last: &mut Option<(String, Result<Schema, String>)>,
) -> (&'static str, String) {
    if last.as_ref().is_none_or(|(known, _)| known != schema) {
        *last = Some((schema.to_owned(), Schema::new(schema).map_err(|error| error.to_string())));
    }
    match last {
        Some((_, Ok(schema))) => match schema.check(payload) {
            Ok(()) => ("accepted", String::new()),
            Err(issues) => ("refused", issues.to_string()),
        },
        Some((_, Err(why))) => ("unusable", why.clone()),
        None => ("unusable", String::new()),
    }
}
