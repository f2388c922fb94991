//! Sorts the errors of genai.

use genai::webc::{Error as WebError, StreamTimeout};
use genai::{BoxError, Error};
use reqwest::Error as HttpError;
use toolwright::outcome::describe;
use toolwright::untrusted;
use toolwright_dialect::Dialect;
use toolwright_model::ModelError;

/// The longest text of an error, in bytes.
const EXCERPT: usize = 300;

pub(crate) fn of(error: Error, dialect: &Dialect) -> ModelError {
    match error {
        Error::WebStream { error, .. } => of_stream(error, dialect),
        Error::WebModelCall { webc_error: WebError::Reqwest(error), .. }
        | Error::WebAdapterCall { webc_error: WebError::Reqwest(error), .. } => of_http(error),
        Error::HttpError { ref body, .. }
        | Error::WebModelCall {
            webc_error: WebError::ResponseFailedStatus { ref body, .. }, ..
        }
        | Error::WebAdapterCall {
            webc_error: WebError::ResponseFailedStatus { ref body, .. },
            ..
        } => {
            let code = error.status().map_or(500, |status| status.as_u16());
            let header = |name: &str| error.headers()?.get(name)?.to_str().ok();
            ModelError::of_status(code, header, body.as_bytes(), dialect)
        }
        Error::ChatResponse { body, .. } => ModelError::of_event(&body.to_string(), dialect),
        Error::StreamParse { .. }
        | Error::InvalidJsonResponseElement { .. }
        | Error::NoChatResponse { .. }
        | Error::ChatResponseGeneration { .. }
        | Error::JsonValueExt(_)
        | Error::SerdeJson(_)
        | Error::WebModelCall { .. }
        | Error::WebAdapterCall { .. } => ModelError::Malformed(line(&error.to_string())),
        // All others are found before anything is sent, such as a missing key.
        _ => ModelError::Unsendable(line(&error.to_string())),
    }
}

fn of_stream(error: BoxError, dialect: &Dialect) -> ModelError {
    let error = match error.downcast::<Error>() {
        Ok(error) => return of(*error, dialect),
        Err(error) => error,
    };
    let error = match error.downcast::<HttpError>() {
        Ok(error) => return of_http(*error),
        Err(error) => error,
    };
    let text = line(&describe(&*error));
    if error.is::<StreamTimeout>() {
        ModelError::Timeout(text)
    } else {
        ModelError::Interrupted(text)
    }
}

/// Sorts an error of the connection. Its address may have a key in it.
fn of_http(error: HttpError) -> ModelError {
    let (is_timeout, is_before) = (error.is_timeout(), error.is_connect() || error.is_request());
    let text = line(&describe(&error.without_url()));
    if is_timeout {
        ModelError::Timeout(text)
    } else if is_before {
        ModelError::Connect(text)
    } else {
        ModelError::Interrupted(text)
    }
}

fn line(text: &str) -> String {
    untrusted::line(text, EXCERPT)
}
