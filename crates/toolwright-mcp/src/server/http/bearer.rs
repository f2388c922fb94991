//! A tower layer for bearer tokens (RFC 6750). The host's function validates the tokens.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tower::{Layer, Service};

/// Passes on requests with a valid bearer token, and answers all others with 401.
///
/// The value that the host's check returns for a token is added to the request's extensions, where
/// [`HttpOptions::with_scope`](crate::HttpOptions::with_scope) and
/// [`HttpOptions::with_principal`](crate::HttpOptions::with_principal) can read it.
///
/// ```
/// use toolwright_mcp::{BearerLayer, HttpOptions};
///
/// #[derive(Clone)]
/// struct User(String);
///
/// let bearer = BearerLayer::new(|token| async move {
///     (token == "let me in").then(|| User("ann".to_owned()))
/// });
/// let options = HttpOptions::new().with_bearer(bearer).with_scope(|request, scope| {
///     if let Some(User(name)) = request.extensions.get() {
///         scope.labels.insert("user".to_owned(), name.clone());
///     }
/// });
/// # drop(options);
/// ```
#[derive(Clone)]
pub struct BearerLayer {
    check: Check,
    missing_token: HeaderValue,
    invalid_token: HeaderValue,
}

/// The service of [`BearerLayer`].
#[derive(Clone)]
pub struct Bearer<S> {
    inner: S,
    layer: BearerLayer,
}

impl std::fmt::Debug for BearerLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BearerLayer").finish_non_exhaustive()
    }
}

impl<S> std::fmt::Debug for Bearer<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bearer").field("layer", &self.layer).finish_non_exhaustive()
    }
}

type Check = Arc<dyn Fn(String) -> Checking + Send + Sync>;
type Checking = Pin<Box<dyn Future<Output = Option<Admit>> + Send>>;
type Admit = Box<dyn FnOnce(&mut Extensions) + Send>;

impl BearerLayer {
    /// Creates a layer that validates tokens with an async function. It returns `None` for an invalid token. A check that
    /// does not wait can return [`std::future::ready`].
    pub fn new<F, C, T>(check: F) -> Self
    where
        F: Fn(String) -> C + Send + Sync + 'static,
        C: Future<Output = Option<T>> + Send + 'static,
        T: Clone + Send + Sync + 'static,
    {
        let check = move |token| {
            let checking = check(token);
            let checking: Checking = Box::pin(async move {
                let caller = checking.await?;
                let admit: Admit = Box::new(move |extensions: &mut Extensions| {
                    extensions.insert(caller);
                });
                Some(admit)
            });
            checking
        };
        Self {
            check: Arc::new(check),
            missing_token: HeaderValue::from_static("Bearer"),
            invalid_token: HeaderValue::from_static("Bearer error=\"invalid_token\""),
        }
    }

    /// Sets the URL of the protected resource metadata, which tells rejected clients how to get a token (RFC 9728,
    /// required by MCP's authorization).
    ///
    /// # Errors
    ///
    /// Fails if the URL is not a valid header value.
    pub fn with_resource_metadata(
        mut self,
        url: &str,
    ) -> Result<Self, axum::http::header::InvalidHeaderValue> {
        let quoted = url.replace('\\', "\\\\").replace('"', "\\\"");
        self.missing_token = format!("Bearer resource_metadata=\"{quoted}\"").parse()?;
        self.invalid_token =
            format!("Bearer error=\"invalid_token\", resource_metadata=\"{quoted}\"").parse()?;
        Ok(self)
    }

    async fn admit(&self, headers: &HeaderMap) -> Result<Admit, HeaderValue> {
        let token = token(headers).ok_or_else(|| self.missing_token.clone())?;
        (self.check)(token.to_owned()).await.ok_or_else(|| self.invalid_token.clone())
    }
}

/// Returns the token of a request, valid or not.
pub(super) fn token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

impl<S> Layer<S> for BearerLayer {
    type Service = Bearer<S>;

    fn layer(&self, inner: S) -> Bearer<S> {
        Bearer { inner, layer: self.clone() }
    }
}

impl<S> Service<Request> for Bearer<S>
where
    S: Service<Request, Response = Response> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let layer = self.layer.clone();
        // Call the instance whose `poll_ready` was called; its clone may not be ready.
        let next = self.inner.clone();
        let mut ready = std::mem::replace(&mut self.inner, next);
        Box::pin(async move {
            match layer.admit(request.headers()).await {
                Ok(admit) => {
                    admit(request.extensions_mut());
                    ready.call(request).await
                }
                Err(challenge) => {
                    let challenge = [(header::WWW_AUTHENTICATE, challenge)];
                    Ok((StatusCode::UNAUTHORIZED, challenge).into_response())
                }
            }
        })
    }
}
