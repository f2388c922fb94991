//! The seal over states that leave a runtime: XChaCha20-Poly1305, with a fresh nonce for each. Never reads what it seals.

use std::fmt;
use std::io;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sha2::{Digest, Sha256};

use super::StateError;

/// A secret that seals suspended runs, so that whoever keeps them can neither read nor change them. All runtimes that are to
/// restore them have it.
#[derive(Clone)]
pub struct SealKey([u8; 32]);

/// The fewest bytes of a secret.
const SHORTEST: usize = 32;
/// The bytes of a nonce, which is random: at 24 bytes none comes twice.
const NONCE: usize = 24;

impl SealKey {
    /// A key of a secret: at least 32 random bytes. A password is not random enough.
    ///
    /// # Errors
    ///
    /// A secret that is too short.
    pub fn new(secret: impl AsRef<[u8]>) -> Result<Self, StateError> {
        let secret = secret.as_ref();
        if secret.len() < SHORTEST {
            return Err(StateError::ShortKey { found: secret.len(), expected: SHORTEST });
        }
        let hash = Sha256::new().chain_update("toolwright seal 1\0").chain_update(secret);
        Ok(Self(hash.finalize().into()))
    }

    /// Encrypts a text for whoever has the key, and binds it to a header, which is not secret.
    pub(crate) fn seal(&self, header: &str, text: &[u8]) -> Result<String, StateError> {
        let mut nonce = [0; NONCE];
        random(&mut nonce)?;
        let payload = Payload { msg: text, aad: header.as_bytes() };
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload);
        // Fails for texts of 256 GiB alone.
        let sealed = sealed.map_err(|_| StateError::TooLong)?;
        Ok(BASE64_URL_SAFE_NO_PAD.encode([&nonce, &*sealed].concat()))
    }

    /// The text, if it was sealed with this key and header and nothing was changed.
    pub(crate) fn open(&self, header: &str, sealed: &str) -> Option<Vec<u8>> {
        let sealed = BASE64_URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
        let payload = Payload { msg: sealed, aad: header.as_bytes() };
        self.cipher().decrypt(&XNonce::from(*nonce), payload).ok()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.0.into())
    }
}

/// Shows nothing of it.
impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(..)")
    }
}

/// An id of 128 random bits, which nobody guesses.
pub(crate) fn random_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    random(&mut bytes)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

fn random(bytes: &mut [u8]) -> io::Result<()> {
    getrandom::fill(bytes).map_err(|error| io::Error::other(error.to_string()))
}
