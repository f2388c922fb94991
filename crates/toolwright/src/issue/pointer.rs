//! JSON Pointers (RFC 6901) that are built from the last segment to the first. Callers escape the segments.

use std::fmt;

/// The number of bytes that are stored without an allocation. Most pointers are shorter.
const INLINE: usize = 32;

/// The place of an issue. As an issue is passed up through objects and arrays, each puts its segment in front.
#[derive(Clone)]
pub(super) enum Pointer {
    /// The text is at the end of the bytes, so that there is room in front of it.
    Short {
        start: usize,
        bytes: [u8; INLINE],
    },
    Long(String),
}

impl Pointer {
    pub(super) fn new(text: String) -> Self {
        let Some(start) = INLINE.checked_sub(text.len()) else { return Self::Long(text) };
        let mut bytes = [0; INLINE];
        bytes[start..].copy_from_slice(text.as_bytes());
        Self::Short { start, bytes }
    }

    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Short { start, bytes } => {
                std::str::from_utf8(&bytes[*start..]).expect("it is made of texts")
            }
            Self::Long(text) => text,
        }
    }

    /// Puts a segment, already escaped, in front.
    pub(super) fn prepend(&mut self, segment: &str) {
        if let Self::Short { start, bytes } = self {
            if let Some(slash) = start.checked_sub(segment.len() + 1) {
                bytes[slash] = b'/';
                bytes[slash + 1..*start].copy_from_slice(segment.as_bytes());
                *start = slash;
                return;
            }
        }
        let rest = self.as_str();
        let mut text = String::with_capacity(1 + segment.len() + rest.len());
        text.extend(["/", segment, rest]);
        *self = Self::Long(text);
    }
}

impl PartialEq for Pointer {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Pointer {}

impl fmt::Debug for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_put_in_front_whatever_their_length() {
        for longest in 0..=2 * INLINE {
            let (mut pointer, mut expected) = (Pointer::new(String::new()), String::new());
            for length in (0..=longest).rev().step_by(7) {
                let segment = "ä".repeat(length / 2);
                pointer.prepend(&segment);
                expected = format!("/{segment}{expected}");
                assert_eq!(pointer.as_str(), expected);
                assert_eq!(pointer, Pointer::new(expected.clone()));
            }
        }
        assert_ne!(Pointer::new("/a".to_owned()), Pointer::new("/b".to_owned()));
    }
}
