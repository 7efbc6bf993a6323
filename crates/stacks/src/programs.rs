//! Common parts of families of programs: private files and sockets, processes, values shared during a run, and refused
//! PINs.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::hash::Hash;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Weak};
use std::time::Duration;

use keymark_bench::workload::{Performed, copy_answer};
use keymark_bench::{Clock as _, CpuTime, During as _, Error, MonotonicClock, Timestamp};
use keymark_stores::places::process::Process;
use keymark_stores::places::watchdog::Watchdog;
use nix::sys::signal::Signal;
use parking_lot::Mutex;
use wait4::Wait4;

use crate::private_dir::SOCKET_PATH;
use crate::program;

/// Writes a file that only this user can read.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> Result<(), Error> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let written = options
        .open(path)
        .and_then(|mut file| file.write_all(content));
    written.map_err(|error| {
        let call = format!("writing {}", path.display());
        Error::call(call, error, "is the disk full?")
    })
}

/// Checks the length of a socket's path: the system cuts longer ones short.
pub(crate) fn check_socket(path: &Path) -> Result<(), Error> {
    let length = path.as_os_str().len();
    if length <= SOCKET_PATH {
        return Ok(());
    }
    Err(Error::call(
        format!("making a socket {}", path.display()),
        format!("its path would have {length} bytes; the system allows {SOCKET_PATH}"),
        "set TMPDIR to a shorter directory",
    ))
}

/// Process of one operation, started and waited for within the timed region.
pub(crate) struct OperationProcess {
    /// Call as users know it.
    pub(crate) call: &'static str,
    /// The file that has its result.
    pub(crate) output: PathBuf,
    /// File of its complaints.
    said: PathBuf,
    command: Option<Command>,
    /// Ends it with keymark.
    watchdog: Option<Watchdog>,
    /// Its number, and until when it may run.
    under_way: Arc<Mutex<Option<(u32, Timestamp)>>>,
    clock: Arc<MonotonicClock>,
    limit: Duration,
}

impl OperationProcess {
    pub(crate) fn new(call: &'static str, output: PathBuf) -> Self {
        Self {
            call,
            said: output.with_extension("said"),
            output,
            command: None,
            watchdog: None,
            under_way: Arc::default(),
            clock: Arc::new(MonotonicClock::new()),
            limit: PATIENCE,
        }
    }

    /// Makes the next process ready.
    pub(crate) fn arm(&mut self, mut command: Command) -> Result<(), Error> {
        command.stderr(create(&self.said)?);
        self.command = Some(command);
        if self.watchdog.is_none() {
            self.watchdog = Some(Watchdog::named(&self.said).during(self.call)?);
            let (under_way, clock) = (Arc::downgrade(&self.under_way), Arc::clone(&self.clock));
            std::thread::Builder::new()
                .spawn(move || end_what_is_late(&under_way, &clock))
                .during(self.call)?;
        }
        Ok(())
    }

    /// Runs it to its end, with that on its standard input. Its result is in a file.
    pub(crate) fn run(
        &mut self,
        input: Option<&[u8]>,
        failed: impl FnOnce(ExitStatus, &str) -> Error,
    ) -> Result<Performed, Error> {
        // The command stays where it is: what it holds is freed outside the timed region.
        let (Some(command), Some(watchdog)) = (&mut self.command, &self.watchdog) else {
            return Err(Error::call(self.call, "it was not armed", ""));
        };
        // In the watchdog's group, as Ctrl-C is keymark's to handle: the operation under way is finished.
        let mut child = watchdog.spawn(command).during(self.call)?;
        *self.under_way.lock() = Some((child.id(), self.clock.now().after(self.limit)));
        if let (Some(input), Some(mut to)) = (input, child.stdin.take()) {
            // Who does not read it says why below.
            let _ = to.write_all(input);
        }
        let used = child.wait4().during("wait4")?;
        if self.under_way.lock().take().is_none() {
            let reason = format!("it had not ended after {:?}, and was ended", self.limit);
            return Err(Error::call(self.call, reason, ""));
        }
        if !used.status.success() {
            return Err(failed(used.status, &self.said()));
        }
        Ok(Performed {
            length: 0,
            cpu: Some(CpuTime::new(used.rusage.utime, used.rusage.stime)),
        })
    }

    /// Returns its standard error.
    pub(crate) fn said(&self) -> String {
        program::complaints(&self.said)
    }

    /// Copies its result, and returns how long it is.
    pub(crate) fn collect(&self, output: &mut [u8]) -> Result<usize, Error> {
        let result =
            fs::read(&self.output).during(format_args!("reading {}", self.output.display()))?;
        copy_answer(self.call, &result, output)
    }
}

/// Looks each second whether a process has outrun its time, until nobody starts one any more.
fn end_what_is_late(under_way: &Weak<Mutex<Option<(u32, Timestamp)>>>, clock: &MonotonicClock) {
    while let Some(under_way) = under_way.upgrade() {
        let is_late = |(_, until): &mut (u32, Timestamp)| clock.now() >= *until;
        // Held until it is ended: who waits for it would give its number away.
        let mut process = under_way.lock();
        let late = process.take_if(is_late).map(|(number, _)| number);
        for process in late.into_iter().flat_map(Process::with_descendants) {
            process.signal(Signal::SIGKILL);
        }
        drop(process);
        drop(under_way);
        std::thread::sleep(Duration::from_secs(1));
    }
}

pub(crate) fn create(path: &Path) -> Result<File, Error> {
    File::create(path).during(format_args!("creating {}", path.display()))
}

/// Opens a file to be read.
pub(crate) fn open(path: &Path) -> Result<File, Error> {
    File::open(path).during(format_args!("opening {}", path.display()))
}

/// Longest wait for an agent's answer: longer than any queue in front of a slow card, or than a finger takes to its
/// button.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// Connects to the agent that has this name in messages, whose answers are waited for so long.
pub(crate) fn connect(agent: &str, socket: &Path, patience: Duration) -> Result<UnixStream, Error> {
    let limited = |stream: UnixStream| limit(&stream, patience).map(|()| stream);
    let connected = UnixStream::connect(socket).and_then(limited);
    connected.map_err(|error| {
        let call = format!("connect {}", socket.display());
        Error::call(call, error, format!("is {agent} still running?"))
    })
}

pub(crate) fn limit(stream: &UnixStream, patience: Duration) -> io::Result<()> {
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))
}

/// Why a call to an agent came to nothing.
pub(crate) fn broken(agent: &str, call: &str, error: &io::Error) -> Error {
    let reason = if error.kind() == io::ErrorKind::WouldBlock {
        format!("{agent} does not answer")
    } else {
        format!("the connection to {agent} broke: {error}")
    };
    Error::call(call, reason, "did the agent end?")
}

/// Longest time until a program has started.
pub(crate) const START: Duration = Duration::from_secs(10);
/// Homes, agents or keys by their names: each is made when it is first asked for, and shared for as long as the run.
#[derive(Debug)]
pub(crate) struct SharedByName<K, V>(Mutex<HashMap<K, Arc<V>>>);

impl<K, V> Default for SharedByName<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V> SharedByName<K, V> {
    /// The one of that name.
    pub(crate) fn get(
        &self,
        name: K,
        make: impl FnOnce() -> Result<V, Error>,
    ) -> Result<Arc<V>, Error> {
        let mut made = self.0.lock();
        if let Some(there) = made.get(&name) {
            return Ok(Arc::clone(there));
        }
        let value = Arc::new(make()?);
        made.insert(name, Arc::clone(&value));
        Ok(value)
    }
}

/// Tokens, by their URIs, that have refused their PIN, or may have: no program of the run sends it a second time.
#[derive(Debug, Clone, Default)]
pub(crate) struct RefusedPins(Arc<Mutex<HashMap<String, Error>>>);

impl RefusedPins {
    /// Checks that the token's PIN may be sent.
    pub(crate) fn check(&self, token: &str) -> Result<(), Error> {
        match self.0.lock().get(token) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Forbids the token's PIN from now on, and says so.
    pub(crate) fn note(&self, token: &str, error: Error) {
        self.0.lock().insert(token.to_owned(), error);
    }
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;
    use keymark_testkit::waiting::until;

    use super::*;

    #[test]
    fn an_operation_that_does_not_end_is_ended_with_what_it_has_started() {
        let place = tempfile::tempdir().unwrap();
        let output = place.path().join("output");
        let mut process = OperationProcess::new("sh", output.clone());
        process.limit = Duration::from_secs(1);
        let mut command = program::command(Path::new("/bin/sh"));
        let script = format!("sleep 600 & echo $! >{}; wait", output.display());
        process
            .arm({
                command.args(["-c", &script]);
                command
            })
            .unwrap();
        let error = process.run(None, |status, _| Error::call("sh", status, ""));
        assert_says(
            &error.unwrap_err(),
            ["it had not ended after 1s, and was ended"],
        );
        let number = fs::read_to_string(&output).unwrap().trim().parse().unwrap();
        until("what it has started has ended", || {
            Process::of(number).is_none()
        });
    }
}
