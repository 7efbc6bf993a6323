//! The stack `sop`: one process for each operation, of any program with the command line of Stateless OpenPGP
//! (draft-dkg-openpgp-stateless-cli).
//!
//! Every program gets the key that GnuPG has, and messages that gpg encrypted. Composites of RFC 9980 are the exception: the
//! program makes key and messages itself, and checks its own signatures, as no other one reads them.

mod composite;
mod key;
mod provider;
mod verifier;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use keymark_bench::words::words;
use keymark_bench::{During as _, Error};

use crate::gnupg::status;
use crate::installed::{BroughtBy, Program, SearchPath};
use crate::program;
use crate::programs::open;

pub use provider::FAMILY;

words! {
    /// Program with the command line of Stateless OpenPGP.
    pub enum SopProgram("OpenPGP program") {
        /// rPGP's.
        Rsop = "rsop",
        /// Sequoia's.
        Sqop = "sqop",
        /// GopenPGP's.
        Gosop = "gosop",
        /// PGPainless's, in Java.
        Pgpainless = "pgpainless",
        /// The program that a variable names.
        Other = "other",
    }
}

/// Variable with the path of another program.
const VARIABLE: &str = "KEYMARK_SOP";

impl SopProgram {
    /// Returns the program's file and what installs it.
    const fn program(self) -> Program {
        match self {
            Self::Rsop => Program {
                brought_by: BroughtBy::Other("'make sop' builds it, or 'cargo install rsop'"),
                ..Program::of_package("rsop", &["rsop"], "")
            },
            Self::Sqop => Program::of_package("sqop", &["sqop"], "sqop"),
            Self::Gosop => Program::of_package("gosop", &["gosop"], "gosop"),
            Self::Pgpainless => {
                Program::of_package("PGPainless", &["pgpainless-cli"], "pgpainless-cli")
            }
            Self::Other => Program {
                brought_by: BroughtBy::Other("set KEYMARK_SOP to its path"),
                ..Program::of_package("the program in KEYMARK_SOP", &[], "")
            },
        }
    }

    /// Returns the path of the installed program.
    ///
    /// # Errors
    /// When it is missing, with what installs it.
    pub fn locate(self) -> Result<PathBuf, Error> {
        let program = self.program();
        let named = std::env::var_os(VARIABLE).filter(|_| self == Self::Other);
        match named.map(PathBuf::from) {
            Some(named) if named.is_file() => Ok(named),
            Some(named) => Err(program.missing(format!("{} is not a file", named.display()))),
            None => program.locate(&SearchPath::usual()),
        }
    }
}

/// Profile of the composites (RFC 9980): ML-DSA-65 with Ed25519, and ML-KEM-768 with X25519.
const COMPOSITES: &str = "rfc9980";

/// Failure modes of the draft by exit status.
const FAILURES: &str = include_str!("../../../../data/sop-failures.txt");

/// Installed program.
#[derive(Debug, Clone)]
struct Sop {
    word: SopProgram,
    path: PathBuf,
    /// Name and version in its own words.
    version: (String, String),
    has_composites: bool,
}

impl Sop {
    /// Looks for a program, and asks it for its version and its profiles.
    fn find(word: SopProgram) -> Result<Self, Error> {
        let path = word.locate()?;
        let said = |options: &[&str]| word.program().said(&path, options);
        let text = said(&["version"])?;
        let line = text.lines().next().unwrap_or_default().trim();
        let version = line.rsplit_once(' ').ok_or_else(|| {
            let reason = format!("'{} version' printed '{line}'", path.display());
            word.program().missing(reason)
        })?;
        let version = (version.0.to_owned(), version.1.to_owned());
        // Programs of older drafts have no profiles, and one takes a second to say so.
        let profiles = match word {
            SopProgram::Pgpainless => String::new(),
            SopProgram::Rsop | SopProgram::Sqop | SopProgram::Gosop | SopProgram::Other => {
                said(&["list-profiles", "generate-key"])?
            }
        };
        // A profile may be listed as the alias of another name.
        let mut names = profiles.split(|letter: char| !letter.is_alphanumeric() && letter != '-');
        let has_composites = names.any(|name| name == COMPOSITES);
        Ok(Self {
            word,
            path,
            version,
            has_composites,
        })
    }

    /// Returns the program with a subcommand, in a minimal environment.
    fn command(&self, subcommand: &str) -> Command {
        let mut command = program::command(&self.path);
        command.arg(subcommand);
        command
    }

    /// Runs a subcommand with arguments on an input, and returns its output.
    fn run<A: AsRef<OsStr>>(
        &self,
        subcommand: &str,
        arguments: &[A],
        input: Option<&Path>,
    ) -> Result<Vec<u8>, Error> {
        let mut command = self.command(subcommand);
        command.args(arguments);
        if let Some(input) = input {
            command.stdin(open(input)?);
        }
        let done = program::run(&mut command, program::WORK);
        let done = done.during(format_args!("{} {subcommand}", self.word))?;
        match done.status.success() {
            true => Ok(done.stdout),
            false => Err(self.failed(
                subcommand,
                done.status,
                &String::from_utf8_lossy(&done.stderr),
            )),
        }
    }

    /// Returns why a process failed: its exit status, the draft's name of it, and the program's message.
    fn failed(&self, subcommand: &str, status: ExitStatus, said: &str) -> Error {
        let code = status.code().map(|code| code.to_string());
        let mut modes = FAILURES.lines().filter_map(|line| line.split_once(' '));
        let mode = modes.find(|(known, _)| Some(*known) == code.as_deref());
        let mode = mode.map_or_else(String::new, |(_, name)| format!(" ({name})"));
        let reason = format!("{status}{mode}: {}", status::complaint(said));
        Error::call(format!("{} {subcommand}", self.word), reason, "")
    }
}
