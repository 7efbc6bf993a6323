//! The process's end.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use crate::places::keymark_process::accept;
use cryptoki::slot::Slot;
use keymark_bench::worker::{self, Order, Talk, Workers};
use keymark_bench::workload::Crew;
use keymark_bench::{During as _, Error};
use keymark_native::cryptoki::under_way::{interrupt, tell_in};
use parking_lot::Mutex;

use super::super::codes::failed;
use super::super::module::{Module, ModuleFile};
use super::super::store::{Placed, TokenStore};
use super::super::token::Token;
use super::super::{keys, token_info};
use super::{PipedPin, Reply, Request, RunErrand, TokenErrand, WorkersErrand, out_of_turn};
use crate::journal::{Journal, Journals};
use crate::software::SoftwareStore;
use crate::store::KeyStore;
use crate::test_key::TestKey;
use crate::user::{self, Notice, Pin, PinSource, Pins, User};

/// Is the process, until keymark is gone.
pub fn serve() -> Result<(), Error> {
    let failed = |error: io::Error| Error::call("running a PKCS#11 module's process", error, "");
    let accepted = accept().map_err(failed)?;
    tell_in(&accepted.shared).map_err(failed)?;
    let line = Arc::new(Line(Mutex::new(accepted.socket)));
    let mut serving = Serving {
        line: Arc::clone(&line),
        store: None,
        test_keys: Arc::default(),
        workers: HashMap::new(),
    };
    // Wherever keymark turns out to be gone, there is nobody left to tell.
    while let Ok(request) = line.read() {
        let reply = match request {
            // Workers say what they have to say themselves.
            Request::Order(number, order) => match serving.obey(number, order) {
                Ok(()) => continue,
                Err(error) => Reply::Failed(error),
            },
            request => serving.answer(request).unwrap_or_else(Reply::Failed),
        };
        if line.say(&reply).is_err() {
            break;
        }
    }
    Ok(())
}

/// The way to keymark.
struct Line(Mutex<UnixStream>);

impl Line {
    fn read(&self) -> Result<Request, Error> {
        worker::read(&mut *self.0.lock())
    }

    fn say(&self, reply: &Reply) -> Result<(), Error> {
        let mut socket = self.0.lock();
        worker::write(&mut *socket, reply)
    }

    /// PINs come from keymark, which has them from the user.
    fn ask_for_pin(&self, what: &str) -> Result<Pin, Error> {
        self.say(&Reply::WantsPin(what.to_owned()))?;
        let Request::Pin(pin) = self.read()? else {
            return Err(out_of_turn());
        };
        pin.map(|PipedPin(pin)| pin)
    }
}

impl Notice for Line {
    fn tell(&self, text: &str) {
        // Where keymark is gone, the next word ends this process.
        let _ = self.say(&Reply::Tell(text.to_owned()));
    }

    fn agrees(&self, _: &str) -> bool {
        false
    }
}

struct Serving {
    line: Arc<Line>,
    store: Option<TokenStore>,
    test_keys: Arc<SoftwareStore>,
    workers: HashMap<u32, Workers>,
}

impl Serving {
    fn store(&self) -> Result<&TokenStore, Error> {
        self.store.as_ref().ok_or_else(out_of_turn)
    }

    fn answer(&mut self, request: Request) -> Result<Reply, Error> {
        match request {
            Request::Look(file) => look(&file).map(Reply::Looked),
            Request::Initialize(file, token) => {
                let module = Module::load(&file)?;
                token.make(&module.client)?;
                look(&file).map(Reply::Looked)
            }
            Request::PublicParts(file, token) => {
                let module = Module::load(&file)?;
                let slots = module.client.get_slots_with_token().map_err(failed)?;
                let is_meant = |slot: &Slot| {
                    let found = token_info::identified(&module.client, *slot);
                    found.is_ok_and(|(id, ..)| id == token)
                };
                let meant = slots.into_iter().filter(is_meant);
                let parts = meant.map(|slot| keys::public_parts(&module.client, slot));
                let parts = parts.collect::<Result<Vec<_>, Error>>()?;
                Ok(Reply::PublicParts(parts.concat()))
            }
            Request::Open(errand) => self.open(*errand),
            Request::Run(run) => self.begin_run(run),
            Request::Keys(wanted) => {
                let token = &self.store()?.token;
                let meant = token.with_keeper(|session| keys::meant(session, &wanted))?;
                let meant = meant.into_iter().map(|(_, info)| info);
                Ok(Reply::Keys(meant.collect()))
            }
            Request::Key(capability, test_key) => {
                if let Some(sealed) = test_key {
                    let key = Arc::new(TestKey::unsealed(&sealed)?);
                    self.test_keys.take_over(capability, key);
                }
                let key = self.store()?.key(capability)?;
                let Placed { public, origin, .. } = self.store()?.placed(&key)?;
                let spki = public.spki_der().during("i2d_PUBKEY")?;
                Ok(Reply::Key(key.label, spki, origin))
            }
            Request::Workers(errand) => self.open_workers(errand),
            Request::CheckThreads => self.store()?.check_threads().map(|()| Reply::Done),
            Request::Program(capability, certificate) => {
                let store = self.store()?;
                let mut told = store.program_key(&store.key(capability)?, certificate)?;
                let pin = told.pin.take().map(PipedPin);
                Ok(Reply::Program(told, pin))
            }
            Request::OtherTokens => {
                let tokens = self.store()?.token.others_with_pin()?;
                Ok(Reply::Tokens(tokens))
            }
            Request::Undo(journal) => self.undo(&journal).map(|()| Reply::Done),
            Request::Restore => {
                self.workers.clear();
                self.store()?.restore().map(|()| Reply::Done)
            }
            Request::Order(..) | Request::Pin(_) => Err(out_of_turn()),
        }
    }

    fn open(&mut self, errand: TokenErrand) -> Result<Reply, Error> {
        let _turn = turn(&errand.file);
        let line = Arc::clone(&self.line);
        let asked = PinSource::Asked(Arc::new(move |what| line.ask_for_pin(what)));
        let user = User {
            pins: Pins {
                user: asked.clone(),
                admin: asked,
            },
            consent: user::Consent {
                write: errand.write,
                ..user::Consent::default()
            },
            notice: Arc::clone(&self.line) as Arc<dyn Notice>,
        };
        let token = Token::new(errand.file.clone(), &errand.info, errand.owner, user)?;
        token.with_keeper(|_| Ok(()))?;
        self.store = Some(TokenStore {
            device: errand.device,
            capabilities: Vec::new(),
            token: Arc::new(token),
            wanted: errand.wanted,
            test_keys: Arc::clone(&self.test_keys),
            placed: Mutex::default(),
        });
        Ok(Reply::Done)
    }

    fn begin_run(&mut self, run: RunErrand) -> Result<Reply, Error> {
        let store = self.store.as_mut().ok_or_else(out_of_turn)?;
        store.capabilities = run.capabilities;
        if let Some((place, run)) = run.journals {
            let journals = Journals::within(place);
            // Of a process of this run that has died.
            let of_run = |left: &Journal| {
                let content = left.content();
                content.token == store.token.id && content.run == run
            };
            let mut left = journals.left().journals.into_iter();
            let undone = left.find(of_run).map(|left| store.token.undo(left));
            undone.unwrap_or(Ok(()))?;
            store.token.journal.keep_in(journals, &run);
        }
        Ok(Reply::Done)
    }

    fn open_workers(&mut self, errand: WorkersErrand) -> Result<Reply, Error> {
        let store = self.store()?;
        let key = store.key(errand.capability)?;
        if let Crew::Threads(handles) = store.crew(&key, errand.scheme, errand.workers)? {
            self.workers.insert(errand.number, Workers::new(handles));
        }
        Ok(Reply::Done)
    }

    fn undo(&self, journal: &Path) -> Result<(), Error> {
        let missing = || {
            let reason = format!("{} is gone", journal.display());
            Error::call("reading a journal", reason, "")
        };
        let place = journal.parent().ok_or_else(missing)?;
        let mut left = Journals::within(place.to_owned())
            .left()
            .journals
            .into_iter();
        let found = left.find(|left| left.path() == journal);
        let token = &self.store()?.token;
        token.undo(found.ok_or_else(missing)?).and(token.leave())
    }

    fn obey(&mut self, number: u32, order: Order) -> Result<(), Error> {
        let workers = self.workers.get_mut(&number).ok_or_else(out_of_turn)?;
        let line = &self.line;
        let talk = Talk {
            say: &|word| line.say(&Reply::Word(word)),
            next: &|| {
                let Request::Order(_, order) = line.read()? else {
                    return Err(out_of_turn());
                };
                Ok(order)
            },
            interrupt: interrupt(),
        };
        workers.obey(order, &talk)
    }
}

fn look(file: &ModuleFile) -> Result<token_info::ModuleInfo, Error> {
    token_info::ask(&*Module::load(file)?)
}

/// SoftHSM2 writes to its token's file at each login, and does not find a token that is being written while it is
/// initialised: of the processes of all runs one at a time gets ready.
fn turn(file: &ModuleFile) -> io::Result<File> {
    File::open(&file.path).and_then(|file| file.lock().map(|()| file))
}
