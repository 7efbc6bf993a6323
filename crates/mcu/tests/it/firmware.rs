//! Programs as their authors build them: what is refused before it runs, what code is called, registers that tell the time,
//! exceptions, and the example in `examples/mcu`.
//!
//! Needs gcc-arm-none-eabi; without it it is skipped.

use std::path::{Path, PathBuf};
use std::process::Command;

use keymark_mcu::image::Image;
use keymark_mcu::listing::Listing;
use keymark_mcu::machine::{Reason, SimulatedMachine, Stop};
use keymark_mcu::microcontroller::Microcontroller;
use keymark_mcu::predict::Banded;
use keymark_mcu::profiler::Profiler;
use keymark_mcu::timing::{Timing, Untimed};

use crate::cross::{GCC, assembled, load, needs, refusal};
use crate::register;

/// A program at that address, with these further words for the compiler.
fn build_at(address: u32, assembly: &str, words: &[&str]) -> Vec<u8> {
    let text = format!("-Wl,-Ttext={address:#x},-Tdata=0x20000000");
    assembled(assembly, &[&["-g", &text, "-e", "reset"], words].concat())
}

fn build(assembly: &str) -> Vec<u8> {
    build_at(0x0800_0000, assembly, &["-mcpu=cortex-m4"])
}

/// With a vector table of sixteen entries, the rest of which are `handler`.
fn with_vectors(stack: u32, code: &str) -> String {
    format!(
        ".word {stack:#x}, reset\n.rept 14\n.word handler\n.endr\n\
         .thumb_func\n.type handler, %function\nhandler: {code}\n"
    )
}

const PLAIN: &str = "bx lr\n.thumb_func\n.type reset, %function\n.global reset\nreset: b .";

#[test]
fn what_is_no_thumb_code_does_not_begin() {
    needs!(GCC);
    let even = ".global reset\nreset: b .";
    let in_table = with_vectors(0x2000_1000, &format!("bx lr\n{even}"));
    for (code, entry) in [(even, "0x08000000"), (&in_table, "0x08000042")] {
        let refused = refusal(&build(code), "stm32l432");
        assert!(
            refused.contains(&format!("entry {entry} is not")),
            "{refused}"
        );
    }
}

#[test]
fn code_for_other_cores_is_named() {
    needs!(GCC);
    for (core, name) in [
        ("cortex-m33", "Armv8-M"),
        ("cortex-m23", "Armv8-M"),
        ("cortex-a7", "Armv7-A"),
        ("arm926ej-s", "A32"),
    ] {
        let code = format!(".cpu {core}\n.global reset\n.thumb_func\nreset: b .");
        let elf = build_at(
            0x0800_0000,
            &code,
            &[&format!("-mcpu={core}"), "-mfloat-abi=soft"],
        );
        let refused = Image::parse(&elf).unwrap_err().to_string();
        assert!(refused.contains(name), "{core}: {refused}");
    }
}

#[test]
fn labels_without_a_type_name_code() {
    needs!(GCC);
    let code = "bx lr\n.size handler, .-handler\n.thumb_func\n.global reset\nreset: nop\ninner: nop\nb untyped\n\
         .thumb_func\n.type sized, %function\nsized: nop\nlocal: b later\n.size sized, .-sized\nlater: nop\nudf #0\n\
         .global untyped\n.thumb_func\nuntyped: b sized";
    let elf = build(&with_vectors(0x2000_1000, code));
    let image = Image::parse(&elf).unwrap();
    let names: Vec<&str> = image
        .code()
        .iter()
        .map(|symbol| symbol.name.as_str())
        .collect();
    assert_eq!(names, ["handler", "reset", "sized", "later", "untyped"]);
    let mut machine = load(&elf, "stm32l432").unwrap();
    let Stop::Fault(fault) = machine.run(&mut Untimed, 100) else {
        panic!("it must end at udf");
    };
    let place = image.place(fault.address);
    assert!(place.starts_with("later+0x2 (x.s:"), "{place}");
}

#[test]
fn names_of_cpp_and_rust_are_made_readable() {
    needs!(GCC);
    let code = "bx lr\n.global _ZN4aead7encryptEPKhj, _RNvC6_123foo3bar, _ZN4core3ptr17h0123456789abcdefE, reset, f\n\
         .thumb_func\nreset: nop\n.thumb_func\n_ZN4aead7encryptEPKhj: nop\n.thumb_func\n_RNvC6_123foo3bar: nop\n\
         .thumb_func\n_ZN4core3ptr17h0123456789abcdefE: b .\n\
         .thumb_func\nf: b .";
    let elf = build(&with_vectors(0x2000_1000, code));
    let image = Image::parse(&elf).unwrap();
    let names: Vec<&str> = image
        .code()
        .iter()
        .map(|symbol| symbol.name.as_str())
        .collect();
    assert!(
        names[2].starts_with("aead::encrypt(unsigned char const*, unsigned int)"),
        "{names:?}"
    );
    assert_eq!(names[3], "123foo::bar");
    assert!(names[4].starts_with("core::ptr"), "{names:?}");
    assert_eq!(names[5], "f", "which C++ has as a word for float");
}

/// Runs a program on that part with timing.
fn timed(elf: &[u8], part: &str) -> (SimulatedMachine, Profiler, Stop) {
    let part = Microcontroller::find(part).unwrap();
    let image = Image::parse(elf).unwrap();
    let mut machine = part.load(&image).unwrap();
    let mut profiler = Profiler::new(Banded::whole(&part), &image);
    let stop = machine.run(&mut profiler, 10_000_000);
    (machine, profiler, stop)
}

const EXIT: &str = "movs r0, #0x18\nldr r1, =0x20026\nbkpt #0xab\n.ltorg\n";

#[test]
fn the_cycle_counter_is_keymark_s_own_count() {
    needs!(GCC);
    // Everything between two reads, in all sorts of instructions, as a phase. A read tells the time at which it begins,
    // which is where a phase begins whose marker is before it.
    let code = format!(
        "bx lr\n.thumb_func\n.global reset\nreset: ldr r0, =0xe000edfc\nldr r1, [r0]\norr r1, #1 << 24\nstr r1, [r0]\n\
         ldr r4, =0xe0001000\nmovs r1, #1\nstr r1, [r4]\nldr r7, =0x20000100\n\
         bkpt #1\nldr r5, [r4, #4]\nmovs r3, #200\n1: umull r0, r1, r3, r3\npush {{r0-r3}}\npop {{r0-r3}}\nudiv r0, r4, r3\n\
         ldr r2, [r7]\nsubs r3, #1\nbne 1b\nbkpt #2\nldr r6, [r4, #4]\n{EXIT}"
    );
    let elf = build(&with_vectors(0x2000_1000, &code));
    for part in ["stm32f103", "stm32f405", "stm32l432"] {
        let (machine, profiler, stop) = timed(&elf, part);
        assert_eq!(stop, Stop::Exit(0), "{part}");
        let [begun, ended] = [5, 6].map(|number| register(&machine, number));
        let phases = profiler.pipeline().phases();
        let phase = phases.iter().find(|phase| phase.number == 1).unwrap();
        let between = u64::from(ended.wrapping_sub(begun));
        assert_eq!(between, phase.account.cycles(), "{part}");
    }
}

#[test]
fn systick_interrupts_and_counts() {
    needs!(GCC);
    // Every 1000 cycles R9 counts; the loop ends after ten of them and reads the counter of cycles.
    let code = format!(
        "add r9, #1\nbx lr\n.thumb_func\n.global reset\nreset: ldr r0, =0xe000edfc\nmov r1, #1 << 24\nstr r1, [r0]\n\
         ldr r4, =0xe0001000\nmovs r1, #1\nstr r1, [r4]\nldr r0, =0xe000e010\nmovw r1, #999\nstr r1, [r0, #4]\n\
         movs r1, #0\nstr r1, [r0, #8]\nmovs r1, #7\nstr r1, [r0]\nldr r5, [r4, #4]\n\
         1: cmp r9, #10\nbne 1b\nldr r6, [r4, #4]\nldr r7, [r0, #8]\ncpsid i\nmovw r2, #3000\n2: subs r2, #1\nbne 2b\n\
         mov r8, r9\ncpsie i\nnop\nnop\n{EXIT}"
    );
    let elf = build(&with_vectors(0x2000_1000, &code));
    let (machine, _, stop) = timed(&elf, "stm32l432");
    assert_eq!(stop, Stop::Exit(0));
    let register = |number| register(&machine, number);
    let gone = register(6) - register(5);
    assert!(
        (9_900..10_100).contains(&gone),
        "{gone} cycles for ten ticks"
    );
    assert!(
        (900..1_000).contains(&register(7)),
        "the counter has just begun anew: {}",
        register(7)
    );
    assert_eq!(register(8), 10, "no tick while masked");
    assert!(register(9) > 10, "but after that");
}

#[test]
fn supervisor_calls_come_back() {
    needs!(GCC);
    // The handler adds the number of its exception to the saved R0 and changes all that is saved.
    let code = format!(
        "mrs r0, ipsr\nldr r1, [sp]\nadd r1, r0\nstr r1, [sp]\nmovs r2, #0\nmovs r3, #0\nmov r12, r2\nbx lr\n\
         .thumb_func\n.global reset\nreset: movs r0, #100\nmovs r2, #2\nmovs r3, #3\nmov r12, r3\ncmp r2, r3\nsvc #7\n\
         mov r6, r0\nmrs r7, apsr\nmov r8, r2\nadd r8, r3\nadd r8, r12\nmrs r9, ipsr\n{EXIT}"
    );
    let elf = build(&with_vectors(0x2000_1004, &code));
    let (machine, _, stop) = timed(&elf, "stm32f103");
    assert_eq!(stop, Stop::Exit(0));
    let seen = [6, 7, 8, 9, 13].map(|number| register(&machine, number));
    assert_eq!(seen, [111, 0x8000_0000, 8, 0, 0x2000_1004]);
}

#[test]
fn registers_of_the_part_and_bit_bands_answer() {
    needs!(GCC);
    // The crystal of an STM32F405 is ready as soon as it is on; a bit of RAM by its alias; CCM; a peripheral that is not there.
    let code = "bx lr\n.thumb_func\n.global reset\nreset: ldr r0, =0x40023800\nldr r1, [r0]\norr r1, #1 << 16\nstr r1, [r0]\n\
         ldr r5, [r0]\nldr r0, =0x20000100\nmovs r1, #0\nstr r1, [r0]\nldr r2, =0x22002014\nmovs r1, #1\nstr r1, [r2]\n\
         ldr r6, [r0]\nldr r7, [r2]\nldr r0, =0x10000000\nstr r2, [r0, #8]\nldr r8, [r0, #8]\nldr r0, =0x40026000\nldr r1, [r0]\n.ltorg";
    let elf = build(&with_vectors(0x2000_1000, code));
    let (machine, _, stop) = timed(&elf, "stm32f405");
    let seen = [5, 6, 7, 8].map(|number| register(&machine, number));
    assert_eq!(seen, [0x3_0083, 0x20, 1, 0x2200_2014]);
    let Stop::Fault(fault) = stop else {
        panic!("{stop}");
    };
    assert!(matches!(fault.reason, Reason::Bus(_)), "{fault}");
}

/// `examples/mcu`, built in a directory of its own.
fn example() -> (tempfile::TempDir, PathBuf) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mcu");
    let directory = tempfile::tempdir().unwrap();
    for name in ["Makefile", "keymark.h", "link.ld", "main.c", "startup.c"] {
        std::fs::copy(from.join(name), directory.path().join(name)).unwrap();
    }
    let make = Command::new("make")
        .arg("firmware.elf")
        .current_dir(&directory)
        .output()
        .unwrap();
    assert!(
        make.status.success(),
        "{}",
        String::from_utf8_lossy(&make.stderr)
    );
    let elf = directory.path().join("firmware.elf");
    (directory, elf)
}

#[test]
fn the_example_times_itself_as_keymark_does() {
    needs!(GCC, "make");
    let (_directory, elf) = example();
    let elf = std::fs::read(elf).unwrap();
    let (machine, profiler, stop) = timed(&elf, "stm32f405");
    let output = String::from_utf8(machine.output().to_vec()).unwrap();
    assert_eq!(stop, Stop::Exit(0), "{output}");
    let number = |name: &str| -> u64 {
        let line = output.lines().find(|line| line.starts_with(name)).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let phases = profiler.pipeline().phases();
    let hash = phases.iter().find(|phase| phase.number == 1).unwrap();
    assert_eq!(hash.count, 100);
    let mean = hash.account.cycles() / hash.count;
    assert_eq!(number("average"), mean, "{output}");
    assert_eq!(
        number("milliseconds"),
        profiler.pipeline().now() / 168_000,
        "{output}"
    );
    let image = Image::parse(&elf).unwrap();
    let mut names: Vec<(u8, &str)> = image.phase_names().collect();
    names.sort_unstable();
    assert_eq!(names, [(1, "hash"), (2, "average")]);
}

#[test]
fn each_instruction_of_a_function_is_listed_with_its_cycles() {
    needs!(GCC, "make");
    let (_directory, elf) = example();
    let elf = std::fs::read(elf).unwrap();
    let (machine, profiler, _) = timed(&elf, "stm32f405");
    let (part, image) = (
        Microcontroller::find("stm32f405").unwrap(),
        Image::parse(&elf).unwrap(),
    );
    for (name, spent) in profiler.flat() {
        let symbol = image.code().iter().find(|one| one.name == name).unwrap();
        let range = symbol.address..symbol.address + symbol.size;
        let (mut listing, mut again) = Listing::new(&part, range, part.load(&image).unwrap());
        assert_eq!(again.run(&mut listing, 10_000_000), Stop::Exit(0));
        assert_eq!(again.executed(), machine.executed());
        assert_eq!(
            listing.now(),
            profiler.now(),
            "cut apart, {name} takes as long"
        );
        let lines = listing.lines().values();
        let counted: u64 = lines.clone().map(|line| line.count).sum();
        assert_eq!(counted, spent.instructions, "{name}");
        let cycles: u64 = lines.clone().map(|line| line.cycles).sum();
        // An exception between two instructions is nobody's.
        assert!(
            (spent.cycles - cycles).is_multiple_of(12),
            "{name}: {cycles} of {spent:?}"
        );
        let waited: u64 = lines.flat_map(|line| line.waits.values()).sum();
        assert!(waited < cycles, "{name}");
    }
}

/// Values of registers at the end of a program for that part, behind what is in front of its vector table.
fn registers(part: &str, front: &str, code: &str, words: &[&str]) -> ([u32; 8], SimulatedMachine) {
    let part_of = Microcontroller::find(part).unwrap();
    let code = format!("bx lr\n.thumb_func\n.global reset\nreset: {code}\n{EXIT}");
    let table = with_vectors(0x2000_1000, &code);
    let cpu = format!(
        "-mcpu={}",
        part_of.core.to_string().to_lowercase().replace('+', "plus")
    );
    let words = [&[cpu.as_str()], words].concat();
    let elf = build_at(
        part_of.layout.flash_base,
        &format!("{front}{table}"),
        &words,
    );
    let (machine, _, stop) = timed(&elf, part);
    assert_eq!(stop, Stop::Exit(0), "{part} {words:?}");
    let values = std::array::from_fn(|number| register(&machine, number as u32));
    (values, machine)
}

#[test]
fn the_vector_table_is_where_a_name_or_the_entry_says() {
    needs!(GCC);
    // SysTick's handler counts in R7.
    let code = "b begin\n.thumb_func\ntick: adds r7, #1\nbx lr\n.ltorg\nbegin: movs r7, #0\nldr r0, =0xe000e010\n\
                movs r1, #100\nstr r1, [r0, #4]\nmovs r1, #7\nstr r1, [r0]\n1: cmp r7, #3\nblo 1b";
    let table = ".word 0x20001000, reset\n.rept 13\n.word 0\n.endr\n.word tick\n.space 192\n";
    // In front of it are words that are no table.
    let headers = ".word 0x464c457f, 0x00010101\n.space 248\n";
    let named = format!("{headers}.global __Vectors\n__Vectors: {table}");
    let unnamed = format!("{headers}{table}");
    for (front, words) in [
        (&named, &["-Wl,-e,handler"][..]),
        (&unnamed, &[]),
        (&unnamed, &["-s"]),
        (&unnamed, &["-Wl,-Ttext=0x08008000"]),
        // The file's own headers are in the segment.
        (
            &table.to_owned(),
            &["-Wl,-Ttext=0x08008000,-z,max-page-size=0x10000"],
        ),
    ] {
        let (values, _) = registers("stm32f405", front, code, words);
        assert_eq!(values[7], 3, "{words:?}");
    }
}

const APART: [&str; 2] = [
    "-Wl,--section-start=.options=0x1fffc000",
    "-Wl,--section-start=.backup=0x40024000",
];

#[test]
fn data_apart_from_flash_and_ram_is_kept() {
    needs!(GCC);
    // Option bytes are read; backup RAM is written and read again.
    let sections = ".section .options, \"a\"\n.word 0x1234\n.byte 5\n.section .backup, \"aw\", %nobits\n.space 8\n.text\n";
    let code = "ldr r0, =0x1fffc000\nldr r4, [r0]\nldr r5, [r0, #1]\nldr r0, =0x40024000\nmovs r1, #9\nstrb r1, [r0, #5]\n\
                ldr r6, [r0, #4]";
    let (values, machine) = registers("stm32f405", sections, code, &APART);
    assert_eq!(values[4..7], [0x1234, 0x0500_0012, 0x900]);
    let apart: Vec<_> = machine.memory.apart().collect();
    assert_eq!(apart, [(0x1fff_c000, 8), (0x4002_4000, 8)]);
}

#[test]
fn what_is_linked_for_another_part_is_refused() {
    needs!(GCC);
    let elf = build_at(
        0x0800_0000,
        &with_vectors(0x2000_1000, PLAIN),
        &["-mcpu=cortex-m0"],
    );
    for (part, memory) in [
        ("nrf52840", "1024 KiB of flash at 0x00000000"),
        ("rp2040", "linked for RAM"),
    ] {
        let refused = refusal(&elf, part);
        let all = refused.contains("bytes at 0x08000000 do not fit") && refused.contains(memory);
        assert!(all, "{part}: {refused}");
    }
    // A variable behind the RAM, code in what is no memory, and data too large to lie apart.
    for (section, bytes, place) in [
        ("\"aw\"\n.word 1", 4, "0x20010000"),
        ("\"ax\"\nnop", 2, "0x10000000"),
        ("\"a\"\n.space 0x10001", 0x10001, "0x90000000"),
    ] {
        let start = format!("-Wl,--section-start=.x={place}");
        let table = with_vectors(0x2000_1000, PLAIN);
        let code = format!("{table}.section .x, {section}");
        let elf = build_at(0x0800_0000, &code, &["-mcpu=cortex-m3", &start]);
        let refused = refusal(&elf, "stm32f103");
        assert!(
            refused.contains(&format!("{bytes} bytes at {place}")),
            "{refused}"
        );
    }
}

#[test]
fn bits_that_a_part_lacks_read_as_zero() {
    needs!(GCC);
    // Ones are written: priorities of interrupts, SHPR3, AIRCR without its key, MPU_TYPE.
    let code = "movs r1, #0\nmvns r1, r1\nldr r0, =0xe000e400\nstr r1, [r0]\nldr r2, [r0]\nldr r0, =0xe000ed00\n\
                str r1, [r0, #0x20]\nldr r3, [r0, #0x20]\nstr r1, [r0, #12]\nldr r4, [r0, #12]\nadds r0, #0x90\n\
                str r1, [r0]\nldr r5, [r0]\nmsr primask, r1\nmrs r6, primask";
    for (part, priorities, system) in [
        ("stm32f405", 0xf0f0_f0f0, 0xf0f0_00f0),
        ("nrf52840", 0xe0e0_e0e0, 0xe0e0_00e0),
        ("stm32f103", 0xf0f0_f0f0, 0xf0f0_00f0),
        ("stm32l073", 0xc0c0_c0c0, 0xc0c0_0000),
        ("cortex-m4", 0xffff_ffff, 0xffff_00ff),
    ] {
        let (values, _) = registers(part, "", code, &[]);
        assert_eq!(
            values[2..7],
            [priorities, system, 0xfa05_0000, 0, 1],
            "{part}"
        );
    }
    // BASEPRI, and BASEPRI_MAX, which masks more and never less.
    let code = "movs r1, #0xff\nmsr basepri, r1\nmrs r3, basepri\nmovs r1, #0x45\nmsr basepri_max, r1\nmrs r4, basepri\n\
                movs r1, #0x80\nmsr basepri_max, r1\nmrs r5, basepri_max\nmovs r1, #0\nmsr basepri_max, r1\nmrs r6, basepri";
    for (part, values) in [
        ("stm32l476", [0xf0, 0x40, 0x40, 0x40]),
        ("cortex-m3", [0xff, 0x45, 0x45, 0x45]),
    ] {
        assert_eq!(registers(part, "", code, &[]).0[3..7], values, "{part}");
    }
}

#[test]
fn an_itm_port_is_ready_and_its_text_is_output() {
    needs!(GCC);
    let code = "ldr r0, =0xe000edfc\nmov r1, #1 << 24\nstr r1, [r0]\nldr r4, =0xe0000000\nmovs r2, #'x'\nstrb r2, [r4]\n\
                ldr r0, =0xe0000e80\nmovs r1, #1\nstr r1, [r0]\nldr r0, =0xe0000e00\nstr r1, [r0]\nmovs r2, #'h'\n\
                1: ldr r3, [r4]\ncmp r3, #0\nbeq 1b\nstrb r2, [r4]\nstr r2, [r4, #4]";
    let (_, machine) = registers("stm32f405", "", code, &[]);
    assert_eq!(machine.output(), b"h", "of port 0, since it was enabled");
}
