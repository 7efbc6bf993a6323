//! The processes of one server, from their start to their end: all that are in the group of a watchdog, as nginx's workers have
//! another command line and outlive their master.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use keymark_bench::{During as _, Error};
use keymark_stores::places::process::Process;
use keymark_stores::places::watchdog::Watchdog;
use nix::sys::signal::Signal;
use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::FDTarget;

/// Time for processes to end by themselves.
const GRACE: Duration = Duration::from_secs(3);

/// A master and its workers. They end with the value.
#[derive(Debug)]
pub(crate) struct ServerProcesses {
    child: Child,
    /// The master; none when it had ended before it was looked at.
    master: Option<Process>,
    /// Has them all in its group, and ends what is left, also when keymark is killed.
    watchdog: Watchdog,
}

impl ServerProcesses {
    /// Starts the command; what it says goes to `log`.
    pub(crate) fn start(
        command: &mut Command,
        directory: &Path,
        log: &Path,
    ) -> Result<Self, Error> {
        let said = |path: &Path| {
            File::options()
                .append(true)
                .create(true)
                .open(path)
                .during(format_args!("opening {}", path.display()))
        };
        let call = command.get_program().to_string_lossy().into_owned();
        let watchdog = Watchdog::start(directory)?;
        command.stdout(said(log)?).stderr(said(log)?);
        let child = watchdog.spawn(command).during(call)?;
        Ok(Self {
            master: Process::of(child.id()),
            child,
            watchdog,
        })
    }

    /// The processes that live now, the master first.
    pub(crate) fn look(&self) -> Vec<Process> {
        let mut all = self.watchdog.watched();
        all.sort_by_key(|process| Some(*process) != self.master);
        all
    }

    /// Status of a master that has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Its number.
    pub(crate) fn number(&self) -> u32 {
        self.child.id()
    }

    /// Processor time of all processes, including finished children that were waited for.
    pub(crate) fn processor_time(&self) -> Duration {
        // One that has ended meanwhile is in its parent's account.
        self.look().into_iter().filter_map(Process::spent).sum()
    }

    /// Ends them: by a word to the master first.
    pub(crate) fn stop(&mut self) {
        if let Some(master) = self.master {
            master.signal(Signal::SIGTERM);
        }
        self.watchdog.await_end(GRACE);
        for process in self.look() {
            process.signal(Signal::SIGKILL);
        }
        self.watchdog.await_end(GRACE);
        self.watchdog.end();
        // A zombie until then; it may have been waited for before.
        let _ = self.child.wait();
    }
}

impl Drop for ServerProcesses {
    fn drop(&mut self) {
        self.stop();
    }
}

fn at(port: u16) -> impl Iterator<Item = TcpNetEntry> {
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let all = procfs::net::tcp().unwrap_or_default().into_iter();
    all.filter(move |entry| entry.local_address == local)
}

/// The server's ends of connections at that port of 127.0.0.1, accepted or not, that it has still to see to: open, on their
/// way, and left by the client.
pub(crate) fn connections(port: u16) -> usize {
    use TcpState::{CloseWait, Established, SynRecv};
    let open = at(port).filter(|entry| matches!(entry.state, Established | SynRecv | CloseWait));
    open.count()
}

/// Returns whether the process itself listens at that port of 127.0.0.1.
pub(crate) fn listens(number: u32, port: u16) -> bool {
    let sockets = at(port).filter(|entry| entry.state == TcpState::Listen);
    let sockets: Vec<u64> = sockets.map(|entry| entry.inode).collect();
    let process = procfs::process::Process::new(number.cast_signed());
    let files = process.and_then(|process| process.fd());
    let mut files = files.into_iter().flatten().flatten();
    files.any(|file| matches!(file.target, FDTarget::Socket(inode) if sockets.contains(&inode)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Stdio;

    use keymark_stores::places::process::TICK;
    use keymark_testkit::waiting::until;

    use super::*;

    fn says(place: &Path, word: &str) {
        let log = place.join("log");
        until(word, || crate::tls::servers::log::read(&log).contains(word));
    }

    fn shell(script: &str, directory: &Path) -> ServerProcesses {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::null());
        ServerProcesses::start(&mut command, directory, &directory.join("log")).unwrap()
    }

    #[test]
    fn children_that_have_ended_are_in_the_account() {
        let directory = tempfile::tempdir().unwrap();
        // A child that works for some tenths of a second, and a shell that waits for it.
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let running = shell(
            &format!("sh -c '{busy}'; echo done; sleep 600"),
            directory.path(),
        );
        says(directory.path(), "done");
        let time = running.processor_time();
        assert!(time >= TICK, "{time:?}");
    }

    #[test]
    fn a_worker_whose_master_died_before_it_was_seen_ends_as_well() {
        let directory = tempfile::tempdir().unwrap();
        let script = "sleep 0.3; sleep 600 & echo $! > worker; kill -9 $$";
        let script = format!("cd {}; {script}", directory.path().display());
        let mut running = shell(&script, directory.path());
        until("the master has ended", || running.ended().is_some());
        let number = fs::read_to_string(directory.path().join("worker")).unwrap();
        let worker = Process::of(number.trim().parse().unwrap()).unwrap();
        drop(running);
        assert!(!worker.lives());
    }

    #[test]
    fn who_listens_is_known_among_thousands_of_connections() {
        use std::net::{TcpListener, TcpStream};
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections: Vec<_> = (0..300)
            .map(|_| (TcpStream::connect(address).unwrap(), listener.accept()))
            .collect();
        let own = std::process::id();
        assert!(listens(own, address.port()));
        let other = connections[0].0.local_addr().unwrap();
        assert!(
            !listens(own, other.port()),
            "it is connected, and does not listen"
        );
        assert!(!listens(1, address.port()), "it is another's");
    }

    #[test]
    fn workers_that_ignore_the_word_end_all_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let script = "trap '' TERM; sleep 600 & echo ready; while :; do sleep 1; done";
        let running = shell(script, directory.path());
        says(directory.path(), "ready");
        let processes = running.look();
        assert!(processes.len() >= 2, "{processes:?}");
        drop(running);
        assert!(processes.iter().all(|process| !process.lives()));
    }
}
