//! The service, written by hand against the generated trait.

use greeter_service::errors::GreetError;
use greeter_service::service::GreeterService;
use greeter_service::types::{GreetPayload, Greeting, Style};
use toolwright::MethodError;

/// Greets everybody but one.
pub struct Greeter;

impl GreeterService for Greeter {
    async fn greet(&self, payload: GreetPayload) -> Result<Greeting, MethodError<GreetError>> {
        if payload.name == "Nobody" {
            return Err(GreetError::Stranger.into());
        }
        let text = match payload.style {
            Some(Style::Warm) => format!("How good to see you, {}!", payload.name),
            Some(Style::Plain) | None => format!("Hello, {}", payload.name),
        };
        Ok(Greeting { text })
    }
}
