//! Serves a reader's card at a Unix socket, for keymark's PC/SC library.

use std::collections::BTreeMap;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use keymark_shim_protocol::wire::{self, CardRequest, CardResponse};

use parking_lot::Mutex;

use crate::tokens::card::{Answer, CardFault};
use crate::tokens::reader::{CardReader, ReaderConnection};

/// The connections there are, by number; `None` once the service ends.
type Clients = Mutex<Option<BTreeMap<u64, UnixStream>>>;

/// A served card; dropping it ends the service and removes the socket.
#[derive(Debug)]
pub struct CardServer {
    socket: PathBuf,
    clients: Arc<Clients>,
    accepting: Option<JoinHandle<()>>,
}

impl CardServer {
    /// Serves the card that is, or will be, in the reader.
    pub fn start(reader: CardReader, socket: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let clients: Arc<Clients> = Arc::new(Mutex::new(Some(BTreeMap::new())));
        let known = Arc::clone(&clients);
        let accepting = std::thread::Builder::new()
            .name("card server".to_owned())
            .spawn(move || accept(&listener, &reader, &known))?;
        Ok(Self {
            socket: socket.into(),
            clients,
            accepting: Some(accepting),
        })
    }

    /// Returns the path at which it is served.
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

fn accept(listener: &UnixListener, reader: &CardReader, clients: &Arc<Clients>) {
    for (number, stream) in (0..).zip(listener.incoming()) {
        let Ok((clone, stream)) = stream.and_then(|stream| Ok((stream.try_clone()?, stream)))
        else {
            continue;
        };
        let mut known = clients.lock();
        // The end of the service is told by a last connection.
        let Some(known) = known.as_mut() else { return };
        known.insert(number, clone);
        let (connection, clients) = (reader.connect(), Arc::clone(clients));
        std::thread::spawn(move || {
            serve(stream, connection);
            let mut known = clients.lock();
            known.as_mut().and_then(|known| known.remove(&number));
        });
    }
}

fn serve(mut stream: UnixStream, mut connection: ReaderConnection) {
    while let Ok(Some(request)) = wire::read(&mut stream) {
        let answered = match request {
            CardRequest::Transmit(command) => connection.transmit(&command),
            CardRequest::PowerOn => connection.power_on().map(Answer::immediate),
            CardRequest::Status => connection.atr().map(Answer::immediate),
        };
        let response = match answered {
            Ok(Answer { response, work }) => CardResponse::Done {
                work,
                bytes: response,
            },
            Err(CardFault::Removed) => CardResponse::Removed,
            Err(CardFault::Reset) => CardResponse::Reset,
            Err(CardFault::TooSlow { .. }) => CardResponse::Mute,
        };
        if wire::write(&mut stream, &response).is_err() {
            return;
        }
    }
}

impl Drop for CardServer {
    fn drop(&mut self) {
        let clients = self.clients.lock().take();
        for client in clients.into_iter().flat_map(BTreeMap::into_values) {
            let _ = client.shutdown(Shutdown::Both);
        }
        // Nobody can be told any more if the socket was removed meanwhile.
        if UnixStream::connect(&self.socket).is_ok()
            && let Some(accepting) = self.accepting.take()
        {
            let _ = accepting.join();
        }
        let _ = std::fs::remove_file(&self.socket);
    }
}

#[cfg(all(test, feature = "cards"))]
mod tests {
    use super::*;
    use crate::tokens::firmware::{Firmware, FirmwareOptions};

    fn ask(stream: &mut UnixStream, request: &CardRequest) -> io::Result<CardResponse> {
        wire::write(stream, request)?;
        wire::read(stream)?.ok_or(io::ErrorKind::UnexpectedEof.into())
    }

    #[test]
    fn clients_reach_the_card_and_are_told_of_each_others_resets() {
        let folder = tempfile::tempdir().unwrap();
        let reader = CardReader::new(Box::new(Firmware::new(FirmwareOptions::default()).unwrap()));
        let server = CardServer::start(reader.clone(), &folder.path().join("card")).unwrap();
        let mut one = UnixStream::connect(server.socket()).unwrap();
        let mut other = UnixStream::connect(server.socket()).unwrap();
        let select = CardRequest::Transmit(vec![0, 0xA4, 4, 0, 6, 0xD2, 0x76, 0, 1, 0x24, 1, 0]);
        for client in [&mut one, &mut other] {
            let CardResponse::Done { bytes, work } = ask(client, &select).unwrap() else {
                panic!("no response");
            };
            assert_eq!(bytes, [0x90, 0]);
            assert!(!work.is_zero());
        }
        ask(&mut one, &CardRequest::PowerOn).unwrap();
        assert_eq!(ask(&mut other, &select).unwrap(), CardResponse::Reset);
        reader.remove();
        assert_eq!(
            ask(&mut other, &CardRequest::Status).unwrap(),
            CardResponse::Removed
        );
        let socket = server.socket().to_owned();
        drop(server);
        assert!(ask(&mut one, &select).is_err());
        assert!(!socket.exists());
    }
}
