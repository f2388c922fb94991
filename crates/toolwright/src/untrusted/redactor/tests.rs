//! Tests the removal of secrets from texts.

use proptest::prelude::*;

use super::*;

/// The encodings in which a service may repeat a value; some are nested.
const ENCODINGS: [fn(&str) -> String; 10] = [
    str::to_owned,
    percent_encoded_text,
    as_form,
    as_json,
    |text| text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect::<Vec<_>>().concat(),
    |text| STANDARD.encode(text),
    |text| URL_SAFE.encode(text),
    |text| percent_encoded_text(&STANDARD.encode(text)),
    |text| percent_encoded_text(&as_json(text)),
    |text| as_json(&as_json(&as_json(text))),
];

fn redacted(text: &str, secrets: &[&str]) -> String {
    Redactor::new(secrets).redacted(text).into_owned()
}

/// Percent-encodes each byte that is not unreserved by RFC 3986, section 2.3.
fn percent_encoded_text(text: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}

fn as_json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Encodes a text as in a form, with lowercase letters in `%2f`.
fn as_form(text: &str) -> String {
    let encoded = percent_encoded_text(text).replace("%20", "+");
    let mut parts = encoded.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (digits, rest) = part.split_at(2);
        format!("{text}%{}{rest}", digits.to_lowercase())
    })
}

#[test]
fn the_beginning_of_a_secret_is_removed_from_the_end_of_a_cut_text() {
    let secret = "sk-live/0123456789abcdef";
    let redactor = Redactor::new([secret]);
    let each_byte =
        |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat();
    let solidus = |text: &str| text.replace('/', "\\/");
    let more: [fn(&str) -> String; 2] = [each_byte, solidus];
    for encode in ENCODINGS.iter().chain(&more) {
        let whole = encode(secret);
        // Quotation marks are no part of it.
        let most = whole.len().div_ceil(secret.len()) * 4 + 16;
        for length in 0..=whole.len() {
            let text = format!("ppp:{}", &whole[..length]);
            let shown = redactor.redacted(&text);
            let found = redactor.without_cut_secret(&shown, 4);
            assert!(found.starts_with("ppp:") && found.len() < most, "{text}: {found}");
        }
    }
    assert_eq!(redactor.without_cut_secret("the disk", 4), "the disk");
    assert_eq!(redactor.without_cut_secret("sk-live/012 and", 4), "sk-live/012 and");
}

#[test]
fn secrets_that_overlap_are_removed_whole() {
    for (secrets, text, expected) in [
        (
            &["password-of-the-one", "one-dragonfly-9000-secret"][..],
            "x password-of-the-one-dragonfly-9000-secret y",
            "x … y",
        ),
        (&["abcabcab"], "abcabcabcab!", "…!"),
        (&["sesame street", "street"], "sesame street street", "… …"),
        (&["open sesame"], "open sesameopen sesame", "……"),
    ] {
        assert_eq!(redacted(text, secrets), expected);
    }
    // Some digits of a secret in base64, which end with the first byte of the secret, and then the secret.
    let secret = "kXt9-abcdefghij-0123456789-zz";
    let digits = STANDARD.encode(secret);
    let at = digits[PIECE - 1..].find('k').unwrap() + PIECE - 1;
    let text = format!("{}{secret}", &digits[at + 1 - PIECE..at]);
    assert_eq!(redacted(&text, &[secret]), "…");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn secrets_are_removed_in_every_encoding_and_context(
        secret in "[ -~é🦀]{8,24}",
        before in "[ -~é]{0,9}",
        after in "[ -~é]{0,9}",
        inner_before in "[a-z:]{0,4}",
        inner_after in "[a-z:]{0,4}",
    ) {
        for encode in ENCODINGS {
            let alone = encode(&secret);
            let text = format!("{before}{alone}{after}");
            let output = redacted(&text, &[&secret]);
            prop_assert!(output.contains('…') && !output.contains(&alone), "{text} became {output}");
            // The secret may be a part of the encoded text: base64 then holds no copy of `alone`.
            let whole = encode(&format!("{inner_before}{secret}{inner_after}"));
            let output = redacted(&whole, &[&secret]);
            prop_assert!(output.contains('…'), "{whole} became {output}");
            prop_assert!(output.len() < whole.len() + '…'.len_utf8(), "{whole} became {output}");
        }
    }

    #[test]
    fn a_text_without_the_secret_is_unchanged(text in "[a-z0-9 {}:,\"]{0,60}") {
        prop_assert_eq!(redacted(&text, &["A-SECRET-KEY", ""]), text);
    }
}

/// In such a text, which needs knowledge of the secret, an occurrence seems to begin everywhere.
#[test]
fn a_text_that_was_made_to_take_long_is_cut() {
    let secret = "a".repeat(999) + "c";
    let redactor = Redactor::new([&secret, "open+sesame/\"0123"]);
    for part in ["a", "\\u0061", "%61", "\\", "%"] {
        let text = part.repeat((1 << 16) / part.len());
        let told = redactor.redacted(&text);
        let is_cut = told.ends_with('…') && told.len() < text.len();
        assert_eq!(is_cut, part.contains(['a', '1']), "{part}");
    }
    // Each backslash of a secret may be repeated.
    let redactor = Redactor::new(["\\".repeat(32) + "x"]);
    let text = "\\".repeat(1 << 16);
    assert!(redactor.redacted(&text).len() < text.len());
    let redactor = Redactor::new([&secret, "open+sesame/\"0123"]);
    let text = "{\\\"key\\\": \\\"%20some value\\n\\\"} ".repeat(1 << 11);
    assert_eq!(redactor.redacted(&text), text, "an honest text is whole");
}

#[test]
fn a_number_with_the_digits_of_a_secret_is_removed() {
    for (secret, text, expected) in [
        ("1234567890", r#"{"v":1.23456789e9,"w":1.5e3}"#, r#"{"v":…,"w":1.5e3}"#),
        ("1234567890", "123456789000e-2, 123456789.0E1", "…, …"),
        ("1000000000", "1e9, 1e8, 10E+8", "…, 1e8, …"),
        ("1000000000", "1e99999999999999999999999", "…"),
        ("12345678.5", "[1.23456785e7]", "[…]"),
        ("-12345678", "-1.2345678e7", "-…"),
        ("0123456789", "123456789 \"1.23456789e8\"", "… \"…\""),
        ("12345678", "12345677.99999999999999, 12345677.9", "…, 12345677.9"),
        ("12345678901234568", "12345678901234567", "…"),
        ("1234567", "1.234567e6", "1.234567e6"),
        (
            "1234567890",
            "1.2.3e4e5 1. 1e 1e+ e9 .5 123456789",
            "1.2.3e4e5 1. 1e 1e+ e9 .5 123456789",
        ),
    ] {
        assert_eq!(redacted(text, &[secret]), expected, "{secret}");
    }
}

#[test]
fn the_lines_of_a_secret_are_secrets() {
    let text = "-----BEGIN KEY-----\n> MC4CAQAwBQYD\n> K2Vw\n";
    let secret = "-----BEGIN KEY-----\nMC4CAQAwBQYD\nK2Vw\n-----END KEY-----";
    assert_eq!(redacted(text, &[secret]), "…\n> …\n> K2Vw\n");
}

#[test]
fn the_digits_of_escapes_may_have_any_case() {
    assert_eq!(
        redacted(r"m\u00fCllerstra\u00Dfe \ud83E\uDD80abcdefgh", &["müllerstraße", "🦀abcdefgh"]),
        "… …"
    );
}

#[test]
fn the_beginning_of_a_text_has_no_beginning_of_a_secret() {
    let redactor = Redactor::new(["correct horse battery"]);
    let text =
        format!("{} correct horse battery {} correct horse", "a".repeat(900), "b".repeat(900));
    let beginning = redactor.redacted_beginning(&text);
    assert!(beginning.starts_with("aaa") && beginning.contains(" … bbb"), "{beginning}");
    assert!(!beginning.contains("horse"), "{beginning}");
    let encoded = "correct horse batter".chars().fold(String::new(), |encoded, c| {
        // `\u00` and two digits.
        let [high, low] = format!("{:02x}", u32::from(c)).into_bytes()[..] else { panic!("{c}") };
        format!("{encoded}%5C%75%30%30%{high:02X}%{low:02X}")
    });
    let text = format!("{} {encoded}", "a".repeat(900));
    assert!(!redactor.redacted_beginning(&text).contains('%'), "{text}");
    assert_eq!(Redactor::default().redacted_beginning("abc"), "abc");
}

#[test]
fn a_header_has_the_secrets_of_its_scheme_cookies_and_parameters() {
    for (value, expected) in [
        ("Bearer abcdefgh", &["abcdefgh"][..]),
        ("Basic dXNlcjpwYXNzd29yZA", &["dXNlcjpwYXNzd29yZA", "password", "user:password"]),
        ("session=abcdefgh; theme=dark", &["abcdefgh"]),
        ("Token token=\"abcdefgh\"", &["token=\"abcdefgh\"", "abcdefgh"]),
        ("Key id=1, secret=abcdefgh", &["id=1, secret=abcdefgh", "1, secret=abcdefgh", "abcdefgh"]),
        ("true", &[]),
    ] {
        let mut found = secrets_in_header(value);
        found.dedup();
        assert_eq!(found, expected, "{value}");
    }
}

#[test]
fn a_secret_that_contains_another_one_is_removed_whole() {
    let text = "sk-12345678-abcdef, \\u00312345678.";
    assert_eq!(redacted(text, &["12345678", "sk-12345678-abcdef"]), "…, ….");
}

#[test]
fn a_short_secret_is_only_removed_as_a_whole_word() {
    assert_eq!(redacted("pass: an, a pass, bypassed", &["an", "pass"]), "…: …, a …, bypassed");
}

#[test]
fn sixteen_digits_of_a_secret_in_base64_are_enough() {
    let secret = "eyJhbGciOiJIUzI1NiJ9.a+long/secret?of~a~service";
    for before in ["", "B", "Be", "Bearer "] {
        let digits = STANDARD.encode(format!("{before}{secret} and more"));
        for width in [20, 64, 76] {
            for separator in ["\n", "\r\n", "\n    ", "\n\n", "\\n\\t", "\", \"", "\\u000a"] {
                let lines: Vec<_> =
                    digits.as_bytes().chunks(width).map(String::from_utf8_lossy).collect();
                // Lines may also come one by one.
                let shown = redacted(&lines.join(separator), &[secret]);
                let alone: Vec<_> = lines.iter().map(|line| redacted(line, &[secret])).collect();
                for shown in [shown, alone.concat()] {
                    let rest = shown.split(|c: char| !c.is_ascii_alphanumeric());
                    let start = before.len().div_ceil(3) * 4;
                    let inner = &digits[start..start + secret.len()];
                    let longest = rest.filter(|part| inner.contains(*part)).map(str::len).max();
                    assert!(longest.unwrap_or_default() < 16, "{shown}");
                }
            }
        }
    }
    let other = STANDARD.encode("a text that is none of the secrets of this test");
    assert_eq!(redacted(&other, &[secret]), other);
    assert_eq!(
        redacted(&STANDARD.encode(secret)[3..18], &[secret]),
        STANDARD.encode(secret)[3..18]
    );
}

/// The last character of the escape is the digit of the secret that would come before the others.
#[test]
fn no_part_of_an_escape_is_removed_as_a_digit_of_base64() {
    let secret = "eyJhbGciOiJIUzI1NiJ9.a+long/secret?of~a~service";
    let digits = STANDARD_NO_PAD.encode(secret);
    for escape in ["\\u00a", "\\", "%0", "%"] {
        for at in 1..12 {
            let text = format!("{escape}{}", &digits[at..]);
            let shown = redacted(&text, &[secret]);
            let last = if escape == "%" { at + 2 } else { at + 1 };
            assert_eq!(shown, format!("{escape}{}…", &digits[at..last]), "{text}");
        }
    }
}

#[test]
fn base64_that_is_encoded_again_and_cut_is_removed() {
    let secret = "?>?>?>?>?>?>?>?>?>?>?>?>?>?>";
    let base64 = STANDARD.encode(secret);
    let solidus = base64.replace('/', "\\/");
    for encoded in [percent_encoded_text(&base64), as_form(&base64), solidus] {
        let cut = &encoded[..encoded.len() - 7];
        let shown = redacted(&format!("x {cut} y"), &[secret]);
        assert!(shown.len() < 40, "{shown}");
    }
}
