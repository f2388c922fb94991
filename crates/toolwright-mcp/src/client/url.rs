//! How a URL is reached: rmcp's transport over our requests, and what its failures mean. Sends nothing itself: see
//! [`super::http`].

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use tokio::sync::mpsc;
use toolwright::untrusted::Redactor;

use super::address::ServerUrl;
use super::error::{ClientError, described};
use super::http::{Failure, RequestError, TextHttp};
use super::options::ClientOptions;
use super::texts::Texts;

/// rmcp's transport on top of these requests.
pub(super) fn transport(
    url: &ServerUrl,
    options: &ClientOptions,
    texts: &Arc<Texts>,
    alive: mpsc::Sender<()>,
) -> Result<StreamableHttpClientTransport<TextHttp>, String> {
    let mut headers = HashMap::new();
    for (name, value) in &url.headers {
        let parsed =
            HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value).ok());
        let (name, mut value) =
            parsed.ok_or_else(|| format!("`{name}` is no header with a value of HTTP"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    if url.bearer.is_some() && headers.contains_key(&AUTHORIZATION) {
        return Err(
            "found a bearer token and a header `Authorization`, expected one of them".to_owned()
        );
    }
    // A call that waits is no connection that idles: deadlines are the caller's. Redirects are judged one by one.
    let client = reqwest::Client::builder().redirect(Policy::none()).no_proxy();
    let client = client.connect_timeout(options.connect_timeout / 2).tcp_nodelay(true);
    let client = client.build().map_err(|error| described(&error))?;
    let redactor = Redactor::new(secrets(url));
    let http = TextHttp::new(client, texts.clone(), redactor, options, alive);
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.url.as_str());
    config.custom_headers = headers;
    config.auth_header.clone_from(&url.bearer);
    Ok(StreamableHttpClientTransport::with_client(http, config))
}

/// A shorter value is no secret; it may be a setting, or any word of a result.
const SHORTEST_SECRET: usize = 8;

/// The values that a server is shown and may repeat: the token, those of headers with and without their scheme, and those
/// of the URL's user information and query.
fn secrets(server: &ServerUrl) -> Vec<String> {
    let mut values: Vec<String> = server.bearer.iter().cloned().collect();
    for (_, value) in &server.headers {
        values.extend(value.split_once(' ').map(|(_, credentials)| credentials.to_owned()));
        values.push(value.clone());
    }
    if let Ok(url) = Url::parse(&server.url) {
        values.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
        if let Some(password) = url.password() {
            let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
            let (user, password) = (decoded(url.username()), decoded(password));
            values.push(format!("{user}:{password}"));
            values.push(password);
        }
    }
    values.retain(|value| value.chars().count() >= SHORTEST_SECRET);
    values
}

/// What went wrong with a request, where HTTP is to blame.
pub(super) fn client_error(error: &(dyn Error + Send + Sync + 'static)) -> Option<ClientError> {
    let why = || described(error);
    let http = |status| Some(ClientError::Http { status, why: why() });
    match error.downcast_ref::<Failure>()? {
        StreamableHttpError::HttpStatus(status) => http(Some(status.status)),
        StreamableHttpError::AuthRequired(_) => http(Some(401)),
        StreamableHttpError::InsufficientScope(_) => http(Some(403)),
        StreamableHttpError::SessionExpired => http(Some(404)),
        StreamableHttpError::Client(RequestError::Http(error)) if error.is_connect() => http(None),
        StreamableHttpError::Client(RequestError::Redirected { status, .. }) => http(Some(*status)),
        StreamableHttpError::ResponseBodyTooLarge { .. }
        | StreamableHttpError::Deserialize(_)
        | StreamableHttpError::UnexpectedContentType(_) => Some(ClientError::Unusable(why())),
        _ => None,
    }
}
