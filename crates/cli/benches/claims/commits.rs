//! A sample of the stack `git` against the same command in a repository of its own, started by a minimal C loop.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use keymark_bench::case::Case;
use keymark_bench::clock::MonotonicClock;
use keymark_stacks::git;
use keymark_stores::device::Run;
use keymark_stores::places::program;
use keymark_stores::software::SoftwareStore;

use super::c_loop::{self, Loop};
use super::figure::{Failure, Figure, Limit, in_turn};
use super::spawn::own_sample;

const PAIRS: usize = 500;

/// git without the user's configuration, in a directory.
fn git(directory: &Path, program: &Path) -> Command {
    let mut command = program::command(program);
    command
        .env("HOME", directory)
        .env("TMPDIR", directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    command
}

fn done(command: &mut Command) -> Result<(), Failure> {
    match command.status()? {
        status if status.success() => Ok(()),
        status => Err(format!("{command:?} ended with {status}").into()),
    }
}

/// A repository that signs by ssh-keygen with a key in a file.
fn repository(directory: &Path) -> Result<(), Failure> {
    let key = directory.join("key");
    let mut keygen = Command::new("ssh-keygen");
    done(
        keygen
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(&key),
    )?;
    let key = key.display().to_string();
    let calls: [&[&str]; 7] = [
        &["init", "--quiet", "--template="],
        &["config", "user.name", "keymark"],
        &["config", "user.email", "keymark@localhost"],
        &["config", "core.hooksPath", "/dev/null"],
        &["config", "gc.auto", "0"],
        &["config", "gpg.format", "ssh"],
        &["config", "user.signingkey", &key],
    ];
    for arguments in calls {
        let mut command = git(directory, Path::new("git"));
        done(command.arg("-C").arg(directory).args(arguments))?;
    }
    Ok(())
}

/// Median of the ratios, pair by pair, keymark's sample and the C loop's in turn; `case` signs in format `ssh`.
pub(crate) fn measure(case: &Case) -> Result<Figure, Failure> {
    let directory = tempfile::tempdir()?;
    let program = c_loop::compile("spawn_loop", directory.path())?;
    repository(directory.path())?;
    let mut command = git(directory.path(), &program);
    command.args(["git", "-C"]).arg(directory.path());
    command.args(["commit", "--quiet", "--allow-empty", "-mkeymark", "-S"]);
    let mut bare = Loop::start(&mut command)?;
    let look = git::FAMILY.look.ok_or("git has no provider")?;
    let open = look().open(&Run::new(0))?;
    let stack = open(case.stack, Arc::new(SoftwareStore::default()));
    let mut workload = stack.prepare(case)?;
    let clock = MonotonicClock::new();
    let [output, status] = ["c-output", "c-status"].map(|name| directory.path().join(name));
    let bare = |_| bare.ask(&format!("{} {} -S", output.display(), status.display()));
    let own = |_| own_sample(&mut workload, 0, &clock);
    let ratio = in_turn(PAIRS, own, bare)?;
    let name = format!(
        "git sample over a posix_spawn loop of git commit -S, median ratio of {PAIRS} pairs"
    );
    Ok(Figure::new(name, ratio, Limit::AtMost(1.01), ""))
}
