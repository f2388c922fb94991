//! Area `codecs`: decoding and encoding payloads. Our codecs check the whole schema.

pub mod derived;

use std::hint::black_box;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toolwright::codec::{self, Decode, Encode};

use crate::generated::{tracker_service, tracker_tools};
use crate::report::Comparison;
use crate::rounds::{Times, compare};

/// The arguments of a tool.
struct Payload {
    size: &'static str,
    valid: &'static [u8],
    /// Arguments with six mistakes.
    invalid: &'static [u8],
    /// The JSON Schema for the generic validator.
    schema: &'static str,
}

fn incident() -> Payload {
    Payload {
        size: "1 KB",
        valid: include_bytes!("../../payloads/incident.json"),
        invalid: include_bytes!("../../payloads/incident-invalid.json"),
        schema: tracker_tools::specs::FILE_INCIDENT.args_schema(),
    }
}

fn search() -> Payload {
    Payload {
        size: "260 B",
        valid: include_bytes!("../../payloads/search.json"),
        invalid: include_bytes!("../../payloads/search-invalid.json"),
        schema: tracker_tools::specs::SEARCH_INCIDENTS.args_schema(),
    }
}

/// Runs all comparisons of the area.
pub fn run() -> Vec<Comparison> {
    let mut all = payload::<tracker_service::types::Incident, derived::Incident>(&incident());
    all.extend(payload::<tracker_service::types::SearchIncidents, derived::SearchIncidents>(
        &search(),
    ));
    all
}

fn payload<Ours, Derived>(payload: &Payload) -> Vec<Comparison>
where
    Ours: Decode + Encode,
    Derived: DeserializeOwned + Serialize,
{
    let row = |work: &str, peer_name, target, times: Times| Comparison {
        name: format!("{work}, {}", payload.size),
        ours: times.ours,
        peer: times.peer,
        peer_name,
        unit: "ns",
        ratio: times.ratio,
        target: Some(target),
    };
    vec![
        row("decode", "serde_json derive", 0.7, decode::<Ours, Derived>(payload)),
        row("decode six issues", "the valid payload", 1.2, invalid::<Ours>(payload)),
        row("decode", "Value, jsonschema, from_value", 0.3, validate::<Ours, Derived>(payload)),
        row("encode", "serde_json derive", 0.8, encode::<Ours, Derived>(payload)),
    ]
}

fn decode<Ours: Decode, Derived: DeserializeOwned>(payload: &Payload) -> Times {
    compare(&mut || decode_ours::<Ours>(payload.valid), &mut || {
        drop(black_box(serde_json::from_slice::<Derived>(black_box(payload.valid))));
    })
}

fn invalid<Ours: Decode>(payload: &Payload) -> Times {
    compare(&mut || decode_ours::<Ours>(payload.invalid), &mut || {
        decode_ours::<Ours>(payload.valid);
    })
}

fn decode_ours<Ours: Decode>(json: &[u8]) {
    drop(black_box(codec::from_json::<Ours>(black_box(json))));
}

fn validate<Ours: Decode, Derived: DeserializeOwned>(payload: &Payload) -> Times {
    let schema = serde_json::from_str(payload.schema).unwrap_or_default();
    let validator = jsonschema::validator_for(&schema).expect("the schema is valid");
    compare(&mut || decode_ours::<Ours>(payload.valid), &mut || {
        let value: serde_json::Value =
            serde_json::from_slice(black_box(payload.valid)).unwrap_or_default();
        if black_box(validator.is_valid(&value)) {
            drop(black_box(serde_json::from_value::<Derived>(value)));
        }
    })
}

fn encode<Ours: Decode + Encode, Derived: DeserializeOwned + Serialize>(
    payload: &Payload,
) -> Times {
    let ours: Ours = codec::from_json(payload.valid).expect("the payload is valid");
    let derived: Derived = serde_json::from_slice(payload.valid).expect("the payload is valid");
    compare(
        &mut || {
            drop(black_box(codec::to_json(black_box(&ours))));
        },
        &mut || {
            drop(black_box(serde_json::to_string(black_box(&derived))));
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<Ours: Decode + Encode, Derived: DeserializeOwned + Serialize>(payload: &Payload) {
        let ours: Ours = codec::from_json(payload.valid).unwrap();
        let derived: Derived = serde_json::from_slice(payload.valid).unwrap();
        let json = String::from_utf8_lossy(payload.valid);
        assert_eq!(codec::to_json(&ours).unwrap(), json);
        assert_eq!(serde_json::to_string(&derived).unwrap(), json);
        let invalid = codec::check::<Ours>(payload.invalid).unwrap_err();
        assert_eq!(invalid.issues().len(), 6, "{invalid}");
    }

    #[test]
    fn both_codecs_encode_the_same_json_and_invalid_payloads_have_six_issues() {
        check::<tracker_service::types::Incident, derived::Incident>(&incident());
        check::<tracker_service::types::SearchIncidents, derived::SearchIncidents>(&search());
    }
}
