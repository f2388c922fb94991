//! The names of tools and the ids of calls on a wire, and the tools that a question offers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde_json::value::RawValue;
use toolwright_dialect::{Dialect, PlacedTool, wire_call_ids, wire_name};
use xxhash_rust::xxh3::Xxh3;

use super::json::raw;
use crate::error::ModelError;
use crate::model::{CallAnswer, Content, Message, ModelCall, ModelFacts, Opaque, Question};

/// The names of tools and the ids of calls in a question, as its wire has them.
pub struct Names<'a> {
    dialect: &'static Dialect,
    tools: BTreeMap<&'a str, &'a str>,
    /// The calls of the conversation by their ids: the id on the wire, and the call.
    calls: BTreeMap<&'a str, (String, &'a ModelCall)>,
}

impl fmt::Debug for Names<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Names").field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl<'a> Names<'a> {
    /// Reads a question.
    ///
    /// # Errors
    ///
    /// If its tools cannot be sent together.
    pub fn new(facts: &ModelFacts, question: &Question<'a>) -> Result<Self, ModelError> {
        if let Some(error) = question.tools.error() {
            return Err(ModelError::Unsendable(error.to_string()));
        }
        let messages = question.messages.iter();
        let parts = messages.flat_map(|message| match message {
            Message::Assistant(parts) => parts.as_slice(),
            Message::System(_) | Message::User(_) | Message::Results(_) => &[],
        });
        let calls: Vec<&ModelCall> = parts
            .filter_map(|part| match part {
                Content::Call(call) => Some(call),
                Content::Text(_) | Content::Opaque(_) => None,
            })
            .collect();
        let ids = wire_call_ids(calls.iter().map(|call| call.id.as_str()), facts.dialect);
        let tools = question.tools.tools.iter();
        Ok(Self {
            dialect: facts.dialect,
            tools: tools.map(|tool| (tool.name, tool.projection.wire_name.as_str())).collect(),
            calls: calls
                .into_iter()
                .zip(ids)
                .map(|(call, id)| (call.id.as_str(), (id, call)))
                .collect(),
        })
    }

    /// Checks that no tool has a name that the wire uses itself.
    pub(super) fn without(&self, own: &str) -> Result<(), ModelError> {
        match self.tools.iter().find(|(_, wire)| **wire == own) {
            None => Ok(()),
            Some((tool, _)) => Err(ModelError::Unsendable(format!(
                "the tool `{tool}` has the name of the provider's search; rename it"
            ))),
        }
    }

    /// Returns the wire name of a tool, also of one that only an earlier question had.
    pub fn tool(&self, name: &'a str) -> Cow<'a, str> {
        match self.tools.get(name) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(wire_name(name, self.dialect)),
        }
    }

    /// Returns the id of a call.
    pub fn id(&self, call: &ModelCall) -> String {
        self.calls.get(call.id.as_str()).map_or_else(|| call.id.clone(), |(id, _)| id.clone())
    }

    /// Returns the call of a result, with its id on the wire.
    ///
    /// # Errors
    ///
    /// If no message has the call.
    pub fn call(&self, result: &CallAnswer) -> Result<(String, &'a ModelCall), ModelError> {
        let found = self.calls.get(result.id.as_str());
        found.map(|(id, call)| (id.clone(), *call)).ok_or_else(|| {
            ModelError::Unsendable(format!(
                "found a result of the call `{}`, which no message has; leave it out",
                result.id
            ))
        })
    }

    /// Returns the names of the tools that a choice is limited to.
    ///
    /// # Errors
    ///
    /// If there are none, or one is not among the tools of the question.
    pub fn only(&self, names: &'a [String]) -> Result<Vec<&'a str>, ModelError> {
        if names.is_empty() {
            let message = "found a choice of no tool; use `Choice::None`".to_owned();
            return Err(ModelError::Unsendable(message));
        }
        let names = names.iter().map(|name| {
            let found = self.tools.get(name.as_str()).copied();
            found.ok_or_else(|| {
                ModelError::Unsendable(format!(
                    "found a choice of `{name}`, which is not among the tools of the question"
                ))
            })
        });
        names.collect()
    }
}

/// Returns the schema of a tool, if it has one.
pub(super) fn schema<'a>(tool: &PlacedTool<'a>) -> Result<Option<&'a RawValue>, ModelError> {
    let schema = tool.projection.wire_schema.as_deref();
    schema.map(|schema| raw("a schema", schema)).transpose()
}

/// Returns the schema of a tool for a wire that requires one.
pub(super) fn required_schema<'a>(tool: &PlacedTool<'a>) -> Result<&'a RawValue, ModelError> {
    match schema(tool)? {
        Some(schema) => Ok(schema),
        None => raw("a schema", r#"{"type":"object","properties":{}}"#),
    }
}

/// Returns the name and the schema that the text of the answer must match, if it must.
pub(super) fn output<'a>(
    question: &Question<'a>,
) -> Result<Option<(&'a str, &'a RawValue)>, ModelError> {
    let Some(projection) = question.output else { return Ok(None) };
    let Some(schema) = projection.wire_schema.as_deref() else {
        let message = "the schema of the answer has no form in the dialect of the model";
        return Err(ModelError::Unsendable(message.to_owned()));
    };
    Ok(Some((&projection.wire_name, raw("a schema", schema)?)))
}

/// Returns the JSON of an opaque part that this endpoint sent.
pub(super) fn own<'a>(
    opaque: &'a Opaque,
    facts: &ModelFacts,
) -> Result<Option<&'a RawValue>, ModelError> {
    let is_own = opaque.provider == facts.provider;
    is_own.then(|| raw("an opaque part", &opaque.json)).transpose()
}

/// Returns a digest of the tools and the first instructions: questions that share them share a cache.
pub(super) fn cache_key(facts: &ModelFacts, question: &Question<'_>) -> String {
    let mut digest = Xxh3::new();
    let mut add = |text: &str| {
        digest.update(&text.len().to_be_bytes());
        digest.update(text.as_bytes());
    };
    add(&facts.model);
    for tool in &question.tools.tools {
        add(&tool.projection.wire_name);
        add(&tool.projection.description);
        add(tool.projection.wire_schema.as_deref().unwrap_or_default());
    }
    let system = question.messages.iter().find_map(|message| match message {
        Message::System(text) => Some(text.as_str()),
        Message::User(_) | Message::Assistant(_) | Message::Results(_) => None,
    });
    add(system.unwrap_or_default());
    format!("{:032x}", digest.digest128())
}

/// Returns the name of the tool with which a provider searches deferred tools, by the type of that tool; `None` if the tool has no name.
pub(crate) fn search_tool_name(kind: &str) -> Option<&str> {
    let (name, date) = kind.rsplit_once('_')?;
    date.bytes().all(|byte| byte.is_ascii_digit()).then_some(name)
}
