//! The stacks a plan needs, made ready.

use std::collections::HashMap;
use std::sync::Arc;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{Case, DeviceName, StackName, StoreKind};
use keymark_bench::error::Error;
use keymark_bench::plan::Plan;
use keymark_bench::runner::Stacks;
use keymark_bench::store::Stack;
use keymark_stacks::gnupg::agent::AgentStack;
use keymark_stacks::gnupg::card_homes::Cards;
use keymark_stacks::gnupg::inserted::InsertedCard;
use keymark_stacks::gnupg::keys::GnupgKeys;
use keymark_stacks::gnupg::process::GnupgStack;
use keymark_stores::challenge::Challenge;
use keymark_stores::openpgp_card::CardRawStack;
use keymark_stores::raw::{Generated, KeySource, RawStack};
use keymark_stores::test_key::TestKey;

use super::{Card, Found, Inventory, Kind, driver};

/// Stacks in use; dropping them ends their programs.
pub(crate) struct OpenStacks(Vec<(DeviceName, Box<dyn Stack>)>);

impl OpenStacks {
    pub(crate) fn by_name(&self) -> Stacks<'_> {
        self.0
            .iter()
            .map(|(device, stack)| ((device.clone(), stack.name()), stack.as_ref()))
            .collect()
    }
}

impl Inventory {
    /// The stacks a plan needs.
    pub(crate) fn open(&self, plan: &Plan) -> Result<OpenStacks, Error> {
        let through_gnupg = |case: &&Case| case.stack != StackName::Raw;
        let keys = match &self.gnupg {
            Some(gnupg) if plan.cases.iter().any(|case| through_gnupg(&case)) => {
                let keys = GnupgKeys::new(gnupg.clone())?;
                let on_card =
                    |case: &Case| through_gnupg(&case) && case.store == StoreKind::OpenpgpCard;
                Some(Arc::new(if plan.cases.iter().any(on_card) {
                    keys.with_cards(cards(&self.devices, plan.settings.seed)?)
                } else {
                    keys
                }))
            }
            _ => None,
        };
        let shared = plan.cases.iter().filter(through_gnupg);
        let source: Arc<dyn KeySource> = Arc::new(RawKeys {
            gnupg: keys.clone(),
            shared: shared.map(|case| case.algorithm).collect(),
            generated: Generated::new(plan.settings.seed),
        });
        let mut stacks: Vec<(DeviceName, Box<dyn Stack>)> = Vec::new();
        for Found { identity, kind, .. } in &self.devices {
            let name = || identity.device.clone();
            let raw: Box<dyn Stack> = match kind {
                Kind::Software => Box::new(RawStack::new(Arc::clone(&source))),
                Kind::Card(card) => Box::new(raw_card(card, plan.settings.seed, &source)),
            };
            stacks.push((name(), raw));
            if let Some(keys) = &keys {
                stacks.push((name(), Box::new(AgentStack::new(Arc::clone(keys)))));
                stacks.push((name(), Box::new(GnupgStack::new(Arc::clone(keys)))));
            }
        }
        Ok(OpenStacks(stacks))
    }
}

/// The cards that GnuPG can use.
pub(super) fn cards(devices: &[Found], seed: u64) -> Result<Cards, Error> {
    let mut cards = Cards {
        driver: driver::driver()?,
        makers: HashMap::new(),
        inserted: HashMap::new(),
    };
    for device in devices {
        let name = device.identity.device.clone();
        let Kind::Card(card) = &device.kind else {
            continue;
        };
        match card {
            Card::Made(maker) => {
                cards.makers.insert(name, maker.clone().with_seed(seed));
            }
            Card::Inserted { device, reader, .. } => {
                let card = InsertedCard {
                    device: Arc::clone(device),
                    reader: reader.clone(),
                };
                cards.inserted.insert(name, card);
            }
        }
    }
    Ok(cards)
}

fn raw_card(card: &Card, seed: u64, source: &Arc<dyn KeySource>) -> CardRawStack {
    match card {
        Card::Made(maker) => CardRawStack::made(maker.clone().with_seed(seed), Arc::clone(source)),
        Card::Inserted { device, .. } => CardRawStack::inserted(Arc::clone(device), seed),
    }
}

/// The raw stack uses GnuPG's keys and messages for what is measured through GnuPG too.
struct RawKeys {
    gnupg: Option<Arc<GnupgKeys>>,
    shared: Vec<Algorithm>,
    generated: Generated,
}

impl KeySource for RawKeys {
    fn exercise(&self, case: &Case) -> Result<(Arc<TestKey>, Challenge), Error> {
        match &self.gnupg {
            Some(gnupg) if self.shared.contains(&case.algorithm) => gnupg.exercise(case),
            _ => self.generated.exercise(case),
        }
    }
}
