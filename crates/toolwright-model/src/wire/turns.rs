//! Conversations in which user and model take turns: adjacent messages of one role are merged, and instructions are
//! separate.

use crate::error::ModelError;
use crate::model::Message;

/// Puts messages into turns, each with its role and blocks. Messages without blocks are left out, as no API takes them.
pub(super) fn turns<'a, B>(
    messages: &'a [Message],
    assistant: &'static str,
    mut blocks: impl FnMut(&'a Message) -> Result<Vec<B>, ModelError>,
) -> Result<Vec<(&'static str, Vec<B>)>, ModelError> {
    let mut turns: Vec<(&'static str, Vec<B>)> = Vec::new();
    for message in messages {
        let role = match message {
            Message::System(_) => continue,
            Message::Assistant(_) => assistant,
            Message::User(_) | Message::Results(_) => "user",
        };
        let blocks = blocks(message)?;
        match turns.last_mut() {
            Some((last, before)) if *last == role => before.extend(blocks),
            _ if blocks.is_empty() => {}
            _ => turns.push((role, blocks)),
        }
    }
    Ok(turns)
}

/// Returns the instructions, in order.
pub(super) fn instructions(messages: &[Message]) -> impl Iterator<Item = &str> {
    messages.iter().filter_map(|message| match message {
        Message::System(text) if !text.is_empty() => Some(text.as_str()),
        _ => None,
    })
}
