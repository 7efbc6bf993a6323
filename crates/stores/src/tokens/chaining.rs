//! Command chaining and GET RESPONSE (ISO 7816-4 §5.1.1.1, §7.6.1; OpenPGP card 3.4.1 §7.2.9,
//! §7.7): the firmware proper sees whole commands only.

use crate::tokens::card::StatusWord;

/// CLA bit of a command that is not the last of its chain.
const CHAINED: u8 = 0x10;
/// No class at all (ISO 7816-4 §5.1.1).
const INVALID_CLASS: u8 = 0xFF;
const GET_RESPONSE: u8 = 0xC0;
/// More than any command of the application.
const MAX_DATA: usize = 16 * 1024;
/// Response bytes of a short APDU with Le 00.
const SHORT_RESPONSE: usize = 256;

/// What is to be done with a command.
pub(crate) enum Next {
    /// To be executed by the application: a whole command in extended form.
    Execute(Vec<u8>),
    /// Answered already.
    Answer(Vec<u8>),
}

/// The parts of a command APDU (ISO 7816-4 §5.1).
pub(crate) struct Parts<'a> {
    header: [u8; 4],
    data: &'a [u8],
    /// Response bytes that fit; `None` when the command has no Le field.
    expected: Option<usize>,
}

impl<'a> Parts<'a> {
    pub(crate) fn parse(command: &'a [u8]) -> Option<Self> {
        let (&header, body) = command.split_first_chunk::<4>()?;
        let (data, le): (&[u8], &[u8]) = match body {
            [] => (&[], &[]),
            [_] => (&[], body),
            [0, a, b] => (&[], &body[if (*a, *b) == (0, 0) { 1 } else { 0 }..]),
            [0, high, low, rest @ ..] => {
                rest.split_at_checked(usize::from(u16::from_be_bytes([*high, *low])))?
            }
            [length, rest @ ..] => rest.split_at_checked(usize::from(*length))?,
        };
        let expected = match le {
            [] => None,
            [0] => Some(SHORT_RESPONSE),
            [short] => Some(usize::from(*short)),
            [0, 0] => Some(usize::from(u16::MAX) + 1),
            [high, low] | [0, high, low] => Some(usize::from(u16::from_be_bytes([*high, *low]))),
            _ => return None,
        };
        Some(Self {
            header,
            data,
            expected,
        })
    }
}

/// State between the commands of a chain and between the parts of a response.
#[derive(Debug, Default)]
pub(crate) struct Chaining {
    /// Header and data of a chain under way.
    pending: Option<([u8; 4], Vec<u8>)>,
    /// What is left of a long response.
    rest: Vec<u8>,
    limit: Option<usize>,
}

impl Chaining {
    /// Takes a command as it arrives.
    pub(crate) fn take(&mut self, command: &[u8]) -> Next {
        let Some(parts) = Parts::parse(command) else {
            return Next::Answer(StatusWord::WRONG_LENGTH.response());
        };
        let [class, ins, p1, p2] = parts.header;
        if class == INVALID_CLASS {
            return Next::Answer(StatusWord::CLASS_NOT_SUPPORTED.response());
        }
        self.limit = parts.expected;
        if ins == GET_RESPONSE && self.pending.is_none() {
            let rest = std::mem::take(&mut self.rest);
            if rest.is_empty() {
                return Next::Answer(StatusWord::CONDITIONS.response());
            }
            return Next::Answer(self.part(rest));
        }
        self.rest.clear();
        let header = [class & !CHAINED, ins, p1, p2];
        let mut data = match self.pending.take() {
            None => Vec::new(),
            Some((begun, data)) if begun == header => data,
            Some(_) => return Next::Answer(StatusWord::CHAIN_EXPECTED.response()),
        };
        if data.len() + parts.data.len() > MAX_DATA {
            return Next::Answer(StatusWord::WRONG_LENGTH.response());
        }
        data.extend_from_slice(parts.data);
        if class & CHAINED != 0 {
            self.pending = Some((header, data));
            return Next::Answer(StatusWord::OK.response());
        }
        Next::Execute(extended(header, &data, parts.expected))
    }

    /// A response of the application, cut to what the command's Le allows; without Le a response
    /// still comes in short parts, as GnuPG expects of a chain.
    pub(crate) fn answer(&mut self, response: Vec<u8>) -> Vec<u8> {
        self.part(response)
    }

    fn part(&mut self, mut response: Vec<u8>) -> Vec<u8> {
        let limit = self.limit.unwrap_or(SHORT_RESPONSE);
        let data = response.len() - 2;
        if data <= limit {
            return response;
        }
        self.rest = response.split_off(limit);
        let left = u8::try_from(self.rest.len() - 2).unwrap_or(0);
        response.extend([0x61, left]);
        response
    }
}

/// One command with extended Lc, and an extended Le if there was any: what is random has as many bytes
/// as that says.
fn extended(header: [u8; 4], data: &[u8], expected: Option<usize>) -> Vec<u8> {
    let mut command = header.to_vec();
    if !data.is_empty() || expected.is_some() {
        command.push(0);
    }
    if !data.is_empty() {
        command.extend(u16::try_from(data.len()).unwrap_or(u16::MAX).to_be_bytes());
        command.extend_from_slice(data);
    }
    // As many as there may be are written as 0.
    let le = expected.map(|expected| u16::try_from(expected).unwrap_or(0).to_be_bytes());
    command.extend(le.into_iter().flatten());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executed(chaining: &mut Chaining, command: &[u8]) -> Vec<u8> {
        match chaining.take(command) {
            Next::Execute(command) => command,
            Next::Answer(answer) => panic!("{answer:x?}"),
        }
    }

    fn answered(chaining: &mut Chaining, command: &[u8]) -> Vec<u8> {
        match chaining.take(command) {
            Next::Execute(command) => panic!("{command:x?}"),
            Next::Answer(answer) => answer,
        }
    }

    #[test]
    fn a_chain_becomes_one_extended_command() {
        let mut chaining = Chaining::default();
        assert_eq!(
            answered(&mut chaining, &[0x10, 0x2A, 0x80, 0x86, 2, 1, 2]),
            [0x90, 0]
        );
        assert_eq!(
            executed(&mut chaining, &[0x00, 0x2A, 0x80, 0x86, 1, 3, 0]),
            [0x00, 0x2A, 0x80, 0x86, 0, 0, 3, 1, 2, 3, 1, 0]
        );
    }

    #[test]
    fn the_response_is_asked_for_in_the_length_that_the_command_says() {
        for (command, whole) in [
            (&[0x00, 0x84, 0, 0][..], &[0x00, 0x84, 0, 0][..]),
            (&[0x00, 0x84, 0, 0, 16], &[0x00, 0x84, 0, 0, 0, 0, 16]),
            (&[0x00, 0x84, 0, 0, 0], &[0x00, 0x84, 0, 0, 0, 1, 0]),
            (&[0x00, 0x84, 0, 0, 0, 0, 0], &[0x00, 0x84, 0, 0, 0, 0, 0]),
            (
                &[0x00, 0x20, 0, 0x82, 1, 0x31],
                &[0x00, 0x20, 0, 0x82, 0, 0, 1, 0x31],
            ),
        ] {
            assert_eq!(executed(&mut Chaining::default(), command), whole);
        }
    }

    #[test]
    fn no_class_at_all_begins_no_chain() {
        let mut chaining = Chaining::default();
        let refused = answered(&mut chaining, &[0xFF, 0xCA, 0, 0x4F, 0]);
        assert_eq!(refused, [0x6E, 0x00]);
        executed(&mut chaining, &[0x00, 0xCA, 0x00, 0x4F, 0]);
    }

    #[test]
    fn another_command_within_a_chain_ends_it() {
        let mut chaining = Chaining::default();
        answered(&mut chaining, &[0x10, 0x2A, 0x80, 0x86, 2, 1, 2]);
        assert_eq!(
            answered(&mut chaining, &[0x00, 0x20, 0x00, 0x82, 0]),
            [0x68, 0x83]
        );
        executed(&mut chaining, &[0x00, 0x20, 0x00, 0x82]);
    }

    #[test]
    fn long_responses_come_in_parts() {
        let mut chaining = Chaining::default();
        executed(&mut chaining, &[0x00, 0xCA, 0x00, 0x6E, 0x00]);
        let mut response: Vec<u8> = (0..600).map(|n| n as u8).collect();
        response.extend([0x90, 0x00]);
        let first = chaining.answer(response.clone());
        assert_eq!((first.len(), &first[256..]), (258, &[0x61, 0][..]));
        let second = answered(&mut chaining, &[0x00, 0xC0, 0, 0, 0]);
        assert_eq!(second[256..], [0x61, 88]);
        let third = answered(&mut chaining, &[0x00, 0xC0, 0, 0, 0]);
        assert_eq!(third[88..], [0x90, 0x00]);
        assert_eq!([&first[..256], &second[..256], &third].concat(), response);
        assert_eq!(
            answered(&mut chaining, &[0x00, 0xC0, 0, 0, 0]),
            [0x69, 0x85]
        );
    }

    #[test]
    fn extended_le_takes_all_at_once() {
        let mut chaining = Chaining::default();
        executed(&mut chaining, &[0x00, 0xCA, 0x00, 0x6E, 0, 0, 0]);
        assert_eq!(chaining.answer(vec![7; 602]).len(), 602);
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused() {
        for command in [
            &[0x00, 0xCA, 0x00][..],
            &[0x00, 0x2A, 0x80, 0x86, 9, 1, 2],
            &[0x00, 0x2A, 0x80, 0x86, 0, 0, 9, 1],
        ] {
            assert_eq!(answered(&mut Chaining::default(), command), [0x67, 0x00]);
        }
    }

    proptest::proptest! {
        #[test]
        fn garbage_never_panics(commands in proptest::collection::vec(proptest::collection::vec(proptest::num::u8::ANY, 0..40), 0..10)) {
            let mut chaining = Chaining::default();
            for command in commands {
                if let Next::Execute(_) = chaining.take(&command) {
                    chaining.answer(vec![1; 700]);
                }
            }
        }
    }
}
