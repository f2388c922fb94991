//! The listings of remote MCP servers, as they were when somebody looked at them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolwright::Value;
use toolwright::untrusted::{MAX_TOOL_NAME_BYTES, line};

use crate::canonical::digest;
use crate::lock_error::LockError;
use crate::unique::unique;

/// A remote MCP server, with every tool that it lists.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LockedServer {
    /// The name and the version that the server gives of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The tools, by name.
    #[serde(deserialize_with = "unique")]
    pub listed: BTreeMap<String, ListedTool>,
}

/// A tool as a server lists it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ListedTool {
    /// The whole object, with unknown members.
    pub raw: Box<RawValue>,
    /// Its digest: `sha256:` and 64 hexadecimal digits.
    pub digest: String,
}

impl ListedTool {
    /// Returns the object.
    pub(crate) fn value(&self) -> Value {
        self.raw.get().parse().unwrap_or_default()
    }
}

impl LockedServer {
    /// Reads the list of a server: the result of `tools/list`, the response with it, or only its tools.
    ///
    /// # Errors
    ///
    /// If it is not such a list, or two of its tools have one name.
    pub fn of(list: &str, server: Option<String>) -> Result<Self, LockError> {
        let list: Value = list
            .parse()
            .map_err(|error| LockError(format!("expected a list of tools: {error}")))?;
        let result = list.get("result").unwrap_or(&list);
        let tools = result.get("tools").unwrap_or(result).as_array();
        if result.get("nextCursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(LockError(
                "the list has further pages; save all of them as one list".to_owned(),
            ));
        }
        let tools = tools.ok_or_else(|| {
            LockError("expected a list of tools, such as the result of `tools/list`".to_owned())
        })?;
        let mut listed = BTreeMap::new();
        for tool in tools {
            let name = tool.get("name").and_then(Value::as_str);
            let name = name.ok_or_else(|| LockError("a listed tool has no name".to_owned()))?;
            if name.len() > MAX_TOOL_NAME_BYTES {
                return Err(LockError(format!(
                    "the tool `{}` is listed, expected a name of at most {MAX_TOOL_NAME_BYTES} bytes",
                    line(name, MAX_TOOL_NAME_BYTES)
                )));
            }
            let text = Pretty(tool).to_string().replace('\n', "\n          ");
            let raw = RawValue::from_string(text)
                .map_err(|error| LockError(format!("the tool `{name}` cannot be kept: {error}")))?;
            let digest = digest("remote", &tool.to_canonical());
            if listed.insert(name.to_owned(), ListedTool { raw, digest }).is_some() {
                return Err(LockError(format!("the server lists two tools of the name `{name}`")));
            }
        }
        Ok(Self { server, listed })
    }

    /// Checks that the digest of each tool is that of its object.
    pub(crate) fn check(&self) -> Result<(), LockError> {
        let is_wrong =
            |tool: &ListedTool| tool.digest != digest("remote", &tool.value().to_canonical());
        match self.listed.iter().find(|(_, tool)| is_wrong(tool)) {
            Some((name, _)) => Err(LockError(format!(
                "the digest of the listed tool `{name}` is not that of its object; somebody edited the lock, \
                 so pin the listing again after a review"
            ))),
            None => Ok(()),
        }
    }

    /// Takes over the texts of tools that are equal but for order and white space, so that they do not look changed.
    pub fn keep_texts_of(&mut self, old: &Self) {
        for (name, tool) in &mut self.listed {
            if let Some(old) = old.listed.get(name).filter(|old| old.value() == tool.value()) {
                tool.raw.clone_from(&old.raw);
            }
        }
    }
}

/// Prints a value on several lines.
struct Pretty<'a>(&'a Value);

impl fmt::Display for Pretty<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(self.0, 0, f)
    }
}

fn print(value: &Value, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let line = |f: &mut fmt::Formatter<'_>, depth: usize| write!(f, "\n{}", "  ".repeat(depth));
    match value {
        Value::Array(items) if !items.is_empty() => {
            f.write_str("[")?;
            for (index, item) in items.iter().enumerate() {
                f.write_str(if index > 0 { "," } else { "" })?;
                line(f, depth + 1)?;
                print(item, depth + 1, f)?;
            }
            line(f, depth)?;
            f.write_str("]")
        }
        Value::Object(entries) if !entries.is_empty() => {
            f.write_str("{")?;
            for (index, (key, value)) in entries.iter().enumerate() {
                f.write_str(if index > 0 { "," } else { "" })?;
                line(f, depth + 1)?;
                write!(f, "{}: ", Value::from(key))?;
                print(value, depth + 1, f)?;
            }
            line(f, depth)?;
            f.write_str("}")
        }
        _ => write!(f, "{value}"),
    }
}
