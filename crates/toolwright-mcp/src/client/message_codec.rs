//! Encodes and decodes the messages of a connection. Arguments and results stay JSON text and bypass rmcp, which would
//! parse them into `serde_json` values and so round numbers and drop unknown members. Transports use the codec; a caller
//! takes the text of its result from it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    CallToolResult, ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData,
    ListToolsResult, RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolwright::untrusted::Redactor;

use super::headers::MarkedTools;

/// The arguments of a call as text, in the extensions of rmcp's request.
#[derive(Clone, Debug)]
pub(super) struct Arguments(pub(super) Arc<RawValue>);

/// The code of errors that replace an invalid response. Servers do not send it, because JSON-RPC 2.0 reserves it.
pub(super) const INVALID_RESPONSE: ErrorCode = ErrorCode(-32_768);

/// Encodes and decodes messages.
#[derive(Debug, Default)]
pub(super) struct MessageCodec {
    /// The requests in flight whose results stay text, by id.
    requests: Mutex<HashMap<RequestId, InFlight>>,
    marked: Mutex<MarkedTools>,
    /// True once the server has listed more tools than rmcp may keep.
    is_exhausted: AtomicBool,
}

#[derive(Debug)]
enum InFlight {
    /// A call without a result yet.
    Call,
    /// A request for a page of the tool list, without a result yet.
    List,
    /// The probe for the newer era, `server/discover`. Any other response means that the server is of the older era.
    Probe,
    /// A probe that timed out. A late response is ignored.
    LateProbe,
    /// The result of a call or a page.
    Arrived(Box<RawValue>),
}

/// The members of a message that are read before rmcp parses it.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Option<RequestId>,
    #[serde(default, borrow)]
    method: Option<&'a RawValue>,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

/// A decoded message of a server.
#[derive(Debug)]
pub(super) enum Decoded {
    /// A message for rmcp. The result of a call or a page has been replaced by an empty one.
    Message(Box<ServerJsonRpcMessage>),
    /// A response that arrived too late or twice.
    Ignored,
}

impl MessageCodec {
    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, InFlight>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the connection must not be used any more, because the server has listed too many tools on it.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted.load(Ordering::Relaxed)
    }

    /// Takes the result of a request, and forgets the request.
    pub(super) fn take_result(&self, id: &RequestId) -> Option<Box<RawValue>> {
        match self.lock().remove(id) {
            Some(InFlight::Arrived(text)) => Some(text),
            _ => None,
        }
    }

    /// Encodes a message for the server, with the arguments of a call as they were written.
    pub(super) fn encode(&self, message: &ClientJsonRpcMessage) -> serde_json::Result<String> {
        self.register(message);
        match arguments(message) {
            Some(arguments) => with_arguments(message, arguments),
            None => serde_json::to_string(message),
        }
    }

    /// Registers a request as in flight, or removes a cancelled one.
    fn register(&self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let in_flight = match &request.request {
                    ClientRequest::CallToolRequest(_) => InFlight::Call,
                    ClientRequest::ListToolsRequest(_) => InFlight::List,
                    ClientRequest::DiscoverRequest(_) => InFlight::Probe,
                    _ => return,
                };
                self.lock().insert(request.id.clone(), in_flight);
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.lock().remove(id);
                }
            }
            _ => {}
        }
    }

    /// Gives up an unanswered probe. Returns the error that makes rmcp use the older era, or `None` if there is no such
    /// probe.
    pub(super) fn give_up_probe(&self) -> Option<ServerJsonRpcMessage> {
        let mut requests = self.lock();
        let (id, probe) =
            requests.iter_mut().find(|(_, request)| matches!(request, InFlight::Probe))?;
        *probe = InFlight::LateProbe;
        Some(ServerJsonRpcMessage::error(discover_unsupported(), Some(id.clone())))
    }

    /// Returns whether a probe is unanswered.
    pub(super) fn is_probing(&self) -> bool {
        self.lock().values().any(|request| matches!(request, InFlight::Probe))
    }

    /// Decodes a message of the server.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a JSON-RPC message.
    pub(super) fn decode(&self, text: &[u8]) -> serde_json::Result<Decoded> {
        let envelope: Envelope<'_> = serde_json::from_slice(text)?;
        let id = envelope.id.clone().map(canonical);
        if let (Some(id), None) = (&id, envelope.method)
            && let Some(message) = self.response(id, &envelope, text)
        {
            return Ok(message);
        }
        match (serde_json::from_slice(text), id, envelope.method) {
            (Ok(message), ..) => Ok(Decoded::Message(Box::new(message))),
            (Err(error), Some(id), None) => {
                Ok(Decoded::of(invalid_response(id, error.to_string())))
            }
            (Err(error), ..) => Err(error),
        }
    }

    /// Decodes a message of the server without the secrets of the client.
    ///
    /// # Errors
    ///
    /// Fails with the redacted text if it is not a JSON-RPC message.
    pub(super) fn decode_redacted(
        &self,
        text: &str,
        redactor: &Redactor,
    ) -> Result<Decoded, String> {
        let redacted = redactor.redacted(text);
        self.decode(redacted.as_bytes()).or_else(|_| {
            // A number that is a secret is replaced by something that is not JSON.
            let response = serde_json::from_str::<Envelope<'_>>(text).ok();
            let id = response.filter(|response| response.method.is_none()).and_then(|it| it.id);
            match (id, &redacted) {
                (Some(id), Cow::Owned(_)) => {
                    let reason = "it has a number that is a credential of the client";
                    Ok(Decoded::of(invalid_response(canonical(id), reason)))
                }
                _ => Err(redacted.into_owned()),
            }
        })
    }

    /// Decodes the response to a registered request. Returns `None` if rmcp should parse it.
    fn response(&self, id: &RequestId, envelope: &Envelope<'_>, text: &[u8]) -> Option<Decoded> {
        let mut requests = self.lock();
        let request = requests.remove(id)?;
        let result = match (request, envelope.result) {
            (InFlight::LateProbe, _) => return Some(Decoded::Ignored),
            (InFlight::Probe, result) => {
                return Some(probe_response(id, result.is_some(), text));
            }
            // A second response to the same request is ignored.
            (InFlight::Arrived(first), _) => {
                requests.insert(id.clone(), InFlight::Arrived(first));
                return Some(Decoded::Ignored);
            }
            (InFlight::Call | InFlight::List, None) => return None,
            // JSON-RPC 2.0, section 5.
            (InFlight::Call | InFlight::List, Some(_)) if envelope.error.is_some() => {
                let reason = "the response has a result and an error, expected one of them";
                return Some(Decoded::of(invalid_response(id.clone(), reason)));
            }
            (InFlight::Call, Some(result)) => {
                requests.insert(id.clone(), InFlight::Arrived(result.to_owned()));
                ServerResult::CallToolResult(CallToolResult::default())
            }
            (InFlight::List, Some(result)) => {
                // rmcp's HTTP transport needs marked tools to fill the headers of calls.
                let mut marked = self.marked.lock().unwrap_or_else(PoisonError::into_inner);
                let tools = match marked.of_page(result) {
                    Ok(tools) => tools,
                    Err(reason) => {
                        self.is_exhausted.store(true, Ordering::Relaxed);
                        return Some(Decoded::of(invalid_response(id.clone(), reason)));
                    }
                };
                requests.insert(id.clone(), InFlight::Arrived(result.to_owned()));
                ServerResult::ListToolsResult(ListToolsResult::with_all_items(tools))
            }
        };
        Some(Decoded::of(ServerJsonRpcMessage::response(result, id.clone())))
    }
}

impl Decoded {
    fn of(message: ServerJsonRpcMessage) -> Self {
        Self::Message(Box::new(message))
    }
}

/// The error that replaces an invalid response.
pub(super) fn invalid_response(id: RequestId, reason: impl Into<String>) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::new(INVALID_RESPONSE, reason.into(), None), Some(id))
}

/// The error that makes rmcp use the older era.
fn discover_unsupported() -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "server/discover was not answered", None)
}

/// Decodes the response to the probe. An invalid one becomes the error that makes rmcp use the older era.
fn probe_response(id: &RequestId, is_result: bool, text: &[u8]) -> Decoded {
    let unsupported =
        || Decoded::of(ServerJsonRpcMessage::error(discover_unsupported(), Some(id.clone())));
    match serde_json::from_slice::<ServerJsonRpcMessage>(text) {
        Ok(ServerJsonRpcMessage::Response(response)) => {
            if matches!(response.result, ServerResult::DiscoverResult(_)) {
                Decoded::of(ServerJsonRpcMessage::Response(response))
            } else {
                unsupported()
            }
        }
        Ok(error @ ServerJsonRpcMessage::Error(_)) if !is_result => Decoded::of(error),
        _ => unsupported(),
    }
}

/// Converts an id back to the number that was sent, if the server turned it into a string.
fn canonical(id: RequestId) -> RequestId {
    match &id {
        RequestId::String(text) => text.parse().map_or(id, RequestId::Number),
        RequestId::Number(_) => id,
    }
}

/// Returns the arguments of a call.
fn arguments(message: &ClientJsonRpcMessage) -> Option<&Arguments> {
    let ClientJsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CallToolRequest(call) = &request.request else { return None };
    call.extensions.get::<Arguments>()
}

fn with_arguments(
    message: &ClientJsonRpcMessage,
    arguments: &Arguments,
) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Params<'a> {
        #[serde(flatten)]
        rest: Map<String, Value>,
        arguments: &'a RawValue,
    }
    #[derive(Serialize)]
    struct Call<'a> {
        #[serde(flatten)]
        rest: Map<String, Value>,
        params: Params<'a>,
    }
    let mut rest = match serde_json::to_value(message)? {
        Value::Object(rest) => rest,
        _ => Map::new(),
    };
    let mut params = match rest.remove("params") {
        Some(Value::Object(params)) => params,
        _ => Map::new(),
    };
    params.remove("arguments");
    let params = Params { rest: params, arguments: &arguments.0 };
    serde_json::to_string(&Call { rest, params })
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ListToolsRequest, NumberOrString};

    use super::*;

    #[test]
    fn a_list_of_more_marks_than_rmcp_may_keep_ends_the_connection() {
        let codec = MessageCodec::default();
        let list = ClientRequest::ListToolsRequest(ListToolsRequest::default());
        let id = NumberOrString::Number(1);
        codec.encode(&ClientJsonRpcMessage::request(list, id)).expect("it is a message");
        let name = "x".repeat(5 << 20);
        let schema = r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}"#;
        let tools = format!(r#"[{{"name":"{name}","inputSchema":{schema}}}]"#);
        let page = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":{tools}}}}}"#);
        let decoded = codec.decode(page.as_bytes()).expect("it is a message");
        let Decoded::Message(message) = decoded else { panic!("it is a response") };
        assert!(matches!(*message, ServerJsonRpcMessage::Error(_)), "rmcp gets no schema");
        assert!(codec.is_exhausted());
    }
}
