//! Arguments and results as JSON texts, beside rmcp's messages: rmcp would read both into `serde_json` values, which
//! round numbers and drop what it does not know. Transports put texts in, whoever asked takes them out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    CallToolResult, ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData,
    ListToolsResult, RequestId, ServerJsonRpcMessage, ServerResult, Tool,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// What a call carries through rmcp to the transport: its arguments, as they were written.
#[derive(Clone, Debug)]
pub(super) struct Arguments(pub(super) Arc<RawValue>);

/// The code of the errors that stand in for an answer nobody could use. No server sends it: JSON-RPC 2.0 reserves it.
pub(super) const UNUSABLE: ErrorCode = ErrorCode(-32_768);

/// The results that somebody waits for as texts, by the ids of their requests.
#[derive(Debug, Default)]
pub(super) struct Texts(Mutex<HashMap<RequestId, Slot>>);

#[derive(Debug)]
enum Slot {
    /// A call that was sent.
    Call,
    /// A page of the list of tools that was asked for.
    List,
    /// The probe for servers of the newer era. What is no answer to it says that the server is of the older.
    Probe,
    /// A probe that took too long: its answer, should it still come, is for nobody.
    LateProbe,
    /// The result.
    Arrived(Box<RawValue>),
}

/// A message of a server, as far as one looks into it before rmcp does.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Option<RequestId>,
    #[serde(default, borrow)]
    method: Option<&'a RawValue>,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
}

/// What became of a message of a server.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A message for rmcp; the text of a result that was waited for is taken out of it.
    Message(Box<ServerJsonRpcMessage>),
    /// Nothing that anybody wants.
    Nothing,
}

impl Texts {
    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the result of a request out.
    pub(super) fn take(&self, id: &RequestId) -> Option<Box<RawValue>> {
        match self.lock().remove(id) {
            Some(Slot::Arrived(text)) => Some(text),
            _ => None,
        }
    }

    /// A message as text for the server, with the arguments of a call as they were written.
    pub(super) fn outgoing(&self, message: &ClientJsonRpcMessage) -> serde_json::Result<String> {
        self.expect(message);
        match arguments(message) {
            Some(arguments) => with_arguments(message, arguments),
            None => serde_json::to_string(message),
        }
    }

    /// Makes room for the result of a request; takes it away when the request is cancelled.
    fn expect(&self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let slot = match &request.request {
                    ClientRequest::CallToolRequest(_) => Slot::Call,
                    ClientRequest::ListToolsRequest(_) => Slot::List,
                    ClientRequest::DiscoverRequest(_) => Slot::Probe,
                    _ => return,
                };
                self.lock().insert(request.id.clone(), slot);
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

    /// Gives up waiting for the answer to the probe, if nothing has answered it: what rmcp is told instead.
    pub(super) fn give_up_probe(&self) -> Option<ServerJsonRpcMessage> {
        let mut slots = self.lock();
        let (id, slot) = slots.iter_mut().find(|(_, slot)| matches!(slot, Slot::Probe))?;
        *slot = Slot::LateProbe;
        Some(ServerJsonRpcMessage::error(no_discovery(), Some(id.clone())))
    }

    /// Whether the probe is under way.
    pub(super) fn is_probing(&self) -> bool {
        self.lock().values().any(|slot| matches!(slot, Slot::Probe))
    }

    /// Reads what a server sent.
    ///
    /// # Errors
    ///
    /// Text that is no message of JSON-RPC.
    pub(super) fn incoming(&self, text: &[u8]) -> serde_json::Result<Incoming> {
        let envelope: Envelope<'_> = serde_json::from_slice(text)?;
        let id = envelope.id.map(canonical);
        if let (Some(id), None) = (&id, envelope.method)
            && let Some(message) = self.answer(id, envelope.result, text)
        {
            return Ok(message);
        }
        match (serde_json::from_slice(text), id, envelope.method) {
            (Ok(message), ..) => Ok(Incoming::Message(Box::new(message))),
            (Err(error), Some(id), None) => Ok(Incoming::of(unusable(id, error.to_string()))),
            (Err(error), ..) => Err(error),
        }
    }

    /// An answer to a request that has a slot.
    fn answer(&self, id: &RequestId, result: Option<&RawValue>, text: &[u8]) -> Option<Incoming> {
        let mut slots = self.lock();
        let slot = slots.remove(id)?;
        let result = match (slot, result) {
            (Slot::LateProbe, _) => return Some(Incoming::Nothing),
            (Slot::Probe, result) => return Some(probed(id, result.is_some(), text)),
            // Nobody asked twice; the first answer counts.
            (Slot::Arrived(first), _) => {
                slots.insert(id.clone(), Slot::Arrived(first));
                return Some(Incoming::Nothing);
            }
            (Slot::Call | Slot::List, None) => return None,
            (Slot::Call, Some(result)) => {
                slots.insert(id.clone(), Slot::Arrived(result.to_owned()));
                ServerResult::CallToolResult(CallToolResult::default())
            }
            (Slot::List, Some(result)) => {
                slots.insert(id.clone(), Slot::Arrived(result.to_owned()));
                ServerResult::ListToolsResult(known_tools(result))
            }
        };
        Some(Incoming::of(ServerJsonRpcMessage::response(result, id.clone())))
    }
}

impl Incoming {
    fn of(message: ServerJsonRpcMessage) -> Self {
        Self::Message(Box::new(message))
    }
}

/// The answer to a request that stands in for one nobody could use.
pub(super) fn unusable(id: RequestId, why: impl Into<String>) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::new(UNUSABLE, why.into(), None), Some(id))
}

/// What tells rmcp that a server is of the older era.
fn no_discovery() -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "server/discover was not answered", None)
}

/// An answer to the probe: rmcp reads it if it is one, and is told of an older server if it is not.
fn probed(id: &RequestId, is_result: bool, text: &[u8]) -> Incoming {
    let refused = || Incoming::of(ServerJsonRpcMessage::error(no_discovery(), Some(id.clone())));
    match serde_json::from_slice::<ServerJsonRpcMessage>(text) {
        Ok(ServerJsonRpcMessage::Response(response)) => {
            let is_answer = matches!(response.result, ServerResult::DiscoverResult(_));
            if is_answer {
                Incoming::of(ServerJsonRpcMessage::Response(response))
            } else {
                refused()
            }
        }
        Ok(error @ ServerJsonRpcMessage::Error(_)) if !is_result => Incoming::of(error),
        _ => refused(),
    }
}

/// The id we gave, where a server made a text of a number.
fn canonical(id: RequestId) -> RequestId {
    match &id {
        RequestId::String(text) => text.parse().map_or(id, RequestId::Number),
        RequestId::Number(_) => id,
    }
}

/// The tools of a page that rmcp can read: its HTTP transport keeps their schemas, to fill headers of calls.
fn known_tools(page: &RawValue) -> ListToolsResult {
    #[derive(Deserialize)]
    struct Page {
        tools: Vec<Value>,
    }
    let tools = serde_json::from_str::<Page>(page.get()).map(|page| page.tools).unwrap_or_default();
    let known = tools.into_iter().filter_map(|tool| serde_json::from_value::<Tool>(tool).ok());
    ListToolsResult::with_all_items(known.collect())
}

/// The arguments that a call carries.
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
