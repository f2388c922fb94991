//! The final payload of a run: a text, or JSON that matches a schema.

use serde::Deserialize;
use serde_json::value::RawValue;
use toolwright::{FailureKind, Payload, Recovery, ToolFailure, ToolSpec};
use toolwright_dialect::{Decoded, Projection, Subject, WireIssues};
use toolwright_runtime::Turn;

use super::offered::Offered;
use crate::model::{Choice, Settings};

/// The beginning of the message about an invalid final answer.
const INVALID: &str = "the final answer is not valid:";

/// The way in which a model gives a final payload that must match a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FinalOutput {
    /// By a call of `final_answer`, a tool whose arguments have the schema. If a tool of the agent has this name, it is
    /// `final_answer_2`.
    #[default]
    Tool,
    /// As the text of the last answer, which the provider constrains to the schema. Not every model can do so with tools.
    Native,
    /// As the first JSON object or array of a text. The schema is in the instructions.
    Prompted,
}

/// The final payload that a run expects.
pub(super) struct Expected<'a> {
    /// The tool whose result schema the payload must match; none if it is a text.
    spec: Option<&'a ToolSpec>,
    output: FinalOutput,
    /// The name of the tool for the final answer.
    name: String,
}

impl<'a> Expected<'a> {
    pub(super) fn of(turn: &Turn<'a>, output: FinalOutput, offered: &Offered<'_>) -> Self {
        let spec = turn.result_spec();
        Self { spec, output, name: offered.free_name(Subject::final_answer("").name) }
    }

    /// Returns the name of the tool for the final answer, if there is one.
    pub(super) fn tool_name(&self) -> Option<&str> {
        let has_tool = self.spec.is_some() && self.output == FinalOutput::Tool;
        has_tool.then_some(self.name.as_str())
    }

    /// Returns the tool for the final answer, if there is one.
    pub(super) fn tool(&self) -> Option<Subject<'_>> {
        let name = self.tool_name()?;
        Some(Subject { name, ..Subject::final_answer(self.spec?.result_schema()) })
    }

    /// Returns the schema to which the provider constrains the text of the last answer, with a name.
    pub(super) fn native(&self) -> Option<Subject<'_>> {
        let spec = self.spec.filter(|_| self.output == FinalOutput::Native)?;
        Some(Subject { name: &self.name, description: "", args: spec.result_schema() })
    }

    /// Returns the schema that the instructions have to name.
    fn prompted(&self) -> Option<&str> {
        self.spec.filter(|_| self.output == FinalOutput::Prompted).map(ToolSpec::result_schema)
    }

    /// Returns instructions for the final answer.
    pub(super) fn instructions(&self) -> Option<String> {
        if let Some(name) = self.tool_name() {
            return Some(format!(
                "Once the work is done, call `{name}`, alone: its arguments are the final answer."
            ));
        }
        let schema = self.prompted()?;
        Some(format!(
            "Once the work is done, answer with one JSON text and nothing else. It must match this JSON Schema: {schema}"
        ))
    }

    /// Returns which tools the model may call.
    pub(super) fn choice(&self, is_last: bool, has_no_tools: bool, is_thinking: bool) -> Choice {
        match self.tool_name() {
            _ if has_no_tools => Choice::Auto,
            // Some models cannot be made to call a tool while they think.
            Some(_) if is_thinking => Choice::Auto,
            Some(name) if is_last => Choice::Only(vec![name.to_owned()]),
            Some(_) => Choice::Required,
            None if is_last => Choice::None,
            None => Choice::Auto,
        }
    }

    /// Returns the message before the last question.
    pub(super) fn last_words(&self, reason: &str) -> String {
        let how = match self.tool_name() {
            Some(name) => format!("Call `{name}` now"),
            None => "Give the final answer now".to_owned(),
        };
        format!("{how}, and call no other tool: {reason}.")
    }

    /// Returns the message for a model that answered with a text instead of a call.
    pub(super) fn reminder(&self) -> Option<String> {
        self.tool_name().map(|name| {
            format!("Call a tool. If the work is done, call `{name}` with the final answer.")
        })
    }

    /// Returns the final payload of a text.
    ///
    /// # Errors
    ///
    /// The mistakes in the text, for the model.
    pub(super) fn payload_of(
        &self,
        text: &str,
        projection: Option<&Projection>,
    ) -> Result<Payload, String> {
        if self.spec.is_none() {
            return Payload::of(text).map_err(|issues| issues.to_string());
        }
        if let Some(projection) = projection {
            return self.decoded(projection.decode(text.trim()));
        }
        let json = json_in(text).ok_or("the answer has no JSON text")?;
        self.checked(Payload::new(json))
    }

    /// Returns the payload if it matches the schema.
    ///
    /// # Errors
    ///
    /// The issues, for the model.
    pub(super) fn checked(&self, payload: Payload) -> Result<Payload, String> {
        let checked = self.spec.map_or(Ok(()), |spec| spec.check_result(payload.as_bytes()));
        checked.map_err(|issues| format!("{INVALID}\n{issues}"))?;
        Ok(payload)
    }

    /// Returns the payload of a value from the wire if it matches the schema.
    ///
    /// # Errors
    ///
    /// The issues, for the model, with their places in what it wrote.
    pub(super) fn decoded(
        &self,
        decoded: Result<Decoded<'_>, WireIssues>,
    ) -> Result<Payload, String> {
        let wrong = |issues: &WireIssues| format!("{INVALID}\n{issues}");
        let decoded = decoded.map_err(|issues| wrong(&issues))?;
        let json = decoded.canonical.as_bytes();
        let checked = self.spec.map_or(Ok(()), |spec| spec.check_result(json));
        checked.map_err(|issues| wrong(&decoded.wire_issues(&issues)))?;
        Ok(decoded.canonical)
    }
}

/// The extra key `additionalModelRequestFields` of Bedrock.
#[derive(Default, Deserialize)]
struct ModelFields<'a> {
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_config: Option<&'a RawValue>,
}

/// How a model thinks, as Anthropic describes it.
#[derive(Deserialize)]
struct Thinking<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
}

/// Returns whether settings make a model think: the effort, or an extra key of Anthropic or Bedrock.
pub(super) fn is_thinking(settings: &Settings) -> bool {
    let extra = |key: &str| settings.extra.get(key).map(Payload::as_str);
    let fields: Option<ModelFields<'_>> =
        extra("additionalModelRequestFields").and_then(|json| serde_json::from_str(json).ok());
    let fields = fields.unwrap_or_default();
    let of_model = [fields.thinking, fields.reasoning_config].map(|json| json.map(RawValue::get));
    let is_enabled = |json: &str| {
        let thinking = serde_json::from_str::<Thinking<'_>>(json);
        !thinking.is_ok_and(|thinking| thinking.kind == "disabled")
    };
    let mut all = of_model.into_iter().chain([extra("thinking")]).flatten();
    settings.effort.is_some() || all.any(is_enabled)
}

/// Returns the failure of a run whose model gave no valid answer. `last` is the last message to the model.
pub(super) fn not_given(attempts: u32, last: &str) -> ToolFailure {
    let message = match attempts {
        1 => "the model gave no valid answer".to_owned(),
        _ => format!("the model gave no valid answer in {attempts} attempts"),
    };
    ToolFailure::new(FailureKind::MalformedResult, message, Recovery::Replan).with_detail(last)
}

/// Returns the JSON of a text: all of it, or its first object or array. Reads each byte at most twice: after a text that is not
/// an object or array after all, the next one is searched for behind the part that was read.
fn json_in(text: &str) -> Option<&str> {
    let whole = text.trim();
    if first_value(whole) == Ok(whole) {
        return Some(whole);
    }
    let mut at = 0;
    loop {
        let rest = text.as_bytes().get(at..)?;
        at += rest.iter().position(|byte| matches!(byte, b'{' | b'['))?;
        match first_value(&text[at..]) {
            Ok(value) => return Some(value),
            Err(read) => at += read.max(1),
        }
    }
}

/// Returns the first JSON value of a text, or the number of bytes before the one that was not expected.
fn first_value(text: &str) -> Result<&str, usize> {
    let value = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>().next();
    value.ok_or(0_usize)?.map(RawValue::get).map_err(|error| {
        let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
        let before: usize = lines.map(str::len).sum();
        before + error.column().saturating_sub(1)
    })
}

#[cfg(test)]
mod tests {
    use super::json_in;

    #[test]
    fn the_json_of_a_text_is_all_of_it_or_its_first_object_or_array() {
        assert_eq!(json_in(" 7 "), Some("7"));
        assert_eq!(json_in("So: ```json\n{\"a\": [1]}\n``` Good?"), Some("{\"a\": [1]}"));
        assert_eq!(json_in("[not] but {\"a\":1} {}"), Some("{\"a\":1}"));
        assert_eq!(json_in("{{\"a\":1}}"), Some("{\"a\":1}"));
        assert_eq!(json_in("{note:\n\n é [1]}"), Some("[1]"));
        assert_eq!(json_in("[\"\\é\"] [2]"), Some("[2]"));
        assert_eq!(json_in("[\"é\u{1}é\"] [3]"), Some("[3]"));
        for text in ["nothing", "", "[", "[é", "{\"", "[{[{"] {
            assert_eq!(json_in(text), None, "{text}");
        }
    }
}
