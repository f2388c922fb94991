//! Shortens conversations that are too long for a model.

use crate::model::Message;

/// Shortens a conversation that is too long for the model.
pub trait Compactor: Send + Sync {
    /// Shortens the messages. Calls and their results must stay together. Equal messages must become equal ones, since the
    /// conversation of a run is shortened again in each later turn.
    fn compact(&self, messages: &mut Vec<Message>);
}

/// Leaves out the texts of the oldest results, until the results have at most this many bytes, and at most half of the bytes that they had. The newest results always stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaveOutResults {
    /// The most bytes of results.
    pub bytes: usize,
}

impl Default for LeaveOutResults {
    /// 64 KiB.
    fn default() -> Self {
        Self { bytes: 64 << 10 }
    }
}

impl Compactor for LeaveOutResults {
    fn compact(&self, messages: &mut Vec<Message>) {
        let results = messages.iter().flat_map(|message| match message {
            Message::Results(results) => results.as_slice(),
            Message::System(_) | Message::User(_) | Message::Assistant(_) => &[],
        });
        let all: usize = results.map(|result| result.text.len()).sum();
        let mut left = self.bytes.min(all / 2);
        let mut is_newest = true;
        for message in messages.iter_mut().rev() {
            let Message::Results(results) = message else { continue };
            for result in results.iter_mut().rev() {
                let size = result.text.len();
                if !is_newest && size > left {
                    left = 0;
                    let short = format!("the result was left out, {size} bytes");
                    if short.len() < size {
                        result.text = short;
                    }
                } else {
                    left = left.saturating_sub(size);
                }
            }
            is_newest = false;
        }
    }
}
