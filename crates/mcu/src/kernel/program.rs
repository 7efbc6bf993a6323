//! The committed programs, and running one.

use include_dir::{Dir, File, include_dir};

use super::{Crt, Kernel, Options, Square, Umaal};
use crate::image::Image;
use crate::machine::{SimulatedMachine, Stop};
use crate::microcontroller::Microcontroller;
use crate::timing::{Pipeline, Timing, Untimed};
use crate::{McuError, Result};

/// Several times what the longest kernel needs: beyond it something is wrong.
const INSTRUCTION_LIMIT: u64 = 10_000_000_000;

/// The programs in every variant, as `kernels/build` names them.
static ELF: Dir = include_dir!("$CARGO_MANIFEST_DIR/kernels/elf");
/// The results that the default inputs must have, in hexadecimal, as kernels write them
/// (`kernels/expected.py`, which knows nothing of the kernels' arithmetic).
static EXPECTED: Dir = include_dir!("$CARGO_MANIFEST_DIR/kernels/expected");

impl Kernel {
    /// Name of its files.
    const fn file(self) -> &'static str {
        match self {
            Self::X25519 => "x25519",
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 | Self::Ed25519 => self.name(),
        }
    }

    /// The program of that variant, as compiled.
    fn elf(self, options: &Options) -> Result<&'static [u8]> {
        let program = match self {
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 => "rsa",
            Self::X25519 | Self::Ed25519 => self.file(),
        };
        let step = match options.umaal {
            Umaal::Off => "umull",
            Umaal::On => "umaal",
            Umaal::Portable => "c",
        };
        let name = format!("{program}-{step}-{}.elf", options.opt.name().to_lowercase());
        let missing = || {
            McuError(format!(
                "no program {name} comes with keymark; run kernels/build and compile again"
            ))
        };
        Ok(ELF.get_file(&name).ok_or_else(missing)?.contents())
    }

    /// The program with these options in it, ready to be loaded.
    pub fn image(self, options: &Options) -> Result<Image> {
        let mut image = Image::parse(self.elf(options)?)?;
        if let Some(bits) = self.rsa_bits() {
            // `struct options` of kernels/rsa/rsa.c: a window of four bits, the key in RAM.
            let words = [
                bits,
                4,
                u32::from(options.crt == Crt::Recomputed),
                0,
                u32::from(options.square == Square::Twice),
            ];
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            image.initialise("options", &bytes)?;
        }
        Ok(image)
    }

    /// Runs it with its default input to the end, and checks its result.
    pub fn run<T: Timing>(
        self,
        mcu: &Microcontroller,
        options: &Options,
        timing: &mut T,
    ) -> Result<SimulatedMachine> {
        let loaded = self.image(options).and_then(|image| mcu.load(&image));
        let unloaded = |error| {
            McuError(format!(
                "{self} cannot be loaded into {}: {error}",
                mcu.name
            ))
        };
        let mut machine = loaded.map_err(unloaded)?;
        let stop = machine.run(timing, INSTRUCTION_LIMIT);
        if stop != Stop::Exit(0) {
            return Err(McuError(format!(
                "{self} on {} ended with {stop} after {} instructions; it needs 20 KiB of RAM and 64 KiB of flash",
                mcu.name,
                machine.executed()
            )));
        }
        let result = String::from_utf8_lossy(machine.output());
        let expected = EXPECTED.get_file(self.file());
        let expected = expected.and_then(File::contents_utf8).map(str::trim);
        if !expected.is_some_and(|expected| result.starts_with(expected)) {
            return Err(McuError(format!(
                "{self} on {} gave a wrong result, so its time means nothing; please report this",
                mcu.name
            )));
        }
        Ok(machine)
    }

    /// Runs it functionally.
    pub fn execute(self, mcu: &Microcontroller, options: &Options) -> Result<SimulatedMachine> {
        self.run(mcu, options, &mut Untimed)
    }

    /// Runs it under the part's timing model.
    pub fn time(self, mcu: &Microcontroller, options: &Options) -> Result<Pipeline> {
        let mut pipeline = Pipeline::new(mcu.timing, mcu.flash, &mcu.layout);
        self.run(mcu, options, &mut pipeline)?;
        Ok(pipeline)
    }

    /// Returns the name of a phase.
    pub const fn phase_name(self, number: u8) -> &'static str {
        match (self.rsa_bits(), number) {
            (Some(_), 1) => "CRT parameters",
            (Some(_), 2) => "exponentiation mod p",
            (Some(_), 3) => "exponentiation mod q",
            (Some(_), 4) => "recombination",
            (None, 1) => "operation",
            _ => "outside",
        }
    }
}
