//! Output for a person at a terminal.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use keymark_testkit::place::{Ends as _, Place, SHORT, text};
use keymark_testkit::softhsm::{CONFIGURATION, PIN, SoftHsmToken, URI};
use keymark_testkit::{assert_says, assert_silent};

use crate::KEYMARK;
use crate::mcu::kernel;

/// `keymark ARGUMENTS` on a terminal with that number of columns.
fn pseudo_terminal(place: &Place, columns: u32, arguments: &str) -> Command {
    // `script` (util-linux) has the other end of a pseudo-terminal; what it runs takes the place of its shell.
    let inside = format!("stty cols {columns} rows 50; exec {KEYMARK} {arguments}");
    let keymark = place.keymark(arguments);
    let mut script = Command::new("script");
    script.args(["-qec", &inside, "/dev/null"]);
    let variables = keymark.get_envs();
    script.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    script.env("LC_ALL", "C.UTF-8").env("TERM", "xterm");
    script.env_remove("COLUMNS").env_remove("NO_COLOR");
    script
}

fn on_a_terminal(place: &Place, columns: u32, arguments: &str) -> String {
    pseudo_terminal(place, columns, arguments).ends(0).stdout
}

#[test]
fn a_picture_is_for_a_person_at_a_terminal_that_is_wide_enough() {
    let place = Place::new(KEYMARK);
    place.stdout(SHORT);
    let has_picture = |shown: &str| {
        assert!(shown.contains("ed25519"), "{shown}");
        shown.contains('●')
    };
    for (columns, arguments, expected) in [
        (100, "show last", true),
        (140, "show last --long", true),
        (100, "show last --no-picture", false),
        (60, "show last", false),
    ] {
        let shown = on_a_terminal(&place, columns, arguments);
        assert_eq!(has_picture(&shown), expected, "{columns}: {shown}");
        assert!(shown.contains('\u{1b}'), "in colors: {shown}");
    }
    let mut piped = place.keymark("show last");
    assert!(!has_picture(&piped.env("LC_ALL", "C.UTF-8").ends(0).stdout));
}

#[test]
fn a_person_sees_how_far_a_long_simulation_is() {
    let place = Place::new(KEYMARK);
    let run = format!("mcu run {} --mcu stm32f103", kernel("rsa-umull-o2.elf"));
    assert_says(&on_a_terminal(&place, 140, &run), ["M instructions"]);
    assert_silent(&place.ends(&run, 0).said(), ["M instructions"]);
}

/// A question for a PIN is the last thing on the terminal until it is answered, although a run shows its progress.
#[test]
fn nothing_is_drawn_over_a_prompt() {
    let (place, token) = (Place::new(KEYMARK), SoftHsmToken::new());
    token.make_key("EC:prime256v1", "01", "web");
    let device = format!("{URI}?module-path={}", SoftHsmToken::library().display());
    let arguments = format!(
        "bench --device software,'{device}' --algorithm nistp256 --operation sign --stack raw --samples 5"
    );
    let mut script = pseudo_terminal(&place, 100, &arguments);
    script.env(CONFIGURATION, token.configuration());
    let mut child = script
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut keyboard, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = Vec::new();
    let asks = |shown: &[u8]| text(shown).trim_end().ends_with(':') && text(shown).contains("PIN");
    let mut byte = [0];
    while !asks(&shown) && screen.read(&mut byte).unwrap() == 1 {
        shown.push(byte[0]);
    }
    assert!(asks(&shown), "{}", text(&shown));
    // Long enough for a display that goes on to be drawn several times.
    sleep(Duration::from_millis(800));
    writeln!(keyboard, "{PIN}").unwrap();
    let mut rest = Vec::new();
    screen.read_to_end(&mut rest).unwrap();
    assert!(child.wait().unwrap().success(), "{}", text(&rest));
    let answered = text(&rest);
    let before = answered.split(['\r', '\n']).next().unwrap();
    assert_eq!(before.trim(), "", "{answered}");
    assert!(
        answered.contains("nistp256") && !answered.contains(PIN),
        "{answered}"
    );
}
