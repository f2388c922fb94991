//! Creates the transport for a URL from a [`ServerUrl`], counts the replies that wait in it, and converts its errors.
//! [`super::http`] sends the requests.

use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    HttpStatusError, StreamableHttpClientTransportConfig, StreamableHttpError,
};
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use tokio::sync::mpsc;
use toolwright::http::is_refusal;
use toolwright::untrusted::secrets_in_header;

use super::address::{ServerUrl, redactor};
use super::error::{ClientError, error_chain};
use super::http::{HttpClient, HttpError, RequestError};
use super::message_codec::MessageCodec;
use super::notifications::ListChanges;
use super::options::ClientOptions;
use super::reply_limit::ReplyLimit;

/// rmcp's transport with our HTTP client. A reply counts as soon as it is in the transport's queue.
pub(super) struct HttpTransport {
    transport: StreamableHttpClientTransport<HttpClient>,
    replies: ReplyLimit,
}

impl Transport<RoleClient> for HttpTransport {
    type Error = HttpError;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), HttpError>> + Send + 'static {
        let writing = self.replies.writing(&message);
        let sent = self.transport.send(message);
        async move {
            let _held_until_sent = writing;
            sent.await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.transport.receive().await
    }

    async fn close(&mut self) -> Result<(), HttpError> {
        self.transport.close().await
    }
}

/// Creates the transport.
pub(super) fn transport(
    url: &ServerUrl,
    options: &ClientOptions,
    codec: &Arc<MessageCodec>,
    changes: &Arc<ListChanges>,
    alive: mpsc::Sender<()>,
) -> Result<HttpTransport, String> {
    let mut headers = HashMap::new();
    for (name, value) in &url.headers {
        let parsed =
            HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value).ok());
        let (name, mut value) = parsed.ok_or_else(|| {
            format!("`{name}` is not a valid HTTP header, or its value is invalid")
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    if url.bearer.is_some() && headers.contains_key(&AUTHORIZATION) {
        return Err(
            "found a bearer token and a header `Authorization`, expected one of them".to_owned()
        );
    }
    // No timeout for whole requests: callers have their own. `HttpClient::send` decides about redirects.
    let client = reqwest::Client::builder().redirect(Policy::none()).no_proxy();
    let client = client.connect_timeout(options.connect_timeout / 2).tcp_nodelay(true);
    let client = client.build().map_err(|error| error_chain(&error))?;
    let redactor = redactor(&secrets(url));
    let replies = ReplyLimit::default();
    let shared = (codec.clone(), changes.clone());
    let http = HttpClient::new(client, shared, replies.clone(), redactor, options, alive);
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.url.as_str());
    config.custom_headers = headers;
    config.auth_header.clone_from(&url.bearer);
    // rmcp would send a waiting call again in the new session, whose tools may differ.
    config.reinit_on_expired_session = false;
    Ok(HttpTransport {
        transport: StreamableHttpClientTransport::with_client(http, config),
        replies,
    })
}

/// Returns the secrets that the server gets and could repeat: the token, the values of headers and their parts, and those of the
/// URL's user information and query.
fn secrets(server: &ServerUrl) -> Vec<String> {
    let mut values: Vec<String> = server.bearer.iter().cloned().collect();
    for (_, value) in &server.headers {
        values.extend(secrets_in_header(value));
        values.push(value.clone());
    }
    if let Ok(url) = Url::parse(&server.url) {
        // A name without a value may be a key.
        let keys =
            url.query_pairs().map(|(name, value)| if value.is_empty() { name } else { value });
        values.extend(keys.map(Cow::into_owned));
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (user, password) = (decoded(url.username()), url.password().map(decoded));
        values.push(format!("{user}:{}", password.as_deref().unwrap_or_default()));
        // A user without a password may be a token.
        values.push(password.unwrap_or(user));
    }
    values
}

/// Returns whether the server answered that it does not know the session.
pub(super) fn has_ended_session(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    let mut error = error.downcast_ref::<HttpError>();
    if let Some(StreamableHttpError::Client(RequestError::AfterRedirect(inner))) = error {
        error = Some(inner);
    }
    matches!(error, Some(StreamableHttpError::SessionExpired))
}

/// Converts an error of the HTTP transport, or returns `None` for another error.
pub(super) fn client_error(error: &(dyn Error + Send + Sync + 'static)) -> Option<ClientError> {
    let error = error.downcast_ref::<HttpError>()?;
    let reason = error_chain(error);
    let (error, was_redirected) = match error {
        StreamableHttpError::Client(RequestError::AfterRedirect(error)) => (&**error, true),
        error => (error, false),
    };
    // The server may have acted before it sent a redirect.
    let (status, has_refused) = match error {
        StreamableHttpError::HttpStatus(HttpStatusError { status, .. }) => {
            let is_unauthorized = matches!(status, 401 | 403 | 407);
            (Some(*status), is_unauthorized || is_refusal(*status))
        }
        StreamableHttpError::AuthRequired(_) => (Some(401), true),
        StreamableHttpError::InsufficientScope(_) => (Some(403), true),
        StreamableHttpError::SessionExpired => (Some(404), true),
        StreamableHttpError::Client(RequestError::Http(error)) if error.is_connect() => {
            (None, true)
        }
        StreamableHttpError::Client(RequestError::Redirected { status, .. }) => {
            (Some(*status), false)
        }
        StreamableHttpError::ResponseBodyTooLarge { .. }
        | StreamableHttpError::Deserialize(_)
        | StreamableHttpError::UnexpectedContentType(_) => {
            return Some(ClientError::InvalidResponse(reason));
        }
        _ => return None,
    };
    let may_have_run = was_redirected || !has_refused;
    Some(ClientError::Http { status, may_have_run, reason })
}
