//! A served card that does what a test tells it.

use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use keymark_shim_protocol::wire::{self, CardRequest, CardResponse};

pub(crate) const ATR: [u8; 4] = [0x3B, 0x81, 0x80, 0x01];
pub(crate) const WORK: Duration = Duration::from_micros(1234);

#[derive(Default)]
pub(crate) struct State {
    pub(crate) removed: bool,
    pub(crate) mute: bool,
    pub(crate) resets: u32,
    pub(crate) clients: Vec<UnixStream>,
}

/// The server; clones are the same one.
#[derive(Clone)]
pub(crate) struct Server(Arc<Mutex<State>>);

impl Server {
    pub(crate) fn start(folder: &Path) -> Self {
        let server = Self(Arc::default());
        let listener = UnixListener::bind(folder.join("card")).unwrap();
        let accepting = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                let serving = accepting.clone();
                accepting.state().clients.push(stream.try_clone().unwrap());
                std::thread::spawn(move || serving.serve(stream));
            }
        });
        server
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Ends the connections there are, and the service to those that come.
    pub(crate) fn end(&self, folder: &Path) {
        std::fs::remove_file(folder.join("card")).unwrap();
        for client in &self.state().clients {
            client.shutdown(Shutdown::Both).unwrap();
        }
    }

    fn serve(&self, mut stream: UnixStream) {
        let mut resets = self.state().resets;
        while let Ok(Some(request)) = wire::read(&mut stream) {
            let response = self.answer(&request, &mut resets);
            if wire::write(&mut stream, &response).is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &CardRequest, resets: &mut u32) -> CardResponse {
        let mut state = self.state();
        if *request == CardRequest::PowerOn {
            state.resets += 1;
        }
        let reset = std::mem::replace(resets, state.resets) != state.resets;
        let done = |bytes| CardResponse::Done { work: WORK, bytes };
        match request {
            _ if state.removed => CardResponse::Removed,
            _ if state.mute => CardResponse::Mute,
            CardRequest::PowerOn => done(ATR.to_vec()),
            _ if reset => CardResponse::Reset,
            CardRequest::Status => done(ATR.to_vec()),
            CardRequest::Transmit(command) => done(script(command)),
        }
    }
}

/// INS 0xB0 echoes its data, anything else is unknown.
fn script(command: &[u8]) -> Vec<u8> {
    match command {
        [_, 0xB0, _, _, data @ ..] => [data, &[0x90, 0x00]].concat(),
        _ => vec![0x6D, 0x00],
    }
}
