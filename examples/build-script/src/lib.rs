//! Lengths in other units: a service whose trait, types and tools the build script generates.

// One module for each crate that `schema/` describes: `units_service` and `units_tools`.
include!(concat!(env!("OUT_DIR"), "/toolwright/mod.rs"));

use toolwright::MethodError;
use units_service::service::UnitsService;
use units_service::types::{Conversion, Converted, Unit};

/// Converts by the international yard of 1959.
#[derive(Clone, Copy, Debug)]
pub struct Converter;

impl UnitsService for Converter {
    async fn convert(&self, asked: Conversion) -> Result<Converted, MethodError> {
        Ok(Converted { length: asked.length * meters(asked.from) / meters(asked.to) })
    }
}

fn meters(unit: Unit) -> f64 {
    match unit {
        Unit::Meter => 1.0,
        Unit::Foot => 0.3048,
        Unit::Mile => 1609.344,
    }
}
