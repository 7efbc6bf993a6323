//! The committed programs, and running one.

use include_dir::{Dir, File, include_dir};

use super::{Crt, Kernel, Options, Square, Umaal};
use crate::image::{Image, ImageError};
use crate::machine::{SimulatedMachine, Stop};
use crate::microcontroller::Microcontroller;
use crate::timing::{Pipeline, Timing, Untimed};

/// Several times what the longest kernel needs: beyond it something is wrong.
const INSTRUCTION_LIMIT: u64 = 10_000_000_000;

/// The programs in every variant, as `kernels/build` names them.
static ELF: Dir = include_dir!("$CARGO_MANIFEST_DIR/kernels/elf");
/// The results that the default inputs must have, in hexadecimal, as kernels write them
/// (`kernels/expected.py`, which knows nothing of the kernels' arithmetic).
static EXPECTED: Dir = include_dir!("$CARGO_MANIFEST_DIR/kernels/expected");

/// Why a kernel gave no result.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what their fields are")]
pub enum KernelError {
    /// Program that cannot be loaded.
    #[error("{kernel} cannot be loaded into {mcu}: {source}")]
    Image {
        kernel: Kernel,
        mcu: String,
        source: ImageError,
    },
    /// Program that ended without success.
    #[error(
        "{kernel} on {mcu} ended with {stop} after {executed} instructions; it needs 20 KiB of RAM and 64 KiB of flash"
    )]
    Stopped {
        kernel: Kernel,
        mcu: String,
        stop: Stop,
        /// Instructions until then.
        executed: u64,
    },
    /// Wrong result.
    #[error("{kernel} on {mcu} gave a wrong result, so its time means nothing; please report this")]
    WrongResult { kernel: Kernel, mcu: String },
}

impl Kernel {
    /// Name of its files.
    const fn file(self) -> &'static str {
        match self {
            Self::X25519 => "x25519",
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 | Self::Ed25519 => self.name(),
        }
    }

    /// The program of that variant, as compiled.
    fn elf(self, options: &Options) -> Result<&'static [u8], ImageError> {
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
        let file = ELF.get_file(&name);
        Ok(file.ok_or(ImageError::NotShipped(name))?.contents())
    }

    /// The program with these options in it, ready to be loaded.
    pub fn image(self, options: &Options) -> Result<Image, ImageError> {
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
    ) -> Result<SimulatedMachine, KernelError> {
        let loaded = self.image(options).and_then(|image| mcu.load(&image));
        let mut machine = loaded.map_err(|source| KernelError::Image {
            kernel: self,
            mcu: mcu.name.clone(),
            source,
        })?;
        let stop = machine.run(timing, INSTRUCTION_LIMIT);
        if stop != Stop::Exit(0) {
            return Err(KernelError::Stopped {
                kernel: self,
                mcu: mcu.name.clone(),
                stop,
                executed: machine.executed(),
            });
        }
        let result = String::from_utf8_lossy(machine.output());
        let expected = EXPECTED.get_file(self.file());
        let expected = expected.and_then(File::contents_utf8).map(str::trim);
        if !expected.is_some_and(|expected| result.starts_with(expected)) {
            return Err(KernelError::WrongResult {
                kernel: self,
                mcu: mcu.name.clone(),
            });
        }
        Ok(machine)
    }

    /// Runs it functionally.
    pub fn execute(
        self,
        mcu: &Microcontroller,
        options: &Options,
    ) -> Result<SimulatedMachine, KernelError> {
        self.run(mcu, options, &mut Untimed)
    }

    /// Runs it under the part's timing model.
    pub fn time(self, mcu: &Microcontroller, options: &Options) -> Result<Pipeline, KernelError> {
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
