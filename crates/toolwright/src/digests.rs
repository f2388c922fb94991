//! SHA-256 digests of tools, by which changes are noticed: over canonical JSON ([`Value::to_canonical`]), in hexadecimal.

use sha2::{Digest as _, Sha256};

use crate::untrusted::without_texts;
use crate::value::Map;
use crate::{ToolSpec, Value};

/// The digests of a tool as a server lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedDigests {
    /// The digest of the whole object, with unknown members.
    pub all: String,
    /// The digest of the object without texts: the titles and descriptions of the tool and of its schemas.
    pub capabilities: String,
}

/// Returns the digest of a canonical text. `domain` keeps digests of different things apart, even if their texts are equal:
/// `toolwright/1/`, the domain and a zero byte come before the text.
pub fn digest(domain: &str, canonical: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("toolwright/1/{domain}\0"));
    hash.update(canonical);
    let digits = b"0123456789abcdef";
    let mut hex = String::with_capacity(64);
    for byte in hash.finalize() {
        let halves = [byte >> 4, byte & 0xf];
        hex.extend(halves.map(|half| char::from(digits[usize::from(half)])));
    }
    hex
}

/// Returns the digests of a tool object of `tools/list` (MCP 2025-11-25, "Tools").
pub fn listed(tool: &Value) -> ListedDigests {
    let of = |tool: &Value| digest("remote", &tool.to_canonical());
    ListedDigests { all: of(tool), capabilities: of(&capabilities(tool)) }
}

fn capabilities(tool: &Value) -> Value {
    let Value::Object(members) = tool else { return tool.clone() };
    let members = members.iter().filter(|(key, _)| !["title", "description"].contains(key));
    let members = members.map(|(key, value)| {
        let is_schema = ["inputSchema", "outputSchema"].contains(&key);
        (key.to_owned(), if is_schema { without_texts(value) } else { value.clone() })
    });
    Value::Object(members.collect::<Map<Value>>())
}

/// Returns the digest of what models read of a tool: its name, title, description, examples and the schema of its arguments. It is
/// the digest `model` of `toolwright.lock`.
pub fn model(spec: &ToolSpec) -> String {
    let json = |text: &str| text.parse::<Value>().unwrap_or_default();
    let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
    let example = |(args, result): (&str, Option<&str>)| {
        Value::Array([Some(json(args)), result.map(json)].into_iter().flatten().collect())
    };
    let members = [
        ("args", json(spec.args_schema())),
        ("description", Value::from(spec.description())),
        ("examples", Value::Array(spec.examples().map(example).collect())),
        ("name", Value::from(spec.name())),
        ("title", text(spec.title())),
    ];
    let members = members.map(|(key, value)| (key.to_owned(), value));
    digest("model", &Value::Object(members.into_iter().collect()).to_canonical())
}
