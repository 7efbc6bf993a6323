//! A private home with one card, for a program that is traced.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{Case, Load, Protection, StackName};
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::store::StoreIdentity;
use keymark_stacks::gnupg::Gnupg;
use keymark_stacks::gnupg::home::Home;
use keymark_stacks::gnupg::inserted::{self, InsertedCard};
use keymark_stacks::gnupg::keys::{GnupgKeys, KeyHome};
use keymark_stacks::private_dir::PrivateDir;
use keymark_stores::openpgp_card::CardMaker;

use super::{Card, Found, Inventory, Kind, driver};

/// The home; everything is gone when it is dropped.
#[derive(Debug)]
pub(crate) enum TracedCard {
    /// With a card made for it, and a test key.
    Made {
        home: Arc<KeyHome>,
        _keys: GnupgKeys,
    },
    /// With the owner's card and public keys.
    Inserted { home: Home, _dir: PrivateDir },
}

impl TracedCard {
    pub(crate) fn home(&self) -> &Home {
        match self {
            Self::Made { home, .. } => &home.home,
            Self::Inserted { home, .. } => home,
        }
    }

    /// The file with the calls.
    pub(crate) fn trace(&self) -> &Path {
        let trace = self.home().card().and_then(|card| card.trace.as_deref());
        trace.unwrap_or(self.home().path())
    }

    /// The agent's socket for ssh.
    pub(crate) fn ssh_socket(&self) -> Option<PathBuf> {
        let socket = self.home().path().join("S.gpg-agent.ssh");
        socket.exists().then_some(socket)
    }
}

fn failed(reason: String, advice: &str) -> Error {
    Error::call("looking for a card", reason, advice)
}

impl Inventory {
    /// Makes the home for the only card there is.
    pub(crate) fn trace(&self, algorithm: Algorithm) -> Result<TracedCard, Error> {
        let (identity, card) = self.only_card()?;
        let gnupg = self.gnupg.clone().ok_or_else(|| {
            let missing = self.missing().map(|(_, _, error)| error.to_string()).next();
            failed(
                missing.unwrap_or_else(|| "there is no GnuPG".to_owned()),
                "",
            )
        })?;
        match card {
            Card::Made(maker) => self.made(gnupg, identity, maker, algorithm),
            Card::Inserted { device, reader, .. } => {
                let dir = PrivateDir::new()?;
                let card = InsertedCard {
                    device: Arc::clone(device),
                    reader: reader.clone(),
                };
                let path = dir.subdirectory("g")?;
                let home = inserted::private_home(&gnupg, &driver::driver()?, &card, path)?;
                home.learn_keys()?;
                Ok(TracedCard::Inserted { home, _dir: dir })
            }
        }
    }

    fn only_card(&self) -> Result<(&StoreIdentity, &Card), Error> {
        match self.devices.as_slice() {
            [
                Found {
                    kind: Kind::Card(card),
                    identity,
                    ..
                },
            ] => Ok((identity, card)),
            [] => {
                let why = self.no_readers.as_ref().map(ToString::to_string);
                let why = why.unwrap_or_else(|| "there is none in any reader".to_owned());
                Err(failed(why, "--device virtual traces one that is not there"))
            }
            _ => {
                let names: Vec<_> = self.names().iter().map(ToString::to_string).collect();
                let reason = format!("there is not exactly one: {}", names.join(", "));
                Err(failed(reason, "name one card with --device"))
            }
        }
    }

    fn made(
        &self,
        gnupg: Gnupg,
        identity: &StoreIdentity,
        maker: &CardMaker,
        algorithm: Algorithm,
    ) -> Result<TracedCard, Error> {
        let capabilities = maker.capabilities();
        let offered = capabilities.iter().find(|capability| {
            capability.algorithm == algorithm && super::asked_by_gnupg(capability)
        });
        let operation = offered.map(|capability| capability.operation);
        let operation = operation.ok_or_else(|| Error::Unsupported {
            by: identity.device.to_string(),
            operation: Operation::Decrypt,
            algorithm,
        })?;
        let case = Case {
            device: identity.device.clone(),
            store: identity.kind,
            provenance: identity.provenance,
            algorithm,
            operation,
            stack: StackName::Gnupg,
            load: Load::single(),
            protection: Protection::None,
            input_bytes: 16,
            replica: 0,
        };
        let keys = GnupgKeys::new(gnupg)?.with_cards(super::open::cards(&self.devices, 0)?);
        let home = keys.home_of(&case)?;
        Ok(TracedCard::Made { home, _keys: keys })
    }
}
