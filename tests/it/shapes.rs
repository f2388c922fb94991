//! Tests the Rust types of schemas. The values are written as a user writes them, so a changed type changes this file.

use std::error::Error;
use std::net::Ipv4Addr;

use toolwright::codec;
use toolwright::format::{Date, DateTime, Uuid};
use toolwright::{Integer, Nullable, Value};

use crate::codec_cases::{
    assertions_tools::types as assertions, collisions_tools::types as collisions,
    conditions_tools::types as conditions, constants_tools::types as constants,
    defaults_tools::types as defaults, formats_tools::types as formats,
    integer_formats_tools::types::EnumerateArgs, merged_tools::types as merged,
    mixtures_tools::types as mixtures, nullables_tools::types::MaybeArgs,
    overlaps_tools::types as overlaps,
};

#[test]
fn similar_values_are_different_variants() {
    use collisions::{Blank, Casing, Direction, Operator, Port, Priority, ReactArgs, Reaction};
    assert_eq!([Reaction::Plus1, Reaction::Minus1].map(Reaction::as_str), ["+1", "-1"]);
    assert_eq!(
        [Casing::Sum, Casing::Sum2, Casing::Sum3].map(Casing::as_str),
        ["SUM", "Sum", "sum"]
    );
    assert_eq!([Operator::Less, Operator::LessEqual].map(Operator::as_str), ["<", "<="]);
    assert_eq!([Blank::Empty, Blank::Space].map(Blank::as_str), ["", " "]);
    assert_eq!([Port::N80, Port::N443].map(Port::as_i64), [80, 443]);
    assert_eq!(
        [Priority::Low, Priority::InBetween, Priority::Low2].map(Priority::as_i64),
        [1, 2, 3]
    );
    assert_eq!(ReactArgs::DEFAULT_PRIORITY, Priority::InBetween);
    assert_eq!([Direction::Up, Direction::Down].map(Direction::as_str), ["up", "down"]);
}

#[test]
fn constants_of_several_kinds_are_variants() -> Result<(), Box<dyn Error>> {
    use constants::{FixArgs, FixArgsAnyOfThese, Order, Ratio};
    assert_eq!(
        Order::ALL.iter().map(Order::to_string).collect::<Vec<_>>(),
        ["1", "-1", "asc", "desc", "false"]
    );
    assert_eq!(codec::to_json(&vec![Order::N1, Order::Minus1, Order::Asc])?, r#"[1,-1,"asc"]"#);
    assert_eq!(codec::from_json::<Ratio>(b"1.0")?.as_json(), "1");
    assert_eq!(FixArgs::DEFAULT_ORDER, Order::Desc);
    assert_eq!(
        [FixArgsAnyOfThese::True, FixArgsAnyOfThese::True2].map(FixArgsAnyOfThese::as_json),
        ["\"true\"", "true"]
    );
    let refused = codec::from_json::<Order>(b"2").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the payload: found 2, expected one of 1, -1, \"asc\", \"desc\", false"
    );
    Ok(())
}

#[test]
fn objects_of_an_all_of_are_one_struct() -> Result<(), Box<dyn Error>> {
    use merged::{HireArgs, PersonState};
    let args = HireArgs { state: Some(PersonState::Here), ..HireArgs::new("2026-11-23".parse()?) };
    assert_eq!(codec::to_json(&args)?, r#"{"state":"here","since":"2026-11-23"}"#);
    Ok(())
}

#[test]
fn an_all_of_with_one_tagged_object_is_a_struct() -> Result<(), Box<dyn Error>> {
    let tagged = merged::PromoteArgsTagged {
        color: Some("red".to_owned()),
        ..merged::PromoteArgsTagged::new("Tom")
    };
    assert_eq!(codec::to_json(&tagged)?, r#"{"kind":"cat","color":"red","name":"Tom"}"#);
    Ok(())
}

#[test]
fn values_of_several_kinds_are_variants_of_their_kind() -> Result<(), Box<dyn Error>> {
    use mixtures::{Amount, AmountString, BlendArgs, Identifier, Node, Selector, SelectorObject};
    let args = BlendArgs {
        identifier: Some(Identifier::Integer(7)),
        selector: Some(Selector::Object(SelectorObject { label: "a".to_owned() })),
        amount: Some(Amount::String(AmountString::All)),
        maybe_amount: Some(Nullable::Null),
        node: Some(Node::Array(vec![Node::String("a".to_owned())])),
        ..BlendArgs::default()
    };
    assert_eq!(
        codec::to_json(&args)?,
        r#"{"identifier":7,"selector":{"label":"a"},"amount":"all","maybe_amount":null,"node":["a"]}"#
    );
    Ok(())
}

#[test]
fn formats_are_types_of_their_own() -> Result<(), Box<dyn Error>> {
    let args = formats::StampArgs {
        date_time: Some("2024-02-29T12:00:00Z".parse::<DateTime>()?),
        uuid: Some("f81d4fae-7dec-11d0-a765-00a0c91e6bf6".parse::<Uuid>()?),
        ipv4: Some(Ipv4Addr::LOCALHOST),
        uri: Some("urn:a".to_owned()),
        maybe_date: Some(Nullable::Value("2024-02-29".parse::<Date>()?)),
        ..formats::StampArgs::default()
    };
    assert_eq!(
        codec::to_json(&args)?,
        r#"{"date_time":"2024-02-29T12:00:00Z","uuid":"f81d4fae-7dec-11d0-a765-00a0c91e6bf6","ipv4":"127.0.0.1","uri":"urn:a","maybe_date":"2024-02-29"}"#
    );
    Ok(())
}

/// Rules that no Rust type expresses are checked by the codec, also when it encodes.
#[test]
fn rules_that_a_type_cannot_express_are_checked_when_it_is_encoded() -> Result<(), Box<dyn Error>> {
    use assertions::{AssertAllArgs, Even, Unique};
    let mut args = AssertAllArgs::new(Even(2));
    args.unique = Some(Unique(vec![Even(4), Even(4)]));
    let wrong = codec::to_json(&args).map_err(|invalid| invalid.to_string());
    assert_eq!(
        wrong,
        Err("`/unique`: the items 0 and 1 are equal, expected unique items".to_owned())
    );
    args.unique = None;
    assert_eq!(codec::to_json(&args)?, r#"{"even":2}"#);
    Ok(())
}

#[test]
fn choices_that_overlap_are_variants_tried_from_the_most_demanding_on() -> Result<(), Box<dyn Error>>
{
    use overlaps::{Company, MeetArgs, Party, Person};
    let args = MeetArgs::new(Party::Person(Person::new("a")));
    assert_eq!(codec::to_json(&args)?, r#"{"party":{"name":"a"}}"#);
    let party = |json: &str| codec::from_json::<MeetArgs>(json.as_bytes()).map(|args| args.party);
    let both = party(r#"{"party":{"name":"a","seat":"b"}}"#)?;
    assert_eq!(both, Party::Company(Company::new("a", "b")));
    Ok(())
}

#[test]
fn an_all_of_of_one_is_another_name() -> Result<(), Box<dyn Error>> {
    let just: conditions::JustBase = conditions::Base::new("a");
    assert_eq!(codec::to_json(&just)?, r#"{"id":"a"}"#);
    Ok(())
}

#[test]
fn integers_have_the_standard_type_of_their_format_or_limits() {
    let args = EnumerateArgs {
        unsaid: Some(-1_i64),
        natural: Some(1_i64),
        far: Some(Integer::from(1)),
        port: Some(443_u16),
        wide: Some(u64::MAX),
        wider: Some(Integer::from(-1)),
        int8: Some(-1_i8),
        int32: Some(1_i32),
        uint32: Some(1_u32),
        maybe: Some(Nullable::Value(1_u32)),
        list: Some(vec![1_u8]),
        either: Some(-5_i64),
        pair: Some((1_i8, 2_i64)),
        ..EnumerateArgs::default()
    };
    let json = codec::to_json(&args).expect("all are within their limits");
    assert_eq!(codec::from_json::<EnumerateArgs>(json.as_bytes()), Ok(args));
    let args = EnumerateArgs { int32: Some(0), ..EnumerateArgs::default() };
    assert!(codec::to_json(&args).is_err(), "the schema has a limit beside the format");
}

/// A type for null beside it would have two values with the same encoding.
#[test]
fn null_beside_a_schema_that_accepts_null_is_a_value() -> Result<(), Box<dyn Error>> {
    let payload = br#"{"text":"a","point":null,"number":0,"no_text":null,"described":null}"#;
    let args: MaybeArgs = codec::from_json(payload)?;
    let no_text: &Option<Value> = &args.no_text;
    assert_eq!(*no_text, Some(Value::Null));
    Ok(())
}

#[test]
fn absent_keys_with_a_default_are_filled_in() {
    use defaults::{
        FillArgs, FillScanArgs, FillZeroArgs, Label, LeaveArgs, Limit, Page, State, Tree,
    };
    let args = FillArgs {
        count: 9,
        ..FillArgs::new("n", vec!["a".to_owned()], (true, Page::default(), 1))
    };
    assert_eq!((args.open, args.closed, args.count), (true, false, 9));
    assert_eq!((args.state, args.limit, args.few), (State::InProgress, Limit(50), Limit(5)));
    assert_eq!(args.page, Page { number: 1, size: Limit(50) });
    assert_eq!((args.none, args.some), (None, Some("here".to_owned())));
    assert_eq!(args.label, Label::try_from(FillArgs::DEFAULT_LABEL.to_owned()).expect("a label"));
    assert_eq!(args.states, FillArgs::DEFAULT_STATES);
    assert_eq!(codec::from_json(b"{}"), Ok(FillScanArgs::default()));
    assert_eq!(FillScanArgs::default(), FillScanArgs { deep: true });
    assert_eq!(codec::from_json(b"{}"), Ok(FillZeroArgs::default()));
    assert_eq!(codec::from_json(b"{}"), Ok(Page::default()));
    let leave = LeaveArgs { tree: Some(Tree::default()), ..LeaveArgs::default() };
    assert_eq!(codec::to_json(&leave).as_deref(), Ok(r#"{"tree":{"leaves":[]}}"#));
}
