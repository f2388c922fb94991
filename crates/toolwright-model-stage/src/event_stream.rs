//! Writes messages of event streams as
//! [AWS describes them](https://docs.aws.amazon.com/lexv2/latest/dg/event-stream-encoding.html).

/// The type of a string in a header.
const STRING: u8 = 7;

/// The bytes of a message beside headers and payload: two lengths and two checksums.
const FRAME: usize = 16;

/// Writes an event with a name and JSON.
pub fn event(name: &str, payload: &str) -> Vec<u8> {
    let json = (":content-type", "application/json");
    message(&[(":event-type", name), json, (":message-type", "event")], payload)
}

/// Writes an exception with a name and JSON.
pub fn exception(name: &str, payload: &str) -> Vec<u8> {
    message(&[(":exception-type", name), (":message-type", "exception")], payload)
}

fn message(names: &[(&str, &str)], payload: &str) -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, value) in names {
        headers.extend(u8::try_from(name.len()).unwrap_or_default().to_be_bytes());
        headers.extend(name.bytes());
        headers.push(STRING);
        headers.extend(u16::try_from(value.len()).unwrap_or_default().to_be_bytes());
        headers.extend(value.bytes());
    }
    let length = |bytes: usize| u32::try_from(bytes).unwrap_or_default().to_be_bytes();
    let mut message = Vec::new();
    message.extend(length(FRAME + headers.len() + payload.len()));
    message.extend(length(headers.len()));
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message.extend(headers);
    message.extend(payload.bytes());
    message.extend(crc32fast::hash(&message).to_be_bytes());
    message
}
