//! Exports and restores suspended states as text: either the sealed state, or the id of a state in the store.

use serde::Serialize;
use serde::de::DeserializeOwned;
use toolwright::BoxError;

use super::environment::Environment;
use super::state::{RunState, SessionCall};
use crate::approval::{ApprovalRequest, now};
use crate::suspended::{StateError, random_id};

/// The version of the format. States of other versions are refused.
const VERSION: u32 = 4;

/// A state that can be exported.
pub(crate) trait Exported: Serialize + DeserializeOwned + Sync {
    /// The name of its kind, in the exported text and in errors.
    const KIND: &'static str;

    fn questions(&self) -> Vec<&ApprovalRequest>;
}

impl Exported for Box<RunState> {
    const KIND: &'static str = "run";

    fn questions(&self) -> Vec<&ApprovalRequest> {
        RunState::questions(self)
    }
}

impl Exported for SessionCall {
    const KIND: &'static str = "call";

    fn questions(&self) -> Vec<&ApprovalRequest> {
        self.call.questions()
    }
}

impl Environment {
    /// Exports a state as text: sealed if there is a key, otherwise as the id of the state in the store.
    pub(crate) async fn export<T: Exported>(&self, state: &T) -> Result<String, StateError> {
        // Cannot fail in practice: a state consists of strings and numbers.
        let failed = |error: serde_json::Error| StateError::Store { reason: error.to_string() };
        let text = serde_json::to_vec(state).map_err(failed)?;
        if let Some(key) = self.seal_keys.first() {
            let header = header::<T>(SEALED);
            return Ok(format!("{header}{}", key.seal(&header, &text)?));
        }
        let now = now(&self.clock);
        let lifetime = u64::try_from(self.question_lifetime.as_millis()).unwrap_or(u64::MAX);
        let expires_at = state.questions().iter().map(|question| question.expires_at).min();
        let expires_at = expires_at.unwrap_or_else(|| now.saturating_add(lifetime));
        let exported = format!("{}{}", header::<T>(STORED), random_id()?);
        let stored = self.suspended_runs.put(&exported, &text, expires_at, now).await;
        stored.map_err(|error| StateError::Store { reason: error.to_string() })?;
        Ok(exported)
    }

    /// Restores an exported state.
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
                let stored = self.suspended_runs.get(exported).await;
                let failed = |error: BoxError| StateError::Store { reason: error.to_string() };
                stored.map_err(failed)?.ok_or(StateError::UnknownId)?
            }
        };
        serde_json::from_slice(&text).map_err(|_| StateError::Malformed)
    }
}

/// The two forms of an exported state: the sealed text, and the id of a stored state.
const SEALED: &str = "sealed";
const STORED: &str = "kept";

/// Returns the beginning of an exported state.
fn header<T: Exported>(form: &str) -> String {
    format!("toolwright-{}-{VERSION}.{form}.", T::KIND)
}

/// Returns the form of an exported state, and the text after its header.
fn parse<T: Exported>(exported: &str) -> Result<(&str, &str), StateError> {
    let parts = || {
        let (kind, rest) = exported.strip_prefix("toolwright-")?.split_once('-')?;
        let (version, rest) = rest.split_once('.')?;
        let (form, rest) = rest.split_once('.')?;
        let is_kind = kind == <Box<RunState>>::KIND || kind == SessionCall::KIND;
        (is_kind && (form == SEALED || form == STORED)).then_some((kind, version, form, rest))
    };
    let (kind, version, form, rest) = parts().ok_or(StateError::Malformed)?;
    if kind != T::KIND {
        return Err(StateError::WrongKind { found: kind.to_owned(), expected: T::KIND });
    }
    if version != VERSION.to_string() {
        return Err(StateError::Version { found: version.to_owned(), expected: VERSION });
    }
    Ok((form, rest))
}
