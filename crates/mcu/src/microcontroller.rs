//! Microcontrollers, as `data/*.toml` describes them.

use std::fmt;

use include_dir::{Dir, include_dir};
use keymark_stats::Seconds;
use serde::Deserialize;

use crate::image::Image;
use crate::machine::{Layout, SimulatedMachine, Stub};
use crate::timing::{CacheShape, CoreTiming, FlashTiming, Ports};
use crate::{McuError, Result};

pub use crate::instruction::Core;

/// The only version of the format so far.
const SCHEMA: u32 = 1;

/// Parts that come with keymark: a file each, and a README.
static SHIPPED: Dir = include_dir!("$CARGO_MANIFEST_DIR/data");

fn shipped() -> impl Iterator<Item = Result<PartFile>> {
    let files = SHIPPED.files();
    let parts = files.filter(|file| file.path().extension() == Some("toml".as_ref()));
    let texts = parts.filter_map(include_dir::File::contents_utf8);
    texts.map(|text| PartFile::parse(text, "that comes with keymark"))
}

impl Core {
    /// Its timing with memories that never wait.
    pub const fn timing(self) -> CoreTiming {
        match self {
            Self::CortexM0Plus => CoreTiming::CORTEX_M0_PLUS,
            Self::CortexM3 => CoreTiming::CORTEX_M3,
            Self::CortexM4 => CoreTiming::CORTEX_M4,
        }
    }
}

/// A clock frequency in megahertz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub struct Megahertz(pub u32);

impl Megahertz {
    /// Returns the time of these cycles.
    pub fn seconds(self, cycles: u64) -> Seconds {
        Seconds(cycles as f64 / (f64::from(self.0) * 1e6))
    }
}

impl fmt::Display for Megahertz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MHz", self.0)
    }
}

/// A part at one clock frequency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Microcontroller {
    /// Name, with `@` and the frequency where that is not the part's usual one.
    pub name: String,
    /// Parts that are the same to the model.
    pub also: Vec<String>,
    /// The part and where it is used.
    pub product: String,
    /// Decides on the instructions there are.
    pub core: Core,
    /// Their cycles with memories that never wait.
    pub timing: CoreTiming,
    /// Cycles become time by it, and the wait states of flash hang on it.
    pub clock: Megahertz,
    /// Addresses and sizes of flash and RAM.
    pub layout: Layout,
    /// Bits of a priority; all that the core can have, where that is not known.
    pub priority_bits: Option<u8>,
    /// Its own registers that start-up code writes.
    pub registers: Vec<Stub>,
    /// Flash at that frequency.
    pub flash: FlashTiming,
    /// Documents with the figures.
    pub sources: Vec<String>,
    /// Assumptions that no document confirms.
    pub assumed: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PartFile {
    schema: u32,
    name: String,
    #[serde(default)]
    also: Vec<String>,
    product: String,
    core: Core,
    /// Cycles of MUL: one, but for a Cortex-M0+ with the small multiplier.
    multiply_cycles: Option<u8>,
    clock_mhz: Megahertz,
    /// The slowest that it can be set to; 1 MHz where nothing is said.
    least_mhz: Option<Megahertz>,
    /// Neither is there where flash is not simulated.
    #[serde(default)]
    flash_base: u32,
    flash_kib: Option<u32>,
    ram_base: u32,
    ram_kib: u32,
    #[serde(default)]
    ccm_base: u32,
    #[serde(default)]
    ccm_kib: u32,
    priority_bits: Option<u8>,
    flash: Flash,
    sources: Vec<String>,
    #[serde(default)]
    assumed: Vec<String>,
    #[serde(default)]
    registers: Vec<Stub>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Flash {
    read_bytes: u8,
    reads_ahead: u8,
    wait: Vec<Wait>,
    instruction_cache: Option<CacheShape>,
    data_cache: Option<CacheShape>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Wait {
    up_to_mhz: Megahertz,
    states: u8,
}

/// The most flash and RAM that a part may be said to have.
const MOST_KIB: u32 = 16 * 1024;

impl PartFile {
    fn parse(text: &str, name: &str) -> Result<Self> {
        let malformed =
            |reason: String| McuError(format!("cannot read microcontroller {name}: {reason}"));
        let file: Self = toml::from_str(text).map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(0, |before| before.matches('\n').count()) + 1;
            malformed(format!("line {line}: {}", error.message()))
        })?;
        match file.problem() {
            Some(problem) => Err(malformed(problem)),
            None => Ok(file),
        }
    }

    /// Returns what the file got wrong.
    fn problem(&self) -> Option<String> {
        let sizes = 1..=MOST_KIB;
        let is_small = self.core == Core::CortexM0Plus;
        let (flash_size, ram) = (self.flash_size(), self.ram_kib.checked_mul(1024));
        let above = self.flash_base.checked_add(flash_size);
        let seen = flash_size.checked_next_power_of_two().unwrap_or(1);
        let mut flashes = self.flash.wait.iter().map(|wait| self.flash(wait.states));
        let problems = [
            (self.schema != SCHEMA).then(|| {
                let version = self.schema;
                format!("it has version {version}, but this keymark reads {SCHEMA}; update keymark")
            }),
            (self.ccm_kib > MOST_KIB).then(|| format!("ccm-kib must be at most {MOST_KIB}")),
            (self.flash_kib.is_some_and(|kib| !sizes.contains(&kib))
                || !sizes.contains(&self.ram_kib))
            .then(|| format!("flash-kib and ram-kib must be 1 to {MOST_KIB}")),
            (!matches!(self.multiply_cycles, None | Some(1))
                && (!is_small || self.multiply_cycles != Some(32)))
            .then(|| "multiply-cycles must be 1, or 32 on a Cortex-M0+".to_owned()),
            self.priority_bits
                .filter(|bits| is_small || !(3..=8).contains(bits))
                .map(|_| "priority-bits must be 3 to 8; a Cortex-M0+ always has 2".to_owned()),
            (above.is_none_or(|end| end > self.ram_base)
                || ram.and_then(|ram| ram.checked_add(self.ram_base)).is_none())
            .then(|| "RAM must lie above flash".to_owned()),
            (!self.flash_base.is_multiple_of(seen)).then(|| {
                format!("flash-base must be a multiple of {seen:#x}, as flash is decoded")
            }),
            self.flash
                .wait
                .is_empty()
                .then(|| "flash.wait must say how many wait states there are".to_owned()),
            flashes.find_map(|flash| flash.problem()).map(str::to_owned),
        ];
        problems.into_iter().flatten().next()
    }

    /// Finds a part, which keeps the name by which it was asked for.
    fn find(name: &str) -> Result<Self> {
        let mut known = Vec::new();
        for file in shipped() {
            let mut file = file?;
            let answers = |other: &&String| other.eq_ignore_ascii_case(name);
            let called = [&file.name].into_iter().chain(&file.also).find(answers);
            if let Some(called) = called.cloned() {
                file.name = called;
                return Ok(file);
            }
            known.push(file.name);
            known.append(&mut file.also);
        }
        Err(McuError(format!(
            "unknown microcontroller '{name}'; choose from {}, each with '@MHz' for another clock, or give the path of a \
             .toml file",
            known.join(", ")
        )))
    }

    /// Returns the size in bytes.
    fn flash_size(&self) -> u32 {
        self.flash_kib.unwrap_or_default().saturating_mul(1024)
    }

    const fn flash(&self, wait_states: u8) -> FlashTiming {
        FlashTiming {
            read_bytes: self.flash.read_bytes,
            wait_states,
            reads_ahead: self.flash.reads_ahead,
            ports: match self.core {
                Core::CortexM0Plus => Ports::Single,
                Core::CortexM3 | Core::CortexM4 => Ports::Shared,
            },
            instruction_cache: self.flash.instruction_cache,
            data_cache: self.flash.data_cache,
        }
    }

    /// Refuses a clock that the part does not allow.
    fn impossible(&self, wanted: impl fmt::Display) -> McuError {
        let fastest = self.flash.wait.iter().map(|wait| wait.up_to_mhz).max();
        let (name, most) = (&self.name, fastest.unwrap_or(self.clock_mhz));
        let least = self.least();
        McuError(format!(
            "{name} runs at {least} to {most}, not at '{wanted}'"
        ))
    }

    fn least(&self) -> Megahertz {
        self.least_mhz.unwrap_or(Megahertz(1))
    }

    /// The part at that clock, or at its usual one.
    fn at(self, clock: Option<Megahertz>) -> Result<Microcontroller> {
        let clock = clock.unwrap_or(self.clock_mhz);
        let wait = self
            .flash
            .wait
            .iter()
            .filter(|wait| wait.up_to_mhz >= clock && clock >= self.least())
            .min_by_key(|wait| wait.up_to_mhz);
        let Some(wait) = wait else {
            return Err(self.impossible(clock));
        };
        let flash = self.flash(wait.states);
        let flash_size = self.flash_size();
        let timing = CoreTiming {
            multiply: self.multiply_cycles.unwrap_or(1),
            ..self.core.timing()
        };
        let name = if clock == self.clock_mhz {
            self.name
        } else {
            format!("{}@{}", self.name, clock.0)
        };
        Ok(Microcontroller {
            name,
            also: self.also,
            product: self.product,
            core: self.core,
            timing,
            clock,
            layout: Layout {
                flash_base: self.flash_base,
                flash_size,
                ram_base: self.ram_base,
                ram_size: self.ram_kib * 1024,
                ccm_base: self.ccm_base,
                ccm_size: self.ccm_kib * 1024,
            },
            priority_bits: self.priority_bits,
            registers: self.registers,
            flash,
            sources: self.sources,
            assumed: self.assumed,
        })
    }
}

impl Microcontroller {
    /// The parts that come with keymark, each at its usual frequency.
    pub fn shipped() -> Result<Vec<Self>> {
        shipped().map(|file| file?.at(None)).collect()
    }

    /// A part as in `data`, at its usual frequency; errors call it `name`.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        PartFile::parse(text, name)?.at(None)
    }

    /// A machine of this part with that program in it.
    pub fn load(&self, image: &Image) -> Result<SimulatedMachine> {
        if let Some(found) = image.armv7().filter(|_| self.core == Core::CortexM0Plus) {
            return Err(McuError(format!(
                "this program was compiled for {found}, but a Cortex-M0+ has ARMv6-M only: compile it with \
                 -mcpu=cortex-m0plus, or choose a part with another core with --mcu"
            )));
        }
        let machine = image.machine(&self.layout)?;
        Ok(machine
            .at(u64::from(self.clock.0) * 1_000_000)
            .with_registers(&self.registers, self.priority_bits)
            .with_core(self.core))
    }

    /// The shipped part of that name, with `@MHz` for another clock.
    pub fn find(wanted: &str) -> Result<Self> {
        let (name, clock) = match wanted.rsplit_once('@') {
            Some((name, clock)) => (name, Some(clock)),
            None => (wanted, None),
        };
        let file = PartFile::find(name)?;
        let parsed = |clock: &str| clock.parse().map_err(|_| file.impossible(clock));
        let megahertz = clock.map(parsed).transpose()?;
        file.at(megahertz.map(Megahertz))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_part_can_be_read_and_names_its_sources() {
        let parts = Microcontroller::shipped().unwrap();
        assert!(parts.len() >= 5);
        for part in parts {
            assert!(
                part.sources.len() + part.assumed.len() >= 3,
                "{}",
                part.name
            );
            assert_eq!(Microcontroller::find(&part.name).unwrap(), part);
        }
    }

    #[test]
    fn a_part_is_as_its_file_says_at_that_clock() {
        let states = |name: &str| Microcontroller::find(name).unwrap().flash.wait_states;
        assert_eq!(states("stm32f103"), 2);
        assert_eq!(states("stm32f103@24"), 0);
        assert_eq!(states("stm32l432@48"), 2);
        assert_eq!(states("stm32l432@49"), 3);
        assert_eq!(states("STM32F407"), 5);
        assert_eq!(
            Microcontroller::find("STM32F407").unwrap().name,
            "stm32f407"
        );
        for refused in ["stm32f103@73", "stm32f103@0", "stm32f103@fast", "z80"] {
            assert!(Microcontroller::find(refused).is_err(), "{refused}");
        }
        let text = include_str!("../data/stm32l073.toml");
        let small = text.replace("ram-kib", "multiply-cycles = 32\nram-kib");
        let small = Microcontroller::parse(&small, "own").unwrap();
        assert_eq!(small.timing.multiply, 32);
        // It has one clock.
        let slow = Microcontroller::find("nrf52840@63").unwrap_err();
        let said = slow.to_string();
        assert!(said.contains("runs at 64 MHz to 64 MHz"), "{said}");
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        let text = SHIPPED.get_file("stm32f103.toml").unwrap();
        let text = text.contents_utf8().unwrap();
        for (from, to, reason) in [
            ("schema = 1", "schema = 2", "version 2"),
            ("read-bytes = 8", "read-bytes = 7", "power of two"),
            ("reads-ahead = 3", "reads-ahead = 9", "reads-ahead"),
            ("flash-kib = 128", "flash-kib = 0", "flash-kib"),
            ("ram-base = 0x2000_0000", "ram-base = 0", "above flash"),
            ("base = 0x0800_0000", "base = 0x1000", "flash-base"),
            ("states = 2", "states = 200", "states"),
            ("cortex-m3", "cortex-m0", "cortex-m0"),
            (
                "clock-mhz = 72",
                "clock-mhz = 72\nmultiply-cycles = 32",
                "multiply-cycles",
            ),
            ("bits = 4", "bits = 9", "3 to 8"),
        ] {
            let error = Microcontroller::parse(&text.replace(from, to), "own");
            let error = error.unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
