//! A sample of the stacks `gpg` and `sop` against the same command started by a minimal C loop.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use keymark_bench::case::Case;
use keymark_bench::clock::{Clock, MonotonicClock};
use keymark_bench::workload::{Stack, Verifiable, Workload};
use keymark_stacks::gnupg::homes::GnupgHomes;
use keymark_stacks::gnupg::process::GnupgStack;
use keymark_stacks::gnupg::{Gnupg, Protection};
use keymark_stacks::sop::{FAMILY, SopProgram};
use keymark_stores::device::Run;
use keymark_stores::places::program;
use keymark_stores::software::SoftwareStore;
use keymark_stores::store::KeyStore;

use super::c_loop::{self, Loop};
use super::figure::{Failure, Figure, Limit, in_turn};

const PAIRS: usize = 1500;

fn bare_loop(program: &Path, gpg: &Command) -> Result<Loop, Failure> {
    let mut command = Command::new(program);
    command.arg(gpg.get_program()).args(gpg.get_args());
    // The very environment that keymark gives gpg.
    let environment = gpg.get_envs();
    let environment = environment.filter_map(|(name, value)| Some((name, value?)));
    command.args(["--decrypt", "input"]);
    Loop::start(command.env_clear().envs(environment))
}

/// Median of the ratios, pair by pair, keymark's sample and the C loop's in turn; `case` decrypts.
pub(crate) fn measure(case: &Case) -> Result<Figure, Failure> {
    let directory = tempfile::tempdir()?;
    let program = c_loop::compile("spawn_loop", directory.path())?;
    let homes = Arc::new(GnupgHomes::new(Gnupg::find(None)?)?);
    let keys = Arc::new(SoftwareStore::default());
    let store = Arc::clone(&keys) as Arc<dyn KeyStore>;
    let stack = GnupgStack::new(Arc::clone(&homes), store);
    let mut workload = stack.prepare(case)?;
    let home = homes.file_home(keys.as_ref(), case.algorithm, Protection::None)?;
    let bare = bare_loop(&program, &home.home.gpg())?;
    compared(&mut workload, bare, directory.path(), ("gnupg", 1.01))
}

/// Returns the ratio for signatures by rsop, with the key that the home of GnuPG has.
pub(crate) fn sop(case: &Case) -> Result<Figure, Failure> {
    let directory = tempfile::tempdir()?;
    let spawn_loop = c_loop::compile("spawn_loop", directory.path())?;
    let keys = Arc::new(SoftwareStore::default());
    let store = Arc::clone(&keys) as Arc<dyn KeyStore>;
    let look = FAMILY.look.ok_or("the stack has no programs")?;
    let open = look().open(&Run::new(1))?;
    let stack = open(case.stack, store);
    let mut workload = stack.prepare(case)?;
    let homes = GnupgHomes::new(Gnupg::find(None)?)?;
    let home = homes.file_home(keys.as_ref(), case.algorithm, Protection::None)?;
    let exported = home
        .home
        .run("gpg --export-secret-keys", &["--export-secret-keys"])?;
    let key = directory.path().join("key");
    fs::write(&key, exported.0)?;
    // The very environment that keymark gives programs.
    let mut command = program::command(&spawn_loop);
    command.arg(SopProgram::Rsop.locate()?);
    let bare = Loop::start(command.args(["sign", "--no-armor"]).arg(key))?;
    compared(&mut workload, bare, directory.path(), ("sop rsop", 1.02))
}

/// Returns the median of the ratios, keymark's sample and the C loop's in turn.
fn compared(
    workload: &mut Workload,
    mut bare: Loop,
    directory: &Path,
    (name, limit): (&str, f64),
) -> Result<Figure, Failure> {
    let clock = MonotonicClock::new();
    let inputs = Arc::clone(&workload.inputs);
    let [output, status] = ["c-output", "c-status"].map(|name| directory.join(name));
    // Nanoseconds of one operation.
    let bare = |pair: usize| {
        let input = String::from_utf8(inputs[pair % inputs.len()].bytes.clone())?;
        bare.ask(&format!(
            "{} {} {input}",
            output.display(),
            status.display()
        ))
    };
    let own = |pair: usize| own_sample(workload, pair % inputs.len(), &clock);
    let ratio = in_turn(PAIRS, own, bare)?;
    let name = format!("{name} sample over a posix_spawn loop, median ratio of {PAIRS} pairs");
    Ok(Figure::new(name, ratio, Limit::AtMost(limit), ""))
}

/// Nanoseconds of one sample, taken as the runner takes it.
pub(super) fn own_sample(
    workload: &mut Workload,
    index: usize,
    clock: &dyn Clock,
) -> Result<f64, Failure> {
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
