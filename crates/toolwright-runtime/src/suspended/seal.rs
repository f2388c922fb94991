//! Seals exported states with XChaCha20-Poly1305 and a random nonce for each.

use std::fmt;
use std::io;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sha2::{Digest, Sha256};

use super::StateError;

/// A key that seals exported runs, so that only runtimes with the key can read or change them.
#[derive(Clone)]
pub struct SealKey([u8; 32]);

/// The smallest length of a secret, in bytes.
const MIN_SECRET_BYTES: usize = 32;
/// The length of a nonce in bytes, which is enough for random nonces to be unique.
const NONCE_BYTES: usize = 24;

impl SealKey {
    /// Derives a key from a secret of at least 32 random bytes. A password is not random enough.
    ///
    /// # Errors
    ///
    /// The secret is too short.
    pub fn new(secret: impl AsRef<[u8]>) -> Result<Self, StateError> {
        let secret = secret.as_ref();
        if secret.len() < MIN_SECRET_BYTES {
            let (found, expected) = (secret.len(), MIN_SECRET_BYTES);
            return Err(StateError::ShortKey { found, expected });
        }
        let hash = Sha256::new().chain_update("toolwright seal 1\0").chain_update(secret);
        Ok(Self(hash.finalize().into()))
    }

    /// Encrypts a text, and authenticates it together with a header, which is not secret.
    pub(crate) fn seal(&self, header: &str, text: &[u8]) -> Result<String, StateError> {
        let mut nonce = [0; NONCE_BYTES];
        random(&mut nonce)?;
        let payload = Payload { msg: text, aad: header.as_bytes() };
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload);
        // Fails only for texts of 256 GiB and more.
        let sealed = sealed.map_err(|_| StateError::TooLong)?;
        Ok(BASE64_URL_SAFE_NO_PAD.encode([&nonce, &*sealed].concat()))
    }

    /// Decrypts a text. Returns `None` if it was changed or sealed with another key or header.
    pub(crate) fn open(&self, header: &str, sealed: &str) -> Option<Vec<u8>> {
        let sealed = BASE64_URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload { msg: sealed, aad: header.as_bytes() };
        self.cipher().decrypt(&XNonce::from(*nonce), payload).ok()
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.0.into())
    }
}

/// Shows nothing of the key.
impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(..)")
    }
}

/// Returns an id of 128 random bits, which cannot be guessed.
pub(crate) fn random_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    random(&mut bytes)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

fn random(bytes: &mut [u8]) -> io::Result<()> {
    getrandom::fill(bytes).map_err(|error| io::Error::other(error.to_string()))
}
