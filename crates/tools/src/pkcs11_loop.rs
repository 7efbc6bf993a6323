//! The minimal C loop over `C_SignInit` and `C_Sign` (`c/pkcs11_loop.c`), as a process that works when asked.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use keymark_testkit::softhsm::{LABEL, PIN};

use crate::Failure;

/// How long it works when asked: a shared machine changes its speed ten times a second.
pub(crate) const HALF: Duration = Duration::from_millis(40);
/// Files in its directory.
const PROGRAM: &str = "pkcs11_loop";
const PIN_FILE: &str = "pin";

/// Compiles it into that directory, and puts the PIN beside it.
pub(crate) fn compile(directory: &Path) -> Result<(), Failure> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/c/pkcs11_loop.c");
    let compiled = Command::new("cc")
        .args(["-O2", "-Wall", "-pthread", "-o"])
        .arg(directory.join(PROGRAM))
        .arg(source)
        .status()?;
    if compiled.success() {
        fs::write(directory.join(PIN_FILE), PIN)?;
        Ok(())
    } else {
        Err(format!("cc ended with {compiled}").into())
    }
}

/// What the C loop does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Calls {
    Sign,
    /// `C_GetSessionInfo`, which SoftHSM2 answers in a third of a microsecond.
    Info,
}

impl Calls {
    const fn word(self) -> &'static str {
        match self {
            Self::Sign => "sign",
            Self::Info => "info",
        }
    }
}

/// The C loop as a process that works when asked.
pub(crate) struct Loop {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Loop {
    /// On the key of that label, with the program and the PIN's file in that directory.
    pub(crate) fn start(
        directory: &Path,
        (module, environment): (&Path, Option<(&str, &Path)>),
        key: &str,
        calls: Calls,
    ) -> Result<Self, Failure> {
        let mut child = Command::new(directory.join(PROGRAM))
            .envs(environment)
            .arg(module)
            .arg(LABEL)
            .arg(directory.join(PIN_FILE))
            .args([key, calls.word()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let ask = child.stdin.take().ok_or("the loop has no input")?;
        let answers = BufReader::new(child.stdout.take().ok_or("the loop has no output")?);
        Ok(Self {
            child,
            ask,
            answers,
        })
    }

    /// Signatures or calls a second.
    pub(crate) fn rate(&mut self, threads: u32) -> Result<f64, Failure> {
        writeln!(self.ask, "{threads} {}", HALF.as_millis())?;
        self.ask.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        let rate = answer.trim().parse();
        rate.map_err(|_| format!("the C loop ended: {:?}", self.child.try_wait()).into())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // It waits for the next line, so nothing is lost; and it must not stay as a zombie.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
