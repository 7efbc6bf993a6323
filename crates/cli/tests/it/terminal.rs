//! What a person sees who looks at a terminal, and a program that reads a pipe does not.

use keymark_testkit::place::{Place, SHORT, text};

use crate::KEYMARK;

/// What a terminal of so many columns shows of `keymark ARGUMENTS`.
fn on_a_terminal(place: &Place, columns: u32, arguments: &str) -> String {
    // `script` (util-linux) has the other end of a pseudo-terminal; what it runs takes the place of its shell.
    let inside = format!("stty cols {columns} rows 50; exec {KEYMARK} {arguments}");
    let keymark = place.keymark(arguments);
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &inside, "/dev/null"]);
    let variables = keymark.get_envs();
    script.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    script.env("LC_ALL", "C.UTF-8").env("TERM", "xterm");
    script.env_remove("COLUMNS").env_remove("NO_COLOR");
    let output = script.output().unwrap();
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{shown}");
    shown
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
        (100, "show last --no-plot", false),
        (60, "show last", false),
    ] {
        let shown = on_a_terminal(&place, columns, arguments);
        assert_eq!(has_picture(&shown), expected, "{columns}: {shown}");
        assert!(shown.contains('\u{1b}'), "in colours: {shown}");
    }
    let piped = place.keymark("show last").env("LC_ALL", "C.UTF-8").output();
    assert!(!has_picture(&text(&piped.unwrap().stdout)));
}

#[test]
fn a_person_sees_how_far_a_long_simulation_is() {
    let place = Place::new(KEYMARK);
    let elf = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../mcu/kernels/elf/rsa-umull-o2.elf"
    );
    let run = format!("mcu run {elf} --mcu stm32f103");
    let shown = on_a_terminal(&place, 140, &run);
    assert!(shown.contains("M instructions"), "{shown}");
    let piped = place.keymark(&run).output().unwrap();
    let said = text(&piped.stdout) + &text(&piped.stderr);
    assert!(!said.contains("M instructions"), "{said}");
}
