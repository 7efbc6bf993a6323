//! The OpenPGP application that the Nitrokey 3 runs, `opcard` on trussed with its software
//! backends, as a card in this process.
//!
//! trussed's own runner for hosts polls every millisecond from a second thread. Here the service
//! runs within the system call itself, as it does in an interrupt on the device.

mod dispatch;
mod flash;
mod state;

use std::path::{Path, PathBuf};
use std::time::Duration;

use iso7816::Status;
use keymark_bench::{Clock, MonotonicClock};
pub use opcard::AllowedAlgorithms;
use rand_core_06::{OsRng, RngCore};
use trussed::ClientImplementation;
use trussed::pipe::{ServiceEndpoint, TrussedChannel};
use trussed::service::Service;
use trussed::types::CoreContext;
use trussed::virt::Store;
use trussed_core::types::consent::Level;

use crate::tokens::card::{Answer, Card, CardFault};
use crate::tokens::chaining::{Chaining, Next, Whole};
use crate::tokens::identity_tag::IdentityTag;
use dispatch::{BACKENDS, Contexts, Dispatch, Unit};
use flash::Flash;

/// Longest response of the application (opcard's DO 7F66 says 1DB9).
const MAX_RESPONSE: usize = 0x1DB9;
/// The client's name in the token's file system.
const CLIENT: &str = "opcard";
/// "Managed by the user": serial numbers of the range are random (OpenPGP card 3.4.1 §4.2.1).
pub const MANUFACTURER: [u8; 2] = [0xFF, 0x4B];
/// opcard's historical bytes (those of the Nitrokey Pro).
const HISTORICAL: [u8; 10] = [0x00, 0x31, 0xF5, 0x73, 0xC0, 0x01, 0x60, 0x00, 0x90, 0x00];

/// The token's own file system cannot be mounted.
fn not_mounted(error: littlefs2::io::Error) -> String {
    format!("cannot mount the token's file system ({error:?}); name an empty folder")
}

/// Options of a card.
#[derive(Debug, Clone)]
pub struct FirmwareOptions {
    /// Serial number of a new card; random if there is none. A state keeps the one it began with.
    pub serial: Option<[u8; 4]>,
    /// Algorithms that keys can have.
    pub algorithms: AllowedAlgorithms,
    /// Folder that keeps the state; without it the card forgets all with the process.
    pub state: Option<PathBuf>,
}

impl Default for FirmwareOptions {
    fn default() -> Self {
        Self {
            serial: None,
            algorithms: AllowedAlgorithms::all(),
            state: None,
        }
    }
}

/// The user's, which rests on the token's button.
#[derive(Default)]
struct Finger(MonotonicClock);

impl trussed::platform::UserInterface for Finger {
    fn check_user_presence(&mut self) -> Level {
        Level::Normal
    }

    /// Timeouts of user presence count this.
    fn uptime(&mut self) -> Duration {
        Duration::from_nanos(self.0.now().0)
    }
}

struct Board {
    rng: OsRng,
    store: Store<'static>,
    finger: Finger,
}

impl trussed::platform::Platform for Board {
    type R = OsRng;
    type S = Store<'static>;
    type UI = Finger;

    fn rng(&mut self) -> &mut OsRng {
        &mut self.rng
    }

    fn store(&self) -> Store<'static> {
        self.store
    }

    fn user_interface(&mut self) -> &mut Finger {
        &mut self.finger
    }
}

/// A system call is a function call: the service works within it.
struct FirmwareCall {
    service: Service<Board, Dispatch>,
    endpoints: [ServiceEndpoint<'static, Unit, Contexts>; 1],
}

impl trussed::platform::Syscall for FirmwareCall {
    fn syscall(&mut self) {
        self.service.process(&mut self.endpoints);
    }
}

type Client = ClientImplementation<'static, FirmwareCall, Dispatch>;

/// The card.
#[derive(derive_more::Debug)]
#[debug("Firmware({serial:02x?})")]
pub struct Firmware {
    card: opcard::Card<Client>,
    serial: [u8; 4],
    atr: Vec<u8>,
    chaining: Chaining,
    response: Box<heapless::Vec<u8, MAX_RESPONSE>>,
    clock: MonotonicClock,
}

impl Firmware {
    /// A card fresh from the factory, or one with its state of before.
    ///
    /// # Errors
    /// Why it cannot be made.
    pub fn new(options: FirmwareOptions) -> Result<Self, String> {
        if let Some(folder) = &options.state {
            state::make_folder(folder).map_err(state_error(folder))?;
        }
        // Mounted first: who has the flash may write the serial number.
        let client = Self::client(&options)?;
        let serial = options.serial.unwrap_or_else(|| {
            let mut serial = [0; 4];
            OsRng.fill_bytes(&mut serial);
            serial
        });
        let serial = match &options.state {
            None => serial,
            Some(folder) => state::serial(folder, serial).map_err(state_error(folder))?,
        };
        let mut card_options = opcard::Options::default();
        card_options.manufacturer = MANUFACTURER;
        card_options.serial = serial;
        card_options.allowed_generation = options.algorithms;
        card_options.allowed_imports = options.algorithms;
        Ok(Self {
            card: opcard::Card::new(client, card_options),
            serial,
            atr: atr(),
            chaining: Chaining::default(),
            response: Box::default(),
            clock: MonotonicClock::new(),
        })
    }

    fn client(options: &FirmwareOptions) -> Result<Client, String> {
        let open = |name: &str| match &options.state {
            None => Ok(Flash::ram()),
            Some(folder) => {
                let path = folder.join(name);
                Flash::file(&path).map_err(state_error(&path))
            }
        };
        let mount = |flash| flash::mount(flash).map_err(not_mounted);
        let board = Board {
            rng: OsRng,
            store: Store {
                internal: mount(open("internal.flash")?)?,
                external: mount(open("external.flash")?)?,
                volatile: mount(Flash::ram())?,
            },
            finger: Finger::default(),
        };
        let channel: &'static TrussedChannel = Box::leak(Box::new(TrussedChannel::new()));
        let (requester, responder) = channel
            .split()
            .ok_or("the firmware does not start: its channel is taken")?;
        let name = CLIENT
            .try_into()
            .map_err(|_| "the firmware does not start: its name does not fit")?;
        let endpoint = ServiceEndpoint::new(responder, CoreContext::new(name), BACKENDS);
        let call = FirmwareCall {
            service: Service::with_dispatch(board, Dispatch::default()),
            endpoints: [endpoint],
        };
        Ok(ClientImplementation::new(requester, call, None))
    }

    /// Serial number of the application.
    pub const fn serial(&self) -> [u8; 4] {
        self.serial
    }

    /// Version of the application in it.
    pub const fn version() -> &'static str {
        "opcard 1.11"
    }

    fn execute(&mut self, command: &Whole) -> Vec<u8> {
        self.response.clear();
        let reply = self.response.as_mut_view();
        let status = match self.card.handle(command.as_view(), reply) {
            Ok(()) => Status::Success,
            Err(status) => {
                self.response.clear();
                status
            }
        };
        let mut response = self.response.to_vec();
        response.extend(u16::from(status).to_be_bytes());
        response
    }
}

impl Card for Firmware {
    fn atr(&self) -> &[u8] {
        &self.atr
    }

    fn power_on(&mut self) {
        self.card.reset();
        self.chaining = Chaining::default();
    }

    fn transmit(&mut self, command: &[u8]) -> Result<Answer, CardFault> {
        if let Some(answer) = IdentityTag::Virtual.asked_by(command) {
            return Ok(answer);
        }
        let begin = self.clock.now();
        let response = match self.chaining.take(command) {
            Next::Answer(answer) => answer,
            Next::Execute(command) => {
                let response = self.execute(&command);
                self.chaining.answer(response)
            }
        };
        Ok(Answer {
            response,
            work: self.clock.now().since(begin),
        })
    }
}

fn state_error(path: &Path) -> impl FnOnce(std::io::Error) -> String {
    move |error| {
        let path = path.display();
        format!("cannot use the token's state in {path}: {error}; name another folder")
    }
}

/// T=1 only, with the application's historical bytes (ISO 7816-3 §8.2).
fn atr() -> Vec<u8> {
    let mut atr = vec![0x3B, 0x80 | HISTORICAL.len() as u8, 0x80, 0x01];
    atr.extend(HISTORICAL);
    let check = atr[1..].iter().fold(0, |check, byte| check ^ byte);
    atr.push(check);
    atr
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(card: &mut Firmware, command: &[u8]) -> Vec<u8> {
        card.transmit(command).unwrap().response
    }

    const SELECT: &[u8] = &[0, 0xA4, 4, 0, 6, 0xD2, 0x76, 0, 1, 0x24, 1, 0];

    fn verify(p2: u8, pin: &[u8]) -> Vec<u8> {
        [&[0, 0x20, 0, p2, pin.len() as u8], pin].concat()
    }

    #[test]
    fn it_is_an_openpgp_card_with_a_random_serial() {
        let mut card = Firmware::new(FirmwareOptions::default()).unwrap();
        assert_eq!(ask(&mut card, SELECT), [0x90, 0]);
        let aid = ask(&mut card, &[0, 0xCA, 0, 0x4F, 0]);
        assert_eq!(aid[..10], [0xD2, 0x76, 0, 1, 0x24, 1, 3, 4, 0xFF, 0x4B]);
        assert_eq!(aid[10..14], card.serial());
        let other = Firmware::new(FirmwareOptions::default()).unwrap();
        assert_ne!(other.serial(), card.serial());
    }

    #[test]
    fn power_takes_the_verified_pin_with_it_and_tries_count() {
        let mut card = Firmware::new(FirmwareOptions::default()).unwrap();
        ask(&mut card, SELECT);
        assert_eq!(ask(&mut card, &verify(0x82, b"123456")), [0x90, 0]);
        assert_eq!(ask(&mut card, &[0, 0x20, 0, 0x82]), [0x90, 0]);
        card.power_on();
        ask(&mut card, SELECT);
        assert_eq!(ask(&mut card, &[0, 0x20, 0, 0x82]), [0x63, 0xC3]);
        assert_eq!(ask(&mut card, &verify(0x82, b"999999")), [0x63, 0xC2]);
        assert_eq!(ask(&mut card, &[0, 0x20, 0, 0x82]), [0x63, 0xC2]);
    }

    /// An RSA key with a prime of 0: its arithmetic has no answer, and the card stays.
    #[test]
    fn an_imported_key_that_cannot_be_one_is_refused() {
        let mut card = Firmware::new(FirmwareOptions::default()).unwrap();
        ask(&mut card, SELECT);
        assert_eq!(ask(&mut card, &verify(0x83, b"12345678")), [0x90, 0]);
        let template = [
            0x4D, 0x16, 0xB8, 0, 0x7F, 0x48, 6, 0x91, 3, 0x92, 2, 0x93, 2, 0x5F, 0x48, 7,
        ];
        let key = [1, 0xDB, 0xFF, 0, 0, 0x3F, 0xFF, 7];
        let command = [&[0, 0xDB, 0x3F, 0xFF, 0x18][..], &template, &key].concat();
        assert_ne!(ask(&mut card, &command), [0x90, 0]);
        assert_eq!(ask(&mut card, &[0, 0x20, 0, 0x83]), [0x90, 0]);
    }

    /// A folder keeps the state, with the serial number, and is its owner's alone.
    #[test]
    fn a_folder_keeps_the_state() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("token");
        let options = |serial| FirmwareOptions {
            serial,
            state: Some(state.clone()),
            ..FirmwareOptions::default()
        };
        // Its flash is never freed, and stays locked: another process would not find it so.
        let unlock = || {
            for file in ["internal.flash", "external.flash"] {
                let (file, copy) = (state.join(file), state.join("copy"));
                std::fs::copy(&file, &copy).unwrap();
                std::fs::rename(copy, file).unwrap();
            }
        };
        let name = [0, 0xDA, 0, 0x5B, 3, b'k', b'e', b'y'];
        let mut card = Firmware::new(options(None)).unwrap();
        ask(&mut card, SELECT);
        assert_eq!(ask(&mut card, &verify(0x83, b"12345678")), [0x90, 0]);
        assert_eq!(ask(&mut card, &name), [0x90, 0]);
        let in_use = Firmware::new(options(None)).unwrap_err().to_string();
        assert!(in_use.contains("in use"), "{in_use}");
        for serial in [None, Some([1, 2, 3, 4])] {
            unlock();
            let mut again = Firmware::new(options(serial)).unwrap();
            assert_eq!(again.serial(), card.serial());
            ask(&mut again, SELECT);
            assert_eq!(ask(&mut again, &[0, 0xCA, 0, 0x5B, 0]), *b"key\x90\x00");
        }
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&state), 0o700);
        for entry in std::fs::read_dir(&state).unwrap() {
            assert_eq!(mode(&entry.unwrap().path()), 0o600);
        }
        unlock();
        std::fs::write(state.join("serial"), "seven").unwrap();
        let error = Firmware::new(options(None)).unwrap_err().to_string();
        assert!(error.contains("serial"), "{error}");
    }
}
