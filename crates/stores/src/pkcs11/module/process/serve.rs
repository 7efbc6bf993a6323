//! The process's end.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use crate::pkcs11::token::public_half;
use crate::places::keymark_process::accept;
use cryptoki::session::Session;
use cryptoki::slot::Slot;
use keymark_bench::store::Capability;
use keymark_bench::worker::{self, RequestSource, Workers};
use keymark_bench::{During as _, Error};
use keymark_native::cryptoki::under_way::{interrupt, tell_in};
use parking_lot::Mutex;

use super::{ModuleReply, ModuleRequest, OpenRequest, PipedPin, WorkersRequest, out_of_turn};
use crate::device::PublicPart;
use crate::journal::{Journal, Journals};
use crate::pkcs11::module::codes::failed;
use crate::pkcs11::module::{Module, ModuleFile};
use crate::pkcs11::session::{KeyOrigin, TokenKeys};
use crate::pkcs11::temporary::new_token::NewToken;
use crate::pkcs11::token::token_info::{self, ModuleInfo};
use crate::pkcs11::token::{OpenToken, keys};
use crate::software::SoftwareStore;
use crate::test_key::{SealedKey, TestKey};
use crate::user::{self, Notice, Pin, PinSource, Pins, TokenId, User};

/// Is the process, until keymark is gone.
pub fn serve() -> Result<(), Error> {
    let failed = |error: io::Error| Error::call("running a PKCS#11 module's process", error, "");
    let (socket, shared) = accept().map_err(failed)?;
    tell_in(&shared).map_err(failed)?;
    let keymark = Arc::new(KeymarkConnection(Mutex::new(socket)));
    let mut serving = Serving {
        keymark: Arc::clone(&keymark),
        keys: None,
        test_keys: Arc::default(),
        workers: HashMap::new(),
    };
    // Wherever keymark turns out to be gone, there is nobody left to tell.
    while let Ok(request) = keymark.recv() {
        let reply = if let ModuleRequest::Work(number, work) = request {
            match serving.work(number, work) {
                // Workers reply themselves.
                Ok(()) => continue,
                Err(error) => ModuleReply::Answer(Err(error)),
            }
        } else {
            serving.reply(request)
        };
        if keymark.send(&reply).is_err() {
            break;
        }
    }
    Ok(())
}

struct KeymarkConnection(Mutex<UnixStream>);

impl KeymarkConnection {
    fn recv(&self) -> Result<ModuleRequest, Error> {
        worker::read(&mut *self.0.lock())
    }

    fn send(&self, reply: &ModuleReply) -> Result<(), Error> {
        let mut socket = self.0.lock();
        worker::write(&mut *socket, reply)
    }

    /// PINs come from keymark, which has them from the user.
    fn ask_for_pin(&self, what: &str) -> Result<Pin, Error> {
        self.send(&ModuleReply::WantsPin(what.to_owned()))?;
        let ModuleRequest::Pin(pin) = self.recv()? else {
            return Err(out_of_turn());
        };
        pin.map(|PipedPin(pin)| pin)
    }
}

impl Notice for KeymarkConnection {
    fn tell(&self, text: &str) {
        // Where keymark is gone, the next word ends this process.
        let _ = self.send(&ModuleReply::Tell(text.to_owned()));
    }

    fn agrees(&self, _: &str) -> bool {
        false
    }
}

struct Serving {
    keymark: Arc<KeymarkConnection>,
    keys: Option<TokenKeys>,
    test_keys: Arc<SoftwareStore>,
    workers: HashMap<u32, Workers>,
}

impl Serving {
    fn keys(&self) -> Result<&TokenKeys, Error> {
        self.keys.as_ref().ok_or_else(out_of_turn)
    }

    fn reply(&mut self, request: ModuleRequest) -> ModuleReply {
        use ModuleReply as Reply;
        match request {
            ModuleRequest::Look(file, new) => Reply::of(look(&file, new)),
            ModuleRequest::PublicParts(file, token) => Reply::of(public_parts(&file, &token)),
            ModuleRequest::Open(request) => Reply::of(self.open(*request)),
            ModuleRequest::Keys(wanted) => Reply::of(self.keys().and_then(|keys| {
                let meant = |session: &Session| keys::meant(session, &wanted);
                let meant = keys.token.with_keeper(meant)?.into_iter();
                Ok(meant.map(|(_, info)| info).collect::<Vec<_>>())
            })),
            ModuleRequest::Key(capability, test_key) => Reply::of(self.key(capability, test_key)),
            ModuleRequest::Workers(request) => Reply::of(self.open_workers(request)),
            ModuleRequest::Program(capability, certificate) => {
                let told = self
                    .keys()
                    .and_then(|keys| keys.program_key(capability, certificate));
                Reply::of(told.map(|mut told| {
                    let pin = told.pin.take().map(PipedPin);
                    (told, pin)
                }))
            }
            ModuleRequest::Restore(Some(journal)) => Reply::of(self.undo(&journal)),
            ModuleRequest::Restore(None) => {
                self.workers.clear();
                Reply::of(self.keys().and_then(TokenKeys::restore))
            }
            ModuleRequest::Work(..) | ModuleRequest::Pin(_) => Reply::Answer(Err(out_of_turn())),
        }
    }

    /// Logs in, unless that was done, and opens the journal of a run.
    fn open(&mut self, request: OpenRequest) -> Result<(), Error> {
        let keys = match &mut self.keys {
            Some(keys) => keys,
            None => {
                let keys = log_in(&request, &self.keymark, &self.test_keys)?;
                self.keys.insert(keys)
            }
        };
        if let Some((place, run)) = request.journals {
            let journals = Journals::within(place);
            // Of a process of this run that has died.
            let of_run = |left: &Journal| {
                let content = left.content();
                content.token == keys.token.id && content.run == run
            };
            let mut left = journals.left().journals.into_iter();
            let undone = left.find(of_run).map(|left| keys.token.undo(left));
            undone.unwrap_or(Ok(()))?;
            keys.token.journal.keep_in(journals, &run);
        }
        Ok(())
    }

    fn key(
        &self,
        capability: Capability,
        test_key: Option<SealedKey>,
    ) -> Result<(String, Vec<u8>, KeyOrigin), Error> {
        if let Some(sealed) = test_key {
            let key = Arc::new(TestKey::unsealed(&sealed)?);
            self.test_keys.take_over(capability, key);
        }
        let placed = self.keys()?.key(capability)?;
        let spki = placed.public.spki_der().during("i2d_PUBKEY")?;
        Ok((placed.label, spki, placed.origin))
    }

    fn open_workers(&mut self, request: WorkersRequest) -> Result<(), Error> {
        let keys = self.keys()?;
        let handles = keys.handles(request.capability, request.scheme, request.workers)?;
        self.workers.insert(request.number, Workers::new(handles));
        Ok(())
    }

    fn undo(&self, journal: &Path) -> Result<(), Error> {
        let missing = || {
            let reason = format!("{} is gone", journal.display());
            Error::call("reading a journal", reason, "")
        };
        let place = Journals::within(journal.parent().ok_or_else(missing)?.to_owned());
        let mut left = place.left().journals.into_iter();
        let found = left.find(|left| left.path() == journal);
        let token = &self.keys()?.token;
        token.undo(found.ok_or_else(missing)?).and(token.leave())
    }

    fn work(&mut self, number: u32, request: worker::Request) -> Result<(), Error> {
        let workers = self.workers.get_mut(&number).ok_or_else(out_of_turn)?;
        let keymark = &self.keymark;
        let source = RequestSource {
            send: &|reply| keymark.send(&ModuleReply::of(Ok(reply))),
            recv: &|| {
                let ModuleRequest::Work(_, request) = keymark.recv()? else {
                    return Err(out_of_turn());
                };
                Ok(request)
            },
            interrupt: interrupt(),
        };
        workers.handle(request, &source)
    }
}

fn look(file: &ModuleFile, new: Option<NewToken>) -> Result<ModuleInfo, Error> {
    let module = Module::load(file)?;
    if let Some(token) = new {
        token.make(&module.client)?;
    }
    token_info::ask(&module)
}

fn public_parts(file: &ModuleFile, token: &TokenId) -> Result<Vec<PublicPart>, Error> {
    let client = &Module::load(file)?.client;
    let slots = client.get_slots_with_token().map_err(failed)?;
    let is_meant =
        |slot: &Slot| token_info::identified(client, *slot).is_ok_and(|(id, ..)| id == *token);
    let meant = slots.into_iter().filter(is_meant);
    let parts = meant.map(|slot| public_half::public_parts(client, slot));
    Ok(parts.collect::<Result<Vec<_>, Error>>()?.concat())
}

fn log_in(
    request: &OpenRequest,
    keymark: &Arc<KeymarkConnection>,
    test_keys: &Arc<SoftwareStore>,
) -> Result<TokenKeys, Error> {
    let _turn = turn(&request.file);
    let asked = Arc::clone(keymark);
    let asked = PinSource::Asked(Arc::new(move |what| asked.ask_for_pin(what)));
    let user = User {
        pins: Pins {
            user: asked.clone(),
            admin: asked,
        },
        consent: user::Consent {
            write: request.write.clone(),
            ..user::Consent::default()
        },
        notice: Arc::clone(keymark) as Arc<dyn Notice>,
    };
    let token = OpenToken::new(request.file.clone(), &request.info, request.owner, user)?;
    token.with_keeper(|_| Ok(()))?;
    Ok(TokenKeys {
        device: request.device.clone(),
        token: Arc::new(token),
        wanted: request.wanted.clone(),
        test_keys: Arc::clone(test_keys),
        placed: Mutex::default(),
    })
}

/// SoftHSM2 writes to its token's file at each login, and does not find a token that is being written while it is
/// initialized: of the processes of all runs one at a time gets ready.
fn turn(file: &ModuleFile) -> io::Result<File> {
    File::open(&file.path).and_then(|file| file.lock().map(|()| file))
}
