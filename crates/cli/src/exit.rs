//! Exit statuses, decided in one place.

use std::error::Error;
use std::process::ExitCode;

/// Result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: everything that was asked for was done.
    Fine,
    /// 1: some case failed, a comparison is above its limit, a run could not be saved, a token not be
    /// restored, or a record for a site was refused.
    Failed,
    /// 2: the command line does not make sense.
    Usage,
    /// 3: nothing here can do what was asked.
    NothingUsable,
    /// 4: nothing failed, but something could not be read or decided.
    Incomplete,
    /// 5: [`Exit::Failed`] and [`Exit::Incomplete`] together.
    FailedAndIncomplete,
    /// 130: ended by Ctrl-C (128 + SIGINT, as shells have it).
    Interrupted,
    /// Status of a program that was run for the user.
    Child(u8),
}

impl Exit {
    /// Returns the status by whether something failed, and whether something was not read or decided.
    pub(crate) const fn of(failed: bool, incomplete: bool) -> Self {
        match (failed, incomplete) {
            (false, false) => Self::Fine,
            (true, false) => Self::Failed,
            (false, true) => Self::Incomplete,
            (true, true) => Self::FailedAndIncomplete,
        }
    }

    /// Returns the status if something could also not be read.
    pub(crate) const fn and_incomplete(self) -> Self {
        match self {
            Self::Fine => Self::Incomplete,
            Self::Failed => Self::FailedAndIncomplete,
            Self::Usage
            | Self::NothingUsable
            | Self::Incomplete
            | Self::FailedAndIncomplete
            | Self::Interrupted
            | Self::Child(_) => self,
        }
    }

    /// Returns a program's status, or 128 and the number of the signal that ended it.
    pub(crate) fn of_child(status: std::process::ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt;
        let code = status.code().or_else(|| Some(128 + status.signal()?));
        Self::Child(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NothingUsable => 3,
            Exit::Incomplete => 4,
            Exit::FailedAndIncomplete => 5,
            Exit::Interrupted => 130,
            Exit::Child(code) => code,
        })
    }
}

/// What a command yields.
pub(crate) type Outcome = Result<Exit, Failure>;

/// A command that could not be carried out; what fails without more being said of it is [`Exit::Failed`].
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) exit: Exit,
}

impl<E: Into<Box<dyn Error>>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::failed(error.into())
    }
}

impl Failure {
    fn new(exit: Exit, message: impl ToString) -> Self {
        let message = message.to_string();
        Self { message, exit }
    }

    pub(crate) fn usage(message: impl ToString) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(crate) fn failed(message: impl ToString) -> Self {
        Self::new(Exit::Failed, message)
    }

    pub(crate) fn nothing_usable(message: impl ToString) -> Self {
        Self::new(Exit::NothingUsable, message)
    }
}
