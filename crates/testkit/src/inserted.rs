//! Cards in the reader of a private pcscd, as if they were real ones.

use std::path::Path;
use std::thread::JoinHandle;

use keymark_stores::tokens::reader::Reader;
use keymark_stores::tokens::vpcd::{Stopper, Vpcd, VpcdError};
use tempfile::TempDir;

use crate::pcscd::PrivatePcscd;
use crate::place::short_directory;

/// A card in the reader of a pcscd until it is dropped.
#[derive(Debug)]
pub struct Inserted {
    stopper: Stopper,
    serving: Option<JoinHandle<Result<(), VpcdError>>>,
}

impl Inserted {
    /// Inserts the card. pcscd notices within 0.4 s.
    pub fn new(pcscd: &PrivatePcscd, card: &Reader) -> Self {
        let mut vpcd = Vpcd::connect(&pcscd.vpcd_address(), card.connect()).unwrap();
        Self {
            stopper: vpcd.stopper().unwrap(),
            serving: Some(std::thread::spawn(move || vpcd.serve())),
        }
    }
}

impl Drop for Inserted {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(serving) = self.serving.take() {
            let _ = serving.join();
        }
    }
}

/// A pcscd with a card in its reader.
#[derive(Debug)]
pub struct CardInReader {
    /// To pull it out.
    pub card: Reader,
    /// To kill it.
    pub pcscd: PrivatePcscd,
    _inserted: Inserted,
    _directory: TempDir,
}

impl CardInReader {
    /// Starts one and inserts the card.
    pub fn new(card: Reader) -> Self {
        let directory = short_directory();
        let pcscd = PrivatePcscd::start(directory.path()).unwrap();
        Self {
            _inserted: Inserted::new(&pcscd, &card),
            card,
            pcscd,
            _directory: directory,
        }
    }

    /// What `PCSCLITE_CSOCK_NAME` has to be for its clients.
    pub fn socket(&self) -> &Path {
        self.pcscd.socket()
    }
}
