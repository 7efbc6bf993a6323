//! After a load: until nothing of it is left in the server.

use std::fs;
use std::time::Duration;

use keymark_bench::clock::{Clock, MonotonicClock};
use keymark_bench::error::Error;

use crate::servers::server::RunningServer;

const STEP: Duration = Duration::from_millis(5);
/// States of a connection that the server has still to see to (`include/net/tcp_states.h`): open, on its way, and left
/// by the client.
const OPEN: [&str; 3] = ["01", "03", "08"];

impl RunningServer {
    /// Waits until no connection is open any more, those that clients have left included, and a new one is answered. A
    /// server whose key is slow works on handshakes that nobody waits for; the next load would wait behind them. Says
    /// how long it took.
    ///
    /// # Errors
    /// When connections are left after that time, or the server has ended or does not answer.
    pub fn drain(&mut self, limit: Duration) -> Result<Duration, Error> {
        let clock = MonotonicClock::new();
        let begin = clock.now();
        let deadline = begin.after(limit);
        let call = format!("draining {}", self.installed().software);
        loop {
            self.check()?;
            let open = connections(self.address().port());
            if open == 0 {
                break;
            }
            if clock.now() >= deadline {
                let reason = format!(
                    "{open} connections are still open after {} s",
                    limit.as_secs_f64()
                );
                return Err(Error::call(
                    call,
                    reason,
                    "give it more time, or use a new server",
                ));
            }
            std::thread::sleep(STEP);
        }
        self.answers()
            .map_err(|why| Error::call(call, why, "its log says more"))?;
        Ok(clock.now().since(begin))
    }
}

/// The server's ends of connections at that port of 127.0.0.1 (proc_net(5)), accepted or not.
fn connections(port: u16) -> usize {
    let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let local = format!("0100007F:{port:04X}");
    let is_open = |line: &&str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let at = |field: usize| fields.get(field).copied().unwrap_or_default();
        at(1) == local && OPEN.contains(&at(3))
    };
    table.lines().filter(is_open).count()
}
