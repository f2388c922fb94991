//! How a client shows that a call was approved: by a code that only those can make who have the key. Never asks anybody.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use toolwright::ToolCall;

/// A secret that the two sides of a connection share: 32 random bytes. Whoever has it can say of any call that it was
/// approved, so it belongs to processes of the host and to nobody else.
#[derive(Clone)]
pub struct ApprovalKey([u8; 32]);

impl fmt::Debug for ApprovalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalKey").finish_non_exhaustive()
    }
}

impl ApprovalKey {
    /// A key of these bytes.
    pub fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// The code for a call, good for this request of the connection with this nonce.
    pub(super) fn sign(&self, nonce: &str, request: u64, call: &ToolCall) -> [u8; 32] {
        self.mac(nonce, request, call).finalize().into_bytes().into()
    }

    /// Whether a code is the one for this.
    pub(super) fn verify(&self, nonce: &str, request: u64, call: &ToolCall, code: &[u8]) -> bool {
        self.mac(nonce, request, call).verify_slice(code).is_ok()
    }

    fn mac(&self, nonce: &str, request: u64, call: &ToolCall) -> Hmac<Sha256> {
        let mut mac = Hmac::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(&request.to_be_bytes());
        // Each with its length, so that no two calls have one text.
        for part in [nonce, call.id(), call.tool(), call.args().as_str()] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }
}
