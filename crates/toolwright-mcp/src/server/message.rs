//! Parses a message far enough to take out the arguments of a call, so that the codec gets them as they were sent.
//! rmcp would parse them into values, in which duplicate keys are lost and large integers become doubles. Also makes
//! better errors for malformed messages than rmcp does.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientJsonRpcMessage,
    ClientRequest, ErrorCode, Extensions, Implementation, InitializeRequestParams, JsonRpcError,
    RequestId, RequestMetaObject,
};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use toolwright::Payload;
use toolwright::untrusted::excerpt;

/// The arguments of a call as text, which bypass rmcp in the extensions of the request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments(Arc<Mutex<Option<Box<str>>>>);

/// A message from a client, parsed as far as needed.
pub(crate) enum Message<'a> {
    /// A `tools/call` request.
    Call(Call<'a>),
    /// Another request.
    Request(Request<'a>),
    /// A notification, or a response to a request from this server.
    Unanswered,
}

/// A request that rmcp parses.
pub(crate) struct Request<'a> {
    pub(crate) id: RequestId,
    pub(crate) method: Cow<'a, str>,
}

/// A `tools/call` request.
pub(crate) struct Call<'a> {
    pub(crate) id: RequestId,
    pub(crate) name: Cow<'a, str>,
    /// The metadata that the server uses.
    meta: Option<Box<RawValue>>,
    arguments: Option<&'a str>,
}

/// The JSON-RPC error response to a message that is not handled.
#[derive(Debug)]
pub(crate) struct ErrorResponse(Box<JsonRpcError>);

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CallParams<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// The most bytes of an id or a progress token as JSON, which the server keeps, and repeats in each message about the request.
const MAX_REPEATED: usize = 1024;

/// The most bytes of metadata of a call, and of the parameters of other requests, which rmcp keeps as trees until the request ends.
const MAX_KEPT: usize = 64 << 10;

#[derive(Deserialize)]
struct CallMeta<'a> {
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
}

/// Deserializes a key that may be `null`: only a missing key is `None`.
fn present<'de, D>(from: D) -> Result<Option<&'de RawValue>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    <&RawValue>::deserialize(from).map(Some)
}

/// Parses the bytes of one message.
///
/// # Errors
///
/// Returns the response to a malformed message (JSON-RPC 2.0, section 5.1).
pub(crate) fn read(bytes: &[u8]) -> Result<(&str, Message<'_>), ErrorResponse> {
    let text = std::str::from_utf8(bytes).map_err(|error| ErrorResponse::not_json(&error))?;
    // A byte order mark may be ignored (RFC 8259, section 8.1).
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let envelope = envelope(text)?;
    Ok((text, envelope.message()?))
}

fn envelope(text: &str) -> Result<Envelope<'_>, ErrorResponse> {
    if !text.trim_start().starts_with('{') {
        serde_json::from_str::<&RawValue>(text).map_err(|error| ErrorResponse::not_json(&error))?;
        return Err(ErrorResponse::invalid_request(
            None,
            "a message must be one JSON object; send messages one by one",
        ));
    }
    serde_json::from_str(text).map_err(|error| {
        // The only data error of an object is a duplicate key.
        if error.is_data() {
            ErrorResponse::invalid_request(None, error.to_string())
        } else {
            ErrorResponse::not_json(&error)
        }
    })
}

impl<'a> Envelope<'a> {
    fn message(&self) -> Result<Message<'a>, ErrorResponse> {
        let id = self.id.map(|id| serde_json::from_str::<RequestId>(id.get()));
        let is_id_long = self.id.is_some_and(|id| id.get().len() > MAX_REPEATED);
        let known = id.as_ref().and_then(|id| id.as_ref().ok()).filter(|_| !is_id_long);
        let invalid =
            |message: &'static str| Err(ErrorResponse::invalid_request(known.cloned(), message));
        if self.jsonrpc.map(RawValue::get) != Some(r#""2.0""#) {
            return invalid(r#"`jsonrpc` must be "2.0""#);
        }
        let is_response = self.result.is_some() || self.error.is_some();
        let Some(method) = self.method else {
            return if is_response {
                Ok(Message::Unanswered)
            } else {
                invalid("`method` is missing")
            };
        };
        let Some(method) = string(method) else { return invalid("`method` must be a string") };
        match id {
            _ if is_response => invalid("a request must have neither `result` nor `error`"),
            None => Ok(Message::Unanswered),
            Some(Err(_)) => invalid("`id` must be a string or an integer"),
            Some(Ok(_)) if is_id_long => {
                let message = format!("`id` is too long, expected at most {MAX_REPEATED} bytes");
                Err(ErrorResponse::invalid_request(None, message))
            }
            Some(Ok(id)) if method == "tools/call" => self.call(id).map(Message::Call),
            // `without_unused_params` drops those of `initialize`.
            Some(Ok(id)) if method != "initialize" && is_too_long(self.params) => {
                let message = format!("`params` is too long, expected at most {MAX_KEPT} bytes");
                Err(ErrorResponse::invalid_params(Some(id), message))
            }
            Some(Ok(id)) => {
                let request = Request { id, method };
                if request.method == "tools/list" && !self.has_valid_list_params() {
                    return Err(request.unparseable());
                }
                Ok(Message::Request(request))
            }
        }
    }

    /// Checks the parameters of `tools/list`, because rmcp ignores those that it cannot parse.
    fn has_valid_list_params(&self) -> bool {
        #[derive(Deserialize)]
        struct ListParams<'a> {
            #[serde(borrow)]
            cursor: Option<&'a RawValue>,
        }
        let Some(params) = self.params else { return true };
        let params = object(Some(params)).map(|params| serde_json::from_str(params.get()));
        let Some(Ok(ListParams { cursor })) = params else { return false };
        cursor.is_none_or(|cursor| string(cursor).is_some())
    }

    fn call(&self, id: RequestId) -> Result<Call<'a>, ErrorResponse> {
        let malformed = |what: &'static str| ErrorResponse::invalid_params(Some(id.clone()), what);
        let params = object(self.params).ok_or_else(|| malformed("`params` must be an object"))?;
        let params: CallParams<'a> = serde_json::from_str(params.get())
            .map_err(|_| malformed("`params` has a duplicate key"))?;
        let name = params.name.and_then(string);
        let name = name.ok_or_else(|| malformed("`name` must be the name of a tool"))?;
        if params.arguments.is_some() && object(params.arguments).is_none() {
            return Err(malformed("`arguments` must be an object"));
        }
        if is_too_long(params.meta) {
            let what = format!("`_meta` is too long, expected at most {MAX_KEPT} bytes");
            return Err(ErrorResponse::invalid_params(Some(id), what));
        }
        if let Some(meta) = params.meta {
            let meta = object(Some(meta)).ok_or_else(|| malformed("`_meta` must be an object"))?;
            let meta: CallMeta<'_> = serde_json::from_str(meta.get())
                .map_err(|_| malformed("`_meta` has two keys `progressToken`"))?;
            if meta.progress_token.is_some_and(|token| token.get().len() > MAX_REPEATED) {
                let what =
                    format!("`progressToken` is too long, expected at most {MAX_REPEATED} bytes");
                return Err(ErrorResponse::invalid_params(Some(id), what));
            }
        }
        let arguments = params.arguments.map(RawValue::get);
        Ok(Call { id, name, meta: params.meta.and_then(used_meta), arguments })
    }
}

fn is_too_long(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get().len() > MAX_KEPT)
}

/// Returns the entries of a call's metadata that the server uses.
fn used_meta(meta: &RawValue) -> Option<Box<RawValue>> {
    let mut entries: BTreeMap<String, &RawValue> = serde_json::from_str(meta.get()).ok()?;
    entries.retain(|key, _| {
        matches!(key.as_str(), "progressToken" | "traceparent" | "tracestate")
            || key.starts_with("io.modelcontextprotocol/")
    });
    to_raw_value(&entries).ok()
}

fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    match raw.get().strip_prefix('"')?.strip_suffix('"') {
        Some(plain) if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
        _ => serde_json::from_str(raw.get()).ok().map(Cow::Owned),
    }
}

fn object(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| raw.get().starts_with('{'))
}

/// The longest name or version of a client that is kept, in bytes.
const MAX_CLIENT_NAME: usize = 256;

/// Removes the parameters of `initialize` that the server does not use, because rmcp keeps them as long as the session. The
/// revision, and the beginnings of the client's name and version, stay.
pub(crate) fn without_unused_params(mut message: ClientJsonRpcMessage) -> ClientJsonRpcMessage {
    if let ClientJsonRpcMessage::Request(request) = &mut message
        && let ClientRequest::InitializeRequest(initialize) = &mut request.request
    {
        let InitializeRequestParams { protocol_version, client_info, .. } = &initialize.params;
        let [name, version] =
            [&client_info.name, &client_info.version].map(|text| excerpt(text, MAX_CLIENT_NAME));
        let client = Implementation::new(name, version);
        let kept = InitializeRequestParams::new(ClientCapabilities::default(), client)
            .with_protocol_version(protocol_version.clone());
        initialize.params = kept;
    }
    message
}

impl Request<'_> {
    /// The response if rmcp cannot parse the request.
    pub(crate) fn unparseable(self) -> ErrorResponse {
        ErrorResponse::new(Some(self.id), unparseable(&self.method))
    }
}

/// The methods of this server.
const METHODS: [&str; 6] =
    ["initialize", "ping", "server/discover", "subscriptions/listen", "tools/call", "tools/list"];

/// The error for a request that rmcp cannot parse: its parameters are invalid, or its method is unknown.
pub(crate) fn unparseable(method: &str) -> ErrorData {
    if METHODS.contains(&method) {
        return ErrorData::invalid_params(format!("`params` are not those of `{method}`"), None);
    }
    no_method(method)
}

/// The most bytes of the name of a method in an error.
const MAX_METHOD: usize = 100;

/// The error for a method that this server, or the client's era, does not have.
pub(crate) fn no_method(method: &str) -> ErrorData {
    let method = excerpt(method, MAX_METHOD);
    let message = format!("there is no method `{method}`; this server has only tools");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

impl Call<'_> {
    /// Converts the call into rmcp's request, with the arguments as text in its extensions.
    pub(crate) fn into_request(self) -> Result<ClientJsonRpcMessage, ErrorResponse> {
        let params = CallToolRequestParams::new(self.name.into_owned());
        let mut request = CallToolRequest::new(params);
        if let Some(meta) = self.meta {
            let meta: RequestMetaObject = serde_json::from_str(meta.get()).map_err(|error| {
                ErrorResponse::invalid_params(Some(self.id.clone()), error.to_string())
            })?;
            request.extensions.insert(meta);
        }
        request.extensions.insert(Arguments::of(self.arguments));
        Ok(ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(request), self.id))
    }

    /// The response if rmcp cannot parse the request.
    #[cfg(feature = "http-server")]
    pub(crate) fn unparseable(&self) -> ErrorResponse {
        ErrorResponse::new(Some(self.id.clone()), unparseable("tools/call"))
    }

    /// Returns the text of the request without its arguments.
    #[cfg(feature = "http-server")]
    pub(crate) fn without_arguments(&self) -> String {
        let id = self.id.clone().into_json_value();
        let name = serde_json::Value::from(&*self.name);
        let meta = self.meta.as_deref().map(RawValue::get);
        let (before, meta) = meta.map_or(("", ""), |meta| (r#","_meta":"#, meta));
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{name}{before}{meta}}}}}"#
        )
    }
}

impl Arguments {
    fn of(text: Option<&str>) -> Self {
        Self(Arc::new(Mutex::new(text.map(Into::into))))
    }

    /// Sets the arguments after the request was handed to rmcp.
    #[cfg(feature = "http-server")]
    pub(crate) fn set(&self, call: &Call<'_>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = call.arguments.map(Into::into);
    }

    /// Takes the arguments of a request out of its extensions. A call without arguments has `{}`.
    pub(crate) fn take(extensions: &Extensions) -> Payload {
        let arguments = extensions.get::<Self>();
        #[cfg(feature = "http-server")]
        let arguments = arguments
            .or_else(|| extensions.get::<axum::http::request::Parts>()?.extensions.get::<Self>());
        let text = arguments
            .and_then(|taken| taken.0.lock().unwrap_or_else(PoisonError::into_inner).take());
        Payload::new(text.unwrap_or_else(|| "{}".into()))
    }
}

impl ErrorResponse {
    fn not_json(error: &dyn std::error::Error) -> Self {
        let message = format!("the message is not JSON: {error}");
        Self::new(None, ErrorData::parse_error(message, None))
    }

    pub(crate) fn invalid_request(
        id: Option<RequestId>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(id, ErrorData::invalid_request(message, None))
    }

    /// A request with the id of another one that is not answered yet.
    pub(crate) fn id_in_use(id: RequestId) -> Self {
        let message = "a request with this `id` is still in flight; use another `id`";
        Self::invalid_request(Some(id), message)
    }

    /// A request that is refused for now; the client may send it again.
    #[cfg(feature = "http-server")]
    pub(crate) fn busy(id: Option<RequestId>, message: &'static str) -> Self {
        Self::new(id, ErrorData::new(ErrorCode(-32000), message, None))
    }

    fn invalid_params(id: Option<RequestId>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(id, ErrorData::invalid_params(message, None))
    }

    fn new(id: Option<RequestId>, error: ErrorData) -> Self {
        Self(Box::new(JsonRpcError::new(id, error)))
    }

    /// Serializes the response.
    pub(crate) fn into_text(self) -> Vec<u8> {
        // Serialization cannot fail: all keys are strings.
        serde_json::to_vec(&self.0).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_metadata_that_the_server_uses_is_kept() {
        let meta = r#"{"a":[0],"progressToken":1,"traceparent":"b","io.modelcontextprotocol/c":{},"x/y":0}"#;
        let meta = RawValue::from_string(meta.to_owned()).unwrap();
        let kept = r#"{"io.modelcontextprotocol/c":{},"progressToken":1,"traceparent":"b"}"#;
        assert_eq!(used_meta(&meta).unwrap().get(), kept);
    }
}
