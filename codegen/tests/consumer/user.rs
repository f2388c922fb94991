//! Uses generated types as plain Rust types: builds, matches, compares, sorts, hashes, displays, parses, converts, sends and
//! receives them.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::net::Ipv4Addr;
use std::ops::Bound;
use std::str::FromStr;

use money::Money;
use toolwright::codec::{Decode, Encode};
use toolwright::format::{Date, DateTime, Uuid};
use toolwright::{Integer, InvalidPayload, Map, Nullable, Payload};
use tracker_service::types::{
    Attempts, Day, Even, Event, Far, Issue, IssueId, Labels, Moved, Note, Opened, Order, Page,
    Place, Plain, Priority, Selector, Share, Slug, Stamps, State, Tags, Title, Widths,
};

type Tested = Result<(), Box<dyn std::error::Error>>;

/// Encodes a value and decodes it again.
fn sent<T: Encode + Decode>(value: &T) -> Result<T, InvalidPayload> {
    Payload::of(value)?.decode()
}

/// Compiles only for types that are `Copy` and can be keys of maps.
fn is_key<T: Copy + Ord + Hash + Debug>() {}

/// Parses a text and checks that the value displays as the same text.
fn parses<T: FromStr<Err: Debug> + Display + PartialEq + Debug>(text: &str) -> T {
    let value: T = text.parse().unwrap_or_else(|error| panic!("{text}: {error:?}"));
    assert_eq!(value.to_string(), text);
    value
}

#[test]
fn newtypes_convert_display_parse_and_reject_invalid_values() -> Tested {
    is_key::<IssueId>();
    let id = IssueId::try_from(7)?;
    assert_eq!((*id, id.to_string()), (7, "7".to_owned()));
    assert_eq!(parses::<IssueId>("18446744073709551615"), IssueId(u64::MAX));
    assert!(IssueId::try_from(0).is_err() && "0".parse::<IssueId>().is_err());

    let title = Title::try_from("Milk")?;
    assert_eq!((title.len(), title.as_str()), (4, "Milk"));
    assert_eq!(Title::try_from("Milk".to_owned())?, parses("Milk"));
    assert!(Title::try_from("").is_err());
    assert_eq!(Note::from("any"), "any".to_owned().into());

    assert_eq!(parses::<Even>("4"), Even::try_from(4)?);
    assert!(Even::try_from(3).is_err() && "3".parse::<Even>().is_err());
    assert_eq!(parses::<Plain>("open"), Plain::try_from("open")?);
    assert!(Plain::try_from("secret").is_err() && "secret".parse::<Plain>().is_err());

    let far: Far = parses("1000000000000000000000");
    assert!(i64::try_from(&*far).is_err());
    assert_eq!(u8::try_from(Far::try_from(Integer::from(200_u8))?.0)?, 200);
    Ok(())
}

const TYPES: &str = include_str!("../../../gen/tracker/service/src/types.rs");

/// Returns whether the docs of a newtype contain a text.
fn documents(name: &str, fact: &str) -> bool {
    let before = TYPES.split(&format!("pub struct {name}(")).next();
    before.and_then(|before| before.rsplit("\n\n").next()).is_some_and(|docs| docs.contains(fact))
}

#[test]
fn conversions_and_docs_agree_with_the_constants_for_limits() -> Tested {
    let (least, most) = (Title::LIMITS.minimum(), Title::LIMITS.maximum().ok_or("no limit")?);
    assert!(documents("Title", &format!("/// {least} to {most} characters.")));
    let of_length = |length: u64| Title::try_from("x".repeat(usize::try_from(length).unwrap()));
    assert!(of_length(least).is_ok() && of_length(least - 1).is_err());
    assert!(of_length(most).is_ok() && of_length(most + 1).is_err());

    let (Bound::Included(least), Bound::Included(most)) =
        (Attempts::LIMITS.low(), Attempts::LIMITS.high())
    else {
        panic!("found {:?}", Attempts::LIMITS);
    };
    assert!(documents("Attempts", &format!("/// {least} to {most}.")));
    assert!(Attempts::try_from(least).is_ok() && Attempts::try_from(least - 1).is_err());
    assert!(Attempts::try_from(most).is_ok() && Attempts::try_from(most + 1).is_err());

    let pattern = Slug::LIMITS.pattern().ok_or("no pattern")?;
    assert!(documents("Slug", &format!("/// Matches `{pattern}`.")));
    let most = Tags::LIMITS.maximum().ok_or("no limit")?;
    assert!(documents("Tags", &format!("/// At most {most} items.")));
    let few: Vec<Slug> = ["a", "b", "c"].map(|slug| Slug(slug.to_owned())).into();
    assert_eq!(few.len() as u64, most);
    assert!(Tags::try_from(few.clone()).is_ok());
    assert!(Tags::try_from([few, vec![Slug::default()]].concat()).is_err());
    let most = Labels::LIMITS.maximum().ok_or("no limit")?;
    assert!(documents("Labels", &format!("/// At most {most} keys.")));
    // The limits of a type that has a validator, too.
    assert!(documents("Even", "/// At least 0. Also checked: `multipleOf`."));
    assert_eq!(Even::LIMITS.low(), Bound::Included(0));
    Ok(())
}

#[test]
fn enums_list_display_parse_and_sort_in_the_order_of_the_schema() -> Tested {
    is_key::<(State, Priority, Order)>();
    for state in State::ALL {
        assert_eq!(State::try_from(state.as_str())?, parses(&state.to_string()));
    }
    for priority in Priority::ALL {
        assert_eq!(Priority::try_from(priority.as_i64())?, *priority);
        assert_eq!(parses::<Priority>(&priority.to_string()), *priority);
    }
    assert_eq!([Priority::Low, Priority::Medium, Priority::High], Priority::ALL);
    assert_eq!(Priority::try_from("3")?, Priority::High);
    assert!(Priority::try_from(4).is_err() && "4".parse::<Priority>().is_err());

    let texts: Vec<String> = Order::ALL.iter().map(Order::to_string).collect();
    assert_eq!(texts, ["asc", "desc", "1", "-1", "true", "say \"no\""]);
    for order in Order::ALL {
        assert_eq!(parses::<Order>(&order.to_string()), *order);
        assert_eq!(sent(order)?, *order);
    }
    assert!(Order::try_from("up").is_err());
    assert_eq!([Order::try_from(1)?, Order::try_from(-1)?, Order::try_from(true)?].map(|order| order.to_string()), ["1", "-1", "true"]);
    assert!(Order::try_from(2).is_err() && Order::try_from(false).is_err());
    let sorted: BTreeSet<State> = [State::Done, State::Open].into();
    assert_eq!(sorted.first(), Some(&State::Open));
    Ok(())
}

#[test]
fn default_values_are_those_of_the_schema() -> Tested {
    assert_eq!((State::default(), Priority::default()), (State::Open, Priority::Medium));
    assert_eq!((Order::default(), Attempts::default()), (Order::Desc, Attempts(3)));
    assert_eq!((Slug::default().to_string(), Share::default().0), ("inbox".to_owned(), 0.5));
    assert_eq!((Slug::DEFAULT, Attempts::DEFAULT), ("inbox", 3));
    assert!(Tags::default().is_empty());
    let page = Page { number: 2, ..Page::default() };
    assert_eq!((page.attempts, page.state, page.order), (Attempts(3), State::Open, Order::Asc));
    assert_eq!((page.note.as_str(), Page::DEFAULT_NUMBER), (Page::DEFAULT_NOTE, 1));
    assert_eq!(sent(&page)?, page);
    Ok(())
}

#[test]
fn integers_have_standard_types() -> Tested {
    let widths = Widths {
        small: i8::MIN,
        byte: u8::MAX,
        short: i16::MIN,
        word: u16::MAX,
        port: 443_i64,
        int: i32::MIN,
        uint: u32::MAX,
        far: u64::MAX.into(),
    };
    assert_eq!(sent(&widths)?, widths);
    assert_eq!(u64::try_from(&widths.far)?, u64::MAX);
    let refused = i64::try_from(&widths.far).unwrap_err();
    let words = "found 18446744073709551615, expected an integer that `i64` holds";
    assert_eq!(refused.to_string(), words);
    assert!(sent(&Widths { port: 0, ..widths }).is_err());
    Ok(())
}

#[test]
fn times_compare_chronologically_and_convert() -> Tested {
    is_key::<(Date, Uuid, Day)>();
    let day = Date::new(2026, 11, 24).ok_or("no such day")?;
    let stamps = Stamps {
        at: DateTime::from_unix_seconds(1_795_500_000).ok_or("no such moment")?,
        day: Day(day),
        id: uuid::Uuid::from_u128(7).into(),
        from: Ipv4Addr::LOCALHOST,
    };
    let received = sent(&stamps)?;
    assert_eq!(received, stamps);
    assert_eq!(parses::<Day>("2026-11-24"), stamps.day);
    assert_eq!(uuid::Uuid::from(received.id).as_u128(), 7);
    assert_eq!(chrono::NaiveDate::from(day), chrono::NaiveDate::from(&*received.day));
    let timestamp = jiff::Timestamp::try_from(&received.at)?;
    assert_eq!(timestamp.as_second(), stamps.at.unix_seconds());
    let later = DateTime::try_from(time::OffsetDateTime::from_unix_timestamp(1_795_500_001)?)?;
    assert!(later > received.at);
    Ok(())
}

#[test]
fn objects_choices_tuples_and_maps_are_built_and_matched() -> Tested {
    let parent = Issue::new(Title::try_from("Shop")?, IssueId(1), Priority::Low);
    let issue = Issue {
        cost: Some(Money(250)),
        state: State::Done,
        closed: Some(Nullable::Value(Day(Date::new(2026, 1, 31).ok_or("no such day")?))),
        parent: Some(Box::new(parent.clone())),
        ..Issue::new(Title::try_from("Milk")?, IssueId(2), Priority::High)
    };
    assert_eq!(sent(&issue)?, issue);
    assert_eq!(HashSet::from([issue.clone(), parent.clone(), issue.clone()]).len(), 2);
    let mut by_priority = BTreeMap::from([(issue.priority, &issue), (parent.priority, &parent)]);
    assert_eq!(by_priority.pop_last().map(|(_, issue)| issue.id), Some(IssueId(2)));

    let events = [Event::from(Opened { by: "Ann".to_owned() }), Moved { to: State::Done }.into()];
    for event in events {
        let words = match sent(&event)? {
            Event::Opened(Opened { by }) => format!("opened by {by}"),
            Event::Moved(Moved { to }) => format!("moved to {to}"),
        };
        assert!(["opened by Ann", "moved to done"].contains(&words.as_str()), "{words}");
    }
    let selectors = [Selector::from("milk".to_owned()), 0.5.into()];
    for selector in selectors {
        assert_eq!(sent(&selector)?, selector);
    }
    let place = Place((52.5, 13.4, Some("Berlin".to_owned()), vec![1, 2]));
    let (latitude, _, city, rest) = &*place;
    assert_eq!((*latitude, city.as_deref(), rest.len()), (52.5, Some("Berlin"), 2));
    assert_eq!(sent(&place)?, place);

    let labels = Labels::try_from(Map::from([("x-team", "web".to_owned())]))?;
    assert_eq!(labels.get("x-team").map(String::as_str), Some("web"));
    assert!(Labels::try_from(Map::from([("team", "web".to_owned())])).is_err());
    let tags = Tags::try_from(vec![Slug::try_from("a")?, Slug::try_from("a")?]);
    assert!(tags.is_err(), "one tag occurs twice");
    Ok(())
}
