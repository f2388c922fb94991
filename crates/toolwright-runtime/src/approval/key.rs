//! Approval codes, with which the process that had a call approved proves it to the one that runs the tool. Only holders of
//! the key can create them.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A secret that callers and workers share: 32 random bytes. Whoever has it can mark any call as approved, so give it only to
/// processes of the host.
#[derive(Clone)]
pub struct ApprovalKey([u8; 32]);

impl fmt::Debug for ApprovalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalKey").finish_non_exhaustive()
    }
}

impl ApprovalKey {
    /// Creates a key from its bytes.
    pub fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// Returns the approval code of a call: an HMAC with SHA-256 (RFC 2104) of all parts that tell calls apart. The first part
    /// names the transport, so that a code of one is worth nothing in another.
    pub fn sign(&self, parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> [u8; 32] {
        self.mac(parts).finalize().into_bytes().into()
    }

    /// Returns whether a code is the approval code of a call, in time that does not depend on the code.
    pub fn verify(&self, parts: impl IntoIterator<Item = impl AsRef<[u8]>>, code: &[u8]) -> bool {
        self.mac(parts).verify_slice(code).is_ok()
    }

    fn mac(&self, parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Hmac<Sha256> {
        let mut mac = Hmac::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        // The length of each part is included, so that different calls have different codes.
        for part in parts {
            let part = part.as_ref();
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}
