//! States on their way out of a runtime and back, as texts: sealed, or ids of what stays. Never changes one.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::environment::Environment;
use super::state::{RunState, SessionCall};
use crate::approval::{ApprovalRequest, now};
use crate::suspended::{StateError, random_id};

/// The version of the format. Another one is refused, never guessed at.
const VERSION: u32 = 2;

/// A state that can leave a runtime.
pub(crate) trait Exported: Serialize + DeserializeOwned + Sync {
    /// What it is called, in its text and in errors.
    const KIND: &'static str;

    fn asked(&self) -> Vec<&ApprovalRequest>;
}

impl Exported for Box<RunState> {
    const KIND: &'static str = "run";

    fn asked(&self) -> Vec<&ApprovalRequest> {
        self.questions()
    }
}

impl Exported for SessionCall {
    const KIND: &'static str = "call";

    fn asked(&self) -> Vec<&ApprovalRequest> {
        self.call.questions()
    }
}

impl Environment {
    /// A state as a text that can be kept anywhere: sealed, or the id under which it is kept.
    pub(crate) async fn export<T: Exported>(&self, state: &T) -> Result<String, StateError> {
        // A state is made of texts, numbers and what serialized before.
        let failed = |error: serde_json::Error| StateError::Store { reason: error.to_string() };
        let text = serde_json::to_vec(state).map_err(failed)?;
        if let Some(key) = self.seal_keys.first() {
            let header = header::<T>(SEALED);
            return Ok(format!("{header}{}", key.seal(&header, &text)?));
        }
        let now = now(&self.clock);
        let lasting = u64::try_from(self.approvals_last.as_millis()).unwrap_or(u64::MAX);
        let expires_at = state.asked().iter().map(|asked| asked.expires_at).min();
        let expires_at = expires_at.unwrap_or_else(|| now.saturating_add(lasting));
        let exported = format!("{}{}", header::<T>(KEPT), random_id()?);
        let kept = self.suspended_runs.put(&exported, &text, expires_at, now).await;
        kept.map_err(|error| StateError::Store { reason: error.to_string() })?;
        Ok(exported)
    }

    /// The state that was exported as a text.
    pub(crate) async fn restore<T: Exported>(&self, exported: &str) -> Result<T, StateError> {
        let text = match (parse::<T>(exported)?, &*self.seal_keys) {
            ((SEALED, _), []) => return Err(StateError::NoKey),
            ((SEALED, sealed), keys) => {
                let header = header::<T>(SEALED);
                let opened = keys.iter().find_map(|key| key.open(&header, sealed));
                opened.ok_or(StateError::BrokenSeal)?
            }
            (_, [_, ..]) => return Err(StateError::NotSealed),
            (_, []) => {
                let kept = self.suspended_runs.get(exported).await;
                let kept = kept.map_err(|error| StateError::Store { reason: error.to_string() });
                kept?.ok_or(StateError::UnknownId)?
            }
        };
        serde_json::from_slice(&text).map_err(|_| StateError::Malformed)
    }
}

/// How an exported state ends: with its sealed text, or the id it is kept under.
const SEALED: &str = "sealed";
const KEPT: &str = "kept";

/// How an exported state begins.
fn header<T: Exported>(form: &str) -> String {
    format!("toolwright-{}-{VERSION}.{form}.", T::KIND)
}

/// The form of an exported state, and what follows its header.
fn parse<T: Exported>(exported: &str) -> Result<(&str, &str), StateError> {
    let parts = || {
        let (kind, rest) = exported.strip_prefix("toolwright-")?.split_once('-')?;
        let (version, rest) = rest.split_once('.')?;
        let (form, rest) = rest.split_once('.')?;
        let is_kind = kind == <Box<RunState>>::KIND || kind == SessionCall::KIND;
        (is_kind && (form == SEALED || form == KEPT)).then_some((kind, version, form, rest))
    };
    let (kind, version, form, rest) = parts().ok_or(StateError::Malformed)?;
    if kind != T::KIND {
        return Err(StateError::OtherKind { found: kind.to_owned(), expected: T::KIND });
    }
    if version != VERSION.to_string() {
        return Err(StateError::Version { found: version.to_owned(), expected: VERSION });
    }
    Ok((form, rest))
}
