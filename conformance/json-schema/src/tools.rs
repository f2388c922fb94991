//! Generated tools as values: what is known about one, and its codecs both ways. Never judges.

use toolwright::codec::{self, Decode, Encode};
use toolwright::{InvalidPayload, Tool, ToolSpec};

/// A generated tool.
#[derive(Clone, Copy, Debug)]
pub struct GeneratedTool {
    /// What is known about it.
    pub spec: &'static ToolSpec,
    /// Decodes arguments and encodes what came out.
    pub args: RoundTrip,
    /// Decodes a result and encodes what came out.
    pub result: RoundTrip,
}

/// A payload decoded and encoded again.
pub type RoundTrip = fn(&[u8]) -> Result<String, InvalidPayload>;

/// The tool that a type stands for.
pub fn tool<T: Tool>(_: T) -> GeneratedTool {
    GeneratedTool { spec: T::SPEC, args: round_trip::<T::Args>, result: round_trip::<T::Result> }
}

fn round_trip<T: Decode + Encode>(json: &[u8]) -> Result<String, InvalidPayload> {
    codec::from_json::<T>(json).and_then(|value| codec::to_json(&value))
}
