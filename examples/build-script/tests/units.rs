//! The tool on the service, and on a fake of it.

use std::sync::Arc;

use toolwright::{ToolFailure, testing};
use toolwright_build_script_example::Converter;
use toolwright_build_script_example::units_service::service::FakeUnitsService;
use toolwright_build_script_example::units_service::types::{Conversion, Converted, Unit};
use toolwright_build_script_example::units_tools::{self, specs};

const MILE: Conversion = Conversion { length: 1.0, from: Unit::Mile, to: Unit::Foot };

#[tokio::test]
async fn a_mile_has_5280_feet() -> Result<(), ToolFailure> {
    let tools = testing::tools(|registrar| units_tools::register(registrar, Converter));
    let converted = tools.run(specs::Convert, &MILE).await?;
    assert!((converted.length - 5280.0).abs() < 1e-9, "{converted:?}");
    Ok(())
}

#[tokio::test]
async fn a_length_that_is_none_is_refused_before_the_service_is_asked() {
    let units = Arc::new(FakeUnitsService::default());
    let tools = testing::tools(|registrar| units_tools::register(registrar, Arc::clone(&units)));
    let short = Conversion { length: -1.0, ..MILE };
    let failure = tools.run(specs::Convert, &short).await.unwrap_err();
    assert!(failure.message.contains("`/length`"), "{failure}");
    assert!(units.convert.calls().is_empty());
}

#[tokio::test]
async fn the_service_is_asked_what_the_tool_was_asked() -> Result<(), ToolFailure> {
    let units = Arc::new(FakeUnitsService::default());
    units.convert.returning(Ok(Converted { length: 2.0 }));
    let tools = testing::tools(|registrar| units_tools::register(registrar, Arc::clone(&units)));
    assert_eq!(tools.run(specs::Convert, &MILE).await?, Converted { length: 2.0 });
    assert_eq!(units.convert.calls(), [MILE]);
    Ok(())
}
