//! The card in vpcd's virtual reader, for every program that uses pcscd. The protocol is that of
//! vsmartcard (virtualsmartcard/src/vpcd/vpcd.h): a length of two octets, big-endian, and as many
//! octets; a single octet is a control command, everything else an APDU.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use socket2::SockRef;

use crate::tokens::card::CardFault;
use crate::tokens::reader::ReaderConnection;

/// Port at which vpcd listens unless it is told otherwise (`/etc/reader.conf.d/vpcd`).
pub const PORT: u16 = 0x8C7B;

const POWER_OFF: u8 = 0;
const POWER_ON: u8 = 1;
const RESET: u8 = 2;
const ATR: u8 = 4;

/// Why the card is no longer served.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct VpcdError(String);

impl From<io::Error> for VpcdError {
    fn from(error: io::Error) -> Self {
        Self(format!(
            "the connection to vpcd broke: {error}; is pcscd still running?"
        ))
    }
}

/// A card in vpcd's reader.
#[derive(Debug)]
pub struct Vpcd {
    address: String,
    stream: TcpStream,
    connection: ReaderConnection,
    stopped: Arc<AtomicBool>,
}

/// Ends the service from elsewhere.
#[derive(Debug)]
pub struct Stopper {
    stream: TcpStream,
    stopped: Arc<AtomicBool>,
}

impl Stopper {
    /// Pulls the card out.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        // pcscd may have ended before.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Vpcd {
    /// Inserts the card.
    pub fn connect(address: &str, connection: ReaderConnection) -> Result<Self, VpcdError> {
        let refused = |error: io::Error| {
            VpcdError(format!(
                "no vpcd at {address}: {error}; install it with 'apt-get install pcscd vsmartcard-vpcd'; if both are \
                 installed, start pcscd: it listens there"
            ))
        };
        let mut addresses = address.to_socket_addrs().map_err(refused)?;
        let first = addresses
            .next()
            .ok_or_else(|| refused(io::ErrorKind::AddrNotAvailable.into()))?;
        let stream = TcpStream::connect(first).map_err(refused)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            address: address.to_owned(),
            stream,
            connection,
            stopped: Arc::default(),
        })
    }

    /// A handle that ends [`Self::serve`] from elsewhere.
    pub fn stopper(&self) -> io::Result<Stopper> {
        Ok(Stopper {
            stream: self.stream.try_clone()?,
            stopped: Arc::clone(&self.stopped),
        })
    }

    /// Waits until vpcd asks the card something, as it does all the time of one that is in its reader.
    pub fn wait_until_asked(&self, within: Duration) -> Result<(), VpcdError> {
        self.stream.set_read_timeout(Some(within))?;
        let seen = self.stream.peek(&mut [0]);
        self.stream.set_read_timeout(None)?;
        match seen {
            Ok(0) => self.ended(),
            Ok(_) => Ok(()),
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
                Err(VpcdError(format!(
                    "the reader at {} is occupied: the card received no command within {within:?}; end the other \
                     'keymark twin serve', or name another reader with --address",
                    self.address
                )))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Serves until it is stopped or the card is pulled out, which vpcd is told by the end of the
    /// connection.
    pub fn serve(&mut self) -> Result<(), VpcdError> {
        match self.answer_all() {
            // Stopped in the middle of a message.
            Err(_) if self.stopped.load(Ordering::Relaxed) => Ok(()),
            ended => ended,
        }
    }

    fn answer_all(&mut self) -> Result<(), VpcdError> {
        while let Some(message) = receive(&mut Prompt(&self.stream))? {
            let answer = match message.as_slice() {
                [POWER_OFF] => continue,
                [POWER_ON | RESET] => match self.connection.power_on() {
                    Ok(_) => continue,
                    Err(fault) => Err(fault),
                },
                [ATR] => self.connection.atr(),
                command => self.transmit(command),
            };
            match answer {
                Ok(answer) => send(&mut self.stream, &answer)?,
                Err(fault) => return self.without_card(fault),
            }
        }
        self.ended()
    }

    /// The end of the connection, which is an error unless it was wanted.
    fn ended(&self) -> Result<(), VpcdError> {
        if self.stopped.load(Ordering::Relaxed) {
            Ok(())
        } else {
            let reason =
                "pcscd has ended, so the card is in no reader; start pcscd, then serve it again";
            Err(VpcdError(reason.to_owned()))
        }
    }

    fn without_card(&self, fault: CardFault) -> Result<(), VpcdError> {
        // Clones of the stream keep it open otherwise; it may be closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
        match fault {
            CardFault::Removed => Ok(()),
            CardFault::Reset | CardFault::TooSlow { .. } => {
                Err(VpcdError(format!("the card stopped answering: {fault}")))
            }
        }
    }

    fn transmit(&mut self, command: &[u8]) -> Result<Vec<u8>, CardFault> {
        loop {
            match self.connection.transmit(command) {
                // pcscd has no way to be told: the application will miss its PIN.
                Err(CardFault::Reset) => {}
                answered => return answered.map(|answer| answer.response),
            }
        }
    }
}

/// Acknowledges at once what it reads. vpcd sends a length and then the message, the second only when
/// the first is acknowledged (Nagle's algorithm), for which the kernel would take 40 ms.
struct Prompt<'a>(&'a TcpStream);

impl Read for Prompt<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Not permanent: tcp(7).
        SockRef::from(self.0).set_tcp_quickack(true)?;
        self.0.read(buffer)
    }
}

fn receive(stream: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 2];
    match stream.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
        read => read?,
    }
    let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut message)?;
    Ok(Some(message))
}

fn send(stream: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let length = u16::try_from(message.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    stream.write_all(&[&length.to_be_bytes(), message].concat())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::tokens::firmware::{Firmware, FirmwareOptions};
    use crate::tokens::reader::CardReader;

    fn reader() -> CardReader {
        CardReader::new(Box::new(Firmware::new(FirmwareOptions::default()).unwrap()))
    }

    fn listening() -> (TcpListener, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        (listener, address)
    }

    #[test]
    fn it_answers_as_vpcd_asks() {
        let ((listener, address), reader) = (listening(), reader());
        let mut vpcd = Vpcd::connect(&address, reader.connect()).unwrap();
        let serving = std::thread::spawn(move || vpcd.serve());
        let (mut pcscd, _) = listener.accept().unwrap();
        send(&mut pcscd, &[POWER_ON]).unwrap();
        send(&mut pcscd, &[ATR]).unwrap();
        let atr = receive(&mut pcscd).unwrap().unwrap();
        assert_eq!(atr, reader.connect().atr().unwrap());
        let select = [0, 0xA4, 4, 0, 6, 0xD2, 0x76, 0, 1, 0x24, 1, 0];
        send(&mut pcscd, &select).unwrap();
        assert_eq!(receive(&mut pcscd).unwrap().unwrap(), [0x90, 0]);
        reader.remove();
        send(&mut pcscd, &[ATR]).unwrap();
        assert_eq!(receive(&mut pcscd).unwrap(), None);
        serving.join().unwrap().unwrap();
    }

    #[test]
    fn the_stopper_ends_the_service() {
        let (_listener, address) = listening();
        let mut vpcd = Vpcd::connect(&address, reader().connect()).unwrap();
        let stopper = vpcd.stopper().unwrap();
        let serving = std::thread::spawn(move || vpcd.serve());
        stopper.stop();
        serving.join().unwrap().unwrap();
    }

    #[test]
    fn the_end_of_pcscd_and_a_reader_that_is_taken_are_errors() {
        let ((listener, address), reader) = (listening(), reader());
        let mut first = Vpcd::connect(&address, reader.connect()).unwrap();
        let second = Vpcd::connect(&address, reader.connect()).unwrap();
        let (mut pcscd, _) = listener.accept().unwrap();
        send(&mut pcscd, &[ATR]).unwrap();
        first.wait_until_asked(Duration::from_secs(60)).unwrap();
        let taken = second.wait_until_asked(Duration::from_millis(1));
        let taken = taken.unwrap_err().to_string();
        assert!(
            taken.contains("occupied") && taken.contains("--address"),
            "{taken}"
        );
        drop(pcscd);
        let ended = first.serve().unwrap_err().to_string();
        assert!(
            ended.starts_with("pcscd has ended") || ended.contains("broke"),
            "{ended}"
        );
    }

    #[test]
    fn a_missing_vpcd_names_the_package() {
        let (_, free) = listening();
        let error = Vpcd::connect(&free, reader().connect()).unwrap_err();
        assert!(error.to_string().contains("vsmartcard-vpcd"), "{error}");
    }
}
