//! The card in vpcd's virtual reader, for every program that uses pcscd. The protocol is that of
//! vsmartcard (virtualsmartcard/src/vpcd/vpcd.h): a length of two octets, big-endian, and as many
//! octets; a single octet is a control command, everything else an APDU.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};

use socket2::SockRef;

use crate::card::CardFault;
use crate::reader::Connection;

/// Where vpcd listens unless it is told otherwise (`/etc/reader.conf.d/vpcd`).
pub const PORT: u16 = 0x8C7B;

const POWER_OFF: u8 = 0;
const POWER_ON: u8 = 1;
const RESET: u8 = 2;
const ATR: u8 = 4;

/// Why the card is no longer served.
#[derive(Debug, thiserror::Error)]
pub enum VpcdError {
    /// Nobody listens.
    #[error(
        "no vpcd at {address}: {source}; apt-get install pcscd vsmartcard-vpcd brings it, and pcscd must be running"
    )]
    Connect {
        /// Where it was looked for.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The connection broke.
    #[error("the connection to vpcd broke: {0}; is pcscd still running?")]
    Broken(#[from] io::Error),
}

/// A card in vpcd's reader.
#[derive(Debug)]
pub struct Vpcd {
    stream: TcpStream,
    connection: Connection,
}

impl Vpcd {
    /// Inserts the card.
    ///
    /// # Errors
    /// When no vpcd listens at the address.
    pub fn connect(address: &str, connection: Connection) -> Result<Self, VpcdError> {
        let refused = |source| VpcdError::Connect {
            address: address.to_owned(),
            source,
        };
        let mut addresses = address.to_socket_addrs().map_err(refused)?;
        let first = addresses
            .next()
            .ok_or_else(|| refused(io::ErrorKind::AddrNotAvailable.into()))?;
        let stream = TcpStream::connect(first).map_err(refused)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, connection })
    }

    /// A handle that ends [`Self::serve`] from elsewhere, when it is shut down.
    ///
    /// # Errors
    /// When the system has no more file descriptors.
    pub fn stopper(&self) -> io::Result<TcpStream> {
        self.stream.try_clone()
    }

    /// Serves until pcscd ends, the stopper is shut down or the card is pulled out, which vpcd is
    /// told by the end of the connection.
    ///
    /// # Errors
    /// When the connection breaks.
    pub fn serve(&mut self) -> Result<(), VpcdError> {
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
                Err(_) => break,
            }
        }
        // Clones of the stream keep it open otherwise; it may be closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
        Ok(())
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

/// One message; `None` at the end of the stream.
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
    use crate::firmware::{Firmware, FirmwareOptions};
    use crate::reader::Reader;

    #[test]
    fn it_answers_as_vpcd_asks() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let reader = Reader::new(Box::new(Firmware::new(FirmwareOptions::default()).unwrap()));
        let mut vpcd = Vpcd::connect(&address, reader.connect()).unwrap();
        let serving = std::thread::spawn(move || vpcd.serve());
        let (mut pcscd, _) = listener.accept().unwrap();
        send(&mut pcscd, &[POWER_ON]).unwrap();
        send(&mut pcscd, &[ATR]).unwrap();
        let atr = receive(&mut pcscd).unwrap().unwrap();
        assert_eq!(atr, reader.connect().atr().unwrap());
        send(
            &mut pcscd,
            &[0, 0xA4, 4, 0, 6, 0xD2, 0x76, 0, 1, 0x24, 1, 0],
        )
        .unwrap();
        assert_eq!(receive(&mut pcscd).unwrap().unwrap(), [0x90, 0]);
        reader.remove();
        send(&mut pcscd, &[ATR]).unwrap();
        assert_eq!(receive(&mut pcscd).unwrap(), None);
        serving.join().unwrap().unwrap();
    }

    #[test]
    fn the_stopper_ends_the_service() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let reader = Reader::new(Box::new(Firmware::new(FirmwareOptions::default()).unwrap()));
        let mut vpcd = Vpcd::connect(&address, reader.connect()).unwrap();
        let stopper = vpcd.stopper().unwrap();
        let serving = std::thread::spawn(move || vpcd.serve());
        stopper.shutdown(Shutdown::Both).unwrap();
        serving.join().unwrap().unwrap();
    }

    #[test]
    fn a_missing_vpcd_names_the_package() {
        let free = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let reader = Reader::new(Box::new(Firmware::new(FirmwareOptions::default()).unwrap()));
        let error = Vpcd::connect(&free.to_string(), reader.connect()).unwrap_err();
        assert!(error.to_string().contains("vsmartcard-vpcd"), "{error}");
    }
}
