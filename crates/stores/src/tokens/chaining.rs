//! Command chaining and GET RESPONSE (ISO 7816-4 §5.1.1.1, §7.6.1; OpenPGP card 3.4.1 §7.2.9,
//! §7.7): the firmware proper sees whole commands only.

use iso7816::command::{Command, CommandView, FromSliceError};
use iso7816::{Instruction, Status};

/// More than the data of any command of the application.
const MAX_DATA: usize = 16 * 1024;
/// Response bytes of a short APDU with Le 00.
const SHORT_RESPONSE: usize = 256;

/// A command with all of its data.
pub(crate) type Whole = Command<MAX_DATA>;

pub(crate) enum Next {
    /// Command for the application.
    Execute(Box<Whole>),
    /// Answered already.
    Answer(Vec<u8>),
}

/// State between the commands of a chain and between the parts of a response.
#[derive(Debug, Default)]
pub(crate) struct Chaining {
    /// A chain under way, by its last command with all data so far.
    pending: Option<Box<Whole>>,
    rest: Vec<u8>,
    /// Response bytes that fit; 0 when the command has no Le field.
    limit: usize,
}

impl Chaining {
    /// Takes a command as it arrives.
    pub(crate) fn take(&mut self, command: &[u8]) -> Next {
        let taken = match CommandView::try_from(command) {
            Ok(command) => self.take_part(command),
            Err(FromSliceError::InvalidClass) => Err(Status::ClassNotSupported),
            Err(_) => Err(Status::WrongLength),
        };
        taken.unwrap_or_else(|status| Next::Answer(response(status)))
    }

    fn take_part(&mut self, command: CommandView<'_>) -> Result<Next, Status> {
        self.limit = command.expected();
        if command.instruction() == Instruction::GetResponse && self.pending.is_none() {
            let rest = std::mem::take(&mut self.rest);
            if rest.is_empty() {
                return Err(Status::ConditionsOfUseNotSatisfied);
            }
            return Ok(Next::Answer(self.answer(rest)));
        }
        self.rest.clear();
        let whole = match self.pending.take() {
            None => command.to_owned().ok().map(Box::new),
            Some(mut begun) if is_next(&begun, &command) => {
                let extended = begun.extend_from_command_view(command);
                extended.ok().map(|()| begun)
            }
            Some(_) => return Err(Status::LastCommandOfChainExpected),
        };
        let whole = whole.ok_or(Status::WrongLength)?;
        if whole.class().chain().not_the_last() {
            self.pending = Some(whole);
            return Err(Status::Success);
        }
        Ok(Next::Execute(whole))
    }

    /// A response of the application, cut to what the command's Le allows; without Le a response
    /// still comes in short parts, as GnuPG expects of a chain.
    pub(crate) fn answer(&mut self, mut response: Vec<u8>) -> Vec<u8> {
        let limit = match self.limit {
            0 => SHORT_RESPONSE,
            limit => limit,
        };
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

/// Returns whether the command goes on with a chain.
fn is_next(begun: &Whole, command: &CommandView<'_>) -> bool {
    let header = (command.instruction(), command.p1, command.p2);
    (begun.instruction(), begun.p1, begun.p2) == header
        && begun.class() == command.class().as_chained()
}

/// The response that consists of this status word alone.
pub(crate) fn response(status: Status) -> Vec<u8> {
    u16::from(status).to_be_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Header, data and Le of what is executed.
    fn executed(chaining: &mut Chaining, command: &[u8]) -> ([u8; 4], Vec<u8>, usize) {
        match chaining.take(command) {
            Next::Execute(whole) => {
                let instruction = whole.instruction().into();
                let header = [whole.class().into_inner(), instruction, whole.p1, whole.p2];
                (header, whole.data().to_vec(), whole.expected())
            }
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
    fn a_chain_becomes_one_command_unless_another_comes_between() {
        let mut chaining = Chaining::default();
        let part = [0x10, 0x2A, 0x80, 0x86, 2, 1, 2];
        assert_eq!(answered(&mut chaining, &part), [0x90, 0]);
        assert_eq!(
            executed(&mut chaining, &[0x00, 0x2A, 0x80, 0x86, 1, 3, 0]),
            ([0x00, 0x2A, 0x80, 0x86], vec![1, 2, 3], 256)
        );
        answered(&mut chaining, &part);
        let between = answered(&mut chaining, &[0x00, 0x20, 0x00, 0x82, 0]);
        assert_eq!(between, [0x68, 0x83]);
        executed(&mut chaining, &[0x00, 0x20, 0x00, 0x82]);
    }

    #[test]
    fn the_response_is_asked_for_in_the_length_that_the_command_says() {
        for (command, data, expected) in [
            (&[0x00, 0x84, 0, 0][..], &[][..], 0),
            (&[0x00, 0x84, 0, 0, 16], &[], 16),
            (&[0x00, 0x84, 0, 0, 0], &[], 256),
            (&[0x00, 0x84, 0, 0, 0, 0, 0], &[], 65_536),
            (&[0x00, 0x20, 0, 0x82, 1, 0x31], &[0x31], 0),
        ] {
            let (_, taken, le) = executed(&mut Chaining::default(), command);
            assert_eq!((&*taken, le), (data, expected));
        }
    }

    #[test]
    fn no_class_and_lengths_that_do_not_fit_are_refused() {
        for (command, refused) in [
            (&[0xFF, 0xCA, 0, 0x4F, 0][..], [0x6E, 0x00]),
            (&[0x00, 0xCA, 0x00], [0x67, 0x00]),
            (&[0x00, 0x2A, 0x80, 0x86, 9, 1, 2], [0x67, 0x00]),
            (&[0x00, 0x2A, 0x80, 0x86, 0, 0, 9, 1], [0x67, 0x00]),
        ] {
            assert_eq!(answered(&mut Chaining::default(), command), refused);
        }
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
        let nothing = answered(&mut chaining, &[0x00, 0xC0, 0, 0, 0]);
        assert_eq!(nothing, [0x69, 0x85]);
        // An extended Le takes all at once.
        executed(&mut chaining, &[0x00, 0xCA, 0x00, 0x6E, 0, 0, 0]);
        assert_eq!(chaining.answer(vec![7; 602]).len(), 602);
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
