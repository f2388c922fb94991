//! How a client shows that a call was approved: by a code that only those can make who have the key. Never asks anybody.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::wire::{WireCall, WireScope};

/// A secret that the two sides of a connection share: 32 random bytes. Whoever has it can say of any call that it was
/// approved, so it belongs to processes of the host and to nobody else.
#[derive(Clone)]
pub struct ApprovalKey([u8; 32]);

impl fmt::Debug for ApprovalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalKey").finish_non_exhaustive()
    }
}

/// The data that an approval code covers: the call, its scope and connection, and the tool as the approver saw it.
pub(super) struct Approved<'a> {
    pub(super) nonce: &'a str,
    /// The scope that the client stated when it opened the connection.
    pub(super) opened_for: &'a WireScope,
    pub(super) request: u64,
    /// The call as it is sent.
    pub(super) call: &'a WireCall,
    /// The digest of the tool as it was listed.
    pub(super) tool: &'a [u8; 32],
}

impl ApprovalKey {
    /// A key of these bytes.
    pub fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// The code that shows the approval.
    pub(super) fn sign(&self, approved: &Approved<'_>) -> [u8; 32] {
        self.mac(approved).finalize().into_bytes().into()
    }

    /// Whether a code is the one for this.
    pub(super) fn verify(&self, approved: &Approved<'_>, code: &[u8]) -> bool {
        self.mac(approved).verify_slice(code).is_ok()
    }

    fn mac(&self, approved: &Approved<'_>) -> Hmac<Sha256> {
        let Approved { nonce, opened_for, request, call, tool } = approved;
        let WireCall { id, tool: name, args, scope, approved: _ } = call;
        let json = |scope: &WireScope| serde_json::to_vec(scope).expect("a scope is JSON");
        let mut mac = Hmac::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(&request.to_be_bytes());
        let (opened_for, scope) = (json(opened_for), json(scope));
        let texts =
            [nonce.as_bytes(), &opened_for, id.as_bytes(), name.as_bytes(), args.as_bytes()];
        // Each with its length, so that no two approvals have one text.
        for part in texts.into_iter().chain([&scope[..], &tool[..]]) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}
