//! Reads each stream and each answer of the cases, in one piece and in random ones. `UPDATE_EXPECT=1` writes expectations.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use expect_test::expect_file;
use serde_json::Value;
use toolwright_model::{Answer, Content, Delta, ModelError, ModelFacts, Question, Wire};

use crate::cases::{Asked, ENDPOINTS, facts};
use crate::frames::{bytes, streams};

/// The question that all streams answer. Its conversation has the call `call_old`.
const ASKED: &str = r#"{
    "tools": [
        {"name": "get_weather", "description": "Returns the weather.", "args": {"type": "object"}},
        {"name": "files.list", "description": "Lists files.", "args": {"type": "object"}},
        {"name": "now", "description": "Returns the time.", "args": {"type": "object"}}
    ],
    "messages": [
        {"user": "Hi"},
        {"assistant": [{"call": {"id": "call_old", "name": "now", "args": "{}"}}]},
        {"results": [{"id": "call_old", "text": "12:00"}]}
    ]
}"#;

fn for_each_endpoint(mut each: impl FnMut(&str, Wire, &ModelFacts, &Question<'_>)) {
    let case: Value = serde_json::from_str(ASKED).unwrap();
    for (endpoint, model, wire, dialect) in ENDPOINTS {
        let facts = facts(endpoint, model, dialect);
        let asked = Asked::new(&case, facts.dialect);
        asked.with(|question| each(endpoint, wire, &facts, question));
    }
}

#[test]
fn streams_are_read_as_each_api_describes() {
    let mut read = 0;
    for_each_endpoint(|endpoint, wire, facts, question| {
        for path in streams(endpoint) {
            let found = in_pieces(wire, facts, question, &bytes(&path), |rest| rest);
            expect_file![path.with_extension("txt")].assert_eq(&shown(&found));
            read += 1;
        }
    });
    assert!(read > 80, "{read} streams");
}

#[test]
fn answers_are_read_as_each_api_describes() {
    let mut read = 0;
    for_each_endpoint(|endpoint, wire, facts, question| {
        for path in crate::cases::files(&format!("{endpoint}/answers"), "json") {
            let found = wire.answer(facts, question, &fs::read(&path).unwrap());
            expect_file![path.with_extension("txt")].assert_eq(&ended(&found));
            read += 1;
        }
    });
    assert!(read > 10, "{read} answers");
}

#[test]
fn ten_thousand_divisions_of_streams_give_the_same() {
    let mut random = fastrand::Rng::with_seed(20);
    let mut tried = 0;
    let mut count = 0;
    for_each_endpoint(|endpoint, _, _, _| count += streams(endpoint).len());
    for_each_endpoint(|endpoint, wire, facts, question| {
        for path in streams(endpoint) {
            let bytes = bytes(&path);
            let whole = joined(in_pieces(wire, facts, question, &bytes, |rest| rest));
            for round in 0..10_000_usize.div_ceil(count) {
                let longest = if round == 0 { 1 } else { 1 << random.usize(0..10) };
                let pieces = |rest: usize| random.usize(1..=longest).min(rest);
                let found = in_pieces(wire, facts, question, &bytes, pieces);
                assert_eq!(shown(&joined(found)), shown(&whole), "{}", path.display());
                tried += 1;
            }
        }
    });
    assert!(tried >= 10_000, "{tried} divisions");
}

#[test]
fn divisions_of_streams_with_faulty_bytes_behind_them_give_the_same() {
    for_each_endpoint(|endpoint, wire, facts, question| {
        for path in streams(endpoint) {
            let bytes = [&bytes(&path)[..], b"data: \xff\n\n"].concat();
            let whole = joined(in_pieces(wire, facts, question, &bytes, |rest| rest));
            let divided = joined(in_pieces(wire, facts, question, &bytes, |_| 1));
            assert_eq!(shown(&divided), shown(&whole), "{}", path.display());
        }
    });
}

#[test]
fn any_bytes_give_an_answer_or_an_error() {
    let mut random = fastrand::Rng::with_seed(21);
    for_each_endpoint(|endpoint, wire, facts, question| {
        for path in streams(endpoint) {
            let bytes = bytes(&path);
            for _ in 0..20 {
                let mut bytes = bytes.clone();
                for _ in 0..random.usize(1..4) {
                    let place = random.usize(..bytes.len().max(1));
                    match random.u8(..3) {
                        0 => bytes.truncate(place),
                        1 => bytes.insert(place.min(bytes.len()), random.u8(..)),
                        _ => bytes.iter_mut().skip(place).take(1).for_each(|b| *b = random.u8(..)),
                    }
                }
                let (_, result) = in_pieces(wire, facts, question, &bytes, |rest| rest);
                if let Err(error) = result {
                    let text = error.to_string();
                    assert!(text.len() < 1000 && !text.contains('\n'), "{text:?}");
                }
            }
        }
    });
}

#[test]
fn an_answer_that_is_too_large_is_malformed() {
    for_each_endpoint(|endpoint, wire, facts, question| {
        let mut reader = wire.reader(facts, question);
        let chunk = vec![b'a'; 1 << 16];
        let mut fed = 0;
        reader.feed(b"data: ");
        while !reader.is_over() && fed < 100 << 20 {
            reader.feed(&chunk);
            fed += chunk.len();
        }
        let error = reader.end().unwrap_err();
        assert!(matches!(error, ModelError::Malformed(_)), "{endpoint}: {error}");
        assert!(fed <= 9 << 20, "{endpoint}: {fed} bytes");
    });
}

/// A short text may be a list of very many items, each of which takes much memory.
#[test]
fn a_list_of_an_answer_has_at_most_a_thousand_items() {
    let answer = |endpoint: &str, items: &str| match endpoint {
        "openai-responses" => format!(r#"{{"output":[{items}]}}"#),
        "anthropic" => format!(r#"{{"content":[{items}]}}"#),
        "gemini" | "gemini-schema" => format!(r#"{{"candidates":[{items}]}}"#),
        "bedrock" => format!(r#"{{"output":{{"message":{{"content":[{items}]}}}}}}"#),
        _ => format!(r#"{{"choices":[{items}]}}"#),
    };
    let within = |endpoint: &str, items: &str| match endpoint {
        "openai-responses" => {
            let item = format!(r#"{{"type":"message","content":[{items}]}}"#);
            Some(answer(endpoint, &item))
        }
        "gemini" => Some(answer(endpoint, &format!(r#"{{"content":{{"parts":[{items}]}}}}"#))),
        "mistral" => Some(answer(endpoint, &format!(r#"{{"message":{{"content":[{items}]}}}}"#))),
        "openai-chat" => {
            let message = format!(r#"{{"content":[{{"thinking":[{items}]}}]}}"#);
            Some(answer(endpoint, &format!(r#"{{"message":{message}}}"#)))
        }
        _ => None,
    };
    for_each_endpoint(|endpoint, wire, facts, question| {
        for (count, is_short) in [(1000, true), (1001, false)] {
            let items = vec!["{}"; count].join(",");
            for body in [Some(answer(endpoint, &items)), within(endpoint, &items)] {
                let Some(body) = body else { continue };
                let found = ended(&wire.answer(facts, question, body.as_bytes()));
                let is_refused = found.contains("found more than 1000 items of a list");
                assert_eq!(is_refused, !is_short, "{endpoint}: {found}");
            }
        }
    });
}

#[test]
fn comments_are_too_large_together() {
    let (endpoint, model, wire, dialect) = ENDPOINTS[0];
    let facts = facts(endpoint, model, dialect);
    let asked = Asked::new(&serde_json::from_str(ASKED).unwrap(), facts.dialect);
    let comment = format!(":{}\n", "a".repeat((1 << 20) - 2));
    asked.with(|question| {
        let mut reader = wire.reader(&facts, question);
        let mut fed = 0;
        while !reader.is_over() {
            reader.feed(comment.as_bytes());
            fed += 1;
            assert!(fed <= 65, "more than 65 MiB");
        }
        assert!(matches!(reader.end(), Err(ModelError::Malformed(_))));
    });
}

#[test]
fn calls_that_are_only_shown_are_too_many() {
    let (endpoint, model, wire, dialect) = ENDPOINTS[2];
    let facts = facts(endpoint, model, dialect);
    let asked = Asked::new(&serde_json::from_str(ASKED).unwrap(), facts.dialect);
    asked.with(|question| {
        let mut reader = wire.reader(&facts, question);
        for index in 0..=1000 {
            let item = r#"{"type":"function_call","name":"now"}"#;
            let event = format!(
                r#"{{"type":"response.output_item.added","output_index":{index},"item":{item}}}"#
            );
            assert!(!reader.is_over(), "{index}");
            reader.feed(format!("data: {event}\n\n").as_bytes());
        }
        assert!(matches!(reader.end(), Err(ModelError::Malformed(_))));
    });
}

#[test]
fn many_small_events_are_too_large_together() {
    let (endpoint, model, wire, dialect) = ENDPOINTS[0];
    let facts = facts(endpoint, model, dialect);
    let asked = Asked::new(&serde_json::from_str(ASKED).unwrap(), facts.dialect);
    let text = "a".repeat(1 << 20);
    let call = r#"{"index":0,"function":{"name":"now"}}"#;
    let thoughts = |thoughts: &str| {
        format!(r#"{{"choices":[{{"delta":{{"reasoning_details":[{thoughts}]}}}}]}}"#)
    };
    let two = r#"{"index":1},{"index":2}"#;
    for (event, most) in [
        (thoughts(two), 501),
        (thoughts(&[two; 501].join(",")), 1),
        (thoughts(&format!(r#"{{"text":"{text}"}}"#)), 17),
        (format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#), 17),
        (format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{}]}}}}]}}"#, [call; 9].join(",")), 200),
        (format!(r#"{{"other":"{text}"}}"#), 65),
    ] {
        asked.with(|question| {
            let mut reader = wire.reader(&facts, question);
            let event = event.replace(r#""index":0,"#, "");
            let mut events = 0;
            while !reader.is_over() {
                reader.feed(format!("data: {event}\n\n").as_bytes());
                events += 1;
                assert!(events <= most, "more than {most} events");
            }
            let error = reader.end().unwrap_err();
            assert!(error.to_string().contains("expected a shorter answer"), "{error}");
        });
    }
}

/// Their values are not built, which would take hundreds of times the memory of this text.
#[test]
fn a_thought_of_many_values_counts_as_its_text() {
    let (endpoint, model, wire, dialect) = ENDPOINTS[0];
    let facts = facts(endpoint, model, dialect);
    let asked = Asked::new(&serde_json::from_str(ASKED).unwrap(), facts.dialect);
    let thought = format!(r#"{{"a":[{}]}}"#, vec!["{}"; 1 << 15].join(","));
    let delta = format!(r#"{{"reasoning_details":[{thought}]}}"#);
    let body = format!(r#"{{"choices":[{{"message":{delta},"finish_reason":"stop"}}]}}"#);
    asked.with(|question| {
        let answer = wire.answer(&facts, question, body.as_bytes()).unwrap();
        let [Content::Opaque(part)] = &answer.content[..] else { panic!("{answer:?}") };
        assert_eq!(part.json, format!("[{thought}]"));
    });
}

/// Reads a stream in small pieces, or an answer that is not streamed.
pub(crate) fn read_in_pieces(wire: Wire, bytes: &[u8]) -> String {
    let facts = facts("recorded", "a-model", "openai-chat");
    let asked = Asked::new(&serde_json::from_str(ASKED).unwrap(), facts.dialect);
    let mut text = String::new();
    asked.with(|question| {
        text = if bytes.trim_ascii_start().starts_with(b"{") {
            ended(&wire.answer(&facts, question, bytes))
        } else {
            ended(&in_pieces(wire, &facts, question, bytes, |rest| rest.min(7)).1)
        };
    });
    text
}

/// The pieces of an answer that was read, and the answer or the error.
pub(crate) type Found = (Vec<Delta>, Result<Answer, ModelError>);

fn in_pieces(
    wire: Wire,
    facts: &ModelFacts,
    question: &Question<'_>,
    bytes: &[u8],
    mut length: impl FnMut(usize) -> usize,
) -> Found {
    let mut reader = wire.reader(facts, question);
    let mut deltas = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(length(rest.len()));
        deltas.extend(reader.feed(piece));
        rest = after;
    }
    (deltas, reader.end())
}

/// Joins pieces of one text, which a reader joins if they come together.
fn joined((deltas, result): Found) -> Found {
    let mut joined: Vec<Delta> = Vec::new();
    for delta in deltas {
        match (joined.last_mut(), delta) {
            (Some(Delta::Text(text)), Delta::Text(more))
            | (Some(Delta::Reasoning(text)), Delta::Reasoning(more)) => text.push_str(&more),
            (Some(Delta::Args { call, text }), Delta::Args { call: same, text: more })
                if *call == same =>
            {
                text.push_str(&more);
            }
            (_, delta) => joined.push(delta),
        }
    }
    (joined, result)
}

pub(crate) fn shown((deltas, result): &Found) -> String {
    let mut text = String::new();
    for delta in deltas {
        match delta {
            Delta::Text(more) => writeln!(text, "+ text {more:?}"),
            Delta::Reasoning(more) => writeln!(text, "+ reasoning {more:?}"),
            Delta::Call { call, name } => writeln!(text, "+ call {call} of {name}"),
            Delta::Args { call, text: more } => writeln!(text, "+ args of {call} {more}"),
            Delta::Retried { error, .. } => writeln!(text, "+ retried {error}"),
        }
        .unwrap();
    }
    text + &ended(result)
}

fn ended(result: &Result<Answer, ModelError>) -> String {
    let answer = match result {
        Ok(answer) => answer,
        Err(error @ ModelError::Status { retry_after, .. }) => {
            return match retry_after {
                Some(wait) => format!("{error}; wait {wait:?}\n"),
                None => format!("{error}\n"),
            };
        }
        Err(error) => return format!("{error}\n"),
    };
    let mut text = String::new();
    for part in &answer.content {
        match part {
            Content::Text(said) => writeln!(text, "text {said:?}"),
            Content::Call(call) => {
                writeln!(text, "call {} of {}: {}", call.id, call.name, call.args.as_str())
            }
            Content::Opaque(part) => {
                writeln!(text, "opaque {} of {}: {}", part.kind, part.provider, part.json)
            }
        }
        .unwrap();
    }
    writeln!(text, "stop {:?}", answer.stop).unwrap();
    match answer.usage {
        Some(usage) => writeln!(text, "{usage:?}").unwrap(),
        None => text += "no usage\n",
    }
    writeln!(text, "model {:?}", answer.model).unwrap();
    text
}

/// Keeps the folders of cases and the endpoints in step.
#[test]
fn each_folder_of_cases_is_an_endpoint() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_endpoint = ENDPOINTS.iter().any(|(endpoint, ..)| *endpoint == name);
        assert!(is_endpoint || name == "questions", "{name}");
    }
}
