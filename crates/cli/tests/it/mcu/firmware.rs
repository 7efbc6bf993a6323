//! `mcu run` and `mcu explain`, and what cannot be run.

use keymark_testkit::assert_says;
use keymark_testkit::place::{Ends as _, Place, assert_has};
use serde_json::{Value, json};

use super::kernel;
use crate::{KEYMARK, number};

/// The sum of a figure over rows.
fn sum(rows: &Value, figure: &str) -> f64 {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| number(row, figure)).sum()
}

#[test]
fn firmware_is_run_with_phases_and_a_profile_by_function() {
    let place = Place::new(KEYMARK);
    let folded = place.path("stacks.txt");
    let elf = kernel("ed25519-umull-o2.elf");
    let said = place.stdout(&format!("mcu run {elf} --folded {}", folded.display()));
    assert_says(
        &said,
        ["phase", "fe25519_mul", "instructions", "flash wait"],
    );
    let stacks = std::fs::read_to_string(folded).unwrap();
    assert_says(&stacks, ["reset;kernel;ed25519_sign;fe25519_add "]);
    let all: u64 = stacks
        .lines()
        .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert!(all > 900_000, "{all} cycles");
}

#[test]
fn budgets_decide_on_the_status() {
    let place = Place::new(KEYMARK);
    let elf = kernel("x25519-umaal-o2.elf");
    let run = format!("mcu run {elf} --mcu stm32f405 --phase 1=ladder");
    let said = place.stdout(&format!("{run} --budget ladder=2M,total=3M"));
    assert_says(&said, ["ladder", "with callees"]);
    let over = place.refused(&format!("{run} --budget ladder=500k"), 1);
    assert_says(&over, ["ladder takes", "more than its budget of 500000"]);
    place.stdout(&format!("{run} --budget ladder=500k --fail-above 300%"));
    let unknown = place.refused(&format!("{run} --budget sign=500k"), 2);
    assert_says(&unknown, ["no such phase or function", "ladder"]);
    let suite = place.stdout(&format!("{run} --budget total=3M --format junit"));
    assert_says(&suite, ["<testsuite ", "budget total", "failures=\"0\""]);
}

#[test]
fn a_change_of_a_program_is_shown_on_several_parts() {
    let place = Place::new(KEYMARK);
    let (before, after) = (kernel("x25519-c-os.elf"), kernel("x25519-c-o3.elf"));
    let said = place.stdout(&format!(
        "mcu compare {before} {after} --mcu stm32f103,stm32l432"
    ));
    assert_says(&said, ["whole", "stm32l432", "difference"]);
    let row = &place.rows(&format!("mcu compare {before} {after} --format json"))[0];
    let number = |name: &str| number(row, name);
    assert!(number("after") < number("before"), "{row}");
    let (low, high) = (number("change_low"), number("change_high"));
    assert!(low < high && high < 0.0, "{row}");
    place.stdout(&format!("mcu compare {before} {after} --fail-above 1%"));
    let slower = place.refused(&format!("mcu compare {after} {before} --fail-above 1%"), 1);
    assert_says(&slower, ["total on stm32f103 takes +"]);
}

#[test]
fn the_instructions_of_a_function_are_shown_with_their_cycles() {
    let place = Place::new(KEYMARK);
    let elf = kernel("x25519-umaal-o2.elf");
    let run = format!("mcu run {elf} --mcu stm32f405");
    let rows = place.rows(&format!("{run} --annotate --format json"));
    let annotated = &rows[0]["annotated"];
    assert_eq!(annotated["function"], "fe25519_mul");
    let whole = &rows[0]["functions"][0];
    assert_eq!(sum(&annotated["lines"], "cycles"), number(whole, "cycles"));
    let said = place.stdout(&format!("{run} --annotate=fe25519_square"));
    assert_says(&said, ["fe25519_square, by instruction", "count", "share"]);
    let unknown = place.refused(&format!("{run} --annotate=nothing"), 2);
    assert_says(&unknown, ["no function 'nothing' was executed"]);
}

#[test]
fn a_phase_that_says_what_it_computes_is_kept() {
    let place = Place::new(KEYMARK);
    let elf = kernel("x25519-umaal-o2.elf");
    let run = format!("mcu run {elf} --mcu stm32f405 --phase");
    place.stdout(&format!("{run} 1=ladder"));
    assert!(
        place.rows("runs --format json").is_empty(),
        "it means nothing"
    );
    place.stdout(&format!("{run} 1=cv25519_decrypt"));
    let shown = place.rows("show last --format json");
    let kept = json!({"device": "stm32f405:x25519-umaal-o2.elf", "provenance": "predicted"});
    assert_has(&shown[0], kept);
    assert_has(
        &shown[0],
        json!({"algorithm": "cv25519", "operation": "decrypt"}),
    );
}

#[test]
fn explanations_and_profiles_add_up_as_json() {
    let place = Place::new(KEYMARK);
    let explained = &place
        .rows("mcu explain stm32f405:umaal=off stm32f405 --algorithm x25519 --format json")[0];
    for side in ["first", "second"] {
        let whole = number(&explained[side], "cycles");
        assert_eq!(sum(&explained["differences"], side), whole);
    }

    let elf = kernel("x25519-umaal-o2.elf");
    let run = &place.rows(&format!("mcu run {elf} --mcu nrf52840 --format json"))[0];
    let whole = number(run, "cycles");
    assert_eq!(sum(&run["phases"], "cycles"), whole);
    assert_eq!(sum(&run["functions"], "cycles"), whole);
    assert_has(&run["end"], json!({"ending": "exit", "exit_code": 0}));
    assert_eq!(run["functions"][0]["function"], "fe25519_mul");
    assert_eq!(number(run, "seconds"), whole / 64e6, "at 64 MHz");
    let printed = run["output"].as_str().unwrap();
    assert!(printed.len() > 60, "the kernel prints its result: {run}");
}

#[test]
fn json_tells_a_fault_from_a_limit() {
    let place = Place::new(KEYMARK);
    let elf = kernel("x25519-umaal-o2.elf");
    let end = |arguments: &str| {
        let run = format!("mcu run {elf} --format json {arguments}");
        place.ends(&run, 1).rows()[0]["end"].clone()
    };
    let fault = end("--mcu stm32f103");
    assert_eq!(fault["ending"], "fault");
    assert_says(&fault["reason"], ["no DSP extension"]);
    assert!(fault["address"].as_u64() > Some(0), "{fault}");
    assert!(!fault["place"].as_str().unwrap().is_empty(), "{fault}");
    let limit = end("--mcu stm32f405 --time 1000");
    assert_eq!(limit["ending"], "limit");
    assert!(limit["reason"].is_null(), "{limit}");
}

#[test]
fn what_cannot_be_run_is_refused_with_the_reason() {
    let place = Place::new(KEYMARK);
    let elf = kernel("x25519-umull-o2.elf");
    let file = place.path("not.elf");
    std::fs::write(&file, "not a program").unwrap();
    let umaal = kernel("x25519-umaal-o2.elf");
    for (arguments, reasons) in [
        (&*file.display().to_string(), &["ELF"][..]),
        // Without an end, and without reading it all.
        ("/dev/zero", &["more than 64 MiB", "its memory has 148 KiB"]),
        ("/bin/true", &["arm-none-eabi-gcc"]),
        (
            &format!("{elf} --time 1000"),
            &["no end after 1000 instructions, now at"],
        ),
        (
            &format!("{umaal} --mcu stm32f103"),
            &["the program stopped after", "DSP"],
        ),
    ] {
        let said = place.refused(&format!("mcu run {arguments}"), 1);
        assert_says(&said, reasons);
    }
    for (arguments, reason) in [
        ("mcu predict --mcu z80", "stm32f103"),
        ("mcu predict --mcu stm32f103@1000", "72 MHz"),
        ("mcu predict --option square=9", "doubled, twice"),
        ("mcu predict --algorithm rsa512", "rsa2048"),
        ("mcu explain stm32f103:umaal=on stm32f103", "UMAAL"),
        ("mcu storage --geometry floppy", "stm32l432"),
    ] {
        assert_says(&place.refused(arguments, 2), [reason]);
    }
    let nothing = place.refused("mcu predict --mcu stm32f103 --option umaal=on", 3);
    assert_says(&nothing, ["no UMAAL"]);
}

#[test]
fn data_apart_from_flash_and_ram_is_named() {
    let place = Place::new(KEYMARK);
    let mut elf = std::fs::read(kernel("x25519-umull-o2.elf")).unwrap();
    // A third program header, of 8 bytes of backup RAM that nothing is loaded into.
    let end = elf.len();
    elf.extend_from_within(52..52 + 2 * 32);
    for word in [1, 0, 0x4002_4000, 0x4002_4000, 0, 8, 6, 4_u32] {
        elf.extend(word.to_le_bytes());
    }
    elf[28..32].copy_from_slice(&(end as u32).to_le_bytes());
    elf[44] = 3;
    let file = place.path("backup.elf");
    std::fs::write(&file, elf).unwrap();
    let run = format!("mcu run {} --mcu stm32f405", file.display());
    let said = place.ends(&run, 0).stderr;
    assert_says(&said, ["8 bytes at 0x40024000 are outside"]);
}

#[test]
fn tables_are_as_wide_as_the_terminal() {
    let place = Place::new(KEYMARK);
    let [before, elf] = ["x25519-c-os.elf", "x25519-umull-o2.elf"].map(kernel);
    for arguments in [
        "mcu list".to_owned(),
        "mcu storage".to_owned(),
        format!("mcu run {elf} --annotate"),
        format!("mcu compare {before} {elf} --mcu stm32f103,stm32l432"),
        "mcu explain stm32f405:umaal=off stm32f405 --algorithm x25519".to_owned(),
        "mcu predict --algorithm x25519 --mcu stm32f103,stm32l432,stm32f405,nrf52840".to_owned(),
    ] {
        let mut keymark = place.keymark(&arguments);
        let shown = keymark.env("COLUMNS", "100").ends(0).stdout;
        assert!(shown.lines().count() > 5, "{arguments}: {shown}");
        // A path is not broken.
        let wide = shown
            .lines()
            .find(|line| line.chars().count() > 100 && !line.contains(".elf on"));
        assert_eq!(wide, None, "{arguments}");
    }
}
