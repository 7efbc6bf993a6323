//! `kill -9` at any moment of a run with every stack: nothing is left behind after the next start, and nothing
//! that was finished is lost. A few kills here, `make faults` for many.

use std::time::Duration;

use keymark_records::archive::Archive;
use keymark_testkit::assert_says;
use keymark_testkit::place::Place;
use keymark_testkit::process::naming;
use keymark_testkit::waiting::until;
use rusqlite::Connection;

use crate::{KEYMARK, kill_at_work, quiet};

/// Kills, unless the environment says how many.
const KILLS: u32 = 6;
/// Longest time until a kill: from before the first directory to the middle of measuring.
const LATEST_MS: u32 = 4_000;
/// Blocks that are not there with all their samples.
const TORN: &str = "SELECT count(*) FROM block
                    WHERE samples <> (SELECT count(*) FROM sample WHERE block = block.id)";

/// Samples in the archive; none before there is one.
fn samples(place: &Place) -> u64 {
    let runs = place
        .archive()
        .exists()
        .then(|| Archive::open(&place.archive()));
    let runs = runs.and_then(|archive| archive.ok()?.runs().ok());
    runs.unwrap_or_default().iter().map(|run| run.samples).sum()
}

#[derive(Debug, Clone, Copy)]
enum Moment {
    After(Duration),
    /// Once it has saved samples.
    Saving,
}

/// Runs and kills. Returns the samples that the archive had just before.
fn killed(place: &Place, moment: Moment) -> u64 {
    let before = samples(place);
    let run = "bench --device software,virtual --algorithm ed25519,cv25519 --stack raw,agent,gpg,ssh \
               --precision 0.001% --case-time 60s";
    let child = quiet(&mut place.keymark(run));
    match moment {
        Moment::After(wait) => std::thread::sleep(wait),
        Moment::Saving => until("samples are saved", || samples(place) > before),
    }
    let seen = samples(place);
    kill_at_work(child);
    seen
}

#[test]
fn a_kill_at_any_moment_leaves_and_loses_nothing() {
    let kills = std::env::var("KEYMARK_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let place = Place::new(KEYMARK);
    for number in 0..kills {
        // Moments spread evenly, whatever their number (a Weyl sequence by the golden section).
        let share = (f64::from(number) * 0.618_033_988_75).fract();
        let wait = Duration::from_millis((share * f64::from(LATEST_MS)) as u64);
        // On a machine that has much to do, no moment may be late enough but this.
        let last = number + 1 == kills;
        let moment = if last {
            Moment::Saving
        } else {
            Moment::After(wait)
        };
        let seen = killed(&place, moment);
        if last {
            // Agents are tied to keymark: they end without anybody's help.
            until("no process is left", || naming(&place.temporary()) == 0);
            assert!(!place.leftovers().is_empty(), "nobody has tidied up yet");
        }
        place.stdout("bench --algorithm ed25519 --stack raw --samples 1 --no-save");
        assert!(
            place.leftovers().is_empty(),
            "{moment:?}: {:?}",
            place.leftovers()
        );
        until("no process is left", || naming(&place.temporary()) == 0);
        let kept = samples(&place);
        assert!(kept >= seen, "{moment:?}: {kept} samples of {seen}");
    }
    assert!(samples(&place) > 0, "something was measured");
    let runs = place.rows("runs --format json");
    assert!(
        runs.iter().all(|run| run["state"] == "unfinished"),
        "{runs:?}"
    );
    assert_says(&place.stdout("show last"), ["the run ended early"]);
    let archive = Connection::open(place.archive()).unwrap();
    let ask = |question: &str| archive.query_row(question, (), |row| row.get(0));
    assert_eq!(ask(TORN), Ok(0));
    let check: String = archive
        .query_row("PRAGMA integrity_check", (), |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
}
