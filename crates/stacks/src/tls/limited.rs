//! A connection with one limit for all that is said through it: a server that drips is left as well as one that is silent.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use keymark_bench::{Clock as _, MonotonicClock, Timestamp};

/// A connection that ends at an instant, whatever comes through it until then.
#[derive(Debug)]
pub(super) struct Limited {
    stream: TcpStream,
    clock: MonotonicClock,
    deadline: Timestamp,
}

impl Limited {
    /// Connects, and has that long for everything.
    pub(super) fn connect(address: &SocketAddr, limit: Duration) -> io::Result<Self> {
        let clock = MonotonicClock::new();
        let deadline = clock.now().after(limit);
        let stream = TcpStream::connect_timeout(address, limit)?;
        Ok(Self {
            stream,
            clock,
            deadline,
        })
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.since(self.clock.now());
        (!left.is_zero()).then_some(left).ok_or_else(over)
    }
}

fn over() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "it took too long")
}

/// A socket says of its time that it would block (socket(7), SO_RCVTIMEO).
fn late(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::WouldBlock {
        over()
    } else {
        error
    }
}

impl Read for Limited {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(into).map_err(late)
    }
}

impl Write for Limited {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(from).map_err(late)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of a handshake message, which goes on for ever.
    #[test]
    fn a_server_that_drips_is_left_at_the_limit() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            while stream
                .write_all(b"\x16\x03\x03\x40\x00\x02\x00\x3f")
                .is_ok()
            {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let mut limited = Limited::connect(&address, Duration::from_millis(300)).unwrap();
        let mut octet = [0];
        let ended = (0..100_000).find_map(|_| limited.read(&mut octet).err());
        assert_eq!(ended.unwrap().kind(), io::ErrorKind::TimedOut);
        drop(limited);
        server.join().unwrap();
    }
}
