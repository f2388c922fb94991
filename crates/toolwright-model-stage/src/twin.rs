//! Finds the mistakes for which a provider would refuse a request.

use std::collections::BTreeSet;

use serde_json::Value;
use toolwright_dialect::Dialect;

use crate::request::{Api, ReceivedRequest};
use crate::rules;

/// A tool of a request.
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    schema: &'a Value,
    is_strict: bool,
}

/// The conversation of a request, in one form for all APIs.
enum Message<'a> {
    Instructions,
    User,
    Calls(Vec<&'a str>),
    Results(Vec<&'a str>),
}

/// Returns the faults of a request. `signatures` are those of reasoning that led to calls.
pub(crate) fn faults(
    received: &ReceivedRequest,
    dialect: &Dialect,
    signatures: &[String],
) -> Vec<String> {
    if !received.body.is_object() {
        return vec!["the body is not a JSON object".to_owned()];
    }
    let mut faults = Vec::new();
    let api = received.api;
    if Api::of_envelope(dialect.envelope()).is_some_and(|expected| expected != api) {
        let id = dialect.id();
        faults.push(format!("a request of {api:?}, which has no tools in the dialect `{id}`"));
    }
    let tools = tools(received);
    let mut names = BTreeSet::new();
    for tool in &tools {
        let Tool { name, description, schema, is_strict } = tool;
        let row = if *is_strict { dialect } else { dialect.plain() };
        let mut broken = rules::broken_words(row, name, description);
        if !schema.is_null() {
            broken.extend(rules::broken(row, schema));
        }
        if !names.insert(*name) {
            broken.push("the name is taken".to_owned());
        }
        faults.extend(broken.into_iter().map(|fault| format!("the tool `{name}`: {fault}")));
    }
    deferred(received, dialect, &mut faults);
    if let Some(most) = dialect.limits().tools.filter(|most| tools.len() > *most) {
        faults.push(format!("found {} tools, expected at most {most}", tools.len()));
    }
    let messages = messages(received);
    conversation(&messages, received.api, &mut faults);
    let calls = messages.iter().filter_map(|message| match message {
        Message::Calls(ids) => Some(ids),
        Message::Instructions | Message::User | Message::Results(_) => None,
    });
    let ids = calls.flatten().filter(|id| !id.is_empty());
    faults.extend(ids.filter_map(|id| rules::broken_call_id(dialect, id)));
    // The reasoning of a conversation that was not sent belongs to another one.
    let messages = messages.iter().filter(|message| matches!(message, Message::Calls(_))).count();
    if messages > 0 && received.api != Api::OpenAiChat {
        for signature in signatures.iter().filter(|signature| !received.text.contains(*signature)) {
            faults.push(format!("the reasoning `{signature}` did not come back"));
        }
    }
    faults
}

/// Checks that each call has one result, in the place where the API requires it.
fn conversation(messages: &[Message<'_>], api: Api, faults: &mut Vec<String>) {
    let mut open: Vec<&str> = Vec::new();
    let mut ids = BTreeSet::new();
    let mut has_user = false;
    for message in messages {
        match message {
            Message::Instructions => {}
            Message::User => {
                has_user = true;
                if !open.is_empty() {
                    faults.push(format!("the calls {open:?} have no results"));
                    open.clear();
                }
            }
            Message::Calls(calls) => {
                if !open.is_empty() && api != Api::OpenAiResponses {
                    faults.push(format!("the calls {open:?} have no results"));
                    open.clear();
                }
                if !has_user {
                    faults.push("the conversation does not begin with the user".to_owned());
                }
                for id in calls {
                    // Gemini gives no ids.
                    if !id.is_empty() && !ids.insert(*id) {
                        faults.push(format!("the id `{id}` is taken"));
                    }
                }
                open.extend(calls);
            }
            Message::Results(results) => {
                for id in results {
                    match open.iter().position(|call| call == id) {
                        Some(place) => drop(open.remove(place)),
                        None => faults.push(format!("the result `{id}` has no call before it")),
                    }
                }
            }
        }
    }
    if !open.is_empty() {
        faults.push(format!("the calls {open:?} have no results"));
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn tools(received: &ReceivedRequest) -> Vec<Tool<'_>> {
    let body = &received.body;
    match received.api {
        Api::OpenAiChat => list(&body["tools"])
            .map(|tool| read(&tool["function"], "parameters", &tool["function"]["strict"]))
            .collect(),
        Api::OpenAiResponses => list(&body["tools"])
            .filter(|tool| !is_search(tool))
            .map(|tool| read(tool, "parameters", &tool["strict"]))
            .collect(),
        Api::Anthropic => list(&body["tools"])
            .filter(|tool| !is_search(tool))
            .map(|tool| read(tool, "input_schema", &tool["strict"]))
            .collect(),
        Api::Gemini => {
            let declared =
                list(&body["tools"]).flat_map(|tools| list(&tools["functionDeclarations"]));
            let schema = |tool: &Value| {
                if tool["parameters"].is_null() { "parametersJsonSchema" } else { "parameters" }
            };
            declared.map(|tool| read(tool, schema(tool), &Value::Null)).collect()
        }
        Api::Bedrock => list(&body["toolConfig"]["tools"])
            .map(|tool| {
                let spec = &tool["toolSpec"];
                Tool { schema: &spec["inputSchema"]["json"], ..read(spec, "", &spec["strict"]) }
            })
            .collect(),
    }
}

/// Returns whether a tool is the provider's own search of deferred tools.
fn is_search(tool: &Value) -> bool {
    text(&tool["type"]).starts_with("tool_search")
}

/// Checks the tools that the provider shows once its search finds them.
fn deferred(received: &ReceivedRequest, dialect: &Dialect, faults: &mut Vec<String>) {
    let tools = || list(&received.body["tools"]);
    let deferred = || tools().filter(|tool| tool["defer_loading"] == true);
    for tool in deferred().filter(|tool| !tool["cache_control"].is_null()) {
        let name = text(&tool["name"]);
        faults.push(format!("the deferred tool `{name}` has a mark of the cache"));
    }
    let has_search = tools().any(|tool| Some(text(&tool["type"])) == dialect.tool_search());
    if deferred().next().is_some() && !has_search {
        faults.push("tools are deferred, and nothing searches for them".to_owned());
    }
}

fn read<'a>(tool: &'a Value, schema: &str, strict: &Value) -> Tool<'a> {
    Tool {
        name: text(&tool["name"]),
        description: text(&tool["description"]),
        schema: &tool[schema],
        is_strict: strict == true,
    }
}

fn messages(received: &ReceivedRequest) -> Vec<Message<'_>> {
    let body = &received.body;
    match received.api {
        Api::OpenAiChat => list(&body["messages"])
            .map(|message| match text(&message["role"]) {
                "assistant" => Message::Calls(
                    list(&message["tool_calls"]).map(|call| text(&call["id"])).collect(),
                ),
                "tool" => Message::Results(vec![text(&message["tool_call_id"])]),
                "user" => Message::User,
                _ => Message::Instructions,
            })
            .collect(),
        Api::OpenAiResponses => list(&body["input"])
            .map(|item| match (text(&item["type"]), text(&item["role"])) {
                ("function_call", _) => Message::Calls(vec![text(&item["call_id"])]),
                ("function_call_output", _) => Message::Results(vec![text(&item["call_id"])]),
                (_, "user") => Message::User,
                _ => Message::Instructions,
            })
            .collect(),
        Api::Anthropic => {
            blocks(&body["messages"], "content", |block| match text(&block["type"]) {
                "tool_use" => Some((true, text(&block["id"]))),
                "tool_result" => Some((false, text(&block["tool_use_id"]))),
                _ => None,
            })
        }
        Api::Bedrock => blocks(&body["messages"], "content", |block| {
            if let Some(id) = block["toolUse"]["toolUseId"].as_str() {
                return Some((true, id));
            }
            block["toolResult"]["toolUseId"].as_str().map(|id| (false, id))
        }),
        Api::Gemini => blocks(&body["contents"], "parts", |part| {
            if part["functionCall"].is_object() {
                return Some((true, text(&part["functionCall"]["id"])));
            }
            let result = &part["functionResponse"];
            result.is_object().then(|| (false, text(&result["id"])))
        }),
    }
}

/// Reads messages of blocks: `of` returns the id of a call (true) or of a result.
fn blocks<'a>(
    messages: &'a Value,
    key: &str,
    of: impl Fn(&'a Value) -> Option<(bool, &'a str)>,
) -> Vec<Message<'a>> {
    let mut read = Vec::new();
    for message in list(messages) {
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for (is_call, id) in list(&message[key]).filter_map(&of) {
            if is_call { calls.push(id) } else { results.push(id) }
        }
        read.push(match text(&message["role"]) {
            "user" if results.is_empty() => Message::User,
            "user" => Message::Results(results),
            _ => Message::Calls(calls),
        });
    }
    read
}
