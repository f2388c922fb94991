//! The data that an approval code of a connection authenticates.

use std::borrow::Cow;

use crate::wire::{WireCall, WireScope};

/// The call, its scope and connection, and the tool as the approver saw it.
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

impl SignedCall<'_> {
    pub(super) fn parts(&self) -> [Cow<'_, [u8]>; 9] {
        let Self { nonce, connection_scope, request, call, tool } = self;
        let WireCall { id, tool: name, args, scope, approved: _ } = call;
        let json = |scope: &WireScope| {
            Cow::Owned(serde_json::to_vec(scope).expect("a scope can be serialized"))
        };
        [
            Cow::Borrowed(b"connection"),
            Cow::Owned(request.to_be_bytes().into()),
            nonce.as_bytes().into(),
            json(connection_scope),
            id.as_bytes().into(),
            name.as_bytes().into(),
            args.as_bytes().into(),
            json(scope),
            Cow::Borrowed(&tool[..]),
        ]
    }
}
