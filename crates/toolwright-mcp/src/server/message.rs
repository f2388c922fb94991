//! The text of one message, read as far as it must be before rmcp reads it: rmcp makes values of arguments, in which
//! a key given twice is given once and a large integer is a double, and it says little about what it cannot read.
//! Never looks into arguments: they reach the codec as they were sent.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, ErrorCode,
    Extensions, JsonRpcError, RequestId, RequestMetaObject,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use toolwright::Payload;

/// The arguments of a call on their way past rmcp, in the extensions of its request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments(Arc<Mutex<Option<Box<str>>>>);

/// What is known about a message.
pub(crate) enum Message<'a> {
    /// A request of `tools/call`.
    Call(Call<'a>),
    /// Another request.
    Request(Request<'a>),
    /// A notification, or a response to a request of ours.
    Unanswered,
}

/// A request that rmcp reads.
pub(crate) struct Request<'a> {
    pub(crate) id: RequestId,
    pub(crate) method: Cow<'a, str>,
}

/// A request of `tools/call`.
pub(crate) struct Call<'a> {
    pub(crate) id: RequestId,
    pub(crate) name: Cow<'a, str>,
    meta: Option<&'a RawValue>,
    arguments: Option<&'a str>,
}

/// Why a message is not acted on, for who sent it.
#[derive(Debug)]
pub(crate) struct Refusal(Box<JsonRpcError>);

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

/// A key that is there is there, whatever its value: `null` too.
fn present<'de, D>(from: D) -> Result<Option<&'de RawValue>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    <&RawValue>::deserialize(from).map(Some)
}

/// Reads the bytes of one message.
///
/// # Errors
///
/// What the sender is told of bytes that are no message (JSON-RPC 2.0, section 5.1).
pub(crate) fn read(bytes: &[u8]) -> Result<(&str, Message<'_>), Refusal> {
    let text = std::str::from_utf8(bytes).map_err(|error| Refusal::unparsed(&error))?;
    // A byte order mark may be ignored (RFC 8259, section 8.1).
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let envelope = envelope(text)?;
    Ok((text, envelope.message()?))
}

fn envelope(text: &str) -> Result<Envelope<'_>, Refusal> {
    if !text.trim_start().starts_with('{') {
        serde_json::from_str::<&RawValue>(text).map_err(|error| Refusal::unparsed(&error))?;
        return Err(Refusal::invalid(None, "a message is one JSON object; send them one by one"));
    }
    serde_json::from_str(text).map_err(|error| {
        // An object that is JSON and no envelope gives a key twice.
        if error.is_data() {
            Refusal::invalid(None, error.to_string())
        } else {
            Refusal::unparsed(&error)
        }
    })
}

impl<'a> Envelope<'a> {
    fn message(&self) -> Result<Message<'a>, Refusal> {
        let id = self.id.map(|id| serde_json::from_str::<RequestId>(id.get()));
        let known = id.as_ref().and_then(|id| id.as_ref().ok());
        let invalid = |message: &'static str| Err(Refusal::invalid(known.cloned(), message));
        if self.jsonrpc.map(RawValue::get) != Some(r#""2.0""#) {
            return invalid(r#"`jsonrpc` must be "2.0""#);
        }
        let answers = self.result.is_some() || self.error.is_some();
        let Some(method) = self.method else {
            return if answers { Ok(Message::Unanswered) } else { invalid("`method` is missing") };
        };
        let Some(method) = string(method) else { return invalid("`method` must be a string") };
        match id {
            _ if answers => invalid("a request has neither `result` nor `error`"),
            None => Ok(Message::Unanswered),
            Some(Err(_)) => invalid("`id` must be a string or an integer"),
            Some(Ok(id)) if method == "tools/call" => self.call(id).map(Message::Call),
            Some(Ok(id)) => {
                let request = Request { id, method };
                if request.method == "tools/list" && !self.has_list_params() {
                    return Err(request.unread());
                }
                Ok(Message::Request(request))
            }
        }
    }

    /// rmcp takes a list's parameters that it cannot read for none.
    fn has_list_params(&self) -> bool {
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

    fn call(&self, id: RequestId) -> Result<Call<'a>, Refusal> {
        let malformed = |what: &'static str| Refusal::malformed(Some(id.clone()), what);
        let params = object(self.params).ok_or_else(|| malformed("`params` must be an object"))?;
        let params: CallParams<'a> = serde_json::from_str(params.get())
            .map_err(|_| malformed("a key of `params` is given twice"))?;
        let name = params.name.and_then(string);
        let name = name.ok_or_else(|| malformed("`name` must be the name of a tool"))?;
        if params.arguments.is_some() && object(params.arguments).is_none() {
            return Err(malformed("`arguments` must be an object"));
        }
        if params.meta.is_some() && object(params.meta).is_none() {
            return Err(malformed("`_meta` must be an object"));
        }
        let arguments = params.arguments.map(RawValue::get);
        Ok(Call { id, name, meta: params.meta, arguments })
    }
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

impl Request<'_> {
    /// What is answered where rmcp cannot read the request.
    pub(crate) fn unread(self) -> Refusal {
        Refusal::new(Some(self.id), not_served(&self.method))
    }
}

/// The requests that are answered with something else than that there is no such method.
const SERVED: [&str; 6] =
    ["initialize", "ping", "server/discover", "subscriptions/listen", "tools/call", "tools/list"];

/// Why a request is not served that is not one of the protocol's.
pub(crate) fn not_served(method: &str) -> ErrorData {
    if SERVED.contains(&method) {
        return ErrorData::invalid_params(format!("`params` are not those of `{method}`"), None);
    }
    no_method(method)
}

/// What a method is answered with that this server, or the client's era, does not have.
pub(crate) fn no_method(method: &str) -> ErrorData {
    let message = format!("there is no method `{method}`; this server has tools alone");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

impl Call<'_> {
    /// The request that rmcp would make of the text, but for its arguments, which go beside it.
    pub(crate) fn into_request(self) -> Result<ClientJsonRpcMessage, Refusal> {
        let params = CallToolRequestParams::new(self.name.into_owned());
        let mut request = CallToolRequest::new(params);
        if let Some(meta) = self.meta {
            let meta: RequestMetaObject = serde_json::from_str(meta.get())
                .map_err(|error| Refusal::malformed(Some(self.id.clone()), error.to_string()))?;
            request.extensions.insert(meta);
        }
        request.extensions.insert(Arguments::of(self.arguments));
        Ok(ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(request), self.id))
    }

    /// The text of the request without its arguments.
    #[cfg(feature = "http-server")]
    pub(crate) fn without_arguments(&self) -> String {
        let id = self.id.clone().into_json_value();
        let name = serde_json::Value::from(&*self.name);
        let meta = self.meta.map(RawValue::get);
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

    /// Puts arguments where a request is on its way already.
    #[cfg(feature = "http-server")]
    pub(crate) fn set(&self, call: &Call<'_>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = call.arguments.map(Into::into);
    }

    /// The arguments of the request that these extensions belong to. There may be none: the same as none at all.
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

impl Refusal {
    fn unparsed(error: &dyn std::error::Error) -> Self {
        let message = format!("the message is not JSON: {error}");
        Self::new(None, ErrorData::parse_error(message, None))
    }

    pub(crate) fn invalid(id: Option<RequestId>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(id, ErrorData::invalid_request(message, None))
    }

    /// For a request that is refused for now.
    #[cfg(feature = "http-server")]
    pub(crate) fn busy(id: Option<RequestId>, message: &'static str) -> Self {
        Self::new(id, ErrorData::new(ErrorCode(-32000), message, None))
    }

    fn malformed(id: Option<RequestId>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(id, ErrorData::invalid_params(message, None))
    }

    fn new(id: Option<RequestId>, error: ErrorData) -> Self {
        Self(Box::new(JsonRpcError::new(id, error)))
    }

    /// The answer, as a message.
    pub(crate) fn into_text(self) -> Vec<u8> {
        // Nothing in it can fail to be written.
        serde_json::to_vec(&self.0).unwrap_or_default()
    }
}
