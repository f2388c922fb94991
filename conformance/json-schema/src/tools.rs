//! Generated tools as values: the spec and the codecs of each.

use toolwright::codec::{self, Decode, Encode};
use toolwright::{InvalidPayload, Tool, ToolSpec};

/// A generated tool.
#[derive(Clone, Copy, Debug)]
pub struct GeneratedTool {
    /// Its spec.
    pub spec: &'static ToolSpec,
    /// Decodes arguments and encodes them again.
    pub args: RoundTrip,
    /// Decodes a result and encodes it again.
    pub result: RoundTrip,
}

/// Decodes a payload and encodes it again.
pub type RoundTrip = fn(&[u8]) -> Result<String, InvalidPayload>;

/// The tool of a marker type.
pub fn tool<T: Tool>(_: T) -> GeneratedTool {
    GeneratedTool { spec: T::SPEC, args: round_trip::<T::Args>, result: round_trip::<T::Result> }
}

fn round_trip<T: Decode + Encode>(json: &[u8]) -> Result<String, InvalidPayload> {
    codec::from_json::<T>(json).and_then(|value| codec::to_json(&value))
}
