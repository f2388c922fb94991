//! Approval codes, with which a client proves to a server that a call was approved. Only holders of the key can create them.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::wire::{WireCall, WireScope};

/// A secret that client and server share: 32 random bytes. Whoever has it can mark any call as approved, so give it only to
/// processes of the host.
#[derive(Clone)]
pub struct ApprovalKey([u8; 32]);

impl fmt::Debug for ApprovalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalKey").finish_non_exhaustive()
    }
}

/// The data that an approval code authenticates: the call, its scope and connection, and the tool as the approver saw it.
pub(super) struct SignedCall<'a> {
    pub(super) nonce: &'a str,
    /// The scope that the client sent when it opened the connection.
    pub(super) connection_scope: &'a WireScope,
    pub(super) request: u64,
    /// The call as it is sent.
    pub(super) call: &'a WireCall,
    /// The digest of the listed tool.
    pub(super) tool: &'a [u8; 32],
}

impl ApprovalKey {
    /// Creates a key from its bytes.
    pub fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// Returns the approval code of a call.
    pub(super) fn sign(&self, signed: &SignedCall<'_>) -> [u8; 32] {
        self.mac(signed).finalize().into_bytes().into()
    }

    /// Returns whether a code is the approval code of a call.
    pub(super) fn verify(&self, signed: &SignedCall<'_>, code: &[u8]) -> bool {
        self.mac(signed).verify_slice(code).is_ok()
    }

    fn mac(&self, signed: &SignedCall<'_>) -> Hmac<Sha256> {
        let SignedCall { nonce, connection_scope, request, call, tool } = signed;
        let WireCall { id, tool: name, args, scope, approved: _ } = call;
        let json =
            |scope: &WireScope| serde_json::to_vec(scope).expect("a scope can be serialized");
        let mut mac = Hmac::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(&request.to_be_bytes());
        let (connection_scope, scope) = (json(connection_scope), json(scope));
        let texts =
            [nonce.as_bytes(), &connection_scope, id.as_bytes(), name.as_bytes(), args.as_bytes()];
        // The length of each part is included, so that different calls have different codes.
        for part in texts.into_iter().chain([&scope[..], &tool[..]]) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}
