//! A sample of the stack `gnupg` against the same command started by a minimal C loop.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use keymark_bench::case::Case;
use keymark_bench::clock::{Clock, MonotonicClock};
use keymark_bench::workload::{Stack, Verifiable, Workload};
use keymark_stacks::gnupg::homes::GnupgHomes;
use keymark_stacks::gnupg::process::GnupgStack;
use keymark_stacks::gnupg::{Gnupg, Protection};
use keymark_stores::software::SoftwareStore;
use keymark_stores::store::KeyStore;

use crate::{Failure, Figure, Limit, median};

const PAIRS: usize = 1500;

/// Compiles the C loop.
fn compile(directory: &Path) -> Result<std::path::PathBuf, Failure> {
    let program = directory.join("spawn_loop");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/c/spawn_loop.c");
    let compiled = Command::new("cc")
        .args(["-O2", "-Wall", "-o"])
        .arg(&program)
        .arg(source)
        .status()?;
    if compiled.success() {
        Ok(program)
    } else {
        Err(format!("cc ended with {compiled}").into())
    }
}

/// The C loop as a process that does an operation when asked.
struct Loop {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Loop {
    fn start(program: &Path, gpg: &Command) -> Result<Self, Failure> {
        let mut command = Command::new(program);
        command
            .arg(gpg.get_program())
            .args(gpg.get_args())
            .args(["--decrypt", "input"]);
        // The very environment that keymark gives gpg.
        command.env_clear().envs(
            gpg.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        let mut child = command
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

    /// Nanoseconds of one operation.
    fn operate(&mut self, directory: &Path, input: &str) -> Result<f64, Failure> {
        let (output, status) = (directory.join("c-output"), directory.join("c-status"));
        writeln!(
            self.ask,
            "{} {} {input}",
            output.display(),
            status.display()
        )?;
        self.ask.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        answer
            .trim()
            .parse()
            .map_err(|_| format!("the C loop ended: {:?}", self.child.try_wait()).into())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // It is idle between two requests, so nothing is lost; and it must not stay as a zombie.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Median of the ratios, pair by pair, keymark's sample and the C loop's in turn; `case` decrypts.
///
/// # Errors
/// When gpg or a C compiler is missing, or an operation fails.
pub fn measure(case: &Case) -> Result<Figure, Failure> {
    let directory = tempfile::tempdir()?;
    let program = compile(directory.path())?;
    let homes = Arc::new(GnupgHomes::new(Gnupg::find(None)?)?);
    let keys = Arc::new(SoftwareStore::default());
    let store = Arc::clone(&keys) as Arc<dyn KeyStore>;
    let stack = GnupgStack::new(Arc::clone(&homes), store);
    let mut workload = stack.prepare(case)?;
    let home = homes.file_home(keys.as_ref(), case.algorithm, Protection::None)?;
    let mut bare = Loop::start(&program, &home.home.gpg())?;
    let clock = MonotonicClock::new();
    let mut ratios = Vec::with_capacity(PAIRS);
    for pair in 0..PAIRS {
        let index = pair % workload.inputs.len();
        let input = String::from_utf8(workload.inputs[index].bytes.clone())?;
        // Who goes first changes, so that neither always finds the other's caches.
        let (own, c) = if pair % 2 == 0 {
            let own = own_sample(&mut workload, index, &clock)?;
            (own, bare.operate(directory.path(), &input)?)
        } else {
            let c = bare.operate(directory.path(), &input)?;
            (own_sample(&mut workload, index, &clock)?, c)
        };
        ratios.push(own / c);
    }
    Ok(Figure {
        name: format!("gnupg sample over a posix_spawn loop, median ratio of {PAIRS} pairs"),
        value: median(ratios),
        limit: Limit::AtMost(1.01),
        unit: "",
    })
}

/// Nanoseconds of one sample, taken as the runner takes it.
fn own_sample(workload: &mut Workload, index: usize, clock: &dyn Clock) -> Result<f64, Failure> {
    let mut output = vec![0; workload.output_capacity];
    let (handle, input) = (&mut workload.crew.handles()[0], &workload.inputs[index]);
    handle.arm(input)?;
    let start = clock.now();
    let performed = handle.perform(input, &mut output);
    let end = clock.now();
    let length = handle.collect(performed?, &mut output)?;
    let result = Verifiable {
        input: index,
        output: &output[..length],
    };
    workload
        .verifier
        .verify(&[result])
        .into_iter()
        .collect::<Result<(), String>>()?;
    Ok(end.since(start).as_nanos() as f64)
}
