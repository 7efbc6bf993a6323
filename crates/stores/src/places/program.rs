//! Installed programs: where they are, how they are run, and for how long. Every command to a program of others is
//! made by [`command`], and every one that is waited for is run by [`run`].

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use keymark_bench::{Clock as _, During as _, Error, MonotonicClock};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use parking_lot::{Mutex, MutexGuard};

use super::watchdog::Watchdog;

/// Time for a question to a program: its version, a path, a list.
pub const QUESTION: Duration = Duration::from_secs(10);
/// Time for work with keys: an answer, behind a slow token or many others.
pub const WORK: Duration = Duration::from_secs(300);
/// Octets of an answer, at most.
pub const ANSWER: usize = 16 << 20;
/// Octets of complaints that are kept, the last ones.
const COMPLAINTS: usize = 1 << 20;
/// Interval at which a program is looked at.
const SOON: Duration = Duration::from_millis(1);
/// Patience with what a program has left behind.
const REST: Duration = Duration::from_secs(1);
/// Looks at a program before it is waited for more slowly.
const AT_ONCE: u64 = 200;

/// Variables that every program gets.
pub const BASE: [&str; 3] = ["PATH", "HOME", "LD_LIBRARY_PATH"];
/// Variables that set the speed of libraries and the choice of their parts.
pub const SETTINGS: [&str; 7] = [
    "GLIBC_TUNABLES",
    "LD_PRELOAD",
    "LIBGCRYPT_FORCE_FIPS_MODE",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "OPENSSL_armcap",
    "OPENSSL_ia32cap",
];

/// The whole path, in `directory` or along `PATH`: with a bare name and an environment of its own, the
/// standard library would fork and exec, which costs 6 % of a short gpg process more than `posix_spawn`.
pub fn locate(directory: Option<&Path>, program: &str) -> Option<PathBuf> {
    let directories = match directory {
        Some(directory) => directory.as_os_str().to_owned(),
        None => std::env::var_os("PATH").unwrap_or_default(),
    };
    std::env::split_paths(&directories)
        .map(|directory| directory.join(program))
        .find(|path| path.is_file())
}

/// The directory for temporary files. Programs that are started elsewhere also find it.
pub fn temporary() -> PathBuf {
    let named = std::env::temp_dir();
    std::path::absolute(&named).unwrap_or(named)
}

/// Makes a command in the language this code reads, and with no more of the user's environment than it needs: what is
/// measured does not hang on the rest, on an agent or a configuration of the user's.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C").stdin(Stdio::null());
    for name in BASE {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    if std::env::var_os("TMPDIR").is_some() {
        command.env("TMPDIR", temporary());
    }
    command
}

/// Runs a program to its end, or ends it after that time, with all that it has started.
///
/// # Errors
/// When it cannot be started, takes longer ([`io::ErrorKind::TimedOut`]) or answers with more than 16 MiB.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Output> {
    ProgramRun::start()?.run(command, limit, ANSWER)
}

/// Run of one program. It ends, with all that it has started, when its time is up, and with keymark.
#[derive(Debug)]
pub struct ProgramRun(Watchdog);

impl ProgramRun {
    /// Makes ready for a program.
    pub fn start() -> io::Result<Self> {
        Watchdog::named(Path::new("keymark")).map(Self)
    }

    /// Runs it: `most` octets of its answer at most.
    ///
    /// # Errors
    /// As [`run`].
    pub fn run(
        mut self,
        command: &mut Command,
        limit: Duration,
        most: usize,
    ) -> io::Result<Output> {
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.0.spawn(piped)?;
        let stdout = OutputEnd::of(child.stdout.take(), most)?;
        let stderr = OutputEnd::of(child.stderr.take(), COMPLAINTS)?;
        let ended = wait_for(&mut child, limit, || stdout.is_over());
        self.0.end();
        let status = child.wait()?;
        let (stdout, stderr) = (stdout.take(), stderr.end());
        if stdout.len() > most {
            let reason = format!("it printed more than {most} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
        }
        if ended?.is_none() {
            let seconds = limit.as_secs_f64();
            let reason = format!("it had not ended after {seconds} s, and was ended");
            return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
        }
        Ok(Output {
            status,
            stdout,
            stderr,
        })
    }
}

/// Waits for the end of a program; none when its time is up, or its answer has grown too long.
fn wait_for(
    child: &mut Child,
    limit: Duration,
    is_over: impl Fn() -> bool,
) -> io::Result<Option<ExitStatus>> {
    let clock = MonotonicClock::new();
    let deadline = clock.now().after(limit);
    for look in 0_u64.. {
        let ended = child.try_wait()?;
        if ended.is_some() {
            return Ok(ended);
        }
        if is_over() || clock.now() >= deadline {
            break;
        }
        if look < AT_ONCE {
            std::thread::yield_now();
        } else {
            std::thread::sleep(SOON);
        }
    }
    Ok(None)
}

/// The end of a process's output, read by a thread for as long as anybody may print.
pub(super) struct OutputEnd {
    /// Bytes that are kept.
    room: usize,
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl OutputEnd {
    pub(super) fn of(from: Option<impl Read + Send + 'static>, room: usize) -> io::Result<Self> {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&kept);
        let reader = std::thread::Builder::new().spawn(move || {
            let mut part = vec![0; 64 << 10];
            let mut from = from;
            while let Some(Ok(length @ 1..)) = from.as_mut().map(|from| from.read(&mut part)) {
                let mut kept: MutexGuard<'_, Vec<u8>> = shared.lock();
                kept.extend(&part[..length]);
                // Not at each part: that would move all of it each time. One more shows that there was more.
                if kept.len() > 2 * room {
                    let surplus = kept.len() - room - 1;
                    kept.drain(..surplus);
                }
            }
        })?;
        Ok(Self { room, kept, reader })
    }

    fn is_over(&self) -> bool {
        self.kept.lock().len() > self.room
    }

    /// Takes the last bytes that were printed.
    pub(super) fn end(&self) -> Vec<u8> {
        let mut kept = self.take();
        let surplus = kept.len().saturating_sub(self.room);
        kept.drain(..surplus);
        kept
    }

    /// Takes what was printed, or more bytes than there is room for if there were more. A process that was left
    /// behind may keep the output open.
    fn take(&self) -> Vec<u8> {
        let mut waited = Duration::ZERO;
        while !self.reader.is_finished() && waited < REST {
            std::thread::sleep(SOON);
            waited += SOON;
        }
        std::mem::take(&mut *self.kept.lock())
    }
}

/// Waits for the end of a child within that time; none where it is still there.
pub fn ended_within(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    wait_for(child, limit, || false).ok().flatten()
}

/// The end of a file in which a program complains; none where it cannot be read.
pub fn complaints(path: &Path) -> String {
    const KEPT: u64 = COMPLAINTS as u64;
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(KEPT)))?;
        let mut end = Vec::new();
        file.take(KEPT).read_to_end(&mut end)?;
        Ok(end)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// Longer than any line that a program says to tell that it has started.
const LONGEST_LINE: usize = 64;

/// Returns whether something can be read, or the end was reached, within that time.
pub(super) fn is_readable(from: &impl AsFd, limit: Duration) -> io::Result<bool> {
    let timeout = PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX);
    loop {
        match poll(&mut [PollFd::new(from.as_fd(), PollFlags::POLLIN)], timeout) {
            Err(nix::errno::Errno::EINTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

/// Reads the first line of a program, without its line feed, within that time.
pub fn first_line(mut from: impl Read + AsFd, limit: Duration) -> io::Result<String> {
    let clock = MonotonicClock::new();
    let deadline = clock.now().after(limit);
    let mut line = Vec::new();
    while line.len() < LONGEST_LINE {
        let left = deadline.since(clock.now());
        if left.is_zero() || !is_readable(&from, left)? {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut octet = [0];
        match from.read(&mut octet)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if octet == *b"\n" => return Ok(String::from_utf8_lossy(&line).into_owned()),
            _ => line.extend(octet),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidData,
        "a line is too long",
    ))
}

/// A port at which nobody listens, nor at the next one.
pub fn two_free_ports() -> Result<u16, Error> {
    let bound = |port| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port));
    for _ in 0..100 {
        let first = bound(0).and_then(|first| Ok((first.local_addr()?.port(), first)));
        let (port, _first) = first.during("looking for a free port")?;
        if port.checked_add(1).is_some_and(|next| bound(next).is_ok()) {
            return Ok(port);
        }
    }
    Err(Error::call(
        "looking for a free port",
        "no two are side by side",
        "",
    ))
}

#[cfg(test)]
mod tests {
    use keymark_testkit::waiting::until;

    use super::*;
    use crate::places::process::Process;

    fn heard(script: &str) -> io::Result<String> {
        let mut child = command(Path::new("/bin/sh"))
            .args(["-c", script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let line = first_line(child.stdout.take().unwrap(), Duration::from_millis(500));
        child.kill().unwrap();
        child.wait().unwrap();
        line
    }

    #[test]
    fn a_program_is_listened_to_until_its_line_its_end_or_the_limit() {
        assert_eq!(heard("echo 12; exec sleep 600").unwrap(), "12");
        let kind = |script| heard(script).unwrap_err().kind();
        assert_eq!(kind("printf 12"), io::ErrorKind::UnexpectedEof);
        assert_eq!(kind("exec sleep 600"), io::ErrorKind::TimedOut);
        assert_eq!(kind("yes | tr -d '\\n'"), io::ErrorKind::InvalidData);
        // Each octet within the limit, and the line not.
        let drips = "while :; do printf 1; sleep 0.05; done";
        assert_eq!(kind(drips), io::ErrorKind::TimedOut);
    }

    fn await_end(number: &str) {
        let number = number.parse().unwrap();
        until("the end", || Process::of(number).is_none());
    }

    fn ran(script: &str, limit: Duration) -> io::Result<Output> {
        run(command(Path::new("/bin/sh")).args(["-c", script]), limit)
    }

    #[test]
    fn a_program_is_run_to_its_end_with_both_its_outputs() {
        let done = ran("echo out; echo err >&2; exit 3", QUESTION).unwrap();
        assert_eq!(
            (done.stdout, done.stderr),
            (b"out\n".to_vec(), b"err\n".to_vec())
        );
        assert_eq!(done.status.code(), Some(3));
        // What it leaves behind holds its output, and ends with it.
        ran("yes >&2 & exit 0", QUESTION).unwrap();
        let done = ran("sleep 600 & echo $!", QUESTION).unwrap();
        let left = String::from_utf8(done.stdout).unwrap();
        await_end(left.trim());
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_with_what_it_has_started() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("numbers");
        let started = format!("sleep 600 & echo $! $$ >{}", file.display());
        for (hangs, wanted) in [
            ("wait", io::ErrorKind::TimedOut),
            ("kill -STOP 0", io::ErrorKind::TimedOut),
            ("exec >&- 2>&-; wait", io::ErrorKind::TimedOut),
            ("trap '' TERM; yes >&2", io::ErrorKind::TimedOut),
            ("yes", io::ErrorKind::FileTooLarge),
        ] {
            let script = format!("{started}; {hangs}");
            let kind = ran(&script, Duration::from_millis(500)).unwrap_err().kind();
            assert_eq!(kind, wanted, "{hangs}");
            let numbers = std::fs::read_to_string(&file).unwrap();
            numbers.split_whitespace().for_each(await_end);
        }
    }

    #[test]
    fn of_what_a_program_prints_the_end_is_kept() {
        let loud = format!("head -c {} /dev/zero >&2; echo end >&2", 3 * COMPLAINTS);
        let done = ran(&loud, WORK).unwrap();
        assert_eq!(done.stderr.len(), COMPLAINTS);
        assert!(done.stderr.ends_with(b"end\n"));
        let long = format!("head -c {} /dev/zero", ANSWER + 1);
        let kind = ran(&long, WORK).unwrap_err().kind();
        assert_eq!(kind, io::ErrorKind::FileTooLarge);
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("said");
        std::fs::write(&file, [vec![b' '; 2 << 20], b"end".to_vec()].concat()).unwrap();
        let said = complaints(&file);
        assert!(
            said.ends_with("end") && said.len() == 1 << 20,
            "{}",
            said.len()
        );
    }

    #[test]
    fn a_program_gets_no_more_of_the_environment_than_it_needs() {
        let done = run(&mut command(Path::new("/usr/bin/env")), QUESTION).unwrap();
        let text = String::from_utf8(done.stdout).unwrap();
        let known = |line: &str| {
            let name = line.split('=').next().unwrap_or_default();
            BASE.contains(&name) || ["LC_ALL", "TMPDIR"].contains(&name)
        };
        assert!(text.lines().all(known), "{text}");
        assert!(temporary().is_absolute());
    }
}
