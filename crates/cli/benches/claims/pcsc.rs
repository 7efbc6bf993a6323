//! `gpg --decrypt` on the same key: through keymark's library to a card in this process, and through
//! pcscd and vpcd, traced and not. The three take turns.

use std::path::{Path, PathBuf};
use std::time::Duration;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::Case;
use keymark_bench::clock::{Clock, MonotonicClock};
use keymark_bench::operation::Operation;
use keymark_bench::profile::Profile;
use keymark_stacks::gnupg::homes::GnupgHomes;
use keymark_stacks::gnupg::key_home::KeyHome;
use keymark_stacks::gnupg::process::{Message, messages};
use keymark_stacks::gnupg::scdaemon::{CardLink, ScdaemonReader};
use keymark_stacks::gnupg::{Gnupg, Protection};
use keymark_stores::device::Run;
use keymark_stores::openpgp_card::{CardMaker, VirtualCards};
use keymark_stores::tokens::socket::CardServer;
use keymark_stores::tokens::vpcd::Vpcd;
use keymark_testkit::pcscd::PrivatePcscd;
use tempfile::TempDir;

use super::figure::{Failure, Figure, Limit};
use super::program;

/// Decryptions in each home.
const TURNS: usize = 150;
/// vpcd's first reader.
const READER: &str = "Virtual PCD 00 00";
/// pcscd looks for a new card every 0.4 s.
const SEEN: Duration = Duration::from_secs(2);

/// A home whose card is in a pcscd of its own.
struct ThroughPcscd {
    home: KeyHome,
    _pcscd: PrivatePcscd,
    _directory: TempDir,
}

/// Both figures: the library against pcscd, and trace on against trace off.
pub(crate) fn measure(case: &Case) -> Result<Vec<Figure>, Failure> {
    let driver = &Path::new(program::PATH).with_file_name("libkeymark_pcsc.so");
    let homes = GnupgHomes::new(Gnupg::find(None)?)?;
    let algorithm = case.algorithm;
    let run = Run::new(0);
    let cards = |maker| VirtualCards::new(maker, run.clone());
    // Of constant time, so that half a per cent can be told.
    let twin = || Profile::find("fst-01").map(|profile| cards(CardMaker::twin(profile)));
    let plain = || cards(CardMaker::virtual_card());
    let traced = through_pcscd(&homes, &twin()?, algorithm, driver, Trace::On)?;
    let untraced = through_pcscd(&homes, &twin()?, algorithm, driver, Trace::Off)?;
    let slow = through_pcscd(&homes, &plain(), algorithm, driver, Trace::Off)?;
    let (fast, _server) = through_library(&homes, &plain(), algorithm, driver)?;
    let owner = homes.file_home(run.test_keys.as_ref(), algorithm, Protection::None)?;
    let message = &messages(&owner, Operation::Decrypt, 16)?[0];
    let homes = [&traced.home, &untraced.home, &slow.home, &fast];
    let mut totals = [Duration::ZERO; 4];
    for turn in 0..TURNS {
        for place in 0..homes.len() {
            let place = (place + turn) % homes.len();
            totals[place] += decrypt(homes[place], message)?;
        }
    }
    let [traced, untraced, slow, fast] = totals.map(|total| total.as_secs_f64() / TURNS as f64);
    println!(
        "gpg --decrypt, {algorithm} on the virtual card: {:.2} ms through the library, {:.2} ms through pcscd and vpcd",
        fast * 1e3,
        slow * 1e3
    );
    let name =
        format!("library over pcscd and vpcd, gpg --decrypt with {algorithm}, means of {TURNS}");
    let library = Figure::new(name, fast / slow, Limit::AtMost(1.0), "");
    let name = format!(
        "trace on over trace off through pcscd and vpcd, twin:fst-01, means of {TURNS}: off by"
    );
    let off = (traced / untraced - 1.0).abs() * 100.0;
    Ok(vec![
        library,
        Figure::new(name, off, Limit::AtMost(0.5), " %"),
    ])
}

/// Records the calls; if not set, scdaemon uses pcsc-lite's own library.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trace {
    On,
    Off,
}

const PCSCLITE: &str = "libpcsclite.so.1";

fn through_pcscd(
    homes: &GnupgHomes,
    cards: &VirtualCards,
    algorithm: Algorithm,
    driver: &Path,
    trace: Trace,
) -> Result<ThroughPcscd, Failure> {
    let directory = tempfile::Builder::new().prefix("km").tempdir()?;
    let card = homes.loaded_card(cards, algorithm)?;
    let pcscd = PrivatePcscd::start(directory.path())?;
    let mut vpcd = Vpcd::connect(&pcscd.vpcd_address(), card.reader.connect())?;
    std::thread::spawn(move || vpcd.serve());
    std::thread::sleep(SEEN);
    let link = CardLink {
        driver: match trace {
            Trace::On => driver.to_owned(),
            Trace::Off => PathBuf::from(PCSCLITE),
        },
        reader: ScdaemonReader::Pcscd {
            name: READER.to_owned(),
            socket: Some(pcscd.socket().to_owned()),
        },
        trace: (trace == Trace::On).then(|| directory.path().join("trace")),
    };
    Ok(ThroughPcscd {
        home: homes.home_with(&card, link)?,
        _pcscd: pcscd,
        _directory: directory,
    })
}

fn through_library(
    homes: &GnupgHomes,
    cards: &VirtualCards,
    algorithm: Algorithm,
    driver: &Path,
) -> Result<(KeyHome, (CardServer, TempDir)), Failure> {
    let directory = tempfile::Builder::new().prefix("km").tempdir()?;
    let card = homes.loaded_card(cards, algorithm)?;
    let server = CardServer::start(card.reader.clone(), &directory.path().join("card"))?;
    let link = CardLink {
        driver: driver.to_owned(),
        reader: ScdaemonReader::Served {
            socket: server.socket().to_owned(),
        },
        trace: None,
    };
    Ok((homes.home_with(&card, link)?, (server, directory)))
}

fn decrypt(home: &KeyHome, message: &Message) -> Result<Duration, Failure> {
    let file = message.file.to_string_lossy();
    let clock = MonotonicClock::new();
    let begin = clock.now();
    let (plaintext, _) = home.home.run("gpg --decrypt", &["--decrypt", &*file])?;
    let took = clock.now().since(begin);
    if plaintext == message.plaintext {
        Ok(took)
    } else {
        Err("the plaintext is not the one that was encrypted".into())
    }
}
