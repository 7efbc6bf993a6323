//! The mark of a card of keymark's, so that it is taken for no real one behind a
//! reader: a data object of its own, with a tag of the private class that OpenPGP cards do not have.

use iso7816::Status;

use crate::tokens::card::Answer;
use crate::tokens::chaining::response;

/// GET DATA of the object.
pub const GET_TAG: [u8; 5] = [0x00, 0xCA, 0xDF, 0x4B, 0x00];

const VIRTUAL: &str = "keymark virtual";
const TWIN: &str = "keymark twin:";

/// Kind of a card of keymark's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdentityTag {
    /// Real firmware on this CPU.
    Virtual,
    /// Twin with the times of the profile of that name.
    Twin(String),
}

impl IdentityTag {
    /// The answer, if it is this that a card was asked for.
    pub(crate) fn asked_by(&self, command: &[u8]) -> Option<Answer> {
        if !command.starts_with(&GET_TAG[..4]) {
            return None;
        }
        let text = match self {
            Self::Virtual => VIRTUAL.to_owned(),
            Self::Twin(profile) => format!("{TWIN}{profile}"),
        };
        let response = [text.into_bytes(), response(Status::Success)].concat();
        Some(Answer::immediate(response))
    }

    /// Returns the tag in a card's answer; real cards have no such object.
    pub fn of_response(response: &[u8]) -> Option<Self> {
        let text = response.strip_suffix(&[0x90, 0x00])?;
        let text = std::str::from_utf8(text).ok()?;
        if text == VIRTUAL {
            return Some(Self::Virtual);
        }
        Some(Self::Twin(text.strip_prefix(TWIN)?.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood() {
        for mark in [IdentityTag::Virtual, IdentityTag::Twin("fst-01".to_owned())] {
            let answer = mark.asked_by(&GET_TAG).unwrap().response;
            assert_eq!(IdentityTag::of_response(&answer), Some(mark));
        }
        assert_eq!(IdentityTag::Virtual.asked_by(&[0, 0xCA, 0, 0x4F, 0]), None);
        for real in [&[0x6A, 0x88][..], &[0x90, 0x00], b"else\x90\x00"] {
            assert_eq!(IdentityTag::of_response(real), None, "{real:x?}");
        }
    }
}
