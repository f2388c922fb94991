//! Tests the conversions and uses of newtypes and enums.

use toolwright::codec::from_json;

use crate::requirement_cases::library_service::types::{Due, Grade, Isbn, Mood, Pile, Remark};

#[test]
fn a_newtype_converts_only_from_values_that_its_schema_accepts() {
    assert_eq!("0001".parse(), Ok(Isbn("0001".to_owned())));
    assert_eq!(Isbn::try_from("0001"), Isbn::try_from("0001".to_owned()));
    let wrong = Isbn::try_from("one").expect_err("it has no digits");
    assert_eq!(wrong.to_string(), "the payload: found \"one\", expected a match of `^[0-9]{4}$`");
    assert_eq!(Grade::try_from(6), "6".parse());
    assert!(Grade::try_from(7).is_err());
    assert!("six".parse::<Grade>().is_err());
    assert!("2026-02-30".parse::<Due>().is_err());
    let isbn = Isbn::try_from("0001").expect("it has four digits");
    assert_eq!(Pile::try_from(vec![isbn.clone()]), Ok(Pile(vec![isbn.clone()])));
    assert!(Pile::try_from(vec![isbn.clone(), isbn.clone(), isbn]).is_err());
    // A type without limits has `From`.
    assert_eq!(Remark::from("worn"), Remark::from("worn".to_owned()));
}

#[test]
fn a_newtype_dereferences_to_its_value() {
    let isbn = Isbn::try_from("0001").expect("it has four digits");
    assert_eq!((isbn.len(), format!("{isbn:>6}")), (4, "  0001".to_owned()));
    let grade = Grade::try_from(2).expect("it is one of six");
    assert_eq!((grade.pow(2), grade.to_string()), (4, "2".to_owned()));
    assert_eq!(Pile::default().first(), None);
}

#[test]
fn an_enum_parses_from_and_displays_as_its_string() {
    assert_eq!("mild".parse(), Ok(Mood::Mild));
    assert_eq!(Mood::try_from("mild"), from_json(b"\"mild\""));
    assert!("wild".parse::<Mood>().is_err());
    let all: Vec<String> = Mood::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(all, ["stern", "mild"]);
}
