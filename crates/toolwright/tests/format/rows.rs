//! Rows that the official suite does not have, by the specifications.

use toolwright::format::Format;

/// Each format with valid and invalid texts.
const ROWS: [(Format, &[&str], &[&str]); 12] = [
    (
        Format::DateTime,
        &[
            "0000-01-01T00:00:00Z",
            "2015-06-30T23:59:60Z",
            "2017-01-01T08:59:60+09:00",
            "2016-12-30T23:59:59-00:00",
            "2016-02-29T23:59:60.5z",
            "2016-12-31T14:59:60-09:00",
            "2020-01-01T23:59:60Z",
            "2017-01-02T08:59:60+09:00",
            "2016-06-29T23:58:59+00:01",
        ],
        &[
            "",
            "2016-12-31T23:58:60Z",
            "2016-12-31T23:59:60+09:00",
            "2016-12-31 10:00:00Z",
            "2016-12-31T10:00:00",
            "2016-12-31T10:00:00.Z",
            "2016-12-31T",
            "2016-12-31",
            "2016-12-3é10:00:00Z",
        ],
    ),
    (Format::Date, &["0000-02-29", "9999-12-31"], &["1900-02-29", "2020-1-011", "２020-01-01"]),
    (
        Format::Time,
        &["00:00:00.000000000000000001Z", "00:00:60+00:01", "23:58:60-00:01"],
        &["", "10:00Z", "10:00:00.Z", "10:00:00+0100", "10:00:00+01", "10:00:00 Z", "10:00:00ZZ"],
    ),
    (
        Format::Duration,
        &["P1Y", "P1M1DT1M", "P1DT1S", "p1yT1h"],
        &["P1DT", "T1H", "P1D1D", "PT1H1H", "P1DT1DT1H", "PTT1H", "P1Wé", "PT1D1M", "PW", "P1H"],
    ),
    (
        Format::Email,
        &[
            r#""a\"b\\"@example.com"#,
            r#""@"@example.com"#,
            r#"""@example.com"#,
            "a@b",
            "a@[ipv6:::1]",
            "!#$%&'*+-/=?^_`{|}~@a.b",
        ],
        &[
            r#""a"b"@example.com"#,
            r#""a\"@example.com"#,
            r#"""#,
            r#"""""#,
            r#""@example.com"#,
            "é@example.com",
            "a@é.com",
            "a@-b.c",
            "a@b..c",
            "a@b.",
            "a@[::1]",
            "a@[127.0.0.1",
            "a@[tag:any]",
            "a@b@c",
            "a b@c",
            "",
        ],
    ),
    (
        Format::Hostname,
        &[
            "a",
            "1",
            "127.0.0.1",
            "ab--cd",
            "xn--mnchen-3ya",
            "XN--MNCHEN-3YA",
            "xn--fiqs8s.xn--e1afmkfd",
        ],
        &[
            "a..b",
            "xn--",
            "xn---",
            "xn---9n2bp8q",
            "xn--mnchen-39ya",
            "xn--11b2ezc70a",
            "xn--abc-",
            "xn--a",
            "xn--99999999",
            "xn--a-ecp.ru.xn--",
            "xn--tiq49xqyj\u{e9}",
            // Characters that came after Unicode 14.0.
            "xn--a-gr4r",
            "xn--a-up6q",
            "xn--a-q83e",
            "a b",
        ],
    ),
    (Format::Ipv4, &["1.2.3.4"], &["01.2.3.4", "1.2.3.04", "1.2.3", "1.2.3.4.", "1.2.3.1234"]),
    (
        Format::Ipv6,
        &["::1.2.3.4", "2001:DB8::A", "1:2:3:4:5:6:7::", "0001::"],
        &["::1%25eth0", "1::2::3", "::1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8::", "", ":", "00001::"],
    ),
    (
        Format::Uri,
        &[
            "a:",
            "a:b",
            "a://",
            "a:///b",
            "file:/b//c",
            "a+b-c.d:?q#f",
            "http://@:/",
            "http://[::1]:80/",
            "http://[v7.a:b]",
            "http://a?/?#/?",
            "http://a/%C3%A9",
            "urn:uuid:123e4567-e89b-42d3-a456-426614174000",
        ],
        &[
            "",
            ":",
            ":a",
            "é:a",
            "a:é",
            "a:#b#c",
            "http://a@b@c",
            "http://a:b:1",
            "http://[::1",
            "http://::1]",
            "http://[::1]a",
            "http://[]",
            "http://[v.a]",
            "http://[v7.]",
            "http://[::1%25eth0]",
            "http://a[b]",
            "http://[::1]@a",
            "a:%é0",
            "a:[b]",
            "a:?[b]",
            "a:\u{7f}",
        ],
    ),
    (
        Format::Uuid,
        &["ffffffff-ffff-ffff-ffff-ffffffffffff"],
        &["", "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}", "2eb8aa08-aa98-11ea-b4aa-73b441d163é"],
    ),
    (Format::JsonPointer, &["//", "/~01", "/é"], &["~0", "/~", "/~é", " /a"]),
    (
        Format::Regex,
        &[
            "",
            "|",
            "()",
            "(|)",
            "a{2}b{2,}c{2,3}?",
            "a{02,2}",
            "a{18446744073709551616,18446744073709551617}",
            r"(a)\1",
            r"\2(a)(b)",
            r"\k<é>(?<é>a)",
            r"(?<\u{61}>)\k<a>",
            "(?<!a)(?<=a)(?!a)(?=a)(?:a)*",
            "(?<$_1\u{301}>a)",
            "(?<℘>a)",
            "(?<℮>a)",
            "(?<゛>a)",
            "(?<a\u{b7}\u{387}٣>a)",
            "(?<ⅷ>a)",
            r"[\b\-\]\cA\0\x41\u0041\u{10ffff}\ud83d\ude00-\ud83d\ude01]",
            "[-a]",
            "[a-]",
            "[a-b-c]",
            "[---]",
            r"[^^\d\p{L}-]",
            r"[\d-]",
            r"\p{Letter}\P{gc=Lu}\p{Script=Greek}\p{scx=Grek}\p{Emoji}\p{digit}",
            r"\/\.\*\$\^\{\}",
            r"\bB\B",
            "é+",
        ],
        &[
            "*",
            "a**",
            "a???",
            "^*",
            r"\b+",
            "(?=a)*",
            "(?<=a)?",
            "(",
            ")",
            "(?",
            "(?a)",
            "(?i:a)",
            "(?<>a)",
            "(?<1>a)",
            "(?<a²>a)",
            "(?<a½>a)",
            "(?<Ⓐ>a)",
            "(?<ⓐ>a)",
            "(?<a🄰>a)",
            "(?<ⸯ>a)",
            "(?<\u{345}>a)",
            // A mark and a letter that came after Unicode 14.0.
            "(?<\u{11f00}>a)",
            "(?<\u{1c89}>a)",
            "(?<a\u{20dd}>a)",
            "(?<a",
            "(?<a>)(?<a>)",
            r"\k<a>",
            r"\k",
            r"\1",
            r"(a)\2",
            r"(?:a)\1",
            "[",
            "]",
            "{",
            "}",
            "a{,2}",
            "a{2",
            "a{2,1}",
            "a{10,9}",
            "{1}",
            "[b-a]",
            r"[a-\d]",
            r"[\d-a]",
            r"[\B]",
            r"[\1]",
            r"\00",
            r"\c1",
            r"\x4",
            r"\u004",
            r"\u{110000}",
            r"\u{}",
            r"\u{+1}",
            r"\p{Nope}",
            r"\p{Script}",
            r"\p{sc=Nope}",
            r"\p{L",
            r"\pL",
            r"\p{}",
            r"\p{letter}",
            r"\-",
            r"\é",
            r"\_",
            r"\",
            "[\\",
        ],
    ),
];

#[test]
fn texts_are_checked_as_in_the_rows() {
    for (format, right, wrong) in ROWS {
        for text in right {
            assert!(format.is_valid(text), "{text:?} is a {format}");
        }
        for text in wrong {
            assert!(!format.is_valid(text), "{text:?} is not a {format}");
        }
    }
}

#[test]
fn a_hostname_that_is_too_long_is_invalid() {
    let name = |length: usize| "abc.".repeat(63) + &"d".repeat(length);
    assert!(Format::Hostname.is_valid(&name(1)));
    assert!(!Format::Hostname.is_valid(&name(2)));
}

#[test]
fn deeply_nested_patterns_are_checked() {
    let deep = |open: usize, close: usize| "(".repeat(open) + &")".repeat(close);
    assert!(Format::Regex.is_valid(&deep(1_000_000, 1_000_000)));
    assert!(!Format::Regex.is_valid(&deep(1_000_000, 999_999)));
}

#[test]
fn every_format_is_found_by_its_name_and_its_example_is_valid() {
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
        assert!(format.is_valid(format.example()), "{format}");
        assert_eq!(format.to_string(), format.name());
    }
    assert_eq!(Format::from_name("idn-email"), None);
    assert_eq!(Format::from_name("DATE"), None);
}
