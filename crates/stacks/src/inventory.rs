//! Inventory: devices, the stacks to them, and what is missing.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use keymark_bench::runner::Stacks;
use keymark_bench::shipped::shipped;
use keymark_bench::store::Capability;
use keymark_bench::workload::Stack;
use keymark_bench::{Case, DeviceName, Error, Offer, Plan, StackName, Standing, StoreIdentity};
use keymark_stores::device::{Device, Looked, Run, Visited, Wish};
use keymark_stores::registry as stores;
use keymark_stores::store::KeyStore;
use keymark_stores::user::{TokenId, User};
use serde::Deserialize;

use crate::card_holder::{self, Borrowed, OccupiedReader};
use crate::provider::{StackFamily, StackProvider, Way};
use crate::registry;

/// A device and the ways to it.
#[derive(Debug)]
pub struct Found {
    /// The device, with the versions of the programs on the way.
    pub identity: StoreIdentity,
    /// The device itself.
    pub device: Box<dyn Device>,
    pub ways: Vec<Way>,
}

/// Devices and stacks that were found.
#[derive(Debug)]
pub struct Inventory {
    /// Devices in the order of the registry.
    pub devices: Vec<Found>,
    /// Error of a search: readers without pcscd.
    pub unseen: Option<Error>,
    /// Tokens that another program has to itself.
    pub occupied: Vec<OccupiedReader>,
    /// Names that no device has.
    pub unknown: Vec<String>,
    /// Places besides readers where tokens were looked for.
    pub visited: Vec<Visited>,
    providers: Vec<(StackFamily, Box<dyn StackProvider>)>,
    user: User,
    /// Loan that its owner gets back. Dropped last: by then keymark has let go of it.
    pub borrowed: Option<Borrowed>,
}

impl Inventory {
    /// Looks round. Programs and readers are looked for only if they are wanted, so that a raw
    /// measurement starts at once; of stacks that nobody names, those that are part of every plan.
    pub fn look(stacks: Option<&[StackName]>, wish: &Wish, user: &User) -> Result<Self, Error> {
        let wanted = |family: &&StackFamily| match stacks {
            // `raw` needs no program, and is where else a key can be had.
            Some(named) => {
                let mut own = (family.stacks)().into_iter();
                own.any(|stack| stack == StackName::RAW || named.contains(&stack))
            }
            None => match family.standing {
                Standing::Usual => true,
                Standing::OnRequest => false,
            },
        };
        let families = registry::FAMILIES.iter().filter(wanted).copied();
        let mut looked = stores::look(wish, user)?;
        let borrowed = ask_for_occupied(&mut looked, wish, user)?;
        Ok(Self {
            borrowed,
            ..Self::of(looked, wish, families.collect(), user)
        })
    }

    /// Looks for everything, and takes nothing from anybody: what another program holds stays there.
    pub fn everything(user: &User) -> Result<Self, Error> {
        let (wish, families) = (&Wish::All, registry::FAMILIES.to_vec());
        Ok(Self::of(stores::look(wish, user)?, wish, families, user))
    }

    fn of(looked: Looked, wish: &Wish, families: Vec<StackFamily>, user: &User) -> Self {
        let mut inventory = Self {
            devices: Vec::new(),
            unknown: unknown(wish, &looked),
            unseen: looked.unseen,
            occupied: card_holder::holders(&looked.occupied),
            visited: looked.visited,
            providers: Vec::new(),
            user: user.clone(),
            borrowed: None,
        };
        if !looked.devices.is_empty() {
            let provided = families
                .into_iter()
                .filter_map(|family| Some((family, (family.look?)())));
            inventory.providers = provided.collect();
        }
        let found = looked
            .devices
            .into_iter()
            .map(|device| inventory.found(device));
        inventory.devices = found.collect();
        inventory
    }

    fn found(&self, device: Box<dyn Device>) -> Found {
        let mut identity = device.identity().clone();
        let mut ways = Vec::new();
        for (_, provider) in &self.providers {
            let own = provider.ways(device.as_ref());
            // Of programs that have no way to the device nothing is said.
            if !own.is_empty() {
                identity.versions.extend(provider.versions(device.as_ref()));
            }
            ways.extend(own);
        }
        Found {
            identity,
            device,
            ways,
        }
    }

    /// Returns the offers, in the order in which stacks are registered.
    pub fn offers(&self) -> Vec<Offer> {
        let offer = |found: &Found, way: &Way| {
            Some(Offer {
                device: found.identity.device.clone(),
                store: found.identity.kind,
                provenance: found.identity.provenance,
                stack: way.stack,
                capabilities: way.found.as_ref().ok()?.clone(),
                synonyms: way.synonyms.clone(),
                dimensions: registry::dimensions_of(way.stack),
                parameters: way.parameters.clone(),
                workers: way.workers,
                standing: way.standing,
            })
        };
        let mut offers: Vec<Offer> = Vec::new();
        for found in &self.devices {
            offers.extend(found.ways.iter().filter_map(|way| offer(found, way)));
        }
        let rank = |offer: &Offer| {
            let mut stacks = self
                .providers
                .iter()
                .flat_map(|(family, _)| (family.stacks)());
            stacks.position(|stack| stack == offer.stack)
        };
        offers.sort_by_key(rank);
        offers
    }

    /// The names of all devices, for a selection that names none.
    pub fn names(&self) -> Vec<DeviceName> {
        let names = self.devices.iter().map(|found| &found.identity.device);
        names.cloned().collect()
    }

    /// Returns the missing ways by device and stack.
    pub fn missing(&self) -> impl Iterator<Item = (&DeviceName, &Way, &Error)> {
        self.devices.iter().flat_map(|found| {
            found.ways.iter().filter_map(|way| {
                let error = way.found.as_ref().err()?;
                Some((&found.identity.device, way, error))
            })
        })
    }

    /// Returns the capabilities that a plan needs of each device.
    fn wanted(&self, plan: &Plan) -> Vec<(&Found, Vec<Capability>)> {
        let of_device = |found: &Found| -> Vec<Capability> {
            let cases = plan
                .cases
                .iter()
                .filter(|case| case.device == found.identity.device);
            cases.map(Case::capability).collect()
        };
        let all = self.devices.iter().map(|found| (found, of_device(found)));
        all.filter(|(_, wanted)| !wanted.is_empty()).collect()
    }

    /// The tokens of a plan that outlive it.
    pub fn tokens(&self, plan: &Plan) -> Vec<TokenId> {
        let wanted = self.wanted(plan).into_iter();
        wanted
            .filter_map(|(found, _)| found.device.token())
            .collect()
    }

    /// All the tokens that are there.
    pub fn present_tokens(&self) -> Vec<TokenId> {
        self.devices
            .iter()
            .filter_map(|found| found.device.token())
            .collect()
    }

    /// Checks that each device can do all that a plan asks of it together.
    ///
    /// # Errors
    /// When one cannot: a slot holds one key.
    pub fn check(&self, plan: &Plan) -> Result<(), Error> {
        let mut wanted = self.wanted(plan).into_iter();
        wanted.try_for_each(|(found, wanted)| found.device.check(&wanted))
    }

    /// Has the user agree to what a plan destroys on tokens.
    pub fn agree(&self, plan: &Plan) -> Result<(), Error> {
        let mut wanted = self.wanted(plan).into_iter();
        wanted.try_for_each(|(found, wanted)| found.device.agree(&wanted))
    }

    /// The stacks that a plan needs, ready.
    pub fn open(&self, plan: &Plan, run: &Run) -> Result<OpenStacks, Error> {
        let mut opened = OpenStacks {
            stacks: Vec::new(),
            stores: Vec::new(),
            user: self.user.clone(),
        };
        for (family, provider) in &self.providers {
            let needed = |found: &Found| -> Vec<StackName> {
                let device = &found.identity.device;
                let mut stacks = (family.stacks)();
                let has = |case: &Case, stack| case.device == *device && case.stack == stack;
                stacks.retain(|stack| plan.cases.iter().any(|case| has(case, *stack)));
                stacks
            };
            let wanted = self.devices.iter().map(|found| (found, needed(found)));
            let wanted: Vec<_> = wanted.filter(|(_, stacks)| !stacks.is_empty()).collect();
            if wanted.is_empty() {
                continue;
            }
            let open = provider.open(run)?;
            for (found, stacks) in wanted {
                // Families do not share a store: what one program selects or verifies on a made card
                // would be in the other's way.
                let store = found.device.open(run)?;
                opened.stores.push(Arc::clone(&store));
                let name = |stack| (found.identity.device.clone(), stack);
                let ready = |stack| (name(stack), open(stack, Arc::clone(&store)));
                opened.stacks.extend(stacks.into_iter().map(ready));
            }
        }
        Ok(opened)
    }
}

/// Milliseconds by stack, and those that words of parameters add.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Guesses {
    stack: BTreeMap<String, u64>,
    word: BTreeMap<String, u64>,
}

static GUESSES: LazyLock<Guesses> =
    LazyLock::new(|| shipped(include_str!("../../../data/guesses.toml")));

/// About what an operation of a case takes on a laptop, when no earlier run tells.
pub fn guess(case: &Case) -> Duration {
    let words = case.parameters.pairs().map(|(_, word)| word);
    let of_words = words.filter_map(|word| GUESSES.word.get(word));
    let of_stack = GUESSES.stack.get(case.stack.word());
    Duration::from_millis(of_stack.into_iter().chain(of_words).sum())
}

/// Names of the wish that no family of key stores knows.
fn unknown(wish: &Wish, looked: &Looked) -> Vec<String> {
    let Wish::Named(names) = wish else {
        return Vec::new();
    };
    let unknown = names.iter().filter(|name| !looked.known.contains(name));
    unknown.cloned().collect()
}

/// Looks again once their holder has let go of tokens that are wanted.
fn ask_for_occupied(
    looked: &mut Looked,
    wish: &Wish,
    user: &User,
) -> Result<Option<Borrowed>, Error> {
    let holders = card_holder::holders(&looked.occupied);
    if card_holder::is_wanted(&holders, wish, &unknown(wish, looked)) {
        let free = || match stores::look(wish, user) {
            Ok(looked) if !looked.occupied.is_empty() => None,
            looked => Some(looked),
        };
        if let Some((again, borrowed)) = card_holder::ask_for(user, free) {
            *looked = again?;
            return Ok(Some(borrowed));
        }
    }
    Ok(None)
}

/// Stacks in use. Dropping them ends their programs, and undoes what was changed on devices.
#[derive(derive_more::Debug)]
#[debug("OpenStacks({:?})", stacks.iter().map(|(name, _)| name).collect::<Vec<_>>())]
pub struct OpenStacks {
    stacks: Vec<((DeviceName, StackName), Box<dyn Stack>)>,
    stores: Vec<Arc<dyn KeyStore>>,
    user: User,
}

impl OpenStacks {
    /// Returns the stacks by device and name, for the runner.
    pub fn by_name(&self) -> Stacks<'_> {
        self.stacks
            .iter()
            .map(|(name, stack)| (name.clone(), stack.as_ref()))
            .collect()
    }

    /// Ends the programs, then undoes on every device what was changed. Returns what could not be undone.
    pub fn end(&mut self) -> Vec<Error> {
        self.stacks.clear();
        let stores = std::mem::take(&mut self.stores).into_iter();
        stores.filter_map(|store| store.restore().err()).collect()
    }
}

impl Drop for OpenStacks {
    /// After a panic, or where nobody wants to know.
    fn drop(&mut self) {
        for error in self.end() {
            self.user.notice.warn(&error.to_string());
        }
    }
}
