//! Peculiarities of the processors that a figure's reader must know: emulation, several kinds of cores, throttling.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::shipped::shipped;
use crate::words::words;

/// Text of a file below the root, trimmed; none if it is empty or cannot be read.
pub(crate) type Read<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Cores of one kind, where this process may use several kinds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CoreKind {
    /// Name of the core's design, or its relative capacity.
    pub name: String,
    /// The cores as taskset(1) takes them: `0-3,6`.
    pub cores: String,
}

words! {
    /// Cause for which the firmware of a Raspberry Pi has slowed it down since its start (`vcgencmd get_throttled`, its lowest
    /// bits, in order).
    pub enum Throttling("cause of throttling") {
        /// Too low a supply voltage.
        UnderVoltage = "under-voltage",
        /// The frequency was capped.
        FrequencyCapped = "frequency capped",
        /// The processor was throttled.
        Throttled = "throttled",
        /// The soft limit of the temperature was reached.
        TemperatureLimit = "temperature limit",
    }
}

impl Throttling {
    /// Reads the causes now (bits 0 to 3) and since the start (bits 16 to 19; raspberrypi.com, "vcgencmd get_throttled").
    pub(crate) fn read(text: Read<'_>) -> Vec<Self> {
        let digits =
            text("sys/devices/platform/soc/soc:firmware/get_throttled").unwrap_or_default();
        let bits = u32::from_str_radix(digits.trim_start_matches("0x"), 16).unwrap_or_default();
        let is_set = |at: usize| (bits | bits >> 16) & (1 << at) != 0;
        let causes = Self::ALL.iter().enumerate();
        { causes }
            .filter(|(at, _)| is_set(*at))
            .map(|(_, cause)| *cause)
            .collect()
    }
}

/// Arm Limited's cores by "CPU part".
static ARM: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| shipped(include_str!("../../../data/arm-cores.toml")));

/// Beginnings of architectures' names, of programs (`std::env::consts::ARCH`) and of kernels (`uname -m`), by family: a
/// kernel runs programs of its own family without an emulator.
const FAMILIES: [&[&str]; 7] = [
    &["x86", "i386", "i586", "i686"],
    &["arm", "aarch64"],
    &["powerpc", "ppc"],
    &["riscv"],
    &["mips"],
    &["s390"],
    &["loongarch"],
];

fn family(architecture: &str) -> Option<usize> {
    let is_of = |names: &&[&str]| names.iter().any(|name| architecture.starts_with(name));
    FAMILIES.iter().position(is_of)
}

/// Returns what runs this program in place of a processor of its own: the architecture of the machine, or QEMU as a whole
/// machine. `program` is as in `std::env::consts::ARCH`.
pub(crate) fn emulated_on(cpuinfo: &str, text: Read<'_>, program: &str) -> Option<String> {
    let has = |key| field(cpuinfo, key, ':').is_some();
    if field(cpuinfo, "model name", ':').is_some_and(|name| name.starts_with("QEMU TCG CPU")) {
        return Some("QEMU".to_owned());
    }
    let by_fields = || {
        let x86 = (has("vendor_id") && has("flags")).then_some("x86_64");
        let machine = x86.or_else(|| has("CPU implementer").then_some("aarch64"))?;
        Some(machine.to_owned())
    };
    // Linux 6.1 and later say it; QEMU makes up a cpuinfo of its guest, but not this file.
    let machine = text("proc/sys/kernel/arch").or_else(by_fields)?;
    (family(&machine)? != family(program)?).then_some(machine)
}

/// Returns the processor's name: that of x86, or the board and the designs of its cores on Arm.
pub(crate) fn model(cpuinfo: &str, text: Read<'_>) -> Option<String> {
    let board = field(cpuinfo, "Model", ':').or_else(|| {
        let name = text("proc/device-tree/model")?;
        Some(name.trim_end_matches('\0').to_owned())
    });
    let cores: BTreeSet<String> = sections(cpuinfo).filter_map(|(_, core)| core).collect();
    let known: Vec<String> = board.into_iter().chain(cores).collect();
    match field(cpuinfo, "model name", ':') {
        Some(name) if field(cpuinfo, "vendor_id", ':').is_some() || known.is_empty() => Some(name),
        _ => (!known.is_empty()).then(|| known.join(", ")),
    }
}

/// Returns the kinds of the cores that this process may use, if there are several.
pub(crate) fn core_kinds(cpuinfo: &str, text: Read<'_>) -> Vec<CoreKind> {
    let status = text("proc/self/status").unwrap_or_default();
    let allowed = numbers(&field(&status, "Cpus_allowed_list", ':').unwrap_or_default());
    let hybrid =
        |kind: &str| numbers(&text(&format!("sys/devices/cpu_{kind}/cpus")).unwrap_or_default());
    let (performance, efficient) = (hybrid("core"), hybrid("atom"));
    let designs: Vec<(u32, Option<String>)> = sections(cpuinfo).collect();
    let name = |cpu: u32| {
        if performance.contains(&cpu) {
            return Some("performance".to_owned());
        }
        if efficient.contains(&cpu) {
            return Some("efficient".to_owned());
        }
        let known = designs.iter().find(|(number, _)| *number == cpu);
        known.and_then(|(_, design)| design.clone()).or_else(|| {
            let capacity = text(&format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"))?;
            Some(format!("capacity {capacity}"))
        })
    };
    let mut kinds: Vec<(String, Vec<u32>)> = Vec::new();
    for cpu in allowed {
        let Some(name) = name(cpu) else {
            return Vec::new();
        };
        match kinds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, cores)) => cores.push(cpu),
            None => kinds.push((name, vec![cpu])),
        }
    }
    if kinds.len() < 2 {
        return Vec::new();
    }
    let kind = |(name, cores): (String, Vec<u32>)| CoreKind {
        name,
        cores: list(&cores),
    };
    kinds.into_iter().map(kind).collect()
}

/// The value of the first `key: value` (or `key=value`) line.
pub(crate) fn field(text: &str, key: &str, separator: char) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(separator)?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

/// The processors of `/proc/cpuinfo` with the designs of their cores, where Arm's fields say them.
fn sections(cpuinfo: &str) -> impl Iterator<Item = (u32, Option<String>)> {
    cpuinfo.split("\n\n").filter_map(|section| {
        let number = field(section, "processor", ':')?.parse().ok()?;
        let hex = |key| {
            let value = field(section, key, ':')?;
            u32::from_str_radix(value.trim_start_matches("0x"), 16).ok()
        };
        let (maker, part) = (hex("CPU implementer"), hex("CPU part"));
        let design = maker.zip(part).map(|(maker, part)| {
            let known = ARM.get(&format!("{part:#x}")).filter(|_| maker == 0x41);
            known
                .cloned()
                .unwrap_or_else(|| format!("core {maker:#04x}/{part:#05x}"))
        });
        Some((number, design))
    })
}

/// `0-3,6` as numbers.
fn numbers(list: &str) -> Vec<u32> {
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some(first.parse().ok()?..=last.parse::<u32>().ok()?.min(0xffff))
    };
    { list.trim().split(',') }
        .filter_map(range)
        .flatten()
        .collect()
}

/// Ascending numbers as `0-3,6`.
fn list(numbers: &[u32]) -> String {
    let text = |range: &[u32]| match range {
        [] => None,
        [one] => Some(one.to_string()),
        [first, .., last] => Some(format!("{first}-{last}")),
    };
    let ranges = numbers.chunk_by(|before, after| before + 1 == *after);
    ranges.filter_map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "processor : 0\nvendor_id : AuthenticAMD\nmodel name : AMD EPYC\nflags : fpu";

    fn arm(parts: &[(u32, u32)]) -> String {
        let section = |(cpu, part): &(u32, u32)| {
            format!("processor\t: {cpu}\nCPU implementer\t: 0x41\nCPU part\t: {part:#x}\n\n")
        };
        parts.iter().map(section).collect()
    }

    fn files(known: &[(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
        let known = known.to_vec();
        move |path| {
            let found = known.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| (*text).to_owned())
        }
    }

    #[test]
    fn a_program_on_a_machine_of_another_architecture_is_emulated() {
        let own = arm(&[(0, 0xd03)]);
        let whole = X86.replace("AMD EPYC", "QEMU TCG CPU version 2.5+");
        for (cpuinfo, kernel, program, expected) in [
            // What QEMU 7.2 shows, and later versions, which make up an Arm processor's file.
            (X86, "", "aarch64", Some("x86_64")),
            (X86, "", "arm", Some("x86_64")),
            (&own, "x86_64", "aarch64", Some("x86_64")),
            (&own, "x86_64", "arm", Some("x86_64")),
            (&own, "", "aarch64", None),
            (&own, "", "arm", None),
            (X86, "x86_64", "x86_64", None),
            (X86, "aarch64", "x86_64", Some("aarch64")),
            (&whole, "x86_64", "x86_64", Some("QEMU")),
            // 32 bits on 64, and other names in kernels and programs.
            ("", "aarch64", "arm", None),
            ("", "ppc64le", "powerpc64", None),
            ("", "s390x", "s390x", None),
            ("", "mips", "mips64", None),
            ("", "armv7l", "arm", None),
        ] {
            let text = |path: &str| {
                let is_told = path == "proc/sys/kernel/arch" && !kernel.is_empty();
                is_told.then(|| kernel.to_owned())
            };
            let found = emulated_on(cpuinfo, &text, program);
            assert_eq!(found.as_deref(), expected, "{program} on {kernel}");
        }
    }

    #[test]
    fn a_board_is_named_with_its_cores() {
        let pi = format!(
            "{}Model\t: Raspberry Pi 5 Model B Rev 1.0\n",
            arm(&[(0, 0xd0b), (1, 0xd0b)])
        );
        // A kernel of 32 bits names the architecture only.
        let zero = "processor : 0\nmodel name : ARMv6-compatible processor rev 7 (v6l)\nCPU implementer : 0x41\n\
                    CPU part : 0xb76\n\nModel : Raspberry Pi Zero W Rev 1.1";
        for (cpuinfo, expected) in [
            (&*pi, Some("Raspberry Pi 5 Model B Rev 1.0, Cortex-A76")),
            (zero, Some("Raspberry Pi Zero W Rev 1.1, ARM1176")),
            (&arm(&[(0, 0xd40)]), Some("Neoverse-V1")),
            (&arm(&[(0, 0xfff)]), Some("core 0x41/0xfff")),
            (X86, Some("AMD EPYC")),
            ("", None),
        ] {
            assert_eq!(model(cpuinfo, &files(&[])).as_deref(), expected);
        }
    }

    #[test]
    fn kinds_of_cores_are_told_where_several_may_be_used() {
        // RK3399: four small cores, two large ones.
        let small = (0..4).map(|cpu| (cpu, 0xd03));
        let cpuinfo = arm(&small.chain([(4, 0xd08), (5, 0xd08)]).collect::<Vec<_>>());
        let kinds = |allowed| core_kinds(&cpuinfo, &files(&[("proc/self/status", allowed)]));
        let told: Vec<_> = kinds("Cpus_allowed_list:\t0-5")
            .into_iter()
            .map(|kind| (kind.name, kind.cores))
            .collect();
        let expected = [("Cortex-A53", "0-3"), ("Cortex-A72", "4-5")];
        assert_eq!(
            told,
            expected.map(|(name, cores)| (name.to_owned(), cores.to_owned()))
        );
        assert_eq!(kinds("Cpus_allowed_list:\t4-5"), []);
        assert_eq!(kinds("Cpus_allowed_list:\t0,2").len(), 0);
        let hybrid = files(&[
            ("proc/self/status", "Cpus_allowed_list:\t0-3"),
            ("sys/devices/cpu_core/cpus", "0-1"),
            ("sys/devices/cpu_atom/cpus", "2-3"),
        ]);
        assert_eq!(core_kinds(X86, &hybrid).len(), 2);
        let capacities = files(&[
            ("proc/self/status", "Cpus_allowed_list:\t0-1"),
            ("sys/devices/system/cpu/cpu0/cpu_capacity", "446"),
            ("sys/devices/system/cpu/cpu1/cpu_capacity", "1024"),
        ]);
        assert_eq!(core_kinds("", &capacities)[1].name, "capacity 1024");
    }

    #[test]
    fn lists_of_cores_are_read_and_written_as_taskset_does() {
        for text in ["0", "0-3", "0-3,6", "1,3,5-7", ""] {
            assert_eq!(list(&numbers(text)), text);
        }
        assert_eq!(numbers("a-b,2,-"), [2]);
    }

    #[test]
    fn throttling_is_read_from_the_firmwares_bits() {
        let of = |bits| {
            Throttling::read(&files(&[(
                "sys/devices/platform/soc/soc:firmware/get_throttled",
                bits,
            )]))
        };
        assert_eq!(of("0"), []);
        assert_eq!(
            of("50005"),
            [Throttling::UnderVoltage, Throttling::Throttled]
        );
        assert_eq!(of("0x80000"), [Throttling::TemperatureLimit]);
        assert_eq!(Throttling::read(&files(&[])), []);
    }
}
