//! Names of toolsets as tokens of subjects.

use proptest::prelude::*;
use toolwright_nats::{token, toolset};

#[test]
fn tokens_show_their_names() {
    for (name, expected) in [
        ("todos", "todos"),
        ("Plan_2", "Plan_2"),
        ("a.b", "a-2Eb"),
        ("a-2Eb", "a-2D2Eb"),
        ("*", "-2A"),
        (">", "-3E"),
        ("a b", "a-20b"),
        ("é", "-C3-A9"),
        ("", "-"),
        ("-", "-2D"),
    ] {
        assert_eq!(token(name), expected);
        assert_eq!(toolset(expected).as_deref(), Some(name));
    }
    for wrong in ["a.b", "-2", "-2a", "-41", "-C3", "a-", "", "--", "-+1", "é"] {
        let name = toolset(wrong);
        assert!(name.as_ref().is_none_or(|name| token(name) == wrong), "{wrong} {name:?}");
        assert_eq!(name, None, "{wrong}");
    }
}

proptest! {
    #[test]
    fn a_token_has_safe_characters_and_one_name(name in any::<String>()) {
        let token = token(&name);
        let is_safe = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
        prop_assert!(!token.is_empty() && token.chars().all(is_safe), "{token}");
        prop_assert_eq!(toolset(&token), Some(name));
    }

    #[test]
    fn a_text_that_has_a_name_is_the_token_of_it(text in "[a-zA-Z0-9_.*> -]{0,12}") {
        if let Some(name) = toolset(&text) {
            prop_assert_eq!(token(&name), text);
        }
    }
}
