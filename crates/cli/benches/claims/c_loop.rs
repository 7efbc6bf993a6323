//! Minimal C loops (`c/*.c`), as processes that work when asked.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use keymark_testkit::softhsm::{LABEL, PIN};

use super::figure::Failure;

/// Working time of the PKCS#11 loop per request: a shared machine changes its speed ten times a second.
pub(crate) const HALF: Duration = Duration::from_millis(40);
/// A file in its directory.
const PIN_FILE: &str = "pin";

/// Compiles it into that directory.
pub(crate) fn compile(name: &str, directory: &Path) -> Result<PathBuf, Failure> {
    let program = directory.join(name);
    let source = format!("{}/benches/c/{name}.c", env!("CARGO_MANIFEST_DIR"));
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-Wall", "-pthread", "-o"]);
    let compiled = compiler.arg(&program).arg(source).status()?;
    if compiled.success() {
        Ok(program)
    } else {
        Err(format!("cc ended with {compiled}").into())
    }
}

/// A process that answers each line with a number.
pub(crate) struct Loop {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Loop {
    pub(crate) fn start(command: &mut Command) -> Result<Self, Failure> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn()?;
        let ask = child.stdin.take().ok_or("the loop has no input")?;
        let answers = BufReader::new(child.stdout.take().ok_or("the loop has no output")?);
        Ok(Self {
            child,
            ask,
            answers,
        })
    }

    pub(crate) fn ask(&mut self, line: &str) -> Result<f64, Failure> {
        writeln!(self.ask, "{line}")?;
        self.ask.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        let number = answer.trim().parse();
        number.map_err(|_| format!("the C loop ended: {:?}", self.child.try_wait()).into())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // It waits for the next line, so nothing is lost; and it must not stay as a zombie.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Calls {
    /// `C_SignInit` and `C_Sign`.
    Sign,
    /// `C_GetSessionInfo`, which SoftHSM2 answers in a third of a microsecond.
    Info,
}

/// The loop over PKCS#11.
pub(crate) struct Pkcs11Loop(Loop);

impl Pkcs11Loop {
    const PROGRAM: &str = "pkcs11_loop";

    /// Compiles it into that directory, and puts the PIN next to it.
    pub(crate) fn compile(directory: &Path) -> Result<(), Failure> {
        compile(Self::PROGRAM, directory)?;
        Ok(fs::write(directory.join(PIN_FILE), PIN)?)
    }

    /// Runs on the key with that label; program and PIN file are in the directory.
    pub(crate) fn start(
        directory: &Path,
        (module, environment): (&Path, Option<(&str, &Path)>),
        key: &str,
        calls: Calls,
    ) -> Result<Self, Failure> {
        let mut command = Command::new(directory.join(Self::PROGRAM));
        command.envs(environment).arg(module).arg(LABEL);
        command.arg(directory.join(PIN_FILE)).arg(key);
        command.arg(match calls {
            Calls::Sign => "sign",
            Calls::Info => "info",
        });
        Loop::start(&mut command).map(Self)
    }

    /// Signatures or calls per second.
    pub(crate) fn rate(&mut self, threads: u32) -> Result<f64, Failure> {
        self.0.ask(&format!("{threads} {}", HALF.as_millis()))
    }
}
